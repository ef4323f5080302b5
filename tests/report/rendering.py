"""Plans in each style, called as the tests of a style call it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from planner.plan import AnyPlan
from planner.report.plan import render as in_style


@dataclass(frozen=True)
class Style:
    """One of the values of ``--format``, a table with ``details`` unless it is ``brief``."""

    name: str
    details: bool = True

    def render(self, plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
        """Return one plan."""
        return in_style([plan], self.name, alone=True, **self.look(width, color))

    def look(self, width: int | None, color: bool) -> dict[str, Any]:  # noqa: FBT001
        """Return how the screen looks."""
        return {"width": width, "color": color, "details": self.details}

    def render_all(
        self, plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False
    ) -> str:
        """Return several plans."""
        return in_style(plans, self.name, alone=False, **self.look(width, color))


brief, table = Style("table", details=False), Style("table")
plain, as_json = Style("plain"), Style("json")
markdown, html = Style("markdown"), Style("html")
