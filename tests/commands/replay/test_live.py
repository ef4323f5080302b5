"""What Kueue did between two dumps, against the replay of the first."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from planner.commands.replay.kueue_live import LiveReplay, replay_live
from planner.errors import InputError
from planner.reader import read
from planner.state.kueue import State, of_kueue
from tests.cluster import PENDING, configuration, dump_of, pending, queue, running
from tests.conftest import recorded_root
from tests.kueue_state import read_objects
from tests.reference.test_turn import rivals
from tests.told import told

Object = dict[str, Any]
BEFORE, AFTER = "2026-05-01T13:00:00Z", "2026-05-01T13:05:00Z"
UID = "uid-pending"


def objects() -> dict[str, Object]:
    """Return a queue of 4, two workloads of 2, the later of lower priority; one of 2 waits."""
    parts = [
        queue("a", 4, within="LowerPriority"),
        running("first", "a", 2, 5, minute=1),
        running("second", "a", 2, 3, minute=2),
        pending("a", 2),
        configuration(),
    ]
    found = {}
    for one in dump_of(*parts)["items"]:
        name = one.get("metadata", {}).get("name", "")
        found[name if one["kind"] in {"Workload", "ResourceFlavor"} else one["kind"]] = one
    return found


def preempted(victim: Object, uid: str, moment: str = "2026-05-01T13:02:00Z") -> None:
    """Write into a workload that it was preempted for another."""
    text = f"Preempted to accommodate a workload (UID: {uid}, JobUID: j) due to prioritization"
    said = {"type": "Preempted", "status": "True", "reason": "InClusterQueue", "message": text}
    others = [one for one in victim["status"]["conditions"] if one["type"] != "Preempted"]
    victim["status"]["conditions"] = [*others, {**said, "lastTransitionTime": moment}]
    stats = victim["status"].setdefault("schedulingStats", {"evictions": [{"count": 0}]})
    (counter,) = stats["evictions"]
    counter |= {"reason": "Preempted", "count": counter["count"] + 1}


def back(victim: Object, moment: str = "2026-05-01T13:03:00Z") -> None:
    """Write into a preempted workload that it is admitted again."""
    (said,) = (one for one in victim["status"]["conditions"] if one["type"] == "Preempted")
    said |= {"status": "False", "reason": "QuotaReserved", "lastTransitionTime": moment}
    said["message"] = f"Previously: {said['message']}"


def replayed(before: dict[str, Object], after: dict[str, Object]) -> LiveReplay:
    """Compare two dumps five minutes apart."""
    states = [
        read_objects(
            {"apiVersion": "v1", "kind": "List", "items": list(each.values())}, where="t", now=now
        )
        for each, now in ((before, BEFORE), (after, AFTER))
    ]
    return replay_live(*states)


def test_what_the_replay_says_was_done() -> None:
    before, after = objects(), objects()
    preempted(after["second"], UID)
    found = replayed(before, after)
    assert (found.equal, found.different, found.skipped) == (1, 0, 0)
    (row,) = found.preemptors
    assert (row.preemptor, row.evicted, row.replayed) == (PENDING, ("ns/second",), ("ns/second",))


def event(name: str, at: str) -> Object:
    """Return an Event of a preemption by the pending workload."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.1", "namespace": "ns"},
        "involvedObject": {"kind": "Workload", "namespace": "ns", "name": name},
        "reason": "Preempted",
        "message": f"Preempted to accommodate a workload (UID: {UID}, JobUID: j) due to x",
        "lastTimestamp": at,
    }


def test_an_event_says_the_same() -> None:
    before, after = objects(), objects()
    del after["second"]  # it is gone, and so is its condition
    after["event"] = event("second", "2026-05-01T13:02:00Z")
    found = replayed(before, after)
    assert (found.equal, found.different, found.skipped) == (1, 0, 0)
    assert found.preemptors[0].evicted == ("ns/second",)


def test_another_victim_is_said_with_what_may_explain_it() -> None:
    before, after = objects(), objects()
    before["default"]["spec"] = {"topologyName": "racks"}
    preempted(after["first"], UID)
    found = replayed(before, after)
    assert (found.equal, found.different) == (0, 1)
    (row,) = found.preemptors
    told(row.detail)
    assert [one.feature for one in row.coverage] == ["topology"]


def test_what_happened_before_or_for_somebody_new_is_not_compared() -> None:
    before, after = objects(), objects()
    preempted(before["first"], "uid-gone", "2026-05-01T12:50:00Z")
    after["first"] = deepcopy(before["first"])
    preempted(after["second"], "uid-new")
    found = replayed(before, after)
    assert (found.equal, found.different, found.skipped) == (0, 0, 1)
    told(found.preemptors[0].detail)


def test_whom_kueue_evicts_later_it_evicts_in_another_decision() -> None:
    before, after = objects(), objects()
    preempted(after["second"], UID)
    preempted(after["first"], UID, "2026-05-01T13:02:04Z")
    (row,) = replayed(before, after).preemptors
    assert (row.outcome, row.replayed) == ("equal", ("ns/second",))
    told(row.detail)
    # In the same second it is one decision, and so it is where it did not evict the first at all.
    after = objects()
    preempted(after["second"], UID)
    preempted(after["first"], UID)
    assert replayed(before, after).different == 1


