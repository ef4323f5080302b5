"""The answers of ``planner explain``, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

from planner.commands.explain.any import AnyClash, AnyExplanation
from planner.commands.explain.record import (
    Alternative,
    Change,
    CommonStanding,
    LawInWords,
    Optima,
    TermDifference,
)
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Section,
    Sheet,
    facts,
    filled,
    name,
    sheet,
)
from planner.report.document.plan import ANSWERS
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.table_parts import NOTHING
from planner.report.text import short, word
from planner.scheduler import Part, scheduler_of

QUESTIONS: Final = {
    "why-this-victim": "Why this victim",
    "why-not-that-one": "Why not that one",
    "why-nothing": "Why nothing",
    "why-this-plan": "Why these victims",
}
EXPLAINS: Final = "Explanation"
NECESSARY: Final = {True: "yes", False: "no", None: NOTHING}
CONDITIONS: Final = {"sparing": "Sparing", "taking": "Taking"}


class Explained(Protocol):
    """What a scheduler's own module says of an explanation."""

    def about(self, answer: AnyExplanation) -> Iterable[tuple[str, Cell]]:
        """Yield facts that no other scheduler has."""
        ...

    def columns(self) -> list[Column[Any]]:
        """Return the columns that say what runs where."""
        ...

    def asking(self, answer: AnyExplanation) -> Iterable[str]:
        """Yield the lines on where the preemptor is."""
        ...

    def standings(self, answer: AnyExplanation) -> Iterable[tuple[str, CommonStanding, list[str]]]:
        """Yield what is explained: what a line calls it, itself, and facts of this scheduler."""
        ...


EXPLAINED: Final = Part[Explained]("explained")


