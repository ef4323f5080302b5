"""Flavors chosen for least disruption, and what Kueue's own would cost: tables and plain lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from planner.plan import FlavorChoices, Plan
from planner.report.paper import Column, table_of
from planner.report.plain_lines import line, quoted, yes
from planner.report.table_parts import NOTHING, RARELY_SHOWN, in_units, unit_in_words
from planner.report.text import clean, plural, short, word
from planner.report.words import TermRow, term_rows

MAX_NAMES: Final = 20
SAME: Final = "the same"


@dataclass(frozen=True, slots=True)
class FlavorRow:
    """The flavor of one resource of a podset, and the one that Kueue would assign."""

    pod_set: str
    resource: str
    flavor: str
    kueue: str | None


def flavor_rows(plan: Plan, choices: FlavorChoices) -> list[FlavorRow]:
    """Return all flavors of a plan beside Kueue's own."""
    kueue = {
        (pods.name, resource): choice.flavor
        for pods in choices.kueue.assignment.pod_sets
        for resource, choice in pods.flavors.items()
    }
    return [
        FlavorRow(pods.name, resource, choice.flavor, kueue.get((pods.name, resource)))
        for pods in plan.assignment.pod_sets
        for resource, choice in sorted(pods.flavors.items())
    ]


def cost_rows(plan: Plan, choices: FlavorChoices) -> list[TermRow]:
    """Return the terms of a plan beside those of the best plan under Kueue's own flavors."""
    theirs = choices.kueue.terms
    return [
        TermRow(row.id, row.title, row.unit, row.value, _sum_of(row.id, theirs), row.level)
        for row in term_rows(plan)
    ]


def _sum_of(measure: str, terms: dict[str, int]) -> int | None:
    parts = measure.split("+")
    return sum(terms[part] for part in parts) if all(part in terms for part in parts) else None


def parts(plan: Plan, choices: FlavorChoices) -> Iterable[RenderableType]:
    """Yield the flavors, and the best plan under Kueue's own, term by term."""
    if plan.status in {"optimal", "feasible"}:
        yield table_of(_FLAVOR_COLUMNS, flavor_rows(plan, choices))
    yield Text(in_words(plan, choices))
    rows = [row for row in cost_rows(plan, choices) if row.level or row.id not in RARELY_SHOWN]
    differing = [row for row in rows if row.greedy not in {None, row.value}]
    if differing:
        yield table_of(_COST_COLUMNS, differing)


def _difference(row: TermRow) -> Text:
    more = (row.greedy or 0) - row.value
    return Text(f"{more:+,}", "green" if more > 0 else "yellow")


_FLAVOR_COLUMNS: Final[list[Column[FlavorRow]]] = [
    Column("Podset", lambda row: Text(clean(row.pod_set)), folds=True),
    Column("Resource", lambda row: Text(clean(row.resource)), folds=True),
    Column("Flavor", lambda row: Text(clean(row.flavor), "bold"), folds=True),
    Column(
        "Kueue's own",
        lambda row: Text(SAME if row.kueue == row.flavor else clean(row.kueue or NOTHING), "dim"),
        folds=True,
    ),
]

_COST_COLUMNS: Final[list[Column[TermRow]]] = [
    Column("Term", lambda row: Text(clean(row.id))),
    Column("Disruption", lambda row: Text(clean(row.title)), folds=True),
    Column("This plan", lambda row: in_units(row, row.value), number=True),
    Column("Kueue's flavors", lambda row: in_units(row, row.greedy), number=True),
    Column("Costs more", _difference, number=True),
    Column("Unit", unit_in_words),
]


def in_words(plan: Plan, choices: FlavorChoices) -> str:
    """Say how many assignments are permitted, and what Kueue's own would cost."""
    own, victims = choices.kueue, choices.kueue.victims
    more = "" if choices.complete else "more than "
    counted = f"The rules permit {more}{plural(choices.permitted, 'assignment')} of flavors."
    if plan.status not in {"optimal", "feasible"}:
        return counted
    if own.status not in {"optimal", "feasible"}:
        return f"{counted} With Kueue's own: {clean(own.explanation)}."
    if own.assignment == plan.assignment:
        return f"{counted} None is better than Kueue's own."
    if not victims:
        return f"{counted} With Kueue's own nobody needs to go either."
    names = ", ".join(short(key) for key in victims[:MAX_NAMES])
    left_out = len(victims) - MAX_NAMES
    names += f" and {left_out:,} more" if left_out > 0 else ""
    least = "the best plan evicts" if own.status == "optimal" else "the best plan found evicts"
    return f"{counted} With Kueue's own {least} {plural(len(victims), 'workload')}: {names}."


def lines(plan: Plan, choices: FlavorChoices) -> Iterator[str]:
    """Yield the same as plain lines."""
    own = choices.kueue
    yield line(
        "flavors",
        f"permitted={choices.permitted}",
        f"distinct={choices.distinct}",
        f"examined={choices.examined}",
        f"complete={yes(choices.complete)}",
    )
    for row in flavor_rows(plan, choices):
        yield line(
            "flavor",
            word(row.pod_set),
            word(row.resource),
            word(row.flavor),
            f"kueue={word(row.kueue) if row.kueue else 'none'}",
        )
    yield line("kueue_flavors", own.status, f"victims={len(own.victims)}", quoted(own.explanation))
    yield from (line("kueue_flavors_victim", word(key)) for key in own.victims)
    for cost in cost_rows(plan, choices):
        if cost.greedy is not None:
            facts = f"plan={cost.value}", f"kueue_flavors={cost.greedy}"
            yield line("flavors_term", word(cost.id), *facts, f"unit={quoted(cost.unit)}")
