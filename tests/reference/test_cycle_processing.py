"""Scheduling cycles: in which order, at random or not, and what an entry finds and takes.

docs/semantics/kueue.md §6.4, §7.3 and §7.4. Where the order is asked about, everybody fits, so that
only the order shows.
"""

from typing import Any

import pytest

import planner
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.chance import EQUAL_COHORTS
from planner.reference.kueue.cycle.processing import Cycle
from planner.reference.kueue.decision import Decision, decide, outcomes
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    configuration,
    fair_sharing,
    pending,
    queue,
    running,
    state_of,
)
from tests.reference.cycles import (
    flavors,
    names,
    ran,
    several_flavors,
    story,
    waits,
    with_spec,
)

RECOMPUTE = "RecomputeAssignmentUponPreemptionTargetsOverlap"


def gates(**switches: bool) -> list[Object]:
    """Return a Configuration with some feature gates set."""
    return configuration(featureGates=switches)


def evicted(cycle: Cycle) -> list[str]:
    """Return who is preempted, without namespaces."""
    return [target.workload.key.removeprefix("ns/") for target in cycle.evicted]


def test_who_is_admitted_takes_the_room() -> None:
    parts = cohort("all", nominal=1), queue("a", 0, "all"), queue("b", 0, "all")
    cycle = ran(*parts, waits("first", "a"), waits("second", "b", minute=1))
    assert story(cycle) == ["first admitted", "second skipped"]
    entry = cycle.entries[1]
    assert (entry.requeue_reason, entry.quota_reserved_reason) == ("", "WaitingForQuota")
    assert names(cycle.left) == {"b": ["second"]}


def test_pods_are_counted_as_well() -> None:
    """There are GPUs for two, but only one pod may be borrowed."""
    own = {"gpu": 4, "pods": 0}
    parts = cohort("all", nominal={"pods": 1}), queue("a", own, "all"), queue("b", own, "all")
    cycle = ran(*parts, waits("first", "a"), waits("second", "b", minute=1))
    assert story(cycle) == ["first admitted", "second skipped"]


def test_who_preempts_takes_the_room_at_once() -> None:
    """The first asks for all 3; one is free, and 2 will be. The second could have had the one."""
    parts = cohort("all"), queue("a", 3, "all", within="LowerPriority"), queue("b", 0, "all")
    held = running("r", "a", 2, -1)
    cycle = ran(*parts, held, waits("first", "a", 3), waits("second", "b"))
    assert story(cycle) == ["first preempting r", "second skipped"]
    assert evicted(cycle) == ["r"]


def test_targets_of_earlier_entries_do_not_count() -> None:
    """All 6 are held: 4 by x, 2 by y. With x and y gone both heads have room, with y alone not."""
    owners = [queue(name, 2, "all", within="LowerPriority") for name in "ab"]
    parts = cohort("all", nominal=2), *owners
    held = running("x", "a", 4, -1), running("y", "b", 2, -1)
    cycle = ran(*parts, *held, waits("first", "a", 2, 5), waits("second", "b", 2))
    assert story(cycle) == ["first preempting x", "second preempting y"]
    assert evicted(cycle) == ["x", "y"]


def test_who_is_evicted_already_is_not_evicted_again() -> None:
    parts = queue("a", 2, within="LowerPriority"), running("r", "a", 2, -1, evicted=True)
    cycle = ran(*parts, waits("first", "a"))
    assert story(cycle) == ["first preempting r"]
    assert evicted(cycle) == []


def overlap(
    *more: list[Object], switches: dict[str, bool] | None = None, nominal: int = 2
) -> Cycle:
    """Run a cycle in which two owners want the same back from ``guest``."""
    owners = [queue(name, nominal, "all", reclaim="LowerPriority") for name in "ab"]
    heads = waits("first", "a", nominal, 5), waits("second", "b", nominal)
    parts = cohort("all"), *owners, queue("guest", 0, "all"), *heads
    return ran(gates(**(switches or {})), *parts, *more)


