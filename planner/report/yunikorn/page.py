"""What only the pages of plans for asks of YuniKorn have: the node, victims, guaranteed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from planner.plan import NodeRoom, QueueUse, YuniKornPlan, YuniKornVictim
from planner.report.document.block import (
    Block,
    Cell,
    Column,
    Fold,
    Gauge,
    Gauges,
    Paragraph,
    Particulars,
    Tone,
    name,
    sheet,
)
from planner.report.table_parts import NOTHING
from planner.report.text import age, hours, plural
from planner.report.yunikorn.table import (
    BELOW,
    DEFAULT_PARTITION,
    HAS_ROOM,
    ITS_OWN,
    MARKS_MEAN,
    OFFSETS_MEAN,
    OVER,
    USAGE_MEANS,
    USES_MEAN,
    asked_types,
    has_offsets,
    held,
    marks,
    use_mark,
)
from planner.report.yunikorn.words import last_tier, yunikorn_amount

HERE: Final = "asks here"


def particulars(plan: YuniKornPlan) -> Particulars:
    """Return what a page says of a plan in terms of its scheduler."""
    return Particulars(
        asking=tuple(_asking(plan)),
        request=tuple(_request(plan)),
        victims=tuple(_victims(plan)),
        usage=tuple(_usage(plan)),
        found=tuple(_found(plan)),
    )


def _asking(plan: YuniKornPlan) -> Iterator[tuple[str, Cell]]:
    """Yield who asks."""
    if plan.pod is not None:
        yield "Key", name(plan.preemptor)
    yield "Application", name(plan.application)
    yield "Queue", name(plan.queue)
    if plan.partition != DEFAULT_PARTITION:
        yield "Partition", name(plan.partition)
    yield "Priority", Cell(f"{plan.priority:,}")


def _found(plan: YuniKornPlan) -> Iterator[tuple[str, Cell]]:
    """Yield the node that the plan chooses."""
    if plan.node is not None:
        yield "Node", Cell(plan.node, _about_node(plan), is_name=True)


def _about_node(plan: YuniKornPlan) -> str:
    if plan.room and all(item.asked <= max(0, item.available) for item in plan.room):
        return HAS_ROOM
    if plan.greedy is not None and plan.greedy.node not in {None, plan.node}:
        return ITS_OWN.format(node=plan.greedy.node)
    return ""


def _request(plan: YuniKornPlan) -> Iterator[Block]:
    """Yield what is asked for, and what the chosen node has for it before and after."""
    if not plan.room:
        return

    def missing(item: NodeRoom) -> Cell:
        short_of = item.asked - max(0, item.available)
        if short_of <= 0:
            return Cell(NOTHING, tone="dim")
        return Cell(yunikorn_amount(short_of, item.resource), tone="bad")

    def after(item: NodeRoom) -> Cell:
        enough = item.after >= item.asked
        return Cell(yunikorn_amount(item.after, item.resource), tone="good" if enough else "bad")

    columns: list[Column[NodeRoom]] = [
        Column("Resource", lambda item: name(item.resource)),
        Column("Asked", lambda item: yunikorn_amount(item.asked, item.resource), number=True),
        Column(
            "Available", lambda item: yunikorn_amount(item.available, item.resource), number=True
        ),
        Column("Short", missing, number=True),
        Column("Victims gone", after, number=True),
    ]
    yield sheet("What the ask wants, and what its node has for it", columns, plan.room)


def _victims(plan: YuniKornPlan) -> Iterator[Block]:
    """Yield the victims in the plan's order, and what they free together."""
    if not plan.victims:
        return
    columns: list[Column[YuniKornVictim]] = [
        Column("Victim", _name, plural(len(plan.victims), "victim")),
        Column("Application", lambda victim: name(victim.application)),
        Column("Queue", lambda victim: name(victim.queue)),
        Column("Priority", lambda victim: str(victim.priority), number=True),
    ]
    if any(victim.node != plan.node for victim in plan.victims):
        columns.insert(3, Column("Node", lambda victim: name(victim.node)))
    notes = [
        text for mark, text in MARKS_MEAN.items() if any(mark in marks(v) for v in plan.victims)
    ]
    if has_offsets(plan):
        columns.append(
            Column("After offsets", lambda victim: str(victim.adjusted_priority), number=True)
        )
        notes.append(OFFSETS_MEAN)
    columns += [_amount(plan, resource) for resource in asked_types(plan)]
    columns.append(Column("Age", lambda victim: age(victim.age_s), number=True))
    columns.append(_cost(plan, "Lost accelerator-hours", "D4"))
    if "cost" in plan.objective:
        columns.append(_cost(plan, "Cost", "cost"))
    yield sheet("Whom to preempt", columns, plan.victims, notes)
    if plan.last_tier:
        yield Paragraph(f"Last tier: {last_tier(plan)}", "warn")


