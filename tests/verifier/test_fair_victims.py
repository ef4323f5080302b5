"""FS-02 to FS-05: who may be a victim under fair sharing."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.verifier.cases import (
    BY_SHARE,
    OWN,
    RECLAIM,
    Json,
    broken,
    cluster,
    cohort,
    fair_plan,
    fair_sharing,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def state_with(*more: Json, within: str = "LowerPriority", reclaim: str = "Any") -> State:
    """Make a full cohort of 12: the preemptor's queue gets 2 of its 4 back from queue other."""
    return cluster(
        fair_sharing(),
        cohort("all", gpus=4),
        queue("mine", 4, "all", preemption=policies(within, reclaim)),
        queue("other", 4, "all"),
        running("own", "mine", 2, priority=9),
        running("same", "mine", 0, priority=10, created="2026-03-01T11:30:00Z"),
        running("a", "other", 2, priority=9),
        running("high", "other", 2, priority=99),
        running("rest", "other", 6, priority=9),
        *more,
        waiting("incoming", 2, priority=10),
    )


def test_fs_02_other_trees_inactive_queues_and_uncontested_quota() -> None:
    state = state_with(
        queue("far", 0),
        queue("held", 0, "all", stopPolicy="Hold"),
        running("b", "far", 1),
        running("c", "held", 0),
        running("d", "other", 1, flavor="l4"),
    )
    assert not broken(state, fair_plan(state, ("a", RECLAIM)))
    for name, laws in (("b", ["FS-02"]), ("c", ["FS-02", "FS-05", "FS-06"]), ("d", ["FS-02"])):
        assert broken(state, fair_plan(state, ("a", RECLAIM), (name, RECLAIM))) == laws
    assert broken(state, fair_plan(state, ("a", RECLAIM), ("unheard-of", RECLAIM))) == ["FS-02"]
    assert broken(state, fair_plan(state, ("a", RECLAIM), ("a", RECLAIM))) == ["FS-02"]


@pytest.mark.parametrize(
    ("policy", "name", "permitted"),
    [
        ("LowerPriority", "own", True),
        ("LowerPriority", "same", False),
        ("LowerOrNewerEqualPriority", "same", True),
        ("Never", "own", False),
    ],
)
def test_fs_03_within_cluster_queue(policy: str, name: str, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(within=policy)
    plan = fair_plan(state, ("a", RECLAIM), (name, OWN))
    assert broken(state, plan) == ([] if permitted else ["FS-03"])


def test_fs_03_the_reason_is_the_own_queue() -> None:
    state = state_with()
    assert broken(state, fair_plan(state, ("own", BY_SHARE))) == ["FS-03"]


@pytest.mark.parametrize(
    ("policy", "name", "permitted"),
    [
        ("LowerPriority", "a", True),
        ("LowerPriority", "high", False),
        ("Any", "high", True),
        ("Never", "a", False),
    ],
)
def test_fs_04_reclaim_within_cohort(policy: str, name: str, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(reclaim=policy)
    plan = fair_plan(state, (name, RECLAIM))
    assert broken(state, plan) == ([] if permitted else ["FS-04"])


def test_fs_05_only_queues_that_borrow_contested_quota_give() -> None:
    """Queue quiet borrows flavor l4, which nobody wants, and uses its nominal quota of h200."""
    quiet = queue("quiet", 2, "all")
    lent = running("x", "quiet", 1, flavor="l4")
    state = state_with(quiet, lent, running("b", "quiet", 2))
    plan = fair_plan(state, ("a", RECLAIM), ("b", RECLAIM))
    assert broken(state, plan) == ["FS-05"]
    assert verdicts(state, plan)["FS-05"].detail == (
        "team/b may not go: ClusterQueue quiet borrows nothing contested "
        "(uses 2 nvidia.com/gpu in flavor h200 of nominal quota 2)"
    )
    state = state_with(quiet, lent, running("b", "quiet", 2), running("one", "quiet", 1))
    assert not broken(state, fair_plan(state, ("a", RECLAIM), ("b", RECLAIM)))


def test_fs_05_counts_what_was_used_before_anything_went() -> None:
    """Other borrows nothing contested any more when high goes, but it borrows l4."""
    state = cluster(
        fair_sharing(),
        cohort("all", gpus=4),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any")),
        queue("other", 4, "all"),
        running("a", "other", 8),
        running("b", "other", 4),
        running("x", "other", 1, flavor="l4"),
        waiting("incoming", 2, priority=10),
    )
    assert not broken(state, fair_plan(state, ("a", RECLAIM), ("b", RECLAIM)))
