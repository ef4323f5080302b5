"""The answers of ``planner explain``: as tables, as plain lines, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.explanation.kueue.record import Clash, Explanation, Standing
from planner.explanation.record import (
    Alternative,
    Change,
    LawInWords,
    Optima,
    TermDifference,
)
from planner.explanation.yunikorn.record import (
    YuniKornClash,
    YuniKornExplanation,
    YuniKornStanding,
)
from planner.report.paper import Column, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.table_parts import ANSWERS, NOTHING
from planner.report.text import clean, plural, short, word
from planner.report.words import QUEUES, RULES, SCHEDULERS

QUESTIONS: Final = {
    "why-this-victim": "Why this victim",
    "why-not-that-one": "Why not that one",
    "why-nothing": "Why nothing",
    "why-this-plan": "Why these victims",
}
NECESSARY: Final = {True: "yes", False: "no", None: NOTHING}
CONDITIONS: Final = {"sparing": "Sparing", "taking": "Taking"}


AnyExplanation = Explanation | YuniKornExplanation
AnyClash = Clash | YuniKornClash


def render(answer: AnyExplanation, style: str, *, width: int, color: bool) -> str:
    """Return an explanation in a style: ``table``, ``plain`` or ``json``."""
    return in_style(answer, style, _lines, _parts, width=width, color=color)


def _parts(answer: AnyExplanation) -> Iterator[RenderableType]:
    yield _header(answer)
    if answer.standings:
        yield _standings(answer)
    if answer.alternative is not None and answer.alternative.terms:
        yield _alternative(answer.alternative, _names(answer))
        yield _difference(answer.alternative.terms)
    if answer.optima is not None and answer.optima.count > 1:
        yield _optima(answer.optima, _names(answer))
    if answer.clash is not None:
        yield from _clash(answer.clash)


def _names(answer: AnyExplanation) -> Mapping[str, str]:
    """Return what people call victims, by their keys, where that is something else."""
    return answer.pods if isinstance(answer, YuniKornExplanation) else {}


def _header(answer: AnyExplanation) -> Table:
    name, style = ANSWERS[answer.status]
    victims = plural(len(answer.victims), "victim")
    facts = [
        (QUESTIONS[answer.question], Text(clean(answer.answer), "bold")),
        ("Preemptor", Text(f"{short(_preemptor(answer))}   priority {answer.priority}")),
        (QUEUES[answer.scheduler], Text(short(_queue(answer)))),
        ("Scheduler", Text(f"{SCHEDULERS[answer.scheduler]}, {RULES[answer.rules]}")),
        ("Objective", Text(clean(answer.objective))),
        ("Plan", Text(f"{name}, {victims}", style)),
    ]
    if isinstance(answer, YuniKornExplanation) and answer.node is not None:
        facts.append(("Node", Text(short(answer.node))))
    return grid(facts)


def _preemptor(answer: AnyExplanation) -> str:
    if isinstance(answer, YuniKornExplanation):
        return answer.pod or answer.preemptor
    return answer.preemptor


def _queue(answer: AnyExplanation) -> str:
    return answer.queue if isinstance(answer, YuniKornExplanation) else answer.cluster_queue


def _standings(answer: AnyExplanation) -> Table:
    if isinstance(answer, YuniKornExplanation):
        allocations: list[Column[YuniKornStanding]] = [
            Column("Allocation", lambda one: short(one.name), folds=True),
            Column("Queue", lambda one: short(one.queue), folds=True),
            Column("Node", lambda one: short(one.node), folds=True),
            Column("Priority", lambda one: str(one.priority), number=True),
            Column("Place", _place_on_node, number=True),
        ]
        return table_of([*allocations, *_reasons("YuniKorn")], answer.allocations)
    workloads: list[Column[Standing]] = [
        Column("Workload", lambda one: short(one.workload), folds=True),
        Column("ClusterQueue", lambda one: short(one.cluster_queue), folds=True),
        Column("Priority", lambda one: str(one.priority), number=True),
        Column("Place", _place, number=True),
    ]
    return table_of([*workloads, *_reasons("Kueue")], answer.workloads)


def _reasons(scheduler: str) -> list[Column[Any]]:
    """Return the columns that say why, whichever the scheduler."""
    return [
        Column("Law", lambda one: one.law.law),
        Column("Why", lambda one: clean(one.law.text), folds=True, least=24),
        Column(scheduler, lambda one: yes(one.by_scheduler)),
        Column("Necessary", lambda one: NECESSARY[one.necessary]),
    ]


def _place(one: Standing) -> str:
    return NOTHING if one.position is None else f"{one.position}/{one.candidates}"


def _place_on_node(one: YuniKornStanding) -> str:
    """Return the place in the order in which the core looks at candidates, node by node."""
    return NOTHING if one.node_position is None else f"{one.node_position}/{one.node_candidates}"


def _alternative(other: Alternative, names: Mapping[str, str]) -> Table:
    facts = [(CONDITIONS[other.condition], Text(short(_name(names, other.victim)), "bold"))]
    for label, keys in (("more", other.more), ("fewer", other.fewer)):
        named = [Text(short(_name(names, key))) for key in keys]
        facts += [(label if not n else "", text) for n, text in enumerate(named)]
    return grid(facts)


def _name(names: Mapping[str, str], key: str) -> str:
    return names.get(key, key)


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


def _optima(optima: Optima, names: Mapping[str, str]) -> Table:
    least = "" if optima.complete else "at least "
    columns: list[Column[tuple[str, ...]]] = [
        Column(
            f"Optimal plans: {least}{optima.count:,}",
            lambda keys: ", ".join(short(_name(names, key)) for key in keys),
            folds=True,
        )
    ]
    return table_of(columns, optima.plans)


def _clash(clash: AnyClash) -> Iterator[RenderableType]:
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


def _lines(answer: AnyExplanation) -> Iterator[str]:
    yield line("question", answer.question)
    yield line("answer", quoted(answer.answer))
    yield line("preemptor", word(answer.preemptor))
    if isinstance(answer, YuniKornExplanation):
        yield line("pod", *([word(answer.pod)] if answer.pod else []))
        yield line("queue", word(answer.queue))
        yield line("node", *([word(answer.node)] if answer.node else []))
    else:
        yield line("cluster_queue", word(answer.cluster_queue))
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
    if isinstance(answer, Explanation):
        for one in answer.workloads:
            reason = [f"reason={word(one.reason)}"] if one.reason else []
            facts = (f"cluster_queue={word(one.cluster_queue)}", *reason)
            yield line("workload", word(one.workload), *_facts(one, "kueue", *facts))
        return
    for each in answer.allocations:
        place = [] if each.node_position is None else [f"node_position={each.node_position}"]
        facts = (
            *([f"pod={word(each.pod)}"] if each.pod else []),
            f"queue={word(each.queue)}",
            f"node={word(each.node)}",
            f"adjusted_priority={each.adjusted_priority}",
            f"originator={yes(each.originator)}",
            f"opted_out={yes(each.opted_out)}",
            *place,
            f"node_candidates={each.node_candidates}",
        )
        yield line("allocation", word(each.allocation), *_facts(each, "yunikorn", *facts))


def _facts(one: Standing | YuniKornStanding, scheduler: str, *more: str) -> list[str]:
    place = [] if one.position is None else [f"position={one.position}"]
    needed = [] if one.necessary is None else [f"necessary={yes(one.necessary)}"]
    return [
        *more,
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
