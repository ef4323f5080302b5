"""What only the pages of plans for workloads of Kueue have: demand, victims, quota, shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from planner.plan import Demand, FlavorChoices, NodeShare, Plan, QuotaNode, QuotaUse, Victim
from planner.quantity import UNLIMITED, format_units
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Fold,
    Gauge,
    Gauges,
    Paragraph,
    Particulars,
    Sheet,
    Tone,
    name,
    sheet,
)
from planner.report.document.measure import unit_of, value_of
from planner.report.kueue import stability
from planner.report.kueue.flavors import SAME, FlavorRow, cost_rows, flavor_rows, in_words
from planner.report.kueue.table import EVICTING, EVICTING_MEANS, SHARES_MEAN, held
from planner.report.kueue.words import law_behind
from planner.report.table_parts import NOTHING
from planner.report.text import age, hours, plural, thousandths
from planner.report.words import TermRow

HERE: Final = "asks here"
HIDDEN: Final = "{count} not shown"
Place = tuple[str, str]
"""A flavor and a resource in it."""


def particulars(plan: Plan) -> Particulars:
    """Return what a page says of a plan in terms of its scheduler."""
    return Particulars(
        asking=tuple(_asking(plan)),
        request=tuple(_request(plan)),
        victims=tuple(_victims(plan)),
        usage=tuple(_usage(plan)),
    )


def _asking(plan: Plan) -> Iterator[tuple[str, Cell]]:
    """Yield who asks."""
    yield "ClusterQueue", name(plan.cluster_queue)
    yield "Priority", Cell(f"{plan.priority:,}")


def _request(plan: Plan) -> Iterator[Block]:
    """Yield what is asked for and what is missing, and which flavors were chosen."""
    if plan.demand:
        yield _demand(plan)
    if plan.flavors is not None:
        yield from _flavors(plan, plan.flavors)


def _demand(plan: Plan) -> Sheet:
    def shortfall(item: Demand) -> Cell:
        if not item.shortfall:
            return Cell(NOTHING, tone="dim")
        return Cell(format_units(item.shortfall, item.resource), tone="bad")

    columns: list[Column[Demand]] = [
        Column("Resource", lambda item: name(item.resource)),
        Column("Flavor", lambda item: name(item.flavor)),
        Column("Asked", lambda item: item.quantity, number=True),
        Column("Available", lambda item: format_units(item.available, item.resource), number=True),
        Column("Short", shortfall, number=True),
        Column("Mode", lambda item: "Preempt" if item.contested else "Fit"),
    ]
    return sheet(
        "What the workload asks for, and what its queue has for it today", columns, plan.demand
    )


def _flavors(plan: Plan, choices: FlavorChoices) -> Iterator[Block]:
    """Yield the flavors beside Kueue's own, and what Kueue's own would cost."""
    columns: list[Column[FlavorRow]] = [
        Column("Podset", lambda row: name(row.pod_set)),
        Column("Resource", lambda row: name(row.resource)),
        Column("Flavor", lambda row: name(row.flavor)),
        Column("Kueue's own", _kueue_flavor),
    ]
    if plan.status in {"optimal", "feasible"}:
        rows = flavor_rows(plan, choices)
        yield sheet("The flavors chosen for least disruption", columns, rows)
    yield Paragraph(in_words(plan, choices))
    costs = [row for row in cost_rows(plan, choices) if row.greedy not in {None, row.value}]
    if costs:
        yield sheet("What Kueue's own flavors would cost", _COST_COLUMNS, costs)


_COST_COLUMNS: Final[list[Column[TermRow]]] = [
    Column("Term", lambda row: row.id),
    Column("Disruption", lambda row: row.title),
    Column("This plan", lambda row: value_of(row, row.value), number=True),
    Column("Kueue's flavors", lambda row: value_of(row, row.greedy), number=True),
    Column("Unit", unit_of),
]


def _kueue_flavor(row: FlavorRow) -> Cell:
    if row.kueue is None:
        return Cell(NOTHING, tone="dim")
    return Cell(SAME, tone="dim") if row.kueue == row.flavor else name(row.kueue)


def _victims(plan: Plan) -> Iterator[Block]:
    """Yield the victims in the plan's order, and what they free together."""
    if not plan.victims:
        return
    columns: list[Column[Victim]] = [
        Column("Victim", _name, plural(len(plan.victims), "victim")),
        Column("ClusterQueue", lambda victim: name(victim.cluster_queue)),
        Column("Priority", lambda victim: str(victim.priority), number=True),
        *(_amount(plan, item) for item in _by_need(plan.demand)),
        Column("Age", lambda victim: age(victim.age_s), number=True),
        Column("Why it may go", partial(_why, plan)),
        _cost(plan, "Lost accelerator-hours", "D4"),
    ]
    if "cost" in plan.objective:
        columns.append(_cost(plan, "Cost", "cost"))
    yield sheet("Whom to evict", columns, plan.victims, tuple(_legend(plan)))
    if said := stability.of_plan(plan):
        yield Paragraph(said, "warn" if plan.stability else "")


