"""Recorded cycles of the real core with limits, gangs, predicates, quota changes and releases.

Every line is a case. Besides, each rule is taken away: recorded lines must notice.
"""

import json
import math
from collections.abc import Iterator

import pytest

import planner
from planner.case.yunikorn import Case
from planner.commands.replay import replay_line
from planner.commands.replay.yunikorn import state_of_yunikorn
from planner.quota.yunikorn import limits, predicates, queue
from planner.quota.yunikorn.cluster import find_ask, prepare
from planner.reference.yunikorn import cycle, decision, order, quota
from planner.reference.yunikorn.outlook import Course, decided
from tests.conftest import TEST_ALL
from tests.recorded import put
from tests.yunikorn.recorded import FEATURES, FULL, Line, named, texts

NAMES = named(FEATURES)
MANY = math.inf if TEST_ALL or FULL is None else 15
"""So many lines of a file are replayed in ordinary runs."""


def lines(name: str, step: int = 1) -> Iterator[Line]:
    """Yield every ``step``-th line of a recorded file."""
    return map(json.loads, texts(FEATURES / f"{name}.jsonl.gz")[::step])


@pytest.mark.parametrize("name", NAMES)
def test_every_line_is_reproduced(name: str) -> None:
    step = max(1, int(len(texts(FEATURES / f"{name}.jsonl.gz")) // MANY))
    found = [replay_line(line) for line in lines(name, step)]
    assert found
    assert [(one.id, one.detail) for one in found if one.outcome != "equal"] == []


ASKS = [
    name
    for name in NAMES
    if not name.startswith(("nondet", "quirks", "hang", "panic", "quota", "small", "cycle"))
]
"""The files in which an ask was decided, every time the same."""


@pytest.mark.parametrize("name", ASKS)
def test_no_plan_is_certain_of_another_outcome_than_the_recorded(name: str) -> None:
    """Nor is any conditional, unless the dump lacks what users have in force."""
    told = {"allocated": "it fits as it is", "replaces": "it takes the place of placeholder"}
    for line in lines(name, 1 if TEST_ALL else 320):
        state, expected = state_of_yunikorn(line), line["expect"]
        plan = planner.solve(state, line["ask"]["allocationKey"], rules="code")
        unknown = set[str]() if state.partitions[0].usage else {"user-limits"}
        assert {one.feature for one in plan.coverage} <= unknown, line["id"]
        core, outcome = plan.greedy or plan, expected.get("outcome", "waits")
        waits = any("the core passes over it" in note for note in plan.notes)
        if plan.status == "optimal" and not plan.victims and not waits:
            assert plan.explanation.startswith(told[outcome]), line["id"]
            continue
        found = (core.node, sorted(core.keys)) if core.status == "feasible" else (None, [])
        assert found == (expected["node"], sorted(expected["victims"])), line["id"]
        assert outcome not in told, line["id"]
        assert plan.status != "infeasible" or not core.victims or core.outside_rules, line["id"]


UNSEEN = {("releases/v1.8.0/generic", "generic-pub-00163")}
"""Every run that was recorded came to one outcome, and allocations of equal age allow another."""
ASKED = [
    name
    for name in NAMES
    if not name.rpartition("/")[2].startswith(("panic", "quota", "small", "cycle"))
    and not name.endswith(("-cycle", "-timing", "-quota"))
]
"""All files with asks, those included of which the core decides some twice, or hangs."""


def of_core(line: Line) -> Case:
    """Return the case of a recorded line."""
    cluster = prepare(state := state_of_yunikorn(line))
    return Case(state, cluster, find_ask(cluster, line["ask"]["allocationKey"]))


def recorded(line: Line) -> set[tuple[object, ...]]:
    """Return all choices of the core that were recorded, in the words of `Course.choice`."""
    expected = line["expect"]
    if expected.get("hangs"):
        return {Course("hangs").choice}
    return {
        Course(one["outcome"], one["node"], (*one["victims"],), one.get("replaces")).choice
        for one in expected.get("outcomes") or [expected]
    }


@pytest.mark.parametrize("name", ASKED)
def test_no_choice_of_the_core_is_said_for_certain_that_differs(name: str) -> None:
    """Nor is any held back, or said to be left to chance, that the core decides always the same."""
    often = not name.startswith("nondet") and "hang" not in name
    for line in lines(name, 1 if TEST_ALL else 100 if often else 12):
        case, choices = of_core(line), recorded(line)
        own, other = decided(case.decision).choice, case.may_also
        if case.held_back is not None:
            assert choices != {own}, line["id"]
        elif other is None:
            assert choices == {own}, line["id"]
        elif other.by == "order":
            assert len(choices) > 1 or (name, line["id"]) in UNSEEN, line["id"]
        else:
            # Nodes of equal score: which one answers first was the same in most runs, or in all.
            assert (other.node, other.outcome) != (case.decision.node, "preempts"), line["id"]


def never(*_: object, **__: object) -> bool:
    return False


def always(*_: object, **__: object) -> bool:
    return True


def nothing(*_: object, **__: object) -> str:
    return ""


def nobody(*_: object) -> tuple[object, ...]:
    return ()


RULES: list[tuple[object, str, object, str]] = [
    (cycle, "fits_user", always, "limits"),
    (limits.Limits, "group", nothing, "limits"),
    (limits.Limits, "full_queue", nothing, "maxapps"),
    (limits.Limits, "full_row", nothing, "maxapps"),
    (cycle, "may_not_start", nothing, "maxapps"),
    (cycle, "waits_for_placeholder", never, "gang"),
    (cycle.Core, "_try_placeholders", never, "gang"),
    (cycle.Core, "_reserve", nothing, "cycle"),
    (cycle, "nodes_in_order", lambda one: list(one.nodes), "cycle"),
    (cycle, "leftover", lambda *_: 0.0, "cycle"),
    (cycle, "in_turn", lambda asks, _: list(asks), "cycle"),
    (cycle, "cancelled_by", lambda *_: set(), "hang"),
    (order, "_share", lambda *_: 0.0, "cycle"),
    (order, "_priority", lambda *_: 0, "cycle"),
    (predicates.Demand, "_is_eligible", always, "predicates"),
    (predicates.Demand, "_ports_taken", nobody, "predicates"),
    (predicates.Demand, "_is_welcome", always, "predicates"),
    (predicates.Demand, "_has_company", always, "predicates"),
    (predicates.Demand, "_is_even", always, "predicates"),
    (predicates.Demand, "_closed", frozenset(), "predicates"),
    (predicates, "selects", always, "predicates"),
    (quota, "_is_above", always, "quota-timing"),
    (quota, "_exceeds", never, "quota-timing"),
    (quota, "parts_of", lambda _: {}, "panic"),
    (queue.Snapshot, "takeable", always, "v1.7.0"),
    (decision, "_is_within", always, "v1.7.0"),
]


def in_file(name: str) -> Iterator[Line]:
    """Yield the lines of a file, of all files of a release, or of what crashes the core."""
    folder = {"v": "releases/", "h": "quirks/", "p": "quirks/" if name == "panic" else ""}
    for file in NAMES:
        if file == name or file.startswith(f"{folder.get(name[0], '')}{name}"):
            yield from lines(file)


@pytest.mark.usefixtures("conformance")
@pytest.mark.parametrize(
    ("owner", "rule", "without", "name"), RULES, ids=[f"{one[1]}-{one[3]}" for one in RULES]
)
def test_a_rule_that_is_taken_away_is_missed(
    monkeypatch: pytest.MonkeyPatch, owner: object, rule: str, without: object, name: str
) -> None:
    monkeypatch.setattr(owner, rule, without)
    assert any(replay_line(line).outcome == "different" for line in in_file(name))


@pytest.mark.parametrize(
    ("name", "path", "new"),
    [
        ("limits", ("outcome",), "allocated"),
        ("limits", ("node",), "node-99"),
        ("gang", ("events", 0, "cycle"), 7),
        ("cycle", ("events", 0, "reserved"), {"ask": "node"}),
        ("quota-cycle", ("processed", 0, "queue"), "root.x"),
        ("quota-timing", ("starts", 0), {"root.x": 5}),
        ("small-quota", ("panic",), "runtime error"),
        ("limits", ("hangs",), True),
    ],
)
def test_every_tampering_is_found(name: str, path: tuple[str | int, ...], new: object) -> None:
    kept = (one for one in lines(name) if one["expect"].get(path[0]) or len(path) == 1)
    line = next(kept)
    put(line["expect"], path, new)
    found = replay_line(line)
    assert (found.outcome, bool(found.detail)) == ("different", True)
