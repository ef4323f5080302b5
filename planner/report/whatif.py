"""What edits of a state change, and what can be set there, in every format."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from planner.commands.whatif.edit import Move, Settable, Settings, WhatIf
from planner.plan import AnyPlan
from planner.plan.base import name_some
from planner.quantity import plural
from planner.report import document as doc
from planner.report import words
from planner.report.covered import answer_cell
from planner.report.document import NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.labelled import labelled_lines, labelled_table, row_lines
from planner.report.style import Repeated, Said, each, line, renderer
from planner.scheduler import scheduler_of

MAX_PLACES: Final = 8
NOT_THERE: Final = "it is not there"
_INNER_CAPITAL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


class _Side(NamedTuple):
    """One of the plans compared: whose it is, and whether from before or after the edits."""

    owner: str
    when: str
    plan: AnyPlan


_Term = tuple[str, tuple[int | None, ...]]
"""A disruption term, with its value on every side."""


def _sides(answer: WhatIf) -> list[_Side]:
    plans = [("before", answer.before)] if answer.before else []
    pairs = [*plans, ("after", answer.after)]
    own = [_Side(plan.scheduler, when, _greedy(plan)) for when, plan in pairs]
    return [*own, *(_Side("plan", when, plan) for when, plan in pairs)]


def _greedy(plan: AnyPlan) -> AnyPlan:
    return plan.greedy or plan


def _never_comes(plan: AnyPlan) -> bool:
    return _greedy(plan).about.never_comes


def _document(answer: WhatIf) -> doc.Document:
    """Return the document: the answers, the victims, and the disruption."""
    said: tuple[doc.Block, ...] = (doc.Only("page", (_answers(answer), *_hit(answer))),)
    # The pods that are placed elsewhere, and by whose answer.
    owners = (words.scheduler_name(answer.after), answer.greedy), ("Plan", answer.optimum)
    moves = [(owner, one) for owner, difference in owners for one in difference.moved]
    if answer.greedy.is_none and answer.optimum.is_none:
        what, whose = "Only places change" if moves else "Nothing changes", owners[0][0]
        text = f"{what}: neither {whose}'s victims nor the plan's, nor what they lose."
        if answer.before and _never_comes(answer.before) != _never_comes(answer.after):
            when = "before" if _never_comes(answer.after) else "after"
            text = f"Only {when} the edit {whose} comes to {answer.preemptor}."
        said += (doc.Paragraph(text),)
    sides, after = _sides(answer), answer.after
    levels = after.certificate.levels if after.certificate else ()
    minimised = {term for level in levels for term in level.term.split("+")}
    counted = (
        (term, values)
        for term, values in _terms(answer)
        if any(values) and (term in minimised or term not in words.RARELY_SHOWN)
    )
    terms = words.not_twice(counted, lambda row: row)
    sections = (
        Section("Change", said),
        Section("Places", (_move_table(moves),)),
        Section("Victims", (_victim_table(sides, after),)),
        Section(
            "Quota, before and after the plan",
            (doc.Only("page", scheduler_of(after).reporting.particulars(after).usage),),
        ),
        Section("Disruption", (_term_table(terms, sides, after),)),
        words.noted(words.remarks(*answer.plans)),
    )
    return doc.Document("What an edit changes", tuple(_head(answer)), sections)


def _hit(answer: WhatIf) -> Iterator[doc.Block]:
    """Yield who is no longer a victim, and who newly is one, of the plan and of the scheduler."""
    names: dict[str, str] = {}
    for side in _sides(answer):
        names |= words.victim_names(side.plan)
    owners = ("the plan", answer.optimum), ("the scheduler itself", answer.greedy)
    for owner, difference in owners:
        kinds: tuple[tuple[str, Sequence[str], doc.Tone], ...] = (
            ("no longer", difference.no_longer, "good"),
            ("newly", difference.newly, "warn"),
        )
        for when, keys, tone in kinds:
            if keys:
                named = tuple(names[key] for key in keys)
                yield doc.Names(f"{when} a victim of {owner}", named, tone)


def _head(answer: WhatIf) -> Iterator[Fact]:
    after = answer.after
    yield Fact("Preemptor", name(after.about.name), "title")
    yield Fact(scheduler_of(after).words.queue, name(after.about.queue))
    yield Fact("Scheduler", Cell(f"{words.scheduler_name(after)}, {words.rules_name(after)}"))
    yield Fact("Objective", Cell(after.objective))
    for key in answer.added:
        yield Fact("What if", Cell(f"new workload {key}", tone="strong"))
    for edit in answer.edits:
        yield Fact("What if", Cell(edit, tone="strong"))
    # A page has the answers before the edit beside those after it, in a table.
    if answer.before is None:
        yield Fact("Before", Cell(NOT_THERE), only="screen")
    else:
        yield from _answer("Before", answer.before, only="screen")
    yield from _answer("After", after)


def _answer(when: str, plan: AnyPlan, only: doc.Medium | None = None) -> Iterator[Fact]:
    yield Fact(when, answer_cell(plan), "verdict", only)
    said = dict.fromkeys((plan.explanation, _greedy(plan).explanation))
    yield Fact("", Cell("\n".join(said)), "answer", only)


def _answers(answer: WhatIf) -> doc.Table:
    """Return what the scheduler itself and the plan say, before the edits and after them."""

    def said(owner: str, plan: AnyPlan | None) -> Cell:
        if plan is None:
            return Cell(NOT_THERE, tone="dim")
        if owner != "Plan":
            return Cell(_greedy(plan).explanation)
        verdict = answer_cell(plan)
        return Cell(verdict.text, under=plan.explanation, tone=verdict.tone)

    columns: list[Column[str]] = [
        Column("", lambda owner: Cell(owner, tone="strong")),
        Column("Before", lambda owner: said(owner, answer.before), folds=True),
        Column("After", lambda owner: said(owner, answer.after), folds=True),
    ]
    return table("The answers", columns, (words.scheduler_name(answer.after), "Plan"))


def _title(side: _Side) -> str:
    owner = "Plan" if side.owner == "plan" else words.scheduler_name(side.plan)
    return f"{owner}\n{side.when}"


def _victim_table(sides: Sequence[_Side], plan: AnyPlan) -> doc.Table:
    """Return every victim of any plan, those of the planner's plans first."""

    def victim_column(side: _Side) -> Column[Any]:
        keys = set(side.plan.keys)
        total = str(len(keys))
        cells = {True: "x", False: NOTHING}
        return Column(_title(side), lambda one: cells[one.key in keys], total, number=True)

    ours = [side for side in sides if side.owner == "plan"]
    found = {one.key: one for side in (*ours, *sides) for one in side.plan.victims}
    called = scheduler_of(plan).words
    columns: list[Column[Any]] = [
        Column("Victim", lambda one: name(one.name), plural(len(found), called.noun), folds=True),
        Column(called.queue, lambda one: name(one.runs_in), folds=True, below="Victim"),
        Column("Priority", lambda one: str(one.priority), number=True),
        *map(victim_column, sides),
    ]
    return table("Who is a victim where", columns, found.values())


