"""A plan for an ask of YuniKorn: the node, the victims, the guaranteed of queues.

Its plain lines have the words of Kueue's plans, and these:

preemptor        the allocation key of the ask; ``pod`` is its namespace/name
node             the chosen node; ``yunikorn_node`` is the core's own choice
room             one resource type of that node: asked, available, and after the victims are gone
victim           an allocation by its key; ``adjusted_priority`` has the offsets of the queues
last_tier        whether a victim opted out or started its application
queue_use        one type of a queue that is touched: guaranteed, max, usage before and after
held_back        why the core does not do for the ask what it decides for it: notFirst, hangs
before           an ask that acts before it
may_also         what else the core may do, by what it leaves to chance (order, race), and where
may_also_victim  whom it would then preempt

What is not set or not known is ``none``. Amounts are as in queues.yaml: ``1500m``, ``16Gi``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from itertools import islice
from typing import Final

from planner.plan.yunikorn import NodeRoom, QueueUse, YuniKornPlan, YuniKornVictim
from planner.quantity import plural
from planner.quota.yunikorn.lowered import LOWERED
from planner.report import document as doc
from planner.report import plan as shared
from planner.report.document import MAX_NAMES, NONE, NOTHING, REPEATED, Cell, Column, name, table
from planner.report.labelled import row_lines
from planner.report.style import each, field_lines, fields, line
from planner.report.text import age, short, some_of
from planner.state.yunikorn import format_yunikorn_quantity

DEFAULT_PARTITION: Final = "default"
MOST_IN_BRIEF: Final = 2
"""Resource types in brief."""
ORIGINATOR, OPTED_OUT = "originator", "opted out"
MARKS_MEAN: Final = {
    ORIGINATOR: "(originator): started its application; a last resort",
    OPTED_OUT: "(opted out): asks not to be preempted; a last resort",
}

BELOW, STILL_BELOW, OVER = "below", "still below", "over max"
USES_MEAN: Final = {
    BELOW: "below: the plan takes from a queue what its guaranteed promises",
    STILL_BELOW: "still below: less than guaranteed, and not less than today",
    OVER: "over max: more than the queue may hold",
}
TONES: Final[dict[str, doc.Tone]] = {BELOW: "bad", STILL_BELOW: "warn", OVER: "bad"}


def particulars(plan: YuniKornPlan) -> shared.Particulars:
    """Return the parts of a document that only plans of YuniKorn have."""
    elsewhere = plan.partition != DEFAULT_PARTITION
    partition = f"partition {short(plan.partition)}" if elsewhere else ""
    queue = Cell(plan.queue, is_name=True, aside=partition, aside_tone="")
    lowered = plan.rules == LOWERED
    key = [("Key", name(plan.preemptor))] if plan.pod is not None else []
    found: list[tuple[str, Cell]] = []
    if plan.node is not None:
        about = []
        if plan.room and all(item.asked <= max(0, item.available) for item in plan.room):
            about.append("has room without any victims")
        if plan.greedy is not None and plan.greedy.node not in {None, plan.node}:
            about.append(f"YuniKorn itself: {short(plan.greedy.node or '')}")
        found.append(("Node", Cell(plan.node, is_name=True, aside="   ".join(about))))
    broken = plan.greedy.outside_rules if lowered and plan.greedy else ()
    found += [("YuniKorn", Cell(said.partition(": ")[2], tone="warn")) for said in broken]
    if plan.last_tier:
        found.append(("Last resort", Cell(last_tier(plan), tone="warn")))
    lacking = {one.resource: one.asked - max(0, one.available) for one in plan.room}
    if lowered:
        own = (use for use in plan.queues if use.queue == plan.queue)
        lacking = {use.resource: use.before - use.max for use in own if use.max is not None}
    little = {t: amount for t, amount in lacking.items() if amount > 0}
    amounts = [f"{yunikorn_amount(amount, t)} {short(t)}" for t, amount in little.items()]
    missing = some_of(amounts[:MOST_IN_BRIEF], len(little))
    return shared.Particulars(
        asks="Queue" if lowered else "Ask",
        asking=() if lowered else (*key, ("Application", name(plan.application)), ("Queue", queue)),
        request=(_room(plan.room),) if plan.room else (),
        victims=tuple(_victims(plan)) if plan.victims else (),
        usage=tuple(_usage(plan)) if plan.queues else (),
        found=tuple(found),
        brief=(
            *(() if lowered else (("Queue", queue),)),
            *((("Above max" if lowered else "Short of", Cell(missing)),) if missing else ()),
        ),
        columns=(*_columns(plan), *shared.cost_columns(plan)),
    )


def yunikorn_amount(units: int, resource: str) -> str:
    """Return an amount in YuniKorn's units as people write it: ``1.5`` cores, or ``500m``."""
    if resource == "vcore" and abs(units) > 1000:  # noqa: PLR2004 - one core
        return f"{Decimal(units).scaleb(-3).normalize():f}"
    return format_yunikorn_quantity(units, resource)


