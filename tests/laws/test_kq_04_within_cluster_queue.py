"""KQ-04: withinClusterQueue decides about victims of the own queue."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from planner.models.kueue.candidates import within_cluster_queue
from planner.state.queues import WithinPolicy
from tests.admitted import admitted
from tests.cluster import pending, problem_of, queue, running, state_of


def test_each_policy_forbids_and_permits() -> None:
    expected = {
        "Never": set(),
        "LowerPriority": {"ns/lower"},
        "LowerOrNewerEqualPriority": {"ns/lower", "ns/newer"},
    }
    for policy, permitted in expected.items():
        state = state_of(
            queue("a", 0, within=policy),
            running("lower", "a", 1, 9),
            running("newer", "a", 1, 10, created=31),
            running("as-old", "a", 1, 10, created=30),
            running("older", "a", 1, 10, created=29),
            running("higher", "a", 1, 11),
            pending("a", 0, 10, created=30),
        )
        problem, *_ = problem_of(state)
        victims = {key for sets in admitted(problem).values() for keys in sets for key in keys}
        assert victims == permitted
        everyone = {
            key
            for sets in admitted(problem, without={"KQ-04"}).values()
            for keys in sets
            for key in keys
        }
        assert everyone == {"ns/lower", "ns/newer", "ns/as-old", "ns/older", "ns/higher"}


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
            case "Never":
                assert not allowed
            case "LowerPriority":
                assert allowed == lower
            case _:
                assert allowed == (lower or newer_equal)
