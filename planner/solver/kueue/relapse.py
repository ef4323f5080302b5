"""The term D11 of one pending workload: asked of Kueue's replay, set by set, and remembered.

What Kueue decides for a requeued victim i depends on two things that differ between victim sets.
Who is left of those whom i might preempt at all, by the policies of its ClusterQueue, the
priorities and the flavor-resources that i could get: its prey. And what the ClusterQueues of
i's tree use after the plan, of these flavor-resources; under fair sharing, of all. So one answer
holds for every victim set that has the same of the prey and takes the same amounts, beside the
prey, from each ClusterQueue.

Source: docs/semantics/kueue.md §4 to §6: a decision reads nothing else that a plan changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from planner.assignment import Assignment
from planner.objective.cascading import Lesson
from planner.plan import Cascade
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import FlavorResource
from planner.reference.kueue.candidates import satisfies_policy
from planner.solver.engine import OutOfTime, never
from planner.solver.kueue.aftermath import admit, snapshot_after
from planner.solver.kueue.cascade import cascade, pending_again
from planner.state import State


@dataclass(frozen=True, slots=True)
class _Victim:
    """A candidate that is pending again, and what its decision depends on.

    ``prey`` are positions of candidates. ``others`` says whether somebody who is no candidate,
    and not being evicted, is prey, too. ``taken`` says, for a ClusterQueue and a flavor-resource
    each, what the other candidates give back.
    """

    waiting: Preemptor
    prey: frozenset[int]
    others: bool
    taken: tuple[Mapping[int, int], ...]


class Relapses:
    """What is known of D11 for one preemptor with its flavors."""

    def __init__(  # noqa: PLR0913, PLR0917 - what a decision after a plan depends on
        self,
        state: State,
        snapshot: Snapshot,
        preemptor: Preemptor,
        assignment: Assignment,
        workloads: Sequence[Admitted],
        candidates: Collection[int],
        reasons: Sequence[str],
        is_late: Callable[[], bool] = never,
    ) -> None:
        """Prepare to answer.

        Parameters
        ----------
        workloads, reasons
            (W,) what holds quota, and the reason code of each as a victim.
        candidates
            Positions of those that may be victims of a lawful plan.
        is_late
            Whether time is up, asked before each decision.
        """
        self._state = state
        self._snapshot = snapshot
        self._preemptor = preemptor
        self._assignment = assignment
        self._workloads = workloads
        self._candidates = frozenset(candidates)
        self._reasons = reasons
        self._is_late = is_late
        self._victims: dict[int, _Victim] = {}
        self._answers: dict[tuple[int, frozenset[int], tuple[int, ...]], Cascade | None] = {}
        self._found: dict[frozenset[int], tuple[Cascade, ...]] = {}
        self.lessons: list[Lesson] = []

    def count(self, victims: Sequence[int]) -> int:
        """Return how many of some victims, given by positions, would preempt again.

        Raises
        ------
        LookupFailed
            If the LocalQueue or ClusterQueue of one is not in the dump.
        OutOfTime
            If time is up before everybody was asked.
        """
        return len(self.cascades(victims))

    def cascades(self, victims: Sequence[int]) -> tuple[Cascade, ...]:
        """Return which of some victims would preempt whom, in the order of their positions.

        Raises
        ------
        LookupFailed
            If the LocalQueue or ClusterQueue of one is not in the dump.
        OutOfTime
            If time is up before everybody was asked. Answers so far are kept.
        """
        chosen = frozenset(victims)
        if not chosen:
            return ()
        if chosen not in self._found:
            gone = [self._workloads[i] for i in sorted(chosen)]
            after = snapshot_after(self._snapshot, self._holder, gone)
            asked = [i for i in sorted(chosen) if not self._workloads[i].evicted]
            told = (self._ask(i, chosen, after) for i in asked)
            self._found[chosen] = tuple(one for one in told if one is not None)
        return self._found[chosen]

    def is_steady(self, position: int) -> bool:
        """Say whether a workload could preempt nobody again, whoever goes with it.

        Raises
        ------
        LookupFailed
            If its LocalQueue or ClusterQueue is not in the dump.
        OutOfTime
            If time is up.
        """
        self._check_time()
        waiting = self._pending_again(position)
        return not any(self._is_prey(waiting, one) for one in self._latest_of_all)

    def _check_time(self) -> None:
        if self._is_late():
            raise OutOfTime

    def _ask(self, position: int, chosen: frozenset[int], after: Snapshot) -> Cascade | None:
        self._check_time()
        victim = self._victim(position)
        left = (self._workloads[j] for j in victim.prey - chosen)
        if not victim.others and all(one.evicted for one in left):
            return None
        if not chosen <= self._candidates:  # Kueue's own victims can be outside its own rules
            return cascade(after, self._preemptor, victim.waiting)
        going = victim.prey & chosen
        totals = tuple(sum(of[j] for j in of.keys() & chosen) for of in victim.taken)
        key = position, going, totals
        if key not in self._answers:
            self._answers[key] = cascade(after, self._preemptor, victim.waiting)
            if self._answers[key] is not None:
                sums = tuple(zip(victim.taken, totals, strict=True))
                self.lessons.append(Lesson(position, going, victim.prey - going, sums))
        return self._answers[key]

    def _victim(self, position: int) -> _Victim:
        if position not in self._victims:
            waiting = self._pending_again(position)
            others = self._candidates - {position}
            prey = frozenset(j for j in others if self._is_prey(waiting, self._workloads[j]))
            self._victims[position] = _Victim(
                waiting,
                prey,
                any(self._is_prey(waiting, one) for one in self._latest_of_others),
                self._taken(waiting, others - prey),
            )
        return self._victims[position]

    def _pending_again(self, position: int) -> Preemptor:
        victim, reason = self._workloads[position], self._reasons[position]
        return pending_again(self._state, self._snapshot, victim, reason)

    def _is_prey(self, waiting: Preemptor, other: Admitted) -> bool:
        """Say whether policies, priorities and flavors leave it open that one preempts another."""
        policies = self._snapshot.queues[waiting.queue].spec.preemption
        own = other.queue == waiting.queue
        policy = policies.within_cluster_queue if own else policies.reclaim_within_cohort
        return (
            self._snapshot.is_active(waiting.queue)
            and self._root(other.queue) == self._root(waiting.queue)
            and not self._reachable(waiting.queue).isdisjoint(other.names)
            and satisfies_policy(waiting, other, policy)
        )

    def _taken(self, waiting: Preemptor, others: Iterable[int]) -> tuple[Mapping[int, int], ...]:
        """Return what each of ``others`` gives back of what the decision looks at."""
        fair = self._snapshot.configuration.fair_sharing_on
        frs = None if fair else self._reachable(waiting.queue)
        taken: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
        for j in others:
            one = self._workloads[j]
            if self._root(one.queue) != self._root(waiting.queue):
                continue
            for fr, amount in one.usage.items():
                if amount and (frs is None or fr in frs):
                    taken[one.queue, fr][j] = amount
        different = {frozenset(of.items()): of for of in taken.values()}
        return tuple(different.values())

    def _reachable(self, queue: int) -> frozenset[int]:
        """Return every flavor-resource that a workload of a ClusterQueue could be assigned."""
        if queue not in self._flavors:
            self._flavors[queue] = frozenset(
                self._snapshot.fr_index[FlavorResource(flavor.name, quota.name)]
                for group in self._snapshot.queues[queue].spec.resource_groups
                for flavor in group.flavors
                for quota in flavor.resources
            )
        return self._flavors[queue]

    @cached_property
    def _flavors(self) -> dict[int, frozenset[int]]:
        return {}

    def _root(self, queue: int) -> int:
        return self._snapshot.tree.path(queue)[-1]

    @cached_property
    def _holder(self) -> Admitted:
        """The preemptor as what it holds after the plan."""
        return admit(self._snapshot, self._preemptor, self._assignment)

    @cached_property
    def _latest_of_all(self) -> list[Admitted]:
        return _latest((self._holder, *self._running()))

    @cached_property
    def _latest_of_others(self) -> list[Admitted]:
        inside = {self._workloads[j].key for j in self._candidates}
        others = (one for one in self._running() if one.key not in inside)
        return _latest((self._holder, *others))

    def _running(self) -> Iterable[Admitted]:
        everybody = (one for group in self._snapshot.admitted.values() for one in group)
        return (one for one in everybody if not one.evicted)


def _latest(workloads: Iterable[Admitted]) -> list[Admitted]:
    """Keep, of those that policies tell apart by the place in the queue only, the last in it.

    If any of them may be preempted, it may.
    """
    kept: dict[tuple[int, int, frozenset[int]], Admitted] = {}
    for one in workloads:
        like = one.queue, one.priority, frozenset(one.names)
        if like not in kept or one.queued_at > kept[like].queued_at:
            kept[like] = one
    return list(kept.values())
