"""What the next cycles do with a workload, and who is before it (docs/semantics/kueue.md §7)."""

from collections.abc import Iterable
from typing import Any

import pytest

from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.nomination import NotNominated, why_held_back
from planner.reference.kueue.cycle.turn import next_turn
from planner.reference.kueue.decision import decide
from tests.cluster import Object, cohort, configuration, fair_sharing, queue, running, state_of
from tests.reference.cycles import strict, waits
from tests.told import told

ONE = "ns/one"


def held(*parts: Iterable[Object], key: str = ONE) -> NotNominated | None:
    """Return what holds back a workload that would fit or preempt if it were alone."""
    state = state_of(*parts)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, key)
    decision = decide(snapshot, preemptor)
    assert decision.search.targets or decision.assignment.mode == "Fit"
    return why_held_back(state, snapshot, preemptor, decision)


def said(*parts: Iterable[Object]) -> str:
    found = held(*parts)
    return "" if found is None else f"{found.why}: {found.text}"


def tree(*, deep: bool) -> list[Object]:
    """Return cohorts: ``left`` and ``right`` are the same one, or two below a third."""
    return [*cohort("left", "top"), *cohort("right", "top")] if deep else []


def names(*, deep: bool) -> tuple[str, str]:
    return ("left", "right") if deep else ("all", "all")


DEEP = pytest.mark.parametrize("deep", [False, True])
RECLAIMS: dict[str, Any] = {"reclaim": "LowerPriority"}


@DEEP
def test_a_head_that_finds_nobody_reserves_the_room(*, deep: bool) -> None:
    """Queue b lends 2 of its 3; first asks for 3, 2 of them are there, and nobody may go."""
    left, right = names(deep=deep)
    parts = [tree(deep=deep), queue("a", 0, left), running("low", "a", 1), waits("one", "a", 1)]
    first = waits("first", "b", 3, 9)
    before = "ns/first of ClusterQueue b is before it and reserves the room"
    assert said(*parts, strict("b", 3, right), first) == f"notFirst: {before}"
    # Who may reclaim from anybody reserves nothing, but here it would find somebody.
    taking = said(*parts, strict("b", 3, right, reclaim="Any"), first)
    told(taking)
    # Parked by the first cycle, it is before nobody in the next one.
    assert said(*parts, queue("b", 3, right), first) == ""
    # There is room for both.
    assert said(*parts, strict("b", 5, right), first) == ""


def test_who_reclaims_from_any_reserves_nothing() -> None:
    """Those who hold the quota of b are in b itself, where nobody may be preempted."""
    parts = [queue("a", 0, "all"), waits("one", "a", 1), running("own", "b", 2, 20)]
    first = waits("first", "b", 2, 9)
    told(said(*parts, strict("b", 3, "all"), first))
    assert said(*parts, strict("b", 3, "all", reclaim="Any"), first) == ""


@DEEP
def test_a_head_within_its_quota_is_admitted_first(*, deep: bool) -> None:
    """A lower borrow level goes before priority and time."""
    left, right = names(deep=deep)
    parts = [tree(deep=deep), queue("a", 0, left), queue("b", 4, right)]
    told(said(*parts, waits("one", "a", 3, 100), waits("first", "b", 2, minute=9)))
    assert said(*parts, waits("one", "a", 2, 100), waits("first", "b", 2, minute=9)) == ""


def test_of_two_that_borrow_priority_and_time_decide() -> None:
    parts = [queue("a", 0, "all"), queue("b", 0, "all"), queue("c", 4, "all")]
    assert said(*parts, waits("one", "a", 3, 1), waits("first", "b", 3, 2)).startswith("notFirst")
    assert said(*parts, waits("one", "a", 3, 2), waits("first", "b", 3, 1)) == ""
    assert said(*parts, waits("one", "a", 3, 1, minute=2), waits("first", "b", 3, 1)) != ""
    assert said(*parts, waits("one", "a", 3, 1), waits("first", "b", 3, 1, minute=2)) == ""


def test_under_fair_sharing_the_lower_share_is_first() -> None:
    """Queue a uses more of what c lends than b; its priority does not help."""
    parts = [queue("a", 0, "all"), queue("b", 0, "all"), queue("c", 6, "all")]
    uses = [running("used", "a", 2), waits("one", "a", 3, 100), waits("first", "b", 3)]
    assert said(*parts, *uses) == ""
    told(said(fair_sharing(), *parts, *uses))


def rivals(amount: int, *gates: Iterable[Object]) -> list[Iterable[Object]]:
    """Return two lenders that take quota back from a borrower: first is before one."""
    return [
        *gates,
        queue("a", 4, "all", **RECLAIMS),
        queue("b", 4, "all", **RECLAIMS),
        queue("c", 0, "all"),
        running("small", "c", 4, created=5, minute=5),
        running("large", "c", 4, created=9, minute=9),
        waits("one", "a", amount, 10),
        waits("first", "b", amount, 20),
    ]


def test_who_chooses_the_same_victim_takes_it() -> None:
    """Both want the workload that reserved last; with the gate on, the second takes the other."""
    state = state_of(*rivals(4))
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, ONE)
    decision = decide(snapshot, preemptor)
    assert [one.workload.key for one in decision.search.targets] == ["ns/large"]
    turn = next_turn(state, snapshot, preemptor, decision)
    assert turn is not None
    assert (turn.targets, held(*rivals(4))) == (("ns/small",), None)
    gate = {"RecomputeAssignmentUponPreemptionTargetsOverlap": False}
    told(said(*rivals(4, configuration(featureGates=gate))))


