"""Scheduling cycles: what an entry finds after the earlier ones, and what it takes.

docs/semantics/kueue.md §7.4.
"""

from __future__ import annotations

from typing import Any

import pytest

from planner.reference.kueue.cycle.record import Cycle
from tests.cluster import Object, cohort, configuration, queue, running
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
