"""One CP-SAT run, with the settings that were measured and found safe.

One worker and a fixed seed give the same answer every time. Quick attempts are without presolve,
which costs small models more than it saves; thorough ones with it, and with more of the rows in
the linear program, which is what some knapsacks with hundreds of victims need and what ruins
others. Nothing tells which beforehand, and the loser can take a hundred times as long: they take
turns, each time with more effort. Known wrong answers of ortools 9.15 come from one step of
presolve; it is switched off (solver-performance.md, sections 4, 6, 9, 10; or-tools issues 5274,
5293).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from math import inf
from typing import Final, Literal, NamedTuple

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


class Attempt(NamedTuple):
    """One way to run the solver: with presolve or without, and for how much deterministic time.

    Such time is the solver's own count of its work, a unit is a second or two: giving up depends
    on the model and not on the machine.
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
"""What is tried in turn."""


def within(effort: float, attempts: Sequence[Attempt] = ATTEMPTS) -> Sequence[Attempt]:
    """Return the attempts of at most so much effort each; the first where there are none."""
    return [each for each in attempts if each.effort <= effort] or attempts[:1]


Outcome = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class Run:
    """The result of one run: a value per variable, and a bound on the objective.

    ``attempt`` is the last one.
    """

    outcome: Outcome
    solution: Sequence[int] = ()
    bound: int = 0
    attempt: Attempt = ATTEMPTS[0]

    @property
    def settled(self) -> bool:
        """Whether nothing is left to find out."""
        return self.outcome in {"optimal", "infeasible"}


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
    attempts: Sequence[Attempt] = ATTEMPTS,
) -> Run:
    """Minimise an expression, or find any solution without one.

    ``attempts`` are made in turn until one settles it.

    Raises
    ------
    InternalError
        If CP-SAT calls the model invalid.
    """
    builder.minimize(objective or Linear({}))
    if hint is not None:
        builder.hint(hint)
    best = Run("unknown")
    for attempt in attempts:
        parameters = _thorough(deadline) if attempt.thorough else _quick(deadline)
        found = _attempt(builder, objective, parameters, attempt.effort)
        if found.outcome == "infeasible" and not attempt.thorough:
            # Without presolve CP-SAT 9.15 has been seen to call a model infeasible that has
            # solutions. What is found now can be checked; what two ways call infeasible is
            # believed.
            found = _attempt(builder, objective, _presolved(deadline), attempt.effort)
        best = replace(_better(best, found, objective), attempt=attempt)
        if best.settled or deadline.passed:
            break
        if best.solution:
            builder.hint(best.solution)
    return best


def _attempt(
    builder: Builder, objective: Linear | None, parameters: SatParameters, effort: float
) -> Run:
    """Solve with some parameters, and with no more than some effort."""
    if parameters.max_time_in_seconds <= 0:
        return Run("unknown")
    parameters.max_deterministic_time = effort
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


def _better(first: Run, second: Run, objective: Linear | None) -> Run:
    """Return the better of two results of one model, of which the second came later."""
    if not first.solution or second.outcome == "optimal":
        return second
    if not second.solution:
        return first  # it has a solution, whatever the other says
    bound = max(first.bound, second.bound)
    if objective and objective.value(first.solution) < objective.value(second.solution):
        return Run("feasible", first.solution, bound)
    return Run("feasible", second.solution, bound)


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
