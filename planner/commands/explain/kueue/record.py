"""The answers about Kueue's plans; the text of Kueue's events and conditions, parsed.

Kueue writes three texts for a preemption (kueue ff69552e pkg/scheduler/preemption/preemption.go,
``preemptionMessage`` and ``IssuePreemptions``): the message of the conditions Evicted and
Preempted, the event Preempted of the victim, which adds the priorities, and the event
PreemptedWorkload of the preemptor. Before v0.15 the paths were missing, before that the JobUID;
what a text does not say stays ``None``.
"""

# pyright: reportIncompatibleVariableOverride=false
# A frozen record may have fields of a narrower type.

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Final, Literal

from planner.commands.explain import LONGEST
from planner.commands.explain.record import (
    CommonClash,
    CommonExplanation,
    CommonShortfall,
    CommonStanding,
)
from planner.errors import LookupFailed, ParseError
from planner.laws import RULE_SETS, law_behind
from planner.plan import Published, Record
from planner.plan.kueue import Amount, NodesAround, PodSetPlaces
from planner.plan.label import Label
from planner.state.kueue import State


class Standing(CommonStanding):
    """A workload as Kueue's rules see it.

    ``workload`` is namespace/name. ``reason`` is Kueue's code for it, only for a candidate.
    """

    workload: Annotated[str, Label(role="key")]
    cluster_queue: Annotated[str, Label()]
    reason: Annotated[str, Label(role="name")] = ""
    usage: tuple[Amount, ...] = ()

    @property
    def name(self) -> str:
        """What people call the workload."""
        return self.workload

    @property
    def place(self) -> str:
        """The reason that makes it a candidate, and its place in Kueue's order."""
        return f"{self.reason}, place {self.position} of {self.candidates} in Kueue's order"


class Shortfall(CommonShortfall):
    """What is missing of one flavor-resource, and what all candidates together hold of it.

    In a flavor that was not assigned, ``most`` is what the ClusterQueue could use if nothing
    ran.
    """

    flavor: str
    most: int

    @property
    def name(self) -> str:
        """The flavor-resource."""
        return f"{self.flavor}/{self.resource}"


class Clash(CommonClash[Shortfall]):
    """Why Kueue has no plan at all."""


class Opening(Record):
    """The fewest running workloads without which pods have a place in a domain.

    Places alone count, not quota. ``victims`` is ``None`` if not even all together are enough;
    ``proved`` says that there is no smaller set, by the word of the solver.
    """

    victims: Annotated[tuple[str, ...] | None, Label(role="list", plain="victim", absent="none")]
    proved: Annotated[bool, Label()]


class DomainRoom(Record):
    """What one domain holds of what a podset asks for, in slots, or in slices where it asks so.

    ``domain`` has its values from the highest level down; it is empty for all nodes of the flavor
    together. It ``holds`` so many now, besides the pod of a leader, ``empty`` so many if Kueue had
    placed nobody, and ``lacks`` so many. ``used`` says that the plan puts pods there; ``others``
    are pods that Kueue did not place and without which there would be more room. ``whoever`` opens
    it among all that run, ``candidates`` among those that Kueue may preempt for this workload as
    each stands; ``None`` where that was not looked for.
    """

    domain: Annotated[tuple[str, ...], Label(role="key", absent="all")]
    name: str
    holds: Annotated[int, Label()]
    empty: Annotated[int, Label()]
    lacks: Annotated[int, Label()]
    used: Annotated[bool, Label()] = False
    others: tuple[str, ...] = ()
    whoever: Annotated[Opening | None, Label(plain="whoever")] = None
    candidates: Annotated[Opening | None, Label(plain="candidates")] = None
    text: Annotated[str, Label(role="text")]


