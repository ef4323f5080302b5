"""Which victims of a plan would preempt again, asked of one victim set after the other.

What they do is replayed on the state after the plan (`planner.reference.kueue.aftermath`). A
workload that is being evicted or deleted already goes whatever the plan: as a victim it gets no
decision of its own, and evicting it is no new eviction.

Source: docs/design/objectives.md §3 (D11).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, NamedTuple

from planner.case.kueue import Case
from planner.objective.terms import Cut, Sum
from planner.plan.kueue import Cascade
from planner.quota.classes import IntArray
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import FlavorResource
from planner.reference.kueue.aftermath import admit, next_targets, snapshot_after
from planner.reference.kueue.classical import satisfies_policy
from planner.reference.kueue.persistence import Persistence
from planner.solver.deadline import OutOfTime, never
from planner.term import UNSTABLE


def cascade(after: Snapshot, preemptor: Preemptor, waiting: Preemptor) -> Cascade | None:
    """Return whom a victim that waits would preempt after the plan; ``None`` if nobody."""
    targets = next_targets(after, waiting)
    if not targets:
        return None
    return Cascade(victim=waiting.key, targets=targets, preemptor=preemptor.key in targets)


class _Victim(NamedTuple):
    """A candidate of the preemptor that is pending again, and what its own decision depends on.

    ``own_candidates`` are positions of the preemptor's candidates that are candidates for this
    one, too. ``others`` says whether this one has further candidates that do not go anyway.
    ``taken`` has a mapping for each ClusterQueue and flavor-resource: what each of the
    preemptor's other candidates gives back, by position; ``asked_for`` has one for each
    flavor-resource that this one may ask for: what each candidate gives back of it anywhere.
    """

    waiting: Preemptor
    own_candidates: frozenset[int]
    others: bool
    taken: tuple[Mapping[int, int], ...]
    asked_for: tuple[Mapping[int, int], ...]


@dataclass
class CascadeReplay:
    """Which victims would preempt again, as far as that is known of one preemptor with its flavors.

    Methods raise `LookupFailed` if the LocalQueue or ClusterQueue of a victim is not in the dump,
    and `OutOfTime` if time is up before all decisions are made; decisions so far are kept.

    ``reasons`` are by position the reason code of each workload as a victim; ``candidates`` are
    positions of workloads that may be victims of a lawful plan: of others nothing is learned.
    ``is_late`` says before each decision whether time is up. ``asked`` are the sets whose answer is
    known.
    """

    TERM: ClassVar = UNSTABLE
    """The term that it tells."""

    case: Case
    candidates: Collection[int]
    reasons: Sequence[str] | Mapping[int, str]
    is_late: Callable[[], bool] = never
    cuts: list[Cut] = field(default_factory=list, init=False)
    guesses: list[Cut] = field(default_factory=list, init=False)
    asked: dict[frozenset[int], tuple[Cascade, ...]] = field(default_factory=dict, init=False)
    _victims: dict[int, _Victim] = field(default_factory=dict, init=False)
    _flavors: dict[int, frozenset[int]] = field(default_factory=dict, init=False)
    _answers: dict[tuple[int, frozenset[int], tuple[int, ...]], Cascade | None] = field(
        default_factory=dict, init=False
    )

    def count(self, victims: Sequence[int]) -> int:
        """Return how many of the victims, given by positions, would preempt again."""
        return len(self.cascades(victims))

    def spared(self, victim: int) -> Mapping[str, int]:
        """Return how much sets hold in which a victim would not preempt again, if that is known."""
        if self.is_late():
            raise OutOfTime
        return self._persistence.spared(victim)

    @property
    def holding(self) -> Mapping[str, IntArray]:
        """(W,) what each workload holds, by the names in what is spared."""
        return self._persistence.holding

    @cached_property
    def _persistence(self) -> Persistence:
        case = self.case
        given = case.state, case.snapshot, self._holder, case.problem.workloads
        return Persistence(*given, self.reasons.__getitem__)

    def cascades(self, victims: Sequence[int]) -> tuple[Cascade, ...]:
        """Return which of the victims would preempt whom, in the order of their positions."""
        chosen = frozenset(victims)
        if not chosen:
            return ()
        if chosen not in self.asked:
            gone = [self.workloads[i] for i in sorted(chosen)]
            after = snapshot_after(self.case.snapshot, self._holder, gone)
            asked = [i for i in sorted(chosen) if not self.workloads[i].leaving]
            followed = (self._ask(i, chosen, after) for i in asked)
            self.asked[chosen] = tuple(one for one in followed if one is not None)
        return self.asked[chosen]

    def _ask(self, position: int, chosen: frozenset[int], after: Snapshot) -> Cascade | None:
        if self.is_late():
            raise OutOfTime
        victim = self._victim(position)
        left = (self.workloads[j] for j in victim.own_candidates - chosen)
        # If nobody is left whom the victim could preempt, no decision is needed.
        if not victim.others and all(one.leaving for one in left):
            return None
        if not chosen <= self._candidates:  # Kueue's own victims can be outside its own rules
            return cascade(after, self.case.preemptor, victim.waiting)
        going = victim.own_candidates & chosen
        totals = tuple(sum(of[j] for j in of.keys() & chosen) for of in victim.taken)
        # Besides the victim's own candidates, its decision depends on what all other victims give
        # back together: sets that free the same have the same answer.
        key = position, going, totals
        if key not in self._answers:
            found = cascade(after, self.case.preemptor, victim.waiting)
            self._answers[key] = found
            if found is not None:
                sums = tuple(map(Sum, victim.taken, totals, totals))
                self.cuts.append(Cut(position, going, victim.own_candidates - going, sums))
                self.guesses.append(self._guess(position, chosen, found))
        return self._answers[key]

    def _guess(self, position: int, chosen: frozenset[int], found: Cascade) -> Cut:
        """Return the guess that a victim would preempt its targets unless more is freed for it."""
        victim = self._victims[position]
        targets = (j for j in victim.own_candidates if self.workloads[j].key in found.targets)
        totals = (sum(of[j] for j in of.keys() & chosen) for of in victim.asked_for)
        sums = (Sum(of, 0, total) for of, total in zip(victim.asked_for, totals, strict=True))
        return Cut(position, frozenset(), frozenset(targets), tuple(sums))

    def _victim(self, position: int) -> _Victim:
        if position not in self._victims:
            waiting = self._persistence.again(position)
            is_candidate = self._is_candidate_for(waiting)
            others = self._candidates - {position}
            own_candidates = frozenset(j for j in others if is_candidate(self.workloads[j]))
            self._victims[position] = _Victim(
                waiting,
                own_candidates,
                any(is_candidate(one) for one in self._latest_of_others),
                self._taken(waiting, others - own_candidates),
                self._asked_for(waiting, others),
            )
        return self._victims[position]

    def _is_candidate_for(self, waiting: Preemptor) -> Callable[[Admitted], bool]:
        """Return the test whether policies, priorities and flavors let it preempt a workload."""
        snapshot = self.case.snapshot
        policies = snapshot.queues[waiting.queue].spec.preemption
        root = snapshot.tree.root(waiting.queue)
        active = snapshot.is_active(waiting.queue)
        reachable = self._reachable(waiting.queue)

        def is_candidate(other: Admitted) -> bool:
            own = other.queue == waiting.queue
            policy = policies.within_cluster_queue if own else policies.reclaim_within_cohort
            return (
                active
                and snapshot.tree.root(other.queue) == root
                and not reachable.isdisjoint(other.names)
                and satisfies_policy(waiting, other, policy)
            )

        return is_candidate

    def _taken(self, waiting: Preemptor, others: Iterable[int]) -> tuple[Mapping[int, int], ...]:
        """Return what each of ``others`` gives back, per queue and fr that decisions look at."""
        tree, fair = self.case.snapshot.tree, self.case.snapshot.configuration.fair_sharing_on
        root = tree.root(waiting.queue)
        # Shares count all usage; the classical search only fr that the workload can ask for.
        frs = None if fair else self._reachable(waiting.queue)
        taken: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for j in others:
            one = self.workloads[j]
            if tree.root(one.queue) != root:
                continue
            for fr, amount in one.usage.items():
                if amount and (frs is None or fr in frs):
                    taken[one.queue, fr][j] = amount
        # Of several mappings with the same amounts for all positions one is enough.
        different = {frozenset(of.items()): of for of in taken.values()}
        return tuple(different.values())

    def _asked_for(
        self, waiting: Preemptor, others: Iterable[int]
    ) -> tuple[Mapping[int, int], ...]:
        """Return what each of ``others`` gives back, per fr that the workload can ask for."""
        tree = self.case.snapshot.tree
        below = {*tree.below(tree.root(waiting.queue))}
        usage = {j: one.usage for j in others if (one := self.workloads[j]).queue in below}
        resources = {r for pods in waiting.pod_sets for r, amount in pods.totals.items() if amount}
        reachable = sorted(self._reachable(waiting.queue))
        frs = [fr for fr in reachable if tree.frs[fr].resource in resources]
        return tuple({j: of[fr] for j, of in usage.items() if of.get(fr)} for fr in frs)

    def _reachable(self, queue: int) -> frozenset[int]:
        """Return every flavor-resource that a workload of a ClusterQueue could be assigned."""
        if queue not in self._flavors:
            self._flavors[queue] = frozenset(
                self.case.snapshot.fr_index[FlavorResource(*place)]
                for place in self.case.snapshot.queues[queue].spec.owned
            )
        return self._flavors[queue]

    @property
    def workloads(self) -> Sequence[Admitted]:
        """(W,) those that hold quota."""
        return self.case.problem.workloads

    @cached_property
    def _candidates(self) -> frozenset[int]:
        return frozenset(self.candidates)

    @cached_property
    def _holder(self) -> Admitted:
        """The preemptor as it is admitted by the plan."""
        return admit(self.case.snapshot, self.case.preemptor, self.case.assignment)

    @cached_property
    def _latest_of_others(self) -> list[Admitted]:
        """The preemptor and what runs, but for the candidates, one of each kind.

        Of workloads that differ for policies by their place in the queue only, the last in it is
        kept: if any of them may be preempted, that one may.
        """
        without = {self.workloads[j].key for j in self._candidates}
        everybody = (one for group in self.case.snapshot.admitted.values() for one in group)
        running = (one for one in everybody if not one.leaving and one.key not in without)
        kept: dict[tuple[int, int, frozenset[int]], Admitted] = {}
        for one in (self._holder, *running):
            like = one.queue, one.priority, frozenset(one.names)
            if like not in kept or one.queued_at > kept[like].queued_at:
                kept[like] = one
        return list(kept.values())
