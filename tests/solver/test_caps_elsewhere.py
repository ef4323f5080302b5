"""The cap on the victims of each priority in joint plans, with chosen flavors, and in YuniKorn."""

from typing import Final

import pytest

import planner
from planner.objective.profiles import Profile
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.solver.yunikorn_truth import Victims, YuniKornTruth, truths
from tests.yunikorn.legality import SMALL

CAPPED: Final = Profile("mine", "", (("workloads",), ("lost_work",)), caps=(("victims@each",),))
FREE: Final = Profile("mine", "", (("workloads",), ("lost_work",)))


def two_for_one() -> State:
    """Two of priority 1 go by Kueue; one of priority 2 would be fewer, and of more priority."""
    return state_of(
        queue("a", 4, within="LowerPriority"),
        running("low-1", "a", 1, 1),
        running("low-2", "a", 1, 1),
        running("high", "a", 2, 2),
        pending("a", 2, 9),
    )


def test_the_cap_decides_between_one_of_more_priority_and_two_of_less() -> None:
    state, low = two_for_one(), {"ns/low-1", "ns/low-2"}
    assert planner.solve(state, PENDING, FREE).keys == ("ns/high",)
    plan = planner.solve(state, PENDING, CAPPED)
    assert {*plan.keys} == low
    assert plan.status == "optimal"
    assert planner.check(state, plan, CAPPED).accepted
    assert {*planner.solve(state, PENDING, CAPPED, flavors="optimal").keys} == low
    joint = planner.solve_joint(state, [PENDING], CAPPED)
    assert {gone.workload for step in joint.steps for gone in step.victims} == low
    why = planner.explain(state, PENDING, "ns/low-1", objective=CAPPED)
    assert why.alternative is not None
    assert (why.alternative.victims, why.alternative.within_caps) == (("ns/high",), False)


def by_priority(truth: YuniKornTruth, victims: Victims) -> tuple[int, ...]:
    """Return how many victims there are of each adjusted priority, the highest first."""
    planning = truth.planning()
    keys = [one.allocation_key for one in planning.problem.allocations]
    worth = dict(zip(keys, planning.table.priority.tolist(), strict=True))
    highest_first = sorted({*worth.values()}, reverse=True)
    return tuple(sum(worth[key] == each for key in victims) for each in highest_first)


def test_yunikorn_keeps_to_the_cap_and_is_the_best_that_does() -> None:
    if not SMALL:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    compared = bound = 0
    for truth in (one for name in SMALL for one in truths(name, "design")):
        plan = planner.solve(truth.state, truth.ask, CAPPED, rules="design")
        own = plan.greedy
        if own is None or not own.victims or own.outside_rules or not plan.victims:
            continue
        compared += 1
        measured, most = truth.measured(), by_priority(truth, frozenset(own.keys))
        permitted = measured.permitted(CAPPED.levels)
        among = [each for each in permitted if by_priority(truth, each) <= most] or permitted
        values = {each: measured.levels(CAPPED, each) for each in permitted}
        least = min(values[each] for each in among)
        best = [each for each in among if values[each] == least]
        assert frozenset(plan.keys) == measured.first(best), truth.id
        assert planner.check(truth.state, plan, CAPPED).accepted or plan.status != "optimal"
        bound += least != min(values.values())
    assert compared > 10
    assert bound