class FlavorRoom(Record):
    """Where the pods of a podset, or of a group of two, have a place in one flavor.

    ``assigned`` says that Kueue assigned this flavor: it tries no other one for want of nodes.
    ``manner`` is how strictly the ``level`` is meant. A slot is the place of one pod, ``slot`` what
    one asks for; ``size`` pods make a slice. So many slices are ``wanted``. There are so many
    ``domains`` of the level, the ``closest`` of which are told, and all of the flavor before them
    where that is what decides.
    """

    pod_sets: Annotated[tuple[str, ...], Label(role="list")]
    flavor: Annotated[str, Label(role="key")]
    assigned: Annotated[bool, Label()]
    topology: Annotated[str, Label()]
    level: Annotated[str, Label()]
    manner: Annotated[Literal["required", "preferred", "unconstrained"], Label()]
    slot: Annotated[str, Label(role="text")]
    size: Annotated[int, Label()]
    wanted: Annotated[int, Label()]
    domains: Annotated[int, Label()]
    closest: Annotated[tuple[DomainRoom, ...], Label(plain="domain")]


class Together(Record):
    """All podsets placed one after the other, as Kueue does it, where each by itself has a place.

    ``when`` says on which nodes: as they are ``now``, with all ``candidates`` gone, or ``empty``.
    Of those who run now some are left out, ``without`` whom each by itself has a place. ``places``
    are those of podsets that found one before others did not, which are ``lacking``, with Kueue's
    own ``message``. ``order`` is one in which all of them would have a place, if that was found.
    """

    when: Annotated[Literal["now", "candidates", "empty"], Label(role="code")]
    without: Annotated[tuple[str, ...], Label(role="list")] = ()
    places: tuple[PodSetPlaces, ...]
    lacking: Annotated[tuple[str, ...], Label(role="list")]
    order: Annotated[tuple[str, ...], Label(role="list")] = ()
    message: Annotated[str, Label(role="text")]
    text: Annotated[str, Label(role="text")]


class OnNodes(Record):
    """Whether the pods of a workload have a place on nodes, with quota and nodes as they are.

    ``mode`` is that of Kueue's own assignment, ``victims`` whom Kueue itself would evict, and
    ``message`` what it writes; ``around`` are the nodes with these gone. ``together`` is there
    where no single podset is the reason. ``unknown`` says why nothing of this is known.
    """

    unknown: Annotated[str, Label(role="text")] = ""
    mode: Annotated[Literal["Fit", "Preempt", "NoFit"] | None, Label()] = None
    victims: Annotated[tuple[str, ...], Label(role="count")] = ()
    message: Annotated[str, Label(role="text")] = ""
    flavors: Annotated[tuple[FlavorRoom, ...], Label(plain="room")] = ()
    together: Annotated[Together | None, Label(plain="together")] = None
    around: tuple[NodesAround, ...] = ()


class Party(Record):
    """One side of a preemption as a message tells it; ``None`` where it does not.

    ``path`` is the way from the root cohort down to the ClusterQueue. ``workload`` is
    namespace/name, as the message says it or as the state knows the UID.
    """

    workload: Annotated[str | None, Label("Workload", "name")] = None
    uid: Annotated[str | None, Label("UID")] = None
    job_uid: Annotated[str | None, Label("UID of the job")] = None
    cluster_queue: Annotated[str | None, Label("ClusterQueue", "name")] = None
    path: Annotated[tuple[str, ...], Label("Its path", "list")] = ()
    effective_priority: Annotated[int | None, Label("Priority", plain="priority")] = None
    base_priority: Annotated[int | None, Label("Its base", plain="base")] = None
    boost: Annotated[int | None, Label("Its boost")] = None


class EvictionCount(Record):
    """How often Kueue evicted a workload for a reason, and for a cause of that, if it has any."""

    reason: Annotated[str, Label(role="key")]
    cause: Annotated[str, Label(role="name")]
    count: Annotated[int, Label()]


