"""Priority boosts: as a table with the commands under it, as plain lines, or as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.boosting.answer import Boosts, WorkloadBoost
from planner.report.paper import Column, grid, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.style import in_style
from planner.report.text import clean, plural, short, word
from planner.report.words import rules_name

ANSWERS: Final = {
    "smallest": ("PROVED SMALLEST", "bold green"),
    "found": ("WORKS, NOT PROVED SMALLEST", "bold yellow"),
    "impossible": ("PROVED IMPOSSIBLE", "bold red"),
    "unknown": ("UNKNOWN", "bold yellow"),
}
TURN_ON: Final = (
    "Kueue heeds the annotation only with its feature gate PriorityBoost on; here it is off.\n"
    "Everything above is as with the gate on."
)


def render(answer: Boosts, style: str, *, width: int, color: bool) -> str:
    """Return the answer in a style: ``table``, ``plain`` or ``json``."""
    said = in_style(answer, style, _lines, _parts, width=width, color=color)
    return said if style in {"json", "plain"} else said + _commands(answer)


def _parts(answer: Boosts) -> Iterator[RenderableType]:
    name, style = ANSWERS[answer.status]
    plan = answer.plan
    facts = [
        ("Preemptor", Text(short(answer.preemptor), "bold")),
        ("ClusterQueue", Text(short(plan.cluster_queue))),
        ("Scheduler", Text(f"Kueue, {rules_name(plan)}")),
        ("Objective", Text(clean(plan.objective))),
        ("Plan", Text(clean(plan.explanation))),
        *(("", Text(short(key))) for key in plan.keys),
        ("Boosts", Text(name, style)),
        ("", Text(clean(answer.explanation))),
    ]
    yield grid(facts)
    if answer.boosts:
        yield _table(answer)
    if answer.boosts and not answer.gate_on:
        yield Text(TURN_ON, "yellow")


def _table(answer: Boosts) -> Table:
    columns: list[Column[WorkloadBoost]] = [
        Column(
            "Workload",
            lambda one: Text(short(one.workload)),
            plural(len(answer.boosts), "workload"),
            folds=True,
        ),
        Column("ClusterQueue", lambda one: Text(short(one.cluster_queue)), folds=True),
        Column("In the plan", lambda one: one.role),
        Column("Priority", lambda one: str(one.priority), number=True),
        Column("Boost", lambda one: f"{one.boost:+d}", number=True),
        Column("Effective", lambda one: str(one.effective), number=True),
        Column("Today", lambda one: str(one.effective_before), number=True),
    ]
    return table_of(columns, answer.boosts)


def _commands(answer: Boosts) -> str:
    """Return the commands as they are to be run: never broken into lines."""
    return "".join(f"{clean(text)}\n" for text in ["", *answer.commands]) if answer.boosts else ""


def _lines(answer: Boosts) -> Iterator[str]:
    yield line("preemptor", word(answer.preemptor))
    yield line("status", answer.status)
    yield line("explanation", clean(answer.explanation))
    yield line("plan", answer.plan.status, quoted(answer.plan.explanation))
    yield line("objective", word(answer.plan.objective))
    yield line("gate_on", yes(answer.gate_on))
    yield line("orders", str(answer.orders))
    yield from (line("victim", word(key)) for key in answer.plan.keys)
    for one in answer.boosts:
        yield line(
            "boost",
            word(one.workload),
            f"value={one.boost}",
            f"before={one.boost_before}",
            f"effective={one.effective}",
            f"effective_before={one.effective_before}",
            f"priority={one.priority}",
            f"cluster_queue={word(one.cluster_queue)}",
            f"role={one.role}",
        )
    yield from (clean(command) for command in answer.commands)