def _by_need(demand: Sequence[Demand]) -> list[Demand]:
    """Return what is requested, what is short of first and what is contested next."""
    return sorted(demand, key=lambda item: (not item.shortfall, not item.contested))


def _name(victim: Victim) -> Cell:
    return Cell(victim.workload, EVICTING if victim.evicted else "", is_name=True)


def _why(plan: Plan, victim: Victim) -> Cell:
    law = law_behind(plan, victim.reason)
    return Cell(victim.reason, law.id if law else "")


def _legend(plan: Plan) -> Iterator[str]:
    """Say in words which law lies behind each reason that occurs."""
    for reason in dict.fromkeys(victim.reason for victim in plan.victims):
        if (law := law_behind(plan, reason)) is not None:
            yield f"{law.id} {reason}: {law.title}"
    if any(victim.evicted for victim in plan.victims):
        yield EVICTING_MEANS


def _amount(plan: Plan, item: Demand) -> Column[Victim]:
    def cell(victim: Victim) -> Cell:
        units = held(victim, item)
        return Cell(format_units(units, item.resource)) if units else Cell(NOTHING, tone="dim")

    total = format_units(sum(held(victim, item) for victim in plan.victims), item.resource)
    title = f"{item.resource.rpartition('/')[2]} {item.flavor}"
    return Column(title, cell, total, number=True)


def _cost(plan: Plan, title: str, term: str) -> Column[Victim]:
    show = hours if term == "D4" else "{:,}".format
    total = sum(victim.costs.get(term, 0) for victim in plan.victims)
    return Column(title, lambda victim: show(victim.costs.get(term, 0)), show(total), number=True)


def _usage(plan: Plan) -> Iterator[Block]:
    """Yield the tree with usage against quota, what is short or contested first, and shares."""
    charts = [_chart(plan, place) for place in _places(plan)]
    wanted = sum(item.contested or bool(item.shortfall) for item in plan.demand) or 1
    yield from charts[:wanted]
    if charts[wanted:]:
        yield Fold("What is not short", tuple(charts[wanted:]))
    if plan.shares:
        yield _shares(plan)


def _places(plan: Plan) -> list[Place]:
    places = [(item.flavor, item.resource) for item in _by_need(plan.demand)]
    return places if plan.tree else []


def _chart(plan: Plan, place: Place) -> Gauges:
    flavor, resource = place
    depths = _depths(plan.tree)
    return Gauges(
        f"{resource} in flavor {flavor}",
        tuple(_gauge(plan, node, place, depths) for node in plan.tree),
        mark="quota",
        limit="borrowing limit",
        over="borrowed",
        show=lambda units: format_units(units, resource),
    )


def _depths(tree: Sequence[QuotaNode]) -> Mapping[str, int]:
    """Return how deep every cohort lies; a tree lists the parents first."""
    depths: dict[str, int] = {}
    for node in tree:
        if node.kind == "Cohort":
            depths[node.name] = depths.get(node.parent or "", -1) + 1 if node.parent else 0
    return depths


def _gauge(plan: Plan, node: QuotaNode, place: Place, depths: Mapping[str, int]) -> Gauge:
    use = next(one for one in node.uses if (one.flavor, one.resource) == place)
    own = node.kind == "ClusterQueue" and node.name == plan.cluster_queue
    notes = [HERE] if own else []
    notes += [HIDDEN.format(count=f"{node.hidden:,}")] if node.hidden else []
    tone: Tone = "" if node.touched else "dim"
    return Gauge(
        name=node.name,
        kind=node.kind,
        depth=0 if node.parent is None else depths.get(node.parent, -1) + 1,
        before=use.before,
        after=use.after if plan.status in {"optimal", "feasible"} else None,
        mark=use.quota,
        limit=_limit(use),
        notes=tuple(notes),
        tone=tone,
    )


def _limit(use: QuotaUse) -> int | None:
    """Return how much the node may use in all, if it has a borrowing limit."""
    if use.borrowing_limit is None or UNLIMITED in {use.quota, use.borrowing_limit}:
        return None
    return use.quota + use.borrowing_limit


def _shares(plan: Plan) -> Sheet:
    """Return how the shares of the queues and cohorts change; what is after, if there is a plan."""
    columns: list[Column[NodeShare]] = [
        Column("Share of", lambda share: name(share.name)),
        Column("Kind", lambda share: share.kind),
        Column("Weight", lambda share: f"{share.weight:g}", number=True),
        Column("Today", lambda share: thousandths(share.before), number=True),
        Column("With preemptor", lambda share: thousandths(share.with_preemptor), number=True),
    ]
    if plan.status in {"optimal", "feasible"}:
        columns.append(Column("After plan", lambda share: thousandths(share.after), number=True))
    return sheet("Shares", columns, plan.shares, (SHARES_MEAN,))
