"""A result in the style that was asked for: JSON, plain lines, or its document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from planner.plan import Record
from planner.report.document.block import Document
from planner.report.json import dump
from planner.report.markdown_text import text_of as markdown
from planner.report.terminal import text_of

Answer = TypeVar("Answer", bound=Record)
RULE: Final = "\n---\n\n"


def in_style(  # noqa: PLR0913 - one parameter a style, and the screen
    answer: Answer,
    style: str,
    lines: Callable[[Answer], Iterable[str]],
    document: Callable[[Answer], Document],
    *,
    width: int,
    color: bool,
) -> str:
    """Return a result as ``json``, in its ``lines`` as ``plain``, or its document in any other."""
    if style == "json":
        return dump(answer)
    if style == "plain":
        return "".join(f"{text}\n" for text in lines(answer))
    return written([document(answer)], style, width=width, color=color)


def written(
    documents: Sequence[Document], style: str, *, width: int, color: bool, noun: str = ""
) -> str:
    """Return documents as ``markdown``, as a page of ``html``, or on a screen.

    ``noun`` is what one of them is, where there may be several.
    """
    if style == "html":
        from planner.report.html.page import page  # noqa: PLC0415 - loads a template engine

        return page(documents, noun)
    if style == "markdown":
        return RULE.join(map(markdown, documents))
    return text_of(documents, width=width, color=color)
