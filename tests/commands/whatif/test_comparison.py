"""The plans before and after an edit, side by side."""

import pytest

from planner import api
from planner.commands.whatif.edit import Move, WhatIf, compare, edit
from planner.errors import LookupFailed
from planner.report.whatif import render
from planner.state.kueue import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.reference.topology import racks
from tests.told import told

NO_RECLAIM = "clusterqueue/lender.preemption.reclaimWithinCohort=Never"
LESS = "workload/ns/low.priority=50"
N123 = {"n1": 1, "n2": 1, "n3": 1}


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
        (count,) = (change for change in difference.terms if change.term == "workloads")
        assert (count.before, count.after) == (1, 1)
        assert not difference.is_none
    assert (answer.greedy.algorithm, answer.optimum.algorithm) == ("kueue", "optimum")
    for edits in (LESS, [LESS]):  # one edit may be given as it is
        found = api.whatif(state, edits)
        assert (found.edits, found.optimum) == (answer.edits, answer.optimum)


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


@pytest.mark.parametrize(
    ("count", "edits", "before", "after"),
    [
        (1, ["node/n2.unschedulable=true"], {"n2": 1}, {"n3": 1}),
        (3, ["node/n4.like=n3", "node/n3.unschedulable=true"], N123, {"n1": 1, "n2": 1, "n4": 1}),
    ],
    ids=["with nobody evicted", "with the same victim"],
)
def test_only_places_change(
    count: int, edits: list[str], before: dict[str, int], after: dict[str, int]
) -> None:
    """Three nodes with room for a pod each; on n1 runs somebody who goes for three pods."""
    nodes = [racks.node(name, "r", gpu=4) for name in N123]
    asks = racks.pods("main", count, {"gpu": 4}, {"required": racks.RACK})
    running = racks.runs("a", {"gpu": 4}, {"n1": 1})
    state = racks.state_of(
        racks.topology(), racks.flavor(), *nodes, running, racks.room(), racks.waits(asks)
    )
    states = state, edit(state, edits)
    then, now = (api.solve(one) for one in states)
    assert then.keys == now.keys == (("ns/a",) if count == 3 else ())
    assert all(
        api.verify(one, plan).accepted for one, plan in zip(states, (then, now), strict=True)
    )
    answer = compare(edits, then, now)
    assert answer.greedy.is_none
    assert answer.optimum.is_none
    assert answer.optimum.moved == (Move(pods="main", before=before, after=after),)
    for style in ("table", "markdown", "html"):
        text = render(answer, style, width=100, color=False)
        assert "Only places change" in text
        assert "Nothing changes" not in text
    assert "plan_moved       main before=n" in render(answer, "plain", width=100, color=False)


def test_what_is_added_is_not_there_before(state: State) -> None:
    """Without ``ns/high`` the queue takes its 4 back from ``ns/low``, or there is room at once."""
    without = state_of(
        cohort("all"),
        queue("lender", 8, "all", reclaim="LowerPriority"),
        queue("borrower", 0, "all"),
        running("low", "borrower", 4, 1, minute=1),
        pending("lender", 4),
    )
    answer = api.whatif(state, added=["ns/high"])
    alone = api.solve(without)
    assert answer.before is not None
    assert alone.keys == ()
    assert (answer.before.keys, answer.before.terms) == (alone.keys, alone.terms)
    assert answer.optimum.newly == ("ns/low",)
    given = api.whatif(state, added=["ns/high"], original=without)
    assert given.before is not None
    assert given.before.certificate is not None
    assert given.before.certificate.digest == without.digest
    assert given.optimum == answer.optimum
    assert api.whatif(state, added="ns/high").optimum == answer.optimum
    with pytest.raises(LookupFailed) as caught:
        api.whatif(state, added=["ns/none"])
    told(caught.value)


def test_both_plans_need_the_schedulers_own(state: State) -> None:
    plan = api.greedy(state)
    with pytest.raises(ValueError, match="beside"):
        compare([], plan, plan)
