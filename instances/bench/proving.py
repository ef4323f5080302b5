"""What is proved of the cases of a suite, for `make.py`, whose processes import it from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from planner.commands.check.plan import check
from planner.coverage.answer import covered
from planner.errors import InternalError
from planner.objective.profile_file import find_profile
from planner.research.bench.record import Case, Optimum, Size
from planner.research.bench.run import begun, digest_of, line_of, made
from planner.solver.deadline import Deadline
from planner.solver.start import solve
from planner.state import AnyState

SMALL: Final = 50
MEDIUM: Final = 500
PATIENCE_S: Final = 180.0
"""Seconds for the proof trees of one optimum."""


def prove(case: Case, objectives: Sequence[str], folder: Path) -> Case:
    """Return a case with its state's digest and numbers, and the proven optimum of each objective.

    ``folder`` is the folder of the suite.

    Raises ``InputError`` if the state cannot be made or planned for; ``InternalError`` if an
    optimum is not proved.
    """
    state, digest = made(case, line_of(case.source, folder))
    case = case.model_copy(update={"pending": case.pending or state.pending[0]})
    planning = begun(case, state)
    running = len(planning.keys)
    size: Size = "small" if running < SMALL else "medium" if running < MEDIUM else "large"
    return case.model_copy(
        update={
            "digest": digest,
            "running": running,
            "candidates": int(planning.eligible.sum()),
            "size": size,
            "optima": tuple(_optimum(case, state, name) for name in objectives),
        }
    )


def proved(objectives: Sequence[str], folder: Path, case: Case) -> Mapping[str, Any]:
    """Return the case that `prove` returns as JSON, in which processes of a batch pass it on."""
    return prove(case, objectives, folder).model_dump(mode="json")


def _optimum(case: Case, state: AnyState, objective: str) -> Optimum:
    planning = begun(case, state, certify=True)
    plan = solve(planning, find_profile(objective), Deadline.after(PATIENCE_S))
    if plan.status not in {"optimal", "infeasible"} or plan.certificate is None:
        raise InternalError(f"{case.name} is not proved under {objective}: {plan.status}")
    levels = plan.certificate.levels if plan.victims else ()
    return Optimum(
        objective=objective,
        status="optimal" if plan.status == "optimal" else "infeasible",
        values={level.term: level.value for level in levels},
        victims=len(plan.victims),
        digest=digest_of(plan.keys),
        certified=check(state, covered(state, plan), rules=case.rules).accepted,
    )