class PastEviction(Record):
    """The last eviction of a workload that waits, by its own conditions.

    ``reason`` is Kueue's, such as Preempted or PodsReadyTimeout, ``message`` what Kueue wrote.
    ``at`` is when it was; ``None`` where it was admitted again since then. Of a preemption
    ``preemptor`` says by whom, ``rule`` is Kueue's code for the rule behind it and ``law`` the law;
    ``necessary`` says whether the preemptor had no other way, ``None`` where that is not known, and
    ``text`` why.
    """

    reason: Annotated[str, Label(role="code")]
    at: Annotated[datetime | None, Label()] = None
    message: str
    preemptor: Annotated[Party | None, Label(plain="by")] = None
    rule: Annotated[str | None, Label()] = None
    law: Annotated[str | None, Label()] = None
    necessary: Annotated[bool | None, Label()] = None
    counts: Annotated[tuple[EvictionCount, ...], Label()] = ()
    text: Annotated[str, Label(role="text")]


class Explanation(CommonExplanation):
    """The answer to a question about a pending workload of Kueue.

    ``nodes`` is there where a topology decides about its pods, ``eviction`` where it ran before.
    """

    scheduler: Literal["kueue"] = "kueue"
    rules: Annotated[Literal["kueue-classical", "kueue-fair"], Label()]
    cluster_queue: Annotated[str, Label()]
    workloads: tuple[Standing, ...] = ()
    clash: Clash | None = None
    nodes: Annotated[OnNodes | None, Label()] = None
    eviction: Annotated[PastEviction | None, Label(plain="evicted")] = None

    @property
    def standings(self) -> tuple[Standing, ...]:
        """The workloads that are explained."""
        return self.workloads

    @property
    def first(self) -> str:
        """Why it was evicted, if it was: whoever waits again asks that first."""
        return "" if self.eviction is None else f"{self.eviction.text}. Now: "

    @property
    def preemptor_queue(self) -> str:
        """The ClusterQueue that the preemptor waits in."""
        return self.cluster_queue


class PreemptionMessage(Published):
    """What Kueue's text about a preemption says: who, whom, why.

    ``reason`` is the scheduler's code, ``None`` where the text gives none; ``law`` says what
    stands behind it under classical preemption or fair sharing.
    """

    kind: Annotated[Literal["Preempted", "PreemptedWorkload"], Label()]
    reason: Annotated[str | None, Label("Reason", absent="none")] = None
    law: Annotated[str | None, Label("Law", absent="none")] = None
    preemptor: Annotated[Party, Label("Preemptor")]
    victim: Annotated[Party, Label("Victim")]
    text: Annotated[str, Label("Text", "answer")]


UNKNOWN: Final = "UNKNOWN"

REASONS: Final = {
    "prioritization in the ClusterQueue": "InClusterQueue",
    "reclamation within the cohort": "InCohortReclamation",
    "Fair Sharing within the cohort": "InCohortFairSharing",
    "reclamation within the cohort while borrowing": "InCohortReclaimWhileBorrowing",
}
"""Kueue's words for its reason codes (kueue ff69552e, ``HumanReadablePreemptionReasons``)."""

_JOB_UID: Final = "kueue.x-k8s.io/job-uid"

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


def parse_messages(text: str) -> tuple[PreemptionMessage, ...]:
    """Parse the texts of events or conditions, in their order; of equal ones the last.

    Text around them, as kubectl prints it, may stay. There is at least one.

    Raises ``ParseError`` if the text is too long, or holds none of Kueue about a preemption.
    """
    if len(text) > LONGEST:
        raise ParseError("message", f"{len(text)} characters", f"at most {LONGEST}")
    flat = " ".join(text.split())
    patterns = (_PREEMPTED, _PREEMPTED_WORKLOAD)
    found = [match for pattern in patterns for match in pattern.finditer(flat)]
    if not found:
        raise ParseError(
            "message",
            "this is no text of Kueue about a preemption",
            '"Preempted to accommodate a workload (UID: ...) ..." or "Preempted workload ..."',
        )
    found.sort(key=re.Match.start)
    # What is said of the two sides stands behind the beginning of a text, before that of the next.
    ends = [*(match.start() for match in found[1:]), len(flat)]
    parts = (flat[match.start() : end] for match, end in zip(found, ends, strict=True))
    said = [_parsed(match, part) for match, part in zip(found, parts, strict=True)]
    return tuple(one for n, one in enumerate(said) if one not in said[n + 1 :])


