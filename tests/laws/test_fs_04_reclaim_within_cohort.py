"""FS-04: reclaimWithinCohort decides about victims of other queues; borrowWithinCohort does not."""

from __future__ import annotations

import pytest

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of


@pytest.mark.parametrize("borrow", ["Never", "LowerPriority"])
@pytest.mark.parametrize(
    ("policy", "permitted"),
    [
        ("Never", set()),
        ("LowerPriority", {"ns/lower"}),
        ("Any", {"ns/lower", "ns/equal", "ns/higher"}),
    ],
)
def test_each_policy_forbids_and_permits(policy: str, permitted: set[str], borrow: str) -> None:
    """The preemptor borrows one, which is less than what the other queue borrows."""
    state = state_of(
        cohort("org", nominal=3),
        queue("a", 0, "org", reclaim=policy, borrow=borrow, threshold=-1),
        queue("b", 0, "org"),
        running("lower", "b", 1, 9),
        running("equal", "b", 1, 10),
        running("higher", "b", 1, 11),
        pending("a", 1, 10),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert {key for keys in admitted_fairly(problem) for key in keys} == permitted
    everyone = admitted_fairly(problem, without={"FS-04"})
    assert {key for keys in everyone for key in keys} == {"ns/lower", "ns/equal", "ns/higher"}
