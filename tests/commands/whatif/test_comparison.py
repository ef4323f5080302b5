"""The plans before and after an edit, side by side."""

import pytest

from planner import api
from planner.commands.whatif.comparison import WhatIf, compare
from planner.commands.whatif.edit import edit
from planner.state import State
from tests.cluster import cohort, pending, queue, running, state_of

NO_RECLAIM = "clusterqueue/lender.preemption.reclaimWithinCohort=Never"
LESS = "workload/ns/low.priority=50"


@pytest.fixture
def state() -> State:
    """Give a queue that wants 4 back from two workloads of another, of which it needs one."""
    return state_of(
        cohort("all"),
        queue("lender", 8, "all", reclaim="LowerPriority"),
        queue("borrower", 0, "all"),
        running("low", "borrower", 4, 1, minute=1),
        running("high", "borrower", 4, 5, minute=2),
        pending("lender", 4),
    )


def compared(state: State, text: str) -> WhatIf:
    before, after = (api.solve(one) for one in (state, edit(state, [text])))
    return compare([text], before, after)


def test_other_victim(state: State) -> None:
    """Kueue takes the lower priority; once that is the preemptor's better, only one is left."""
    answer = compared(state, LESS)
    for difference in (answer.greedy, answer.optimum):
        assert difference.no_longer == ("ns/low",)
        assert difference.newly == ("ns/high",)
        (count,) = (change for change in difference.terms if change.term == "D2")
        assert (count.before, count.after) == (1, 1)
        assert not difference.is_none
    assert (answer.greedy.algorithm, answer.optimum.algorithm) == ("kueue", "optimum")


def test_no_plan_any_more(state: State) -> None:
    answer = compared(state, NO_RECLAIM)
    assert (answer.optimum.before, answer.optimum.after) == ("optimal", "infeasible")
    assert answer.optimum.no_longer == ("ns/low",)
    assert answer.optimum.newly == ()
    assert {change.after for change in answer.optimum.terms} == {None}


def test_nothing_changes(state: State) -> None:
    answer = compared(state, "workload/ns/high.priority=6")
    assert answer.greedy.is_none
    assert answer.optimum.is_none


def test_both_plans_need_the_schedulers_own(state: State) -> None:
    plan = api.greedy(state)
    with pytest.raises(ValueError, match="beside"):
        compare([], plan, plan)
