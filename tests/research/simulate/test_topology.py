"""Pods on nodes as time passes: who waits for a place although there is quota, and what is free."""

import gzip
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import UnsupportedError
from planner.objective.profiles import PROFILES
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.research.simulate import Question, Script, Simulation, simulate
from planner.research.simulate.kueue_optimum import optimum
from planner.research.simulate.kueue_world import KueueWorld
from planner.research.simulate.simulate import Plans
from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object, admission_check, configuration
from tests.conftest import TEST_ALL, recorded_root
from tests.recorded import state_of as recorded_state
from tests.reference.topology.racks import flavor, node, pods, room, runs, state_of, topology, waits
from tests.research.generated import generated
from tests.research.simulate.driving import as_dumped, drive, story, world_of
from tests.told import told

EVERY = 1 if TEST_ALL else 10
TREE = [*topology(), *flavor()]
ONE_HOST: Object = {"required": HOST}
OFF = configuration(featureGates={"TopologyAwareScheduling": False})


def asks(count: int, name: str = "pending", **more: Any) -> list[Object]:
    """Return a workload that wants so many GPUs of one node."""
    (workload,) = waits(pods("main", count, {"gpu": 1}, ONE_HOST), **more)
    workload["metadata"] |= {"name": name, "uid": name}
    return [workload]


def ending(**run_seconds: int) -> Script:
    """Return when some end."""
    rules = [{"name": f"ns/{name}", "run_seconds": s} for name, s in run_seconds.items()]
    return Script.model_validate({"workload": rules})


def went(*parts: Sequence[Object], script: Script | None = None, **more: Any) -> Simulation:
    """Simulate a few parts, victims gone after a second unless said."""
    return simulate(
        state_of(TREE, *parts), Question(script=script or Script(), eviction_s=1, **more)
    )


SPLIT = [
    *node("n1", "r", gpu=4),
    *node("n2", "r", gpu=4),
    *runs("w1", {"gpu": 1}, {"n1": 2}),
    *runs("w2", {"gpu": 1}, {"n2": 1}),
]
"""5 of 8 GPUs are free, and no node has four."""


def test_a_job_that_fits_by_quota_waits_for_a_node() -> None:
    """When w1 ends, the quota that it gives back wakes who waits."""
    parts = [*SPLIT, *room(within="Never"), *asks(4)]
    script = ending(w1=7_200)
    found = went(parts, script=script)
    finished = next(one for one in found.timeline if one.kind == "finished")
    at_s = finished.at_s + 1
    assert story(found.timeline) == [f"{finished.at_s} w1 finished", f"{at_s} pending admitted"]
    assert found.coverage == ()
    assert story(went(parts, OFF, script=script).timeline)[0] == "0 pending admitted"


def test_who_preempts_gets_the_node_of_its_victim() -> None:
    parts = [*SPLIT, *room(), *asks(4)]
    (event,) = went(parts, until_s=0).timeline
    assert (event.kind, event.workload) == ("preempted", "ns/w1")
    world = world_of(state_of(TREE, parts))
    told([event for _, events in drive(world, 0, 60) for event in story(events)])
    later = as_dumped(world, 60)
    where = {one.key: places_of(later, one.key)["main"] for one in later.workloads}
    assert where == {PENDING: [(("n1",), 4)], "ns/w2": [(("n2",), 1)], "ns/w1": [(("n2",), 2)]}


def test_the_optimum_looks_for_the_node_with_the_fewest() -> None:
    parts = [
        *node("n1", "r", gpu=4),
        *node("n2", "r", gpu=4),
        *runs("old", {"gpu": 1}, {"n2": 4}, minute=1),
        *runs("new", {"gpu": 1}, {"n1": 2}, minute=20),
        *runs("newer", {"gpu": 1}, {"n1": 2}, minute=30),
        *room(),
        *asks(4),
    ]
    best = went(parts, decider="optimum", objective="min-count")
    assert [one.workload for one in best.timeline if one.kind == "preempted"] == ["ns/old"]
    assert [one.kind for one in best.timeline if one.workload == PENDING] == ["admitted"]
    assert (best.unproved, best.totals.evictions) == (0, 1)
    assert went(parts).totals.evictions == 2


def test_where_plans_leave_placement_out_kueue_chooses_and_nothing_is_proved() -> None:
    balanced = configuration(featureGates={"TASBalancedPlacement": True})
    (one,) = asks(2)
    one["spec"]["podSets"].append(pods("second", 2, {"gpu": 1}, ONE_HOST))
    parts = [*node("n1", "r", gpu=4), *runs("old", {"gpu": 1}, {"n1": 4}), *room(), one]
    best = went(parts, balanced, decider="optimum", objective="min-count")
    assert (best.unproved, best.totals.evictions) == (1, 1)
    assert went(parts, decider="optimum", objective="min-count").unproved == 0


def test_of_cohorts_on_the_same_nodes_only_the_own_one_is_woken() -> None:
    """When other ends its node is free; blue hears of it only with an end of its own."""
    parts = [
        *node("n1", "r", gpu=4),
        *node("n2", "r", gpu=1),
        *runs("other", {"gpu": 1}, {"n1": 4}, queue_name="red"),
        *runs("own", {"gpu": 1}, {"n2": 1}, queue_name="blue"),
        *room(name="red"),
        *room(name="blue", within="Never"),
        *asks(4, queue_name="blue"),
    ]
    waiting = went(parts, script=ending(other=7_200))
    assert [one.kind for one in waiting.timeline] == ["finished"]
    both = went(parts, script=ending(other=7_200, own=9_000))
    assert [one.kind for one in both.timeline] == ["finished", "finished", "admitted"]


