"""Documents as one HTML page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from planner.report.document.block import Document, Gauges, Histogram
from planner.report.html.drawing import Bars, Columns, draw_gauges, draw_histogram
from planner.report.text import clean_lines, plural, short

TEMPLATE: Final = "page.html.j2"
STYLE: Final = "page.css"
POLICY: Final = (
    "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
)
"""What the page may load: nothing but its own style, known by its SHA-256."""

PLAN: Final = "preemption plan"


def page(documents: Sequence[Document], noun: str = PLAN) -> str:
    """Return documents as a page, one after the other; ``noun`` is what one of them is."""
    style = _style()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    alone = documents[0] if len(documents) == 1 else None
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            title=f"{alone.kind}: {short(alone.title.text)}"
            if alone
            else plural(len(documents), noun),
            documents=documents,
            policy=POLICY.format(digest=digest),
            style=Markup(style),  # noqa: S704 - a file of this package
        )
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("planner.report", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"bars": _bars, "columns": _columns, "short": short}
    return environment


def _harmless(value: object) -> object:
    """Return a value as it may stand on a page: control characters and the like as escapes."""
    if isinstance(value, Markup):
        return value
    return clean_lines(value) if isinstance(value, str) else value


def _bars(gauges: Gauges) -> Bars:
    return draw_gauges(gauges)


def _columns(histogram: Histogram) -> Columns:
    return draw_histogram(histogram)


@cache
def _style() -> str:
    return files("planner.report.html").joinpath(STYLE).read_text("utf-8")
