"""A Pareto front, in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import ClassVar, Final, Literal, NamedTuple

from pydantic import ConfigDict, Field

from planner.plan import (
    SCHEMA_VERSION,
    AnyPlan,
    Front,
    FrontMeasure,
    FrontPoint,
    Record,
)
from planner.report.document.block import (
    Cell,
    Column,
    Document,
    Fact,
    Paragraph,
    Section,
    Sheet,
    Tone,
    facts,
    filled,
    name,
    sheet,
)
from planner.report.document.measure import amount_of
from planner.report.document.plan import PAGE, scheduler_at
from planner.report.json import dump
from planner.report.plain import LINES, SEPARATOR
from planner.report.plain_lines import line, outside, quoted
from planner.report.style import written
from planner.report.table_parts import NO_GREEDY, units_of
from planner.report.terminal import CUT, MAX_NAMES
from planner.report.text import clean, moment, short, word
from planner.report.words import (
    outside_rules,
    scheduler_name,
    texts_of,
    victim_names,
)
from planner.scheduler import scheduler_of

ANSWERS: Final[dict[str, tuple[str, Tone]]] = {
    "optimal": ("Proved complete", "good"),
    "feasible": ("Not complete", "warn"),
    "infeasible": ("Proved infeasible", "bad"),
    "unknown": ("Unknown", "warn"),
}
FRONT: Final = "Pareto front"
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
    """A point as a table shows it: its label, its tone, and itself."""

    label: str
    tone: Tone
    point: FrontPoint


def render(front: Front, style: str, *, width: int, color: bool) -> str:
    """Return a front: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    if style == "json":
        return dump(front)
    return render_all([front], style, width=width, color=color)


def render_all(fronts: Sequence[Front], style: str, *, width: int, color: bool) -> str:
    """Return several fronts, one after the other, or as one JSON object with the key ``fronts``."""
    if style == "json":
        return dump(Fronts(fronts=tuple(fronts)))
    if style == "plain":
        return SEPARATOR.join("".join(f"{text}\n" for text in _lines(front)) for front in fronts)
    return written(list(map(document, fronts)), style, width=width, color=color, noun="front")


def document(front: Front) -> Document:
    """Return everything there is to say: the points, and where the scheduler's own plan is."""
    greedy = front.greedy.plan
    badge, tone = ANSWERS[front.status]
    head = (
        Fact("Preemptor", name(greedy.preemptor_name), "title"),
        *facts(PAGE.of(greedy)(greedy).asking),
        Fact("Scheduler", Cell(scheduler_at(greedy))),
        Fact("Objective", Cell(front.objective)),
        Fact("Front", Cell(badge, tone=tone), "verdict"),
        Fact("", Cell(front.explanation), "answer"),
    )
    rows = _rows(front)
    beside = [Paragraph(_beside(front))]
    beside += [Paragraph(said, "warn") for _, said in outside_rules(greedy)]
    sections = filled(
        Section("The trade", (_table(front, rows),) if rows else ()),
        Section(f"{scheduler_name(greedy)}'s own plan", tuple(beside)),
    )
    return Document(FRONT, head, sections)


def _rows(front: Front) -> list[_Row]:
    """Return the points in order, the scheduler's own among them."""
    rows = [_Row(str(n), "", point) for n, point in enumerate(front.points, start=1)]
    if front.unproved is not None:
        rows.append(_Row(UNPROVED, "warn", front.unproved))
    if front.greedy.place != "none":
        rows.append(_Row(scheduler_name(front.greedy.plan), "strong", front.greedy))
    return sorted(rows, key=lambda row: (row.point.values[0], -row.point.values[1]))


def _table(front: Front, rows: Sequence[_Row]) -> Sheet:
    columns: list[Column[_Row]] = [
        Column("Point", lambda row: Cell(row.label, tone=row.tone), number=True),
        *(_measure_column(front, side) for side in range(2)),
        Column("Victims", lambda row: f"{len(row.point.plan.victims):,}", number=True),
        Column("Whom", lambda row: _named(row.point.plan, row.tone), folds=True),
    ]
    return sheet("Plans of which none is better than another in both measures", columns, rows)


def _measure_column(front: Front, side: int) -> Column[_Row]:
    measure = front.measures[side]
    what, unit = _texts(front, measure)

    def cell(row: _Row) -> Cell:
        return amount_of(unit, row.point.values[side])

    title = [measure.term, *wrap(what, TITLE_WIDTH), *units_of(unit)]
    return Column("\n".join(title), cell, number=True)


def _texts(front: Front, measure: FrontMeasure) -> tuple[str, str]:
    """Return title and unit of a measure in the words of the scheduler."""
    return texts_of(front.greedy.plan, measure.term) or (measure.title, measure.unit)


def _named(plan: AnyPlan, tone: Tone) -> Cell:
    names = victim_names(plan)
    text = ", ".join(short(names[key]) for key in plan.keys[:MAX_NAMES])
    more = len(plan.keys) - MAX_NAMES
    return Cell(f"{text} {CUT.format(count=more)}" if more > 0 else text, tone=tone)


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
