"""A plan for an ask of YuniKorn as tables: the node, the victims, the guaranteed of queues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from planner.plan import NodeRoom, QueueUse, YuniKornPlan, YuniKornVictim
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
from planner.report.text import age, clean, plural, short
from planner.report.yunikorn.words import last_tier, yunikorn_amount

DEFAULT_PARTITION: Final = "default"
HAS_ROOM: Final = "has room without any victims"
ITS_OWN: Final = "YuniKorn itself: {node}"
TOO_LITTLE: Final = "too little"

ORIGINATOR, OPTED_OUT = "originator", "opted out"
MARKS_MEAN: Final = {
    ORIGINATOR: "(originator): started its application; a last resort",
    OPTED_OUT: "(opted out): asks not to be preempted; a last resort",
}
OFFSETS_MEAN: Final = "after offsets: priority as the offsets and fences of the queues leave it"
LEFT_OUT: Final = "not shown at this width: {types}"

BELOW, STILL_BELOW, OVER = "below", "still below", "over max"
USES_MEAN: Final = {
    BELOW: "below: the plan takes from a queue what its guaranteed promises",
    STILL_BELOW: "still below: less than guaranteed, and not less than today",
    OVER: "over max: more than the queue may hold",
}
USAGE_MEANS: Final = "usage: allocated, without what is being preempted already"

WHOLE, FOLDED = 48, 20
"""Facts of a victim are stacked in one column before names shorter than the first are folded;
columns are left out before names are folded to less than the second."""

STACKS: Final = (
    (("Victim",), ("Queue",), ("Application",), ("Node",)),
    (("Victim", "Application"), ("Queue", "Node")),
    (("Victim", "Application", "Queue", "Node"),),
)
"""The columns that say who a victim is, each with the facts that stand one under the other."""

UNDER: Final = "  "


def parts(plan: YuniKornPlan, width: int) -> Iterable[RenderableType]:
    """Yield the parts of a screen of a width, from top to bottom."""
    yield _header(plan)
    if plan.room:
        yield _room(plan.room)
    if plan.victims:
        yield from _victims(plan, width)
    if plan.queues:
        yield from _queues(plan, width)
    if plan.greedy is not None:
        yield beside_greedy(plan, plan.greedy)
    yield from broken_rules(plan)
    yield from disruption(plan)
    if plan.certificate is not None:
        yield certificate_of(plan, plan.certificate)


def _header(plan: YuniKornPlan) -> Table:
    table = header(plan, asking(plan))
    if plan.node is not None:
        table.add_row("Node", _node(plan, plan.node))
    if plan.last_tier:
        table.add_row("Last tier", Text(clean(last_tier(plan)), "yellow"))
    return table


def asking(plan: YuniKornPlan) -> Iterable[tuple[str, Cell]]:
    """Yield who is asking, and where."""
    ask = Text(short(plan.preemptor_name), "bold")
    yield "Ask", ask.append(f"   priority {plan.priority}", "not bold")
    if plan.pod is not None:
        yield "Key", short(plan.preemptor)
    yield "Application", short(plan.application)
    elsewhere = plan.partition != DEFAULT_PARTITION
    yield "Queue", short(plan.queue) + (f"   partition {short(plan.partition)}" * elsewhere)


def _node(plan: YuniKornPlan, node: str) -> Text:
    """Name the chosen node, and the core's own where it is another."""
    text = Text(short(node))
    if plan.room and all(item.asked <= max(0, item.available) for item in plan.room):
        text.append(f"   {HAS_ROOM}", "dim")
    if plan.greedy is not None and plan.greedy.node not in {None, node}:
        text.append(f"   {ITS_OWN.format(node=short(plan.greedy.node or ''))}", "dim")
    return text


def _room(room: Sequence[NodeRoom]) -> Table:
    """Return what the chosen node has for the ask, now and with the victims gone."""

    def missing(item: NodeRoom) -> Text:
        short_of = item.asked - max(0, item.available)
        if short_of <= 0:
            return Text(NOTHING)
        return Text(yunikorn_amount(short_of, item.resource), "bold red")

    def mark(item: NodeRoom) -> Text:
        return Text(TOO_LITTLE if item.after < item.asked else "", "bold red")

    columns: list[Column[NodeRoom]] = [
        Column("Resource", lambda item: Text(clean(item.resource)), folds=True),
        Column("Asked", lambda item: yunikorn_amount(item.asked, item.resource), number=True),
        Column(
            "Available", lambda item: yunikorn_amount(item.available, item.resource), number=True
        ),
        Column("Short", missing, number=True),
        Column(
            "Victims gone", lambda item: yunikorn_amount(item.after, item.resource), number=True
        ),
    ]
    if any(item.after < item.asked for item in room):
        columns.append(Column("", mark))
    return table_of(columns, room)


