"""A live cluster watched, or one dump after the other.

First come the decisions to come: for which heads Kueue will preempt as things stand, and what its
victims cost beside the optimum. Only heads of ClusterQueues in trees where something changed are
looked at, and of these only heads with other victims than when they were judged last are judged.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Final

from msgspec.structs import replace

from planner.commands.audit.judge import Question
from planner.commands.replay.kueue_live import Eviction, evictions, observed
from planner.commands.study.instance import Instance
from planner.errors import InputError, PlannerError, one_line
from planner.operations.watch.kueue.follower import Follower, Pace, Watched
from planner.operations.watch.kueue.keep import Episode, Keeper, Store, Whole
from planner.operations.watch.record import Decision, Line, Measured, Note, Preemption
from planner.plan import Uncovered
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.cycle.waiting import first_in_line
from planner.reference.kueue.decision import decide
from planner.state.kueue import State
from planner.state.kueue_workloads import Changes
from planner.term import lost_by

AGAIN_S: Final = 300.0
"""After so many seconds a decision in a tree that changes is judged again even if its victims are
the same: the work that they lose grows while they run."""


class Judge:
    """The decisions to come: the last judgement of each, and which are due to be judged.

    ``question`` has the objective, and the seconds for each optimum; ``seconds`` is a clock that
    never jumps.
    """

    def __init__(self, question: Question, seconds: Callable[[], float] = time.monotonic) -> None:
        self._question, self._seconds = question, seconds
        # By preemptor: Kueue's victims when the decision was judged last, and when that was.
        self._known: dict[str, tuple[frozenset[str], float]] = {}
        # Its queue, and Kueue's victims, where they are to be judged.
        self._due: dict[str, tuple[str, frozenset[str]]] = {}

    def look(self, state: State, touched: Collection[str] | None) -> None:
        """Find the heads for which Kueue will preempt now.

        ``touched`` are the ClusterQueues in which something changed: only their trees are looked
        at. It is ``None`` if anything may have changed in all of them.
        """
        snapshot = take_snapshot(state, placing=bool(state.nodes))
        heads = first_in_line(state, snapshot)
        first = {head.key: node for node, head in heads.items() if snapshot.is_active(node)}
        self._known = {key: known for key, known in self._known.items() if key in first}
        self._due = {key: due for key, due in self._due.items() if key in first}
        node_of, root = snapshot.node_of, snapshot.tree.root
        dirty = {root(node_of[name]) for name in touched or () if name in node_of}
        now = self._seconds()
        for key, node in first.items():
            if touched is not None and root(node) not in dirty:
                continue
            victims = _own_victims(state, snapshot, key)
            known, at_s = self._known.get(key, (frozenset(), now))
            if not victims:
                self._known.pop(key, None)
                self._due.pop(key, None)
            elif known != victims or now - at_s > AGAIN_S:
                self._due[key] = snapshot.queue_name(node), victims

    def next(self, state: State) -> Decision | Note | None:
        """Judge the decision that has been due for longest; ``None`` if none is."""
        if not self._due:
            return None
        key = next(iter(self._due))
        queue, victims = self._due.pop(key)
        found = measure(state, key, self._question)
        self._known[key] = victims, self._seconds()
        if isinstance(found, str):
            return Note(at=state.now, text=f"{key}: {found}")
        return Decision(at=state.now, preemptor=key, queue=queue, measured=found)


def measure(state: State, key: str, question: Question) -> Measured | str:
    """Judge what Kueue would do for a pending workload; say why not, if it cannot be judged."""
    begun = time.process_time()
    instance = Instance(state.source, state, (key,))
    try:
        found = replace(question, pending=key).answer(instance)
    except PlannerError as error:
        return f"cannot be judged: {one_line(str(error))}"
    if found.failures:
        return f"cannot be judged: {found.failures[0].detail}"
    case = found.rows[0]
    best = case.judgements[0]
    has_plan = best.status in {"optimal", "feasible"}
    lost, least = lost_by(case.terms), lost_by(best.terms)
    return Measured(
        victims=case.victims,
        needless=None if case.irredundant is None else case.needless,
        fewest=case.fewest,
        status=best.status,
        optimum=best.victims if has_plan else (),
        lost_s=lost,
        least_lost_s=least if has_plan else None,
        conditional=titles(case.coverage),
        seconds=time.process_time() - begun,
    )


def titles(coverage: Iterable[Uncovered]) -> tuple[str, ...]:
    """Return the titles of the features that are not modelled, each once."""
    return tuple(dict.fromkeys(one.title for one in coverage))


def _own_victims(state: State, snapshot: Snapshot, key: str) -> frozenset[str]:
    """Return the workloads that Kueue will evict for a head; none if it does not act for it."""
    try:
        preemptor = find_preemptor(state, snapshot, key)
    except PlannerError:
        return frozenset()
    decision = decide(snapshot, preemptor)
    if why_held_back(state, snapshot, preemptor, decision) is not None:
        return frozenset()
    return frozenset(one.workload.key for one in decision.targets if not one.workload.evicted)


def compared(
    before: State,
    now: datetime,
    evicted: Mapping[str, Collection[Eviction]],
    question: Question,
) -> Iterator[Preemption]:
    """Compare whom Kueue evicted since a state, by the UIDs of preemptors, with its replay.

    The cost of its victims is judged where the replay names the same victims.
    """
    queues = {(one.metadata.namespace, one.metadata.name): one for one in before.local_queues}
    for row in observed(before, evicted):
        found = before.workloads.find(row.preemptor)
        equal, local = row.outcome == "equal", None
        measured = measure(before, row.preemptor, question) if equal else None
        # What is measured is the decision alone: in the cycle Kueue may have chosen others.
        if isinstance(measured, Measured) and not {*row.replayed} <= {*measured.victims}:
            measured = None
        if found is not None:
            local = queues.get((found.metadata.namespace, found.spec.queue_name))
        yield Preemption(
            at=now,
            preemptor=row.preemptor,
            queue=local.spec.cluster_queue if local else "",
            outcome="skipped" if row.outcome == "uncovered" else row.outcome,
            evicted=row.evicted,
            replayed=row.replayed,
            detail=f"{row.preemptor} {measured}" if isinstance(measured, str) else row.detail,
            conditional=titles(row.coverage),
            measured=measured if isinstance(measured, Measured) else None,
        )


SHARE: Final = 0.15
"""The share of one core that a watch may take over time: judging gets what the rest leaves."""
SAVED_S: Final = 2.0
"""Processor time that may be saved for when much is due at once: a small cluster is read and judged
at once, and a large one leaves most of a core even in the half minute in which it is read."""
MISSED: Final = "it happened while the cluster could not be watched"


class Live(Follower[Keeper]):
    """The watch of a live cluster.

    ``question`` is asked of each decision, and ``tell`` is called with each line. ``pace`` says how
    often to look. Recordings go to ``store``, if they are kept.
    """

    def __init__(
        self,
        cluster: Watched,
        question: Question,
        tell: Callable[[Line], None],
        pace: Pace,
        store: Store | None = None,
    ) -> None:
        super().__init__(cluster, Keeper, tell, pace)
        self._question, self._store = question, store
        self._judge = Judge(question, pace.seconds)
        self._is_recording = True
        self._next_look = pace.seconds()
        self._left_s = SAVED_S
        self._used_at, self._seen_at = pace.used(), pace.seconds()

    @property
    def _idle_s(self) -> float:
        return self._next_look - self._seconds()

    def _came(self, before: Keeper | None, kept: Keeper) -> None:
        self._judge.look(kept.state, None)
        if before is not None:
            self._go_on(before, kept)

    def _go_on(self, before: Keeper, keeper: Keeper) -> None:
        """Go on with the preemptions that are not over, and tell those that were missed."""
        with suppress(InputError):  # what is read anew has whatever cannot be applied
            before.settle()
        going_on = [one.before[0] for one in before.episodes.values()]
        keeper.episodes = before.episodes
        for uid, victims in evictions(before.state, keeper.state).items():
            if not self._is_gap:
                episode = Episode((before.whole, *going_on), self._seconds())
                keeper.episodes.setdefault(uid, episode).victims.extend(victims)
                continue
            workloads = keeper.state.workloads
            whom = next(workloads.where(workloads.columns.uid == uid), None)
            missed = Preemption(
                at=keeper.state.now,
                preemptor=uid if whom is None else whom.key,
                queue="" if whom is None else whom.admitted_by,
                outcome="skipped",
                evicted=tuple(sorted(one.key for one in victims)),
                detail=MISSED,
            )
            self._tell(missed)

    def _look(self, kept: Keeper) -> None:
        if self._seconds() >= self._next_look:
            self._trying(partial(self._look_at, kept))
            self._next_look = self._seconds() + self._pace.interval_s

    def _look_at(self, keeper: Keeper) -> None:
        """Apply the changes, compare the preemptions that are over, judge the decisions due."""
        keeper.settle()
        touched, keeper.touched = keeper.touched, set()
        if touched:
            self._judge.look(keeper.state, touched)
        for uid, episode in [*keeper.over()]:
            self._compare(keeper, {uid: episode.victims}, episode.before)
        while self._has_time() and (line := self._judge.next(keeper.state)) is not None:
            if isinstance(line, Note):
                self._note(line.text)
            else:
                self._tell(line)

    def _compare(
        self,
        keeper: Keeper,
        evicted: Mapping[str, Collection[Eviction]],
        befores: Sequence[Whole],
    ) -> None:
        """Compare a preemption with the replay, tell the result, and record the states around it.

        Of the states that it may have been decided on, the first counts whose replay is equal.
        The clock may have been set back since, and everything read anew by it: the state after
        still gets a time not before the others.
        """
        latest = max(keeper.state.now, *(one.state.now for one in befores))
        after = Whole(keeper.state.apply(Changes(), latest), keeper.others)

        def rows_of(*some: Whole) -> Iterator[tuple[Whole, Preemption]]:
            for one in some:
                rows = compared(one.state, latest, evicted, self._question)
                yield from ((one, row) for row in rows)

        equal = next((pair for pair in rows_of(*befores) if pair[1].outcome == "equal"), None)
        for before, row in [equal] if equal else rows_of(befores[0]):
            self._tell(self._recorded(row, before, after))

    def _recorded(self, row: Preemption, before: Whole, after: Whole) -> Preemption:
        """Record the states around a preemption; tell when that cannot be done, and can again."""
        if self._store is None:
            return row
        try:
            row = self._store.keep(row, before, after)
        except InputError as error:
            if self._is_recording:
                self._note(f"nothing is recorded: {error}")
            self._is_recording = False
        else:
            if not self._is_recording:
                self._note("preemptions are recorded again")
            self._is_recording = True
        return row

    def _has_time(self) -> bool:
        """Say whether processor time is left: ``SHARE`` of each second, saved up to ``SAVED_S``.

        Time used in excess, such as by a hard decision, is waited for in full.
        """
        now, used = self._seconds(), self._pace.used()
        self._left_s += SHARE * (now - self._seen_at) - (used - self._used_at)
        self._left_s = min(self._left_s, SAVED_S)
        self._seen_at, self._used_at = now, used
        return self._left_s > 0


def follow(states: Iterable[State], question: Question, tell: Callable[[Line], None]) -> None:
    """Tell all lines about one state after the other, as about a live cluster."""
    judge = Judge(question)
    before: State | None = None
    for state in states:
        if before is not None:
            for found in compared(before, state.now, evictions(before, state), question):
                tell(found)
        judge.look(state, None)
        while (line := judge.next(state)) is not None:
            tell(line)
        before = state
