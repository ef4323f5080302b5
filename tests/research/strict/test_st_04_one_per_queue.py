"""ST-04: one victim per ClusterQueue in the second pass.

With its request, queue mine has share 400, queue other 500. Nobody of queue other passes the
first strategy when it is its turn: with one of 6 less its share is 200. Then the own workload
goes, which leaves mine with 100, and in the second pass all of queue other would do.
"""

from planner.state.kueue import State
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.research.strict.cases import strictly_broken
from tests.verifier.cases import BY_SHARE, OWN, fair_plan

MINE, ONE, TWO = ("own", OWN), ("other1", BY_SHARE), ("other2", BY_SHARE)


def state(filled: int) -> State:
    """Make a cohort of 20 GPUs of which queue full fills its own quota."""
    return state_of(
        cohort("org", nominal=16 - filled),
        queue("mine", 2, "org", within="LowerPriority", reclaim="LowerPriority"),
        queue("other", 2, "org"),
        queue("full", filled, "org"),
        running("own", "mine", 6),
        *[running(f"other{i}", "other", 6) for i in (1, 2)],
        running("filler", "full", filled),
        pending("mine", 4, 10),
        fair_sharing(),
    )


def test_two_of_a_queue_in_the_second_pass() -> None:
    found = state(15)
    assert strictly_broken(found, fair_plan(found, MINE, ONE, TWO)) == {"ST-04"}


def test_one_of_a_queue_in_the_second_pass() -> None:
    found = state(9)
    assert strictly_broken(found, fair_plan(found, MINE, ONE)) == set()
