"""What happened in a simulation, in every format, and its timeline as JSONL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

from planner.quantity import plural
from planner.report import document as doc
from planner.report.covered import assumed, uncovered_lines
from planner.report.document import NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.style import Renderer, Said, each, field_lines, fields, line, renderer
from planner.report.text import age, moment, short, some_of
from planner.report.words import work_in
from planner.research.simulate.record import Event, Fate, Feud, Simulation, Storm, Use
from planner.scheduler import Part, scheduler_of

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
AMOUNT: Final = Part[Callable[[int, str], str]]("amount")
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

        def by(row: Event) -> Cell | str:
            return name(answer.called(row.by)) if row.by else NOTHING

        noun = scheduler_of(answer).words.noun.title()
        columns: list[Column[Event]] = [
            Column("Second", lambda row: f"{row.at_s:,}", number=True),
            Column("Cycle", lambda row: f"{row.cycle:,}", number=True, rank=1),
            Column("What", lambda o: Cell(o.kind, tone="bad" if o.kind == "preempted" else "")),
            Column(noun, lambda row: name(answer.called(row.workload)), folds=True),
            Column("Queue", lambda row: name(row.queue), folds=True, below=noun),
            Column("By", by, folds=True, below=noun),
            Column("Why", lambda row: row.reason or NOTHING),
        ]
        yield table("One event after another", columns, events, most=MOST_ROWS)


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
    noun = scheduler_of(answer).words.noun.title()
    columns: list[Column[Fate]] = [
        Column(noun, lambda row: name(answer.called(row.workload)), folds=True),
        Column("Queue", lambda row: name(row.queue), folds=True, below=noun),
        Column("Priority", lambda row: str(row.priority), number=True, rank=1),
        Column("At the end", lambda row: row.standing),
        Column("Evictions", lambda o: f"{o.evictions:,}" if o.evictions else NOTHING, number=True),
        Column("Waited", lambda row: age(row.waiting_s), number=True),
        Column("Ran", lambda row: age(row.running_s), number=True, rank=3),
        Column("Lost", lambda row: age(row.lost_s), number=True, rank=2),
        Column(f"Lost {work.short}", lambda row: work.lost(row.lost_work), number=True),
    ]
    title = "Waiting, running and lost, those evicted most often first"
    return table(title, columns, rows, most=MOST_ROWS)


def _use_table(answer: Simulation) -> doc.Table:
    def capacity(use: Use) -> str:
        if use.capacity is None:
            return NOTHING
        return AMOUNT.of(answer)(use.capacity, use.resource)

    columns: list[Column[Use]] = [
        Column("Flavor", lambda row: name(row.flavor) if row.flavor else NOTHING, folds=True),
        Column("Resource", lambda row: name(row.resource), folds=True),
        Column("Capacity", capacity, number=True),
        Column("In use", lambda row: NOTHING if row.share is None else f"{row.share:.1%}"),
    ]
    return table("Use of capacity, on average", columns, answer.use, most=MOST_ROWS)


def _lines(answer: Simulation) -> Iterator[str]:
    yield from field_lines(answer, "scheduler decider")
    yield from uncovered_lines(answer.coverage)
    if answer.objective is not None:
        yield line("objective", answer.objective)
    yield line("start", moment(answer.start))
    yield from field_lines(answer, "duration_s cycles ended unproved endless_runs")
    for total, value in answer.totals.model_dump().items():
        yield line(f"total_{total}", value)
    for number, loop in enumerate(answer.loops, start=1):
        facts = fields(loop, "first_s period_s cycles rounds evictions endless")
        yield line("loop", number, **facts)
        yield from each("story", map(Said, loop.story), number)
    for feud in answer.feuds:
        evicted = fields(feud, "first_evicted second_evicted")
        yield line("feud", feud.first, feud.second, **evicted)
    for storm in answer.storms:
        yield line("storm", storm.workload, evictions=storm.evictions)
    for use in answer.use:
        share = "none" if use.share is None else use.share
        yield line("use", use.flavor, use.resource, share=share)
    names = "standing queue evictions waiting_s running_s lost_s lost_work"
    for fate in answer.workloads:
        called = answer.names.get(fate.workload)
        yield line("workload", fate.workload, **fields(fate, names), name=called)
    for event in answer.timeline:
        facts = fields(event, "cycle queue by reason node lost_s")
        yield line("event", event.at_s, event.kind, event.workload, **facts)


render = renderer(_lines, document)
RENDERERS: Final[dict[type, Renderer[Any]]] = {Simulation: render}
"""How the answers of the wing are written, by their classes."""
