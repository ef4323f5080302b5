"""Why the scheduler does nothing for a pending workload in its next cycle, or ever.

A decision for one workload says what Kueue does when the workload is nominated. Here are the
filters before that, in Kueue's order, none of which looks at quota, and what keeps a decision from
being carried out. The turn of a workload may never come, as long as nothing else changes: a head of
a StrictFIFO queue that finds no candidates stays the head, and a head of another queue that
reserves quota it cannot have comes before other heads in every cycle, which are then skipped.

Source: docs/semantics/kueue-features.md §1.1 to §1.6 and §5; docs/semantics/kueue.md §7.1, §7.4 and
§7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from datetime import datetime
from typing import Final, Literal, NamedTuple
from weakref import ReferenceType, ref

from planner.quota.kueue.assignment import whole_request
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.cycle.admissibility import refusal_of
from planner.reference.kueue.cycle.processing import Schedule, is_available, is_gated, not_ready
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import (
    INADMISSIBLE,
    NO_LOCAL_QUEUE,
    PARENT,
    Pending,
    Waiting,
    backoff_expired,
    heads,
    is_queued,
    leading_to,
    not_queued,
    queue_order,
    waiting_queues,
)
from planner.reference.kueue.decision import Decision
from planner.state.kueue import State, Workload

Hold = Literal[
    "notQueued",
    "backOff",
    "clusterQueueInactive",
    "notHead",
    "inadmissible",
    "preemptionGated",
    "waitsForPodsReady",
    "tooFewPods",
]
"""What keeps Kueue from acting on a workload: the first filter at which it fails, or what follows.