def test_who_fits_into_what_anothers_victims_free_waits_for_them() -> None:
    """Two of the four of the large one are enough for each."""
    before = "ns/first of ClusterQueue b is before it, and its victims make room for both"
    assert said(*rivals(2)) == f"deferred: {before}"


def test_another_that_preempts_takes_the_room_that_there_is() -> None:
    """First takes the free unit and what low has; one, which borrows, would have fitted."""
    parts = [
        queue("a", 0, "all"),
        queue("b", 3, "all", within="LowerPriority"),
        running("low", "b", 2),
        waits("one", "a", 1, 100),
    ]
    told(said(*parts, waits("first", "b", 3, 9)))
    assert said(*parts) == ""


def test_who_takes_something_else_is_before_nobody() -> None:
    """First is admitted before it, for memory; another takes the room."""
    both = {"gpu": 4, "memory": 4}
    parts = [queue("a", {"gpu": 0, "memory": 0}, "all"), queue("b", both, "all")]
    more = [queue("c", {"gpu": 0, "memory": 0}, "all"), waits("other", "c", {"gpu": 2}, 50)]
    found = said(*parts, *more, waits("one", "a", {"gpu": 3}), waits("first", "b", {"memory": 1}))
    told(found)


def test_several_are_named_up_to_the_one_that_leaves_too_little() -> None:
    parts = [queue(name, 1 if name != "a" else 0, "all") for name in "abcd"]
    waiting = [waits(f"first-{name}", name, 1, 9) for name in "bcd"]
    told(said(*parts, *waiting, waits("one", "a", 2)))


def test_only_its_own_tree_matters() -> None:
    parts = [queue("a", 0, "all"), queue("b", 3, "all"), strict("c", 3), waits("one", "a", 3)]
    assert said(*parts, waits("first", "c", 3, 100)) == ""
    assert said(*parts, waits("first", "b", 3, 100)) != ""


NO_ROOM = "couldn't assign flavors to pod set main: insufficient unused quota for gpu"


def tried(reason: str, message: str = NO_ROOM, status: str = "False") -> dict[str, Any]:
    """Return the condition that Kueue writes on a workload."""
    said = {"type": "QuotaReserved", "status": status, "reason": reason, "message": message}
    return {"conditions": [said]}


@pytest.mark.parametrize(
    "status",
    [
        {},
        tried("WaitingForQuota"),
        tried("ExceedsMaxQuota"),
        tried("NoMatchingFlavor"),
        tried("TopologyPlacementFailed"),
        tried("Pending"),  # Kueue up to v0.19
        tried("Pending", "failed to assign flavors to pod set main: no TAS flavor assigned"),
        tried("Pending", ""),
        tried("PendingEvaluation", "Preempted to accommodate a workload (UID: 1)"),
        tried("WaitingForPreemptedWorkloads", f"{NO_ROOM}. Pending the preemption of 1"),
        tried("Pending", f"{NO_ROOM}. Pending the preemption of 1 workload(s)"),
        tried("WaitingForQuota", "Workload no longer fits after processing another one"),
        tried("WaitingForQuota", "Workload no longer fits after processing another workload"),
        tried("Pending", "Workload has overlapping preemption targets with another workload"),
    ],
)
def test_conditions_tell_who_is_parked(status: dict[str, Any]) -> None:
    """First would take the room if it competed. In a StrictFIFO queue nobody is parked."""
    waiting = [waits("first", "a", 3, 9, **status), waits("one", "a", 3)]
    told(said(queue("a", 4), *waiting))
    told(said(strict("a", 4), *waiting))


def test_what_wakes_one_wakes_all() -> None:
    parked = tried("WaitingForQuota")
    waiting = [waits("first", "a", 3, 9, **parked), waits("one", "a", 3, **parked)]
    told(said(queue("a", 4), *waiting))


def test_who_is_like_one_that_was_tried_is_parked_with_it() -> None:
    """Kueue writes a condition on the one that it tried only."""
    waiting = [waits("first", "a", 3, 9), waits("one", "a", 3)]
    like = waits("like", "a", 3, 9, minute=1, **tried("WaitingForQuota"))
    told(said(queue("a", 4), *waiting))
    assert said(queue("a", 4), *waiting, like) == ""
    other = waits("like", "a", 2, 9, minute=1, **tried("WaitingForQuota"))
    told(said(queue("a", 4), *waiting, other))
    off = configuration(featureGates={"SchedulingEquivalenceHashing": False})
    told(said(off, queue("a", 4), *waiting, like))


def test_a_head_that_finds_no_room_is_parked_and_the_next_one_comes() -> None:
    """Whether it was tried already or will be: the next one has its turn at once."""
    waiting = [waits("first", "a", 9, 9), waits("one", "a", 3)]
    assert said(queue("a", 4), *waiting) == ""
    told(said(strict("a", 4), *waiting))


def test_where_all_were_tried_the_head_competes_again() -> None:
    """What would find room now was woken by something."""
    parts = [queue("a", 0, "all"), queue("b", 4, "all"), waits("one", "a", 3)]
    found = said(*parts, waits("first", "b", 3, 9, **tried("WaitingForQuota")))
    told(found)


def test_pods_that_are_not_ready_yet_hold_back_whoever_is_next() -> None:
    ready = configuration(waitForPodsReady={"blockAdmission": True})
    parts = [queue("a", 4, "all"), queue("b", 4, "all")]
    found = held(ready, *parts, waits("one", "a", 1), waits("first", "b", 1, 9))
    assert found is not None
    assert (found.why, found.head) == ("waitsForPodsReady", "ns/first")
