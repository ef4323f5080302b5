"""The answers of ``planner explain``: as tables, as plain lines, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.explanation.record import (
    Alternative,
    Change,
    Clash,
    Explanation,
    LawInWords,
    Optima,
    Party,
    PreemptionMessage,
    Standing,
    TermDifference,
)
from planner.report.json import dump
from planner.report.paper import Column, Paper, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.table_parts import ANSWERS, NOTHING
from planner.report.text import clean, plural, short, word
from planner.report.words import RULES

QUESTIONS: Final = {
    "why-this-victim": "Why this victim",
    "why-not-that-one": "Why not that one",
    "why-nothing": "Why nothing",
    "why-this-plan": "Why these victims",
}
NECESSARY: Final = {True: "yes", False: "no", None: NOTHING}
CONDITIONS: Final = {"sparing": "Sparing", "taking": "Taking"}


def render(answer: Explanation, style: str, *, width: int, color: bool) -> str:
    """Return an explanation in a style: ``table``, ``plain`` or ``json``."""
    if style == "json":
        return dump(answer)
    if style == "plain":
        return "".join(f"{text}\n" for text in _lines(answer))
    paper = Paper(width, color=color)
    for part in _parts(answer):
        paper.add(part)
    return paper.text()


def render_message(message: PreemptionMessage, style: str, *, width: int, color: bool) -> str:
    """Return what a text of Kueue says in a style: ``table``, ``plain`` or ``json``."""
    if style == "json":
        return dump(message)
    if style == "plain":
        return "".join(f"{text}\n" for text in _message_lines(message))
    paper = Paper(width, color=color)
    facts = [
        ("Text", Text(clean(message.text))),
        ("Reason", Text(message.reason or NOTHING)),
        ("Law", Text(message.law or NOTHING)),
    ]
    for title, party in (("Preemptor", message.preemptor), ("Victim", message.victim)):
        facts += [(title if not n else "", Text(fact)) for n, fact in enumerate(_told(party))]
    paper.add(grid(facts))
    return paper.text()


def _parts(answer: Explanation) -> Iterator[RenderableType]:
    yield _header(answer)
    if answer.workloads:
        yield _standings(answer.workloads)
    if answer.alternative is not None and answer.alternative.terms:
        yield _alternative(answer.alternative)
        yield _difference(answer.alternative.terms)
    if answer.optima is not None and answer.optima.count > 1:
        yield _optima(answer.optima)
    if answer.clash is not None:
        yield from _clash(answer.clash)


def _header(answer: Explanation) -> Table:
    name, style = ANSWERS[answer.status]
    return grid(
        [
            (QUESTIONS[answer.question], Text(clean(answer.answer), "bold")),
            ("Preemptor", Text(f"{short(answer.preemptor)}   priority {answer.priority}")),
            ("ClusterQueue", Text(short(answer.cluster_queue))),
            ("Scheduler", Text(f"Kueue, {RULES[answer.rules]}")),
            ("Objective", Text(clean(answer.objective))),
            ("Plan", Text(f"{name}, {plural(len(answer.victims), 'victim')}", style)),
        ]
    )


def _standings(places: Sequence[Standing]) -> Table:
    columns: list[Column[Standing]] = [
        Column("Workload", lambda one: short(one.workload), folds=True),
        Column("ClusterQueue", lambda one: short(one.cluster_queue), folds=True),
        Column("Priority", lambda one: str(one.priority), number=True),
        Column("Place", _place, number=True),
        Column("Law", lambda one: one.law.law),
        Column("Why", lambda one: clean(one.law.text), folds=True, least=24),
        Column("Kueue", lambda one: yes(one.by_scheduler)),
        Column("Necessary", lambda one: NECESSARY[one.necessary]),
    ]
    return table_of(columns, places)


def _place(one: Standing) -> str:
    return NOTHING if one.position is None else f"{one.position}/{one.candidates}"


def _alternative(other: Alternative) -> Table:
    facts = [(CONDITIONS[other.condition], Text(short(other.workload), "bold"))]
    facts += [("more" if not n else "", Text(short(key))) for n, key in enumerate(other.more)]
    facts += [("fewer" if not n else "", Text(short(key))) for n, key in enumerate(other.fewer)]
    return grid(facts)


def _difference(terms: Sequence[TermDifference]) -> Table:
    ordered = sorted(terms, key=lambda term: (term.level is None, term.level or 0))
    shown = [term for term in ordered if term.level is not None or term.plan != term.other]
    columns: list[Column[TermDifference]] = [
        Column(
            "Level", lambda term: NOTHING if term.level is None else str(term.level), number=True
        ),
        Column("Term", lambda term: clean(term.term)),
        Column("Disruption", lambda term: clean(term.title), folds=True),
        Column("Plan", lambda term: f"{term.plan:,}", number=True),
        Column("Other", lambda term: f"{term.other:,}", number=True),
        Column("Difference", lambda term: f"{term.other - term.plan:+,}", number=True),
        Column("Unit", lambda term: clean(term.unit)),
    ]
    return table_of(columns, shown)


def _optima(optima: Optima) -> Table:
    least = "" if optima.complete else "at least "
    columns: list[Column[tuple[str, ...]]] = [
        Column(
            f"Optimal plans: {least}{optima.count:,}",
            lambda keys: ", ".join(map(short, keys)),
            folds=True,
        )
    ]
    return table_of(columns, optima.plans)


def _clash(clash: Clash) -> Iterator[RenderableType]:
    if clash.laws:
        columns: list[Column[LawInWords]] = [
            Column("Law", lambda law: law.law),
            Column("Clash", lambda law: clean(law.text), folds=True),
        ]
        yield table_of(columns, clash.laws)
    if clash.shortfalls:
        yield grid([("Short", Text(clean(one.text))) for one in clash.shortfalls])
    if clash.changes:
        changes: list[Column[Change]] = [
            Column("Change that helps", lambda one: clean(one.path), folds=True, least=40),
            Column("From", lambda one: clean(one.before)),
            Column("To", lambda one: clean(one.after)),
            Column("Victims", lambda one: str(len(one.victims)), number=True),
        ]
        yield table_of(changes, clash.changes)


def _lines(answer: Explanation) -> Iterator[str]:
    yield line("question", answer.question)
    yield line("answer", quoted(answer.answer))
    yield line("preemptor", word(answer.preemptor))
    yield line("cluster_queue", word(answer.cluster_queue))
    yield line("priority", str(answer.priority))
    yield line("rules", answer.rules)
    yield line("objective", word(answer.objective))
    yield line("status", answer.status)
    yield line("victims", str(len(answer.victims)))
    yield from (_standing_line(one) for one in answer.workloads)
    if answer.alternative is not None:
        yield from _alternative_lines(answer.alternative)
    if answer.optima is not None:
        yield from _optima_lines(answer.optima)
    if answer.clash is not None:
        yield from _clash_lines(answer.clash)


def _standing_line(one: Standing) -> str:
    place = [] if one.position is None else [f"position={one.position}"]
    needed = [] if one.necessary is None else [f"necessary={yes(one.necessary)}"]
    return line(
        "workload",
        word(one.workload),
        f"cluster_queue={word(one.cluster_queue)}",
        f"priority={one.priority}",
        f"candidate={yes(one.candidate)}",
        f"law={one.law.law}",
        *([f"reason={word(one.reason)}"] if one.reason else []),
        *place,
        f"candidates={one.candidates}",
        f"kueue={yes(one.by_scheduler)}",
        f"plan={yes(one.by_plan)}",
        *needed,
        quoted(one.law.text),
    )


def _alternative_lines(other: Alternative) -> Iterator[str]:
    caps = f"within_caps={yes(other.within_caps)}"
    yield line(other.condition, word(other.workload), f"status={other.status}", caps)
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


def _clash_lines(clash: Clash) -> Iterator[str]:
    yield from (line("clash", law.law, quoted(law.text)) for law in clash.laws)
    for one in clash.shortfalls:
        yield line("short", f"{word(one.flavor)}/{word(one.resource)}", quoted(one.text))
    for change in clash.changes:
        yield line(
            "change", word(change.edit), f"victims={len(change.victims)}", quoted(change.text)
        )
    yield line("proved", yes(clash.proved), f"changes_all_tried={yes(clash.tried_all)}")


def _message_lines(message: PreemptionMessage) -> Iterator[str]:
    yield line("kind", message.kind)
    yield line("reason", message.reason or "none")
    yield line("law", message.law or "none")
    for label, party in (("preemptor", message.preemptor), ("victim", message.victim)):
        known = {
            "workload": party.workload,
            "uid": party.uid,
            "job_uid": party.job_uid,
            "cluster_queue": party.cluster_queue,
            "path": "/".join(party.path) or None,
            "priority": party.effective_priority,
            "base": party.base_priority,
            "boost": party.boost,
        }
        facts = (f"{name}={word(str(fact))}" for name, fact in known.items() if fact is not None)
        yield line(label, *facts)


def _told(party: Party) -> list[str]:
    """Return what a text tells of one side, a fact a line."""
    told = []
    if party.workload:
        told.append(short(party.workload))
    if party.uid:
        told.append(f"UID {short(party.uid)}")
    if party.job_uid:
        told.append(f"UID of the job {short(party.job_uid)}")
    if party.path:
        told.append(f"ClusterQueue path {short('/'.join(party.path))}")
    elif party.cluster_queue:
        told.append(f"ClusterQueue {short(party.cluster_queue)}")
    if party.effective_priority is not None:
        parts = f"base {party.base_priority}, boost {party.boost}"
        told.append(f"priority {party.effective_priority} ({parts})")
    return told or [NOTHING]
