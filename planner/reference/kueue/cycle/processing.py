"""What becomes of a head: overlap, fit, preemption, admission, reserved capacity.

Source: docs/semantics/kueue.md §7.4 and docs/semantics/kueue-features.md §1.6, §7; kueue ff69552e
pkg/scheduler/scheduler.go ``processEntry``, ``updateAssignmentIfNeeded``,
``quotaResourcesToReserve``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import names_replaced
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import Occupancy
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.context import Search, Target, Tried
from planner.reference.kueue.decision import Decision
from planner.state.kueue_configuration import Configuration
from planner.state.kueue_workload import Workload
from planner.state.queues import ClusterQueue, ConcurrentAdmissionPolicy

Outcome = Literal[
    "admitted",
    "deferred",
    "inadmissible",
    "migrating",
    "noCandidates",
    "noFit",
    "notMigrated",
    "preempting",
    "preemptionGated",
    "skipped",
    "waitsForPodsReady",
]
"""What becomes of a head.

admitted         it fits and holds its quota from now on
preempting       its targets are evicted, it waits for them
deferred         it will fit once the preemptions of others are done
skipped          an earlier entry took the room or the targets
migrating        it fits; a variant of the same workload in a worse flavor is evicted for it
notMigrated      it fits; a variant in a worse flavor stays, as the own is not worth a migration
preemptionGated  it would preempt, but has a closed gate
noCandidates     it would have to preempt, but finds no targets
noFit            no flavor is left
inadmissible     it was not nominated
waitsForPodsReady  it fits, but the scheduler stops until the pods of all holders are ready
"""


class Decider(Protocol):
    """Decides for one workload alone on a snapshot; see ``planner.reference.kueue.decision``."""

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return flavors and targets; with ``nominated``, only flavors of that assignment.

        ``tried`` says how far the walks over the flavors came in earlier cycles.
        """
        ...


class Nominee(NamedTuple):
    """A head, and what was decided for it alone on the state at the start of the cycle.

    ``preempts`` says that it preempted in an earlier cycle, and is not admitted yet.
    """

    preemptor: Preemptor
    decision: Decision
    preempts: bool = False


class Entry(Struct, frozen=True):
    """What became of a head.

    ``decision`` is the last decision, after any recomputation, ``None`` for an inadmissible head.
    The reasons are Kueue's words: ``requeue_reason`` decides where the workload waits next,
    ``quota_reserved_reason`` stands in its condition QuotaReserved. ``message`` is Kueue's text
    on an inadmissible head. ``taken`` is the quota that is gone for the entries behind it, by
    flavor-resource.
    """

    preemptor: Preemptor
    outcome: Outcome
    decision: Decision | None
    requeue_reason: str = ""
    quota_reserved_reason: str = ""
    message: str = ""
    taken: Mapping[int, int] = {}

    @property
    def assignment(self) -> Assignment | None:
        """The flavors that the head got; under ``deferred`` every mode means DeferredFit."""
        return self.decision.assignment if self.decision else None

    def as_said(self, configuration: Configuration) -> Entry:
        """Return the entry with the reasons that the release gives: older releases give fewer."""
        rules, requeue, reserved = configuration.rules, self.requeue_reason, ""
        if self.outcome in {"noFit", "noCandidates"} and not rules.says_why_requeued:
            requeue = ""
        if self.outcome != "noFit" or configuration.gate("UnadmittedWorkloadsObservability"):
            reserved = self.quota_reserved_reason if rules.says_why_unadmitted else ""
        return replace(self, requeue_reason=requeue, quota_reserved_reason=reserved)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Kueue's targets in its order: the replaced slice, then the workloads to preempt."""
        return self.decision.targets if self.decision else ()


class Schedule(Struct, frozen=True):
    """What became of the heads in one scheduling cycle.

    ``entries`` stand in the order of processing, ``inadmissible`` in that of the queues.
    ``evicted`` are the targets of entries that preempt or migrate, without targets that were
    already evicted; ``finished`` are the slices of elastic workloads that were replaced.
    """

    entries: tuple[Entry, ...]
    inadmissible: tuple[Entry, ...]
    evicted: tuple[Target, ...]
    finished: tuple[Admitted, ...]

    @property
    def blocked(self) -> bool:
        """Whether the scheduler stopped inside the last entry, and came to no entry behind it."""
        return any(entry.outcome == "waitsForPodsReady" for entry in self.entries[-1:])


