"""FS-03: withinClusterQueue decides about victims of the own queue, and shares do not."""

from __future__ import annotations

import pytest

from tests.admitted import admitted_fairly
from tests.cluster import cohort, fair_sharing, pending, problem_of, queue, running, state_of


@pytest.mark.parametrize(
    ("policy", "permitted"),
    [
        ("Never", set()),
        ("LowerPriority", {"ns/lower"}),
        ("LowerOrNewerEqualPriority", {"ns/lower", "ns/newer"}),
    ],
)
def test_each_policy_forbids_and_permits(policy: str, permitted: set[str]) -> None:
    state = state_of(
        queue("a", 0, within=policy),
        running("lower", "a", 1, 9),
        running("newer", "a", 1, 10, created=31),
        running("as-old", "a", 1, 10, created=30),
        running("older", "a", 1, 10, created=29),
        running("higher", "a", 1, 11),
        pending("a", 0, 10, created=30),
        fair_sharing(),
    )
    problem, *_ = problem_of(state)
    assert {key for keys in admitted_fairly(problem) for key in keys} == permitted
    everyone = admitted_fairly(problem, without={"FS-03"})
    assert max(everyone, key=len) == {
        "ns/lower",
        "ns/newer",
        "ns/as-old",
        "ns/older",
        "ns/higher",
    }


def test_the_own_queue_gives_whatever_its_share() -> None:
    """Queue a would use all 8 of the cohort: no share could be higher, yet its own may go."""
    state = state_of(
        cohort("org", nominal=8),
        queue("a", 0, "org", within="LowerPriority"),
        running("mine", "a", 8),
        pending("a", 8),
        fair_sharing("LessThanInitialShare"),
    )
    problem, *_ = problem_of(state)
    assert admitted_fairly(problem) == {frozenset({"ns/mine"})}