notQueued             it stands in no queue
backOff               it is parked until the time of its next try, or until somebody sets Requeued
clusterQueueInactive  its ClusterQueue is not asked for a head
notHead               another workload of its ClusterQueue is before it
inadmissible          it is a head, but its checks, its namespace or its pods are turned down
preemptionGated       it would preempt, but has a closed gate
waitsForPodsReady     it fits, but nobody is admitted while the pods of another are not ready
tooFewPods            its victims would not free enough pods, and so none of them is ever evicted
"""


class NotNominated(NamedTuple):
    """The filter at which a workload fails: Kueue's ``message``, if any, and the planner's text.

    ``head`` is the workload that is nominated instead, only where another workload is before it.
    """

    why: Hold
    message: str
    text: str
    head: str = ""


def why_not_nominated(state: State, snapshot: Snapshot, workload: Workload) -> NotNominated | None:
    """Say why a pending workload is not nominated in the next cycle; ``None`` if it is.

    No workload counts as parked after an earlier try: a dump does not say which are
    (docs/semantics/kueue-features.md §1.4).
    """
    leading = leading_to(state)
    message = not_queued(workload, snapshot, leading)
    if message:
        why = _why_not_queued(state, workload, message)
        kueue = "" if message == PARENT else message
        return NotNominated("notQueued", kueue, f"it stands in no queue: {why}")
    if not backoff_expired(workload, snapshot.devices, snapshot.now):
        return NotNominated("backOff", "", _backing_off(workload, snapshot.now))
    name = leading[workload.metadata.namespace, workload.spec.queue_name]
    node = snapshot.node_of[name]
    queue = snapshot.queues[node]
    if not snapshot.is_active(node):
        text = f"ClusterQueue {queue.name} is inactive: {snapshot.inactive[queue.name]}"
        return NotNominated("clusterQueueInactive", "", text)
    head = _heads_of(state, snapshot).get(name, workload.key)
    if head != workload.key:
        text = f"it is not the head of ClusterQueue {queue.name}: {head} is before it"
        return NotNominated("notHead", "", text, head)
    refusal = refusal_of(state, workload, queue)
    if refusal is None:
        return None
    return NotNominated("inadmissible", refusal.message, refusal.message)


def why_held_back(
    state: State, snapshot: Snapshot, preemptor: Preemptor, decision: Decision
) -> NotNominated | None:
    """Say what keeps Kueue from acting on a decision; ``None`` if nothing is known to do so.

    Other heads, which may come first in the cycle, are not looked at.
    """
    found = why_not_nominated(state, snapshot, preemptor.workload)
    if found is not None:
        return found
    # The targets of the search, without the slice that is replaced, which is no victim.
    if decision.search.targets:
        if is_gated(preemptor.workload, snapshot.configuration):
            return NotNominated("preemptionGated", "", "it has a closed preemption gate")
        # Flavors that the user gave, so that Kueue assigned none, come without their usage.
        asked = decision.assigned.usage or whole_request(decision.assignment, preemptor, snapshot)
        # A slice that is replaced is a target, too, and is removed with all it holds.
        gone = [one.workload for one in decision.targets]
        if not is_available(snapshot.usage, gone, preemptor.queue, asked):
            text = "its own victims do not free enough pods, so that Kueue evicts none of them"
            return NotNominated("tooFewPods", "", text)
    unready = next(not_ready(snapshot), None) if decision.assignment.mode == "Fit" else None
    if unready is not None:
        text = f"the pods of {unready.key} are not ready (waitForPodsReady.blockAdmission)"
        return NotNominated("waitsForPodsReady", "", text)
    return None


def _heads_of(state: State, snapshot: Snapshot) -> Mapping[str, str]:
    """Return the key of the first workload that competes in each ClusterQueue, by name.

    They are kept as long as the state lives, as it is planned for again and again.
    """
    kept = next(iter(_LAST_HEADS), None)
    if kept is not None and kept[0]() is state and kept[1] == snapshot.now:
        return kept[2]
    leading, configuration = leading_to(state), snapshot.configuration
    first: dict[str, tuple[tuple[float, tuple[int, datetime, str]], str]] = {}
    for workload in snapshot.waiting.values():
        name = leading.get((workload.metadata.namespace, workload.spec.queue_name), "")
        node = snapshot.node_of.get(name)
        if node is None or not is_queued(workload, snapshot, node):
            continue
        # A workload that backs off is parked, and blocks no workload behind it.
        if backoff_expired(workload, snapshot.devices, snapshot.now):
            past = snapshot.past_of(node, workload) or 0.0
            order = past, queue_order(workload, configuration)
            known = first.get(name)
            if known is None or order < known[0]:
                first[name] = order, workload.key
    found = {name: key for name, (_, key) in first.items()}
    _LAST_HEADS[:] = [(ref(state), snapshot.now, found)]  # as a whole: other threads may plan, too
    return found


_LAST_HEADS: Final[list[tuple[ReferenceType[State], datetime, Mapping[str, str]]]] = []
"""The heads that were asked for last, with their state and its clock; empty before that."""

_FLAGS: Final = {
    "Finished": "it is finished",
    "QuotaReserved": "it holds quota",
    "WaitingForReplacementPods": "it waits for replacement pods (WaitingForReplacementPods)",
}


def _why_not_queued(state: State, workload: Workload, message: str) -> str:
    if message == NO_LOCAL_QUEUE:
        wanted = workload.metadata.namespace, workload.spec.queue_name
        named = (one for one in state.local_queues if one.metadata.name == wanted[1])
        local = next((one for one in named if one.metadata.namespace == wanted[0]), None)
        what = f"has stopPolicy {local.spec.stop_policy}" if local else "does not exist"
        return f"its LocalQueue {'/'.join(wanted)} {what}"
    if message != INADMISSIBLE:
        return message
    flags = [text for kind, text in _FLAGS.items() if workload.is_true(kind)]
    if not workload.spec.active:
        flags.append("it is deactivated (spec.active is false)")
    if workload.is_on_hold and state.configuration.rules.knows_on_hold:
        flags.append("it is on hold (QuotaReserved is False, OnHold)")
    return flags[0] if flags else f"its admission is gated by {workload.gated_by}"


def _backing_off(workload: Workload, now: datetime) -> str:
    requeue = workload.status.requeue_state
    until = requeue.requeue_at if requeue else None
    if until is not None and until > now:
        return f"it backs off until {until:%Y-%m-%dT%H:%M:%SZ}; a restart of the manager forgets it"
    requeued = workload.condition("Requeued")
    reason = requeued.reason if requeued else ""
    return f"it is parked until somebody sets its condition Requeued{reason and f' ({reason})'}"


MOST_CYCLES: Final = 200
"""Cycles after which no answer is given: as a rule two cycles are enough."""
_MOVES: Final = frozenset({"admitted", "preempting", "deferred"})


class InTheWay(NamedTuple):
    """What is before a workload in every cycle: the head of its StrictFIFO queue, or others."""

    workloads: tuple[str, ...]
    own_queue: bool


def in_the_way(
    state: State, snapshot: Snapshot, key: str, queue: int, is_late: Callable[[], bool]
) -> InTheWay | None:
    """Return what keeps the scheduler from a pending workload; ``None`` if nothing is known.

    ``queue`` is the node of its ClusterQueue; ``is_late`` says before each cycle whether time is
    up. A workload that stands in no queue, or in a queue that takes no part in scheduling, has no
    turn at all: its answer is ``None``.
    """
    snapshot = snapshot.at_will(will=False)  # Kueue's own cycles place pods as Kueue does
    root = snapshot.tree.path(queue)[-1]
    queues = {
        node: waiting
        for node, waiting in waiting_queues(state, snapshot).items()
        if snapshot.tree.path(node)[-1] == root
    }
    if all(one.key != key for one in queues[queue].active):
        return None
    found = never_reached(state, snapshot, queues, is_late, wanted=key)
    return next((by for pending, by in found if pending.key == key), None)


def never_reached(
    state: State,
    snapshot: Snapshot,
    queues: dict[int, Waiting],
    is_late: Callable[[], bool],
    wanted: str = "",
) -> list[tuple[Pending, InTheWay]]:
    """Return the workloads of a cohort tree that are never reached, each with what is before it.

    Cycles are run until a workload is admitted or preempts, which changes everything, or until the
    queues are as they were after an earlier cycle. In the first case, where a cycle waits for pods
    to be ready, and where time is up before (``is_late``), the list is empty, as nothing is known.
    ``queues`` are the queues of one tree, and are changed. ``wanted`` is the only workload that is
    asked about, if there is such a one: once it is reached, the list is empty.
    """
    reached: set[str] = set()
    seen: set[object] = set()
    for number in range(MOST_CYCLES):
        if is_late():
            return []
        at_head = dict(heads(queues, snapshot))
        ran = schedule(state, snapshot, queues, cycle=number)
        # A blocked cycle is not over: when pods are ready it goes on, and reaches other entries.
        if ran.blocked or any(entry.outcome in _MOVES for entry in ran.entries):
            return []
        entries = (*ran.entries, *ran.inadmissible)
        # A skipped entry lost the room or the targets to an earlier one: it is not reached.
        reached.update(one.preemptor.key for one in entries if one.outcome != "skipped")
        if wanted in reached:
            return []
        # The workloads that compete and that are parked, and how far walks over flavors came.
        competing = (
            tuple((one.key, str(one.progress and one.progress.tried)) for one in waiting.active)
            for waiting in queues.values()
        )
        parked = (tuple(sorted(one.key for one in waiting.parked)) for waiting in queues.values())
        standing = tuple(zip(queues, competing, parked, strict=True))
        # Nothing else changes, so cycles repeat from here on: what was not reached never is.
        if standing in seen:
            return [
                (pending, _keeper(ran, at_head[node].key, reached))
                for node in at_head
                for pending in queues[node].active
                if pending.key not in reached
            ]
        seen.add(standing)
    return []


def _keeper(ran: Schedule, head: str, reached: Container[str]) -> InTheWay:
    """Return what keeps Kueue from the workloads of a queue: its head, or entries before that.

    An entry that finds no candidates reserves room all the same, and comes first in every cycle.
    """
    if head in reached:
        return InTheWay((head,), own_queue=True)
    keys = [entry.preemptor.key for entry in ran.entries]
    before = ran.entries[: keys.index(head)]
    found = (one.preemptor.key for one in before if one.outcome == "noCandidates")
    return InTheWay(tuple(found), own_queue=False)
