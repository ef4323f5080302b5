"""Generated states: consistent, the same for a seed; hard ones; racks as Kueue could fill them."""

import json
from collections import Counter
from hashlib import sha256
from typing import Any

import pytest
import yaml

import planner
from planner.dump import as_json, as_yaml
from planner.errors import InputError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader import Ignored, read_objects
from planner.reader.kueue import read_kueue_objects
from planner.reference.kueue.decision import decide
from planner.research.generate import PRESETS, generate, generate_objects
from planner.research.generate.kueue.layout import KueueKnobs
from planner.state.kueue import HOST, State
from planner.state.yunikorn import YuniKornState
from tests.conftest import TEST_ALL, some
from tests.hash_seeds import printed
from tests.research.generate.consistency import complaints, yunikorn_complaints
from tests.research.generated import generated
from tests.told import told

LARGE = ("kueue-baseline", "kueue-large-scale", "large", "huge", "yunikorn-large")
"""At their real size too large to try many of."""

SIZES: dict[str, dict[str, object]] = {
    "kueue-baseline": {"workloads": 600},
    "kueue-large-scale": {"workloads": 600, "queues": 40},
    "large": {"workloads": 300},
    "huge": {"workloads": 300, "queues": 40},
    "yunikorn-large": {"nodes": 12},
}
DIGESTS = ["a38987e454f77bdf", "77fe1247ef5342d8", "91ca9cecfeada956"]
"""SHA-256 of hierarchical, fair and yunikorn with seed 7."""

