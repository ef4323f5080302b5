"""A Pareto front, in every format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import Any, Final, NamedTuple, Unpack

from planner.plan import Published
from planner.plan.front import Front, FrontPoint, GreedyPoint
from planner.report import document as doc
from planner.report.covered import answer_cell, assumed
from planner.report.document import LEAST, Cell, Column, Fact, Section, name, named, table
from planner.report.labelled import labelled_lines
from planner.report.plan import NO_GREEDY, outside_lines, scheduler_at
from planner.report.style import Look, Said, each, line, rendered
from planner.report.text import cells, moment, short
from planner.report.words import (
    noted,
    outside_rules,
    scheduler_name,
    texts_of,
    victim_names,
    work_of,
)
from planner.scheduler import scheduler_of

ANSWERS: Final[dict[str, tuple[str, doc.Tone]]] = {
    "optimal": ("Proved complete", "good"),
    "feasible": ("Not complete", "warn"),
    "infeasible": ("Proved infeasible", "bad"),
    "unknown": ("Unknown", "warn"),
}
TITLE_WIDTH: Final = 12


class Fronts(Published):
    """The fronts for several pending workloads or asks, in the order of the dump."""

    fronts: tuple[Front, ...]


class _Row(NamedTuple):
    """A point as a row of a table: its label, its tone, and the point."""

    label: str
    tone: doc.Tone
    point: FrontPoint


def render(fronts: Sequence[Front], style: str, *, alone: bool, **look: Unpack[Look]) -> str:
    """Return fronts in a style; ``alone`` says that there is one, and no list of them."""
    whole = fronts[0] if alone else Fronts(fronts=tuple(fronts))
    return rendered(style, whole, map(_lines, fronts), map(_document, fronts), "front", **look)


def _document(front: Front) -> doc.Document:
    """Return the document of a front: its points, and where the scheduler's own plan lies."""
    greedy = front.greedy.plan
    head = (
        *assumed(front.coverage, front.assume),
        Fact("Preemptor", name(greedy.about.name), "title"),
        *(Fact(*row) for row in scheduler_of(greedy).reporting.particulars(greedy).asking),
        Fact("Priority", Cell(f"{greedy.priority:,}")),
        Fact("Scheduler", Cell(scheduler_at(greedy))),
        Fact("Objective", Cell(front.objective)),
        Fact("Front", answer_cell(front, ANSWERS), "verdict"),
        Fact("", Cell(front.explanation), "answer"),
    )
    # The points in order, the scheduler's own among them.
    rows = [_Row(str(n), "", point) for n, point in enumerate(front.points, start=1)]
    if front.unproved is not None:
        rows.append(_Row("not proved", "warn", front.unproved))
    if front.greedy.place != "none":
        rows.append(_Row(scheduler_name(greedy), "strong", front.greedy))
    rows.sort(key=lambda row: (row.point.values[0], -row.point.values[1]))
    beside = [doc.Paragraph(_beside(front))]
    beside += [doc.Paragraph(said, "warn") for _, said in outside_rules(greedy)]
    sections = (
        Section("The trade", (_table(front, rows),)),
        Section(f"{scheduler_name(greedy)}'s own plan", tuple(beside)),
        noted(front.notes),
    )
    return doc.Document("Pareto front", head, sections)


def _table(front: Front, rows: Sequence[_Row]) -> doc.Table:
    def whom(row: _Row) -> Cell:
        plan = row.point.plan
        return Cell(named(plan.keys, victim_names(plan)), tone=row.tone)

    work = work_of(*(point.plan for point in (*front.points, front.greedy)))

    def measured(side: int) -> Column[_Row]:
        measure = front.measures[side]
        what, unit = texts_of(front.scheduler, measure.term, (measure.title, measure.unit))
        in_unit = work.unit(unit).replace(work.hours, work.short)
        title = "\n".join([measure.term, *wrap(what, TITLE_WIDTH), in_unit])
        return Column(title, lambda o: work.amount(unit, o.point.values[side]), number=True)

    called = [one.name for row in rows for one in row.point.plan.victims]
    longest = max((cells(f"{short(name)},") for name in called), default=LEAST)
    columns: list[Column[_Row]] = [
        Column("Point", lambda row: Cell(row.label, tone=row.tone), number=True),
        *map(measured, range(2)),
        Column("Victims", lambda row: f"{len(row.point.plan.victims):,}", number=True, rank=1),
        # A name that is broken in the middle cannot be pasted.
        Column("Whom", whom, folds=True, least=longest),
    ]
    return table("Plans of which none is better than another in both measures", columns, rows)


def _beside(front: Front) -> str:
    greedy = front.greedy
    scheduler, verb = scheduler_name(greedy.plan), scheduler_of(greedy.plan).words.verb
    its_own, numbers = f"{scheduler}'s own plan", ", ".join(map(str, greedy.points))
    if greedy.place == "none":
        return NO_GREEDY.format(scheduler=scheduler, verb=verb)
    if greedy.place == "on":
        return f"{its_own} is on the front, as good as point {numbers}."
    if greedy.place == "behind":
        points = f"points {numbers} are" if len(greedy.points) > 1 else f"point {numbers} is"
        better = f"{points} better in one measure and no worse in the other"
        return f"{its_own} is behind the front: {better}."
    if greedy.place == "open":
        return f"None of these points is better than {its_own}; one not found may be."
    return f"{its_own} is none that the front is drawn from."


def _lines(front: Front) -> Iterator[str]:
    greedy = front.greedy
    yield from labelled_lines(front)
    yield from scheduler_of(greedy.plan).reporting.asking(greedy.plan)
    yield line("rules", greedy.plan.rules)
    yield line("now", moment(greedy.plan.now))
    for measure in front.measures:
        title, unit = texts_of(front.scheduler, measure.term, (measure.title, measure.unit))
        yield line("measure", measure.term, unit=Said(unit), title=Said(title))
    for number, point in enumerate(front.points, start=1):
        yield from _point(front, "point", str(number), point)
    if front.unproved is not None:
        yield from _point(front, "unproved", "-", front.unproved)
    yield from _point(front, "greedy", front.scheduler, greedy)
    yield from outside_lines("outside_rules", greedy.plan)


def _point(front: Front, label: str, name: str, point: FrontPoint) -> Iterator[str]:
    terms = (measure.term for measure in front.measures)
    facts: dict[str, Any] = dict(zip(terms, point.values, strict=True))
    facts["victims"] = point.plan.victims
    if isinstance(point, GreedyPoint):
        facts |= {"place": point.place, "points": ",".join(map(str, point.points)) or None}
    yield line(label, name, **facts)
    yield from each(f"{label}_victim", point.plan.keys, name)