class Cycle(Schedule, frozen=True):
    """One scheduling cycle on a state; ``snapshot`` is that of the state at the start.

    ``left`` and ``parked`` have the keys of waiting workloads by ClusterQueue: those ``left`` are
    in queue order and compete in the next cycle, those ``parked`` wait for something to change.
    ``not_queued`` has the workloads that wait in no queue, by key, with Kueue's message. Where
    ``blocked``, the cycle is not over.
    """

    snapshot: Snapshot
    left: Mapping[str, tuple[str, ...]]
    parked: Mapping[str, tuple[str, ...]]
    not_queued: Mapping[str, str]


_WAITING = "WaitingForQuota"
_EVALUATING = "PendingEvaluation"
_PREEMPTING = "WaitingForPreemptedWorkloads"


@dataclass(slots=True)
class Processing:
    """What the entries of a cycle have taken so far.

    ``usage`` has what earlier entries took on top of the snapshot, also entries that only preempt
    or wait; the usage of their targets stays in it. ``places`` has the same for nodes, where pods
    are placed. ``chosen`` are all targets so far, by key.
    ``finished`` are the slices that were replaced. ``decider`` decides for an entry that is decided
    again. ``unready`` says that the pods of a holder are not ready, where that keeps workloads from
    being admitted.
    """

    snapshot: Snapshot
    usage: Usage
    decider: Decider
    places: Occupancy | None = None
    chosen: dict[str, Admitted] = field(default_factory=dict)
    evicted: list[Target] = field(default_factory=list)
    finished: list[Admitted] = field(default_factory=list)
    unready: bool = field(init=False)
    _taken: Mapping[int, int] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.unready = any(True for _ in not_ready(self.snapshot))

    def process(self, nominee: Nominee) -> Entry:
        """Decide what becomes of a nominee, and add what it takes to the usage and places."""
        if self._sibling(nominee.preemptor, better=True):
            return Entry(nominee.preemptor, "skipped", nominee.decision, "", _EVALUATING)
        self._taken = {}
        return replace(self._process(nominee), taken=self._taken)

    def _process(self, nominee: Nominee) -> Entry:
        preemptor, decision = nominee.preemptor, nominee.decision
        overlaps = self._overlaps(decision)
        gate = self.snapshot.configuration.gate
        recomputed = overlaps and gate("RecomputeAssignmentUponPreemptionTargetsOverlap")
        # Earlier entries took the nodes of an entry for which there is quota
        # (docs/semantics/kueue-topology.md §6.2).
        lacks_places = (
            not recomputed
            and gate("TASRecomputeAssignmentWithinSchedulingCycle")
            and decision.assigned.placements
            and self._fits_in_quota(preemptor, decision)
            and not self._has_places(decision)
        )
        if recomputed or lacks_places:
            gone = self.chosen.values() if recomputed else ()
            decision = self._decide_again(preemptor, decision, gone)
            overlaps = self._overlaps(decision)
        mode, targets = decision.assignment.mode, decision.targets
        # In Kueue's order: of several outcomes that apply, the first one decides what is
        # reserved for this entry, and where it waits afterwards.
        if mode == "NoFit":
            return Entry(preemptor, "noFit", decision, "NoFit", decision.assigned.reason)
        if mode == "Preempt" and not targets:
            self._reserve(nominee, decision)
            return Entry(preemptor, "noCandidates", decision, "PreemptionNoCandidates", _WAITING)
        if mode == "Preempt" and is_gated(preemptor.workload, self.snapshot.configuration):
            reasons = "PreemptionGated", "AdmissionGated"
            return Entry(preemptor, "preemptionGated", decision, *reasons)
        # It fits once victims of other entries are gone, and waits for that; its usage counts from
        # now on, so that no later entry takes the room.
        if mode == "Fit" and recomputed:
            self._use(preemptor, decision)
            return Entry(preemptor, "deferred", decision, "PendingPreemption", _PREEMPTING)
        if overlaps or not (
            self._fits_in_quota(preemptor, decision) and self._has_places(decision)
        ):
            return Entry(preemptor, "skipped", decision, "", _WAITING)
        return self._take(preemptor, decision)

    def _take(self, preemptor: Preemptor, decision: Decision) -> Entry:
        """Admit, migrate or preempt: all of them take the usage."""
        self.chosen |= {target.workload.key: target.workload for target in decision.targets}
        self._use(preemptor, decision)
        if decision.assignment.mode == "Fit":
            if self.unready:
                return Entry(preemptor, "waitsForPodsReady", decision)
            worse = self._sibling(preemptor, better=False)
            if worse:
                return self._migrate(preemptor, decision, worse)
            # Its own pods are not ready either, so that a second entry of the cycle waits.
            self.unready = self.snapshot.configuration.blocks_admission
            self.finished += [decision.replaced.slice] if decision.replaced else []
            return Entry(preemptor, "admitted", decision)
        named = names_replaced(preemptor.workload, self.snapshot.configuration)
        self.evicted += [one for one in decision.victims(named) if not one.workload.evicted]
        return Entry(preemptor, "preempting", decision, "PendingPreemption", _PREEMPTING)

    def _overlaps(self, decision: Decision) -> bool:
        return any(target.workload.key in self.chosen for target in decision.targets)

    def _sibling(self, preemptor: Preemptor, *, better: bool) -> Admitted | None:
        """Return an admitted sibling of a variant whose flavor is listed before its own, or after.

        Of several Kueue takes any; here it is the first of the dump.
        """
        queue, workload = self.snapshot.queues[preemptor.queue], preemptor.workload
        own = _place(queue, workload.allowed_flavors)
        if own is None or not self.snapshot.configuration.gate("ConcurrentAdmission"):
            return None
        for one in self.snapshot.admitted[preemptor.queue]:
            its = _place(queue, one.workload.allowed_flavors)
            wanted = its is not None and (its < own if better else its > own)
            sibling = one.workload.parent_uid == workload.parent_uid != ""
            if wanted and sibling and one.workload.is_true("Admitted"):
                return one
        return None

    def _migrate(self, preemptor: Preemptor, decision: Decision, worse: Admitted) -> Entry:
        """Evict a sibling with a worse flavor, unless the own flavor is not worth a migration."""
        queue = self.snapshot.queues[preemptor.queue]
        policy = queue.spec.concurrent_admission or ConcurrentAdmissionPolicy()
        own = _place(queue, preemptor.workload.allowed_flavors)
        last = _place(queue, [policy.migration.constraints.last_acceptable_flavor])
        if own is not None and last is not None and last < own:
            return Entry(preemptor, "notMigrated", decision, "", _EVALUATING)
        target = Target(worse, "")
        self.evicted += [] if worse.evicted else [target]
        decision = replace(decision, search=Search((target,), ()))
        return Entry(preemptor, "migrating", decision, "PendingMigration", _PREEMPTING)

    def _decide_again(
        self, preemptor: Preemptor, before: Decision, gone: Collection[Admitted]
    ) -> Decision:
        """Decide as if the workloads in ``gone`` were removed, among the nominated flavors."""
        keys, admitted = {workload.key for workload in gone}, dict(self.snapshot.admitted)
        for queue in {workload.queue for workload in gone}:
            stay = (each for each in admitted[queue] if each.key not in keys)
            admitted[queue] = Holders.of_records(stay)
        now = replace(
            self.snapshot,
            usage=usage_without(self.usage, gone),
            placed=self._places_without(gone),
            admitted=admitted,
        )
        return self.decider(now, preemptor, nominated=before.assignment)

    def _use(
        self, preemptor: Preemptor, decision: Decision, usage: Mapping[int, int] | None = None
    ) -> None:
        """Take the usage of an assignment, or ``usage`` in its place, and its places on nodes."""
        self._taken = decision.assigned.usage if usage is None else usage
        self.usage.add(preemptor.queue, self._taken)
        if self.places is not None:
            for placement in decision.assigned.placements.values():
                self.places.take(placement.taken)

    def _has_places(self, decision: Decision) -> bool:
        """Say whether each domain of each podset, taken by itself, still has room (§6.2)."""
        own = (target.workload for target in decision.targets)
        places = self._places_without([*self.chosen.values(), *own])
        if places is None:
            return True
        from planner.reference.kueue.topology.find import still_fits  # noqa: PLC0415 - nodes only

        return all(
            still_fits(places, placement) for placement in decision.assigned.placements.values()
        )

    def _places_without(self, workloads: Iterable[Admitted]) -> Occupancy | None:
        if self.places is None:
            return None
        places = self.places.copy()
        topologies, queues = self.snapshot.topologies, self.snapshot.queues
        for one in {workload.key: workload for workload in workloads}.values():
            places.give_back(topologies.moved_by(one.workload, queues[one.queue]))
        return places

    def _fits_in_quota(self, preemptor: Preemptor, decision: Decision) -> bool:
        """Say whether the usage is available without all targets, each removed once.

        A slice that is replaced is removed with all it holds, although only the request beyond
        that is added: there seems to be more room than there is, as in Kueue.
        """
        gone = [*self.chosen.values(), *(target.workload for target in decision.targets)]
        return is_available(self.usage, gone, preemptor.queue, decision.assigned.usage)

    def _reserve(self, nominee: Nominee, decision: Decision) -> None:
        """Reserve quota for a preemptor without candidates, unless it can reclaim it at any time.

        With a gate, reserve also for a preemptor that preempted in an earlier cycle.

        A borrowing limit that is overrun makes the reserved amount negative, as in Kueue.
        """
        queue, tree = nominee.preemptor.queue, self.usage.tree
        gate = self.snapshot.configuration.gate
        preempts = gate("PrioritizePreemptorWorkloads") and nominee.preempts
        policies = self.snapshot.queues[queue].spec.preemption
        if policies.reclaim_within_cohort == "Any" and not preempts:
            return
        reserved, exact = {}, tree.arithmetic
        for fr, amount in decision.assigned.usage.items():
            used, nominal = self.usage.amount[queue][fr], tree.nominal(queue, fr)
            limit = tree.borrowing_limit(queue, fr)
            if decision.assignment.borrowing == 0:
                reserved[fr] = max(0, min(amount, exact.subtract(nominal, used)))
            elif limit is None:
                reserved[fr] = amount
            else:
                reserved[fr] = min(amount, exact.subtract(exact.add(nominal, limit), used))
        self._use(nominee.preemptor, decision, reserved)


