"""FS-07: the preemptor's side is no more unfair than the victim's.

In the flat clusters 8 GPUs can be lent, so 1 GPU too much is a share of 125 at weight 1.
"""

from __future__ import annotations

import pytest

from planner.quota.share import Share
from planner.state import State
from planner.verifier.kueue.plan import verify_plan
from planner.verifier.wording import say_shares
from tests.verifier.cases import (
    BY_SHARE,
    FINAL,
    GPU,
    INITIAL,
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
    weight,
)

BOTH = (FINAL, INITIAL)
ANY = policies("LowerPriority", "Any")


def flat(
    *sizes: int,
    strategies: tuple[str, ...] = BOTH,
    mine: str = "1",
    other: str = "1",
    request: int = 2,
) -> State:
    """Make a queue with nominal 2, all used, next to one with workloads a, b, c ... of sizes."""
    held = (running(name, "other", size) for name, size in zip("abcd", sizes, strict=False))
    return cluster(
        fair_sharing(*strategies),
        cohort("all", gpus=4),
        queue("mine", 2, "all", preemption=ANY, **weight(mine)),
        queue("other", 2, "all", **weight(other)),
        running("own", "mine", 2),
        *held,
        waiting("incoming", request, priority=10),
    )


def laws(state: State, *names: str, own: str = "") -> list[str]:
    taken = [(name, BY_SHARE) for name in names]
    return list(broken(state, fair_plan(state, *taken, *([(own, OWN)] if own else []))))


@pytest.mark.parametrize(
    ("sizes", "strategies", "permitted"),
    [
        # Mine will have 250, other has 500 before a goes.
        ((2, 4), (FINAL,), True),  # 250 after: equal shares are fair
        ((3, 3), (FINAL,), False),  # 125 after
        ((3, 3), (INITIAL,), True),
        ((3, 3), BOTH, True),
        # Mine will have 250, as other has before a goes.
        ((2, 2), (INITIAL,), False),  # equal shares are no reason
        ((2, 2), BOTH, False),
    ],
)
def test_strategies(
    sizes: tuple[int, ...],
    strategies: tuple[str, ...],
    permitted: bool,  # noqa: FBT001
) -> None:
    state = flat(*sizes, strategies=strategies)
    assert laws(state, "a") == ([] if permitted else ["FS-07"])


@pytest.mark.parametrize(
    ("mine", "other", "strategies", "permitted"),
    [
        # Unweighted, mine will have 250, other 500 before a (3) goes, and 125 after.
        ("2", "1", (FINAL,), True),  # 125 <= 125
        ("1", "2", (INITIAL,), False),  # 250 < 250
        ("1", "1.9", (INITIAL,), True),
        ("0", "1", BOTH, False),  # infinite against finite
        ("1", "0", BOTH, True),  # finite against infinite
        ("0", "0", (INITIAL,), True),  # ratios decide: 250 < 500
        ("0", "0", (FINAL,), False),  # 250 <= 125
    ],
)
def test_weights(mine: str, other: str, strategies: tuple[str, ...], permitted: bool) -> None:  # noqa: FBT001
    state = flat(3, 3, mine=mine, other=other, strategies=strategies)
    assert laws(state, "a") == ([] if permitted else ["FS-07"])


def test_a_queue_of_weight_0_has_no_share_once_it_borrows_nothing() -> None:
    assert laws(flat(4, 2, other="0", strategies=(FINAL,)), "a") == ["FS-07"]
    assert not laws(flat(4, 2, other="0", strategies=(INITIAL,)), "a")


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_last_victim_is_chosen_for_its_share(names: str) -> None:
    """Other borrows with either of a (3) and b (6) left, but above 375, and only at 500, with b."""
    taken = [(name, BY_SHARE) for name in names]
    state = flat(3, 6, strategies=(INITIAL,), request=3)
    verification = verify_plan(state, fair_plan(state, *taken))
    assert verification.accepted
    assert verification.removal_order == ("team/a", "team/b")
    assert laws(flat(3, 6, strategies=(INITIAL,), request=4), *names) == ["FS-07"]


