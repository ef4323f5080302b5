"""What happened in a simulation, in every format, and its timeline as JSONL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from planner.quantity import plural
from planner.report import document as doc
from planner.report.covered import assumed
from planner.report.document import NONE, NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.labelled import labelled_lines, labelled_table
from planner.report.style import Renderer, renderer
from planner.report.text import age, moment, short, some_of
from planner.report.words import noted, work_in
from planner.research.simulate.record import Event, Fate, Feud, Simulation, Storm, Use
from planner.research.wing import amounts
from planner.scheduler import scheduler_of

MOST_LOOPS: Final = 3
MOST_ROWS: Final = 40

ENDED: Final = {
    "settled": "nothing moves any more",
    "loop": "nothing moves any more but loops, for ever",
    "until": "the time was over",
    "cycles": "the number of cycles was reached",
}
BY_PLANS: Final = {
    "optimum": "the least disruptive plan by {objective}",
    "stable": "the least disruptive plan by {objective}, of those after which no victim would "
    "preempt again where there are such",
    "boost": "the least disruptive plan by {objective} where priority boosts lead to it, {own} "
    "elsewhere",
}
"""Writes an amount of a resource as people do."""


def render_timeline(answer: Simulation) -> str:
    """Return the timeline as JSONL: one event a line, under the schema ``event``, in ASCII."""
    rows = (event.model_dump(mode="json", exclude_none=True) for event in answer.timeline)
    return "".join(json.dumps(row) + "\n" for row in rows)


def document(answer: Simulation) -> doc.Document:
    """Return the document: the loops, the events, and the fate of each workload."""
    loops = []
    for number, loop in enumerate(answer.loops[:MOST_LOOPS], start=1):
        often = "and so on for ever" if loop.endless else f"seen {plural(loop.rounds, 'time')}"
        round_ = f"{plural(loop.evictions, 'eviction')} in {age(loop.period_s)}, {often}"
        title = f"LOOP {number}: {round_}, first {age(loop.first_s)} after the start"
        story = [f"  {sentence}" for sentence in loop.story[:MOST_ROWS]]
        if len(loop.story) > MOST_ROWS:
            story.append(f"  ... {len(loop.story) - MOST_ROWS:,} more")
        text = doc.Paragraph("\n".join(story))
        loops.append(Section(title, (text,), heads=True, tone="bad"))
    left_out = len(answer.loops) - MOST_LOOPS
    said = f"... {plural(left_out, 'more loop')}, use --format json"
    more = (doc.Paragraph(said, "dim"),) if left_out > 0 else ()
    sections = (
        *loops,
        Section("More loops", more),
        *_found(answer),
        Section("What happened", tuple(_timeline(answer))),
        Section("What became of whom", (_fate_table(answer),)),
        Section("What was in use", (_use_table(answer),)),
        noted(answer.notes),
    )
    return doc.Document("Simulation", tuple(_head(answer)), sections)


def _head(answer: Simulation) -> Iterator[Fact]:
    yield from assumed(answer.coverage)
    totals, called = answer.totals, scheduler_of(answer).words
    own, noun = called.choice, called.noun
    by_plans = BY_PLANS.get(answer.decider, own)
    decider = by_plans.format(objective=answer.objective or "", own=own)
    ended = f"{age(answer.duration_s)}: {plural(answer.cycles, 'cycle')}; {ENDED[answer.ended]}"
    evicted = f"{plural(totals.evictions, 'eviction')} of {plural(totals.evicted, noun)}"
    work = work_in(use.resource for use in answer.use)
    lost = f"{age(totals.lost_s)} of their runs, {work.lost(totals.lost_work)} {work.hours}"
    yield Fact("Scheduler", Cell(called.name))
    yield Fact("Victims by", Cell(decider))
    yield Fact("Start", Cell(moment(answer.start)))
    yield Fact("Simulated", Cell(ended))
    happened = f"{evicted}; lost {lost}" if totals.evictions else "none"
    yield Fact("Evictions", Cell(happened, tone="strong"), "answer")
    yield Fact("Waiting", Cell(f"{age(totals.waiting_s)} in all"))
    yield Fact("Finished", Cell(f"{totals.finished:,} of {plural(totals.workloads, noun)}"))
    if answer.endless_runs:
        told = f"unknown for {plural(answer.endless_runs, noun)}, taken as endless"
        yield Fact("Run times", Cell(f"{told}; --script FILE gives them", tone="warn"))
    found = [
        plural(len(answer.loops), "loop"),
        f"{plural(len(answer.feuds), 'pair')} that evicted each other",
        f"{plural(len(answer.storms), noun)} evicted more than {plural(answer.storm, 'time')}",
    ]
    tone: doc.Tone = "bad" if answer.loops or answer.feuds or answer.storms else "good"
    yield Fact("Findings", Cell(", ".join(found), tone=tone), "badge")
    if answer.unproved:
        unproved = f"{plural(answer.unproved, 'decision')} not proved best in time"
        yield Fact("Unproved", Cell(unproved, tone="warn"))


def _timeline(answer: Simulation) -> Iterator[doc.Block]:
    """Yield the events; only evictions where the events are many."""
    events = answer.timeline
    if len(events) > MOST_ROWS:
        events = tuple(one for one in events if one.kind == "preempted")
        count = f"{len(answer.timeline):,}"
        yield doc.Paragraph(f"Evictions only, of {count} events; --timeline FILE has all.", "dim")
    if events:
        by = Column[Event](
            "By", lambda row: _called(answer, row.by), folds=True, below=_noun(answer)
        )
        own = {**_subject(answer), "by": by}
        yield labelled_table("One event after another", events, own, most=MOST_ROWS)


def _noun(answer: Simulation) -> str:
    return scheduler_of(answer).words.noun.title()


def _called(answer: Simulation, key: str | None) -> Cell:
    return name(answer.called(key)) if key else NONE


def _subject(answer: Simulation) -> dict[str, Column[Any]]:
    called = Column[Any](_noun(answer), lambda row: _called(answer, row.workload), folds=True)
    return {"workload": called}


def _found(answer: Simulation) -> Iterator[Section]:
    """Yield the pairs that evicted each other, and the workloads that were evicted too often."""
    called = answer.called
    feuds: list[Column[Feud]] = [
        Column("They evicted each other", lambda row: name(called(row.first)), folds=True),
        Column("was evicted", lambda row: plural(row.first_evicted, "time"), number=True),
        Column("by, and evicted", lambda row: name(called(row.second)), folds=True),
        Column("", lambda row: plural(row.second_evicted, "time"), number=True),
    ]
    pairs = table("Pairs that evicted each other", feuds, answer.feuds, most=MOST_ROWS)
    yield Section("Who evicted each other", (pairs,))

    def most_by(storm: Storm) -> str:
        most = [f"{short(called(key))} ({n:,})" for key, n in islice(storm.by.items(), 3)]
        return some_of(most, len(storm.by))

    storms: list[Column[Storm]] = [
        Column("Evicted too often", lambda row: name(called(row.workload)), folds=True),
        Column("Evictions", lambda row: f"{row.evictions:,}", number=True),
        Column("Mostly by", most_by, folds=True),
    ]
    title = "Evicted more often than is no storm yet"
    often = table(title, storms, answer.storms, most=MOST_ROWS)
    yield Section("Who was evicted too often", (often,))


def _fate_table(answer: Simulation) -> doc.Table:
    rows = sorted(answer.workloads, key=lambda one: (-one.evictions, -one.waiting_s))
    work = work_in(use.resource for use in answer.use)
    lost = Column[Fate](f"Lost {work.short}", lambda row: work.lost(row.lost_work), number=True)
    own = {**_subject(answer), "lost_work": lost}
    title = "Waiting, running and lost, those evicted most often first"
    return labelled_table(title, rows, own, most=MOST_ROWS)


def _use_table(answer: Simulation) -> doc.Table:
    written = amounts()[answer.scheduler]

    def capacity(use: Use) -> str:
        return NOTHING if use.capacity is None else written(use.capacity, use.resource)

    own = {"capacity": Column("Capacity", capacity, number=True)}
    return labelled_table("Use of capacity, on average", answer.use, own, most=MOST_ROWS)


render = renderer(labelled_lines, document)
RENDERERS: Final[dict[type, Renderer[Any]]] = {Simulation: render}
"""How the answers of the wing are written, by their classes."""
