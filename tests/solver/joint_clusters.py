"""Clusters in which ``ns/first`` waits in queue a, and ``ns/second`` in queue b."""

from functools import partial

from planner.state.kueue import State
from tests.flavored import Object, flavor, group, podset, queue, running, state_of
from tests.flavored import waiting as one_waiting


def waiting(name: str, holder: str, amount: int, priority: int) -> list[Object]:
    """Return a pending workload ``ns/NAME`` of one podset."""
    return one_waiting(name, holder, podset(amount), priority=priority)


def lent(*more: list[Object]) -> list[list[Object]]:
    """Two queues with 4 GPUs each have lent them all to the queue ``z``, which owns none.

    Two small ones of priority 1 hold 2 GPUs each, the large one of priority 2 holds 4.
    """
    lender = partial(queue, cohort="c", within="LowerPriority", reclaim="Any")
    return [
        flavor("f"),
        lender("a", group(f=4)),
        lender("b", group(f=4)),
        queue("z", group(f=0), cohort="c"),
        running("small-1", "z", "f", 2, 1),
        running("small-2", "z", "f", 2, 1),
        running("large", "z", "f", 4, 2),
        *more,
    ]


def lent_and_asked_for(amount: int) -> list[list[Object]]:
    """Two wait there for so many GPUs each."""
    return lent(waiting("first", "a", amount, 10), waiting("second", "b", amount, 9))


def second_first() -> State:
    """First may preempt nobody; where second takes the large one, there is room for both."""
    return state_of(
        flavor("f"),
        queue("a", group(f=2), cohort="c"),
        queue("b", group(f=4), cohort="c", reclaim="Any"),
        queue("z", group(f=0), cohort="c"),
        running("large", "z", "f", 6, 1),
        waiting("first", "a", 2, 10),
        waiting("second", "b", 4, 9),
    )
