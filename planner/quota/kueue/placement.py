"""Pods that need a place on nodes: whether placement can be looked at, and why not.

Source: docs/semantics/kueue-topology.md §1, §3, §6 and §9.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from planner.quota.kueue.preemptor import find_preemptor, replaced_by
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.quota.kueue.topology import Topologies
from planner.quota.kueue.tree import FlavorResource
from planner.state.kueue import ClusterQueue, State, Workload
from planner.state.kueue_release import NEWEST

LEFT_OUT: Final = ("TASBalancedPlacement", "TASRespectNodeAffinityPreferred")
"""Gates by which the places of several podsets are not known to the verifier (§10)."""

_BY_A_LIBRARY: Final = "SchedulerLibraryIntegration"
_BY_SLICES: Final = "ElasticJobsViaWorkloadSlicesWithTAS"
_ELASTIC: Final = "kueue.x-k8s.io/elastic-job"


def snapshot_for(
    state: State,
    now: datetime | None,
    extra: Iterable[FlavorResource],
    pending: str,
) -> Snapshot:
    """Return the snapshot of a state, with topologies if they matter and all of them is known.

    Raises `InputError` if the workload cannot be planned for.
    """
    wanted = tuple(extra)
    gate = state.configuration.gate("TopologyAwareScheduling")
    if not gate or not may_be_placed(state, pending):
        return take_snapshot(state, now, wanted)
    snapshot = take_snapshot(state, now, wanted, placing=True)
    preemptor = find_preemptor(state, snapshot, pending)
    if not concerns(snapshot, preemptor) or unknown(state, snapshot, preemptor):
        return take_snapshot(state, now, wanted)
    return snapshot


def may_be_placed(state: State, key: str) -> bool:
    """Say whether topology may matter to a workload, by the workload and its queue alone (§1).

    It may if workload or queue are not found: what is missing is said later.
    """
    placed = state.topology_of.keys()
    if not placed:
        return False
    workload = state.workloads.find(key)
    if workload is None or any(pods.asks_for_placement for pods in workload.spec.pod_sets):
        return True
    where = workload.metadata.namespace, workload.spec.queue_name
    names = {
        local.spec.cluster_queue
        for local in state.local_queues
        if (local.metadata.namespace, local.metadata.name) == where
    }
    queues = [queue for queue in state.cluster_queues if queue.name in names]
    return not queues or any(not placed.isdisjoint(queue.flavor_names) for queue in queues)


def concerns(snapshot: Snapshot, preemptor: Preemptor) -> bool:
    """Say whether topology matters: a workload asks for places, or a flavor has a topology (§1).

    A queue with a MultiKueue check leaves placement to the workers.
    """
    topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
    if not topologies.on or topologies.leaves_it_to_workers(queue):
        return False
    asking = (pods.asks_for_placement for pods in preemptor.workload.spec.pod_sets)
    return any(asking) or not topologies.flavors.keys().isdisjoint(queue.flavor_names)


def unknown(state: State, snapshot: Snapshot, preemptor: Preemptor) -> str:
    """Say why placement is left out for a workload; empty where it is not (§9, §10)."""
    topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
    why = not_replayed(state, topologies, queue, preemptor.workload)
    if why:
        return why
    if preemptor.workload.status.unhealthy_nodes:
        return "nodes of an earlier assignment have failed"
    if replaced_by(snapshot, preemptor):
        return "it replaces a slice of an elastic workload"
    gates = [gate for gate in LEFT_OUT if snapshot.configuration.gate(gate)]
    pod_sets = preemptor.workload.spec.pod_sets
    # Podsets of more than one group are placed one after another.
    if gates and len({pods.group or f"/{number}" for number, pods in enumerate(pod_sets)}) > 1:
        return f"the gate {gates[0]} moves the places of several podsets"
    return ""


def not_replayed(
    state: State, topologies: Topologies, queue: ClusterQueue, workload: Workload | None = None
) -> str:
    """Say why not even Kueue's own decisions with placement are known; empty where they are.

    They are those for one workload, or else for any workload that the queue may get.
    """
    elastic = workload is None or workload.metadata.annotations.get(_ELASTIC) == "true"
    if state.release is not NEWEST:
        return f"it is known of the newest rules only, not of Kueue {state.release.name}"
    if not state.nodes:
        return "the state has no nodes"
    for name in (_BY_A_LIBRARY, *([_BY_SLICES] if elastic else [])):
        if state.configuration.gate(name):
            return f"the gate {name} is on"
    missing = topologies.missing(queue)
    if missing:
        return f"the state has no Topology {missing[0]}"
    return ""
