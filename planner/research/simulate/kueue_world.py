"""A cluster of Kueue in which time passes.

What the scheduler does in a cycle is ``planner.reference.kueue.cycle``. Between the cycles:

* A victim is evicted (the condition Evicted) and keeps its quota for a while. Then its quota is
  free and it queues again at once, with its own place in the queue. Each victim has a time of its
  own to leave, so that decisions are made while some victims are gone and others are not.
* A workload that ran to its end gives its quota back.
* A second after quota was given back, all parked workloads of the whole cohort tree compete again,
  and the kinds parked in bulk are forgotten. Where a Cohort object is among the ancestors of a
  ClusterQueue, every change of its status wakes the tree as well: also an admission or an arrival.
* A workload that backs off competes again when its backoff has expired.
* Where flavors have a topology, pods are placed on nodes (``kueue_flow``).

Admission checks pass at once: a workload runs from when its quota is reserved. Who holds quota at
the start and does not run loses nothing, and ends as if it started then.

Source: kueue ff69552e pkg/controller/core/workload_controller.go ``Update``;
pkg/cache/queue/inadmissible_workloads.go ``requeueBatchPeriod``, ``queueInadmissibleWorkloads``;
pkg/cache/scheduler/clusterqueue.go ``AllocatableResourceGeneration``;
pkg/controller/core/cohort_controller.go, which handles updates of ClusterQueues.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from msgspec.structs import replace

from planner.case.kueue_release import misread
from planner.commands.boost.kueue.trial import check_release
from planner.errors import InputError, UnsupportedError
from planner.objective.annotation import read_disruption, run_seconds
from planner.objective.terms import work
from planner.plan.base import Uncovered
from planner.quantity import MAX_INT64
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted, Holders
from planner.quota.kueue.preemptor import names_replaced
from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.aftermath import evicted, evicting
from planner.reference.kueue.context import LAST, Tried
from planner.reference.kueue.cycle.admissibility import namespace_refusal
from planner.reference.kueue.cycle.processing import Decider, Entry
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import (
    Pending,
    Waiting,
    is_queued,
    open_queues,
    waiting_queues,
)
from planner.reference.kueue.decision import Decision, decide
from planner.research.simulate import kueue_flow as flow
from planner.research.simulate.record import Event
from planner.research.simulate.script import Leaving, Script
from planner.research.simulate.simulate import BOOST, OPTIMUM, STABLE, Plans, Question
from planner.research.simulate.world import Cycle, Due, Entered, Mark, World, digest
from planner.state.clock import seconds_since
from planner.state.kueue import State
from planner.state.kueue_workload import Workload
from planner.state.queues import ClusterQueue
from planner.term import unit_weight

INSTEAD: tuple[str, ...] = (OPTIMUM, STABLE, BOOST)
AT_ONCE: Final = Leaving()
WAKE_S: Final = 1
"""Seconds in which Kueue gathers news of free quota before parked workloads compete again."""


class KueueWorld(World):
    """The cohort trees, their running workloads and queues; the number of a tree is its root.

    Trees that place pods on nodes are one part together, with the number of the first of them.
    """

    def __init__(
        self,
        state: State,
        script: Script,
        decider: Decider,
        leaving: Leaving = AT_ONCE,
        instead: flow.Instead | None = None,
    ) -> None:
        """Set up a cluster as it was read; its clock is the start.

        ``decider`` decides for a head, ``instead`` may put other victims into its decision, and
        ``leaving`` says how long victims keep their quota. Errors are those of ``comings``, and
        SchemaError if an annotation has an unusable value.
        """
        there, self._coming = flow.comings(state, script)
        super().__init__(state.now, script, {})  # keys are names
        self.state: Final = there
        self._leaving = leaving
        taken = build_snapshot(there, state.now, placing=flow.places_pods(there))
        topologies = taken.topologies
        self._left = topologies.occupancy.afresh() if topologies.looked_at else None
        self._usage = taken.usage
        self._admitted = dict(taken.admitted)
        self._waiting: dict[str, Workload] = dict(taken.waiting)
        self._snapshot = replace(taken, admitted=self._admitted, waiting=self._waiting)
        self._behind = open_queues(there, taken)
        self.queues: Final[dict[int, Waiting]] = waiting_queues(there, taken)
        self._roots = {node: taken.tree.root(node) for node in self.queues}
        self._part_of = flow.parts_of(taken, self._roots)
        self._parts = {node: self._part_of[root] for node, root in self._roots.items()}
        self._decide, self._instead = decider, instead
        self._part_of_name = {taken.queue_name(n): part for n, part in self._parts.items()}
        self._reconciled = flow.reconciled_queues(there, taken)
        self._running: dict[str, Admitted] = {}
        self._walks: set[object] = set()
        self._walking: set[int] = set()
        # Plans may look at the clock, and an admission may make all other parts wait for its pods.
        self._rests = instead is None and not there.configuration.blocks_admission
        # By parts, and in them by the key of the head and how far its walks had come.
        self._decided = defaultdict[int, dict[tuple[str, str], tuple[Preemptor, Decision]]](dict)
        self._moved: set[int] = set(self._parts.values())
        for some in self._admitted.values():
            for one in some:
                self._run(one, 0)
                # An evicted workload ends by its eviction, and no more by its script.
                if one.evicted:
                    since = one.workload.condition("Evicted")
                    until = (since and since.last_transition_time) or self.start
                    self._lose_run(one, until)
                    self._plan_release(one, 0, 0)
        for waiting in self.queues.values():
            for pending in waiting.parked:
                requeue = pending.workload.status.requeue_state
                if requeue is not None and requeue.requeue_at is not None:
                    passes = -((self.start - requeue.requeue_at) // timedelta(seconds=1))
                    part = self._part(pending.workload)
                    self._agenda.set(max(1, passes), Due.BACKOFF, pending.key, part)
        for coming in self._coming.values():
            self._agenda.set(coming.at_s, Due.ARRIVE, coming.key, self._part(coming.workload))

    def _part(self, workload: Workload) -> int:
        node = self._node(workload)
        return -1 if node is None else self._parts[node]

    def _node(self, workload: Workload) -> int | None:
        return self._behind.get((workload.namespace, workload.queue_name))

    def _run(self, one: Admitted, at_s: int) -> None:
        """Let a workload run, and plan its end."""
        self._running[one.key] = one
        since_s = at_s - seconds_since(one.started_at, self._now(at_s))
        told_s = run_seconds(one.remarks)
        self._plan_end(one.key, self._parts[one.queue], since_s, at_s, told_s)

    def _plan_release(self, one: Admitted, at_s: int, place: int) -> None:
        leaves_s = at_s + self._leaving.seconds(self._script, one.key, place)
        self._agenda.set(leaves_s, Due.RELEASE, one.key, self._parts[one.queue])

    def _now(self, at_s: int) -> datetime:
        return self.start + timedelta(seconds=at_s)

    def snapshot(self, at_s: int) -> Snapshot:
        """Return what the scheduler sees at a time; the snapshot changes with the cluster."""
        placed = None if self._left is None else self._left.afresh()
        return replace(self._snapshot, now=self._now(at_s), placed=placed)

    # What happens by itself

    def happen(self, at_s: int) -> list[Event]:
        """Carry out all appointments that are due."""
        events: list[Event] = []
        for due in self._agenda.take(at_s):
            self._moved.add(due.tree)
            # From here on walks over flavors count as new, also those seen before.
            self._walks.clear()
            match due.due:
                case Due.FINISH:
                    events.append(self._finish(due.key, at_s))
                case Due.RELEASE:
                    victim = self._give_back(due.key, at_s)
                    # Without a reason: its conditions were set when it was evicted.
                    self._enqueue(evicted(victim, "", self._now(at_s)), at_s)
                    queue = self._queue_name(victim.queue)
                    events.append(self._event("requeued", at_s, victim.key, queue))
                case Due.WAKE:
                    self.wake(int(due.key), at_s)
                case Due.BACKOFF:
                    self._end_backoff(due.key, at_s)
                case Due.ARRIVE:
                    coming = self._coming.pop(due.key).workload
                    self._enqueue(coming, at_s)
                    node = self._node(coming)
                    if node is not None:
                        self._reconcile(node, at_s)
                    events.append(self._event("arrived", at_s, coming.key, self._queue_name(node)))
        return events

    def _finish(self, key: str, at_s: int) -> Event:
        one = self._give_back(key, at_s)
        self._kept.pop(key, None)
        self._agenda.call_off(Due.RELEASE, key)
        return self._event("finished", at_s, one.key, self._queue_name(one.queue))

    def _give_back(self, key: str, at_s: int) -> Admitted:
        one = self._running.pop(key)
        some = self._admitted[one.queue]
        self._admitted[one.queue] = Holders.of_records(other for other in some if other is not one)
        self._usage.remove(one.queue, one.usage)
        if self._left is not None:
            self._left.give_back(self._snapshot.topologies.booked_for(one.workload))
        self._outdate(one.queue)
        self._plan_wake(one.queue, at_s)
        return one

    def _outdate(self, node: int) -> None:
        """Let walks over flavors begin anew in a queue that admitted, evicted or got quota back.

        Kueue's AllocatableResourceGeneration. Its whole part is decided for anew.
        """
        self.queues[node].generation += 1
        self._decided[self._parts[node]].clear()

    def _plan_wake(self, node: int, at_s: int) -> None:
        # One batch: news that come while a batch is gathered do not wake the tree a second time.
        root = str(self._roots[node])
        if not self._agenda.has(Due.WAKE, root):
            self._agenda.set(at_s + WAKE_S, Due.WAKE, root, self._parts[node])

    def _reconcile(self, node: int, at_s: int) -> None:
        """Plan to wake the tree of a queue whose status changed, if a Cohort object is above it."""
        if node in self._reconciled:
            self._plan_wake(node, at_s)

    def _enqueue(self, workload: Workload, at_s: int) -> None:
        self._waiting[workload.key] = workload
        node = self._node(workload)
        if node is not None and is_queued(workload, self._snapshot, node):
            pending = Pending(self.state, self._snapshot, workload, node)
            self.queues[node].enqueue(pending, self._now(at_s))

    def wake(self, root: int, at_s: int) -> None:
        """Let the parked workloads of a tree compete again, all that may."""
        for node, waiting in self.queues.items():
            if self._roots[node] == root:
                waiting.wake(partial(self._may_leave, self._snapshot.queues[node], at_s))

    def _may_leave(self, queue: ClusterQueue, at_s: int, pending: Pending) -> bool:
        refused = namespace_refusal(self.state, pending.workload, queue)
        return refused is None and pending.may_compete(self._now(at_s))

    def _end_backoff(self, key: str, at_s: int) -> None:
        """Let a workload compete whose backoff has expired: Kueue sets its condition Requeued."""
        workload = self._waiting[key]
        node = self._node(workload)
        if node is None:
            return
        waiting = self.queues[node]
        waiting.parked = [pending for pending in waiting.parked if pending.key != key]
        kept = tuple(one for one in workload.status.conditions if one.type != "Requeued")
        status = workload.status.model_copy(update={"conditions": kept, "requeue_state": None})
        self._enqueue(workload.model_copy(update={"status": status}), at_s)

    def _queue_name(self, node: int | None) -> str:
        return "" if node is None else self._snapshot.queue_name(node)

    # What the scheduler does

    def _decider(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        if nominated is None:
            found = self._alone(snapshot, preemptor, tried)
        else:
            found = self._decide(snapshot, preemptor, nominated=nominated)
        return found if self._instead is None else self._instead(snapshot, preemptor, found)

    def _alone(self, snapshot: Snapshot, preemptor: Preemptor, tried: Tried) -> Decision:
        """Decide for a head at the start of a cycle, anew only once its part has changed."""
        # A walk that came to its end begins anew, as one that was never made.
        goes_on = any(place != LAST for places in tried for place in places.values())
        decided = self._decided[self._parts[preemptor.queue]]
        asked = preemptor.key, str(tried) if goes_on else ""
        asker, found = decided.get(asked, (None, None))
        # A workload that queues anew is another preemptor of the same key.
        if found is None or asker is not preemptor:
            found = self._decide(snapshot, preemptor, tried=tried)
            decided[asked] = preemptor, found
        return found

    def cycle(self, at_s: int) -> Cycle:
        """Let the scheduler run once, if any workload competes.

        A part rests in which the last cycle did nothing, and nothing happened since.
        """
        awake, self._moved = self._moved | self._walking, set()
        active = {
            node: waiting
            for node, waiting in self.queues.items()
            if waiting.active and self._snapshot.is_active(node)
        }
        if not active:
            return Cycle((), moved=False)
        self.cycles += 1
        if self._rests:
            active = {node: active[node] for node in active if self._parts[node] in awake}
        before = {node: flow.signature(waiting) for node, waiting in active.items()}
        snapshot = self.snapshot(at_s)
        ran = schedule(self.state, snapshot, active, self._decider, self.cycles)
        events: list[Event] = []
        for entry in ran.entries:
            if entry.outcome == "admitted":
                events += self._admit(snapshot, entry, at_s)
            elif entry.outcome in {"preempting", "migrating"}:
                events += self._preempt(entry, at_s)
        changed = {node for node in active if flow.signature(self.queues[node]) != before[node]}
        self._moved |= {self._parts[node] for node in changed}
        self._moved |= {self.tree_of(event) for event in events}
        # The next cycle would do the same, unless walks over flavors go on, at places not seen
        # since anything else happened.
        walks = tuple(
            (node, pending.key, tuple(tuple(sorted(places.items())) for places in progress.tried))
            for node in active
            if self._parts[node] not in self._moved
            for pending in self.queues[node].active
            if (progress := pending.progress) is not None and progress.has_untried
        )
        self._walking = {self._parts[node] for node, *_ in walks}
        if events or changed:
            return Cycle(events, moved=True)
        known = walks in self._walks
        self._walks.add(walks)
        return Cycle(events, moved=bool(walks) and not known)

    def _admit(self, snapshot: Snapshot, entry: Entry, at_s: int) -> Iterator[Event]:
        """Let an entry run; the old slice that it replaces is finished, and its run goes on."""
        one = flow.admitted(snapshot, entry)
        old = entry.decision.replaced if entry.decision else None
        # The old slice first: the new slice was assigned the room that the old one gives back.
        if old is not None:
            self._agenda.call_off(Due.FINISH, old.slice.key)
            yield self._finish(old.slice.key, at_s)
            one = one._replace(started_at=old.slice.started_at or one.started_at)
        self._waiting.pop(one.key, None)
        self._admitted[one.queue] = Holders.of_records((*self._admitted[one.queue], one))
        self._usage.add(one.queue, one.usage)
        if self._left is not None:
            self._left.take(self._snapshot.topologies.booked_for(one.workload))
        self._outdate(one.queue)
        self._run(one, at_s)
        self._reconcile(one.queue, at_s)
        self._walks.clear()
        yield self._event("admitted", at_s, one.key, self._queue_name(one.queue))

    def _preempt(self, entry: Entry, at_s: int) -> Iterable[Event]:
        """Evict the targets of an entry, except targets that are being evicted already."""
        named = names_replaced(entry.preemptor.workload, self.state.configuration)
        victims = entry.decision.victims(named) if entry.decision else ()
        going = [(self._running[one.workload.key], one.reason) for one in victims]
        # A target evicted before has its time to leave, and is not evicted a second time.
        fresh = [(one, reason) for one, reason in going if not one.evicted]
        by = {"by": entry.preemptor.key, "by_queue": self._queue_name(entry.preemptor.queue)}
        now = self._now(at_s)
        for place, (one, reason) in enumerate(fresh):
            self._plan_release(one, at_s, place)
            leaving = self._running[one.key] = evicting(one, reason, now)
            some = self._admitted[one.queue]
            changed = (leaving if other is one else other for other in some)
            self._admitted[one.queue] = Holders.of_records(changed)
            self._outdate(one.queue)
            lost = self._lose_run(one, now)
            frs = self._snapshot.tree.frs
            held = sum(unit_weight(frs[fr].resource) * amount for fr, amount in one.usage.items())
            self._walks.clear()
            cost = {"reason": reason, "lost_s": lost, "lost_work": work(held, lost)}
            queue = self._queue_name(one.queue)
            yield self._event("preempted", at_s, one.key, queue, **by, **cost)

    def _lose_run(self, one: Admitted, now: datetime) -> int:
        """Return how many seconds of its run the eviction of a workload loses, and end the run."""
        ran_s, most_s = seconds_since(one.started_at, now), None
        if one.remarks is not None:
            most_s = read_disruption(one.remarks, now, ran_s).lost_s
        return self._lose(one.key, ran_s, most_s)

    # What is reported of it

    def tree_of(self, event: Event) -> int:
        """Return the part of the cluster in which an event happened."""
        return self._part_of_name.get(event.queue, -1)

    def busy(self) -> Collection[int]:
        """Return the parts that have appointments, or in which the last cycle did something."""
        return self._moved | self._agenda.trees()

    def mark(self, tree: int, at_s: int) -> Mark:
        """Return the mark of the part of the cluster that a cohort tree belongs to."""
        tree = self._part_of.get(tree, tree)
        nodes = [node for node, part in self._parts.items() if part == tree]
        coming = self._agenda.after(at_s, tree)
        snapshot = replace(self._snapshot, now=self._now(at_s))
        state = flow.state_mark(nodes, snapshot, self.queues, self._kept, self.cycles)
        return Mark(digest(state), digest(coming))

    @property
    def notes(self) -> tuple[str, ...]:
        """What a plan would say of the state that it begins with, whoever asks."""
        return (*self._snapshot.notes, *misread(self.state, self._snapshot))

    def left_out(self, known: Sequence[Uncovered]) -> tuple[Uncovered, ...]:
        """Return what is left out: where pods are placed, only what second passes do."""
        return tuple(flow.left_out(self.state, self._snapshot, known))

    def entered(self) -> Iterator[Entered]:
        """Yield all workloads that are there, or arrive later."""
        columns = self.state.workloads.columns
        for place, key in enumerate(columns.key):
            one, priority = self._running.get(key), int(columns.priority[place])
            if one is not None:
                yield Entered(one.key, self._queue_name(one.queue), one.priority, "running")
            elif columns.is_pending[place]:
                behind = self._behind.get(columns.local_queues[columns.local_queue[place]])
                yield Entered(key, self._queue_name(behind), priority, "pending")
        for key, at_s, workload in self._coming.values():
            queue, priority = self._queue_name(self._node(workload)), workload.spec.priority or 0
            yield Entered(key, queue, priority, "to come", at_s)

    def used(self) -> Sequence[int]:
        """Return how much of each flavor-resource is in use, in the order of the snapshot."""
        rows = [self._usage.amount[node] for node in self.queues]
        return [sum(row[fr] for row in rows) for fr in range(len(self._usage.tree.frs))]

    def capacities(self) -> Iterator[tuple[str, str, int | None]]:
        """Yield every flavor-resource: all its nominal quota, lent out or not."""
        tree = self._snapshot.tree
        for fr, (flavor, resource) in enumerate(tree.frs):
            total = sum(tree.nominal(node, fr) for node in tree.top_down)
            yield flavor, resource, total if total < MAX_INT64 else None


_LAST_YEAR: Final = 9_900


def world(state: State, asked: Question, plans: Plans) -> KueueWorld:
    """Return a cluster in which Kueue chooses the victims itself, or plans do.

    InputError if a side on laws is given, the clock is too near to the end of the calendar, or
    boosts are asked for of a release that has none.
    """
    if asked.rules is not None:
        hint = "leave it out: Kueue is simulated by its own rules alone"
        raise InputError("rules", f'"{asked.rules}" means nothing for Kueue', hint=hint)
    if state.now.year > _LAST_YEAR:
        raise UnsupportedError(state.source, f"its clock is {state.now}", "a year before 9900")
    if plans.decider == state.scheduler:
        return KueueWorld(state, asked.script, decide, asked.leaving)
    if plans.decider == BOOST:
        check_release(state)
    # Only plans need a solver, which takes longer to load than a small simulation.
    from planner.research.simulate.kueue_optimum import optimum  # noqa: PLC0415

    instead = partial(optimum, state, plans)
    return KueueWorld(state, asked.script, decide, asked.leaving, instead)
