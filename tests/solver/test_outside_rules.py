"""Where Kueue's own answer is outside its own rules, or never comes, the plan says so.

Fill-back looks at no share (docs/semantics/kueue.md §6.7). Caps that no legal set can keep are
dropped, and only those.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import planner
from planner.objective.profiles import PROFILES, measure_name, measure_title
from planner.plan.kueue import Plan
from planner.solver import answer as comparison
from tests.cluster import Object, configuration, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.reference.cycles import strict, waits
from tests.solver.truth import Measured, Truth, named, truths, value_of
from tests.told import told

FINDINGS = (
    "small-fair-flat-0000188",
    "small-fair-flat-0000401",
    "small-fair-flat-0001423",
    "small-fair-flat-0004632",
    "small-fair-hier-0000623",
    "small-fair-hier-0000886",
    "small-fair-hier-0001469",
    "small-fair-hier-0003403",
    "small-fair-hier-0003411",
    "small-flavors-0000355",
    "small-flavors-0002309",
)
"""The recorded lines in which Kueue's targets are in no legal mask."""

NO_REGRET = PROFILES["no-regret"]


@pytest.fixture(scope="module")
def findings() -> list[tuple[Truth, Plan]]:
    """Give the lines with their no-regret plans."""
    names = sorted({name.rpartition("-")[0] for name in FINDINGS})
    found = [truth for name in names for truth in named(name, FINDINGS)]
    if not found:
        pytest.skip("the recorded findings are only in the full folder of answers")
    return [(truth, truth.solve("no-regret")) for truth in found]


def dropped(plan: Plan) -> list[str]:
    """Return the caps that the explanation calls impossible beside those before them."""
    _, found, names = plan.explanation.partition("caps before matches its ")
    called = {measure_title(cap): measure_name(cap) for cap in PROFILES["no-regret"].caps}
    return [called[name] for name in names.split(", ")] if found else []


def measured(findings: list[tuple[Truth, Plan]]) -> Iterator[tuple[Plan, Plan, Measured]]:
    for truth, plan in findings:
        assert plan.greedy is not None
        yield plan, plan.greedy, truth.measured()


def test_the_finding_is_told_and_the_plan_is_lawful(findings: list[tuple[Truth, Plan]]) -> None:
    for truth, plan in findings:
        assert plan.greedy is not None
        assert frozenset(plan.greedy.keys) not in truth.legal
        assert plan.greedy.outside_rules
        assert {text.split()[0] for text in plan.greedy.outside_rules} <= {"FS-06", "FS-07"}
        assert not planner.verify(truth.state, plan.greedy).accepted
        assert plan.status == "optimal"
        assert frozenset(plan.keys) in truth.legal
        assert planner.verify(truth.state, plan).accepted


def test_answers_within_the_rules_are_no_finding() -> None:
    for truth in truths("small-fair-flat", 7 if TEST_ALL else 28, fair=True):
        plan = truth.solve("no-regret")
        assert plan.greedy is not None
        lawful = not plan.greedy.victims or frozenset(plan.greedy.keys) in truth.legal
        assert (plan.greedy.outside_rules == ()) == lawful, truth.id
        assert bool(dropped(plan)) <= (not lawful), truth.id


def test_only_caps_that_cannot_be_met_with_the_earlier_ones_are_dropped(
    findings: list[tuple[Truth, Plan]],
) -> None:
    for plan, greedy, truth in measured(findings):
        kept = truth.caps(NO_REGRET, greedy)
        assert dropped(plan) == [measure_name(cap) for cap in NO_REGRET.caps if cap not in kept]
        for cap, most in kept.items():
            assert value_of(plan.terms, cap) <= most


def test_a_cap_that_could_not_be_decided_does_not_make_the_plan_infeasible(
    findings: list[tuple[Truth, Plan]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the time limit ended the test of every cap; legal sets exist in all these lines."""
    monkeypatch.setattr(comparison, "find_within", lambda *_: "unknown")
    for truth, _ in findings:
        plan = truth.solve("no-regret")
        assert plan.status == "feasible"  # another plan might keep a cap
        told(plan.explanation)
        assert not dropped(plan)


FIRST = "ns/first"
P = "ns/p"


def blocked_by_its_own_queue(kind: Any = strict) -> list[list[Object]]:
    """Return a queue whose head asks for more than there is."""
    head, p = waits("first", "a", 10, 100), waits("p", "a", 2, 10)
    return [kind("a", 4, within="LowerPriority"), running("low", "a", 4), head, p]


def blocked_by_another_queue(kind: Any = strict) -> list[list[Object]]:
    """Return a queue that lends its quota, may not take it back, and keeps it all the same."""
    lower: dict[str, Any] = dict.fromkeys(("within", "reclaim", "borrow"), "LowerPriority")
    return [
        queue("a", 4, "pool", **lower),
        kind("b", 4, "pool"),
        running("low", "a", 8),
        waits("first", "b", 4, 10),
        waits("p", "a", 6, 5000),
    ]


def solve(parts: Iterable[Iterable[Object]]) -> Plan:
    plan: Plan = planner.solve(state_of(*parts), P)
    assert plan.victims
    assert plan.greedy is not None
    assert plan.greedy.keys == ("ns/low",)
    return plan


@pytest.mark.parametrize("parts", [blocked_by_its_own_queue, blocked_by_another_queue])
def test_the_plan_says_who_is_in_the_way(parts: Any) -> None:
    plan = solve(parts())
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == (FIRST,)
    note = plan.notes[-1]
    assert note == plan.greedy.explanation
    told(note)
    assert FIRST in note
    explanation = planner.explain(state_of(*parts()), P)
    assert note in explanation.answer


def test_best_effort_passes_over_who_finds_nobody() -> None:
    for parts in (blocked_by_its_own_queue(queue), blocked_by_another_queue(queue)):
        plan = solve(parts)
        assert plan.greedy is not None
        assert plan.greedy.in_the_way == ()
        assert not any("nobody for" in note for note in plan.notes)


def test_whoever_moves_first_blocks_nobody() -> None:
    """What is admitted before it changes everything: nothing is said of that."""
    fits = waits("first", "b", 0, 10)
    parts = blocked_by_another_queue()
    plan = solve([*parts[:3], fits, parts[4]])
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == ()


def waits_for_pods() -> list[list[Object]]:
    """Return a cluster where pods start, and the first of two that wait would fit."""
    return [
        configuration(waitForPodsReady={"blockAdmission": True}),
        queue("a", 4, "pool"),
        running("unready", "a", 1),
        waits("first", "a", 1, 20),
        queue("b", 4, "pool", within="LowerPriority", borrowing=0),
        running("low", "b", 4),
        waits("p", "b", 2, 10),
    ]


def test_a_cycle_that_waits_for_pods_is_not_over() -> None:
    """The scheduler stands still before the first, which fits, and then comes to the other."""
    plan = solve(waits_for_pods())
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == ()
    assert not any("nobody for" in note for note in plan.notes)
