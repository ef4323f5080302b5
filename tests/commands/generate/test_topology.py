"""Made-up clusters with racks: what runs stands where Kueue could have put it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import planner
from planner.commands.generate import generate_objects
from planner.errors import InputError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.decision import decide
from planner.state.kueue import HOST

RACK = "topology.example/rack"


def made(preset: str = "flat", seed: int = 0, **knobs: Any) -> dict[str, Any]:
    """Return the objects of a cluster with a topology."""
    return generate_objects(preset, seed, {"topology": True, **knobs})


def of_kind(dump: dict[str, Any], kind: str) -> list[Any]:
    """Return the objects of a kind."""
    return [one for one in dump["items"] if one["kind"] == kind]


def places(workload: Any) -> Counter[str]:
    """Return the pods of a running workload by host."""
    (assigned,) = workload["status"]["admission"]["podSetAssignments"]
    assignment = assigned["topologyAssignment"]
    assert assignment["levels"] == [HOST]
    return Counter(
        {
            part["valuesPerLevel"][0]["universal"]: part["podCounts"]["universal"]
            for part in assignment["slices"]
        }
    )


CASES = [
    ("flat", {}),
    ("flat", {"fragmentation": 100, "hosts": 2}),
    ("fair", {"shapes": "distinct", "flavors": 2}),
    ("small", {"hard": 100}),
    ("hierarchical", {"fits": True, "fill": 80}),
]


@pytest.mark.parametrize(("preset", "knobs"), CASES)
def test_every_pod_has_a_place_and_no_node_too_many(preset: str, knobs: dict[str, Any]) -> None:
    dump = made(preset, 7, **knobs)
    rack_of = {
        one["metadata"]["name"]: one["metadata"]["labels"][RACK] for one in of_kind(dump, "Node")
    }
    used: Counter[str] = Counter()
    for workload in of_kind(dump, "Workload"):
        (pods,) = workload["spec"]["podSets"]
        assert pods["topologyRequest"]
        if "status" not in workload:
            continue
        found = places(workload)
        assert found.total() == pods["count"]
        if "required" in pods["topologyRequest"]:
            assert len({rack_of[host] for host in found}) == 1
        (container,) = pods["template"]["spec"]["containers"]
        gpus = int(container["resources"]["requests"]["nvidia.com/gpu"])
        used.update({host: count * gpus for host, count in found.items()})
    assert used.keys() <= rack_of.keys()
    assert max(used.values()) <= 8
    racks = Counter(rack_of.values())
    assert max(racks.values()) == knobs.get("hosts", 4)


@pytest.mark.parametrize("seed", range(6))
def test_the_newest_stands_where_kueue_would_put_it(seed: int) -> None:
    """Nobody came after it, so its place is the one that Kueue finds without it."""
    dump = made("flat", seed, workloads=40)
    running = [one for one in of_kind(dump, "Workload") if "status" in one]
    newest = max(running, key=_reserved)
    found = places(newest)
    del newest["status"]
    for queue in of_kind(dump, "ClusterQueue"):  # nodes alone are to decide
        for row in queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]:
            row["nominalQuota"] = "1P"
    state = read_kueue_objects(dump, where="test")
    key = f"{newest['metadata']['namespace']}/{newest['metadata']['name']}"
    snapshot = take_snapshot(state, placing=True)
    decision = decide(snapshot, find_preemptor(state, snapshot, key))
    assert decision.assignment.mode == "Fit"
    assert dict(decision.assigned.placements["main"].leaves) == found


def _reserved(workload: Any) -> str:
    (reserved,) = (
        one for one in workload["status"]["conditions"] if one["type"] == "QuotaReserved"
    )
    found: str = reserved["lastTransitionTime"]
    return found


def test_who_came_and_went_leaves_gaps() -> None:
    """More nodes are used in part, over some seeds, the more others came and went."""

    def in_part(fragmentation: int) -> int:
        count = 0
        for seed in range(6):
            dump = made("flat", seed, fill=80, fragmentation=fragmentation)
            used: Counter[str] = Counter()
            for workload in of_kind(dump, "Workload"):
                if "status" in workload:
                    (pods,) = workload["spec"]["podSets"]
                    (container,) = pods["template"]["spec"]["containers"]
                    gpus = int(container["resources"]["requests"]["nvidia.com/gpu"])
                    used.update({host: n * gpus for host, n in places(workload).items()})
            count += sum(0 < gpus < 8 for gpus in used.values())
        return count

    assert in_part(0) < in_part(50) < in_part(100)


def test_the_same_again() -> None:
    assert made("flat", 5, fragmentation=30) == made("flat", 5, fragmentation=30)


def test_nothing_else_changes() -> None:
    """The queues and what they hold are those of the same seed without nodes."""
    with_nodes, without = made("flat", 2), generate_objects("flat", 2, {})
    for kind in ("ClusterQueue", "Cohort", "LocalQueue"):
        assert of_kind(with_nodes, kind) == of_kind(without, kind)
    pairs = zip(of_kind(with_nodes, "Workload"), of_kind(without, "Workload"), strict=True)
    assert all(one["metadata"] == other["metadata"] for one, other in pairs)


@pytest.mark.parametrize(
    ("preset", "knobs", "words"),
    [
        ("kueue-baseline", {"topology": True}, "have no GPUs"),
        ("large", {"topology": True}, "at most 5000"),
        ("flat", {"fragmentation": 10}, "there are no nodes"),
    ],
)
def test_what_cannot_be_is_refused(preset: str, knobs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        planner.generate(preset, **knobs)