class Shape(NamedTuple):
    """How much of the victims a table shows.

    ``stack`` is one of STACKS, whose columns want at least ``least``; ``types`` are the resource
    types with a column, and ``left_out`` those without.
    """

    stack: Sequence[Sequence[str]]
    least: int
    types: Sequence[str]
    left_out: Sequence[str] = ()


def _victims(plan: YuniKornPlan, width: int) -> Iterable[RenderableType]:
    """Yield the victims in the widest shape that there is room for, and what marks mean."""
    types = asked_types(plan)
    shapes = [Shape(stack, WHOLE, types) for stack in STACKS]
    shapes += [
        Shape(STACKS[-1], FOLDED, types[:count], types[count:])
        for count in range(len(types), 0, -1)
    ]
    tables = [_victim_table(plan, shape) for shape in shapes]
    table = best_fit(tables, width)
    yield table
    if legend := list(_legend(plan, shapes[tables.index(table)])):
        yield Text("\n".join(legend), "dim")


def asked_types(plan: YuniKornPlan) -> tuple[str, ...]:
    """Return the types of the ask, those the node is short of first."""
    by_need = sorted(plan.room, key=lambda item: item.asked <= max(0, item.available))
    held = (amount.resource for victim in plan.victims for amount in victim.usage)
    return tuple(item.resource for item in by_need) or tuple(dict.fromkeys(held))


def _victim_table(plan: YuniKornPlan, shape: Shape) -> Table:
    """Return the victims in the plan's order, and what they free together."""
    victims = plan.victims
    columns = _who(plan, shape)
    columns.append(Column("Priority", lambda victim: str(victim.priority), number=True))
    if has_offsets(plan):
        columns.append(
            Column("After\noffsets", lambda victim: str(victim.adjusted_priority), number=True)
        )
    columns += [_amounts(plan, resource) for resource in shape.types]
    columns.append(Column("Age", lambda victim: age(victim.age_s), number=True))
    return table_of([*columns, *lost_columns(plan, victims)], victims)


def _who(plan: YuniKornPlan, shape: Shape) -> list[Column[YuniKornVictim]]:
    """Return the columns that name a victim; with its node only if there are several."""
    several = any(victim.node != plan.node for victim in plan.victims)
    stacks = [[fact for fact in facts if several or fact != "Node"] for facts in shape.stack]
    totals = [plural(len(plan.victims), "victim")] + [""] * len(stacks)
    return [
        _stacked(facts, total, shape.least)
        for facts, total in zip(stacks, totals, strict=False)
        if facts
    ]


def _stacked(facts: Sequence[str], total: str, least: int) -> Column[YuniKornVictim]:
    """Return a column with some facts of a victim, one under the other."""
    first, *others = facts

    def cell(victim: YuniKornVictim) -> Text:
        known = {
            "Victim": _name(victim),
            "Queue": Text(short(victim.queue)),
            "Application": Text(short(victim.application)),
            "Node": Text(short(victim.node)),
        }
        text = known[first]
        for fact in others:
            text.append(f"\n{UNDER}{known[fact]}", "dim")
        return text

    title = "\n".join([first, *(f"{UNDER}{fact.lower()}" for fact in others)])
    return Column(title, cell, total, folds=True, least=least)


def _name(victim: YuniKornVictim) -> Text:
    text = Text(short(victim.pod or victim.allocation))
    for mark in marks(victim):
        text.append(f" ({mark})", "yellow")
    return text


def marks(victim: YuniKornVictim) -> list[str]:
    """Say what makes a victim a last resort."""
    facts = {ORIGINATOR: victim.originator, OPTED_OUT: victim.opted_out}
    return [mark for mark, is_so in facts.items() if is_so]


def has_offsets(plan: YuniKornPlan) -> bool:
    """Say whether offsets of queues change the priority of a victim."""
    return any(victim.adjusted_priority != victim.priority for victim in plan.victims)


