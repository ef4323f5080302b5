"""A plan as lines of plain text: one fact a line, made to be read by grep, awk and cut.

The first word of a line says what it is; records go on with ``key=value``. Names are escaped so
that none holds a space or a quote; texts for people stand in double quotes, or at the end of
lines that hold nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from planner.plan import AnyPlan
from planner.scheduler import Part

SEPARATOR: Final = "\n"


class Lines(Protocol):
    """What a scheduler's own module says of its plans."""

    def lines(self, plan: AnyPlan) -> Iterable[str]:
        """Yield the lines of a plan."""
        ...

    def asking(self, plan: AnyPlan) -> Iterable[str]:
        """Yield the lines on where the preemptor is."""
        ...


LINES: Final = Part[Lines]("plain")


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as lines; they are never wrapped or coloured, whatever is asked for."""
    del width, color
    return "".join(f"{line}\n" for line in LINES.of(plan).lines(plan))


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans with an empty line between them."""
    return SEPARATOR.join(render(plan, width=width, color=color) for plan in plans)
