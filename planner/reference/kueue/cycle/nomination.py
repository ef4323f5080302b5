"""Why the scheduler does nothing for a pending workload in its next cycle.

A decision for one workload says what Kueue does when the workload is nominated. Here are the
filters before that, in Kueue's order, none of which looks at quota, and what keeps a decision from
being carried out, such as the workloads that are before it in the cycle.

Source: docs/semantics/kueue-features.md §1.1 to §1.6 and §5; docs/semantics/kueue.md §7.1 and §7.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from planner.quota.kueue.assignment import whole_request
from planner.quota.kueue.preemptor import Hold
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.cycle.admissibility import refusal_of
from planner.reference.kueue.cycle.processing import is_available, is_gated, not_ready
from planner.reference.kueue.cycle.turn import Turn, next_turn
from planner.reference.kueue.cycle.waiting import (
    INADMISSIBLE,
    NO_LOCAL_QUEUE,
    PARENT,
    backoff_expired,
    first_in_line,
    leading_to,
    not_queued,
)
from planner.reference.kueue.decision import Decision
from planner.state.kueue import ClusterQueue, State, Workload


class NotNominated(NamedTuple):
    """The filter at which a workload fails: Kueue's ``message``, if any, and the planner's text.

    ``head`` is the workload that is before it, if one is: in its own queue, or in the cycle.
    """

    why: Hold
    message: str
    text: str
    head: str = ""


def why_not_nominated(state: State, snapshot: Snapshot, workload: Workload) -> NotNominated | None:
    """Say why a pending workload is not nominated in the next cycle; ``None`` if it is.

    Conditions tell who is parked after an earlier try (docs/semantics/kueue-features.md §1.4).
    """
    return (
        _why_not_waiting(state, snapshot, workload)
        or _behind_its_head(state, snapshot, workload)
        or _refused(state, workload, _queue_of(state, snapshot, workload)[1])
    )


def why_never_nominated(
    state: State, snapshot: Snapshot, workload: Workload
) -> NotNominated | None:
    """Say why a pending workload is not nominated, whoever is before it; ``None`` if it may be."""
    found = _why_not_waiting(state, snapshot, workload)
    return found or _refused(state, workload, _queue_of(state, snapshot, workload)[1])


def _queue_of(state: State, snapshot: Snapshot, workload: Workload) -> tuple[int, ClusterQueue]:
    """Return the number and the ClusterQueue that a workload waits for."""
    node = snapshot.node_of[
        leading_to(state)[workload.metadata.namespace, workload.spec.queue_name]
    ]
    return node, snapshot.queues[node]


def _why_not_waiting(state: State, snapshot: Snapshot, workload: Workload) -> NotNominated | None:
    """Say why a pending workload is in no queue from which heads are taken; ``None`` if it is."""
    leading = leading_to(state)
    message = not_queued(workload, snapshot, leading)
    if message:
        why = _why_not_queued(state, workload, message)
        kueue = "" if message == PARENT else message
        return NotNominated("notQueued", kueue, f"it stands in no queue: {why}")
    if not backoff_expired(workload, snapshot.devices, snapshot.now):
        return NotNominated("backOff", "", _backing_off(workload, snapshot.now))
    node, queue = _queue_of(state, snapshot, workload)
    if not snapshot.is_active(node):
        text = f"ClusterQueue {queue.name} is inactive: {snapshot.inactive[queue.name]}"
        return NotNominated("clusterQueueInactive", "", text)
    return None


def _behind_its_head(state: State, snapshot: Snapshot, workload: Workload) -> NotNominated | None:
    """Say who of its ClusterQueue is before a workload that waits; ``None`` if nobody is."""
    node, queue = _queue_of(state, snapshot, workload)
    # What lets one that was tried in vain compete again lets all others do so, too.
    first = first_in_line(state, snapshot, awake=workload.was_tried)
    head = first.get(node, workload)
    if head.key == workload.key:
        return None
    text = f"it is not the head of ClusterQueue {queue.name}: {head.key} is before it"
    return NotNominated("notHead", "", text, head.key)


def _refused(state: State, workload: Workload, queue: ClusterQueue) -> NotNominated | None:
    refusal = refusal_of(state, workload, queue)
    if refusal is None:
        return None
    return NotNominated("inadmissible", refusal.message, refusal.message)


def why_held_back(
    state: State, snapshot: Snapshot, preemptor: Preemptor, decision: Decision
) -> NotNominated | None:
    """Say what keeps Kueue from acting on a decision; ``None`` if nothing is known to do so.

    What would refuse the workload as the head is said although it is not yet: its turn is no help.
    """
    found = why_never_nominated(state, snapshot, preemptor.workload)
    if found is not None:
        return found
    found = _behind_its_head(state, snapshot, preemptor.workload)
    found = found or why_not_carried_out(snapshot, preemptor, decision)
    acts = decision.search.targets or decision.assignment.mode == "Fit"
    if not acts or (found is not None and found.why != "notHead"):
        return found
    turn = next_turn(state, snapshot, preemptor, decision)
    return found if turn is None else _why_behind(snapshot, decision, turn, found)


def why_not_carried_out(
    snapshot: Snapshot, preemptor: Preemptor, decision: Decision
) -> NotNominated | None:
    """Say what keeps Kueue from acting on a decision for a head, whoever is before it."""
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
    return None if unready is None else _waits_for(unready.key)


def _waits_for(unready: str) -> NotNominated:
    text = f"the pods of {unready} are not ready (waitForPodsReady.blockAdmission)"
    return NotNominated("waitsForPodsReady", "", text, unready)


def _why_behind(
    snapshot: Snapshot, decision: Decision, turn: Turn, found: NotNominated | None
) -> NotNominated | None:
    """Say why Kueue does not act on a decision in its next cycles; ``None`` if it does.

    ``found`` says that the workload is not the head now, if it is not.
    """
    if turn.is_taken:
        return None
    if not turn.before:
        return found
    key = turn.before[0].preemptor.key
    if turn.entry is None or turn.entry.outcome == "waitsForPodsReady":
        return _waits_for(key) if decision.assignment.mode == "Fit" else found
    queues = [snapshot.queue_name(one.preemptor.queue) for one in turn.before]
    before = are_before([one.preemptor.key for one in turn.before], queues)
    if turn.entry.outcome == "deferred":
        text = f"{before}, and its victims make room for both"
        return NotNominated("deferred", "", text, key)
    taken = {target.workload.key for one in turn.before for target in one.targets}
    if any(target.workload.key in taken for target in decision.targets):
        what = "takes its victims"
    elif all(one.outcome == "noCandidates" for one in turn.before):
        what = "reserves the room"
    else:
        what = "takes the room"
    return NotNominated("notFirst", "", f"{before} and {what}", key)


def are_before(keys: Sequence[str], queues: Sequence[str], when: str = "") -> str:
    """Say that workloads, each with its ClusterQueue, are before another one."""
    pairs = [f"{key} of ClusterQueue {queue}" for key, queue in zip(keys, queues, strict=True)]
    names = " and ".join((", ".join(pairs[:-1]), pairs[-1]) if pairs[1:] else pairs)
    return (
        f"{names} is before it{when}" if len(pairs) == 1 else f"each of {names} is before it{when}"
    )


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