def test_what_is_in_the_way_is_told_with_names_and_shares() -> None:
    state = flat(2, 2)
    assert verdicts(state, fair_plan(state, ("a", BY_SHARE)))["FS-07"].detail == (
        "Kueue would not take team/a from ClusterQueue other: with team/incoming, ClusterQueue "
        "mine has share 250, more than 0 after it (LessThanOrEqualToFinalShare) and not less "
        "than 250 before it (LessThanInitialShare)"
    )
    state = flat(1, 1, 2, other="0", mine="0", strategies=(INITIAL,))
    plan = fair_plan(state, ("a", BY_SHARE), ("b", BY_SHARE))
    assert verdicts(state, plan)["FS-07"].detail == (
        "Kueue would not take the last of team/a, team/b from ClusterQueue other: with "
        "team/incoming, ClusterQueue mine has share infinity (weight 0, ratio 250), not less "
        "than infinity (weight 0, ratio 125) before it (LessThanInitialShare)"
    )


def test_shares_that_differ_never_look_alike() -> None:
    third, more = Share(1000 / 3, 1.0, borrowing=True), Share(333.3333, 1.0, borrowing=True)
    assert say_shares(third, third, Share(0.0, 0.0, borrowing=True)) == ["333.333", "333.333", "0"]
    assert say_shares(third, more, more) == ["333.3333333333333", "333.3333", "333.3333"]


def test_own_victims_go_first_and_lower_the_own_share() -> None:
    state = flat(3, 1)
    assert "FS-07" in laws(state, "a")
    assert not laws(state, "a", own="own")
    plan = fair_plan(state, ("a", BY_SHARE), ("own", OWN))
    assert verify_plan(state, plan).removal_order == ("team/own", "team/a")


@pytest.mark.parametrize(
    ("strategies", "permitted"), [((FINAL,), True), (BOTH, True), ((INITIAL,), False)]
)
def test_borrowing_with_nothing_lendable_is_a_share_of_0(
    strategies: tuple[str, ...],
    permitted: bool,  # noqa: FBT001
) -> None:
    """Queue mine lends nothing and nobody else has quota: other borrows, at ratio 0."""
    state = cluster(
        fair_sharing(*strategies, within_nominal=False),
        cohort("all"),
        queue("mine", 4, "all", lending=0, preemption=ANY),
        queue("other", 0, "all"),
        running("a", "other", 2),
        waiting("incoming", 4, priority=10),
    )
    assert laws(state, "a") == ([] if permitted else ["FS-07"])


def entitled(*, gate: bool, nominal: int = 2) -> State:
    """Make two cohorts, of which the preemptor's has the higher share, but not its queue."""
    return cluster(
        fair_sharing(within_nominal=gate),
        cohort("all", gpus=4),
        cohort("ours", "all"),
        cohort("theirs", "all"),
        queue("mine", nominal, "ours", preemption=ANY),
        queue("sister", 0, "ours"),
        queue("other", 2, "theirs"),
        running("s", "sister", 4 + nominal - 2),
        running("a", "other", 2),
        running("b", "other", 2),
        waiting("incoming", 2, priority=10),
    )


def test_within_nominal_quota_shares_do_not_matter() -> None:
    state = entitled(gate=True)
    assert not broken(state, fair_plan(state, ("a", RECLAIM)))
    assert broken(state, fair_plan(state, ("a", BY_SHARE))) == ["FS-07"]


def test_unless_the_gate_is_off_or_the_request_goes_beyond() -> None:
    for state in (entitled(gate=False), entitled(gate=True, nominal=1)):
        assert broken(state, fair_plan(state, ("a", BY_SHARE))) == ["FS-07"]
        detail = verdicts(state, fair_plan(state, ("a", RECLAIM)))["FS-07"].detail
        assert "from Cohort theirs: with team/incoming, Cohort ours has share" in detail
        assert "team/a goes for reason InCohortFairSharing, not InCohortReclamation" in detail


def test_within_nominal_quota_is_judged_before_the_first_removal() -> None:
    """Without its own victim the queue would stay within nominal quota, and have no share."""
    state = flat(3, 1)
    plan = fair_plan(state, ("own", OWN), ("a", RECLAIM))
    assert broken(state, plan) == ["FS-07"]
    assert not broken(state, fair_plan(state, ("own", OWN), ("a", BY_SHARE)))


