"""What edits of a state change, in every format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from planner.commands.whatif.comparison import Difference, WhatIf
from planner.plan import AnyPlan
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Paragraph,
    Section,
    Sheet,
    filled,
    name,
    sheet,
)
from planner.report.document.plan import ANSWERS
from planner.report.plain_lines import line, queue_line, quoted
from planner.report.style import in_style
from planner.report.table_parts import NOTHING
from planner.report.text import plural, word
from planner.report.words import (
    rules_name,
    scheduler_name,
    texts_of,
)
from planner.scheduler import scheduler_of

WHAT_IF: Final = "What an edit changes"
VICTIM: Final = "x"
NO_CHANGE: Final = (
    "Nothing changes: neither {scheduler}'s victims nor the plan's, nor what they lose."
)
NOT_THERE: Final = "it is not there"


class _Side(NamedTuple):
    """One of the plans compared: whose it is, and whether from before or after the edits."""

    owner: str
    when: str
    plan: AnyPlan


class _Evicted(NamedTuple):
    """A victim of some plan; ``sides`` says for every side whether it is one there."""

    name: str
    queue: str
    priority: int
    sides: tuple[bool, ...]


class _Term(NamedTuple):
    """A disruption term, with its value on every side."""

    id: str
    values: tuple[int | None, ...]


def render(answer: WhatIf, style: str, *, width: int, color: bool) -> str:
    """Return the answer in a style: ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
    return in_style(answer, style, _lines, document, width=width, color=color)


def _sides(answer: WhatIf) -> list[_Side]:
    """Return the plans: the scheduler's own before and after, then the planner's."""
    plans = [("before", answer.before)] if answer.before else []
    pairs = [*plans, ("after", answer.after)]
    own = [_Side(plan.scheduler, when, _greedy(plan)) for when, plan in pairs]
    return [*own, *(_Side("plan", when, plan) for when, plan in pairs)]


def _greedy(plan: AnyPlan) -> AnyPlan:
    return plan.greedy or plan


def document(answer: WhatIf) -> Document:
    """Return everything there is to say: the answers, the victims, and what is lost."""
    said: tuple[Block, ...] = ()
    if answer.greedy.is_none and answer.optimum.is_none:
        said = (Paragraph(NO_CHANGE.format(scheduler=scheduler_name(answer.after))),)
    sides, after = _sides(answer), answer.after
    evicted = _evicted(sides)
    terms = [row for row in _terms(answer) if any(row.values)]
    sections = filled(
        Section("Change", said),
        Section("Victims", (_victim_table(evicted, sides, after),) if evicted else ()),
        Section("Disruption", (_term_table(terms, sides, after),) if terms else ()),
    )
    return Document(WHAT_IF, tuple(_head(answer)), sections)


def _head(answer: WhatIf) -> Iterator[Fact]:
    after = answer.after
    yield Fact("Preemptor", name(after.preemptor_name), "title")
    yield Fact(scheduler_of(after).words.queue, name(after.preemptor_queue))
    yield Fact("Scheduler", Cell(f"{scheduler_name(after)}, {rules_name(after)}"))
    yield Fact("Objective", Cell(after.objective))
    for key in answer.added:
        yield Fact("What if", Cell(f"new workload {key}", tone="strong"))
    for edit in answer.edits:
        yield Fact("What if", Cell(edit, tone="strong"))
    if answer.before is None:
        yield Fact("Before", Cell(NOT_THERE))
    else:
        yield from _answer("Before", answer.before)
    yield from _answer("After", after)


def _answer(when: str, plan: AnyPlan) -> Iterator[Fact]:
    """Yield the status of a plan, and what is said of it and of the scheduler's own."""
    status, tone = ANSWERS[plan.status]
    yield Fact(when, Cell(status, tone=tone), "verdict")
    yield Fact("", Cell(f"{plan.explanation}\n{_greedy(plan).explanation}"), "answer")


def _evicted(sides: Sequence[_Side]) -> list[_Evicted]:
    """Return every victim of any plan: those of the planner's plans first."""
    facts: dict[str, tuple[str, str, int]] = {}
    for side in reversed(sides):
        facts = {**_victims(side.plan), **facts}
    ours = [side.plan for side in sides if side.owner == "plan"]
    keys = dict.fromkeys(key for plan in (*ours, *(s.plan for s in sides)) for key in plan.keys)
    chosen = [set(side.plan.keys) for side in sides]
    return [_Evicted(*facts[key], tuple(key in victims for victims in chosen)) for key in keys]


