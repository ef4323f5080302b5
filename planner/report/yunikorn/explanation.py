"""What only explanations about YuniKorn have: allocations, their nodes, and the ask's own."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.explain.yunikorn.record import YuniKornExplanation, YuniKornStanding
from planner.report.document.block import Cell, Column, name
from planner.report.plain_lines import line, yes
from planner.report.table_parts import NOTHING
from planner.report.text import word


def about(answer: YuniKornExplanation) -> Iterator[tuple[str, Cell]]:
    """Yield facts that no other scheduler has: the node of the plan."""
    if answer.node is not None:
        yield "Node", name(answer.node)


def columns() -> list[Column[YuniKornStanding]]:
    """Return the columns that say what runs where."""
    return [
        Column("Allocation", lambda one: name(one.name), folds=True),
        Column("Queue", lambda one: name(one.queue), folds=True),
        Column("Node", lambda one: name(one.node), folds=True, rank=2),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", _place, number=True, rank=4),
    ]


def _place(one: YuniKornStanding) -> str:
    """Return the place in the order in which the core looks at candidates, node by node."""
    return NOTHING if one.node_position is None else f"{one.node_position}/{one.node_candidates}"


def asking(answer: YuniKornExplanation) -> Iterator[str]:
    """Yield the lines on where the ask is, and on the node of the plan."""
    yield line("pod", *([word(answer.pod)] if answer.pod else []))
    yield line("queue", word(answer.queue))
    yield line("node", *([word(answer.node)] if answer.node else []))


def standings(answer: YuniKornExplanation) -> Iterator[tuple[str, YuniKornStanding, list[str]]]:
    """Yield what is explained: what a line calls it, itself, and facts of this scheduler."""
    for one in answer.allocations:
        place = [] if one.node_position is None else [f"node_position={one.node_position}"]
        facts = [
            word(one.allocation),
            *([f"pod={word(one.pod)}"] if one.pod else []),
            f"queue={word(one.queue)}",
            f"node={word(one.node)}",
            f"adjusted_priority={one.adjusted_priority}",
            f"originator={yes(one.originator)}",
            f"opted_out={yes(one.opted_out)}",
            *place,
            f"node_candidates={one.node_candidates}",
        ]
        yield "allocation", one, facts