def _move_table(rows: Sequence[tuple[str, Move]]) -> doc.Table:
    """Return which pods are placed elsewhere, and by whose answer."""

    def on(places: Mapping[str, int]) -> Cell:
        pods = [f"{place} {count}" for place, count in places.items()]
        return name(name_some(pods, MAX_PLACES))

    columns: list[Column[tuple[str, Move]]] = [
        Column("Pods", lambda row: name(row[1].pods), folds=True),
        Column("In", lambda row: row[0]),
        Column("Before", lambda row: on(row[1].before), folds=True),
        Column("After", lambda row: on(row[1].after), folds=True),
    ]
    return table("Where the pods go", columns, rows)


def _terms(answer: WhatIf) -> list[_Term]:
    greedy = {change.term: change for change in answer.greedy.terms}
    optimum = {change.term: change for change in answer.optimum.terms}
    times = ["after"] if answer.before is None else ["before", "after"]
    rows = []
    for term in dict.fromkeys([*optimum, *greedy]):
        changes = (greedy.get(term), optimum.get(term))
        values = (getattr(change, time, None) for change in changes for time in times)
        rows.append((term, tuple(values)))
    return rows


def _term_table(rows: list[_Term], sides: Sequence[_Side], plan: AnyPlan) -> doc.Table:
    work = words.work_of(*(side.plan for side in sides))

    def unit(row: _Term) -> str:
        return words.texts_of(plan.scheduler, row[0])[1]

    def value(position: int) -> Column[_Term]:
        def cell(row: _Term) -> str:
            number = row[1][position]
            return NOTHING if number is None else work.amount(unit(row), number)

        return Column(_title(sides[position]), cell, number=True)

    columns: list[Column[_Term]] = [
        Column("Term", lambda row: row[0]),
        Column("Disruption", lambda row: words.texts_of(plan.scheduler, row[0])[0], only="page"),
        *map(value, range(len(sides))),
        Column("Unit", lambda row: work.unit(unit(row)), below="Term"),
    ]
    return table("What is lost", columns, rows)


