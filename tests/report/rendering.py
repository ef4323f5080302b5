"""Plans in each style, called as the tests of a style call it."""

from collections.abc import Sequence
from dataclasses import dataclass

from planner.plan import AnyPlan
from planner.report.plan import render as in_style


@dataclass(frozen=True)
class Style:
    """One of the values of ``--format``."""

    name: str

    def render(self, plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
        """Return one plan."""
        return in_style([plan], self.name, alone=True, width=width, color=color)

    def render_all(
        self, plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False
    ) -> str:
        """Return several plans."""
        return in_style(plans, self.name, alone=False, width=width, color=color)


table, plain, as_json = Style("table"), Style("plain"), Style("json")
markdown, html = Style("markdown"), Style("html")
