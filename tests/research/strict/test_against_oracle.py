"""What ``strict`` accepts is what Kueue's documented precedence leads to, set by set.

The oracle walks Kueue's passes and attempts forwards in every way; the verifier is given the
victims and looks for an order. By default every 48th line is taken, and every 24th with Fair
Sharing; PLANNER_TEST_ALL=1 takes them all.
"""

from collections import Counter
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from planner.quota.kueue.assignment import flavor_resources
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.research.strict.verifier import judge_strictly
from planner.solver.kueue.start import start
from planner.solver.start import Given
from planner.verifier.kueue.case import Case
from planner.verifier.kueue.plan import match_plan, setting_for, verify_case
from planner.verifier.kueue.setting import Setting
from tests import recorded
from tests.conftest import TEST_ALL
from tests.oracle.cluster import Cluster, UnsupportedError
from tests.oracle.legality import Legal
from tests.oracle.objectives import legal_sets
from tests.oracle.question import Question, ask
from tests.oracle.random_states import NOW, PENDING, random_state
from tests.research.strict.oracle import SHOWN_MOST, strict_sets
from tests.verifier.cases import case_of

STEP = 1 if TEST_ALL else 48
STEP_FAIR = 1 if TEST_ALL else 24
SEEDS = range(400) if TEST_ALL else (1, 2, 7, 9)
FAIR = ("small-fair-flat", "small-fair-hier")
CLASSICAL = ("small-classical-flat", "small-classical-nocohort", "small-classical-hier")
OTHER = ("small-edge", "small-flavors")


def recorded_settings(name: str) -> Iterator[tuple[recorded.Line, Setting]]:
    for line in recorded.lines(name, STEP_FAIR if name in FAIR else STEP):
        if "exhaustive" in line["expect"]:
            state, assignment = recorded.state_of(line), recorded.assignment_of(line)
            snapshot = take_snapshot(state, extra=flavor_resources(assignment))
            found = setting_for(state, snapshot, line["pending"], assignment)
            # The oracle's sets are those after which Kueue's search ends: it does not look at pods.
            yield line, replace(found, request=found.searched)


def asked(line: recorded.Line) -> Question:
    pod_sets = line["expect"]["assignment"]["podSets"]
    flavors = {each["name"]: each["flavors"] or {} for each in pod_sets}
    return ask(Cluster(line["state"]["items"], line["now"]), line["pending"], flavors)


def compare(where: Setting, question: Question, legal: Legal, name: str) -> Counter[str]:
    """Judge every legal set, in whichever attempt it is legal."""
    strict = strict_sets(question)
    assert strict <= legal.sets, name
    counted: Counter[str] = Counter()
    for victims in legal.sets:
        keys = legal.keys(victims)
        held = [*filter(None, (where.holder(key, "") for key in keys))]
        cases = (case_of(where, held, borrowing=attempt) for attempt in where.attempts)
        found = [judge_strictly(case).legal for case in cases if accepted(case)]
        assert found, (name, keys)
        assert None not in found, (name, keys)
        assert any(found) == (victims in strict), (name, keys)
        counted["strict" if victims in strict else "other"] += 1
    return counted


def accepted(case: Case) -> bool:
    return not case.victims or verify_case(case).accepted


@pytest.mark.parametrize("name", [*FAIR, *CLASSICAL, *OTHER])
def test_recorded_states(name: str) -> None:
    counted: Counter[str] = Counter()
    for line, where in recorded_settings(name):
        try:
            question = asked(line)
            legal = legal_sets(question)
        except UnsupportedError:
            continue
        counted += compare(where, question, legal, line["id"])
    assert counted["strict"] > 5
    assert counted["other"] > 10 or name not in FAIR


def test_random_states() -> None:
    counted: Counter[str] = Counter()
    for seed in SEEDS:
        drawn = random_state(seed)
        state = read_kueue_objects(drawn.objects, where=f"seed {seed}", now=NOW)
        planning = start(state, Given(PENDING, drawn.assignment))
        plan = planning.greedy_plan()
        if plan.assignment.mode != "Preempt":
            continue
        flavors = {
            pods.name: {r: {"flavor": c.flavor, "mode": c.mode} for r, c in pods.flavors.items()}
            for pods in plan.assignment.pod_sets
        }
        question = ask(Cluster(drawn.objects, NOW), PENDING, flavors)
        legal = legal_sets(question)
        if len(legal.candidates) > SHOWN_MOST or len(legal.sets) > 600:
            continue
        where = match_plan(state, plan).setting
        counted += compare(where, question, legal, f"seed {seed}")
    assert counted["strict"] > 20
    assert counted["other"] > 20
