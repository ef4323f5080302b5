"""Any answer of the library in any style: ``planner.render``, and what notebooks show."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from numbers import Integral
from typing import Any, Final, Literal, cast, get_args

from planner.commands.audit.record import Audit
from planner.commands.check.plan import Check
from planner.commands.explain.record import CommonExplanation
from planner.commands.whatif.edit import WhatIf
from planner.errors import SchemaError
from planner.plan import AnyPlan
from planner.plan.base import Told
from planner.plan.front import Front
from planner.report import audit, explanation, front, plan, whatif
from planner.report.checking import Checks, render_checks
from planner.report.style import Renderer
from planner.scheduler import scheduler_of
from planner.scheduler.record import Named
from planner.wing import each

Style = Literal["table", "plain", "json", "markdown", "html"]
"""What ``--format`` calls the ways of writing an answer."""

Answer = Told | Named
"""What functions of the library return; those that are `Named` say of which scheduler they are."""

_RENDERERS: Final[Mapping[type, Renderer[Any]]] = {
    CommonExplanation: explanation.render,
    Audit: audit.render,
    WhatIf: whatif.render,
    **{answer: write for wing in each("renderers") for answer, write in wing.items()},
}
_KINDS: Final = {AnyPlan, Front, *_RENDERERS}
WIDTH: Final = 108
_FRAME: Final = (
    '<iframe srcdoc="{page}" sandbox="" style="width: 100%; height: 40rem; border: 0"></iframe>'
)
"""In a frame, as the style of a page must not reach the notebook around it."""


def render(
    answer: Answer,
    style: Style = "table",
    *,
    width: int = WIDTH,
    color: bool = False,
    details: bool = False,
) -> str:
    """Return an answer as the command line writes it.

    Parameters
    ----------
    answer
        What a function of the library returned.
    style
        ``table`` for a terminal, ``plain`` with one fact a line, ``json`` by the published
        schema, ``markdown``, or ``html``, one page that needs nothing from elsewhere.
    width
        How many columns a line of a ``table`` may have.
    color
        Whether a ``table`` has the colours of a terminal.
    details
        Whether the ``table`` of a plan has all that the other styles have: every measure, the
        levels, the laws and the bounds. Without it the answer fits on one screen.

    Raises
    ------
    InputError
        If there is no such style, or the width is no whole number above 0.
    """
    if style not in get_args(Style):
        raise SchemaError("style", f"{style!r} is none", ", ".join(get_args(Style)))
    if isinstance(width, bool) or not isinstance(width, Integral) or width < 1:
        raise SchemaError("width", f"{width!r} cannot be used", "a whole number of columns")
    look: dict[str, Any] = {"width": width, "color": color}
    if isinstance(answer, Check):
        checks = Checks(accepted=answer.accepted, checks=(answer,))
        return render_checks(checks, style, **look)
    known = cast("Any", answer)
    kind = next((one for one in type(answer).__mro__ if one in _KINDS), None)
    if kind is AnyPlan:
        return plan.render([known], style, alone=True, details=details, **look)
    if kind is Front:
        return front.render([known], style, alone=True, **look)
    write = _RENDERERS[kind] if kind else scheduler_of(known).renderers.get(type(answer))
    if write is None:
        raise SchemaError("", f"{type(answer).__name__} is no answer", "what a verb returned")
    return write(known, style, **look)


def html(answer: Answer) -> str:
    """Return what a notebook shows of an answer: its page in a frame."""
    return _FRAME.format(page=escape(render(answer, "html")))
