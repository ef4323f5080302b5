"""The workloads in each queue, their order, the heads, and which workloads are equivalent.

The scheduling hash also compares how a pod is written, which is not read: whether an amount is in
decimal or in binary units or has an exponent, and whether a list without entries is there.

Source: docs/semantics/kueue.md §7.1, §7.5 and docs/semantics/kueue-features.md §1.1, §1.2; kueue
ff69552e pkg/workload/workload.go ``IsAdmissible``, ``computeSchedulingHash``,
pkg/util/pod/pod.go ``SpecShape`` and pkg/cache/queue/cluster_queue.go ``baseCompareFunc``,
``backoffWaitingTimeExpired``, ``PushOrUpdate``; inadmissible_workloads.go
``queueInadmissibleWorkloads``; pkg/controller/core/workload_controller.go ``handleDRA``.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Final, NamedTuple

from planner.quota.kueue.devices import Devices
from planner.quota.kueue.holding import effective_priority, is_concurrent, queue_order_time
from planner.quota.kueue.preemptor import as_preemptor
from planner.quota.kueue.request import Amounts, Defaults, with_defaults
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.context import LAST, Tried
from planner.reference.kueue.cycle.admissibility import Refusal, refusal_of
from planner.state.kept import Kept
from planner.state.kueue import State
from planner.state.kueue_configuration import Configuration
from planner.state.kueue_workload import Workload
from planner.state.pods import PodSpec

LeadingTo = Mapping[tuple[str, str], str]

INADMISSIBLE: Final = "workload is inadmissible and can't be added to a LocalQueue"
NO_LOCAL_QUEUE: Final = "localQueue doesn't exist or inactive"
PARENT: Final = "it is a parent: only its variants are admitted"
"""Kueue's messages on a workload that it puts in no queue; on a parent it has none."""


Class = tuple[object, ...]


class Progress(NamedTuple):
    """How far the walks over the flavors of a workload came: Kueue's ``LastAssignment``.

    ``cycle`` numbers the cycle that noted it; ``generation`` is the ClusterQueue's at that time.
    """

    tried: Tried
    cycle: int
    generation: int

    @property
    def has_untried(self) -> bool:
        """Whether a walk stopped before the last flavor."""
        return any(place != LAST for places in self.tried for place in places.values())

    def is_outdated(self, cycle: int, generation: int, configuration: Configuration) -> bool:
        """Say whether the walks begin anew: holders changed since and, with a gate, it is old."""
        if configuration.gate("FlavorFungibilityPreserveScanProgress") and cycle - self.cycle <= 1:
            return False
        return generation > self.generation


class Pending:
    """A workload in a queue, and what the scheduler remembers of it from cycle to cycle.

    ``past`` is the past use of its LocalQueue, 0 where its ClusterQueue does not order by that.
    """

    def __init__(self, state: State, snapshot: Snapshot, workload: Workload, queue: int) -> None:
        self.workload: Final = workload
        self.key: Final = workload.key
        self.past: Final = snapshot.past_of(queue, workload) or 0.0
        self.order: Final = queue_order(workload, state.configuration)
        self.progress: Progress | None = None
        self._state = state
        self._snapshot = snapshot
        self._queue = queue

    def may_compete(self, now: datetime) -> bool:
        """Say whether its back-off after an eviction is over."""
        return backoff_expired(self.workload, self._snapshot.devices, now)

    @cached_property
    def preemptor(self) -> Preemptor:
        """The workload as a preemptor in its ClusterQueue."""
        return as_preemptor(self._state, self._snapshot, self.workload)

    @cached_property
    def refusal(self) -> Refusal | None:
        """Why it cannot be nominated when it is the head; ``None`` if it can."""
        return refusal_of(self._state, self.workload, self._snapshot.queues[self._queue])

    @cached_property
    def kind(self) -> Class:
        """A key that is equal for all workloads that the scheduler cannot tell from this one."""
        state, namespace = self._state, self.workload.metadata.namespace
        rules = state.configuration.rules
        defaults = Defaults.in_namespace(
            namespace, state.limit_ranges, state.runtime_classes, rules
        )
        pod_sets = tuple(
            (
                request.name,
                _pod(request.pod_set.template.spec, defaults),
                request.count,
                _pairs(request.totals),
                request.pod_set.min_count,
                request.pod_set.topology_request,
            )
            for request in self.preemptor.pod_sets
        )
        concurrent = state.configuration.gate("ConcurrentAdmission")
        allowed = self.workload.allowed_text if concurrent else None
        return self.preemptor.priority, pod_sets, allowed


