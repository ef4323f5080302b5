"""Which steps of a replay keep which law.

A scheduler's own algorithm knows no laws. What it tests, and in which order it goes on, keeps them:
every step that does says so here. A law that no step keeps says why in its record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from planner.laws import Law

Step = TypeVar("Step", bound=Callable[..., object])

KEPT: Final[dict[str, list[Callable[..., object]]]] = {}
"""The steps that keep a law, by its id."""


def keeps(*laws: Law) -> Callable[[Step], Step]:
    """Return a decorator that registers a step as one that keeps some laws."""

    def enter(step: Step) -> Step:
        for law in laws:
            KEPT.setdefault(law.id, []).append(step)
        return step

    return enter
