"""The examples of YuniKorn's user guide end as it says, and the bundled cluster is what it claims.

Source: Apache YuniKorn 1.5.0, user guide, "Preemption". The numbers of pods, and what the queues
are guaranteed at least and may have at most, are those of its tables; all else is invented.
"""

import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from planner.quota.yunikorn.cluster import Cluster, NodeRoom, find_ask, prepare
from planner.reference.yunikorn.decision import Decision, decide
from planner.reference.yunikorn.flow import Flow, run_flow
from planner.state.yunikorn import Allocation, Application, YuniKornState
from tests.conftest import ROOT
from tests.yunikorn.building import read_yunikorn
from tests.yunikorn.recorded import NAMES, lines

INSTANCES = ROOT / "instances" / "yunikorn"
FOLDERS = sorted(path.name for path in INSTANCES.iterdir() if (path / "queues.yaml").exists())
GUIDE = [name for name in FOLDERS if name.startswith("guide-")]

# Cores in use in each leaf queue, before and after.
DOCUMENTED = {
    "guide-normal": {"queue-1": (10, 7), "queue-2": (2, 5)},
    "guide-priority-class": {"queue-1": (8, 5), "queue-2": (8, 8), "queue-3": (0, 3)},
    "guide-priority-queue": {"high-pri": (0, 6), "norm-pri": (18, 12), "low-pri": (0, 0)},
    "guide-fence-tenant": {
        "queue-1": (15, 15),
        "queue-2": (0, 0),
        "queue-3": (0, 0),
        "sys": (0, 0),
    },
    "guide-fence-system": {
        "queue-1": (15, 10),
        "queue-2": (0, 0),
        "queue-3": (15, 10),
        "sys": (0, 10),
    },
}
RECORDED = {
    "guide-normal": "guide-normal-two",
    "guide-priority-class": "guide-optout-big",
    "guide-priority-queue": "guide-priority-queue-big",
    "guide-fence-system": "guide-fence-big",
}


def read_folder(name: str) -> YuniKornState:
    return read_yunikorn(INSTANCES / name)


