"""What only explanations about YuniKorn have: allocations, their nodes, and the ask's own."""

from __future__ import annotations

from collections.abc import Iterator

from planner.commands.explain.yunikorn.record import YuniKornExplanation, YuniKornStanding
from planner.report.document import NOTHING, Block, Cell, Column, name
from planner.report.style import fields, line


def about(answer: YuniKornExplanation) -> Iterator[tuple[str, Cell]]:
    """Yield facts that no other scheduler has: the node of the plan."""
    if answer.node is not None:
        yield "Node", name(answer.node)


def columns() -> list[Column[YuniKornStanding]]:
    """Return the columns that say what runs where."""
    return [
        Column("Allocation", lambda one: name(one.name), folds=True),
        Column("Queue", lambda one: name(one.queue), folds=True, below="Allocation"),
        Column("Node", lambda one: name(one.node), folds=True, rank=2, below="Allocation"),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", _place, number=True, rank=4),
    ]


def _place(one: YuniKornStanding) -> str:
    """Return the place in the order in which the core looks at candidates, node by node."""
    return NOTHING if one.node_position is None else f"{one.node_position}/{one.node_candidates}"


def asking(answer: YuniKornExplanation) -> Iterator[str]:
    """Yield the lines on where the ask is, and on the node of the plan."""
    yield line("pod", answer.pod or None)
    yield line("queue", answer.queue)
    yield line("node", answer.node or None)


def standings(answer: YuniKornExplanation) -> Iterator[tuple[YuniKornStanding, str]]:
    """Yield what is explained, and the start of its line: who it is, and where it runs."""
    names = "queue node adjusted_priority originator opted_out node_position node_candidates"
    for one in answer.allocations:
        yield one, line("allocation", one.allocation, pod=one.pod or None, **fields(one, names))


def blocks(answer: YuniKornExplanation) -> Iterator[Block]:
    """Yield what is said of the nodes: each allocation says on which it is."""
    del answer
    yield from ()


def lines(answer: YuniKornExplanation) -> Iterator[str]:
    """Yield the plain lines that no other scheduler has: none."""
    del answer
    yield from ()