def last_tier(plan: YuniKornPlan) -> str:
    """Say how many victims opted out or started their application, and whether that must be.

    A bound on the first level that counts them proves it, and only under the plan's objective.
    """
    originators = sum(victim.originator for victim in plan.victims)
    opted_out = sum(victim.opted_out for victim in plan.victims)
    counts = [plural(originators, "originator")] if originators else []
    counts += [f"{opted_out:,} opted out"] if opted_out else []
    said = ", ".join(counts)
    if plan.certificate is None:
        return said
    level = next((level for level in plan.certificate.levels if level.term == "last_resort"), None)
    if level is None:
        return f"{said}; {plan.objective} does not count them"
    if level.value == level.bound:
        return f"{said}; proved: no legal plan under this objective does with fewer"
    return f"{said}; not proved that no plan does with fewer"


def _room(room: Sequence[NodeRoom]) -> doc.Table:
    def missing(item: NodeRoom) -> Cell:
        short_of = item.asked - max(0, item.available)
        if short_of <= 0:
            return NONE
        return Cell(yunikorn_amount(short_of, item.resource), tone="bad")

    def amount_of(field: str) -> Callable[[NodeRoom], str]:
        return lambda item: yunikorn_amount(getattr(item, field), item.resource)

    columns: list[Column[NodeRoom]] = [
        Column("Resource", lambda item: name(item.resource), folds=True),
        Column("Asked", amount_of("asked"), number=True),
        Column("Available", amount_of("available"), number=True),
        Column("Short", missing, number=True),
        Column("Victims gone", amount_of("after"), number=True),
    ]
    if any(item.after < item.asked for item in room):
        little = {True: "too little", False: ""}
        columns.append(Column("", lambda o: Cell(little[o.after < o.asked], tone="bad")))
    return table("What the ask wants, and what its node has for it", columns, room)


def asked_types(plan: YuniKornPlan) -> tuple[str, ...]:
    """Return the types of the ask, those the node is short of first."""
    by_need = sorted(plan.room, key=lambda item: item.asked <= max(0, item.available))
    held = (amount.resource for victim in plan.victims for amount in victim.usage)
    return tuple(item.resource for item in by_need) or tuple(dict.fromkeys(held))


def _who(victim: YuniKornVictim) -> Cell:
    marked = " ".join(f"({mark})" for mark in marks(victim))
    return Cell(victim.name, is_name=True, aside=marked, aside_tone="warn")


def _columns(plan: YuniKornPlan) -> Iterator[Column[YuniKornVictim]]:
    """Yield who a victim is, and what it holds of the types in need, in brief."""
    yield Column("Victim", _who, plural(len(plan.victims), "victim"), folds=True)
    yield Column("Queue", lambda one: name(one.queue), folds=True, rank=REPEATED)
    yield Column("Priority", lambda victim: str(victim.priority), number=True)
    yield from islice(_amounts_held(plan), MOST_IN_BRIEF)
    yield Column("Age", lambda victim: age(victim.age_s), number=True)


def _amounts_held(plan: YuniKornPlan) -> Iterator[Column[YuniKornVictim]]:
    """Yield a column of what victims hold of each type of the ask."""
    names = _type_names(plan)
    for rank, resource in enumerate(asked_types(plan)):

        def held(victim: YuniKornVictim, resource: str = resource) -> int:
            return sum(amount.units for amount in victim.usage if amount.resource == resource)

        show = partial(yunikorn_amount, resource=resource)
        yield shared.amount_column(names[resource], plan.victims, held, show, rank)


