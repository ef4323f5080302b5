"""What is short, and what protects a workload, in words that a reader can add up."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.commands.explain.kueue.record import Explanation
from planner.plan.kueue import Plan
from planner.report.explanation import render as render_explanation
from planner.report.plan import render as render_plan
from planner.state.kueue import State
from tests import recorded
from tests.cluster import PENDING, cohort, configuration, pending, queue, running, state_of
from tests.commands.explain.kueue.test_nodes import FOUR, ONE_RACK, TREE, TWO_RACKS
from tests.conftest import ROOT
from tests.reference.topology.racks import node, pod, pods, room, runs, waits
from tests.reference.topology.racks import state_of as placed_state
from tests.told import told

Object = dict[str, Any]
GARBLED = re.compile(r", ;|: ;|:\s*$|;\s*$|, ,| {2}|\(\)|: \.|of what is short, *$", re.MULTILINE)
"""What a list leaves in a sentence that is empty."""


def explained(state: State, victim: str | None = None) -> Explanation:
    found = planner.explain(state, PENDING, victim)
    assert isinstance(found, Explanation)
    return found


def solved(state: State, **how: Any) -> Plan:
    found = planner.solve(state, PENDING, **how)
    assert isinstance(found, Plan)
    return found


def table(plan: Plan) -> str:
    return render_plan([plan], "table", alone=True, width=200, details=True)


FITS = "ns/pending fits as it is: nobody is evicted for it, and ns/one could not be: "


RECLAIM = "KQ-05 reclaimWithinCohort of ClusterQueue a is"
WITHIN = "KQ-04 withinClusterQueue of ClusterQueue a is"
LOWER = "LowerPriority"


@pytest.mark.parametrize(
    ("runs_in", "cohort_of_b", "policies", "priority", "why"),
    [
        ("b", "all", {"reclaim": "Never"}, 0, f"{RECLAIM} Never"),
        ("b", "all", {"reclaim": LOWER}, 10, f"{RECLAIM} {LOWER}: its priority 10 is not below 10"),
        ("b", "all", {"reclaim": "Any"}, 0, "KQ-03 Kueue looks for nobody to evict here"),
        ("a", "all", {"within": "Never"}, 0, f"{WITHIN} Never"),
        ("a", "all", {"within": LOWER}, 11, f"{WITHIN} {LOWER}: its priority 11 is above 10"),
        ("a", "all", {"within": LOWER}, 0, "KQ-03 Kueue looks for nobody to evict here"),
        ("b", "", {}, 0, "KQ-03 ClusterQueue b shares no cohort with ClusterQueue a"),
    ],
)
def test_why_nobody_goes_where_nothing_is_short(
    runs_in: str, cohort_of_b: str, policies: dict[str, Any], priority: int, why: str
) -> None:
    """The policy decides, not that nothing is held of what is short: nothing is."""
    parts = [cohort("all"), queue("a", 4, "all", **policies), queue("b", 4, cohort_of_b)]
    runner = running("one", runs_in, 1, priority=priority)
    answer = explained(state_of(*parts, runner, pending("a", 2)), "ns/one")
    assert answer.answer == f"{FITS}{why}"
    (one,) = answer.workloads
    assert (f"{one.law.law} {one.law.text}", one.others) == (why, ())


def test_why_nobody_goes_for_what_can_never_fit() -> None:
    """Kueue never looks for victims: nothing is contested, and yet it does not fit."""
    parts = queue("a", 4, within="LowerPriority"), running("one", "a", 4), pending("a", 5)
    answer = explained(state_of(*parts), "ns/one").answer
    told(answer)


@pytest.mark.parametrize("fair", [False, True])
def test_all_reasons_are_given_where_something_is_short(*, fair: bool) -> None:
    """It holds nothing that is short, its queue is within its quota, and the policy is Never."""
    settings = configuration(fairSharing={}) if fair else configuration()
    parts = [
        cohort("all"),
        queue("a", {"gpu": 2, "cpu": 9}, "all"),
        queue("b", {"cpu": 9, "gpu": 9}, "all"),
    ]
    runners = [
        running("one", "b", {"cpu": 1}),
        running("two", "b", {"gpu": 9}),
        running("own", "a", {"gpu": 2}),
    ]
    state = state_of(*parts, *runners, pending("a", {"gpu": 1}), settings)
    answer = explained(state, "ns/one")
    (one,) = answer.workloads
    given = [one.law, *one.others]
    policy = "reclaimWithinCohort of ClusterQueue a is Never"
    assert [law.text for law in given if "reclaimWithinCohort" in law.text] == [policy]
    assert any(
        "it holds nothing of what is short, gpu in flavor default" in law.text for law in given
    )
    assert all(f"{law.law} {law.text}" in answer.answer for law in given)


def sentences(state: State, key: str) -> Iterator[str]:
    """Yield all that is said in words of a plan, and of everybody who runs."""
    plan = planner.solve(state, key)
    assert isinstance(plan, Plan)
    yield from (plan.explanation, *plan.notes)
    for victim in [None, *(one.key for one in state.workloads if one.holds_quota)]:
        found = planner.explain(state, key, victim)
        assert isinstance(found, Explanation)
        yield found.answer
        yield from (law.text for one in found.workloads for law in (one.law, *one.others))
        if found.clash is not None:
            yield from (law.text for law in found.clash.laws)
            yield from (one.text for one in found.clash.shortfalls)
        for flavor in found.nodes.flavors if found.nodes is not None else ():
            yield from (one.text for one in flavor.closest)


@pytest.mark.parametrize(
    "name",
    [
        "small-classical-flat",
        "small-classical-hier",
        "small-fair-hier",
        "small-edge",
        "small-flavors",
    ],
)
def test_no_sentence_has_an_empty_list_in_it(name: str) -> None:
    for line in recorded.lines(name, 1200):
        state = recorded.state_of(line)
        for text in sentences(state, line["pending"]):
            assert not GARBLED.search(text), (line["id"], text)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "instances/topology").glob("*.yaml")), ids=lambda p: p.stem
)
def test_no_sentence_about_nodes_has_an_empty_list_in_it(path: Path) -> None:
    state = planner.read(path)
    assert isinstance(state, State)
    for key in state.pending:
        for text in sentences(state, key):
            assert not GARBLED.search(text), text


def test_what_is_available_is_less_than_nothing_in_a_cohort_over_its_quota() -> None:
    """Quota of 2 and 3, of which 8 are used: with 1 asked for, four have to go."""
    ones = [running(f"one{n}", "b", 1) for n in range(8)]
    parts = [cohort("all"), queue("a", 2, "all", reclaim="Any"), queue("b", 3, "all")]
    plan = solved(state_of(*parts, *ones, pending("a", 1)))
    (asked,) = plan.demand
    assert (asked.requested, asked.available, asked.shortfall, asked.excess) == (1, 0, 4, 3)
    lines = table(plan).splitlines()
    (row,) = (line.split() for line in lines if line.startswith(" gpu "))
    assert row[2:5] == ["1", "-3", "4"]
    said = (
        " Cohort all uses 3 gpu in flavor default more than its quota: victims give that back, too."
    )
    assert said in lines
    assert " requested=1 available=0 short=4 excess=3 " in render_plan([plan], "plain", alone=True)


def test_an_own_limit_that_is_exceeded_is_no_quota_of_the_cohort() -> None:
    """The cohort has room; the queue may borrow 1, and has borrowed 3."""
    own = queue("a", 2, "all", borrowing=1, within="LowerPriority")
    parts = [cohort("all"), own, queue("b", 9, "all")]
    ones = [running(f"one{n}", "a", 1) for n in range(5)]
    plan = solved(state_of(*parts, *ones, pending("a", 1)))
    assert plan.demand[0].excess == 2
    said = "Queue and cohorts use 2 gpu in flavor default beyond their quotas and limits"
    assert said in table(plan)


def test_why_nothing_says_what_is_available_below_nothing() -> None:
    ones = [running(f"one{n}", "b", 1) for n in range(8)]
    parts = [cohort("all"), queue("a", 2, "all"), queue("b", 3, "all")]
    clash = explained(state_of(*parts, *ones, pending("a", 1))).clash
    assert clash is not None
    told(clash.shortfalls[0].text)


@pytest.mark.parametrize("lent", [True, False])
def test_quota_taken_out_of_a_queue_is_taken_back_by_those_who_have_some(*, lent: bool) -> None:
    """The queue that holds it has quota of another resource only."""
    borrower, lender = (
        queue("a", {"cpu": 9}, "all"),
        queue("b", {"gpu" if lent else "tpu": 4}, "all", reclaim="Any"),
    )
    parts = [cohort("all"), borrower, lender, configuration()]
    asks = pending("b", {"gpu" if lent else "tpu": 4})
    plan = solved(state_of(*parts, running("one", "a", {"gpu": 4}), asks))
    (note,) = (note for note in plan.notes if "no quota any more" in note)
    assert note.endswith(
        "it counts as borrowed, and others may take it back"
        if lent
        else "it counts, and nothing asks for it back"
    )
    assert plan.keys == (("ns/one",) if lent else ())


@pytest.mark.parametrize("nominal", [9, 6, 8])
def test_with_how_many_pods_it_starts(nominal: int) -> None:
    (asks,) = pending("a", 1)
    asks["spec"]["podSets"][0] |= {"count": 9, "minCount": 3}
    plan = solved(state_of(queue("a", nominal), [asks]))
    told(plan.explanation)
    assert plan.greedy is not None
    told(plan.greedy.explanation)


def test_with_how_many_pods_it_starts_once_others_are_gone() -> None:
    (asks,) = pending("a", 1)
    asks["spec"]["podSets"][0] |= {"count": 9, "minCount": 6}
    parts = queue("a", 7, within="LowerPriority"), running("one", "a", 3), [asks]
    plan = solved(state_of(*parts))
    assert plan.keys == ("ns/one",)
    told(plan.explanation)


def crowded(*, within: str = "LowerPriority") -> State:
    """Return two racks of 4 slots, in each of which 3 are taken, and a workload that wants 4."""
    return placed_state(
        TWO_RACKS,
        room(within=within),
        runs("a", FOUR, {"n1": 1, "n2": 2}),
        runs("c", FOUR, {"n3": 1, "n4": 2}, priority=9),
        waits(pods("main", 4, FOUR, ONE_RACK)),
    )


def test_solve_says_which_places_are_short_where_nobody_may_go() -> None:
    plan = solved(crowded(within="Never"))
    assert (plan.status, plan.demand[0].shortfall) == ("infeasible", 0)
    told(plan.explanation)


def test_solve_says_which_places_are_short_even_without_all_candidates() -> None:
    """Quota has room once the only candidate is gone; its place is on another rack."""
    state = placed_state(
        TWO_RACKS,
        room({"gpu": 34}),
        runs("a", {"gpu": 2}, {"n1": 1}),
        runs("c", FOUR, {"n3": 1, "n4": 1}, priority=9),
        runs("d", FOUR, {"n1": 1, "n2": 1}, priority=9),
        waits(pods("main", 4, FOUR, ONE_RACK)),
    )
    plan = solved(state)
    assert plan.status == "infeasible"
    told(plan.explanation)
    told(explained(state).answer)


def test_solve_says_that_quota_is_enough_and_places_are_not() -> None:
    plan = solved(crowded())
    assert plan.keys == ("ns/a",)
    told(plan.notes)
    assert not [
        note
        for note in solved(
            state_of(queue("a", 4, within="LowerPriority"), running("o", "a", 4), pending("a", 1))
        ).notes
        if "nodes lack room" in note
    ]


def test_where_no_level_is_required_all_nodes_of_the_flavor_are_short() -> None:
    state = placed_state(
        TWO_RACKS,
        room(within="Never"),
        runs("a", FOUR, {"n1": 1, "n2": 2}),
        waits(pods("main", 6, FOUR, {"preferred": "rack"})),
    )
    told(solved(state).explanation)


def test_explain_speaks_of_the_rack_that_the_plan_uses() -> None:
    """The small one on r1 is dear: the plan takes both of r2, by the objective."""
    state = placed_state(
        TWO_RACKS,
        room(),
        runs("old", FOUR, {"n1": 1}, priority=3),
        runs("new", FOUR, {"n3": 1}),
        runs("newer", FOUR, {"n4": 1}),
        waits(pods("main", 4, FOUR, ONE_RACK)),
    )
    plan = solved(state)
    assert plan.keys == ("ns/new", "ns/newer")
    answer = explained(state)
    assert answer.nodes is not None
    first, second = answer.nodes.flavors[0].closest
    assert (first.name, first.used, second.name, second.used) == ("rack r2", True, "rack r1", False)
    told(answer.answer)
    assert "rack r1" not in answer.answer


def beside(*others: list[Object]) -> State:
    """Return two nodes of 8, and a workload that wants all 8 of one; ``others`` run there."""
    parts = [*TREE, *node("n1", "r1", gpu=8), *node("n2", "r1", gpu=8)]
    return placed_state(
        parts,
        room(),
        *others,
        waits(pods("main", 1, {"gpu": 8}, {"required": "kubernetes.io/hostname"})),
    )


def test_pods_that_kueue_did_not_place_are_named() -> None:
    """Nobody whom Kueue may evict is there, and somebody is: two pods of others."""
    state = beside(pod("agent", "n1", gpu=2), pod("exporter", "n2", gpu=1))
    answer = explained(state)
    assert answer.nodes is not None
    (flavor,) = answer.nodes.flavors
    texts = {one.name: one.text for one in flavor.closest}
    told(texts["node n1"])
    assert {one.name: one.others for one in flavor.closest} == {
        "node n1": ("ns/agent",),
        "node n2": ("ns/exporter",),
    }
    explanation = solved(state).explanation
    told(explanation)
    page = render_explanation(answer, "table", width=200, color=False)
    told(page)


@pytest.mark.parametrize(
    "other",
    [
        pod("agent", "n1", cpu=2),  # it takes nothing of what is short
        pod("agent", "n1", gpu=2, phase="Succeeded"),
        pod("agent", "n1", gpu=2, placed=True),  # Kueue counts it by its workload
        pod("agent", "n3", gpu=2),
    ],
    ids=["cpu", "over", "placed", "elsewhere"],
)
def test_pods_that_take_no_room_are_not(other: list[Object]) -> None:
    state = beside(runs("a", {"gpu": 8}, {"n1": 1}), runs("b", {"gpu": 8}, {"n2": 1}), other)
    answer = explained(state)
    assert answer.nodes is not None
    assert [one.others for one in answer.nodes.flavors[0].closest] == [(), ()]
    assert "no workload" not in answer.answer