def test_who_fits_after_the_preemptions_of_others_waits_for_them() -> None:
    """Both would preempt x; once it is gone there is room for both."""
    cycle = overlap(running("x", "guest", 4, -1))
    assert story(cycle) == ["first preempting x", "second deferred"]
    assert names(cycle.left) == {"a": ["first"], "b": ["second"]}
    for entry in cycle.entries:
        reasons = entry.requeue_reason, entry.quota_reserved_reason
        assert reasons == ("PendingPreemption", "WaitingForPreemptedWorkloads")


def test_who_waits_takes_its_room() -> None:
    """Six in all, five of them with x: the third could have the sixth, but the owners want all."""
    third = waits("third", "guest")
    cycle = overlap(running("x", "guest", 5, -1), third, nominal=3)
    assert story(cycle) == ["first preempting x", "second deferred", "third skipped"]


def test_without_the_gate_an_overlap_is_skipped() -> None:
    cycle = overlap(running("x", "guest", 4, -1), switches={RECOMPUTE: False})
    assert story(cycle) == ["first preempting x", "second skipped x"]
    assert names(cycle.left) == {"a": ["first"], "b": ["second"]}


def test_other_targets_are_searched() -> None:
    """Both choose the newest; the second then takes the other one."""
    cycle = overlap(running("old", "guest", 2, -1), running("new", "guest", 2, -1, minute=9))
    assert story(cycle) == ["first preempting new", "second preempting old"]
    assert evicted(cycle) == ["new", "old"]


def test_the_search_may_end_without_candidates() -> None:
    """The one that is left has too high a priority."""
    cycle = overlap(running("high", "guest", 2, 9), running("low", "guest", 2, -1))
    assert story(cycle) == ["first preempting low", "second noCandidates"]
    assert evicted(cycle) == ["low"]
    assert names(cycle.parked) == {"b": ["second"]}


@pytest.mark.parametrize(("y_is_there", "gate"), [(True, True), (False, True), (True, False)])
def test_no_other_flavor_is_tried(y_is_there: bool, gate: bool) -> None:  # noqa: FBT001
    """The second chose flavor x, where it can preempt, though it could preempt in y as well.

    When the first takes its target, and only a workload of high priority is left in x, it does
    not turn to y, where it may preempt ``own``.
    """
    y: dict[str, Any] = {"y": 2} if y_is_there else {}
    b = with_spec(
        queue("b", 0, "all", reclaim="LowerPriority", within="LowerPriority"),
        flavorFungibility={"whenCanPreempt": "MayStopSearch"},
        **several_flavors(x=2, **y),
    )
    a = with_spec(queue("a", 0, "all", reclaim="LowerPriority"), **several_flavors(x=2))
    guest = with_spec(queue("guest", 0, "all"), **several_flavors(x=0))
    held = [
        holds("low", "guest", "x", -1),
        holds("high", "guest", "x", 9),
        holds("own", "b", "y", -1),
    ]
    heads = waits("first", "a", 2, 5), waits("second", "b", 2)
    parts = flavors("x", "y"), cohort("all"), a, b, guest, *held, *heads
    cycle = ran(gates(**{RECOMPUTE: gate}), *parts)
    assert story(cycle) == [
        "first preempting low",
        "second noCandidates" if gate else "second skipped low",
    ]


def holds(name: str, queue_name: str, flavor: str, priority: int) -> list[Object]:
    """Return a workload that holds 2 GPUs of a flavor."""
    (workload,) = running(name, queue_name, 2, priority)
    (assignment,) = workload["status"]["admission"]["podSetAssignments"]
    assignment["flavors"] = {"gpu": flavor}
    return [workload]