def _victims(plan: YuniKornPlan) -> Iterator[doc.Block]:
    marked = {mark for victim in plan.victims for mark in marks(victim)}
    notes = [meaning for mark, meaning in MARKS_MEAN.items() if mark in marked]

    columns: list[Column[YuniKornVictim]] = [
        Column("Victim", _who, plural(len(plan.victims), "victim"), folds=True),
        Column("Queue", lambda one: name(one.queue), folds=True, below="Victim"),
        Column("Application", lambda one: name(one.application), folds=True, below="Victim"),
    ]
    if any(victim.node != plan.node for victim in plan.victims):
        columns.append(Column("Node", lambda one: name(one.node), folds=True, below="Victim"))
    columns.append(Column("Priority", lambda victim: str(victim.priority), number=True))
    if any(victim.adjusted_priority != victim.priority for victim in plan.victims):
        columns.append(Column("After\noffsets", lambda o: str(o.adjusted_priority), number=True))
        notes.append("after offsets: priority as the offsets and fences of the queues leave it")
    columns += _amounts_held(plan)
    columns.append(Column("Age", lambda victim: age(victim.age_s), number=True))
    reasons = {(one.queue, reason_of(plan, one)): None for one in plan.victims}
    said = [f"{queue} {reason}" for queue, reason in reasons if reason != NOTHING]
    columns += shared.cost_columns(plan)
    columns.append(Column("Why it may go", partial(reason_of, plan), folds=True, rank=REPEATED))
    yield from shared.victims_of(plan, table("Whom to preempt", columns, plan.victims, notes))
    if said:
        yield doc.Only("screen", (doc.Paragraph("\n".join(said[:MAX_NAMES]), "dim"),))


def reason_of(plan: YuniKornPlan, victim: YuniKornVictim) -> str:
    """Say why the rules permit a victim: its queue uses more than its guaranteed.

    If its own queue does not, a queue above it does; the type is the first of those that the node
    is short of.

    Source: docs/semantics/yunikorn.md §5 (law YK-05), §10 (asks with a required node), §11.2.
    """
    if plan.rules == LOWERED:
        return f"{plan.queue} is above its max"
    if plan.rules == "yunikorn-required-node":
        return f"has priority {victim.priority}, the ask {plan.priority}"
    types = asked_types(plan)
    over = [
        (-len(use.queue), types.index(use.resource), use.queue, use.before, use.guaranteed)
        for use in plan.queues
        if f"{victim.queue}.".startswith(f"{use.queue}.") and use.resource in types
        if use.guaranteed is not None and use.before > use.guaranteed
    ]
    if not over:
        return NOTHING
    _, place, queue, before, promised = min(over)
    used, most = (yunikorn_amount(units, types[place]) for units in (before, promised))
    owner = "" if queue == victim.queue else f", as {queue}"
    return f"uses {used} of {most} {types[place]} guaranteed{owner}"


def marks(victim: YuniKornVictim) -> list[str]:
    """Say what makes a victim a last resort."""
    facts = {ORIGINATOR: victim.originator, OPTED_OUT: victim.opted_out}
    return [mark for mark, is_so in facts.items() if is_so]


def _type_names(plan: YuniKornPlan) -> dict[str, str]:
    """Return a short name for every resource type, in full where two would be the same."""
    types = {*asked_types(plan), *(use.resource for use in plan.queues)}
    last = {resource: resource.rpartition("/")[2] for resource in types}
    alone = Counter(last.values())
    return {t: short(name if alone[name] == 1 else t) for t, name in last.items()}


def _usage(plan: YuniKornPlan) -> Iterator[doc.Block]:
    """Yield the queues of a plan, those that end outside their limits marked; on a page as bars."""
    found = {mark for use in plan.queues if (mark := use_mark(plan, use))}
    usage = "usage: allocated, without what is being preempted already"
    means = [usage, *(text for mark, text in USES_MEAN.items() if mark in found)]
    names = _type_names(plan)
    first = {use.queue: use for use in reversed(plan.queues)}

    def limit(value: int | None, use: QueueUse) -> str:
        return NOTHING if value is None else yunikorn_amount(value, use.resource)

    def marked(use: QueueUse, text: str) -> Cell:
        return Cell(text, tone=TONES.get(use_mark(plan, use), ""))

    columns: list[Column[QueueUse]] = [
        Column("Queue", lambda o: name(o.queue) if first[o.queue] is o else "", folds=True),
        Column("Resource", lambda use: names[use.resource], folds=True, below="Queue"),
        Column("Guaranteed", lambda use: limit(use.guaranteed, use), number=True),
    ]
    if any(use.max is not None for use in plan.queues):
        columns.append(Column("Max", lambda use: limit(use.max, use), number=True))
    columns.append(Column("Usage", lambda use: limit(use.before, use), number=True))
    if shared.has_plan(plan):
        columns.append(Column("After plan", lambda o: marked(o, limit(o.after, o)), number=True))
    if found:
        columns.append(Column("", lambda o: marked(o, use_mark(plan, o)), folds=True, least=5))
    caption = "What the queues use of their guaranteed"
    yield doc.Only("screen", (table(caption, columns, plan.queues, means),))
    used = {use.resource for use in plan.queues}
    types = [t for t in asked_types(plan) if t in used]
    charts = [_chart(plan, resource) for resource in (*types, *sorted(used.difference(types)))]
    wanted = sum(item.asked > max(0, item.available) for item in plan.room) or 1
    wanted = len(charts) if plan.rules == LOWERED else wanted
    folded = (doc.Fold("What is not short", tuple(charts[wanted:])),) if charts[wanted:] else ()
    texts = (doc.Paragraph(text, "dim") for text in means)
    yield doc.Only("page", (*charts[:wanted], *folded, *texts))


