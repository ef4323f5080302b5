"""KQ-04: withinClusterQueue decides about victims of the own queue."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.models.kueue.laws import within_cluster_queue
from planner.state.kueue import State
from planner.state.queues import WithinPolicy
from tests.cluster import pending, problem_of, queue, running, state_of
from tests.laws.cases import WITHIN_CLUSTER_QUEUE
from tests.laws.judges import OWN, RECLAIM, Case, broken, detail, judge
from tests.told import told


@pytest.mark.parametrize("case", WITHIN_CLUSTER_QUEUE, ids=str)
def test_four_judges(case: Case) -> None:
    judge("KQ-04", case)


def one(policy: str, priority: int) -> State:
    """Return a queue with one workload, which was created when the preemptor was."""
    return state_of(
        queue("a", 4, within=policy), running("one", "a", 4, priority, created=30), pending("a", 4)
    )


def test_the_reason_is_that_of_the_own_queue() -> None:
    state = one("LowerPriority", 0)
    assert broken(state, ("one", RECLAIM)) == ["KQ-04"]
    told(detail("KQ-04", state, ("one", RECLAIM)))


def test_the_detail_names_the_ages_only_where_they_decide() -> None:
    told(detail("KQ-04", one("LowerPriority", 11), ("one", OWN)))
    said = detail("KQ-04", one("LowerOrNewerEqualPriority", 10), ("one", OWN))
    assert "queued 2026-05-01T12:30:00" in said


@given(
    st.sampled_from(get_args(WithinPolicy)),
    st.lists(st.tuples(st.integers(8, 12), st.integers(28, 32)), min_size=1, max_size=6),
)
def test_mask_equals_the_policy_read_word_by_word(
    policy: str, others: list[tuple[int, int]]
) -> None:
    state = state_of(
        queue("a", 8, within=policy),
        *(running(f"w{i}", "a", 1, prio, created=born) for i, (prio, born) in enumerate(others)),
        pending("a", 8, 10, created=30),
    )
    problem, *_ = problem_of(state)
    permitted = (~within_cluster_queue(problem)).tolist()
    for workload, allowed in zip(problem.workloads, permitted, strict=True):
        priority, born = others[int(workload.key.removeprefix("ns/w"))]
        lower = priority < 10
        newer_equal = priority == 10 and born > 30
        match policy:
            case "Never" | "":
                assert not allowed
            case "LowerPriority":
                assert allowed == lower
            case _:
                assert allowed == (lower or newer_equal)
