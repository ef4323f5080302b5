"""A Pareto front: as a table of the trade, as plain lines, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import ClassVar, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import (
    SCHEMA_VERSION,
    AnyPlan,
    Front,
    FrontMeasure,
    FrontPoint,
    Record,
)
from planner.report.json import dump
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.plain import LINES, SEPARATOR
from planner.report.plain_lines import line, outside, quoted
from planner.report.table import TABLES
from planner.report.table_parts import NO_GREEDY, broken_rules, listed, units_of, value_in
from planner.report.text import clean, clean_lines, moment, word
from planner.report.words import (
    rules_name,
    scheduler_name,
    texts_of,
    victim_names,
)
from planner.scheduler import scheduler_of

ANSWERS: Final = {
    "optimal": ("PROVED COMPLETE", "bold green"),
    "feasible": ("NOT COMPLETE", "bold yellow"),
    "infeasible": ("PROVED INFEASIBLE", "bold red"),
    "unknown": ("UNKNOWN", "bold yellow"),
}
TITLE_WIDTH: Final = 20
UNPROVED: Final = "not proved"
ON: Final = "{scheduler}'s own plan is on the front, as good as point {points}."
BEHIND: Final = (
    "{scheduler}'s own plan is behind the front: {points} better in one measure and no worse in "
    "the other."
)
OPEN: Final = "None of these points is better than {scheduler}'s own plan; one not found may be."
OUTSIDE: Final = "{scheduler}'s own plan is none that the front is drawn from."


class Fronts(Record):
    """The fronts for several pending workloads or asks, in the order of the dump."""

    model_config: ClassVar[ConfigDict] = ConfigDict(ser_json_inf_nan="strings")

    schema_version: Literal["planner/v1"] = Field(default=SCHEMA_VERSION, alias="schema")
    fronts: tuple[Front, ...]


class _Row(NamedTuple):
    """A point as a table shows it: its label, its style, and itself."""

    label: str
    style: str
    point: FrontPoint


def render(front: Front, style: str, *, width: int, color: bool) -> str:
    """Return a front in a style: ``table``, ``plain`` or ``json``."""
    if style == "json":
        return dump(front)
    return render_all([front], style, width=width, color=color)


def render_all(fronts: Sequence[Front], style: str, *, width: int, color: bool) -> str:
    """Return several fronts, one after the other, or as one JSON object with the key ``fronts``."""
    if style == "json":
        return dump(Fronts(fronts=tuple(fronts)))
    if style == "plain":
        return SEPARATOR.join("".join(f"{text}\n" for text in _lines(front)) for front in fronts)
    paper = Paper(width, color=color)
    for position, front in enumerate(fronts):
        if position:
            paper.rule()
        for part in _parts(front):
            paper.add(part)
    return paper.text()


def _parts(front: Front) -> Iterator[RenderableType]:
    greedy = front.greedy.plan
    answer, style = ANSWERS[front.status]
    yield grid(
        [
            *TABLES.of(greedy).asking(greedy),
            (
                "Scheduler",
                f"{scheduler_name(greedy)}, {rules_name(greedy)}   at {moment(greedy.now)}",
            ),
            ("Objective", clean(front.objective)),
            ("Front", Text(answer, style)),
            ("", Text(clean_lines(front.explanation))),
        ]
    )
    if rows := _rows(front):
        yield _table(front, rows)
    yield Text(_beside(front))
    yield from broken_rules(greedy)


def _rows(front: Front) -> list[_Row]:
    """Return the points in order, the scheduler's own among them."""
    rows = [_Row(str(n), "", point) for n, point in enumerate(front.points, start=1)]
    if front.unproved is not None:
        rows.append(_Row(UNPROVED, "yellow", front.unproved))
    if front.greedy.place != "none":
        rows.append(_Row(scheduler_name(front.greedy.plan), "cyan", front.greedy))
    return sorted(rows, key=lambda row: (row.point.values[0], -row.point.values[1]))


def _table(front: Front, rows: Sequence[_Row]) -> Table:
    columns: list[Column[_Row]] = [
        Column("Point", lambda row: Text(row.label, row.style), number=True),
        *(_measure_column(front, side) for side in range(2)),
        Column("Victims", lambda row: f"{len(row.point.plan.victims):,}", number=True),
        Column("", lambda row: _named(row.point.plan, row.style), folds=True),
    ]
    return table_of(columns, rows)


def _measure_column(front: Front, side: int) -> Column[_Row]:
    measure = front.measures[side]
    what, unit = _texts(front, measure)

    def cell(row: _Row) -> Text:
        return value_in(unit, row.point.values[side])

    title = [clean(measure.term), *wrap(clean(what), TITLE_WIDTH), *units_of(unit)]
    return Column("\n".join(title), cell, number=True)


def _texts(front: Front, measure: FrontMeasure) -> tuple[str, str]:
    """Return title and unit of a measure in the words of the scheduler."""
    return texts_of(front.greedy.plan, measure.term) or (measure.title, measure.unit)


def _named(plan: AnyPlan, style: str) -> Text:
    return listed(plan.keys, victim_names(plan), style)


def _beside(front: Front) -> str:
    """Say in words where the scheduler's own plan is."""
    greedy = front.greedy
    verb = scheduler_of(greedy.plan).words.verb
    words = {"scheduler": scheduler_name(greedy.plan), "verb": verb}
    numbers = ", ".join(map(str, greedy.points))
    if greedy.place == "none":
        return NO_GREEDY.format(**words)
    if greedy.place == "on":
        return ON.format(points=numbers, **words)
    if greedy.place == "behind":
        several = len(greedy.points) > 1
        points = f"points {numbers} are" if several else f"point {numbers} is"
        return BEHIND.format(points=points, **words)
    return (OPEN if greedy.place == "open" else OUTSIDE).format(**words)


def _lines(front: Front) -> Iterator[str]:
    greedy = front.greedy
    yield line("preemptor", word(front.preemptor))
    yield from LINES.of(greedy.plan).asking(greedy.plan)
    yield line("status", front.status)
    yield line("explanation", " ".join(map(clean, front.explanation.split("\n"))))
    yield line("scheduler", front.scheduler)
    yield line("rules", word(greedy.plan.rules))
    yield line("objective", word(front.objective))
    yield line("now", moment(greedy.plan.now))
    for measure in front.measures:
        title, unit = _texts(front, measure)
        yield line("measure", word(measure.term), f"unit={quoted(unit)}", f"title={quoted(title)}")
    yield line("points", str(len(front.points)))
    for number, point in enumerate(front.points, start=1):
        yield from _point(front, "point", str(number), point)
    if front.unproved is not None:
        yield from _point(front, "unproved", "-", front.unproved)
    place = [f"place={greedy.place}"]
    if greedy.points:
        place.append(f"points={','.join(map(str, greedy.points))}")
    yield from _point(front, "greedy", front.scheduler, greedy, *place)
    yield from outside("outside_rules", greedy.plan)


def _point(front: Front, label: str, name: str, point: FrontPoint, *more: str) -> Iterator[str]:
    values = zip(front.measures, point.values, strict=True)
    facts = [f"{word(measure.term)}={value}" for measure, value in values]
    yield line(label, name, *facts, f"victims={len(point.plan.victims)}", *more)
    yield from (line(f"{label}_victim", name, word(key)) for key in point.plan.keys)
