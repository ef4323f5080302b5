"""What edits of a state change: as tables, as plain lines, or as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import Plan, Victim
from planner.report.json import dump
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.plain_lines import line, quoted
from planner.report.table_parts import ANSWERS, NOTHING
from planner.report.text import clean, clean_lines, plural, short, word
from planner.report.words import TERM_TEXTS, rules_name
from planner.scenario.comparison import Difference, WhatIf

VICTIM: Final = "x"
NO_CHANGE: Final = "Nothing changes: neither Kueue's victims nor the plan's, nor what they lose."


class _Evicted(NamedTuple):
    """A workload that some plan evicts; the flags are those of `_SIDES`."""

    victim: Victim
    sides: tuple[bool, bool, bool, bool]


class _Term(NamedTuple):
    """A disruption term: of Kueue before and after, of the plan before and after."""

    id: str
    values: tuple[int | None, int | None, int | None, int | None]


_SIDES: Final = ("Kueue\nbefore", "Kueue\nafter", "Plan\nbefore", "Plan\nafter")


def render(answer: WhatIf, style: str, *, width: int, color: bool) -> str:
    """Return the answer in a style: ``table``, ``plain`` or ``json``."""
    if style == "json":
        return dump(answer)
    if style == "plain":
        return "".join(f"{text}\n" for text in _lines(answer))
    paper = Paper(width, color=color)
    for part in _parts(answer):
        paper.add(part)
    return paper.text()


def _parts(answer: WhatIf) -> Iterator[RenderableType]:
    yield _header(answer)
    if answer.greedy.is_none and answer.optimum.is_none:
        yield Text(NO_CHANGE)
    if evicted := _evicted(answer):
        yield _victim_table(evicted)
    if terms := [row for row in _terms(answer) if any(row.values)]:
        yield _term_table(terms)


def _header(answer: WhatIf) -> Table:
    after = answer.after
    facts = [
        ("Preemptor", Text(short(answer.preemptor), "bold")),
        ("ClusterQueue", Text(short(after.cluster_queue))),
        ("Scheduler", Text(f"Kueue, {rules_name(after)}")),
        ("Objective", Text(clean(after.objective))),
        *(("What if", Text(clean(edit), "bold")) for edit in answer.edits),
    ]
    for when, plan in (("Before", answer.before), ("After", after)):
        name, style = ANSWERS[plan.status]
        facts += [(when, Text(name, style)), ("", Text(clean_lines(plan.explanation)))]
        facts.append(("", Text(clean_lines(_greedy(plan).explanation))))
    return grid(facts)


def _greedy(plan: Plan) -> Plan:
    return plan.greedy or plan


def _sides(answer: WhatIf) -> tuple[Plan, Plan, Plan, Plan]:
    before, after = answer.before, answer.after
    return _greedy(before), _greedy(after), before, after


def _evicted(answer: WhatIf) -> list[_Evicted]:
    """Return every victim of any plan: those of the plans first, then Kueue's own."""
    sides = _sides(answer)
    victims = {v.workload: v for plan in reversed(sides) for v in reversed(plan.victims)}
    keys = dict.fromkeys(key for plan in (*sides[2:], *sides[:2]) for key in plan.keys)
    flags = [set(plan.keys) for plan in sides]
    return [
        _Evicted(victims[key], (key in flags[0], key in flags[1], key in flags[2], key in flags[3]))
        for key in keys
    ]


def _victim_table(rows: list[_Evicted]) -> Table:
    columns: list[Column[_Evicted]] = [
        Column(
            "Victim",
            lambda row: Text(short(row.victim.workload)),
            plural(len(rows), "workload"),
            folds=True,
        ),
        Column("ClusterQueue", lambda row: Text(short(row.victim.cluster_queue)), folds=True),
        Column("Priority", lambda row: str(row.victim.priority), number=True),
        *(_side_column(side, rows) for side in range(len(_SIDES))),
    ]
    return table_of(columns, rows)


def _side_column(side: int, rows: list[_Evicted]) -> Column[_Evicted]:
    def cell(row: _Evicted) -> str:
        return VICTIM if row.sides[side] else NOTHING

    return Column(_SIDES[side], cell, str(sum(row.sides[side] for row in rows)), number=True)


def _terms(answer: WhatIf) -> list[_Term]:
    greedy = {change.term: change for change in answer.greedy.terms}
    optimum = {change.term: change for change in answer.optimum.terms}
    rows = []
    for term in dict.fromkeys([*optimum, *greedy]):
        theirs, ours = greedy.get(term), optimum.get(term)
        rows.append(
            _Term(
                term,
                (
                    theirs.before if theirs else None,
                    theirs.after if theirs else None,
                    ours.before if ours else None,
                    ours.after if ours else None,
                ),
            )
        )
    return rows


def _term_table(rows: list[_Term]) -> Table:
    def value(side: int) -> Column[_Term]:
        def cell(row: _Term) -> str:
            number = row.values[side]
            return NOTHING if number is None else f"{number:,}"

        return Column(_SIDES[side], cell, number=True)

    columns: list[Column[_Term]] = [
        Column("Term", lambda row: Text(clean(row.id))),
        Column("Disruption", lambda row: Text(_texts(row.id)[0]), folds=True),
        *(value(side) for side in range(len(_SIDES))),
        Column("Unit", lambda row: Text(_texts(row.id)[1])),
    ]
    return table_of(columns, rows)


def _texts(term: str) -> tuple[str, str]:
    """Return title and unit of a term."""
    return TERM_TEXTS.get(term, (clean(term), ""))


def _lines(answer: WhatIf) -> Iterator[str]:
    yield line("preemptor", word(answer.preemptor))
    yield line("cluster_queue", word(answer.after.cluster_queue))
    yield line("objective", word(answer.after.objective))
    yield from (line("edit", quoted(edit)) for edit in answer.edits)
    yield from _answer_lines(
        "kueue", answer.greedy, (_greedy(answer.before), _greedy(answer.after))
    )
    yield from _answer_lines("plan", answer.optimum, (answer.before, answer.after))
    for row in _terms(answer):
        names = ("kueue_before", "kueue_after", "plan_before", "plan_after")
        values = zip(names, row.values, strict=True)
        facts = [f"{name}={value}" for name, value in values if value is not None]
        title, unit = _texts(row.id)
        yield line("term", word(row.id), *facts, f"unit={quoted(unit)}", f"title={quoted(title)}")


def _answer_lines(label: str, difference: Difference, plans: tuple[Plan, Plan]) -> Iterable[str]:
    for when, plan in zip(("before", "after"), plans, strict=True):
        facts = (f"victims={len(plan.victims)}", quoted(plan.explanation))
        yield line(f"{label}_{when}", plan.status, *facts)
    yield from (line(f"{label}_no_longer", word(key)) for key in difference.no_longer)
    yield from (line(f"{label}_newly", word(key)) for key in difference.newly)