@dataclass(slots=True)
class Waiting:
    """The workloads of one ClusterQueue: ``active`` in queue order, and those that are parked.

    ``strict_fifo`` says that the strategy is StrictFIFO. ``preemptor`` is the key of the workload
    that preempted last, until it is admitted. ``bulk`` has the kinds that were parked together,
    never under StrictFIFO: a later workload of such a kind is parked at once.
    ``generation`` counts the changes of the holders in the ClusterQueue.
    """

    strict_fifo: bool
    active: list[Pending] = field(default_factory=list)
    parked: list[Pending] = field(default_factory=list)
    preemptor: str | None = None
    bulk: set[Class] = field(default_factory=set)
    generation: int = 0

    @property
    def sticky(self) -> str | None:
        """The key of the workload that is the head whenever it is active, if there is one."""
        return None if self.strict_fifo else self.preemptor

    @property
    def head(self) -> Pending | None:
        """The first active workload.

        Past use comes first: a workload with less past use is before the sticky preemptor.
        """
        first, sticky = next(iter(self.active), None), self.sticky
        if first is None or sticky is None:
            return first
        return next((p for p in self.active if p.key == sticky and p.past <= first.past), first)

    def put(self, pending: Pending) -> None:
        """Put a workload among the active workloads, in queue order."""
        insort(self.active, pending, key=lambda one: (one.past, one.order))

    def enqueue(self, pending: Pending, now: datetime) -> None:
        """Take in a workload that was not in the queue before."""
        # The kind is worked out only where ``bulk`` has any: that looks at every container.
        if not pending.may_compete(now) or (self.bulk and pending.kind in self.bulk):
            self.parked.append(pending)
        else:
            self.put(pending)

    def wake(self, may_leave: Callable[[Pending], bool]) -> bool:
        """Let parked workloads that ``may_leave`` compete again; say whether anything changed."""
        woken, parked = list[Pending](), list[Pending]()
        for pending in self.parked:
            (woken if may_leave(pending) else parked).append(pending)
        # New workloads of these kinds are no longer parked at once: that alone is a change, too.
        changed = bool(woken or self.bulk)
        self.bulk.clear()
        self.parked = parked
        for pending in woken:
            self.put(pending)
        return changed

    def park_tried(self, configuration: Configuration) -> None:
        """Park the workloads of which the dump tells that they were tried in vain.

        Where nobody else competes they stay: if they find room now, something woke them; if not,
        they are parked by the next cycle.
        """
        parked = set() if self.strict_fifo else parked_after_a_try(self.active, configuration)
        if len(parked) == len(self.active):
            return
        self.parked += [one for one in self.active if one.key in parked]
        self.active = [one for one in self.active if one.key not in parked]

    def in_order(self) -> list[Pending]:
        """Return the active workloads in the order in which they become heads."""
        sticky = self.sticky
        return sorted(self.active, key=lambda one: (one.past, one.key != sticky, one.order))


def waiting_queues(state: State, snapshot: Snapshot) -> dict[int, Waiting]:
    """Return the waiting workloads of every ClusterQueue, by node, in the order of the dump.

    A workload whose LocalQueue is missing or stopped, or points nowhere, waits in no queue.
    """
    queues = {
        node: Waiting(strict_fifo=queue.spec.queueing_strategy == "StrictFIFO")
        for node, queue in snapshot.queues.items()
    }
    behind = open_queues(state, snapshot)
    for workload in state.workloads.pending():
        queue = behind.get((workload.metadata.namespace, workload.spec.queue_name))
        if queue is not None and is_queued(workload, snapshot, queue):
            queues[queue].enqueue(Pending(state, snapshot, workload, queue), snapshot.now)
    return queues


def not_queued(workload: Workload, snapshot: Snapshot, leading: LeadingTo) -> str:
    """Say why a workload stands in no queue, in Kueue's words; empty if it stands in one.

    ``leading`` maps open LocalQueues to the ClusterQueues that they name.
    """
    if not _is_admissible(workload, snapshot.configuration):
        return INADMISSIBLE
    name = leading.get((workload.metadata.namespace, workload.spec.queue_name))
    if name is None:
        return NO_LOCAL_QUEUE
    queue = snapshot.node_of.get(name)
    if queue is None:
        return "clusterQueue doesn't exist"
    if is_queued(workload, snapshot, queue):
        return ""
    return snapshot.devices.charges(workload).rejection or PARENT


def leading_to(state: State) -> LeadingTo:
    """Return the ClusterQueue that every open LocalQueue (namespace, name) names."""
    return {
        (local.metadata.namespace, local.metadata.name): local.spec.cluster_queue
        for local in state.local_queues
        if local.spec.stop_policy == "None"
    }


def open_queues(state: State, snapshot: Snapshot) -> dict[tuple[str, str], int]:
    """Return the ClusterQueue node behind every open LocalQueue (namespace, name) that has one."""
    return {
        local: snapshot.node_of[name]
        for local, name in leading_to(state).items()
        if name in snapshot.node_of
    }


def heads(queues: dict[int, Waiting], snapshot: Snapshot) -> Iterator[tuple[int, Pending]]:
    """Yield the head of every active ClusterQueue with its node."""
    for queue, waiting in queues.items():
        head = waiting.head
        if head is not None and snapshot.is_active(queue):
            yield queue, head


def first_in_line(
    state: State, snapshot: Snapshot, *, awake: bool = False
) -> Mapping[int, Workload]:
    """Return the first workload that competes in each ClusterQueue, by node.

    Who is parked after a try comes behind all others, but where it is ``awake``, as the others are.
    """
    found = _LAST_FIRST.recall(state, snapshot.now, lambda: _first_in_line(state, snapshot))
    return found[0] if awake else found[1]


