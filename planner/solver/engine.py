"""One CP-SAT run, with the settings that were measured and found safe.

One worker and a fixed seed give the same answer every time. A quick attempt comes first, without
presolve, which costs small models more than it saves. What is not settled then gets a thorough
one: with presolve, and with more of the rows in the linear program, which is what knapsacks with
hundreds of victims need. Known wrong answers of ortools 9.15 come from one step of presolve; it
is switched off (solver-performance.md, sections 4, 6, 9, 10; or-tools issues 5274, 5293).
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
QUICK_EFFORT: Final = 0.1
"""Deterministic time for the quick attempt: some tenths of a second."""

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
        return self.part(1 / 2)

    def part(self, share: float) -> Deadline:
        """Return the deadline after a share of the time that is left."""
        left = self.left()
        return self if left is None else Deadline.after(left * share)

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
    builder.minimize(objective or Linear({}))
    if hint is not None:
        builder.hint(hint)
    quick = _attempt(builder, objective, _quick(deadline), effort, QUICK_EFFORT)
    if quick.outcome == "infeasible":
        # Without presolve CP-SAT 9.15 has been seen to call a model infeasible that has solutions.
        # What is found now can be checked; what two ways call infeasible is believed.
        quick = _attempt(builder, objective, _presolved(deadline), effort, QUICK_EFFORT)
        if quick.outcome == "infeasible":
            return quick
    if quick.outcome == "optimal" or deadline.passed:
        return quick
    if quick.solution:
        builder.hint(quick.solution)
    thorough = _attempt(builder, objective, _thorough(deadline), effort)
    return _better(quick, thorough, objective)


def _attempt(
    builder: Builder,
    objective: Linear | None,
    parameters: SatParameters,
    *efforts: float | None,
) -> Run:
    """Solve with some parameters, and with no more than the least of some efforts."""
    if parameters.max_time_in_seconds <= 0:
        return Run("unknown")
    given = [effort for effort in efforts if effort is not None]
    if given:
        parameters.max_deterministic_time = min(given)
    response = _solve(builder.proto, parameters)
    if response.status == CpSolverStatus.MODEL_INVALID:
        message = f"CP-SAT calls the model invalid: {CpSatHelper.validate_model(builder.proto)}"
        raise InternalError(message)
    if response.status == CpSolverStatus.INFEASIBLE:
        return Run("infeasible")
    if response.status == CpSolverStatus.UNKNOWN:
        return Run("unknown")
    constant = objective.constant if objective else 0
    # The solver's own integer, not the double it shows.
    bound = response.inner_objective_lower_bound + constant if objective else 0
    proved = response.status == CpSolverStatus.OPTIMAL
    return Run("optimal" if proved else "feasible", list(response.solution), bound)


def _better(quick: Run, thorough: Run, objective: Linear | None) -> Run:
    """Return the better of two results of one model, of which the second had more time."""
    if not quick.solution or thorough.outcome == "optimal":
        return thorough
    if not thorough.solution:
        return quick  # it has a solution, whatever the other says
    bound = max(quick.bound, thorough.bound)
    if objective and objective.value(quick.solution) < objective.value(thorough.solution):
        return Run("feasible", quick.solution, bound)
    return Run("feasible", thorough.solution, bound)


def _solve(proto: CpModelProto, parameters: SatParameters) -> CpSolverResponse:
    wrapper = SolveWrapper()
    wrapper.set_parameters(parameters)
    solve: Callable[[CpModelProto], CpSolverResponse] = wrapper.solve
    return solve(proto)


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
    response = _solve(proto, _quick(Deadline()))
    feasible = response.status in {CpSolverStatus.OPTIMAL, CpSolverStatus.FEASIBLE}
    return list(response.solution) if feasible else None


def _quick(deadline: Deadline) -> SatParameters:
    """Return the parameters of a quick attempt."""
    parameters = SatParameters()
    parameters.num_workers = 1
    parameters.random_seed = SEED
    parameters.linearization_level = 1
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    parameters.cp_model_presolve = False
    parameters.presolve_inclusion_work_limit = 0
    left = deadline.left()
    if left is not None:
        parameters.max_time_in_seconds = left
    return parameters


def _presolved(deadline: Deadline) -> SatParameters:
    """Return the parameters of a second opinion: as quick, with presolve."""
    parameters = _quick(deadline)
    parameters.cp_model_presolve = True
    return parameters


def _thorough(deadline: Deadline) -> SatParameters:
    """Return the parameters of a thorough attempt.

    Cuts took more time than they saved: without them, proofs of fair sharing are three times
    faster, and hundreds of classical victims no slower.
    """
    parameters = _presolved(deadline)
    parameters.linearization_level = 2
    parameters.cut_level = 0
    return parameters


def solver_name() -> str:
    """Return the solver's name and version for the certificate."""
    return f"OR-Tools CP-SAT {version('ortools')}"
