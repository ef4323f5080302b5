"""What a live cluster did between two dumps, against the replay of the first.

Kueue notes for every victim which preemptor it had to make room for: in the condition ``Preempted``
with the UID of the preemptor, which says so also once the victim is admitted again, and in an Event
that outlives both. The notes of the second dump that are newer than the first dump show what the
scheduler did; the replay of the first dump shows what it should have done: by itself, or in the
cycle with all other heads. Where the two differ, features of the first dump that are not modelled
may explain it. Of a workload that was evicted several times the condition has the last time only.

Source: docs/semantics/kueue-features.md §10 (rule E26).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, NamedTuple

from planner.commands.replay.comparison import Outcome
from planner.coverage.kueue import KueueCoverage
from planner.errors import InputError, PlannerError
from planner.plan import Record, Uncovered
from planner.plan.label import Label, Tone
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.reference.kueue.cycle.nomination import why_held_back
from planner.reference.kueue.cycle.turn import next_turn
from planner.reference.kueue.decision import decide
from planner.state import AnyState
from planner.state.kueue import State
from planner.state.kueue_workload import PREEMPTED, PREVIOUSLY, Workload, preemptor_uid

UNNAMED: Final = ""
"""Stands for the UID of a preemptor that nothing names any more."""


TONES: Final[Mapping[str, Tone]] = {"equal": "good", "different": "bad", "skipped": "dim"}


class Eviction(NamedTuple):
    """A workload that was evicted for another one, by its key, and when.

    ``at`` is ``None`` once only the moment is told in which it was admitted again, ``by``.
    """

    key: str
    at: datetime | None
    by: datetime


class Observed(Record):
    """One preemptor of the first dump: whom Kueue evicted for it, and whom the replay names.

    The preemptor is a UID if the first dump does not have it, and empty if nothing names it. Both
    are namespace/name, sorted: conditions do not tell the order. ``detail`` says what differs,
    why nothing can be compared, or whom Kueue evicted in a later decision. ``coverage`` is what the
    first dump holds that is not modelled, where the two differ.
    """

    preemptor: Annotated[str, Label("Preemptor", "key")]
    outcome: Annotated[Outcome, Label("Outcome", "code", tones=TONES)]
    evicted: Annotated[tuple[str, ...], Label("Kueue evicted", "name")]
    replayed: Annotated[tuple[str, ...], Label("The replay", "name")]
    detail: Annotated[str, Label("Difference", "text")] = ""
    coverage: Annotated[tuple[Uncovered, ...], Label(plain="uncovered")] = ()


class LiveReplay(Record):
    """All preemptors for which somebody was evicted between two dumps."""

    kind: Literal["live"] = "live"
    before: Annotated[str, Label("Before")]
    after: Annotated[str, Label("After")]
    preemptors: Annotated[tuple[Observed, ...], Label("Victims")]
    equal: Annotated[int, Label()]
    different: Annotated[int, Label()]
    skipped: Annotated[int, Label()]


def replay_live(before: AnyState, after: AnyState) -> LiveReplay:
    """Compare what Kueue did after a dump, as a later dump shows, with the replay of the first.

    Raises ``InputError`` if the dumps are not of Kueue, or the second is not the later one.
    """
    if not isinstance(before, State) or not isinstance(after, State):
        raise InputError(before.source, "two dumps of Kueue are compared, not of others")
    if after.now < before.now:
        hint = "the older dump comes first: to replay it goes to --before"
        raise InputError(after.source, "is older than the dump before it", hint=hint)
    rows = observed(before, evictions(before, after))
    counts = Counter(row.outcome for row in rows)
    return LiveReplay(
        before=before.source,
        after=after.source,
        preemptors=tuple(rows),
        equal=counts["equal"],
        different=counts["different"],
        skipped=counts["skipped"],
    )


def observed(before: State, evicted: Mapping[str, Collection[Eviction]]) -> list[Observed]:
    """Compare what Kueue did for preemptors, given by their UIDs, with the replay of a state."""
    snapshot = take_snapshot(before, placing=bool(before.nodes))
    known = KueueCoverage(before)
    columns = before.workloads.columns
    preemptors = dict(zip(columns.uid, columns.key, strict=True))
    preemptors.pop("", None)
    rows = []
    for uid, some in evicted.items():
        whom, gone = preemptors.get(uid, uid), tuple(sorted({one.key for one in some}))
        row = Observed(preemptor=whom, outcome="skipped", evicted=gone, replayed=())
        if uid in preemptors:
            rows.append(_compared(before, snapshot, known, row, some))
            continue
        why = "the preemptor came after the dump before"
        if uid == UNNAMED:
            why = "evicted several times: for whom before the last time, no dump says"
        rows.append(row.model_copy(update={"detail": why}))
    return rows


def evictions(before: State, after: State) -> dict[str, tuple[Eviction, ...]]:
    """Return who was evicted between two dumps, by the UIDs of their preemptors.

    What a condition tells of a workload that stands in the first dump, too, is new if it tells of
    another preemption there, whatever the clocks say, which have whole seconds only. Conditions of
    other workloads, and Events, are new by their time.
    """
    found = defaultdict[str, dict[str, Eviction]](dict)
    since = before.now.replace(microsecond=0)
    places = {key: place for place, key in enumerate(before.workloads.keys)}
    for victim in _once_preempted(after):
        last, place = victim.last_preemption, places.get(victim.key)
        if last is None:
            continue
        old = None if place is None else before.workloads[place].last_preemption
        moment = last.at or last.back or before.now
        if not last.is_another(old) or (place is None and moment < since):
            continue
        found[last.uid][victim.key] = Eviction(victim.key, last.at, moment)
        if last.times - (old.times if old else 0) > 1:
            found[UNNAMED][victim.key] = Eviction(victim.key, None, moment)
    for event in after.events:
        uid, about = preemptor_uid(event.message), event.about
        late = event.at is not None and event.at > before.now
        if uid and late and event.reason == PREEMPTED and about.kind == "Workload":
            key = f"{about.namespace or event.metadata.namespace}/{about.name}"
            told = found[uid].get(key)  # its condition says the same, but perhaps not when
            if event.at is not None and (told is None or told.at is None):
                found[uid][key] = Eviction(key, event.at, event.at)
    return {uid: tuple(some.values()) for uid, some in found.items()}


def _once_preempted(state: State) -> Iterator[Workload]:
    """Yield the workloads that may have been preempted, all that are admitted again among them."""
    columns, said = state.workloads.columns, PREVIOUSLY.encode()
    for place, (source, is_text) in enumerate(zip(columns.source, columns.is_text, strict=True)):
        if not is_text or said in bytes(source):
            yield state.workloads[place]


def _compared(
    before: State,
    snapshot: Snapshot,
    known: KueueCoverage,
    row: Observed,
    evicted: Collection[Eviction],
) -> Observed:
    """Compare with what Kueue decides for the preemptor alone, and else with its next cycle.

    What Kueue did in a later cycle, on another state, or may have done there, is no difference.
    """
    try:
        preemptor = find_preemptor(before, snapshot, row.preemptor)
    except PlannerError as error:
        return row.model_copy(update={"detail": str(error)})
    decision = decide(snapshot, preemptor)
    # Kueue evicts no target again that it is evicting already: it only waits for it.
    targets = (one.workload for one in decision.search.targets)
    replayed = tuple(sorted(one.key for one in targets if not one.evicted))
    only_kueue, only_here, later = _difference(evicted, replayed)
    if only_kueue or only_here:
        # The heads before it may leave it other victims than it would have alone.
        turn = next_turn(before, snapshot, preemptor, decision)
        if turn is not None and turn.targets:
            replayed = tuple(sorted(turn.targets))
            only_kueue, only_here, later = _difference(evicted, replayed)
    found: dict[str, object] = {"replayed": replayed}
    if not only_kueue and not only_here:
        detail = f"in a later decision Kueue evicted {', '.join(later)} as well" if later else ""
        return row.model_copy(update={**found, "outcome": "equal", "detail": detail})
    held_back = why_held_back(before, snapshot, preemptor, decision)
    if held_back is not None:
        detail = f"Kueue decided in a later cycle: in the next one {held_back.text}"
        return row.model_copy(update={**found, "detail": detail})
    untold = sorted({one.key for one in evicted if one.at is None})
    if untold and not only_here:
        detail = (
            f"no dump says when Kueue evicted {', '.join(untold)}, admitted again since: "
            "it may have been in another decision"
        )
        return row.model_copy(update={**found, "detail": detail})
    differences = []
    if only_kueue:
        differences.append(f"Kueue evicted {', '.join(only_kueue)}, the replay does not")
    if only_here:
        differences.append(f"the replay evicts {', '.join(only_here)}, Kueue did not")
    found |= {"outcome": "different", "detail": "; ".join(differences)}
    return row.model_copy(update={**found, "coverage": known.unmodelled(row.preemptor)})


def _difference(
    evicted: Collection[Eviction], replayed: Collection[str]
) -> tuple[list[str], list[str], list[str]]:
    """Return who is evicted by Kueue only, by the replay only, and by Kueue in a later decision.

    Whom Kueue evicted after all victims of the replay, it evicted in another decision: the moments
    of one are in the same second, as a rule.
    """
    first = dict[str, Eviction]()
    for one in evicted:
        first.setdefault(one.key, one)
    only_here = sorted({*replayed} - first.keys())
    last = max((first[key].by for key in replayed if key in first), default=None)
    later = {
        one.key
        for one in evicted
        if last and not only_here and one.at is not None and one.at > last
    }
    return sorted(first.keys() - {*replayed} - later), only_here, sorted(later)
