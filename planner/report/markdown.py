"""Plans in GitHub-flavoured Markdown, for tickets and pull requests: ``--format markdown``."""

from __future__ import annotations

from collections.abc import Sequence

from planner.plan import AnyPlan
from planner.report.document.plan import document
from planner.report.markdown_text import text_of


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan in Markdown; it is never wrapped or coloured."""
    return render_all([plan], width=width, color=color)


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans, one after the other, with a line between them."""
    del width, color
    return "\n---\n\n".join(text_of(document(plan)) for plan in plans)
