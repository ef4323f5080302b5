"""What only explanations about YuniKorn have: allocations, their nodes, and the ask's own."""

from __future__ import annotations

from planner.commands.explain.yunikorn.record import YuniKornExplanation, YuniKornStanding
from planner.report.document import NOTHING, Column, name
from planner.report.explanation import Explained


def explained(answer: YuniKornExplanation) -> Explained:
    """Return the parts of an explanation that only explanations about YuniKorn have."""

    def place_in_order(one: YuniKornStanding) -> str:
        """Return the place in the order in which the core looks at candidates, node by node."""
        known = one.node_position is not None
        return f"{one.node_position}/{one.node_candidates}" if known else NOTHING

    columns: list[Column[YuniKornStanding]] = [
        Column("Allocation", lambda one: name(one.name), folds=True),
        Column("Queue", lambda one: name(one.queue), folds=True, below="Allocation"),
        Column("Node", lambda one: name(one.node), folds=True, rank=2, below="Allocation"),
        Column("Priority", lambda one: str(one.priority), number=True, rank=1),
        Column("Place", place_in_order, number=True, rank=4),
    ]
    about = [] if answer.node is None else [("Node", name(answer.node))]
    return Explained(columns, "allocation", about)
