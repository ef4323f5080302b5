"""The state after a plan, and whether its victims would then preempt again: the term D11.

The victims are gone and pending again, the preemptor holds what it was assigned; everything else
stays as it is, the clock included. An eviction clears ``status.admission`` and sets the conditions
Evicted and Preempted, unless the workload was being evicted already: Kueue does not evict it a
second time (docs/semantics/kueue.md §7). An admission sets both to False. Reclaimable pods stay
what they are. Each victim then waits in its LocalQueue, with its own priority and its place in the
queue; whom Kueue would evict for this victim alone is replayed exactly. Other workloads that wait
are not admitted in between. A workload that is being evicted already goes whatever the plan: as a
victim it gets no decision of its own, and evicting it is no new eviction.

Source: docs/semantics/kueue.md §2.1, §2.4, §4 to §7; docs/design/objectives.md §3 (D11); kueue
ff69552e pkg/workload/workload.go ``SetEvictedCondition``, ``SetPreemptedCondition`` and
``SetQuotaReservation``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec.structs import replace

from planner.objective.terms import Cut
from planner.plan.kueue import Cascade
from planner.quantity import from_units
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import as_preemptor
from planner.quota.kueue.slices import replaced_slice
from planner.quota.kueue.snapshot import Preemptor, Snapshot, as_admitted
from planner.quota.kueue.topology import NO_TOPOLOGIES
from planner.quota.kueue.tree import FlavorResource
from planner.reference.kueue.candidates import satisfies_policy
from planner.reference.kueue.decision import decide
from planner.solver.deadline import OutOfTime, never
from planner.state.base import Condition
from planner.state.kueue import State, Workload
from planner.state.kueue_topology import AssignedDomain, TopologyAssignment
from planner.state.kueue_workload import (
    PREEMPTED,
    Admission,
    Eviction,
    PodSetAssignment,
    SchedulingStats,
)

if TYPE_CHECKING:
    from planner.reference.kueue.topology.find import Placement

NOWHERE: Final[Mapping[str, Placement]] = {}
_HELD = ("QuotaReserved", "Admitted")
_EVICTION = ("Evicted", "Preempted")


def snapshot_after(snapshot: Snapshot, holder: Admitted, victims: Collection[Admitted]) -> Snapshot:
    """Return the snapshot with the victims gone and the preemptor admitted as ``holder``.

    A slice of an elastic workload that the preemptor replaces is finished then.
    """
    usage, admitted = snapshot.usage.copy(), dict(snapshot.admitted)
    old = replaced_slice(snapshot, holder.queue, holder.workload)
    # By key: the old slice can be a victim, too, and gives its usage back once.
    victims = [*{one.key: one for one in (*victims, *([old] if old else []))}.values()]
    gone = {victim.key for victim in victims}
    for victim in victims:
        usage.remove(victim.queue, victim.usage)
    for node in {victim.queue for victim in victims}:
        admitted[node] = Holders(one for one in admitted[node] if one.key not in gone)
    usage.add(holder.queue, holder.usage)
    admitted[holder.queue] = Holders((*admitted[holder.queue], holder))
    # Where the preemptor's pods will be is not known: quota alone decides what victims do next.
    return replace(snapshot, usage=usage, admitted=admitted, topologies=NO_TOPOLOGIES)


def evicted(victim: Admitted, reason: str, now: datetime) -> Workload:
    """Return the workload of a victim as it is once evicted; ``reason`` is its reason code."""
    changed = {kind: _condition(kind, "False", "Pending", now) for kind in _HELD}
    if not victim.evicted:
        changed |= _eviction(reason, now)
    return _with(victim.workload, changed, None)


def evicting(victim: Admitted, reason: str, now: datetime) -> Admitted:
    """Return a victim that still holds what it held, and is being evicted from now on.

    Its evictions are counted in its schedulingStats, as pkg/workload/evict/evict.go does.
    """
    workload = _with(victim.workload, _eviction(reason, now), victim.workload.status.admission)
    counts = Counter({PREEMPTED: 1})
    for one in workload.status.scheduling_stats.evictions:
        counts[one.reason] += one.count
    evictions = tuple(Eviction(reason=name, count=count) for name, count in counts.items())
    update = {"scheduling_stats": SchedulingStats(evictions=evictions)}
    workload = workload.model_copy(update={"status": workload.status.model_copy(update=update)})
    return victim.changed(workload)._replace(evicted=True, remarks=workload.remarks)


def _eviction(reason: str, now: datetime) -> dict[str, Condition]:
    return {
        "Evicted": _condition("Evicted", "True", PREEMPTED, now),
        "Preempted": _condition("Preempted", "True", reason, now),
    }


def admit(
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    placements: Mapping[str, Placement] = NOWHERE,
) -> Admitted:
    """Return the preemptor as admitted with its assignment, requests for ``pods`` included.

    ``placements`` say by podset where its pods go, if that is known.
    """
    now, configuration = snapshot.now, snapshot.configuration
    pod_sets = []
    for request, pods in zip(preemptor.pod_sets, assignment.pod_sets, strict=True):
        count = request.count if pods.count is None else pods.count
        # Admitted workloads hold `pods`, which Kueue's search for victims does not ask for
        # (docs/semantics/kueue.md §4.1).
        totals = {**request.scaled(count).totals, "pods": count}
        pod_sets.append(
            PodSetAssignment.model_construct(  # amounts are read already
                name=request.name,
                count=count,
                flavors={resource: choice.flavor for resource, choice in pods.flavors.items()},
                resource_usage={  # a user may give flavors of resources that are not requested
                    resource: from_units(totals.get(resource, 0), resource)
                    for resource in pods.flavors
                },
                topology=_written(placements[request.name]) if request.name in placements else None,
            )
        )
    changed = {kind: _condition(kind, "True", kind, now) for kind in _HELD}
    changed |= {kind: _condition(kind, "False", "QuotaReserved", now) for kind in _EVICTION}
    admission = Admission(
        cluster_queue=snapshot.queue_name(preemptor.queue), pod_set_assignments=tuple(pod_sets)
    )
    workload = _with(preemptor.workload, changed, admission)
    held = as_admitted(configuration, now, snapshot.fr_index, preemptor.queue, workload)
    return held._replace(past=snapshot.past_of(preemptor.queue, workload))


def _written(placement: Placement) -> TopologyAssignment:
    domains = tuple(AssignedDomain(values=values, count=n) for values, n in placement.domains)
    return TopologyAssignment(levels=placement.levels, domains=domains)


def _condition(kind: str, status: str, reason: str, now: datetime) -> Condition:
    return Condition(type=kind, status=status, reason=reason, last_transition_time=now)


def _with(
    workload: Workload, changed: dict[str, Condition], admission: Admission | None
) -> Workload:
    kept = [one for one in workload.status.conditions if one.type not in changed]
    status = workload.status.model_copy(
        update={"conditions": (*kept, *changed.values()), "admission": admission}
    )
    return workload.model_copy(update={"status": status})


def cascades(  # noqa: PLR0913, PLR0917 - the state before, the plan, and the time
    state: State,
    snapshot: Snapshot,
    preemptor: Preemptor,
    assignment: Assignment,
    victims: Sequence[tuple[Admitted, str]],
    is_late: Callable[[], bool] = never,
) -> tuple[Cascade, ...]:
    """Return which victims would preempt again, in the order given.

    ``state`` and ``snapshot`` are those before the plan, which admits ``preemptor`` with
    ``assignment``; ``victims`` are all victims of the plan, with their reason codes. ``is_late``
    says before each decision whether time is up.

    Raises `LookupFailed` if a victim's LocalQueue or ClusterQueue is not in the dump; `OutOfTime`
    if time is up before there is a decision for each victim.
    """
    holder = admit(snapshot, preemptor, assignment)
    after = snapshot_after(snapshot, holder, [victim for victim, _ in victims])
    followed = []
    for victim, reason in victims:
        if is_late():
            raise OutOfTime
        if not victim.evicted:
            waiting = pending_again(state, snapshot, victim, reason)
            followed.append(cascade(after, preemptor, waiting))
    return tuple(one for one in followed if one is not None)


def pending_again(state: State, snapshot: Snapshot, victim: Admitted, reason: str) -> Preemptor:
    """Return a victim as a preemptor that waits once evicted; ``reason`` is its reason code.

    Raises `LookupFailed` if its LocalQueue or ClusterQueue is not in the dump.
    """
    return as_preemptor(state, snapshot, evicted(victim, reason, snapshot.now))


def cascade(after: Snapshot, preemptor: Preemptor, waiting: Preemptor) -> Cascade | None:
    """Return whom a victim that waits would preempt after the plan; ``None`` if nobody."""
    found = decide(after, waiting).search.targets
    targets = tuple(one.workload.key for one in found if not one.workload.evicted)
    if not targets:
        return None
    return Cascade(victim=waiting.key, targets=targets, preemptor=preemptor.key in targets)


class _Victim(NamedTuple):
    """A candidate of the preemptor that is pending again, and what its own decision depends on.

    ``own_candidates`` are positions of the preemptor's candidates that are candidates for this
    one, too. ``others`` says whether this one has further candidates that are not being evicted.
    ``taken`` has a mapping for each ClusterQueue and flavor-resource: what each of the
    preemptor's other candidates gives back, by position.
    """

    waiting: Preemptor
    own_candidates: frozenset[int]
    others: bool
    taken: tuple[Mapping[int, int], ...]


@dataclass
class CascadeReplay:
    """What is known of D11 for one preemptor with its flavors.

    Methods raise `LookupFailed` if the LocalQueue or ClusterQueue of a victim is not in the dump,
    and `OutOfTime` if time is up before all decisions are made; decisions so far are kept.

    ``workloads`` and ``reasons`` are (W,): the workloads that hold quota, and the reason code of
    each as a victim; ``candidates`` are positions of workloads that may be victims of a lawful
    plan. ``is_late`` says before each decision whether time is up.
    """

    state: State
    snapshot: Snapshot
    preemptor: Preemptor
    assignment: Assignment
    workloads: Sequence[Admitted]
    candidates: Collection[int]
    reasons: Sequence[str]
    is_late: Callable[[], bool] = never
    cuts: list[Cut] = field(default_factory=list)
    _victims: dict[int, _Victim] = field(default_factory=dict)
    _flavors: dict[int, frozenset[int]] = field(default_factory=dict)
    _answers: dict[tuple[int, frozenset[int], tuple[int, ...]], Cascade | None] = field(
        default_factory=dict
    )
    _found: dict[frozenset[int], tuple[Cascade, ...]] = field(default_factory=dict)

    def count(self, victims: Sequence[int]) -> int:
        """Return how many of the victims, given by positions, would preempt again."""
        return len(self.cascades(victims))

    def cascades(self, victims: Sequence[int]) -> tuple[Cascade, ...]:
        """Return which of the victims would preempt whom, in the order of their positions."""
        chosen = frozenset(victims)
        if not chosen:
            return ()
        if chosen not in self._found:
            gone = [self.workloads[i] for i in sorted(chosen)]
            after = snapshot_after(self.snapshot, self._holder, gone)
            asked = [i for i in sorted(chosen) if not self.workloads[i].evicted]
            followed = (self._ask(i, chosen, after) for i in asked)
            self._found[chosen] = tuple(one for one in followed if one is not None)
        return self._found[chosen]

    def is_steady(self, position: int) -> bool:
        """Say whether a workload, once evicted, could preempt nobody, whoever else is evicted."""
        self._check_time()
        waiting = self._pending_again(position)
        return not any(self._is_candidate_for(waiting, one) for one in self._latest_of_all)

    def _check_time(self) -> None:
        if self.is_late():
            raise OutOfTime

    def _ask(self, position: int, chosen: frozenset[int], after: Snapshot) -> Cascade | None:
        self._check_time()
        victim = self._victim(position)
        left = (self.workloads[j] for j in victim.own_candidates - chosen)
        # If nobody is left whom the victim could preempt, no decision is needed.
        if not victim.others and all(one.evicted for one in left):
            return None
        if not chosen <= self._candidates:  # Kueue's own victims can be outside its own rules
            return cascade(after, self.preemptor, victim.waiting)
        going = victim.own_candidates & chosen
        totals = tuple(sum(of[j] for j in of.keys() & chosen) for of in victim.taken)
        # Besides the victim's own candidates, its decision depends on what all other victims give
        # back together: sets that free the same have the same answer.
        key = position, going, totals
        if key not in self._answers:
            self._answers[key] = cascade(after, self.preemptor, victim.waiting)
            if self._answers[key] is not None:
                sums = tuple(zip(victim.taken, totals, strict=True))
                self.cuts.append(Cut(position, going, victim.own_candidates - going, sums))
        return self._answers[key]

    def _victim(self, position: int) -> _Victim:
        if position not in self._victims:
            waiting = self._pending_again(position)
            others = self._candidates - {position}
            own_candidates = frozenset(
                j for j in others if self._is_candidate_for(waiting, self.workloads[j])
            )
            self._victims[position] = _Victim(
                waiting,
                own_candidates,
                any(self._is_candidate_for(waiting, one) for one in self._latest_of_others),
                self._taken(waiting, others - own_candidates),
            )
        return self._victims[position]

    def _pending_again(self, position: int) -> Preemptor:
        victim, reason = self.workloads[position], self.reasons[position]
        return pending_again(self.state, self.snapshot, victim, reason)

    def _is_candidate_for(self, waiting: Preemptor, other: Admitted) -> bool:
        """Say whether policies, priorities and flavors permit ``waiting`` to preempt ``other``."""
        policies = self.snapshot.queues[waiting.queue].spec.preemption
        own = other.queue == waiting.queue
        policy = policies.within_cluster_queue if own else policies.reclaim_within_cohort
        return (
            self.snapshot.is_active(waiting.queue)
            and self._root(other.queue) == self._root(waiting.queue)
            and not self._reachable(waiting.queue).isdisjoint(other.names)
            and satisfies_policy(waiting, other, policy)
        )

    def _taken(self, waiting: Preemptor, others: Iterable[int]) -> tuple[Mapping[int, int], ...]:
        """Return what each of ``others`` gives back, per queue and fr that decisions look at."""
        fair = self.snapshot.configuration.fair_sharing_on
        # Shares count all usage; the classical search only fr that the workload can ask for.
        frs = None if fair else self._reachable(waiting.queue)
        taken: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for j in others:
            one = self.workloads[j]
            if self._root(one.queue) != self._root(waiting.queue):
                continue
            for fr, amount in one.usage.items():
                if amount and (frs is None or fr in frs):
                    taken[one.queue, fr][j] = amount
        # Of several mappings with the same amounts for all positions one is enough.
        different = {frozenset(of.items()): of for of in taken.values()}
        return tuple(different.values())

    def _reachable(self, queue: int) -> frozenset[int]:
        """Return every flavor-resource that a workload of a ClusterQueue could be assigned."""
        if queue not in self._flavors:
            self._flavors[queue] = frozenset(
                self.snapshot.fr_index[FlavorResource(flavor.name, quota.name)]
                for group in self.snapshot.queues[queue].spec.resource_groups
                for flavor in group.flavors
                for quota in flavor.resources
            )
        return self._flavors[queue]

    def _root(self, queue: int) -> int:
        return self.snapshot.tree.path(queue)[-1]

    @cached_property
    def _candidates(self) -> frozenset[int]:
        return frozenset(self.candidates)

    @cached_property
    def _holder(self) -> Admitted:
        """The preemptor as it is admitted by the plan."""
        return admit(self.snapshot, self.preemptor, self.assignment)

    @cached_property
    def _latest_of_all(self) -> list[Admitted]:
        return self._latest(())

    @cached_property
    def _latest_of_others(self) -> list[Admitted]:
        return self._latest({self.workloads[j].key for j in self._candidates})

    def _latest(self, without: Collection[str]) -> list[Admitted]:
        """Return the preemptor and what runs, but for the keys ``without``, one of each kind.

        Of workloads that differ for policies by their place in the queue only, the last in it is
        kept: if any of them may be preempted, that one may.
        """
        everybody = (one for group in self.snapshot.admitted.values() for one in group)
        running = (one for one in everybody if not one.evicted and one.key not in without)
        kept: dict[tuple[int, int, frozenset[int]], Admitted] = {}
        for one in (self._holder, *running):
            like = one.queue, one.priority, frozenset(one.names)
            if like not in kept or one.queued_at > kept[like].queued_at:
                kept[like] = one
        return list(kept.values())
