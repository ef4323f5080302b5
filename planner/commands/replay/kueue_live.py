"""What a live cluster did between two dumps, against the replay of the first.

Kueue notes for every victim which preemptor it had to make room for: in the condition ``Preempted``
with the UID of the preemptor, and in an Event that says the same and outlives the condition. The
notes of the second dump that are newer than the first dump show what the scheduler did; the replay
of the first dump shows what it should have done. Where the two differ, features of the first dump
that are not modelled may explain it.

Source: docs/semantics/kueue-features.md §10 (rule E26).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Literal

from planner.commands.replay.comparison import Outcome
from planner.coverage.kueue import KueueCoverage
from planner.errors import InputError, PlannerError
from planner.plan import Record, Uncovered
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.decision import decide
from planner.state import AnyState
from planner.state.kueue import State
from planner.state.kueue_workload import preemptor_uid


class Observed(Record):
    """One preemptor of the first dump: whom Kueue evicted for it, and whom the replay names.

    Both are namespace/name, sorted: conditions do not tell the order. ``detail`` says what differs,
    or why nothing can be compared. ``coverage`` is what the first dump holds that is not modelled,
    where the two differ.
    """

    preemptor: str
    outcome: Outcome
    evicted: tuple[str, ...]
    replayed: tuple[str, ...]
    detail: str = ""
    coverage: tuple[Uncovered, ...] = ()


class LiveReplay(Record):
    """All preemptors for which somebody was evicted between two dumps."""

    kind: Literal["live"] = "live"
    before: str
    after: str
    preemptors: tuple[Observed, ...]
    equal: int
    different: int
    skipped: int


def replay_live(before: AnyState, after: AnyState) -> LiveReplay:
    """Compare what Kueue did after a dump, as a later dump shows, with the replay of the first.

    Raises ``InputError`` if the dumps are not of Kueue, or the second is not the later one.
    """
    if not isinstance(before, State) or not isinstance(after, State):
        raise InputError(before.source, "two dumps of Kueue are compared, not of others")
    if after.now < before.now:
        hint = "the older dump comes first: to replay it goes to --before"
        raise InputError(after.source, "is older than the dump before it", hint=hint)
    snapshot = take_snapshot(before, placing=bool(before.nodes))
    known = KueueCoverage(before)
    preemptors = {one.uid: one.key for one in before.workloads.entries if one.uid}
    evicted: dict[str, set[str]] = {}  # victims by the UID of their preemptor
    for key, text in _said(before, after):
        if uid := preemptor_uid(text):
            evicted.setdefault(uid, set()).add(key)  # the condition and the event say the same
    rows = []
    for uid, victims in evicted.items():
        whom, gone = preemptors.get(uid, uid), tuple(sorted(victims))
        detail = "" if uid in preemptors else "the preemptor came after the dump before"
        row = Observed(preemptor=whom, outcome="skipped", evicted=gone, replayed=(), detail=detail)
        rows.append(row if detail else _compared(before, snapshot, known, row))
    counts = Counter(row.outcome for row in rows)
    return LiveReplay(
        before=before.source,
        after=after.source,
        preemptors=tuple(rows),
        equal=counts["equal"],
        different=counts["different"],
        skipped=counts["skipped"],
    )


def _said(before: State, after: State) -> Iterator[tuple[str, str]]:
    """Yield victims with Kueue's message, for all preemptions that only the second dump shows.

    A condition of a workload in the first dump that did not have it there is new, whatever the
    clocks say, which have whole seconds only. Events, and conditions of later workloads, are new
    by their time.
    """
    earlier = {one.key: one.condition("Preempted") for one in before.workloads.unusual()}
    there = {*before.workloads.keys}
    for victim in after.workloads.unusual():
        said, old = victim.condition("Preempted"), earlier.get(victim.key)
        if said is None or not said.is_true:
            continue
        moment = said.last_transition_time
        shown = old is not None and old.is_true and old.last_transition_time == moment
        if not shown and (victim.key in there or (moment or before.now) > before.now):
            yield victim.key, said.message
    for event in after.events:
        late = event.at is not None and event.at > before.now
        if late and event.reason == "Preempted" and event.about.kind == "Workload":
            namespace = event.about.namespace or event.metadata.namespace
            yield f"{namespace}/{event.about.name}", event.message


def _compared(before: State, snapshot: Snapshot, known: KueueCoverage, row: Observed) -> Observed:
    try:
        preemptor = find_preemptor(before, snapshot, row.preemptor)
    except PlannerError as error:
        return row.model_copy(update={"detail": str(error)})
    targets = (one.workload for one in decide(snapshot, preemptor).search.targets)
    # Kueue evicts no target again that it is evicting already: it only waits for it.
    replayed = tuple(sorted(one.key for one in targets if not one.evicted))
    differences = []
    if only_kueue := sorted({*row.evicted} - {*replayed}):
        differences.append(f"Kueue evicted {', '.join(only_kueue)}, the replay does not")
    if only_here := sorted({*replayed} - {*row.evicted}):
        differences.append(f"the replay evicts {', '.join(only_here)}, Kueue did not")
    found: dict[str, object] = {"outcome": "equal", "replayed": replayed}
    if differences:
        found |= {"outcome": "different", "detail": "; ".join(differences)}
        found["coverage"] = known.unmodelled(row.preemptor)
    return row.model_copy(update=found)
