"""ST-02: the second strategy only where the first finds nobody.

With its request, queue mine has share 125. Queue other borrows 4 of 8, share 500. Without its
large one it would borrow nothing: only LessThanInitialShare permits that.
"""

from planner.state.kueue import State
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.research.strict.cases import strictly_broken
from tests.verifier.cases import BY_SHARE, fair_plan

LARGE = ("large", BY_SHARE)


def state(*small: int, priority: int = 0) -> State:
    """Let queue other have one large workload and some small ones: 6 GPUs in all."""
    return state_of(
        cohort("org", nominal=4),
        queue("mine", 2, "org", reclaim="LowerPriority"),
        queue("other", 2, "org"),
        running("large", "other", 6 - sum(small)),
        *[running(f"small{i}", "other", gpus, priority=priority) for i, gpus in enumerate(small)],
        pending("mine", 3, 10),
        fair_sharing(),
    )


def test_the_first_strategy_finds_another_one() -> None:
    found = state(1, 1)
    assert strictly_broken(found, fair_plan(found, LARGE)) == {"ST-02"}
    assert strictly_broken(found, fair_plan(found, ("small0", BY_SHARE))) == set()


def test_the_first_strategy_finds_nobody() -> None:
    """The small ones are too important to go, so only the large one is left to be asked."""
    found = state(1, 1, priority=100)
    assert strictly_broken(found, fair_plan(found, LARGE)) == set()
