"""What every certificate says: a value and a bound per level, and how they were found."""

from __future__ import annotations

import time
from collections.abc import Sequence

from planner.objective.profiles import measure_id, measure_title, measure_unit
from planner.plan import Certificate, Level, SolverFreeBound
from planner.solver.engine import SEED, solver_name
from planner.solver.levels import LevelResult


def certify(
    digest: str,
    levels: Sequence[LevelResult],
    started: float,
    *,
    bounds: Sequence[SolverFreeBound] = (),
    cut_off: int = 0,
) -> Certificate:
    """Return the certificate of an answer; verdicts come with the verification.

    ``started`` is the monotonic time at which the work began.
    """
    return Certificate(
        digest=digest,
        levels=describe_levels(levels),
        bounds=tuple(bounds),
        cut_off=cut_off,
        solver=solver_name(),
        seed=SEED,
        wall_time_s=round(time.monotonic() - started, 6),
    )


def describe_levels(levels: Sequence[LevelResult]) -> tuple[Level, ...]:
    """Return the levels of an answer as records."""
    return tuple(
        Level(
            term=measure_id(level.measure),
            title=measure_title(level.measure),
            unit=measure_unit(level.measure),
            value=level.least.value,
            bound=level.least.bound,
        )
        for level in levels
    )