def reserving(
    asks: int, other: int, *more: list[Object], nominal: int = 2, pool: int = 0, **own: Any
) -> list[str]:
    """Return what becomes of one who may not preempt in queue a, and of a borrower after it."""
    parts = cohort("all", nominal=pool), queue("a", nominal, "all", **own), queue("b", 0, "all")
    return story(ran(*parts, *more, waits("first", "a", asks, 5), waits("other", "b", other)))


def test_room_is_kept_for_who_cannot_reclaim_it() -> None:
    """One of 2 is free; the first asks for both and borrows: all it asks for is kept."""
    held = running("r", "a", 1, 9)
    assert reserving(2, 1, held) == ["first noCandidates", "other skipped"]


def test_no_room_is_kept_for_who_can_always_reclaim_it() -> None:
    held = running("r", "a", 1, 9)
    assert reserving(2, 1, held, reclaim="Any") == ["first noCandidates", "other admitted"]


def test_room_is_kept_up_to_the_borrowing_limit() -> None:
    """Three in all, one held: of 2 only one is kept, for that is all the queue may still have."""
    held = running("r", "a", 1, 9)
    assert reserving(2, 1, held, pool=1, borrowing=0) == ["first noCandidates", "other admitted"]
    assert reserving(2, 2, held, pool=1, borrowing=0) == ["first noCandidates", "other skipped"]


def test_room_is_kept_up_to_the_nominal_quota() -> None:
    """A guest holds 2 of 3: the first asks for its own 2, which it may not reclaim.

    Its queue holds nothing, so it does not borrow, and both are kept.
    """
    parts = queue("guest", 0, "all"), running("r", "guest", 2, 9)
    assert reserving(2, 1, *parts, pool=1) == ["first noCandidates", "other skipped"]


def test_no_room_is_kept_for_what_never_fits() -> None:
    assert reserving(9, 2) == ["first noFit", "other admitted"]


GATED = "MultiKueueOrchestratedPreemption"


@pytest.mark.parametrize(
    ("switch", "position", "outcome"),
    [
        (True, "", "one preemptionGated r"),
        (True, "Closed", "one preemptionGated r"),
        (True, "Open", "one preempting r"),
        (False, "Closed", "one preempting r"),
    ],
)
def test_a_closed_gate_keeps_from_preempting(
    switch: bool,  # noqa: FBT001
    position: str,
    outcome: str,
) -> None:
    positions = [{"name": "g", "position": position}] if position else []
    one = with_spec(waits("one", "a", preemptionGates=positions), preemptionGates=[{"name": "g"}])
    parts = queue("a", 1, within="LowerPriority"), running("r", "a", 1, -1)
    cycle = ran(gates(**{GATED: switch}), *parts, one)
    assert story(cycle) == [outcome]
    preempts = outcome.startswith("one preempting ")
    assert evicted(cycle) == (["r"] if preempts else [])
    assert names(cycle.left if preempts else cycle.parked) == {"a": ["one"]}
    (entry,) = cycle.entries
    if not preempts:
        reasons = entry.requeue_reason, entry.quota_reserved_reason
        assert reasons == ("PreemptionGated", "AdmissionGated")


def test_a_gate_does_not_matter_to_who_fits_or_finds_nobody() -> None:
    one = with_spec(waits("one", "a"), preemptionGates=[{"name": "g"}])
    assert story(ran(gates(**{GATED: True}), queue("a", 1), one)) == ["one admitted"]
    held = running("r", "a", 1, -1)
    assert story(ran(gates(**{GATED: True}), queue("a", 1), held, one)) == ["one noCandidates"]


POOL = cohort("all", nominal=8)
A, B = queue("a", 0, "all"), queue("b", 0, "all")


def order(*parts: list[Object], fair: bool = False, **gates: bool) -> list[str]:
    """Return the names of the heads in the order of processing."""
    switches: dict[str, Any] = {"featureGates": gates}
    if fair:
        switches["fairSharing"] = {}
    cycle = ran(configuration(**switches), *parts)
    assert {entry.outcome for entry in cycle.entries} == {"admitted"}
    return [entry.preemptor.workload.metadata.name for entry in cycle.entries]