def _lines(answer: WhatIf) -> Iterator[str]:
    after, sides = answer.after, _sides(answer)
    yield line("preemptor", answer.preemptor)
    # The label is the scheduler's own word for a queue, such as cluster_queue for Kueue.
    queue = _INNER_CAPITAL.sub("_", scheduler_of(after).words.queue).lower()
    yield line(queue, after.about.queue)
    yield line("objective", after.objective)
    yield from each("added", answer.added)
    yield from each("edit", map(Said, answer.edits))
    if answer.before is None:
        yield line("before", Said(NOT_THERE))
    for owner, difference in ((after.scheduler, answer.greedy), ("plan", answer.optimum)):
        for side in sides:
            if side.owner == owner:
                said, label = Said(side.plan.explanation), f"{owner}_{side.when}"
                yield line(label, side.plan.status, said, victims=side.plan.victims)
        yield from each(f"{owner}_no_longer", difference.no_longer)
        yield from each(f"{owner}_newly", difference.newly)
        for move in difference.moved:
            then, now = (
                Repeated(f"{place}={count}" for place, count in places.items())
                for places in (move.before, move.after)
            )
            yield line(f"{owner}_moved", move.pods, before=then, after=now)
    for term, values in _terms(answer):
        pairs = zip(sides, values, strict=True)
        facts = {f"{side.owner}_{side.when}": value for side, value in pairs}
        title, unit = words.texts_of(after.scheduler, term)
        yield line("term", term, **facts, unit=Said(unit), title=Said(title))


render = renderer(_lines, _document)


SETTINGS: Final = "What can be set"


def _settable(answer: Settings) -> tuple[Settable, ...]:
    return tuple(setting for one in answer.objects for setting in one.settings)


def _settings(answer: Settings) -> doc.Document:
    notes = (f"{answer.left_out:,} that run are not listed.",) if answer.left_out else ()
    title = Fact("Pending", Cell(plural(len(answer.pending), "workload")), "title")
    can = labelled_table("What stands before the = of an edit", _settable(answer), notes=notes)
    who = labelled_table("Who waits in a queue", answer.pending)
    return doc.Document(SETTINGS, (title,), (Section("Pending", (who,)), Section(SETTINGS, (can,))))


def _setting_lines(answer: Settings) -> Iterator[str]:
    yield from labelled_lines(answer)
    for setting in _settable(answer):
        yield from row_lines("setting", setting)


render_settings = renderer(_setting_lines, _settings)
