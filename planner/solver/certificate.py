"""What every certificate says: a value and a bound per level, and how they were found."""

from __future__ import annotations

import time
from collections.abc import Sequence

from planner.objective.profiles import Measure, measure_id, measure_title, measure_unit
from planner.plan import Cap, Certificate, Level, SolverFreeBound
from planner.solver.engine import SEED, solver_name
from planner.solver.levels import LevelResult
from planner.solver.proving.settle import Proved


def certify(  # noqa: PLR0913 - all that is known
    digest: str,
    levels: Sequence[LevelResult],
    started: float,
    *,
    bounds: Sequence[SolverFreeBound] = (),
    cut_off: int = 0,
    proved: Proved | None = None,
    caps: Sequence[tuple[Measure, int]] = (),
) -> Certificate:
    """Return the certificate of an answer; verdicts come with the verification.

    ``started`` is the monotonic time at which the work began; ``proved`` says what the levels
    rest on, ``caps`` what no answer was to exceed.
    """
    found = Proved("unknown", None, ()) if proved is None else proved
    return Certificate(
        digest=digest,
        levels=describe_levels(levels),
        caps=tuple(Cap(term=measure_id(measure), most=most) for measure, most in caps),
        trees=tuple(found.trees),
        ties=found.ties,
        engines=tuple(found.engines),
        corrected=found.corrected,
        bounds=tuple(bounds),
        sums=tuple(found.sums),
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
            proof=level.proof,
        )
        for level in levels
    )