def _parsed(found: re.Match[str], text: str) -> PreemptionMessage:
    """Return what one text says, given where a pattern found its beginning."""
    if found.re is _PREEMPTED_WORKLOAD:
        victim = {"workload": found["key"], "uid": found["uid"], "cluster_queue": found["queue"]}
        return PreemptionMessage(
            kind="PreemptedWorkload",
            preemptor=_party(text, "preemptor"),
            victim=_party(text, "preemptee", **victim),
            text=found[0],
        )
    reason, law = REASONS.get(found["reason"] or ""), None
    if reason is not None:
        # The laws of all rule sets that give this reason: the text does not say which set it was.
        known = (
            law_behind(RULE_SETS[rules], reason) for rules in ("kueue-classical", "kueue-fair")
        )
        law = "/".join(one.id for one in known if one is not None)
    return PreemptionMessage(
        kind="Preempted",
        reason=reason,
        law=law,
        preemptor=_party(text, "preemptor", uid=found["uid"], job_uid=found["job"]),
        victim=_party(text, "preemptee"),
        text=found[0],
    )


def take_apart(text: str, state: State) -> tuple[PreemptionMessage, tuple[str, ...]]:
    """Parse the last text of those given, and name the workloads that the state knows.

    The notes beside it say how many others there are, and whom the state does not know.

    Raises ``LookupFailed`` if the text names somebody, and nothing of that is in the state.
    """
    *others, last = parse_messages(text)
    message, notes = resolve(last, state), list[str]()
    if others:
        count = len(others) + 1
        notes.append(f"this is the last of {count} texts about a preemption: give another alone")
    sides = {"preemptor": message.preemptor, "victim": message.victim}
    named = {side: _identity(one) for side, one in sides.items() if _identity(one)}
    there = {one.name for one in state.cluster_queues}
    queues = {one.cluster_queue for one in sides.values() if one.cluster_queue}
    missing = {
        side: who
        for side, who in named.items()
        if not sides[side].workload or state.workloads.find(sides[side].workload or "") is None
    }
    said = ", ".join(f"{side} with {who}" for side, who in missing.items())
    if not named and not queues:
        notes.append("the text names neither the preemptor nor the victim")
    elif missing.keys() == named.keys() and there.isdisjoint(queues):
        found = "nothing that the text names is in the state"
        raise LookupFailed(
            state.source,
            f"{found}: {said or ', '.join(sorted(queues))}",
            "the dump of the cluster that the text is of",
        )
    elif missing:
        notes.append(f"the state does not have who the text names, or no longer: {said}")
    return message, tuple(notes)


def _identity(party: Party) -> str:
    """Return by what a text names a workload, in words; empty if by nothing."""
    names = {"name": party.workload, "UID": party.uid, "job UID": party.job_uid}
    return ", ".join(f"{kind} {name}" for kind, name in names.items() if name)


def resolve(message: PreemptionMessage, state: State) -> PreemptionMessage:
    """Name the workloads whose UIDs the state knows.

    A job's UID names a preemptor as well, where its workload has been created anew since.
    """
    columns = state.workloads.columns
    keys = dict(zip(columns.uid, columns.key, strict=True))

    def named(party: Party) -> Party:
        key = party.workload or (keys.get(party.uid) if party.uid else None)
        if not key and party.job_uid:
            for workload in state.workloads:  # the last workload of the job
                if workload.metadata.labels.get(_JOB_UID) == party.job_uid:
                    key = workload.key
        return party.model_copy(update={"workload": key})

    sides = {"preemptor": named(message.preemptor), "victim": named(message.victim)}
    return message.model_copy(update=sides)


def _party(text: str, side: str, **given: str | None) -> Party:
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
