"""One CP-SAT run, with the settings that were measured and found safe.

One worker and a fixed seed give the same answer every time. Presolve stays off for small models,
where it costs more than it saves; and known wrong answers of ortools 9.15 come from presolve, so
large models run it with the guilty step switched off (solver-performance.md, sections 4, 6, 9,
10; or-tools issues 5274, 5293).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final, Literal

from ortools.sat.python.cp_model_helper import (
    CpModelProto,
    CpSatHelper,
    CpSolverResponse,
    CpSolverStatus,
    SatParameters,
    SolveWrapper,
)

from planner.errors import InternalError
from planner.models.shared.builder import Builder, Linear

SEED: Final = 0
_PRESOLVE_FROM: Final = 3000
"""Variables from which presolve pays."""

Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one run: a value per variable, and a bound on the objective."""

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in time after which nothing new is started; ``None`` for no limit."""

    at: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline so many seconds from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def half(self) -> Deadline:
        """Return the deadline after half of the time that is left."""
        left = self.left()
        return self if left is None else Deadline.after(left / 2)

    def left(self) -> float | None:
        """Return the seconds that are left, never negative."""
        return None if self.at is None else max(0.0, self.at - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the time is up."""
        return self.at is not None and time.monotonic() >= self.at


def run(
    builder: Builder,
    objective: Linear | None,
    deadline: Deadline,
    hint: Sequence[int] | None = None,
    effort: float | None = None,
) -> Run:
    """Minimise an expression, or find any solution without one.

    ``effort`` bounds the solver's own deterministic time, so that giving up depends on the model
    and not on the machine.

    Raises
    ------
    InternalError
        If CP-SAT calls the model invalid.
    """
    if deadline.passed:
        return Run("unknown")
    builder.minimize(objective or Linear({}))
    if hint is not None:
        builder.hint(hint)
    parameters = _parameters(len(builder.lower), deadline)
    if effort is not None:
        parameters.max_deterministic_time = effort
    response = _solve(builder.proto, parameters)
    if response.status == CpSolverStatus.INFEASIBLE and not parameters.cp_model_presolve:
        response = _second_opinion(builder.proto, parameters, deadline)
    if response.status == CpSolverStatus.MODEL_INVALID:
        message = f"CP-SAT calls the model invalid: {CpSatHelper.validate_model(builder.proto)}"
        raise InternalError(message)
    if response.status == CpSolverStatus.INFEASIBLE:
        return Run("infeasible")
    if response.status == CpSolverStatus.UNKNOWN:
        return Run("unknown")
    solution = list(response.solution)
    constant = objective.constant if objective else 0
    # The solver's own integer, not the double it shows.
    bound = response.inner_objective_lower_bound + constant if objective else 0
    proved = response.status == CpSolverStatus.OPTIMAL
    return Run("optimal" if proved else "feasible", solution, bound)


def _solve(proto: CpModelProto, parameters: SatParameters) -> CpSolverResponse:
    wrapper = SolveWrapper()
    wrapper.set_parameters(parameters)
    solve: Callable[[CpModelProto], CpSolverResponse] = wrapper.solve
    return solve(proto)


def _second_opinion(
    proto: CpModelProto, parameters: SatParameters, deadline: Deadline
) -> CpSolverResponse:
    """Solve what was called infeasible once more, with presolve.

    Without presolve CP-SAT 9.15 has been seen to call a model infeasible that has solutions.
    What is found now can be checked; what two ways call infeasible is believed.
    """
    parameters.cp_model_presolve = True
    left = deadline.left()
    if left is not None:
        parameters.max_time_in_seconds = left
    return _solve(proto, parameters)


def complete(builder: Builder, take: Sequence[int], counts: Sequence[int]) -> Sequence[int] | None:
    """Return a value for every variable that agrees with the class counts, or ``None``.

    ``None`` means that the model does not admit the victim set.
    """
    builder.minimize(Linear({}))
    proto = CpModelProto()
    proto.copy_from(builder.proto)
    for variable, count in zip(take, counts, strict=True):
        domain = proto.variables[variable].domain
        domain.clear()
        domain.extend([count, count])
    response = _solve(proto, _parameters(0, Deadline()))
    feasible = response.status in {CpSolverStatus.OPTIMAL, CpSolverStatus.FEASIBLE}
    return list(response.solution) if feasible else None


def _parameters(size: int, deadline: Deadline) -> SatParameters:
    parameters = SatParameters()
    parameters.num_workers = 1
    parameters.random_seed = SEED
    parameters.linearization_level = 1
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    parameters.cp_model_presolve = size >= _PRESOLVE_FROM
    parameters.presolve_inclusion_work_limit = 0
    left = deadline.left()
    if left is not None:
        parameters.max_time_in_seconds = left
    return parameters


def solver_name() -> str:
    """Return the solver's name and version for the certificate."""
    return f"OR-Tools CP-SAT {version('ortools')}"