_First = Mapping[int, Workload]
_LAST_FIRST: Final = Kept[tuple[_First, _First]]()
"""Who was first in line last, by the clock."""


def _first_in_line(state: State, snapshot: Snapshot) -> tuple[_First, _First]:
    """Return the first workloads if all are awake, and as conditions tell."""
    behind, configuration = open_queues(state, snapshot), snapshot.configuration
    competing: dict[int, list[Workload]] = {}
    for workload in snapshot.waiting.values():
        node = behind.get((workload.metadata.namespace, workload.spec.queue_name))
        if node is None or not is_queued(workload, snapshot, node):
            continue
        # A workload that backs off is parked, and blocks no workload behind it.
        if backoff_expired(workload, snapshot.devices, snapshot.now):
            competing.setdefault(node, []).append(workload)
    awake: dict[int, Workload] = {}
    fresh: dict[int, Workload] = {}
    for node, some in competing.items():
        line = [Pending(state, snapshot, one, node) for one in some]
        awake[node] = min(line, key=lambda one: (one.past, one.order)).workload
        if snapshot.queues[node].spec.queueing_strategy != "StrictFIFO":
            parked = parked_after_a_try(line, configuration)
            line = [one for one in line if one.key not in parked]
        if line:
            fresh[node] = min(line, key=lambda one: (one.past, one.order)).workload
    return awake, {**awake, **fresh}


def parked_after_a_try(line: Iterable[Pending], configuration: Configuration) -> set[str]:
    """Return the workloads of a BestEffortFIFO queue that are parked as the dump tells, by key.

    Those that the scheduler cannot tell from one that was tried in vain are parked with it, and
    Kueue writes no condition on them then (docs/semantics/kueue.md §7.5).
    """
    parked = {one.key for one in line if one.workload.was_tried}
    silent = [one for one in line if one.workload.condition("QuotaReserved") is None]
    if not parked or not silent or not configuration.gate("SchedulingEquivalenceHashing"):
        return parked
    # The kind looks at every container: only for tried ones that may be of the same kind.
    priorities = {one.order[0] for one in silent}
    kinds = {one.kind for one in line if one.key in parked and one.order[0] in priorities}
    return parked | {one.key for one in silent if one.kind in kinds}


def is_queued(workload: Workload, snapshot: Snapshot, queue: int) -> bool:
    """Say whether a workload may stand in a ClusterQueue at all.

    One that may have variants there, and is none, becomes a parent before it is queued.
    """
    configuration = snapshot.configuration
    if not _is_admissible(workload, configuration):
        return False
    parent = workload.is_parent and configuration.gate("ConcurrentAdmission")
    becomes = is_concurrent(snapshot.queues[queue], configuration) and not workload.parent_uid
    return not (parent or becomes or snapshot.devices.charges(workload).rejection)


def _is_admissible(workload: Workload, configuration: Configuration) -> bool:
    if not workload.is_pending or workload.is_true("QuotaReserved"):
        return False
    gated = workload.gated_by and configuration.gate("AdmissionGatedBy")
    replaces = workload.is_true("WaitingForReplacementPods")
    waits = configuration.rules.waits_for_replacement and replaces
    held = configuration.rules.knows_on_hold and workload.is_on_hold
    return not (held or gated or waits)


def backoff_expired(workload: Workload, devices: Devices, now: datetime) -> bool:
    """Say whether a workload may be tried again after an eviction.

    Before Kueue queues a workload whose devices it counts, it drops a condition Requeued that is
    False: the devices are known by now.
    """
    requeued = workload.condition("Requeued")
    waits = requeued is not None and requeued.status == "False"
    if waits and not devices.charges(workload).of_pod_set:
        return False
    requeue = workload.status.requeue_state
    return requeue is None or requeue.requeue_at is None or requeue.requeue_at <= now


def queue_order(workload: Workload, configuration: Configuration) -> tuple[int, datetime, str]:
    """Return the key of the order in a ClusterQueue: higher priority, then earlier."""
    return (
        -effective_priority(workload, configuration),
        queue_order_time(workload, configuration),
        workload.metadata.uid,
    )


def _pod(pod: PodSpec, defaults: Defaults) -> Class:
    overhead = pod.overhead or defaults.overheads.get(pod.runtime_class_name, {})
    whole = Amounts()
    # Releases that do not complete what is asked for whole pods do not compare it, either.
    if pod.resources is not None and defaults.pod is not None:
        whole = with_defaults(pod.resources, defaults.pod)
    containers = (
        tuple(
            (_pairs(with_defaults(one.resources, defaults.container).requests), one.ports)
            for one in some
        )
        for some in (pod.init_containers, pod.containers)
    )
    return (
        *containers,
        _pairs(pod.node_selector),
        pod.affinity,
        pod.tolerations,
        pod.runtime_class_name,
        pod.priority,
        pod.spread,
        _pairs(overhead),
        pod.resource_claims,
        _pairs(whole.requests),
    )


def _pairs(values: Mapping[str, object]) -> frozenset[tuple[str, object]]:
    return frozenset(values.items())
