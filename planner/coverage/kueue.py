"""What is not modelled in a state of Kueue, as far as it concerns a pending workload.

A feature that another queue uses, and this workload's queue does not, is none of its concern:
topology, say, is asked of flavors that it could get, not of all there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from planner.coverage import kueue_evidence as evidence
from planner.coverage.kueue_features import PREEMPTION_CONFIG, SLICES, TOPOLOGY
from planner.coverage.kueue_remarks import remarks
from planner.plan import Demand, Plan, Uncovered
from planner.quota.kueue.activity import Activity, leaves_it_to_workers
from planner.quota.kueue.assignment import Mode
from planner.quota.kueue.devices import Devices
from planner.quota.kueue.slices import names_replaced
from planner.state import ClusterQueue, LocalQueue, State, Workload

_CONFIGURED: Final = ("PreemptionConfig", "PreemptionLimit")


class KueueCoverage:
    """What is known of one state of Kueue, for all workloads that are pending in it."""

    def __init__(self, state: State) -> None:
        self.state = state

    @cached_property
    def _of_state(self) -> tuple[Uncovered, ...]:
        """What concerns everybody alike."""
        found = [*self._preemption_config(), *evidence.configuration(self.state)]
        return (*found, *evidence.evictions(self.state))

    @cached_property
    def _activity(self) -> Activity:
        return Activity.of(self.state)

    @cached_property
    def _devices(self) -> Devices:
        return Devices.of(self.state)

    @cached_property
    def _queues(self) -> dict[tuple[str, str], tuple[LocalQueue, ClusterQueue]]:
        """The LocalQueues by namespace and name, each with its ClusterQueue."""
        queues = {queue.name: queue for queue in self.state.cluster_queues}
        return {
            (local.metadata.namespace, local.metadata.name): (
                local,
                queues[local.spec.cluster_queue],
            )
            for local in self.state.local_queues
            if local.spec.cluster_queue in queues
        }

    def _pending(self, key: str) -> Workload | None:
        found = self.state.workloads.find(key)
        return found if found is not None and found.is_pending else None

    def _queue_of(self, workload: Workload) -> ClusterQueue | None:
        found = self._queues.get((workload.metadata.namespace, workload.spec.queue_name))
        return None if found is None else found[1]

    def _tree_of(self, queue: ClusterQueue) -> Sequence[ClusterQueue]:
        return self._activity.tree_of(queue, self.state.cluster_queues)

    @cached_property
    def _disputed(self) -> dict[str, tuple[Uncovered, ...]]:
        """What queues say of themselves that their objects do not, by their names."""
        flavors = {one.name for one in self.state.resource_flavors}
        inactive = self._activity.inactive
        found = {
            one.name: tuple(evidence.activity(one, inactive.get(one.name), flavors))
            for one in self.state.cluster_queues
        }
        return {name: some for name, some in found.items() if some}

    def _open_or_not(self, workload: Workload) -> Iterator[Uncovered]:
        """Yield where the queues that a workload waits in say otherwise than their objects.

        Those of its tree, too: it depends on them who may be a victim.
        """
        found = self._queues.get((workload.metadata.namespace, workload.spec.queue_name))
        if found is None:
            return
        local, queue = found
        # Trees are looked for only where some queue is disputed, which is seldom.
        for one in self._tree_of(queue) if self._disputed else ():
            yield from self._disputed.get(one.name, ())
        why = self._activity.inactive.get(queue.name)
        yield from evidence.local_queue(local, queue, why)

    def unmodelled(self, pending: str) -> tuple[Uncovered, ...]:
        """Return what may decide about a pending workload ``namespace/name``, not modelled."""
        workload = self._pending(pending)
        if workload is None:
            return ()
        queue = self._queue_of(workload)
        charges = self._devices.charges(workload)
        found = [*self._of_state, *evidence.requests(self.state, workload, charges)]
        found += evidence.devices(workload, charges)
        if queue is not None:
            topology = tuple(self._topology(workload, queue))
            # What Kueue says of nodes tells nothing more where the state shows a topology itself.
            found += topology or evidence.nodes(workload)
            found += self._open_or_not(workload)
            found += evidence.slices(self.state, workload, queue)
        return tuple(found)

    def everything(self) -> tuple[Uncovered, ...]:
        """Return what is not modelled for anybody; of workloads that ask alike the first counts."""
        found = list(self._of_state)
        seen = set()
        for workload in self.state.workloads.pending():
            queue = self._queue_of(workload)
            if queue is None:
                continue
            local = workload.metadata.namespace, workload.spec.queue_name
            # All that decides here: workloads of one LocalQueue share its ClusterQueue, flavors and
            # conditions.
            place = *local, bool(_asking_for_topology(workload))
            if place not in seen:
                seen.add(place)
                found += self._topology(workload, queue)
                found += self._open_or_not(workload)
        return tuple(dict.fromkeys(found))

    def contradicted(self, plan: Plan) -> tuple[Uncovered, ...]:
        """Return where Kueue says that another amount is missing than a finished plan."""
        workload = self._pending(plan.preemptor)
        if workload is None:
            return ()
        return tuple(evidence.shortage(workload, plan.assignment.mode, plan.demand))

    def remarks(self, pending: str) -> tuple[str, ...]:
        """Return what else a reader should know: what the state seems to lack."""
        workload = self._pending(pending)
        queue = None if workload is None else self._queue_of(workload)
        if workload is None or queue is None:
            return ()
        found = list(remarks(self.state, workload, queue, self._tree_of(queue)))
        if self._leaves_it_to_workers(queue):
            found.append("MultiKueue: victims in the clusters of workers are out of reach here")
        return tuple(found)

    def _topology(self, workload: Workload, queue: ClusterQueue) -> Iterator[Uncovered]:
        """Topology matters where a podset asks for it, or the queue has a flavor with one.

        A podset that does not ask may not use such a flavor, unless all flavors of the queue are
        such: then it is placed, too. A queue with a MultiKueue check leaves that to the workers.
        """
        gates = self.state.configuration.feature_gates
        if not gates.get("TopologyAwareScheduling", True) or self._leaves_it_to_workers(queue):
            return
        flavors = [
            f"ResourceFlavor {flavor.name}"
            for flavor in self.state.resource_flavors
            if flavor.spec.topology_name and flavor.name in queue.flavor_names
        ]
        asking = _asking_for_topology(workload)
        if flavors or asking:
            said = [f"{flavors[0]} has a topologyName"] if flavors else []
            said += [f"{asking[0]} has a topologyRequest"] if asking else []
            yield TOPOLOGY.found([*asking, *flavors], ", ".join(said))

    def _leaves_it_to_workers(self, queue: ClusterQueue) -> bool:
        checks = {one.metadata.name: one for one in self.state.admission_checks}
        return leaves_it_to_workers(queue, checks)

    def _preemption_config(self) -> Iterator[Uncovered]:
        there = [
            f"{count} {kind}"
            for kind, count in self.state.other_kinds.items()
            if kind.partition(".")[0] in _CONFIGURED
        ]
        if there and self.state.configuration.feature_gates.get("ConfigurablePreemptions", False):
            yield PREEMPTION_CONFIG.found(there, "the gate ConfigurablePreemptions is on")


def waiting_slices(state: State, keys: Iterable[str]) -> Iterator[Uncovered]:
    """Yield the slices among workloads that a joint plan has left out: it decides on none."""
    waiting = state.workloads.pending()
    named = {one.key for one in waiting if names_replaced(one, state.configuration)}
    found = [f"Workload {key}" for key in keys if key in named]
    if found:
        said = f"{found[0]} waits and replaces a slice: joint plans leave that out"
        yield SLICES.found(found, said)


def contradicted(
    state: State, keys: Iterable[str], alone: Callable[[str], tuple[Mode, Sequence[Demand]]]
) -> Iterator[Uncovered]:
    """Yield where Kueue says that another amount is missing for one of some pending workloads.

    It looked at each by itself, as ``alone`` does: the mode of its flavors, and what it lacks.
    """
    for workload in filter(None, map(state.workloads.find, keys)):
        if evidence.tells_shortage(workload):
            yield from evidence.shortage(workload, *alone(workload.key))


def _asking_for_topology(workload: Workload) -> list[str]:
    return [
        f"podset {pods.name} of {workload.key}"
        for pods in workload.spec.pod_sets
        if pods.asks_for_placement
    ]
