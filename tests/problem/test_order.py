"""The scheduler's order of candidates in arrays is the order by the keys it compares."""

import numpy as np

from planner.problem.kueue import Problem, build_problem
from tests.random_trees import random_instance

Key = tuple[bool, int, int, float, str]


def keys(problem: Problem) -> list[Key]:
    """Return what the scheduler compares, workload by workload (docs/semantics/kueue.md §5.4)."""
    advantage = problem.has_advantage.tolist()
    own = problem.from_own_queue.tolist()
    return [
        (
            not one.evicted,
            2 if own[i] else 0 if advantage[i] else 1,
            one.priority,
            -one.reserved_s,
            one.uid,
        )
        for i, one in enumerate(problem.workloads)
    ]


def test_it_sorts_by_eviction_group_priority_reservation_and_uid() -> None:
    """Priorities and times are few, so that many are tied in all but their UIDs."""
    random = np.random.default_rng(5)
    tied = 0
    for _ in range(60):
        found = random_instance(lambda low, high: int(random.integers(low, high + 1)), 40)
        problem = build_problem(found.snapshot, found.preemptor, found.assignment)
        compared = keys(problem)
        positions = range(len(compared))
        assert np.argsort(problem.order).tolist() == sorted(positions, key=compared.__getitem__)
        tied += len(positions) - len({key[:4] for key in compared})
    assert tied > 100
