"""The text of Kueue's events and conditions about a preemption, taken apart.

Three texts tell of one preemption (kueue ff69552e pkg/scheduler/preemption/preemption.go,
``preemptionMessage`` and ``IssuePreemptions``): the message of the conditions Evicted and
Preempted, the event Preempted of the victim, which adds the priorities, and the event
PreemptedWorkload of the preemptor. Before v0.15 the paths were missing, before that the JobUID;
what a text does not say stays ``None``.
"""

from __future__ import annotations

import re
from typing import Final

from planner.commands.explain import LONGEST
from planner.commands.explain.kueue.record import Party, PreemptionMessage
from planner.errors import ParseError
from planner.laws import law_behind
from planner.state import State

UNKNOWN: Final = "UNKNOWN"

REASONS: Final = {
    "prioritization in the ClusterQueue": "InClusterQueue",
    "reclamation within the cohort": "InCohortReclamation",
    "Fair Sharing within the cohort": "InCohortFairSharing",
    "reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing",
}
"""Kueue's words for its reason codes (kueue ff69552e, ``HumanReadablePreemptionReasons``)."""

_JOB_UID: Final = "kueue.x-k8s.io/job-uid"
"""How much of a text is looked at, in characters."""

_PREEMPTED: Final = re.compile(
    r"Preempted to accommodate a (?:higher priority )?workload"
    r"(?: \(UID: (?P<uid>[^,)\s]+)(?:, JobUID: (?P<job>[^,)\s]+))?\))?"
    # The longest first: one reason begins like another.
    rf"(?: due to (?P<reason>{'|'.join(sorted(REASONS, key=len, reverse=True))}))?",
    re.IGNORECASE,
)
_PREEMPTED_WORKLOAD: Final = re.compile(
    r"Preempted workload (?P<key>[^\s()]+) \(UID: (?P<uid>[^)\s]+)\)"
    r" in ClusterQueue (?P<queue>[^\s;\"]+)"
)
_PATH: Final = r"{side} path: (?P<path>[^;\s\"]+)"
_PRIORITY: Final = (
    r"{side} effective priority: (?P<effective>-?\d+)"
    r" \(base: (?P<base>-?\d+), boost: (?P<boost>-?\d+)\)"
)


def parse_message(text: str) -> PreemptionMessage:
    """Read what an event or condition says; text around it, as kubectl prints it, may stay.

    Raises
    ------
    ParseError
        If it is no text of Kueue about a preemption.
    """
    if len(text) > LONGEST:
        raise ParseError("message", f"{len(text)} characters", f"at most {LONGEST}")
    flat = " ".join(text.split())
    own = _PREEMPTED_WORKLOAD.search(flat)
    if own is not None:
        return PreemptionMessage(
            kind="PreemptedWorkload",
            preemptor=_party(flat, "preemptor"),
            victim=_party(
                flat, "preemptee", workload=own["key"], uid=own["uid"], cluster_queue=own["queue"]
            ),
            text=own[0],
        )
    found = _PREEMPTED.search(flat)
    if found is None:
        raise ParseError(
            "message",
            "this is no text of Kueue about a preemption",
            '"Preempted to accommodate a workload (UID: ...) ..." or "Preempted workload ..."',
        )
    reason = REASONS.get(found["reason"] or "")
    return PreemptionMessage(
        kind="Preempted",
        reason=reason,
        law=_laws_behind(reason),
        preemptor=_party(flat, "preemptor", uid=found["uid"], job_uid=found["job"]),
        victim=_party(flat, "preemptee"),
        text=found[0],
    )


def take_apart(text: str, state: State) -> PreemptionMessage:
    """Take apart a text about a preemption, and name the workloads that a state knows.

    Raises
    ------
    ParseError
        If it is none.
    """
    return resolve(parse_message(text), state)


def resolve(message: PreemptionMessage, state: State) -> PreemptionMessage:
    """Name the workloads whose UIDs the state knows.

    A job's UID names a preemptor too, where the workload was made anew since.
    """
    keys = {one.uid: one.key for one in state.workloads.entries}

    def named(party: Party) -> Party:
        key = party.workload or keys.get(party.uid or "")
        if not key and party.job_uid:
            of_job = [
                workload.key
                for workload in state.workloads
                if workload.metadata.labels.get(_JOB_UID) == party.job_uid
            ]
            key = of_job[-1] if of_job else None
        return party.model_copy(update={"workload": key})

    return message.model_copy(
        update={"preemptor": named(message.preemptor), "victim": named(message.victim)}
    )


def _laws_behind(reason: str | None) -> str | None:
    """Name the law behind a reason under each rule set that gives it: the text does not say which.

    ``None`` where it gives no reason.
    """
    if reason is None:
        return None
    known = (law_behind(rules, reason) for rules in ("kueue-classical", "kueue-fair"))
    return "/".join(law.id for law in known if law is not None)


def _party(text: str, side: str, **given: str | None) -> Party:
    """Return one side with what is known of it, its path and its priorities."""
    found: dict[str, object] = {name: _known(value) for name, value in given.items()}
    path = re.search(_PATH.format(side=side), text)
    if path is not None and _known(path["path"]):
        parts = tuple(part for part in path["path"].split("/") if part)
        found |= {"path": parts, "cluster_queue": parts[-1] if parts else None}
    priority = re.search(_PRIORITY.format(side=side), text)
    if priority is not None:
        found |= {
            "effective_priority": int(priority["effective"]),
            "base_priority": int(priority["base"]),
            "boost": int(priority["boost"]),
        }
    return Party.model_validate(found)


def _known(text: str | None) -> str | None:
    return None if text == UNKNOWN else text
