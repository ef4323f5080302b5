"""How a model is asked, and what comes of it; without the solver, which takes long to load.

Many small plans are proved without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Final, Literal, NamedTuple

from msgspec import Struct

SEED: Final = 0
"""The seed of all engines."""

ITERATIONS: Final = 20
"""Iterations of the simplex algorithm for each row and column: a program that ends takes a few for
each row, but among amounts from one to 2^60 GLOP may go round in circles for ever."""


class Attempt(NamedTuple):
    """One way to run the solver: with presolve or without, and for how much deterministic time.

    Deterministic time is the solver's own count of its work, a unit is a second or two: when it
    gives up depends on the model and not on the machine.
    """

    thorough: bool
    effort: float


ATTEMPTS: Final = (
    Attempt(thorough=False, effort=0.05),
    Attempt(thorough=True, effort=0.1),
    Attempt(thorough=False, effort=0.1),
    Attempt(thorough=True, effort=1.0),
    Attempt(thorough=False, effort=1.0),
    Attempt(thorough=True, effort=10.0),
    Attempt(thorough=False, effort=10.0),
    Attempt(thorough=True, effort=inf),
)
"""The attempts that are made in turn."""


def within(effort: float, attempts: Sequence[Attempt] = ATTEMPTS) -> Sequence[Attempt]:
    """Return the attempts of at most ``effort`` each; the first one alone where all take more."""
    return [each for each in attempts if each.effort <= effort] or attempts[:1]


Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


class Run(Struct, frozen=True):
    """The result of one run: a value per variable, and a bound on the objective.

    ``attempt`` is the last one that was made.
    """

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0
    attempt: Attempt = ATTEMPTS[0]

    @property
    def settled(self) -> bool:
        """Whether the model is settled: its best solution is known, or that it has none."""
        return self.outcome in {"optimal", "infeasible"}