def test_a_victim_that_is_admitted_again_is_told() -> None:
    before, after = objects(), objects()
    preempted(after["second"], UID)
    back(after["second"])
    (row,) = replayed(before, after).preemptors
    assert (row.outcome, row.evicted) == ("equal", ("ns/second",))
    # What the first dump shows already is not new, whether it was admitted again since or before.
    preempted(before["second"], UID)
    assert replayed(before, after).preemptors == ()
    back(before["second"])
    assert replayed(before, after).preemptors == ()


def test_the_same_preemptor_evicts_it_again() -> None:
    before = objects()
    preempted(before["second"], UID, "2026-05-01T12:50:00Z")
    back(before["second"], "2026-05-01T12:51:00Z")
    after = deepcopy(before)
    preempted(after["second"], UID)
    back(after["second"])
    (row,) = replayed(before, after).preemptors
    assert (row.outcome, row.evicted) == ("equal", ("ns/second",))
    assert replayed(after, after).preemptors == ()


def test_when_one_was_evicted_that_is_admitted_again_nobody_can_say() -> None:
    before, after = objects(), objects()
    preempted(after["second"], UID)
    preempted(after["first"], UID)
    back(after["first"])
    (row,) = replayed(before, after).preemptors
    assert row.outcome == "skipped"
    told(row.detail)
    # An Event says when: in a later decision.
    after["event"] = event("first", "2026-05-01T13:02:30Z")
    (row,) = replayed(before, after).preemptors
    assert (row.outcome, row.evicted) == ("equal", ("ns/first", "ns/second"))
    told(row.detail)
    # Whom the replay names, and Kueue left alone, is a difference whenever the other went.
    del after["event"], after["second"]["status"]["conditions"][-1]
    assert replayed(before, after).different == 1


def test_an_eviction_that_only_the_counter_tells_of_is_told() -> None:
    before, after = objects(), objects()
    for uid in ("uid-gone", UID):
        preempted(after["second"], uid)
        back(after["second"])
    known, other = replayed(before, after).preemptors
    assert (known.preemptor, known.outcome) == (PENDING, "equal")
    assert (other.preemptor, other.outcome, other.evicted) == ("", "skipped", ("ns/second",))
    told(other.detail)


def two_heads() -> dict[str, Object]:
    """Return two heads who both want the large one: it goes for the first of them."""
    return {str(n): one for n, one in enumerate(dump_of(*rivals(4), configuration())["items"])}


def named(items: dict[str, Object], name: str) -> Object:
    return next(
        one
        for one in items.values()
        if one["kind"] == "Workload" and one["metadata"]["name"] == name
    )


def test_two_heads_of_one_cycle_are_compared_with_the_cycle() -> None:
    before, after = two_heads(), two_heads()
    preempted(named(after, "large"), "uid-first")
    preempted(named(after, "small"), "uid-one")
    found = replayed(before, after)
    assert (found.equal, found.different) == (2, 0)
    assert {row.preemptor: row.replayed for row in found.preemptors} == {
        "ns/first": ("ns/large",),
        "ns/one": ("ns/small",),
    }


def test_a_decision_that_can_only_be_a_later_one_is_not_compared() -> None:
    """Another is before it in its StrictFIFO queue; then Kueue decided on a state not in a dump."""
    before, after = objects(), objects()
    for items in (before, after):
        items["ClusterQueue"]["spec"]["queueingStrategy"] = "StrictFIFO"
        (first,) = pending("a", 9, 99)
        first["metadata"] |= {"name": "vip", "uid": "uid-vip"}
        items["vip"] = first
    preempted(after["first"], UID)
    (row,) = replayed(before, after).preemptors
    assert row.outcome == "skipped"
    told(row.detail)


CANNOT_BE_TOLD = {"s3000/job-j3-452e3"}
"""An informer lagged: Kueue decided on a state that neither dump shows."""


def preemptions(state: State) -> Counter[str]:
    """Return how often each workload was preempted, as Kueue counts."""
    some = (one for one in state.workloads if one.remarks is not None)
    return Counter({one.key: one.remarks.preemptions for one in some if one.remarks})


@pytest.mark.skipif(recorded_root() is None, reason="no recorded answers")
def test_what_a_live_kueue_did_is_what_the_cycles_say() -> None:
    root = recorded_root()
    assert root is not None
    seen: Counter[str] = Counter()
    for folder in sorted((root / "kueue-live" / "watch").iterdir()):
        before, after = (of_kueue(read(str(folder / f"{n}.json.gz"))) for n in ("before", "after"))
        rows = replay_live(before, after).preemptors
        told = Counter(key for row in rows for key in row.evicted)
        assert told == preemptions(after) - preemptions(before), folder
        for row in rows:
            # A pair is recorded around one preemption; others of the same time began elsewhere.
            if f"-{row.preemptor.replace('/', '-')}-" in folder.name:
                seen[row.outcome] += 1
                if "-equal-" in folder.name:
                    assert row.outcome == "equal", (folder, row)
                assert row.outcome != "different" or row.preemptor in CANNOT_BE_TOLD, (folder, row)
    assert (seen["equal"], seen["skipped"], seen["different"]) == (67, 1, 1)


def test_the_dumps_stand_in_order() -> None:
    states = [
        read_objects(dump_of(queue("a", 1), configuration()), where="t", now=now)
        for now in (AFTER, BEFORE)
    ]
    with pytest.raises(InputError) as caught:
        replay_live(*states)
    told(caught.value)
