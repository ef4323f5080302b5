"""One CP-SAT run, with the settings that were measured and found safe.

One worker and a fixed seed give the same answer every time. Presolve is on, and more of the rows
than usual are in the linear program, which knapsacks with hundreds of victims need.

Known wrong answers of ortools 9.15 come from two steps. The first, a step of presolve, is switched
off (docs/design/solver.md §4, §6, §9, §10; or-tools issues 5274, 5293). The second,
``auto_detect_greater_than_at_least_one_of``, learns clauses that rows with coefficients from 2^31
do not imply, so that a solution was called an optimum and was none: it is off, too
(docs/design/solver.md §13). What a claim says is proved by trees alone, and the verifier judges
each plan; under Kueue it judges each set that is found on the way, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Final

from ortools import __version__  # type: ignore[attr-defined] # mypy sees no module of its own
from ortools.sat.python import cp_model_helper as cp

from planner.errors import InternalError
from planner.models.shared.builder import Builder, Linear, refuse_wide
from planner.solver.deadline import Deadline, OutOfTime, waited_for
from planner.solver.search import SEED, Run
from planner.stage import going_on

SOLVER: Final = f"OR-Tools CP-SAT {__version__}"
"""The solver's name and version for the certificate."""


def run_engine(
    builder: Builder,
    objective: Linear | None,
    deadline: Deadline,
    hint: Mapping[int, int] | None = None,
    effort: float = inf,
) -> Run:
    """Minimise an expression, or find any solution without one.

    ``hint`` has the values of some variables in a solution to begin with. ``effort`` is the most
    deterministic time, the solver's own count of its work, of which a unit is a second or two: when
    it gives up depends on the model and not on the machine.

    Raises ``UnsupportedError`` if CP-SAT cannot add up the values of all variables, and
    `InternalError` if it calls the model invalid for another reason.
    """
    builder.hint(hint or {})
    going_on()
    parameters = _one_worker(deadline)
    # Never 0: without a linear program the cover rows bound nothing (docs/design/solver.md §4).
    parameters.linearization_level = 2
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    # The step of presolve that or-tools issue 5293 is about.
    parameters.presolve_inclusion_work_limit = 0
    parameters.auto_detect_greater_than_at_least_one_of = False
    # Where victims must fit into the rest of many quotas, cuts tell in a second what is not known
    # without them after twenty; as many as the solver makes by itself slow it down elsewhere.
    parameters.max_num_cuts = 300
    parameters.new_constraints_batch_size = 10
    return _minimise(builder, objective, parameters, effort)


def as_it_comes(builder: Builder, objective: Linear, deadline: Deadline, effort: float) -> Run:
    """Minimise with the solver's own settings, but for one worker and a seed, and without a hint.

    Steps that are switched off elsewhere for their wrong answers are on here: a claim is no more
    than the solver's word. ``effort`` is the most deterministic time.
    """
    return _minimise(builder, objective, _one_worker(deadline), effort)


def _minimise(
    builder: Builder, objective: Linear | None, parameters: cp.SatParameters, effort: float
) -> Run:
    unit, constant = builder.minimize(objective or Linear({}))
    if parameters.max_time_in_seconds <= 0:
        return Run("unknown")
    parameters.max_deterministic_time = effort
    response = _solve(builder.proto, parameters)
    if response.status == cp.CpSolverStatus.MODEL_INVALID:
        refuse_wide(builder.proto)
        why = cp.CpSatHelper.validate_model(builder.proto)
        message = f"CP-SAT calls the model invalid: {why}"
        raise InternalError(message)
    if response.status == cp.CpSolverStatus.INFEASIBLE:
        return Run("infeasible")
    # The solver's own integer, not the double it shows.
    bound = constant + unit * response.inner_objective_lower_bound
    if response.status == cp.CpSolverStatus.UNKNOWN:
        return Run("unknown", bound=bound)
    solution = list(response.solution)
    if objective is None:
        return Run("optimal", solution)
    # A bound that is not the value of its own solution is no optimum, and one above it is wrong.
    value = objective.value(solution)
    optimal = response.status == cp.CpSolverStatus.OPTIMAL and bound == value
    if bound > value:
        bound = builder.bounds(objective)[0]
    return Run("optimal" if optimal else "feasible", solution, bound)


def _solve(proto: cp.CpModelProto, parameters: cp.SatParameters) -> cp.CpSolverResponse:
    wrapper = cp.SolveWrapper()
    wrapper.set_parameters(parameters)
    solve: Callable[[cp.CpModelProto], cp.CpSolverResponse] = wrapper.solve
    own = cp.CpModelProto()
    own.copy_from(proto)  # the model may be changed while a call that does not end goes on
    try:
        return waited_for(lambda: solve(own), wrapper.stop_search, parameters.max_time_in_seconds)
    except OutOfTime:
        return cp.CpSolverResponse()


def _one_worker(deadline: Deadline) -> cp.SatParameters:
    parameters = cp.SatParameters()
    parameters.num_workers = 1
    parameters.random_seed = SEED
    # The solver leaves its handler of SIGINT in place: after the first run Ctrl-C would do nothing.
    parameters.catch_sigint_signal = False
    left = deadline.left()
    if left is not None:
        parameters.max_time_in_seconds = left
    return parameters