def usage_without(usage: Usage, workloads: Iterable[Admitted]) -> Usage:
    """Return a copy of the usage without these workloads, each removed once."""
    rest = usage.copy()
    for workload in {one.key: one for one in workloads}.values():
        rest.remove(workload.queue, workload.usage)
    return rest


def is_available(
    usage: Usage, gone: Iterable[Admitted], queue: int, amounts: Mapping[int, int]
) -> bool:
    """Say whether a ClusterQueue can use the amounts once the workloads in ``gone`` are removed."""
    rest = usage_without(usage, gone)
    return all(amount <= max(0, rest.available(queue, fr)) for fr, amount in amounts.items())


def is_gated(workload: Workload, configuration: Configuration) -> bool:
    """Say whether a closed gate keeps a workload from preempting."""
    gate = configuration.gate
    variants = configuration.rules.gates_variants and gate("ConcurrentAdmission")
    return (variants or gate("MultiKueueOrchestratedPreemption")) and workload.has_closed_gate


def not_ready(snapshot: Snapshot) -> Iterator[Admitted]:
    """Yield the holders whose pods are not ready, where that keeps others from being admitted."""
    if snapshot.configuration.blocks_admission:
        for some in snapshot.admitted.values():
            yield from (one for one in some if not one.workload.is_true("PodsReady"))


def _place(queue: ClusterQueue, flavors: Sequence[str] | None) -> int | None:
    """Return the place of the first of these flavors in the first resource group of a queue."""
    groups = queue.spec.resource_groups
    names = [flavor.name for flavor in groups[0].flavors] if groups else []
    return names.index(flavors[0]) if flavors and flavors[0] in names else None
