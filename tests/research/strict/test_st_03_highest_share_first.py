"""ST-03: the ClusterQueue with the highest share gives first."""

from planner.state.kueue import State
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.research.strict.cases import strictly_broken
from tests.verifier.cases import BY_SHARE, Json, fair_plan

HIGH, LOW = ("high1", BY_SHARE), ("low1", BY_SHARE)


def state(high: int, low: int, *more: list[Json], priority: int = 0) -> State:
    """Let two queues have two workloads each, of so many GPUs beside their quota of 2."""
    return state_of(
        cohort("org", nominal=16 - 2 * (8 - high - low)),
        queue("mine", 2, "org", reclaim="LowerPriority"),
        queue("high", 2, "org"),
        queue("low", 2, "org"),
        *[running(f"high{i}", "high", high, priority=priority) for i in (1, 2)],
        *[running(f"low{i}", "low", low) for i in (1, 2)],
        pending("mine", 3, 10),
        fair_sharing(),
        *more,
    )


def test_another_queue_has_a_higher_share() -> None:
    found = state(6, 4)
    assert strictly_broken(found, fair_plan(found, LOW)) == {"ST-03"}
    assert strictly_broken(found, fair_plan(found, HIGH)) == set()


def test_equal_shares_are_equal() -> None:
    found = state(4, 4)
    assert strictly_broken(found, fair_plan(found, LOW)) == set()
    assert strictly_broken(found, fair_plan(found, HIGH)) == set()


def test_a_queue_without_candidates_has_no_turn() -> None:
    found = state(6, 4, priority=100)
    assert strictly_broken(found, fair_plan(found, LOW)) == set()
