"""What happened in a simulation: as tables, as plain lines, as JSON, and its timeline as JSONL."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.report.paper import Column, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.table_parts import NOTHING
from planner.report.text import age, clean, hours, moment, plural, short, word
from planner.scheduler import Part, scheduler_of
from planner.simulation.record import Event, Fate, Feud, Loop, Simulation, Storm, Use

MOST_LOOPS: Final = 3
MOST_ROWS: Final = 40

ENDED: Final = {
    "settled": "nothing moves any more",
    "loop": "nothing moves any more but loops, for ever",
    "until": "the time was over",
    "cycles": "the number of cycles was reached",
}
BY_OPTIMUM: Final = "the least disruptive plan by {objective}"
SCHEDULE: Final = "{time}: {cycles}; {ended}"
ROUND: Final = "LOOP {number}: {evictions} in {period}, {often}"
FOR_EVER: Final = "and so on for ever"
ONLY_EVICTIONS: Final = "Evictions only, of {all:,} events; --timeline FILE has all."
MORE_LOOPS: Final = "... {count:,} more loops, use --format json"


AMOUNT: Final = Part[Callable[[int, str], str]]("amount")
"""Writes an amount of a resource as people do."""


def render(answer: Simulation, style: str, *, width: int, color: bool) -> str:
    """Return the answer in a style: ``table``, ``plain`` or ``json``."""
    return in_style(answer, style, _lines, _parts, width=width, color=color)


def render_timeline(answer: Simulation) -> str:
    """Return the timeline as JSONL: one event a line, under the schema ``event``, in ASCII."""
    rows = (event.model_dump(mode="json", exclude_none=True) for event in answer.timeline)
    return "".join(json.dumps(row) + "\n" for row in rows)


def _parts(answer: Simulation) -> Iterator[RenderableType]:
    yield _header(answer)
    for number, loop in enumerate(answer.loops[:MOST_LOOPS], start=1):
        yield _loop_text(loop, number)
    if len(answer.loops) > MOST_LOOPS:
        yield Text(MORE_LOOPS.format(count=len(answer.loops) - MOST_LOOPS), "dim")
    if answer.feuds:
        yield _feud_table(answer.feuds)
    if answer.storms:
        yield _storm_table(answer)
    events = answer.timeline
    if len(events) > MOST_ROWS:
        events = tuple(one for one in events if one.kind == "preempted")
        yield Text(ONLY_EVICTIONS.format(all=len(answer.timeline)), "dim")
    if events:
        yield _timeline_table(answer, events)
    if answer.workloads:
        yield _fate_table(answer)
    if answer.use:
        yield _use_table(answer)


def _header(answer: Simulation) -> Table:
    totals = answer.totals
    called = scheduler_of(answer).words
    optimum = BY_OPTIMUM.format(objective=clean(answer.objective or ""))
    decider = optimum if answer.decider == "optimum" else called.choice
    noun = called.noun
    ended = SCHEDULE.format(
        time=age(answer.duration_s),
        cycles=plural(answer.cycles, "cycle"),
        ended=ENDED[answer.ended],
    )
    evicted = f"{plural(totals.evictions, 'eviction')} of {plural(totals.evicted, noun)}"
    lost = f"{age(totals.lost_s)} of their runs, {hours(totals.lost_work)} accelerator-hours"
    facts = [
        ("Scheduler", Text(called.name)),
        ("Victims by", Text(decider)),
        ("Start", Text(moment(answer.start))),
        ("Simulated", Text(ended)),
        ("Evictions", Text(f"{evicted}; lost {lost}", "bold")),
        ("Waiting", Text(f"{age(totals.waiting_s)} in all")),
        ("Finished", Text(f"{totals.finished:,} of {plural(totals.workloads, noun)}")),
    ]
    found = [
        plural(len(answer.loops), "loop"),
        f"{plural(len(answer.feuds), 'pair')} that evicted each other",
        f"{plural(len(answer.storms), noun)} evicted more than {answer.storm:,} times",
    ]
    any_found = answer.loops or answer.feuds or answer.storms
    facts.append(("Findings", Text(", ".join(found), "bold red" if any_found else "green")))
    if answer.unproved:
        unproved = f"{plural(answer.unproved, 'decision')} not proved best in time"
        facts.append(("", Text(unproved, "yellow")))
    return grid(facts)


def _loop_text(loop: Loop, number: int) -> Text:
    often = FOR_EVER if loop.endless else f"seen {plural(loop.rounds, 'time')}"
    title = ROUND.format(
        number=number,
        evictions=plural(loop.evictions, "eviction"),
        period=age(loop.period_s),
        often=often,
    )
    text = Text(f"{title}, first {age(loop.first_s)} after the start", "bold red")
    for sentence in loop.story[:MOST_ROWS]:
        text.append(f"\n  {clean(sentence)}", "not bold default")
    left_out = len(loop.story) - MOST_ROWS
    if left_out > 0:
        text.append(f"\n  ... {left_out:,} more", "dim")
    return text


def _feud_table(feuds: tuple[Feud, ...]) -> Table:
    columns: list[Column[Feud]] = [
        Column("They evicted each other", lambda row: Text(short(row.first)), folds=True),
        Column("was evicted", lambda row: f"{row.first_evicted:,} times", number=True),
        Column("by, and evicted", lambda row: Text(short(row.second)), folds=True),
        Column("", lambda row: f"{row.second_evicted:,} times", number=True),
    ]
    return table_of(columns, feuds, MOST_ROWS)


def _storm_table(answer: Simulation) -> Table:
    columns: list[Column[Storm]] = [
        Column("Evicted too often", lambda row: Text(short(row.workload)), folds=True),
        Column("Evictions", lambda row: f"{row.evictions:,}", number=True),
        Column("Mostly by", _most_by, folds=True),
    ]
    return table_of(columns, answer.storms, MOST_ROWS)


def _most_by(storm: Storm) -> Text:
    some = [f"{short(key)} ({count:,})" for key, count in list(storm.by.items())[:3]]
    left_out = len(storm.by) - len(some)
    return Text(", ".join(some) + (f" and {left_out:,} more" if left_out > 0 else ""))


def _timeline_table(answer: Simulation, events: tuple[Event, ...]) -> Table:
    noun = scheduler_of(answer).words.noun.title()
    columns: list[Column[Event]] = [
        Column("Second", lambda row: f"{row.at_s:,}", number=True),
        Column("Cycle", lambda row: f"{row.cycle:,}", number=True),
        Column("What", lambda row: Text(row.kind, "red" if row.kind == "preempted" else "")),
        Column(noun, lambda row: Text(short(row.workload)), folds=True),
        Column("Queue", lambda row: Text(short(row.queue)), folds=True),
        Column("By", lambda row: Text(short(row.by)) if row.by else NOTHING, folds=True),
        Column("Why", lambda row: Text(clean(row.reason)) if row.reason else NOTHING),
    ]
    return table_of(columns, events, MOST_ROWS)


def _fate_table(answer: Simulation) -> Table:
    rows = sorted(answer.workloads, key=lambda one: (-one.evictions, -one.waiting_s))
    noun = scheduler_of(answer).words.noun.title()
    columns: list[Column[Fate]] = [
        Column(noun, lambda row: Text(short(row.workload)), folds=True),
        Column("Queue", lambda row: Text(short(row.queue)), folds=True),
        Column("Priority", lambda row: str(row.priority), number=True),
        Column("At the end", lambda row: row.standing),
        Column("Evictions", _evictions, number=True),
        Column("Waited", lambda row: age(row.waiting_s), number=True),
        Column("Ran", lambda row: age(row.running_s), number=True),
        Column("Lost", lambda row: age(row.lost_s), number=True),
        Column("Lost acc-h", lambda row: hours(row.lost_work), number=True),
    ]
    return table_of(columns, rows, MOST_ROWS)


def _evictions(fate: Fate) -> str:
    return f"{fate.evictions:,}" if fate.evictions else NOTHING


def _use_table(answer: Simulation) -> Table:
    def capacity(use: Use) -> str:
        if use.capacity is None:
            return NOTHING
        return AMOUNT.of(answer)(use.capacity, use.resource)

    columns: list[Column[Use]] = [
        Column(
            "Flavor", lambda row: Text(short(row.flavor)) if row.flavor else NOTHING, folds=True
        ),
        Column("Resource", lambda row: Text(short(row.resource)), folds=True),
        Column("Capacity", capacity, number=True),
        Column("In use", lambda row: NOTHING if row.share is None else f"{row.share:.1%}"),
    ]
    return table_of(columns, answer.use, MOST_ROWS)


def _lines(answer: Simulation) -> Iterator[str]:
    yield line("scheduler", answer.scheduler)
    yield line("decider", answer.decider)
    if answer.objective is not None:
        yield line("objective", word(answer.objective))
    yield line("start", moment(answer.start))
    yield line("duration_s", str(answer.duration_s))
    yield line("cycles", str(answer.cycles))
    yield line("ended", answer.ended)
    yield line("unproved", str(answer.unproved))
    for name, value in answer.totals.model_dump().items():
        yield line(f"total_{name}", str(value))
    yield from _finding_lines(answer)
    for use in answer.use:
        share = "none" if use.share is None else str(use.share)
        yield line("use", f"{word(use.flavor)} {word(use.resource)}", f"share={share}")
    for fate in answer.workloads:
        yield line(
            "workload",
            word(fate.workload),
            f"standing={word(fate.standing)}",
            f"queue={word(fate.queue)}",
            f"evictions={fate.evictions}",
            f"waiting_s={fate.waiting_s}",
            f"running_s={fate.running_s}",
            f"lost_s={fate.lost_s}",
            f"lost_work={fate.lost_work}",
        )
    for event in answer.timeline:
        yield line("event", str(event.at_s), event.kind, word(event.workload), *_facts(event))


def _finding_lines(answer: Simulation) -> Iterator[str]:
    for number, loop in enumerate(answer.loops, start=1):
        yield line(
            "loop",
            str(number),
            f"first_s={loop.first_s}",
            f"period_s={loop.period_s}",
            f"cycles={loop.cycles}",
            f"rounds={loop.rounds}",
            f"evictions={loop.evictions}",
            f"endless={yes(loop.endless)}",
        )
        for sentence in loop.story:
            yield line("story", str(number), quoted(sentence))
    for feud in answer.feuds:
        yield line(
            "feud",
            word(feud.first),
            word(feud.second),
            f"first_evicted={feud.first_evicted}",
            f"second_evicted={feud.second_evicted}",
        )
    for storm in answer.storms:
        yield line("storm", word(storm.workload), f"evictions={storm.evictions}")


def _facts(event: Event) -> Iterator[str]:
    yield f"cycle={event.cycle}"
    yield f"queue={word(event.queue)}"
    for name, value in (("by", event.by), ("reason", event.reason), ("node", event.node)):
        if value is not None:
            yield f"{name}={word(value)}"
    if event.lost_s is not None:
        yield f"lost_s={event.lost_s}"