def use_mark(plan: YuniKornPlan, use: QueueUse) -> str:
    """Say whether a plan leaves a queue below its guaranteed or above its maximum."""
    if not shared.has_plan(plan):
        return ""
    if use.guaranteed is not None and use.after < use.guaranteed:
        return BELOW if use.after < use.before else STILL_BELOW
    return OVER if use.max is not None and use.after > use.max else ""


def _chart(plan: YuniKornPlan, resource: str) -> doc.Gauges:
    uses = [use for use in plan.queues if use.resource == resource]
    gauges = []
    for use in uses:
        mark = use_mark(plan, use)
        here = "to come down" if plan.rules == LOWERED else "asks here"
        notes = [here] if use.queue == plan.queue else []
        notes += [mark] if mark else []
        gauge = doc.Gauge(
            name=use.queue,
            kind="Queue",
            depth=sum(use.queue.startswith(f"{other.queue}.") for other in uses),
            before=use.before,
            after=use.after if shared.has_plan(plan) else None,
            mark=use.guaranteed,
            limit=use.max,
            notes=tuple(notes),
            tone="bad" if mark in {BELOW, OVER} and use.after != use.before else "",
        )
        gauges.append(gauge)
    return doc.Gauges(
        resource,
        tuple(gauges),
        mark="guaranteed",
        limit="maximum",
        over="",
        show=partial(yunikorn_amount, resource=resource),
    )


def lines(plan: YuniKornPlan) -> Iterator[str]:
    """Yield the plain lines of a plan."""
    yield from shared.heading_lines(plan)
    yield line("node", plan.node or "none")
    for room in plan.room:
        yield line("room", room.resource, **_amounts(room, "asked available after"))
    yield line("victims", plan.victims)
    yield from _victim_lines("victim", plan)
    yield line("last_tier", plan.last_tier)
    for use in plan.queues:
        amounts = _amounts(use, "guaranteed max before after")
        yield line("queue_use", use.queue, use.resource, **amounts)
    if plan.greedy is not None:
        yield line("yunikorn_node", plan.greedy.node or "none")
        yield line("yunikorn_victims", plan.greedy.victims)
        yield from _victim_lines("yunikorn_victim", plan.greedy)
        yield line("yunikorn_last_tier", plan.greedy.last_tier)
    if plan.held_back is not None:
        yield line("held_back", plan.held_back.why)
        yield from each("before", plan.held_back.asks)
    if (other := plan.may_also) is not None:
        yield line("may_also", other.outcome, by=other.by, node=other.node or "none")
        yield from each("may_also_victim", other.victims)
    yield from shared.beside_lines(plan)
    yield from shared.certificate_lines(plan)


def asking(plan: YuniKornPlan) -> Iterator[str]:
    """Yield the lines on where the ask is."""
    yield line("pod", plan.pod or "none")
    yield from field_lines(plan, "application queue partition")


def _amounts(record: NodeRoom | QueueUse, names: str) -> dict[str, str]:
    return {
        key: "none" if units is None else format_yunikorn_quantity(units, record.resource)
        for key, units in fields(record, names).items()
    }


def _victim_lines(label: str, plan: YuniKornPlan) -> Iterator[str]:
    for number, victim in enumerate(plan.victims, start=1):
        yield from row_lines(label, victim, number)
