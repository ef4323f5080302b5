"""Plans as one HTML page that needs nothing from elsewhere: ``planner solve --format html``.

page.py     a document as a page
drawing.py  bars and histograms as numbers for SVG
*.j2, page.css
            the template, and how it looks

Whatever a state calls things is written as text, never as markup: the template escapes every
value, and the page itself forbids scripts and outside resources.
"""

from __future__ import annotations

from collections.abc import Sequence

from planner.plan import AnyPlan
from planner.report.document.plan import document
from planner.report.html.page import page


def render(plan: AnyPlan, *, width: int | None = None, color: bool = False) -> str:
    """Return the plan as a page; it is as wide as the window, with colours of its own."""
    return render_all([plan], width=width, color=color)


def render_all(plans: Sequence[AnyPlan], *, width: int | None = None, color: bool = False) -> str:
    """Return several plans on one page, one after the other, with a list of them at the top."""
    del width, color
    return page([document(plan) for plan in plans])
