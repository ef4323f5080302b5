"""What Kueue did between two dumps, against the replay of the first."""

from collections import Counter
from copy import deepcopy
from typing import Any

import pytest

from planner.commands.replay.kueue_live import LiveReplay, replay_live
from planner.errors import InputError
from planner.reader import read
from tests.cluster import PENDING, configuration, dump_of, pending, queue, running
from tests.conftest import recorded_root
from tests.kueue_state import read_objects
from tests.reference.test_turn import rivals

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
    condition = {"type": "Preempted", "status": "True", "reason": "InClusterQueue"}
    victim["status"]["conditions"].append(
        {**condition, "message": text, "lastTransitionTime": moment}
    )


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


def test_an_event_says_the_same() -> None:
    before, after = objects(), objects()
    del after["second"]  # it is gone, and so is its condition
    after["event"] = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "second.1", "namespace": "ns"},
        "involvedObject": {"kind": "Workload", "namespace": "ns", "name": "second"},
        "reason": "Preempted",
        "message": f"Preempted to accommodate a workload (UID: {UID}, JobUID: j) due to x",
        "lastTimestamp": "2026-05-01T13:02:00Z",
    }
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
    assert "Kueue evicted ns/first, the replay does not" in row.detail
    assert "the replay evicts ns/second, Kueue did not" in row.detail
    assert [one.feature for one in row.coverage] == ["topology"]


def test_what_happened_before_or_for_somebody_new_is_not_compared() -> None:
    before, after = objects(), objects()
    preempted(before["first"], "uid-gone", "2026-05-01T12:50:00Z")
    after["first"] = deepcopy(before["first"])
    preempted(after["second"], "uid-new")
    found = replayed(before, after)
    assert (found.equal, found.different, found.skipped) == (0, 0, 1)
    assert found.preemptors[0].detail == "the preemptor came after the dump before"


def test_whom_kueue_evicts_later_it_evicts_in_another_decision() -> None:
    before, after = objects(), objects()
    preempted(after["second"], UID)
    preempted(after["first"], UID, "2026-05-01T13:02:04Z")
    (row,) = replayed(before, after).preemptors
    assert (row.outcome, row.replayed) == ("equal", ("ns/second",))
    assert row.detail == "in a later decision Kueue evicted ns/first as well"
    # In the same second it is one decision, and so it is where it did not evict the first at all.
    after = objects()
    preempted(after["second"], UID)
    preempted(after["first"], UID)
    assert replayed(before, after).different == 1


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
    assert row.detail == (
        "Kueue decided in a later cycle: in the next one it is not the head of ClusterQueue a: "
        "ns/vip is before it"
    )


CANNOT_BE_TOLD = {"s3000/job-j3-452e3"}
"""An informer lagged: Kueue decided on a state that neither dump shows."""


@pytest.mark.skipif(recorded_root() is None, reason="no recorded answers")
def test_what_a_live_kueue_did_is_what_the_cycles_say() -> None:
    root = recorded_root()
    assert root is not None
    seen: Counter[str] = Counter()
    for folder in sorted((root / "kueue-live" / "watch").iterdir()):
        states = [read(str(folder / f"{name}.json.gz")) for name in ("before", "after")]
        for row in replay_live(*states).preemptors:
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
    with pytest.raises(InputError, match=r"older than the dump before it\n.*older .* first"):
        replay_live(*states)
