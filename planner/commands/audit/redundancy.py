"""Whom the scheduler's own answer takes without need: the smallest legal subset of its victims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from planner.objective.profiles import Profile
from planner.plan import AnyPlan

WITHIN: Final = Profile(
    "within",
    "the fewest of the scheduler's own victims that would do",
    levels=(("cost",), ("count",)),
)
"""Everybody else costs 1, so that a plan of cost 0 is a subset of the scheduler's own."""

Solve = Callable[[Profile, Mapping[str, int]], AnyPlan]


def needless(victims: Sequence[str], solve: Solve) -> tuple[str, ...] | None:
    """Return the victims that a smallest legal subset of them spares.

    Parameters
    ----------
    victims
        Keys of a legal set.
    solve
        Returns the best plan under a profile and costs per key.

    Returns
    -------
        None of them if every one is needed; ``None`` if that was not settled in time.
    """
    plan = solve(WITHIN, dict.fromkeys(victims, 0))
    if plan.status != "optimal" or plan.terms["cost"]:
        return None
    kept = set(plan.keys)
    return tuple(key for key in victims if key not in kept)