def _victims(plan: AnyPlan) -> dict[str, tuple[str, str, int]]:
    """Return name, queue and priority of every victim, by its key."""
    return {one.key: (one.name, one.runs_in, one.priority) for one in plan.victims}


def _title(side: _Side) -> str:
    owner = "Plan" if side.owner == "plan" else scheduler_name(side.plan)
    return f"{owner}\n{side.when}"


def _victim_table(rows: list[_Evicted], sides: Sequence[_Side], plan: AnyPlan) -> Sheet:
    def of(position: int) -> Column[_Evicted]:
        def cell(row: _Evicted) -> str:
            return VICTIM if row.sides[position] else NOTHING

        total = str(sum(row.sides[position] for row in rows))
        return Column(_title(sides[position]), cell, total, number=True)

    called = scheduler_of(plan).words
    count = plural(len(rows), called.noun)
    columns: list[Column[_Evicted]] = [
        Column("Victim", lambda row: name(row.name), count, folds=True),
        Column(called.queue, lambda row: name(row.queue), folds=True),
        Column("Priority", lambda row: str(row.priority), number=True),
        *map(of, range(len(sides))),
    ]
    return sheet("Who is a victim where", columns, rows)


def _terms(answer: WhatIf) -> list[_Term]:
    greedy = {change.term: change for change in answer.greedy.terms}
    optimum = {change.term: change for change in answer.optimum.terms}
    rows = []
    for term in dict.fromkeys([*optimum, *greedy]):
        values: list[int | None] = []
        for change in (greedy.get(term), optimum.get(term)):
            if answer.before is not None:
                values.append(change.before if change else None)
            values.append(change.after if change else None)
        rows.append(_Term(term, tuple(values)))
    return rows


def _term_table(rows: list[_Term], sides: Sequence[_Side], plan: AnyPlan) -> Sheet:
    def value(position: int) -> Column[_Term]:
        def cell(row: _Term) -> str:
            number = row.values[position]
            return NOTHING if number is None else f"{number:,}"

        return Column(_title(sides[position]), cell, number=True)

    columns: list[Column[_Term]] = [
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: _texts(plan, row.id)[0], folds=True),
        *map(value, range(len(sides))),
        Column("Unit", lambda row: _texts(plan, row.id)[1]),
    ]
    return sheet("What is lost", columns, rows)


def _texts(plan: AnyPlan, term: str) -> tuple[str, str]:
    """Return title and unit of a term."""
    return texts_of(plan, term) or (term, "")


def _lines(answer: WhatIf) -> Iterator[str]:
    after, sides = answer.after, _sides(answer)
    yield line("preemptor", word(answer.preemptor))
    yield queue_line(after)
    yield line("objective", word(after.objective))
    yield from (line("added", word(key)) for key in answer.added)
    yield from (line("edit", quoted(edit)) for edit in answer.edits)
    if answer.before is None:
        yield line("before", quoted(NOT_THERE))
    for owner, difference in ((after.scheduler, answer.greedy), ("plan", answer.optimum)):
        yield from _answer_lines(difference, [side for side in sides if side.owner == owner])
    for row in _terms(answer):
        values = zip(sides, row.values, strict=True)
        facts = [f"{side.owner}_{side.when}={value}" for side, value in values if value is not None]
        title, unit = _texts(after, row.id)
        yield line("term", word(row.id), *facts, f"unit={quoted(unit)}", f"title={quoted(title)}")


def _answer_lines(difference: Difference, sides: Sequence[_Side]) -> Iterable[str]:
    for owner, when, plan in sides:
        facts = (f"victims={len(plan.victims)}", quoted(plan.explanation))
        yield line(f"{owner}_{when}", plan.status, *facts)
    owner = sides[-1].owner
    yield from (line(f"{owner}_no_longer", word(key)) for key in difference.no_longer)
    yield from (line(f"{owner}_newly", word(key)) for key in difference.newly)
