"""A plan as lines of plain text: one fact a line, made to be read by grep, awk and cut.

The first word of a line says what it is; records go on with ``key=value``. Names are escaped so
that none holds a space or a quote; texts for people stand in double quotes, or at the end of
lines that hold nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from planner.plan import AnyPlan, YuniKornPlan
from planner.report import kueue_plain, yunikorn_plain

SEPARATOR: Final = "\n"


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as lines; they are never wrapped or coloured, whatever is asked for."""
    del width, color
    return "".join(f"{line}\n" for line in _lines(plan))


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans with an empty line between them."""
    return SEPARATOR.join(render(plan, width=width, color=color) for plan in plans)


def _lines(plan: AnyPlan) -> Iterable[str]:
    if isinstance(plan, YuniKornPlan):
        return yunikorn_plain.lines(plan)
    return kueue_plain.lines(plan)