def in_use(state: YuniKornState) -> dict[str, int]:
    """Return the cores that each leaf has in use, by its own name."""
    leaves = (queue for queue in prepare(state).tree.by_path.values() if queue.is_leaf)
    return {leaf.path.rpartition(".")[2]: leaf.allocated.get("vcore", 0) // 1000 for leaf in leaves}


def settled(flow: Flow, state: YuniKornState) -> YuniKornState:
    return state.model_copy(update={"partitions": (flow.settled.partition,)})


def pods_in(state: YuniKornState, leaf: str) -> set[str | None]:
    return {
        one.pod
        for application in state.partitions[0].applications
        for one in application.allocations
        if application.queue_name.endswith(f".{leaf}")
    }


# The guide's examples.


def test_every_example_is_documented() -> None:
    assert sorted(DOCUMENTED) == GUIDE


@pytest.mark.parametrize("name", GUIDE)
def test_example_ends_as_documented(name: str) -> None:
    state = read_folder(name)
    assert in_use(state) == {leaf: before for leaf, (before, _) in DOCUMENTED[name].items()}
    after = in_use(settled(run_flow(state), state))
    assert after == {leaf: later for leaf, (_, later) in DOCUMENTED[name].items()}


@pytest.mark.parametrize("name", RECORDED)
def test_example_ends_with_the_recorded_steps(name: str) -> None:
    """The real core, on clusters of the same numbers, took as many steps and as many victims."""
    if "examples" not in NAMES:
        pytest.skip("no recorded flows")
    line = next(one for one in lines("examples", 1) if one["id"] == RECORDED[name])
    steps = line["expect"]["flow"]["steps"]
    flow = run_flow(read_folder(name))
    assert [one.kind for one in flow.steps] == [one["kind"] for one in steps]
    assert [len(one.victims) for one in flow.steps] == [len(one["victims"]) for one in steps]


def test_pods_that_opted_out_are_spared() -> None:
    state = read_folder("guide-priority-class")
    flow = run_flow(state)
    assert len(pods_in(state, "queue-2")) == 8
    assert pods_in(settled(flow, state), "queue-2") == pods_in(state, "queue-2")


def prioritised(application: Application, priority: int) -> Application:
    allocations = tuple(
        one.model_copy(update={"priority": priority}) for one in application.allocations
    )
    return application.model_copy(update={"allocations": allocations})


def test_pods_that_opted_out_go_when_all_others_have_a_higher_priority() -> None:
    state = read_folder("guide-priority-class")
    (partition,) = state.partitions
    applications = tuple(
        prioritised(one, 10) if one.queue_name == "root.rt.queue-1" else one
        for one in partition.applications
    )
    changed = partition.model_copy(update={"applications": applications})
    state = state.model_copy(update={"partitions": (changed,)})
    after = in_use(settled(run_flow(state), state))
    assert after == {"queue-1": 8, "queue-2": 5, "queue-3": 3}


def test_the_fence_of_a_queue_keeps_it_from_its_own_tenant() -> None:
    flow = run_flow(read_folder("guide-fence-tenant"))
    assert flow.steps == ()
    assert flow.pending["root.rt.ten-a.queue-2"] == 15


def test_the_system_takes_from_both_tenants() -> None:
    state = read_folder("guide-fence-system")
    victims = [key for step in run_flow(state).steps for key in step.victims]
    owners = {
        one.allocation_key: application.application_id
        for application in state.partitions[0].applications
        for one in application.allocations
    }
    assert Counter(owners[key] for key in victims) == {"ingest": 5, "render": 5}


# All folders.


@pytest.mark.parametrize("name", FOLDERS)
def test_the_dump_says_the_same_as_what_stands_beside_it(name: str) -> None:
    """queues.yaml, the configuration in the dump and its queue objects are of one cluster."""
    whole = read_folder(name)
    alone = read_yunikorn(INSTANCES / name / "statedump.json")
    assert alone.partitions == whole.partitions
    bare = read_yunikorn(INSTANCES / name / "statedump.json")
    assert run_flow(bare).steps == run_flow(whole).steps


def test_every_file_belongs_to_an_example() -> None:
    files = {path.relative_to(INSTANCES).as_posix() for path in INSTANCES.rglob("*.*")}
    files = {path for path in files if "__pycache__" not in path}
    made = {f"{name}/{file}" for name in FOLDERS for file in ("queues.yaml", "statedump.json")}
    assert files == made | {"make.py", "table.py", "quickstart/priorityclasses.yaml"}


def test_the_dumps_are_what_the_script_writes(tmp_path: Path) -> None:
    script = INSTANCES / "make.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)
    for name in FOLDERS:
        made = (tmp_path / name / "statedump.json").read_text("utf-8")
        assert (INSTANCES / name / "statedump.json").read_text("utf-8") == made


# The quickstart: what the core would do, and that less will do.


@cache
def quickstart() -> tuple[Cluster, Decision]:
    """Give the bundled cluster, and what the core decides for its only ask."""
    cluster = prepare(read_folder("quickstart"))
    (key,) = cluster.asks
    return cluster, decide(cluster, find_ask(cluster, key))


def running(cluster: Cluster) -> dict[str, tuple[Allocation, Application]]:
    """Return every allocation by its pod."""
    return {
        one.pod or "": (one, application)
        for application in cluster.partition.applications
        for one in application.allocations
    }


def test_the_core_evicts_a_training_pod_and_a_batch_pod() -> None:
    cluster, decision = quickstart()
    victims = [
        (pod, one.priority)
        for key in decision.victim_keys
        for pod, (one, _) in running(cluster).items()
        if one.allocation_key == key
    ]
    assert decision.node == "worker-3"
    assert victims == [
        ("training/train-embedder-worker-5", 200),
        ("etl/clicks-backfill-exec-15", 100),
    ]


def suffices(cluster: Cluster, room: NodeRoom, one: Allocation, application: Application) -> bool:
    """Say whether evicting one allocation makes room, within the written laws."""
    (ask,) = cluster.asks.values()
    queue = cluster.tree.leaf_of(application)
    guaranteed = queue.guaranteed or {}
    left = {t: queue.allocated.get(t, 0) - one.resource.get(t, 0) for t in guaranteed}
    return (
        one.node_id == room.node_id
        and all(
            room.available.get(t, 0) + one.resource.get(t, 0) >= wanted
            for t, wanted in ask.resource.items()
        )
        and one.priority <= ask.priority
        and all(left[t] >= amount for t, amount in guaranteed.items())
        and queue.path not in {"root.system", "root.serving"}
    )


def test_one_batch_pod_would_have_been_enough() -> None:
    cluster, _ = quickstart()
    enough = {
        pod: one.priority
        for pod, (one, application) in running(cluster).items()
        for room in cluster.nodes
        if suffices(cluster, room, one, application)
    }
    # On the two nodes with four cores to spare, executors of four cores; for a pod of training,
    # whose priority is higher, two cores to spare are enough.
    assert Counter(pod.rpartition("-")[0] for pod in enough) == {
        "etl/sessions-hourly-exec": 4,
        "training/train-embedder-worker": 3,
        "training/tune-ranker": 2,
    }
    assert {priority for pod, priority in enough.items() if pod.startswith("etl/")} == {100}


def test_the_quickstart_waits_long_enough() -> None:
    cluster, decision = quickstart()
    (ask,) = cluster.asks.values()
    assert ask.pod == "serving/ranker-2"
    assert (cluster.now - ask.request_time) // 10**9 == 240
    assert decision.triggered
