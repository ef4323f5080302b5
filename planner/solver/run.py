"""What comes of asking the solver; without the solver, which takes long to load.

Many small plans are proved without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

SEED: Final = 0
"""The seed of all engines."""

Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


class Run(Struct, frozen=True):
    """The result of one run: a value per variable, and a bound on the objective."""

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0
