"""KQ-07: other queues and cohorts give only while they are over their quota."""

from __future__ import annotations

from itertools import permutations

import pytest

from planner.state import State
from planner.verifier.kueue.plan import match_plan, verify_plan
from tests.verifier.cases import (
    OWN,
    RECLAIM,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def one_queue(*sizes: int, nominal: int = 4) -> State:
    """Make a queue that holds workloads a, b, c ... of the given sizes."""
    names = "abcdefgh"[: len(sizes)]
    return cluster(
        cohort("all", gpus=sum(sizes) - nominal),
        queue("mine", 2, "all", preemption=policies("LowerPriority", "Any")),
        queue("other", nominal, "all"),
        *(running(name, "other", size) for name, size in zip(names, sizes, strict=True)),
        waiting("incoming", 1, priority=10),
    )


def plan_all(state: State, names: str) -> list[str]:
    return list(broken(state, plan_of(state, *((name, RECLAIM) for name in names))))


def test_the_last_victim_may_bring_the_queue_far_below() -> None:
    assert not plan_all(one_queue(5), "a")


def test_a_queue_at_its_quota_is_forbidden() -> None:
    """Quota 4, usage 6: whichever goes first, no more than 4 is left for the other."""
    state = one_queue(4, 2)
    assert not plan_all(state, "a")
    assert not plan_all(state, "b")
    assert plan_all(state, "ab") == ["KQ-07"]
    assert not plan_all(one_queue(5, 1), "ab")


def test_the_order_is_found_whatever_the_plan_says() -> None:
    """Of 1, 3 and 2 with quota 4, the 3 must go last: 6, 5, 3 would end too early."""
    state = one_queue(1, 3, 2)
    for order in permutations("ab"):
        plan = plan_of(state, *((name, RECLAIM) for name in order))
        verification = verify_plan(state, plan)
        assert verification.accepted
        assert verification.removal_order == ("team/a", "team/b")


def test_every_choice_of_the_last_victim_is_tried_and_named() -> None:
    state = one_queue(2, 2, 2)
    plan = plan_of(state, ("a", RECLAIM), ("b", RECLAIM), ("c", RECLAIM))
    assert broken(state, plan) == ["KQ-07"]
    assert verdicts(state, plan)["KQ-07"].detail == (
        "before its last victim goes, whichever of them that is, ClusterQueue other is not over "
        "its quota (uses 2 nvidia.com/gpu in flavor h200 of nominal quota 4), so Kueue would not "
        "take team/a, team/b, team/c"
    )


def two_queues(middle: int, *, lending: int | None = None) -> State:
    """Make a cohort over two queues, each over its own quota by one workload."""
    return cluster(
        cohort("all", gpus=4),
        cohort("middle", "all", gpus=middle, lending=lending),
        queue("mine", 1, "all", preemption=policies("LowerPriority", "Any")),
        queue("left", 1, "middle"),
        queue("right", 1, "middle"),
        running("l", "left", 2),
        running("r", "right", 2),
        waiting("incoming", 1, priority=10),
    )


def test_a_cohort_in_between_counts() -> None:
    """Usage 4, then 2: the cohort has 1 + 1 of its queues, and some of its own."""
    assert not plan_all(two_queues(1), "l")
    assert plan_all(two_queues(1), "lr") == ["KQ-07"]
    assert plan_all(two_queues(2), "l") == ["KQ-07"]


def test_the_last_victim_of_a_cohort_is_the_last_of_a_queue_too() -> None:
    """Middle has quota 4 and uses 7: 4, 1 and 2 may go two at a time, but not all of them.

    In queue left with quota 3, the 4 must go after the 1.
    """
    state = cluster(
        cohort("all", gpus=9),
        cohort("middle", "all"),
        queue("mine", 1, "all", preemption=policies("LowerPriority", "Any")),
        queue("left", 3, "middle"),
        queue("right", 1, "middle"),
        running("big", "left", 4),
        running("small", "left", 1),
        running("r", "right", 2),
        waiting("incoming", 1, priority=10),
    )
    for names in (("r", "small"), ("big", "small"), ("big", "r")):
        assert not broken(state, plan_of(state, *((name, RECLAIM) for name in names))), names
    plan = plan_of(state, *((name, RECLAIM) for name in ("big", "small", "r")))
    assert broken(state, plan) == ["KQ-07"]
    assert "Cohort middle is not over its quota" in verdicts(state, plan)["KQ-07"].detail


def test_what_a_queue_keeps_is_not_used_by_its_cohort() -> None:
    """With lending limit 1, queue left keeps 2 of its 3: middle sees 2 of the 4 it uses.

    Victim l leaves middle with nothing but the 2 of r, whose quota is 3 then, 5 without limit.
    """

    def state(lending: int | None) -> State:
        return cluster(
            cohort("all", gpus=9),
            cohort("middle", "all"),
            queue("mine", 1, "all", preemption=policies("LowerPriority", "Any")),
            queue("left", 3, "middle", lending=lending),
            queue("right", 2, "middle"),
            running("l", "left", 4),
            running("r", "right", 2),
            waiting("incoming", 1, priority=10),
        )

    # Without a limit: middle uses 6 of 5. With it: 2 + 2 of 1 + 2. Both are over.
    assert not plan_all(state(None), "l")
    assert not plan_all(state(1), "l")
    assert plan_all(state(None), "r") == ["KQ-07"]


def test_own_victims_are_unconditional() -> None:
    state = cluster(
        cohort("all"),
        queue("mine", 4, "all", preemption=policies("LowerPriority", "Any")),
        queue("other", 4, "all"),
        running("own", "mine", 2),
        running("too", "mine", 1),
        waiting("incoming", 4, priority=10),
    )
    assert not broken(state, plan_of(state, ("own", OWN), ("too", OWN)))


@pytest.mark.parametrize("reverse", [False, True])
def test_the_common_ancestor_and_the_own_path_are_never_asked(reverse: bool) -> None:  # noqa: FBT001
    """The root is within its quota all the time, and so is the preemptor's own cohort."""
    taken = [("l", RECLAIM), ("own", OWN)]
    state = cluster(
        cohort("all", gpus=9),
        cohort("mine-too", "all", gpus=9),
        queue("mine", 1, "mine-too", preemption=policies("LowerPriority", "Any")),
        queue("left", 1, "all"),
        running("own", "mine", 1),
        running("l", "left", 2),
        waiting("incoming", 1, priority=10),
    )
    plan = plan_of(state, *(reversed(taken) if reverse else taken))
    assert not broken(state, plan)
    order = [victim.key for victim in match_plan(state, plan).removal.order]
    assert order == ["team/own", "team/l"]


@pytest.mark.parametrize("names", [("big", "r"), ("r", "big")])
def test_what_a_queue_keeps_decides_who_can_be_last(names: tuple[str, str]) -> None:
    """Left lends none of its 3, so with nothing but big's 4 there, middle uses 1 of its 2.

    With nothing but r there it uses 3: r must be the last, whatever the order of the plan.
    """
    state = cluster(
        cohort("all", gpus=9),
        cohort("middle", "all", gpus=1),
        queue("mine", 1, "all", preemption=policies("LowerPriority", "Any")),
        queue("left", 3, "middle", lending=0),
        queue("right", 1, "middle"),
        running("big", "left", 4),
        running("r", "right", 3),
        waiting("incoming", 1, priority=10),
    )
    verification = verify_plan(state, plan_of(state, *((name, RECLAIM) for name in names)))
    assert verification.accepted
    assert verification.removal_order == ("team/big", "team/r")
