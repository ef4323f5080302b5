"""For whom Kueue will preempt as things stand, and what its victims cost beside the optimum.

Only what has changed is looked at: the heads of the ClusterQueues in trees where something did, and
of these only whose own victims are others than when they were judged last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from planner.commands.audit.instance import Instance
from planner.commands.audit.judge import SIZE, Question, audit_instance
from planner.commands.replay.kueue_live import replay_live
from planner.commands.watch.record import Decision, Measured, Note, Preemption
from planner.errors import PlannerError
from planner.plan import Uncovered
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.cycle.waiting import heads, waiting_queues
from planner.reference.kueue.decision import decide
from planner.state.kueue import State

AGAIN_S: Final = 300.0
"""After so long a decision in a tree that changes is judged again, though its victims are not
others: what they lose grows while they run."""
LOST: Final = ("D4", "D5")
"""The terms of lost work and of restarts."""


class Judge:
    """What is known of the decisions to come.

    ``question`` has the objective, and the seconds for each optimum; ``seconds`` is a clock that
    never jumps.
    """

    def __init__(self, question: Question, seconds: Callable[[], float] = time.monotonic) -> None:
        self._question, self._seconds = question, seconds
        # Whom Kueue would evict when it was judged last, and when that was.
        self._known: dict[str, tuple[tuple[str, ...], float]] = {}
        self._due: dict[str, str] = {}

    def look(self, state: State, touched: Collection[str] | None) -> None:
        """Find for whom Kueue will preempt now.

        ``touched`` are the ClusterQueues in which something changed: only their trees are looked
        at. It is ``None`` if that may be any.
        """
        snapshot = take_snapshot(state, placing=bool(state.nodes))
        queues = waiting_queues(state, snapshot)
        first = {head.key: node for node, head in heads(queues, snapshot)}
        self._known = {key: known for key, known in self._known.items() if key in first}
        self._due = {key: queue for key, queue in self._due.items() if key in first}
        node_of, path = snapshot.node_of, snapshot.tree.path
        dirty = {path(node_of[name])[-1] for name in touched or () if name in node_of}
        now = self._seconds()
        for key, node in first.items():
            if touched is not None and path(node)[-1] not in dirty:
                continue
            victims = _own_victims(state, snapshot, key)
            known, at_s = self._known.get(key, ((), now))
            if not victims:
                self._known.pop(key, None)
                self._due.pop(key, None)
            elif known != victims or now - at_s > AGAIN_S:
                self._due[key] = snapshot.queue_name(node)

    def next(self, state: State) -> Decision | Note | None:
        """Judge the decision that has been due for longest; ``None`` if none is."""
        if not self._due:
            return None
        key = next(iter(self._due))
        queue = self._due.pop(key)
        found = measure(state, key, self._question)
        if isinstance(found, str):
            self._known[key] = (), self._seconds()
            return Note(at=state.now, text=f"{key}: {found}")
        self._known[key] = found.victims, self._seconds()
        return Decision(at=state.now, preemptor=key, queue=queue, measured=found)


def measure(state: State, key: str, question: Question) -> Measured | str:
    """Judge what Kueue would do for a pending workload; say why not, if it cannot be judged."""
    begun = time.process_time()
    instance = Instance(state.source, state, (key,))
    try:
        found = audit_instance(instance, replace(question, pending=key))
    except PlannerError as error:
        return f"cannot be judged: {error}"
    if found.failures:
        return f"cannot be judged: {found.failures[0].detail}"
    case = found.cases[0]
    by_name = {one.objective: one for one in case.judgements}
    best, smallest = by_name[question.objectives[0].name], by_name[SIZE.name]
    has_plan = best.status in {"optimal", "feasible"}
    lost, least = (sum(each.terms.get(term, 0) for term in LOST) for each in (case, best))
    return Measured(
        victims=case.victims,
        needless=None if case.irredundant is None else case.needless,
        fewest=len(smallest.victims) if smallest.status == "optimal" else None,
        status=best.status,
        optimum=best.victims if has_plan else (),
        lost_s=lost,
        least_lost_s=least if has_plan else None,
        conditional=titles(case.coverage),
        seconds=time.process_time() - begun,
    )


def titles(coverage: Iterable[Uncovered]) -> tuple[str, ...]:
    """Return what is not modelled, each feature once."""
    return tuple(dict.fromkeys(one.title for one in coverage))


def _own_victims(state: State, snapshot: Snapshot, key: str) -> tuple[str, ...]:
    """Return whom Kueue will evict for the head of a ClusterQueue; nobody if it does not act."""
    try:
        preemptor = find_preemptor(state, snapshot, key)
    except PlannerError:
        return ()
    decision = decide(snapshot, preemptor)
    if why_held_back(state, snapshot, preemptor, decision) is not None:
        return ()
    return tuple(one.workload.key for one in decision.targets if not one.workload.evicted)


def compared(
    before: State, after: State, question: Question, uid: str | None = None
) -> Iterator[Preemption]:
    """Hold what Kueue did between two states against the replay of the first.

    What its victims cost is judged where the replay names the same. With ``uid`` only what was
    done for that preemptor is compared.
    """
    queues = {(one.metadata.namespace, one.metadata.name): one for one in before.local_queues}
    for row in replay_live(before, after).preemptors:
        found = before.workloads.find(row.preemptor)
        if uid not in {None, row.preemptor, None if found is None else found.uid}:
            continue
        equal, local = row.outcome == "equal", None
        measured = measure(before, row.preemptor, question) if equal else None
        if found is not None:
            local = queues.get((found.metadata.namespace, found.spec.queue_name))
        yield Preemption(
            at=after.now,
            preemptor=row.preemptor,
            queue=local.spec.cluster_queue if local else "",
            outcome="skipped" if row.outcome == "uncovered" else row.outcome,
            evicted=row.evicted,
            replayed=row.replayed,
            detail=f"{row.preemptor} {measured}" if isinstance(measured, str) else row.detail,
            conditional=titles(row.coverage),
            measured=measured if isinstance(measured, Measured) else None,
        )
