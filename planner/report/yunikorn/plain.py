"""A plan for an ask of YuniKorn as lines of plain text.

Beside the words of Kueue's plans there are these:

preemptor        the allocation key of the ask; ``pod`` is its namespace/name
node             the chosen node; ``yunikorn_node`` is the core's own choice
room             one resource type of that node: asked, available, and after the victims are gone
victim           an allocation by its key; ``adjusted_priority`` has the offsets of the queues
last_tier        whether a victim opted out or started its application
queue_use        one type of a queue that is touched: guaranteed, max, usage before and after

What is not set or not known is ``none``. Amounts are as in queues.yaml: ``1500m``, ``16Gi``.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.plan import NodeRoom, QueueUse, YuniKornPlan
from planner.report.plain_lines import (
    certificate_of,
    differences,
    heading,
    line,
    outside,
    terms,
    yes,
)
from planner.report.text import word
from planner.state.yunikorn_quantity import format_yunikorn_quantity

NONE = "none"


def lines(plan: YuniKornPlan) -> Iterator[str]:
    """Yield the lines of a plan."""
    yield from heading(plan, *asking(plan))
    yield line("node", _name(plan.node))
    yield from (_room(room) for room in plan.room)
    yield line("victims", str(len(plan.victims)))
    yield from _victims("victim", plan)
    yield line("last_tier", yes(plan.last_tier))
    yield from (_use(use) for use in plan.queues)
    if plan.greedy is not None:
        yield from _greedy(plan, plan.greedy)
    else:
        yield from outside("outside_rules", plan)
    yield from terms(plan)
    if plan.certificate is not None:
        yield from certificate_of(plan, plan.certificate)


def asking(plan: YuniKornPlan) -> Iterator[str]:
    """Yield the lines on where the ask is."""
    yield line("pod", _name(plan.pod))
    yield line("application", word(plan.application))
    yield line("queue", word(plan.queue))
    yield line("partition", word(plan.partition))


def _name(name: str | None) -> str:
    return NONE if name is None else word(name)


def _room(room: NodeRoom) -> str:
    amounts = {"asked": room.asked, "available": room.available, "after": room.after}
    return line(
        "room",
        word(room.resource),
        *(
            f"{name}={format_yunikorn_quantity(units, room.resource)}"
            for name, units in amounts.items()
        ),
    )


def _victims(label: str, plan: YuniKornPlan) -> Iterator[str]:
    for number, victim in enumerate(plan.victims, start=1):
        yield line(
            label,
            str(number),
            word(victim.allocation),
            f"pod={_name(victim.pod)}",
            f"application={word(victim.application)}",
            f"queue={word(victim.queue)}",
            f"node={word(victim.node)}",
            f"priority={victim.priority}",
            f"adjusted_priority={victim.adjusted_priority}",
            f"originator={yes(victim.originator)}",
            f"opted_out={yes(victim.opted_out)}",
            f"age_s={victim.age_s}",
            f"position={victim.position}",
            *(f"use={word(amount.resource)}={word(amount.quantity)}" for amount in victim.usage),
            *(f"{word(term)}={value}" for term, value in victim.costs.items()),
        )


def _use(use: QueueUse) -> str:
    amounts = {
        "guaranteed": use.guaranteed,
        "max": use.max,
        "before": use.before,
        "after": use.after,
    }
    return line(
        "queue_use",
        word(use.queue),
        word(use.resource),
        *(
            f"{name}={NONE if units is None else format_yunikorn_quantity(units, use.resource)}"
            for name, units in amounts.items()
        ),
    )


def _greedy(plan: YuniKornPlan, greedy: YuniKornPlan) -> Iterator[str]:
    """List the core's own victims, and how the two sets differ."""
    yield line("yunikorn_node", _name(greedy.node))
    yield line("yunikorn_victims", str(len(greedy.victims)))
    yield from _victims("yunikorn_victim", greedy)
    yield line("yunikorn_last_tier", yes(greedy.last_tier))
    yield from outside("yunikorn_outside_rules", greedy)
    yield from differences(plan, greedy)
