"""A plan beside the scheduler's own: who is in both, who is spared, who goes instead."""

from __future__ import annotations

from dataclasses import dataclass

from planner.plan import AnyPlan


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two victim sets as three lists of keys, each in the order of the plan it comes from.

    ``spared`` only the scheduler would evict, ``instead`` only this plan does.
    """

    common: tuple[str, ...]
    spared: tuple[str, ...]
    instead: tuple[str, ...]


def contrast(plan: AnyPlan, greedy: AnyPlan) -> Contrast:
    """Compare the victims of a plan with those of the scheduler's own."""
    ours, theirs = set(plan.keys), set(greedy.keys)
    return Contrast(
        common=tuple(key for key in plan.keys if key in theirs),
        spared=tuple(key for key in greedy.keys if key not in ours),
        instead=tuple(key for key in plan.keys if key not in theirs),
    )


def if_ever(greedy: AnyPlan) -> str:
    """Return words to begin with where the scheduler does not do what it decides."""
    return "If it came to that, " if greedy.never_comes else ""