def render(answer: AnyExplanation, style: str, *, width: int, color: bool) -> str:
    """Return an explanation: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    return in_style(answer, style, _lines, document, width=width, color=color)


def document(answer: AnyExplanation) -> Document:
    """Return everything there is to say of what was asked."""
    other, optima = answer.alternative, answer.optima
    compared: tuple[Block, ...] = ()
    if other is not None and other.terms:
        compared = (_alternative(other, answer.names), _difference(other.terms))
    sections = filled(
        Section("Who", (_standings(answer),) if answer.standings else ()),
        Section("The other plan", compared),
        Section("Plans as good", tuple(_optima(optima, answer.names)) if optima else ()),
        Section("What stands in the way", tuple(_clash(answer.clash)) if answer.clash else ()),
    )
    return Document(EXPLAINS, tuple(_head(answer)), sections)


def _head(answer: AnyExplanation) -> Iterator[Fact]:
    called = scheduler_of(answer).words
    yield Fact(QUESTIONS[answer.question], Cell(answer.answer, tone="strong"), "answer")
    yield Fact("Preemptor", name(answer.preemptor_name), "title")
    yield Fact("Priority", Cell(str(answer.priority)))
    yield Fact(called.queue, name(answer.preemptor_queue))
    yield Fact("Scheduler", Cell(f"{called.name}, {called.rules[answer.rules]}"))
    yield Fact("Objective", Cell(answer.objective))
    said, tone = ANSWERS[answer.status]
    yield Fact("Plan", Cell(said, tone=tone), "verdict")
    yield Fact("Victims", Cell(f"{len(answer.victims):,}"))
    yield from facts(EXPLAINED.of(answer).about(answer))


def _standings(answer: AnyExplanation) -> Sheet:
    columns: list[Column[Any]] = [
        *EXPLAINED.of(answer).columns(),
        Column("Law", lambda one: one.law.law),
        Column("Why", lambda one: one.law.text, folds=True, least=24),
        Column(scheduler_of(answer).words.name, lambda one: yes(one.by_scheduler), rank=3),
        Column("Necessary", lambda one: NECESSARY[one.necessary]),
    ]
    return sheet("What the rules say of each", columns, answer.standings)


def _alternative(other: Alternative, names: Mapping[str, str]) -> Facts:
    victim = Cell(names.get(other.victim, other.victim), tone="strong", is_name=True)
    rows = [(CONDITIONS[other.condition], victim)]
    for label, keys in (("more", other.more), ("fewer", other.fewer)):
        named = [name(names.get(key, key)) for key in keys]
        rows += [(label if not n else "", cell) for n, cell in enumerate(named)]
    return Facts(tuple(rows))


def _difference(terms: Sequence[TermDifference]) -> Sheet:
    ordered = sorted(terms, key=lambda term: (term.level is None, term.level or 0))
    shown = [term for term in ordered if term.level is not None or term.plan != term.other]
    columns: list[Column[TermDifference]] = [
        Column(
            "Level", lambda term: NOTHING if term.level is None else str(term.level), number=True
        ),
        Column("Term", lambda term: term.term),
        Column("Disruption", lambda term: term.title, folds=True),
        Column("Plan", lambda term: f"{term.plan:,}", number=True),
        Column("Other", lambda term: f"{term.other:,}", number=True),
        Column("Difference", lambda term: f"{term.other - term.plan:+,}", number=True),
        Column("Unit", lambda term: term.unit),
    ]
    return sheet("The plan and the other", columns, shown)


def _optima(optima: Optima, names: Mapping[str, str]) -> Iterator[Block]:
    least = "" if optima.complete else "at least "
    columns: list[Column[tuple[str, ...]]] = [
        Column(
            f"Optimal plans: {least}{optima.count:,}",
            lambda keys: Cell(", ".join(short(names.get(key, key)) for key in keys)),
            folds=True,
        )
    ]
    if optima.count > 1:
        yield sheet("All that equal the plan in every level", columns, optima.plans)


def _clash(clash: AnyClash) -> Iterator[Block]:
    if clash.laws:
        columns: list[Column[LawInWords]] = [
            Column("Law", lambda law: law.law),
            Column("Clash", lambda law: law.text, folds=True),
        ]
        yield sheet("Laws that clash", columns, clash.laws)
    if clash.shortfalls:
        yield Facts(tuple(("Short", Cell(one.text)) for one in clash.shortfalls))
    if clash.changes:
        changes: list[Column[Change]] = [
            Column("Change that helps", lambda one: one.path, folds=True, least=40),
            Column("From", lambda one: one.before),
            Column("To", lambda one: one.after),
            Column("Victims", lambda one: str(len(one.victims)), number=True),
        ]
        yield sheet("Single changes after which there is a plan", changes, clash.changes)


def _lines(answer: AnyExplanation) -> Iterator[str]:
    yield line("question", answer.question)
    yield line("answer", quoted(answer.answer))
    yield line("preemptor", word(answer.preemptor))
    yield from EXPLAINED.of(answer).asking(answer)
    yield line("priority", str(answer.priority))
    yield line("rules", answer.rules)
    yield line("objective", word(answer.objective))
    yield line("status", answer.status)
    yield line("victims", str(len(answer.victims)))
    yield from _standing_lines(answer)
    if answer.alternative is not None:
        yield from _alternative_lines(answer.alternative)
    if answer.optima is not None:
        yield from _optima_lines(answer.optima)
    if answer.clash is not None:
        yield from _clash_lines(answer.clash)


def _standing_lines(answer: AnyExplanation) -> Iterator[str]:
    for label, one, told in EXPLAINED.of(answer).standings(answer):
        yield line(label, *told, *_facts(one, answer.scheduler))


def _facts(one: CommonStanding, scheduler: str) -> list[str]:
    place = [] if one.position is None else [f"position={one.position}"]
    needed = [] if one.necessary is None else [f"necessary={yes(one.necessary)}"]
    return [
        f"priority={one.priority}",
        f"candidate={yes(one.candidate)}",
        f"law={one.law.law}",
        *place,
        f"candidates={one.candidates}",
        f"{scheduler}={yes(one.by_scheduler)}",
        f"plan={yes(one.by_plan)}",
        *needed,
        quoted(one.law.text),
    ]


def _alternative_lines(other: Alternative) -> Iterator[str]:
    bounds = (
        f"within_caps={yes(other.within_caps)}",
        *(["last_resort=yes"] if other.last_resort else []),
    )
    yield line(other.condition, word(other.victim), f"status={other.status}", *bounds)
    yield from (line("more", word(key)) for key in other.more)
    yield from (line("fewer", word(key)) for key in other.fewer)
    for term in other.terms:
        level = [] if term.level is None else [f"level={term.level}"]
        facts = (f"plan={term.plan}", f"other={term.other}", *level)
        texts = (f"unit={quoted(term.unit)}", f"title={quoted(term.title)}")
        yield line("term", word(term.term), *facts, *texts)


def _optima_lines(optima: Optima) -> Iterator[str]:
    yield line("optimal_plans", str(optima.count), f"complete={yes(optima.complete)}")
    for number, keys in enumerate(optima.plans, start=1):
        yield line("optimal_plan", str(number), *map(word, keys))


def _clash_lines(clash: AnyClash) -> Iterator[str]:
    yield from (line("clash", law.law, quoted(law.text)) for law in clash.laws)
    for one in clash.shortfalls:
        yield line("short", word(one.name), quoted(one.text))
    for change in clash.changes:
        yield line(
            "change", word(change.edit), f"victims={len(change.victims)}", quoted(change.text)
        )
    yield line("proved", yes(clash.proved), f"changes_all_tried={yes(clash.tried_all)}")
