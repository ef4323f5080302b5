"""FS-06: other queues and cohorts give only while they borrow.

The preemptor stays within its nominal quota here, so that shares are not asked about.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import pytest

from planner.quota.snapshot import Admitted
from planner.state import State
from planner.verifier.kueue import fair_removal
from planner.verifier.kueue.plan import match_plan, verify_plan
from tests.verifier.cases import (
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


def state_with(*objects: Json, spare: int = 9) -> State:
    """Make a tree in which the preemptor is entitled to what it asks for."""
    return cluster(
        fair_sharing(),
        cohort("all", gpus=spare),
        queue("mine", 1, "all", preemption=policies("LowerPriority", "Any")),
        *objects,
        waiting("incoming", 1, priority=10),
    )


def one_queue(*sizes: int, more: tuple[Json, ...] = ()) -> State:
    """Make a queue of nominal quota 4 that holds workloads a, b, c ... of the given sizes."""
    names = "abcdefgh"[: len(sizes)]
    held = (running(name, "other", size) for name, size in zip(names, sizes, strict=True))
    return state_with(queue("other", 4, "all"), *held, *more)


def laws(state: State, *names: str) -> list[str]:
    return list(broken(state, fair_plan(state, *((name, RECLAIM) for name in names))))


def test_the_last_victim_may_bring_the_queue_far_below() -> None:
    assert not laws(one_queue(5), "a")
    assert not laws(one_queue(5, 1), "a", "b")


def test_a_queue_that_borrows_no_more_is_forbidden() -> None:
    state = one_queue(4, 2)
    assert not laws(state, "a")
    assert not laws(state, "b")
    assert laws(state, "a", "b") == ["FS-06"]


def test_every_choice_of_the_last_victim_is_tried_and_named() -> None:
    state = one_queue(2, 2, 2)
    plan = fair_plan(state, *((name, RECLAIM) for name in "abc"))
    assert broken(state, plan) == ["FS-06"]
    assert verdicts(state, plan)["FS-06"].detail == (
        "before its last victim goes, whichever of them that is, ClusterQueue other is not over "
        "its quota (uses 2 nvidia.com/gpu in flavor h200 of nominal quota 4), so Kueue would not "
        "take team/a, team/b, team/c"
    )


def test_the_order_is_found_whatever_the_plan_says() -> None:
    state = one_queue(1, 5)
    for order in permutations("ab"):
        verification = verify_plan(state, fair_plan(state, *((name, RECLAIM) for name in order)))
        assert verification.accepted
        assert verification.removal_order == ("team/a", "team/b")


def test_borrowing_anything_is_enough() -> None:
    """Unlike in classical preemption, l4 counts although nobody contests it."""
    lent = running("x", "other", 1, flavor="l4")
    assert laws(one_queue(4, 2), "a", "b") == ["FS-06"]
    assert not laws(one_queue(4, 2, more=(lent,)), "a", "b")


def test_what_no_quota_names_is_not_borrowed() -> None:
    strange = running("x", "other", 1, flavor="t4")
    assert laws(one_queue(4, 2, more=(strange,)), "a", "b") == ["FS-06"]


@pytest.mark.parametrize(("quota", "permitted"), [(1, True), (2, False)])
def test_a_cohort_in_between_must_borrow_too(quota: int, permitted: bool) -> None:  # noqa: FBT001
    state = state_with(
        cohort("middle", "all", gpus=quota),
        queue("left", 1, "middle"),
        queue("right", 1, "middle"),
        running("l", "left", 2),
        running("r", "right", 2),
    )
    assert laws(state, "l") == ([] if permitted else ["FS-06"])
    assert laws(state, "l", "r") == ["FS-06"]


@pytest.mark.parametrize("names", [("big", "r"), ("r", "big")])
def test_what_a_queue_keeps_decides_who_can_be_last(names: tuple[str, str]) -> None:
    """Left lends none of its 3, so with nothing but big's 4 there, middle uses 1 of its 2."""
    state = state_with(
        cohort("middle", "all", gpus=1),
        queue("left", 3, "middle", lending=0),
        queue("right", 1, "middle"),
        running("big", "left", 4),
        running("r", "right", 3),
    )
    verification = verify_plan(state, fair_plan(state, *((name, RECLAIM) for name in names)))
    assert verification.accepted
    assert verification.removal_order == ("team/big", "team/r")


def test_own_victims_and_the_own_path_are_never_asked() -> None:
    state = cluster(
        fair_sharing(),
        cohort("all", gpus=9),
        cohort("ours", "all", gpus=9),
        queue("mine", 2, "ours", preemption=policies("LowerPriority", "Any")),
        queue("left", 1, "all"),
        running("own", "mine", 1),
        running("l", "left", 2),
        waiting("incoming", 1, priority=10),
    )
    plan = fair_plan(state, ("l", RECLAIM), ("own", OWN))
    assert not broken(state, plan)
    assert verify_plan(state, plan).removal_order == ("team/own", "team/l")


def test_usage_beyond_64_bits_is_left_to_the_replay() -> None:
    """Sums saturate: huge must go after a, for nothing at all is left behind it."""
    state = one_queue(5, more=(running("huge", "other", 2**63 - 1),))
    for order in permutations(["a", "huge"]):
        plan = fair_plan(state, *((name, RECLAIM) for name in order))
        assert verify_plan(state, plan).removal_order == ("team/a", "team/huge")
        case = match_plan(state, plan)
        assert case.obstacle(sorted(case.victims, key=lambda v: v.key, reverse=True))


@pytest.mark.parametrize("last", ["a", "b"])
def test_the_replay_has_the_last_word(last: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1 and 5 with quota 4, the 5 must go last; an order put together wrongly is noticed."""

    def arrange(_: object, victims: Sequence[Admitted], __: object) -> list[Admitted]:
        return sorted(victims, key=lambda victim: victim.key == f"team/{last}")

    monkeypatch.setattr(fair_removal, "arrange", arrange)
    assert laws(one_queue(1, 5), "a", "b") == ([] if last == "b" else ["FS-06"])