def test_who_does_not_borrow_comes_first() -> None:
    parts = POOL, A, queue("own", 1, "all")
    high = waits("high", "a", priority=9)
    assert order(*parts, high, waits("low", "own", minute=9)) == ["low", "high"]


def test_a_nearer_cohort_comes_first() -> None:
    """The head of ``near`` borrows from its own cohort, that of a from the one above."""
    parts = POOL, cohort("below", "all", nominal=1), A, queue("near", 0, "below")
    high = waits("high", "a", priority=9)
    assert order(*parts, high, waits("low", "near")) == ["low", "high"]


def test_then_the_higher_priority_then_the_earlier() -> None:
    older, high = waits("older", "a", minute=1), waits("high", "b", priority=1, minute=2)
    assert order(POOL, A, B, older, high) == ["high", "older"]
    assert order(POOL, A, B, older, waits("newer", "b", minute=2)) == ["older", "newer"]
    assert order(POOL, B, A, older, waits("newer", "b", minute=2)) == ["older", "newer"]


def test_priority_is_left_out_by_a_gate() -> None:
    parts = POOL, A, B, waits("older", "a", minute=1), waits("high", "b", priority=1, minute=2)
    assert order(*parts, PrioritySortingWithinCohort=False) == ["older", "high"]
    assert order(*parts, fair=True, PrioritySortingWithinCohort=False) == ["older", "high"]
    assert order(*parts, fair=True) == ["high", "older"]


def test_the_lower_share_comes_first() -> None:
    parts = POOL, A, B, running("r", "a", 2)
    heads = waits("high", "a", priority=9), waits("low", "b", minute=9)
    assert order(*parts, *heads) == ["high", "low"]
    assert order(*parts, *heads, fair=True) == ["low", "high"]


def test_the_own_usage_counts() -> None:
    heads = waits("much", "a", 3, minute=1), waits("little", "b", 2, minute=2)
    assert order(POOL, A, B, *heads, fair=True) == ["little", "much"]


def test_the_weight_counts() -> None:
    """Three of eight at weight 4 are a smaller share than two at weight 1."""
    heavy = queue("a", 0, "all", weight="4")
    heads = waits("much", "a", 3, minute=2), waits("little", "b", 2, minute=1)
    assert order(POOL, heavy, B, *heads, fair=True) == ["much", "little"]


def test_of_equal_shares_the_earlier_comes_first() -> None:
    heads = waits("newer", "a", minute=2), waits("older", "b", minute=1)
    assert order(POOL, A, B, *heads, fair=True) == ["older", "newer"]


@pytest.mark.parametrize(
    ("gate", "expected"), [(True, ["owner", "guest"]), (False, ["guest", "owner"])]
)
def test_who_does_not_borrow_what_it_asks_for_comes_first(
    gate: bool,  # noqa: FBT001
    expected: list[str],
) -> None:
    """The owner's queue borrows 4 of 8 CPUs, but asks for a GPU of its own; the guest borrows one.

    Its share is 4/8; that of the guest 1/9: there are 8 GPUs in the cohort and one in the queue.
    """
    pool = cohort("all", nominal={"gpu": 8, "cpu": 8})
    owns = queue("a", {"gpu": 1, "cpu": 0}, "all")
    parts = pool, owns, queue("b", {"gpu": 0}, "all"), running("r", "a", {"cpu": 4})
    heads = waits("owner", "a", {"gpu": 1}, minute=2), waits("guest", "b", {"gpu": 1}, minute=1)
    gates = {"FairSharingPrioritizeNonBorrowing": gate}
    assert order(*parts, *heads, fair=True, **gates) == expected