def test_what_is_not_placed_is_said(tmp_path: Path) -> None:
    parts = [*SPLIT, *room(within="Never"), *asks(4)]
    (missing,) = simulate(state_of(TREE, room(), asks(4))).coverage
    assert (missing.feature, "second passes" in missing.evidence) == ("topology", False)
    failed = [{**one} for one in parts]
    for one in failed:
        if one["metadata"].get("name") == "w1":
            one["status"] = {**one["status"], "unhealthyNodes": [{"name": "n1"}]}
    (missing,) = went(failed).coverage
    assert (missing.feature, missing.objects) == ("topology", ("Workload ns/w1",))
    path = tmp_path / "cluster.json"  # whose workloads are kept as text
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*TREE, *failed]}))
    assert missing in simulate(planner.read(str(path))).coverage
    told(missing.evidence)
    delayed = [{**one} for one in parts]
    for one in delayed:
        if one["kind"] == "ClusterQueue":
            strategy = {"admissionChecks": [{"name": "later"}]}
            one["spec"] = {**one["spec"], "admissionChecksStrategy": strategy}
    check = admission_check("later", "kueue.x-k8s.io/provisioning-request")
    (missing,) = went(delayed, [check]).coverage
    assert missing.objects == ("ClusterQueue q",)


def lines() -> Iterator[Any]:
    """Yield recorded cycles of which there is one outcome."""
    root = recorded_root()
    if root is None:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    found = []
    for name in ("tas-cycle", "upstream/tas-cycle"):
        with gzip.open(root / "kueue-tas" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            found += [json.loads(text) for text in file]
    return (one for one in found[::EVERY] if "outcomes" not in one["expect"])


def places_of(state: State, key: str) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """Return where the pods of a workload are, by podset."""
    workload = state.workloads.find(key)
    assert workload is not None
    admission = workload.status.admission
    return {
        one.name: list(one.topology.places())
        for one in (admission.pod_set_assignments if admission else ())
        if one.topology
    }


def recorded_places(entry: Any) -> dict[str, list[tuple[tuple[str, ...], int]]]:
    """Return the same of a recorded entry."""
    return {
        one["name"]: [
            (tuple(each["values"]), each["count"])
            for each in one["topologyAssignment"]["domains"] or ()
        ]
        for one in entry["assignment"]["podSets"]
        if one.get("topologyAssignment")
    }


def test_the_first_cycle_of_a_simulation_is_the_recorded_one() -> None:
    placed = refused = 0
    for line in lines():
        state, expected = recorded_state(line), line["expect"]
        created = (one.metadata.creation_timestamp for one in state.workloads.pending())
        if any(at is not None and at > state.now for at in created):
            continue  # in a simulation they come later
        world = world_of(state)
        try:
            events = world.cycle(0).events
        except UnsupportedError:
            refused += 1  # the API server does not take such an admission
            continue
        entries = {one["workload"]: one for one in expected["entries"]}
        admitted = {key for key, one in entries.items() if one["outcome"] == "admitted"}
        assert {one.workload for one in events if one.kind == "admitted"} == admitted, line["id"]
        for key in admitted:
            found = places_of(as_dumped(world, 0), key)
            assert found == recorded_places(entries[key]), line["id"]
            placed += bool(found)
        evicted = {(one["workload"], one["reason"]) for one in expected["evicted"]}
        found_evicted = {(one.workload, one.reason) for one in events if one.kind == "preempted"}
        assert found_evicted == evicted, line["id"]
        names = world.snapshot(0).queue_name
        for what in ("left", "parked"):
            waiting = {
                names(queue): {one.key for one in (some.active if what == "left" else some.parked)}
                for queue, some in world.queues.items()
            }
            known = {name: set(keys) for name, keys in expected[what].items()}
            assert {name: keys for name, keys in waiting.items() if keys} == known, line["id"]
    assert placed > 10 * refused


def clusters() -> Iterator[State]:
    """Yield made-up clusters with racks, fragmented ones too."""
    for seed, preset in enumerate(["flat", "hierarchical", "fair"]):
        knobs: dict[str, Any] = {"queues": 4, "workloads": 40, "pending": 24, "topology": True}
        state = generated(preset, seed, **knobs, fragmentation=60)
        yield state


def _check_nodes(world: KueueWorld, at_s: int) -> None:
    """Compare what is left on nodes with a count from the beginning: nowhere less than nothing."""
    placed = world.snapshot(at_s).placed
    assert placed is not None
    anew = take_snapshot(as_dumped(world, at_s), placing=True).topologies.occupancy
    assert placed.left == anew.left
    assert all(amount >= 0 for rows in placed.left.values() for row in rows for amount in row)


RUNS = Script.model_validate({"run_seconds": 90_000})


def test_what_is_left_on_nodes_is_as_if_counted_anew_and_never_below_nothing() -> None:
    seen: set[str] = set()
    for state in clusters():
        world = KueueWorld(state, RUNS, decide)
        for number, (at_s, events) in enumerate(drive(world, 0, 3_000)):
            seen |= {event.kind for event in events}
            if number % 4 == 0:
                _check_nodes(world, at_s)
    assert seen >= {"admitted", "preempted", "requeued", "finished"}


def test_nor_where_the_optimum_chooses() -> None:
    evicted = 0
    knobs: dict[str, Any] = {"queues": 3, "workloads": 16, "pending": 10, "topology": True}
    for seed in range(2 if TEST_ALL else 1):
        state = generated("flat", seed, **knobs)
        best = partial(optimum, state, Plans("optimum", PROFILES["min-count"]))
        world = KueueWorld(state, RUNS, decide, instead=best)
        for at_s, events in drive(world, 0, 100):
            evicted += sum(event.kind == "preempted" for event in events)
            _check_nodes(world, at_s)
    assert evicted
