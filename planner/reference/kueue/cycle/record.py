"""A head with its decision, and what became of an entry and of a cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.context import Target, Tried
from planner.reference.kueue.decision import Decision
from planner.state.kueue_configuration import Configuration

Outcome = Literal[
    "admitted",
    "deferred",
    "inadmissible",
    "migrating",
    "noCandidates",
    "noFit",
    "notMigrated",
    "preempting",
    "preemptionGated",
    "skipped",
    "waitsForPodsReady",
]
"""What becomes of a head.

admitted         it fits and holds its quota from now on
preempting       its targets are evicted, it waits for them
deferred         it will fit once the preemptions of others are done
skipped          an earlier entry took the room or the targets
migrating        it fits; a variant of the same workload in a worse flavor is evicted for it
notMigrated      it fits; a variant in a worse flavor stays, as the own is not worth a migration
preemptionGated  it would preempt, but has a closed gate
noCandidates     it would have to preempt, but finds no targets
noFit            no flavor is left
inadmissible     it was not nominated
waitsForPodsReady  it fits, but the scheduler stops until the pods of all holders are ready
"""


class Decider(Protocol):
    """Decides for one workload alone on a snapshot; see ``planner.reference.kueue.decision``."""

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return flavors and targets; with ``nominated``, only flavors of that assignment.

        ``tried`` says how far the walks over the flavors came in earlier cycles.
        """
        ...


class Nominee(NamedTuple):
    """A head, and what was decided for it alone on the state at the start of the cycle.

    ``preempts`` says that it preempted in an earlier cycle, and is not admitted yet.
    """

    preemptor: Preemptor
    decision: Decision
    preempts: bool = False


class Entry(Struct, frozen=True):
    """What became of a head.

    ``decision`` is the last decision, after any recomputation, ``None`` for an inadmissible head.
    The reasons are Kueue's words: ``requeue_reason`` decides where the workload waits next,
    ``quota_reserved_reason`` stands in its condition QuotaReserved. ``message`` is Kueue's text
    on an inadmissible head.
    """

    preemptor: Preemptor
    outcome: Outcome
    decision: Decision | None
    requeue_reason: str = ""
    quota_reserved_reason: str = ""
    message: str = ""

    @property
    def assignment(self) -> Assignment | None:
        """The flavors that the head got; under ``deferred`` every mode means DeferredFit."""
        return self.decision.assignment if self.decision else None

    def as_said(self, configuration: Configuration) -> Entry:
        """Return the entry with the reasons that the release gives: older releases give fewer."""
        rules, requeue, reserved = configuration.rules, self.requeue_reason, ""
        if self.outcome in {"noFit", "noCandidates"} and not rules.says_why_requeued:
            requeue = ""
        if self.outcome != "noFit" or configuration.gate("UnadmittedWorkloadsObservability"):
            reserved = self.quota_reserved_reason if rules.says_why_unadmitted else ""
        return replace(self, requeue_reason=requeue, quota_reserved_reason=reserved)

    @property
    def targets(self) -> tuple[Target, ...]:
        """Kueue's targets in its order: the replaced slice, then the workloads to preempt."""
        return self.decision.targets if self.decision else ()


class Schedule(Struct, frozen=True):
    """What became of the heads in one scheduling cycle.

    ``entries`` stand in the order of processing, ``inadmissible`` in that of the queues.
    ``evicted`` are the targets of entries that preempt or migrate, without targets that were
    already evicted; ``finished`` are the slices of elastic workloads that were replaced.
    """

    entries: tuple[Entry, ...]
    inadmissible: tuple[Entry, ...]
    evicted: tuple[Target, ...]
    finished: tuple[Admitted, ...]

    @property
    def blocked(self) -> bool:
        """Whether the scheduler stopped inside the last entry, and came to no entry behind it."""
        return any(entry.outcome == "waitsForPodsReady" for entry in self.entries[-1:])


class Cycle(Schedule, frozen=True):
    """One scheduling cycle on a state; ``snapshot`` is that of the state at the start.

    ``left`` and ``parked`` have the keys of waiting workloads by ClusterQueue: those ``left`` are
    in queue order and compete in the next cycle, those ``parked`` wait for something to change.
    ``not_queued`` has the workloads that wait in no queue, by key, with Kueue's message. Where
    ``blocked``, the cycle is not over.
    """

    snapshot: Snapshot
    left: Mapping[str, tuple[str, ...]]
    parked: Mapping[str, tuple[str, ...]]
    not_queued: Mapping[str, str]
