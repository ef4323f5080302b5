"""Why a workload that waits was evicted: by whom, when, by which rule, how often.

Kueue writes the last eviction into the conditions Evicted and Preempted. With a new admission they
become False, and their messages begin with "Previously: ".

Source: docs/semantics/kueue-features.md §10 (E26); kueue ff69552e pkg/workload/evict/evict.go
``Evict``, pkg/workload/workload.go ``SetQuotaReservation``, apis/kueue/v1beta2/workload_types.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from planner.commands.explain.kueue.record import (
    EvictionCount,
    Party,
    PastEviction,
    parse_messages,
    resolve,
)
from planner.errors import ParseError
from planner.laws import RULE_SETS, law_behind
from planner.quota.kueue.holding import effective_priority
from planner.state.kueue import State
from planner.state.kueue_workload import PREEMPTED, PREVIOUSLY, Workload

DUE_TO: Final = "DueTo"
"""What stands between Deactivated and the cause of a deactivation."""

CAUSES: Final = {
    "PodsReadyTimeout": "its pods were not ready in time",
    "AdmissionCheck": "an admission check sent it back",
    "ClusterQueueStopped": "its ClusterQueue was stopped",
    "LocalQueueStopped": "its LocalQueue was stopped",
    "NodeFailures": "nodes that it ran on failed",
    "FlavorMigration": "it was to move to a flavor that its queue prefers",
    "EvictedOnManagerCluster": "the manager cluster of MultiKueue evicted it",
    "Deactivated": "it was deactivated",
    "RequeuingLimitExceeded": "it had been queued again too often",
    "MaximumExecutionTimeExceeded": "it had run for as long as it may",
}
"""Why a workload is evicted that makes room for no other one, by Kueue's reason."""

RULES: Final = {
    "InClusterQueue": "by priority within their ClusterQueue",
    "InCohortReclamation": "which took back quota that others of the cohort had borrowed",
    "InCohortFairSharing": "by fair sharing, whose side of the cohort had the smaller share",
    "InCohortReclaimWhileBorrowing": (
        "which borrows itself, and may preempt lower priorities of the cohort (borrowWithinCohort)"
    ),
}
"""What the rule behind each of Kueue's reasons for a preemption does for the preemptor."""

VERDICTS: Final[Mapping[bool | None, str]] = {
    True: "That was necessary",
    False: "That was not necessary",
    None: "Whether that was necessary is not known",
}
Necessity = tuple[bool | None, str]
"""Whether the eviction of a victim was needed, ``None`` if that cannot be told; and why."""


def past_of(
    state: State, workload: Workload, rules: str, necessity: Callable[[str, datetime], Necessity]
) -> PastEviction | None:
    """Return the last eviction of a workload; ``None`` if it was never evicted.

    ``rules`` are those that hold; ``necessity`` says of a preemptor, given by its key, and a time
    whether it needed this workload to go.
    """
    last, preempted = workload.condition("Evicted"), workload.condition("Preempted")
    if last is None:
        return None
    # Once it is admitted again, a preemption is known by the message that both conditions have.
    earlier = preempted if preempted and preempted.message.startswith(PREVIOUSLY) else None
    if not last.is_true and (earlier is None or earlier.message != last.message):
        return None
    counts = tuple(
        EvictionCount(reason=one.reason, cause=one.underlying_cause, count=one.count)
        for one in workload.status.scheduling_stats.evictions
        if one.count
    )
    found = PastEviction(
        reason=last.reason if last.is_true else PREEMPTED,
        at=last.last_transition_time if last.is_true else None,
        message=last.message.removeprefix(PREVIOUSLY),
        counts=counts,
        text="",
    )
    if found.reason == PREEMPTED:
        found = _preempted(state, workload, found, rules)
        needed, why = _needed(found, necessity)
        text = f"{found.text}. {VERDICTS[needed]}: {why}"
        found = found.model_copy(update={"necessary": needed})
    else:  # it made room for no other
        kind, _, cause = found.reason.partition(DUE_TO)
        why = CAUSES.get(kind, "Kueue says so")
        why += f", as {CAUSES.get(cause, cause)}" if cause else ""
        kueue = f' (Kueue: "{found.message}")' if found.message else ""
        text = f"{workload.key} was evicted{_when(found.at)} because {why}: {found.reason}{kueue}"
        if earlier is not None:
            message = earlier.message.removeprefix(PREVIOUSLY)
            before = found.model_copy(update={"at": None, "message": message})
            text += f". Before that {_preempted(state, workload, before, rules).text}"
    return found.model_copy(update={"text": f"{text}{_how_often(counts)}"})


def _preempted(state: State, workload: Workload, found: PastEviction, rules: str) -> PastEviction:
    """Return an eviction with who the preemptor was, and by which rule."""
    condition, message = workload.condition("Preempted"), None
    with suppress(ParseError):  # of words that are not known the condition's reason is left
        message = resolve(parse_messages(found.message)[-1], state)
    preemptor = Party() if message is None else message.preemptor
    code = message.reason if message is not None else None
    if condition is not None and condition.reason in RULES:
        code = condition.reason
    law = law_behind(RULE_SETS[rules], code) if code else None
    known = law.id if law is not None else (message.law if message is not None else None)
    text = f"{workload.key} was preempted{_when(found.at)} by {_called(preemptor, state)}"
    if code:
        text += f", {RULES[code]} ({', '.join(filter(None, (code, known)))})"
    update = {"preemptor": preemptor, "rule": code, "law": known, "text": text}
    return found.model_copy(update=update)


def _needed(found: PastEviction, necessity: Callable[[str, datetime], Necessity]) -> Necessity:
    preemptor = found.preemptor.workload if found.preemptor is not None else None
    if preemptor is None:
        return None, "the preemptor is not in the dump"
    if found.at is None:
        return None, "it was admitted again since then, and the dump does not say when it had been"
    return necessity(preemptor, found.at)


def _called(party: Party, state: State) -> str:
    """Return what is known of a preemptor: its name and priority, or its UID; its ClusterQueue."""
    queue = f" of ClusterQueue {party.cluster_queue}" if party.cluster_queue else ""
    there = state.workloads.find(party.workload) if party.workload is not None else None
    if there is not None:
        return f"{there.key}{queue} (priority {effective_priority(there, state.configuration)})"
    uids = {"UID": party.uid, "job UID": party.job_uid}
    said = ", ".join(f"{kind} {uid}" for kind, uid in uids.items() if uid)
    return f"a workload{queue} that is not in the dump{said and f' ({said})'}"


def _when(at: datetime | None) -> str:
    return "" if at is None else f" at {at.isoformat().replace('+00:00', 'Z')}"


def _how_often(counts: Sequence[EvictionCount]) -> str:
    total = sum(one.count for one in counts)
    if total <= 1:  # the one that is told
        return ""
    each = ", ".join(
        f"{one.count} times {one.reason}{one.cause and f' ({one.cause})'}" for one in counts
    )
    return f". It was evicted {total} times so far: {each}"
