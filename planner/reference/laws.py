"""Which steps of a replay keep which law.

A scheduler's own algorithm knows no laws: its tests, and the order of its steps, keep them. Every
step that keeps a law is registered here. A law that no step keeps says why in its record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from planner.laws import Law

Step = TypeVar("Step", bound=Callable[..., object])

KEPT: Final[dict[str, list[Callable[..., object]]]] = {}
"""The steps that keep a law, by its id."""


def keeps(*laws: Law) -> Callable[[Step], Step]:
    """Return a decorator that registers a step as one that keeps these laws."""

    def enter(step: Step) -> Step:
        for law in laws:
            KEPT.setdefault(law.id, []).append(step)
        return step

    return enter