@pytest.mark.parametrize("reason", [OWN, RECLAIM, ""])
def test_the_reason_is_fair_sharing(reason: str) -> None:
    state = flat(2, 4)
    assert broken(state, fair_plan(state, ("a", reason))) == ["FS-07"]


def hierarchy(*more: Json, strategies: tuple[str, ...] = (FINAL,)) -> State:
    """Make the preemptor's cohort, with a sister queue in it, and one beside it; 12 GPUs."""
    return cluster(
        fair_sharing(*strategies),
        cohort("all", gpus=12),
        cohort("ours", "all"),
        cohort("theirs", "all"),
        queue("mine", 0, "ours", preemption=ANY),
        queue("sister", 0, "ours"),
        queue("other", 0, "theirs"),
        running("s", "sister", 3),
        running("t", "sister", 3),
        *more,
        waiting("incoming", 2, priority=10),
    )


def test_shares_are_compared_below_the_common_ancestor() -> None:
    """Queue mine will have 2 and other keeps 3, but cohort ours will have 8 and theirs 3."""
    state = hierarchy(running("a", "other", 3), running("b", "other", 3))
    assert laws(state, "a") == ["FS-07"]
    assert not laws(state, "s")


def test_nearer_victims_go_first_and_lower_the_share_of_the_own_side() -> None:
    """Without s, ours will have 5: what theirs keeps is enough only then."""
    state = hierarchy(running("a", "other", 1), running("b", "other", 5))
    assert "FS-07" in laws(state, "a")
    plan = fair_plan(state, ("a", BY_SHARE), ("s", BY_SHARE))
    assert not broken(state, plan)
    assert verify_plan(state, plan).removal_order == ("team/s", "team/a")


def test_a_lending_limit_keeps_usage_out_of_the_share() -> None:
    """Other lends nothing of its 4: theirs is seen with 2 of the 6 it uses, and ours has 2."""

    def state(lending: int | None, kept: int) -> State:
        return cluster(
            fair_sharing(FINAL),
            cohort("all", gpus=4),
            cohort("ours", "all"),
            cohort("theirs", "all"),
            queue("mine", 0, "ours", preemption=ANY),
            queue("other", 4, "theirs", lending=lending),
            running("a", "other", 1),
            running("b", "other", kept),
            waiting("incoming", 1, priority=10),
        )

    # Without a limit theirs has subtree quota 4, with it 0: either way 1 too many is left of b.
    assert not laws(state(None, 5), "a")
    assert not laws(state(0, 5), "a")
    assert "FS-07" in laws(state(0, 4), "a")


def test_both_laws_must_hold_in_one_order() -> None:
    """Who borrows until the last victim forces two to be last, but shares would need one.

    Left borrows only while two is there (it holds l4, of which left has no quota); but then
    theirs has 1 too many before its last victim goes, and mine will have 1. Only with one as
    the last, theirs would have 2.
    """
    two = running("two", "left", 0)
    more = {"name": "more", "flavors": {GPU: "l4"}, "resourceUsage": {GPU: 1}, "count": 1}
    two["status"]["admission"]["podSetAssignments"].append(more)
    two["spec"]["podSets"].append({**two["spec"]["podSets"][0], "name": "more"})
    state = cluster(
        fair_sharing(INITIAL),
        cohort("all", gpus=2),
        cohort("theirs", "all"),
        queue("mine", 1, "all", preemption=ANY),
        queue("left", 3, "theirs"),
        queue("right", 0, "theirs"),
        running("one", "left", 3),
        two,
        running("small", "left", 1),
        running("stays", "right", 2),
        waiting("incoming", 2, priority=10),
    )
    assert not laws(state, "one")
    assert laws(state, "one", "two", "small") == ["FS-07"]
    plan = fair_plan(state, *((name, BY_SHARE) for name in ("one", "two", "small")))
    assert "would not take team/two from Cohort theirs" in verdicts(state, plan)["FS-07"].detail
