"""Priority boosts in every format, with the commands that set them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.commands.boost.kueue.find import Boosts, WorkloadBoost
from planner.report.document import (
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Listing,
    Paragraph,
    Section,
    Table,
    Tone,
    filled,
    name,
    table,
)
from planner.report.style import Said, each, field_lines, fields, free, line, renderer
from planner.report.text import clean, plural
from planner.report.words import rules_name

BOOSTS: Final = "Priority boosts"
ANSWERS: Final[dict[str, tuple[str, Tone]]] = {
    "smallest": ("Proved smallest", "good"),
    "found": ("Works, not proved smallest", "warn"),
    "impossible": ("Proved impossible", "bad"),
    "unknown": ("Unknown", "warn"),
}
TURN_ON: Final = (
    "Kueue heeds the annotation only with its feature gate PriorityBoost on; here it is off.\n"
    "Everything above is as with the gate on."
)


def document(answer: Boosts) -> Document:
    """Return everything there is to say: the boosts, and the commands that set them."""
    boosts: list[Block] = [_table(answer)] if answer.boosts else []
    if answer.boosts and not answer.gate_on:
        boosts.append(Paragraph(TURN_ON, "warn"))
    commands = (Listing(tuple(answer.commands)),) if answer.boosts else ()
    sections = filled(Section("Boosts", tuple(boosts)), Section("Commands", commands))
    return Document(BOOSTS, tuple(_head(answer)), sections)


def _head(answer: Boosts) -> Iterator[Fact]:
    said, tone = ANSWERS[answer.status]
    plan = answer.plan
    yield Fact("Preemptor", name(answer.preemptor), "title")
    yield Fact("ClusterQueue", name(plan.cluster_queue))
    yield Fact("Scheduler", Cell(f"Kueue, {rules_name(plan)}"))
    yield Fact("Objective", Cell(plan.objective))
    yield Fact("Plan", Cell(plan.explanation))
    yield from (Fact("", name(key)) for key in plan.keys)
    yield Fact("Boosts", Cell(said, tone=tone), "verdict")
    yield Fact("", Cell(answer.explanation), "answer")


def _table(answer: Boosts) -> Table:
    columns: list[Column[WorkloadBoost]] = [
        Column(
            "Workload",
            lambda one: name(one.workload),
            plural(len(answer.boosts), "workload"),
            folds=True,
        ),
        Column("ClusterQueue", lambda one: name(one.cluster_queue), folds=True, below="Workload"),
        Column("In the plan", lambda one: one.role),
        Column("Priority", lambda one: str(one.priority), number=True),
        Column("Boost", lambda one: f"{one.boost:+d}", number=True),
        Column("Effective", lambda one: str(one.effective), number=True),
        Column("Today", lambda one: str(one.effective_before), number=True, rank=1),
    ]
    return table("What each gets, and its priority with it", columns, answer.boosts)


def _lines(answer: Boosts) -> Iterator[str]:
    yield from field_lines(answer, "preemptor status")
    yield free("explanation", answer.explanation)
    yield line("plan", answer.plan.status, Said(answer.plan.explanation))
    yield line("objective", answer.plan.objective)
    yield from field_lines(answer, "gate_on orders")
    yield from each("victim", answer.plan.keys)
    names = "value=boost before=boost_before effective effective_before priority cluster_queue role"
    for one in answer.boosts:
        yield line("boost", one.workload, **fields(one, names))
    yield from (clean(command) for command in answer.commands)


render = renderer(_lines, document)
