"""The answers of ``planner explain``, in every format."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from planner.commands.explain.record import (
    Alternative,
    CommonClash,
    CommonExplanation,
    Optima,
    TermDifference,
)
from planner.report import document as doc
from planner.report.covered import answer_cell, assumed
from planner.report.document import NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.labelled import labelled_lines, labelled_table, row_lines
from planner.report.style import Said, line, renderer
from planner.report.text import short
from planner.report.words import RARELY_SHOWN, not_twice, noted, work_in
from planner.scheduler import scheduler_of

QUESTIONS: Final = {
    "why-this-victim": "Why this victim",
    "why-not-that-one": "Why not that one",
    "why-nothing": "Why nothing",
    "why-this-plan": "Why these victims",
}
NECESSARY: Final = {True: "yes", False: "no", None: NOTHING}
CONDITIONS: Final = {"sparing": "Sparing", "taking": "Taking"}


class Explained(NamedTuple):
    """The parts of an explanation that a scheduler's own module makes.

    ``columns`` say what runs where, ``called`` is the word for what runs in plain lines. ``about``
    and ``blocks`` are what no other scheduler has: facts, and blocks about the nodes.
    """

    columns: list[Column[Any]]
    called: str
    about: Iterable[tuple[str, Cell]] = ()
    blocks: Iterable[doc.Block] = ()


def _document(answer: CommonExplanation) -> doc.Document:
    """Return the document of an explanation."""
    other, optima, own = answer.alternative, answer.optima, scheduler_of(answer).explained(answer)
    called = scheduler_of(answer).words
    columns: list[Column[Any]] = [
        *own.columns,
        Column("Law", lambda one: name(one.law.law)),
        Column("Why", lambda one: one.law.text, folds=True, least=24),
        Column(called.name, lambda one: NECESSARY[one.by_scheduler], rank=3),
        Column("Necessary", lambda one: NECESSARY[one.necessary]),
    ]
    sections = (
        Section("Who", (table("What the rules say of each", columns, answer.standings),)),
        Section("The other plan", tuple(_alternative(answer, other)) if other else ()),
        Section("Plans as good", tuple(_optima(optima, answer.names)) if optima else ()),
        Section("What stands in the way", tuple(_clash(answer.clash)) if answer.clash else ()),
        Section("Room on the nodes", tuple(own.blocks)),
        noted(answer.notes),
    )
    asked = QUESTIONS[answer.question]
    if answer.question == "why-this-plan" and not answer.victims:
        asked = "Why nobody"
    head = (
        *assumed(answer.coverage, answer.assume),
        Fact(asked, Cell(answer.answer, tone="strong"), "answer"),
        Fact("Preemptor", name(answer.preemptor_name), "title"),
        Fact("Priority", Cell(str(answer.priority))),
        Fact(called.queue, name(answer.preemptor_queue)),
        Fact("Scheduler", Cell(f"{called.name}, {called.rules[answer.rules]}")),
        Fact("Objective", Cell(answer.objective)),
        Fact("Plan", answer_cell(answer), "verdict"),
        Fact("Victims", Cell(f"{len(answer.victims):,}")),
        *(Fact(*row) for row in own.about),
    )
    return doc.Document("Explanation", head, sections)


def _alternative(answer: CommonExplanation, other: Alternative) -> Iterator[doc.Block]:
    """Yield how the best plan that spares or takes a victim differs from the plan."""
    if not other.terms:
        return
    names = answer.names
    victim = Cell(names.get(other.victim, other.victim), tone="strong", is_name=True)
    rows = [(CONDITIONS[other.condition], victim)]
    for label, keys in (("more", other.more), ("fewer", other.fewer)):
        rows += [("" if n else label, name(names.get(key, key))) for n, key in enumerate(keys)]
    yield doc.Facts(tuple(rows))
    ordered = sorted(other.terms, key=lambda term: (term.level is None, term.level or 0))
    telling = (
        one
        for one in ordered
        if one.level is not None or (one.plan != one.other and one.term not in RARELY_SHOWN)
    )
    shown = not_twice(telling, lambda term: (term.term, (term.plan, term.other)))
    work = work_in(one.resource for each in answer.standings for one in each.usage)

    def amount_of(field: str) -> Callable[[TermDifference], str]:
        return lambda term: work.amount(term.unit, getattr(term, field))

    columns: list[Column[TermDifference]] = [
        Column("Level", lambda o: NOTHING if o.level is None else str(o.level), number=True),
        Column("Term", lambda term: term.term),
        Column("Disruption", lambda term: term.title, only="page"),
        Column("Plan", amount_of("plan"), number=True),
        Column("Other", amount_of("other"), number=True),
        Column("Difference", lambda o: work.difference(o.unit, o.other - o.plan), number=True),
        Column("Unit", lambda term: work.unit(term.unit), below="Term"),
    ]
    yield table("The plan and the other", columns, shown)


def _optima(optima: Optima, names: Mapping[str, str]) -> Iterator[doc.Block]:
    def victims(keys: tuple[str, ...]) -> str:
        return ", ".join(short(names.get(key, key)) for key in keys)

    if optima.count > 1:
        title = f"Optimal plans: {'' if optima.complete else 'at least '}{optima.count:,}"
        columns = [Column(title, victims, folds=True)]
        yield table("All that equal the plan in every level", columns, optima.plans)


def _clash(clash: CommonClash[Any]) -> Iterator[doc.Block]:
    if clash.laws:
        yield labelled_table("Laws that clash", clash.laws)
    if clash.shortfalls:
        yield doc.Facts(tuple(("Short", Cell(one.text)) for one in clash.shortfalls))
    if clash.changes:
        yield labelled_table("Single changes after which there is a plan", clash.changes)


def _lines(answer: CommonExplanation) -> Iterator[str]:
    own = scheduler_of(answer).explained(answer)
    yield from labelled_lines(answer)
    for one in answer.standings:
        facts = {"law": one.law.law, answer.scheduler: one.by_scheduler, "text": Said(one.law.text)}
        yield from row_lines(own.called, one, **facts)
    if (other := answer.alternative) is not None:
        yield from row_lines(other.condition, other)
    for number, keys in enumerate(answer.optima.plans if answer.optima else (), start=1):
        yield line("optimal_plan", number, *keys)
    if (clash := answer.clash) is not None:
        yield from labelled_lines(clash)
        yield from (line("short", one.name, Said(one.text)) for one in clash.shortfalls)


render = renderer(_lines, _document)
