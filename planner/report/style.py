"""A result in the style that was asked for: JSON, plain lines, or parts of a screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from rich.console import RenderableType

from planner.plan import Record
from planner.report.json import dump
from planner.report.paper import Paper

Answer = TypeVar("Answer", bound=Record)


def in_style(  # noqa: PLR0913 - one parameter a style, and the screen
    answer: Answer,
    style: str,
    lines: Callable[[Answer], Iterable[str]],
    parts: Callable[[Answer], Iterable[RenderableType]],
    *,
    width: int,
    color: bool,
) -> str:
    """Return a result as ``json``, in its ``lines`` as ``plain``, or in its ``parts`` else."""
    if style == "json":
        return dump(answer)
    if style == "plain":
        return "".join(f"{text}\n" for text in lines(answer))
    paper = Paper(width, color=color)
    for part in parts(answer):
        paper.add(part)
    return paper.text()
