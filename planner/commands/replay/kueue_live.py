"""What a live cluster did between two dumps, against the replay of the first.

Kueue notes for every victim which preemptor it had to make room for: in the condition ``Preempted``
with the UID of the preemptor, and in an Event that says the same and outlives the condition. The
notes of the second dump that are newer than the first dump show what the scheduler did; the replay
of the first dump shows what it should have done: by itself, or in the cycle with all other heads.
Where the two differ, features of the first dump that are not modelled may explain it.

Source: docs/semantics/kueue-features.md §10 (rule E26).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Literal

from planner.commands.replay.comparison import Outcome
from planner.coverage.kueue import KueueCoverage
from planner.errors import InputError, PlannerError
from planner.plan import Record, Uncovered
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.cycle.turn import next_turn
from planner.reference.kueue.decision import decide
from planner.state import AnyState
from planner.state.kueue import State
from planner.state.kueue_workload import preemptor_uid


class Observed(Record):
    """One preemptor of the first dump: whom Kueue evicted for it, and whom the replay names.

    Both are namespace/name, sorted: conditions do not tell the order. ``detail`` says what differs,
    why nothing can be compared, or whom Kueue evicted in a later decision. ``coverage`` is what the
    first dump holds that is not modelled, where the two differ.
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
    # Victims by the UID of their preemptor, and when they were evicted.
    evicted: dict[str, dict[str, datetime]] = {}
    for key, text, moment in _said(before, after):
        if uid := preemptor_uid(text):
            evicted.setdefault(uid, {}).setdefault(key, moment)  # condition and event say the same
    rows = []
    for uid, victims in evicted.items():
        whom, gone = preemptors.get(uid, uid), tuple(sorted(victims))
        detail = "" if uid in preemptors else "the preemptor came after the dump before"
        row = Observed(preemptor=whom, outcome="skipped", evicted=gone, replayed=(), detail=detail)
        rows.append(row if detail else _compared(before, snapshot, known, row, victims))
    counts = Counter(row.outcome for row in rows)
    return LiveReplay(
        before=before.source,
        after=after.source,
        preemptors=tuple(rows),
        equal=counts["equal"],
        different=counts["different"],
        skipped=counts["skipped"],
    )


def _said(before: State, after: State) -> Iterator[tuple[str, str, datetime]]:
    """Yield victims with Kueue's message and its time, for preemptions only in the second dump.

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
            yield victim.key, said.message, moment or before.now
    for event in after.events:
        late = event.at is not None and event.at > before.now
        if late and event.reason == "Preempted" and event.about.kind == "Workload":
            namespace = event.about.namespace or event.metadata.namespace
            yield f"{namespace}/{event.about.name}", event.message, event.at or before.now


def _compared(
    before: State,
    snapshot: Snapshot,
    known: KueueCoverage,
    row: Observed,
    moments: Mapping[str, datetime],
) -> Observed:
    """Compare with what Kueue decides for the preemptor alone, and else with its next cycle.

    A decision that Kueue can only have made in a later cycle, on another state, is no difference.
    """
    try:
        preemptor = find_preemptor(before, snapshot, row.preemptor)
    except PlannerError as error:
        return row.model_copy(update={"detail": str(error)})
    decision = decide(snapshot, preemptor)
    # Kueue evicts no target again that it is evicting already: it only waits for it.
    targets = (one.workload for one in decision.search.targets)
    replayed = tuple(sorted(one.key for one in targets if not one.evicted))
    only_kueue, only_here, later = _difference(moments, replayed)
    if only_kueue or only_here:
        # The heads before it may leave it other victims than it would have alone.
        turn = next_turn(before, snapshot, preemptor, decision)
        if turn is not None and turn.targets:
            replayed = tuple(sorted(turn.targets))
            only_kueue, only_here, later = _difference(moments, replayed)
    found: dict[str, object] = {"replayed": replayed}
    if not only_kueue and not only_here:
        detail = f"in a later decision Kueue evicted {', '.join(later)} as well" if later else ""
        return row.model_copy(update={**found, "outcome": "equal", "detail": detail})
    held_back = why_held_back(before, snapshot, preemptor, decision)
    if held_back is not None:
        detail = f"Kueue decided in a later cycle: in the next one {held_back.text}"
        return row.model_copy(update={**found, "detail": detail})
    differences = []
    if only_kueue:
        differences.append(f"Kueue evicted {', '.join(only_kueue)}, the replay does not")
    if only_here:
        differences.append(f"the replay evicts {', '.join(only_here)}, Kueue did not")
    found |= {"outcome": "different", "detail": "; ".join(differences)}
    return row.model_copy(update={**found, "coverage": known.unmodelled(row.preemptor)})


def _difference(
    moments: Mapping[str, datetime], replayed: Collection[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return who is evicted by Kueue only, by the replay only, and by Kueue in a later decision.

    ``moments`` says when Kueue evicted whom. Whom it evicted after all victims of the replay, it
    evicted in another decision: those of one have the same second, as a rule.
    """
    only_kueue = sorted(moments.keys() - {*replayed})
    only_here = sorted({*replayed} - moments.keys())
    first = max((moments[key] for key in replayed if key in moments), default=None)
    if first is None or only_here:
        return only_kueue, only_here, []
    later = [key for key in only_kueue if moments[key] > first]
    return [key for key in only_kueue if key not in later], [], later