def _amounts(plan: YuniKornPlan, resource: str) -> Column[YuniKornVictim]:
    """Return what the victims hold of a resource type."""

    def cell(victim: YuniKornVictim) -> str:
        units = held(victim, resource)
        return yunikorn_amount(units, resource) if units else NOTHING

    total = yunikorn_amount(sum(held(victim, resource) for victim in plan.victims), resource)
    return Column(_type_names(plan)[resource], cell, total, number=True)


def held(victim: YuniKornVictim, resource: str) -> int:
    """Return how much a victim holds of a resource type."""
    return sum(amount.units for amount in victim.usage if amount.resource == resource)


def _type_names(plan: YuniKornPlan) -> dict[str, str]:
    """Return a short name for every resource type, in full where two would be the same."""
    types = {*asked_types(plan), *(use.resource for use in plan.queues)}
    last = {resource: resource.rpartition("/")[2] for resource in types}
    alone = Counter(last.values())
    return {t: clean(name if alone[name] == 1 else t) for t, name in last.items()}


def _legend(plan: YuniKornPlan, shape: Shape) -> Iterable[str]:
    """Say what marks mean, and what there was no room for."""
    found = {mark for victim in plan.victims for mark in marks(victim)}
    yield from (meaning for mark, meaning in MARKS_MEAN.items() if mark in found)
    if has_offsets(plan):
        yield OFFSETS_MEAN
    if shape.left_out:
        yield LEFT_OUT.format(types=", ".join(map(clean, shape.left_out)))


def _queues(plan: YuniKornPlan, width: int) -> Iterable[RenderableType]:
    """Yield what the queues use against their guaranteed, and what marks mean.

    What is after is shown only if there is a plan. Marks break where there is little room.
    """
    yield best_fit([_queue_table(plan, between) for between in (" ", "\n")], width)
    marks = _use_marks(plan)
    legend = [USAGE_MEANS, *(meaning for mark, meaning in USES_MEAN.items() if mark in marks)]
    yield Text("\n".join(legend), "dim")


def _queue_table(plan: YuniKornPlan, between: str) -> Table:
    """Return the queues of a plan, something ``between`` the words of a mark."""
    names = _type_names(plan)
    first = {use.queue: use for use in reversed(plan.queues)}

    def queue(use: QueueUse) -> Text:
        return Text(short(use.queue) if first[use.queue] is use else "")

    def mark(use: QueueUse) -> Text:
        return Text(use_mark(use).replace(" ", between), _use_style(use))

    def limit(value: int | None, use: QueueUse) -> str:
        return NOTHING if value is None else yunikorn_amount(value, use.resource)

    columns: list[Column[QueueUse]] = [
        Column("Queue", queue, folds=True, least=FOLDED),
        Column("Resource", lambda use: names[use.resource], folds=True),
        Column("Guaranteed", lambda use: limit(use.guaranteed, use), number=True),
    ]
    if any(use.max is not None for use in plan.queues):
        columns.append(Column("Max", lambda use: limit(use.max, use), number=True))
    columns.append(
        Column("Usage", lambda use: yunikorn_amount(use.before, use.resource), number=True)
    )
    if _has_after(plan):
        columns.append(Column("After plan", _after, number=True))
    if _use_marks(plan):
        columns.append(Column("", mark))
    return table_of(columns, plan.queues)


def _has_after(plan: YuniKornPlan) -> bool:
    return plan.status in {"optimal", "feasible"}


def _use_marks(plan: YuniKornPlan) -> set[str]:
    """Return the marks of queues that a plan leaves outside their limits."""
    return {mark for use in plan.queues if _has_after(plan) and (mark := use_mark(use))}


def _after(use: QueueUse) -> Text:
    return Text(yunikorn_amount(use.after, use.resource), _use_style(use))


def use_mark(use: QueueUse) -> str:
    """Say whether a queue ends below its guaranteed or above its maximum."""
    if use.guaranteed is not None and use.after < use.guaranteed:
        return BELOW if use.after < use.before else STILL_BELOW
    return OVER if use.max is not None and use.after > use.max else ""


def _use_style(use: QueueUse) -> str:
    return {BELOW: "bold red", STILL_BELOW: "yellow", OVER: "bold red"}.get(use_mark(use), "")
