"""KQ-05: reclaimWithinCohort decides about victims of other queues."""

from __future__ import annotations

import pytest

from tests.admitted import admitted
from tests.cluster import cohort, pending, problem_of, queue, running, state_of


@pytest.mark.parametrize(
    ("policy", "permitted"),
    [
        ("Never", set()),
        ("LowerPriority", {"ns/lower"}),
        ("Any", {"ns/lower", "ns/equal", "ns/higher"}),
    ],
)
def test_each_policy_forbids_and_permits(policy: str, permitted: set[str]) -> None:
    state = state_of(
        cohort("org"),
        queue("a", 3, "org", reclaim=policy),
        queue("b", 0, "org"),
        running("lower", "b", 1, 9),
        running("equal", "b", 1, 10),
        running("higher", "b", 1, 11),
        pending("a", 0, 10),
    )
    problem, *_ = problem_of(state)
    victims = {key for sets in admitted(problem).values() for keys in sets for key in keys}
    assert victims == permitted
    everyone = {
        key
        for sets in admitted(problem, without={"KQ-05"}).values()
        for keys in sets
        for key in keys
    }
    assert everyone == {"ns/lower", "ns/equal", "ns/higher"}


def test_the_victims_own_policies_do_not_matter() -> None:
    """Only the preemptor's queue is asked; b itself would never preempt anybody."""
    state = state_of(
        cohort("org"),
        queue("a", 1, "org", reclaim="Any"),
        queue("b", 0, "org", reclaim="Never", within="Never"),
        running("theirs", "b", 1, 50),
        pending("a", 1, 10),
    )
    problem, *_ = problem_of(state)
    assert frozenset({"ns/theirs"}) in admitted(problem)[True]
