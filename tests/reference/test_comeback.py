"""A victim that stays within its quota comes back before a preemptor that borrows.

What is expected is what a whole cycle makes of the state in which the victims wait.
"""

import pytest

import planner
from planner.reference.kueue.cycle.run import run_cycle
from tests.cluster import Object, cohort, configuration, pending, queue, running, state_of
from tests.reference.cycles import condition, waits

QUEUES = (
    cohort("all"),
    queue("a", 5, "all"),
    queue("b", 3, "all", reclaim="LowerPriority", borrow="LowerPriority"),
)
PREEMPTS = (*QUEUES, pending("b", 4))
FIRST = configuration(featureGates={"PrioritizePreemptorWorkloads": True})


def again(name: str, amount: int) -> list[Object]:
    """Return a victim of queue a that waits."""
    return waits(name, "a", amount, conditions=[condition("Evicted", reason="Preempted")])


def admitted(*parts: list[Object]) -> list[str]:
    """Return who is admitted in the next cycle, in this order."""
    entries = run_cycle(state_of(*parts)).entries
    return [one.preemptor.key for one in entries if one.outcome == "admitted"]


@pytest.mark.parametrize("more", [(), (FIRST,)], ids=["default", "gate"])
def test_a_plan_says_who_comes_back_first(more: tuple[list[Object], ...]) -> None:
    """Kueue evicts one and three of eight; b borrows one, and a is within its five."""
    runs = running("one", "a", 1), running("three", "a", 3), running("four", "a", 4, 50)
    plan = planner.solve(state_of(*PREEMPTS, *runs, *more), objective="no-regret")
    assert plan.keys == ("ns/one", "ns/three")
    (note,) = [one for one in plan.notes if "once its victims" in one] or [""]
    assert ("Kueue admits ns/one before ns/pending" in note) == (not more)
    waiting = again("one", 1), again("three", 3)
    assert "ns/one" in admitted(*PREEMPTS, runs[2], *waiting)


def test_who_takes_all_back_that_it_had_or_borrows_itself_overtakes_nobody() -> None:
    """Four of a go, who had borrowed three beside it: whoever comes back would borrow, too."""
    runs = running("four", "a", 4), running("large", "a", 4, 50)
    plan = planner.solve(state_of(*PREEMPTS, *runs))
    assert plan.keys == ("ns/four",)
    assert not [one for one in plan.notes if "once its victims" in one]
    assert admitted(*PREEMPTS, runs[1], again("four", 4)) == ["ns/pending"]


def test_without_victims_nothing_is_said() -> None:
    plan = planner.solve(state_of(*PREEMPTS))
    assert not plan.victims
    assert not [one for one in plan.notes if "once its victims" in one]