def _name(victim: YuniKornVictim) -> Cell:
    under = " ".join(f"({mark})" for mark in marks(victim))
    return Cell(victim.pod or victim.allocation, under, is_name=True)


def _amount(plan: YuniKornPlan, resource: str) -> Column[YuniKornVictim]:
    def cell(victim: YuniKornVictim) -> Cell:
        units = held(victim, resource)
        return Cell(yunikorn_amount(units, resource)) if units else Cell(NOTHING, tone="dim")

    total = yunikorn_amount(sum(held(victim, resource) for victim in plan.victims), resource)
    return Column(resource.rpartition("/")[2], cell, total, number=True)


def _cost(plan: YuniKornPlan, title: str, term: str) -> Column[YuniKornVictim]:
    show = hours if term == "D4" else "{:,}".format
    total = sum(victim.costs.get(term, 0) for victim in plan.victims)
    return Column(title, lambda victim: show(victim.costs.get(term, 0)), show(total), number=True)


def _usage(plan: YuniKornPlan) -> Iterator[Block]:
    """Yield the queues with usage against guaranteed, the types that are short first."""
    used = {use.resource for use in plan.queues}
    types = [t for t in asked_types(plan) if t in used]
    types += sorted(used.difference(types))
    charts = [_chart(plan, resource) for resource in types]
    short = sum(item.asked > max(0, item.available) for item in plan.room) or 1
    yield from charts[:short]
    if charts[short:]:
        yield Fold("What is not short", tuple(charts[short:]))
    if charts:
        found = {mark for use in plan.queues if (mark := _mark(plan, use))}
        for text in (USAGE_MEANS, *(text for mark, text in USES_MEAN.items() if mark in found)):
            yield Paragraph(text, "dim")


def _chart(plan: YuniKornPlan, resource: str) -> Gauges:
    uses = [use for use in plan.queues if use.resource == resource]
    return Gauges(
        resource,
        tuple(_gauge(plan, use, _depth(use, uses)) for use in uses),
        mark="guaranteed",
        limit="maximum",
        over="",
        show=partial(yunikorn_amount, resource=resource),
    )


def _depth(use: QueueUse, uses: Sequence[QueueUse]) -> int:
    """Return how many of the queues shown lie above this one."""
    return sum(use.queue.startswith(f"{other.queue}.") for other in uses)


def _gauge(plan: YuniKornPlan, use: QueueUse, depth: int) -> Gauge:
    mark = _mark(plan, use)
    notes = [HERE] if use.queue == plan.queue else []
    tone: Tone = "bad" if mark in {BELOW, OVER} and use.after != use.before else ""
    return Gauge(
        name=use.queue,
        kind="Queue",
        depth=depth,
        before=use.before,
        after=use.after if plan.status in {"optimal", "feasible"} else None,
        mark=use.guaranteed,
        limit=use.max,
        notes=(*notes, mark) if mark else tuple(notes),
        tone=tone,
    )


def _mark(plan: YuniKornPlan, use: QueueUse) -> str:
    return use_mark(use) if plan.status in {"optimal", "feasible"} else ""