def test_a_zero_of_what_is_borrowed_does_not_count() -> None:
    pool = cohort("all", nominal={"gpu": 8, "cpu": 8})
    owns = queue("a", {"gpu": 1, "cpu": 0}, "all")
    parts = pool, owns, queue("b", {"gpu": 0}, "all"), running("r", "a", {"cpu": 4})
    owner = waits("owner", "a", {"gpu": 1, "cpu": 0}, minute=2)
    assert order(*parts, owner, waits("guest", "b", {"gpu": 1}), fair=True) == ["owner", "guest"]


LEFT, RIGHT = cohort("left", "all"), cohort("right", "all")
FOUR = [
    *(queue(name, 0, "left") for name in ("l1", "l2")),
    *(queue(name, 0, "right") for name in ("r1", "r2")),
]


def test_between_cohorts_their_shares_count() -> None:
    """Queue l2 has nothing, but its cohort has more than the other, whose r1 has one already."""
    held = running("r", "l1", 3), running("s", "r1", 1)
    heads = waits("left", "l2", minute=1), waits("right", "r1", minute=2)
    assert order(POOL, LEFT, RIGHT, *FOUR, *held, *heads, fair=True) == ["right", "left"]


def test_within_a_cohort_the_shares_of_its_queues_count() -> None:
    held = running("r", "l1", 3)
    heads = waits("poor", "l2", minute=2), waits("rich", "l1", minute=1)
    assert order(POOL, LEFT, RIGHT, *FOUR, held, *heads, fair=True) == ["poor", "rich"]


def test_shares_are_computed_anew_for_every_place() -> None:
    """After l1 its cohort has one more than the other: r1 is next, though l2 is earlier."""
    heads = [waits(name, name, minute=i) for i, name in enumerate(("l1", "l2", "r1", "r2"))]
    expected = ["l1", "r1", "l2", "r2"]
    assert order(POOL, LEFT, RIGHT, *FOUR, *heads, fair=True) == expected


def test_trees_do_not_compete() -> None:
    """Whoever has the first queue of the dump is served before any other tree."""
    alone = queue("alone", 4)
    heads = waits("late", "alone", minute=9), waits("one", "a"), waits("two", "b", minute=1)
    assert order(alone, POOL, A, B, *heads, fair=True) == ["late", "one", "two"]
    assert order(POOL, A, alone, B, *heads, fair=True) == ["one", "late", "two"]


def parts(*, first: int = 2, second: int = 2) -> list[list[Object]]:
    """Return a tree of three cohorts: the own one, and two that borrow of the root's 4.

    The pending workload asks for 1, which any workload of the two others makes room for.
    """
    names = [name for name, amount in (("x", first), ("y", second)) for _ in range(amount)]
    return [
        fair_sharing(),
        cohort("root", nominal=4),
        *(cohort(name, "root") for name in ("own", "left", "right")),
        queue("a", 0, "own", reclaim="Any"),
        queue("x", 0, "left"),
        queue("y", 0, "right"),
        *(running(f"{name}{number}", name, 1) for number, name in enumerate(names)),
        pending("a", 1),
    ]


def found(some: list[list[Object]]) -> tuple[Decision, set[tuple[str, ...]]]:
    """Return the decision that is shown, and the victims of all that Kueue may come to."""
    state = state_of(*some)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    every = outcomes(snapshot, preemptor)
    names = {tuple(target.workload.key[3:4] for target in one.targets) for one in every}
    return decide(snapshot, preemptor), names


def test_either_of_two_equal_cohorts_may_lose() -> None:
    decision, victims = found(parts())
    assert decision.undetermined == (EQUAL_COHORTS,)
    assert [target.workload.key[3:4] for target in decision.targets] == ["y"]  # the last one
    assert victims == {("x",), ("y",)}


def test_a_plan_says_so() -> None:
    plan = planner.solve(state_of(*parts()))
    assert any(EQUAL_COHORTS in note for note in plan.notes)


def test_the_larger_share_leaves_nothing_to_chance() -> None:
    decision, victims = found(parts(first=3, second=1))
    assert (decision.undetermined, victims) == ((), {("x",)})
