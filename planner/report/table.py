"""A plan as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from rich.console import RenderableType

from planner.plan import AnyPlan
from planner.report.paper import Cell, Paper
from planner.scheduler import Part


class Tables(Protocol):
    """What a scheduler's own module says of its plans."""

    def parts(self, plan: AnyPlan, width: int) -> Iterable[RenderableType]:
        """Yield the parts of a screen of a width, from top to bottom."""
        ...

    def asking(self, plan: AnyPlan) -> Iterable[tuple[str, Cell]]:
        """Yield who is asking, and where."""
        ...


TABLES: Final = Part[Tables]("table")


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as tables, ``width`` columns wide."""
    return render_all([plan], width=width, color=color)


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans, one after the other, with a line between them."""
    paper = Paper(width, color=color)
    for position, plan in enumerate(plans):
        if position:
            paper.rule()
        for part in TABLES.of(plan).parts(plan, paper.width):
            paper.add(part)
    return paper.text()