SEEDS = range(200 if TEST_ALL else 1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("preset", PRESETS)
def test_states_are_consistent_and_need_preemption(preset: str, seed: int) -> None:
    state = generate(preset, seed, **SIZES.get(preset, {}))
    if isinstance(state, State):
        assert complaints(state) == []
    else:
        assert isinstance(state, YuniKornState)
        assert yunikorn_complaints(state) == []
    (pending,) = state.pending
    plan = planner.greedy(state, pending)
    if isinstance(state, State):
        # Its own quota is enough, and others have it: Kueue's rules permit to take it back.
        assert plan.victims
    else:
        assert isinstance(state, YuniKornState)
        (partition,) = state.partitions
        ((_, ask),) = partition.asks
        rooms = [node.available or {} for node in partition.nodes]
        assert all(room["vcore"] < ask.resource["vcore"] for room in rooms)
        assert planner.solve(state, objective="min-count").status == "optimal"


def test_who_waits_beside_the_preemptor_does_not_fit_either() -> None:
    state = generated("flat", 3, pending=12, fill=90)
    assert complaints(state) == []
    keys = state.pending
    assert len(keys) == 12
    for key in keys:
        demand = planner.greedy(state, key).demand
        assert any(one.shortfall > 0 for one in demand), key


def test_same_seed_same_bytes_in_any_process() -> None:
    """Hashes of strings differ from process to process, unless somebody fixes them."""
    code = (
        "import sys; from hashlib import sha256; from planner.dump import as_json\n"
        "from planner.research.generate import generate_objects\n"
        "for name in ('hierarchical', 'fair', 'yunikorn'):\n"
        "    text = as_json(generate_objects(name, 7, {}))\n"
        "    print(sha256(text.encode()).hexdigest()[:16])"
    )
    elsewhere = printed(code, "1").split()
    here = [
        sha256(as_json(generate_objects(name, 7, {})).encode()).hexdigest()[:16]
        for name in ("hierarchical", "fair", "yunikorn")
    ]
    assert elsewhere == here
    # Written down once. A change of what is generated changes them; another Python must not.
    assert here == DIGESTS


def test_other_seeds_are_other_states() -> None:
    texts = {as_json(generate_objects("small", seed, {})) for seed in range(20)}
    assert len(texts) == 20


def test_reading_ignores_nothing_that_matters() -> None:
    """What the reader passes over is what it passes over in any dump."""
    ignored = Ignored()
    read_objects(
        generate_objects("fair-hierarchical", 0, {"evicted": 20, "last_tier": 20}),
        where="here",
        ignored=ignored,
    )
    assert not ignored.kinds
    assert set(ignored.fields) <= {"ClusterQueue.spec.namespaceSelector"}


def test_yaml_says_what_json_says() -> None:
    for preset in ("small", "yunikorn-small"):
        value = generate_objects(preset, 0, {})
        assert yaml.safe_load(as_yaml(value)) == json.loads(as_json(value)) == value


def test_classes_of_the_scalability_tests() -> None:
    """Source: kueue test/performance/scheduler/configs/{baseline,large-scale}/generator.yaml."""
    for preset, counts in (
        ("kueue-baseline", {(1, 50): 350, (5, 100): 100, (20, 200): 50}),
        ("kueue-large-scale", {(1, 50): 35, (5, 100): 11, (20, 200): 4}),
    ):
        knobs = PRESETS[preset].knobs
        assert isinstance(knobs, KueueKnobs)
        of_each = knobs.workloads // knobs.queues
        assert of_each == sum(counts.values())
        # One of its cohorts has the same queues as any other.
        state = generated(preset, queues=6, cohorts=1, workloads=6 * of_each)
        snapshot = take_snapshot(state)
        for held in snapshot.admitted.values():
            classes = [(sum(one.usage.values()) // 1000, one.priority) for one in held]
            assert {each: classes.count(each) for each in set(classes)} == counts


@pytest.mark.skipif(not TEST_ALL, reason="takes a minute")
@pytest.mark.parametrize("preset", LARGE[:3])
def test_at_their_real_size(preset: str) -> None:
    state = generated(preset)
    assert complaints(state) == []
    knobs = PRESETS[preset].knobs
    assert isinstance(knobs, KueueKnobs)
    assert len(state.workloads) == knobs.workloads + 1
    assert planner.greedy(state).victims


HARD_SEEDS = range(20) if TEST_ALL else range(1, 2)


@pytest.mark.parametrize("seed", HARD_SEEDS)
@pytest.mark.parametrize(
    "preset",
    some(
        ["flat", "hierarchical", "fair", "fair-hierarchical", "many-flavors", "no-cohort", "small"],
        3,
    ),
)
def test_kueue_takes_the_sweep(preset: str, seed: int) -> None:
    state = generated(preset, seed, hard=100)
    plan = planner.solve(state, objective="min-count")
    assert plan.greedy is not None
    sweep = {one.key for one in state.workloads if "-sweep-" in one.metadata.name}
    assert set(plan.greedy.keys) == sweep
    assert (plan.status, len(plan.victims)) == ("optimal", 1)
    assert len(sweep) > 1
    # The default objective is not worse off in anything, and takes one, too.
    assert len(planner.solve(state).victims) == 1


@pytest.mark.parametrize("seed", HARD_SEEDS)
def test_the_sweep_is_as_large_as_what_is_lacking(seed: int) -> None:
    """Each of the sweep is needed: no needless victim is what makes Kueue's answer large."""
    state = generated("hard", seed)
    plan = planner.greedy(state)
    (short,) = (one.shortfall for one in plan.demand if one.resource == "nvidia.com/gpu")
    assert len(plan.victims) == short


@pytest.mark.parametrize("seed", HARD_SEEDS)
def test_yunikorn_takes_the_newest(seed: int) -> None:
    """Six of one core on every node, and on every node one of six that would do."""
    state = generate("yunikorn-hard", seed)
    assert isinstance(state, YuniKornState)
    plan = planner.solve(state, objective="min-count")
    assert plan.greedy is not None
    assert len(plan.greedy.victims) == 6
    assert (plan.status, len(plan.victims)) == ("optimal", 1)


def test_a_share_is_hard() -> None:
    """Of states with 30 percent hard ones, some are and some are not; the others are unchanged."""
    found = []
    for seed in range(20):
        state, plain = generate("small", seed, hard=30), generate("small", seed)
        assert isinstance(state, State)
        assert isinstance(plain, State)
        is_hard = any("-sweep-" in one.metadata.name for one in state.workloads)
        assert is_hard or state == plain
        found.append(is_hard)
    assert 1 <= sum(found) <= 12


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


@pytest.mark.parametrize("seed", range(6 if TEST_ALL else 3))
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
        for seed in range(6 if TEST_ALL else 2):
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
    ("preset", "knobs"),
    [
        ("kueue-baseline", {"topology": True}),
        ("large", {"topology": True}),
        ("flat", {"fragmentation": 10}),
    ],
)
def test_what_cannot_be_is_refused(preset: str, knobs: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        generate(preset, **knobs)
    told(caught.value)
