"""A plan as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import RenderableType

from planner.plan import AnyPlan, YuniKornPlan
from planner.report import kueue_table, yunikorn_table
from planner.report.paper import Paper


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as tables, ``width`` columns wide."""
    return render_all([plan], width=width, color=color)


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans, one after the other, with a line between them."""
    paper = Paper(width, color=color)
    for position, plan in enumerate(plans):
        if position:
            paper.rule()
        for part in _parts(plan, paper.width):
            paper.add(part)
    return paper.text()


def _parts(plan: AnyPlan, width: int) -> Iterable[RenderableType]:
    if isinstance(plan, YuniKornPlan):
        return yunikorn_table.parts(plan, width)
    return kueue_table.parts(plan, width)
