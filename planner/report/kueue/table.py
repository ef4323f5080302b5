"""A plan for a pending workload of Kueue as tables: demand, victims, shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import Demand, NodeShare, Plan, Victim
from planner.quantity import format_units
from planner.report.kueue import flavors, stability
from planner.report.kueue.words import law_behind, release_of
from planner.report.paper import Cell, Column, table_of
from planner.report.table_parts import (
    NOTHING,
    beside_greedy,
    best_fit,
    broken_rules,
    certificate_of,
    disruption,
    header,
    lost_columns,
)
from planner.report.text import age, clean, plural, short, thousandths

MAX_AMOUNTS: Final = 3
WIDE: Final = 100
"""From this width on, every victim has the scheduler's own reason code beside it."""

EVICTING: Final = "(evicting)"
EVICTING_MEANS: Final = "(evicting): is being evicted already, and costs nothing more"
SHARES_MEAN: Final = "share: borrowed thousandths of what the parent could lend, divided by weight"


def parts(plan: Plan, width: int) -> Iterable[RenderableType]:
    """Yield the parts of a screen of a width, from top to bottom."""
    yield header(plan, asking(plan))
    if plan.demand:
        yield _demand(plan.demand)
    if plan.flavors is not None:
        yield from flavors.parts(plan, plan.flavors)
    if plan.victims:
        yield _victims(plan, width)
        yield _legend(plan)
        if said := stability.of_plan(plan):
            yield Text(said, "yellow" if plan.stability else "")
    if plan.greedy is not None:
        yield beside_greedy(plan, plan.greedy, plan.greedy.attempt)
    yield from broken_rules(plan)
    yield from disruption(plan)
    if plan.shares:
        yield _shares(plan)
        yield Text(SHARES_MEAN, "dim")
    if plan.certificate is not None:
        yield certificate_of(plan, plan.certificate)


def asking(plan: Plan) -> Iterable[tuple[str, Cell]]:
    """Yield who is asking, and where."""
    preemptor = Text(short(plan.preemptor), "bold")
    yield "Preemptor", preemptor.append(f"   priority {plan.priority}", "not bold")
    yield "ClusterQueue", short(plan.cluster_queue)
    if said := release_of(plan):
        yield "Kueue", said


def _demand(demand: Sequence[Demand]) -> Table:
    def shortfall(item: Demand) -> Text:
        if not item.shortfall:
            return Text(NOTHING)
        return Text(format_units(item.shortfall, item.resource), "bold red")

    columns: list[Column[Demand]] = [
        Column("Resource", lambda item: Text(clean(item.resource)), folds=True),
        Column("Flavor", lambda item: Text(clean(item.flavor)), folds=True),
        Column("Asked", lambda item: Text(clean(item.quantity)), number=True),
        Column("Available", lambda item: format_units(item.available, item.resource), number=True),
        Column("Short", shortfall, number=True),
        Column("Mode", lambda item: "Preempt" if item.contested else "Fit"),
    ]
    return table_of(columns, demand)


def _victims(plan: Plan, width: int) -> Table:
    """Return the victims with as many columns as there is room for."""
    shapes = [(True, MAX_AMOUNTS)] if width >= WIDE else []
    shapes += [(False, amounts) for amounts in range(MAX_AMOUNTS, 0, -1)]
    return best_fit(
        [_victim_table(plan, wide=wide, amounts=amounts) for wide, amounts in shapes], width
    )


def _victim_table(plan: Plan, *, wide: bool, amounts: int) -> Table:
    """Return the victims in the plan's order, and what they free together."""
    victims = plan.victims
    columns: list[Column[Victim]] = [
        Column("Victim", _name, folds=True, total=plural(len(victims), "victim")),
        Column("ClusterQueue", lambda victim: Text(short(victim.cluster_queue)), folds=True),
        Column("Priority", lambda victim: str(victim.priority), number=True),
        *_amount_columns(plan)[:amounts],
        Column("Age", lambda victim: age(victim.age_s), number=True),
    ]
    if wide:
        columns.append(Column("Reason", lambda victim: Text(clean(victim.reason))))
    columns.append(Column("Law", lambda victim: _law_id(plan, victim)))
    return table_of([*columns, *lost_columns(plan, victims)], victims)


def _name(victim: Victim) -> Text:
    name = Text(short(victim.workload))
    return name.append(f" {EVICTING}", "dim") if victim.evicted else name


def _law_id(plan: Plan, victim: Victim) -> str:
    law = law_behind(plan, victim.reason)
    return law.id if law else NOTHING


def _legend(plan: Plan) -> Text:
    """Say in words which law lies behind each reason that occurs."""
    lines = []
    for reason in dict.fromkeys(victim.reason for victim in plan.victims):
        law = law_behind(plan, reason)
        lines.append(f"{law.id} {clean(reason)}: {law.title}" if law else clean(reason))
    if any(victim.evicted for victim in plan.victims):
        lines.append(EVICTING_MEANS)
    return Text("\n".join(lines), "dim")


def _amount_columns(plan: Plan) -> list[Column[Victim]]:
    """Return a column per flavor-resource that is short, or else contested; a few at most."""
    by_need = sorted(plan.demand, key=lambda item: (not item.shortfall, not item.contested))
    wanted = [item for item in by_need if item.shortfall or item.contested][:MAX_AMOUNTS]
    return [_amount_column(plan, item) for item in wanted]


def _amount_column(plan: Plan, item: Demand) -> Column[Victim]:
    def cell(victim: Victim) -> str:
        units = held(victim, item)
        return format_units(units, item.resource) if units else NOTHING

    title = f"{clean(item.resource).rpartition('/')[2]}\n{clean(item.flavor)}"
    total = format_units(sum(held(victim, item) for victim in plan.victims), item.resource)
    return Column(title, cell, total, number=True)


def held(victim: Victim, item: Demand) -> int:
    """Return how much a victim holds of what is demanded."""
    place = (item.flavor, item.resource)
    return sum(one.units for one in victim.usage if (one.flavor, one.resource) == place)


def _shares(plan: Plan) -> Table:
    """Return how the shares of the queues and cohorts change; what is after, if there is a plan."""
    columns: list[Column[NodeShare]] = [
        Column("Share of", lambda share: Text(short(share.name)), folds=True),
        Column("Kind", lambda share: share.kind),
        Column("Weight", lambda share: f"{share.weight:g}", number=True),
        Column("Today", lambda share: thousandths(share.before), number=True),
        Column("With preemptor", lambda share: thousandths(share.with_preemptor), number=True),
    ]
    if plan.status in {"optimal", "feasible"}:
        columns.append(Column("After plan", lambda share: thousandths(share.after), number=True))
    return table_of(columns, plan.shares)
