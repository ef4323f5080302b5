"""One CP-SAT run, with the settings that were measured and found safe.

One worker and a fixed seed give the same answer every time. Presolve is on, and more of the rows
than usual are in the linear program, which knapsacks with hundreds of victims need.

Known wrong answers of ortools 9.15 come from two steps. The first, a step of presolve, is switched
off (docs/design/solver.md §4, §6, §9, §10; or-tools issues 5274, 5293). The second,
``auto_detect_greater_than_at_least_one_of``, learns clauses that rows with coefficients from 2^31
do not imply, so that a solution was called an optimum and was none: it is off, too
(docs/design/solver.md §13). No claim is believed that a solution refutes, and no solution before
its rows are added up in integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

from msgspec.structs import replace
from ortools import __version__  # type: ignore[attr-defined] # mypy sees no module of its own
from ortools.sat.python import cp_model_helper as cp

from planner.errors import InternalError
from planner.models.shared.builder import Builder, Linear, refuse_wide
from planner.solver.deadline import Deadline, OutOfTime, waited_for
from planner.solver.run import SEED, Outcome, Run
from planner.stage import going_on

SOLVER: Final = f"OR-Tools CP-SAT {__version__}"
"""The solver's name and version for the certificate."""


class Contradiction(InternalError):  # noqa: N818 - says what happened, as the others do
    """Claims of the solver that cannot all be true, where no other way to ask it is left."""


def run(
    builder: Builder,
    objective: Linear | None,
    deadline: Deadline,
    hint: Sequence[int] | None = None,
    effort: float = inf,
) -> Run:
    """Minimise an expression, or find any solution without one.

    A ``hint`` that is a solution counts as known: nothing worse is returned. ``effort`` is the most
    deterministic time, the solver's own count of its work, of which a unit is a second or two: when
    it gives up depends on the model and not on the machine.

    Raises ``UnsupportedError`` if CP-SAT cannot add up the values of all variables, and
    `InternalError` if it calls the model invalid for another reason.
    """
    stated = builder.minimize(objective or Linear({}))
    known = Run("unknown", bound=builder.bounds(objective)[0] if objective else 0)
    if hint is not None:
        builder.hint(hint)
        if _exact(builder).admits(hint):
            known = replace(known, outcome="feasible", solution=hint)
    going_on()
    found = _attempt(builder, objective, stated, _careful(deadline), effort)
    return reconciled(known, found, objective)


def as_it_comes(builder: Builder, objective: Linear, deadline: Deadline, effort: float) -> Run:
    """Minimise with the solver's own settings, but for one worker and a seed, and without a hint.

    Steps that are switched off elsewhere for their wrong answers are on here: a claim is no more
    than the solver's word. ``effort`` is the most deterministic time.
    """
    stated = builder.minimize(objective)
    return _attempt(builder, objective, stated, _one_worker(deadline), effort)


def _attempt(
    builder: Builder,
    objective: Linear | None,
    stated: tuple[int, int],
    parameters: cp.SatParameters,
    effort: float,
) -> Run:
    """Solve with some parameters, and with at most ``effort`` of deterministic time.

    ``stated`` are the unit and the constant that turn the model's objective into ``objective``.
    """
    if parameters.max_time_in_seconds <= 0:
        return Run("unknown")
    parameters.max_deterministic_time = effort
    outcome, solution, bound = _ask(builder.proto, parameters, _exact(builder))
    if outcome in {"infeasible", "unknown"}:
        return Run(outcome)
    if objective is None:
        return Run("optimal", solution)
    unit, constant = stated
    bound = constant + unit * bound
    # The solver's bound is not the value of its own solution: one of the two is wrong.
    if outcome == "optimal" and bound != objective.value(solution):
        outcome = "feasible"
    return Run(outcome, solution, bound)


def reconciled(known: Run, found: Run, objective: Linear | None) -> Run:
    """Return what is to be believed of what the solver found, where a solution may be ``known``.

    Solutions have been checked; outcomes and bounds are the solver's word: a claim that a solution
    refutes is dropped. The bound of ``known`` needs no claim.
    """

    def value(of: Run) -> int:
        return objective.value(of.solution) if objective else 0

    if not found.solution:
        # A solution that is known refutes "infeasible".
        return found if found.outcome == "infeasible" and not known.solution else known
    best = known if known.solution and value(known) < value(found) else found
    if best is found and found.bound <= value(found):
        return found
    bound = found.bound if found.outcome == "feasible" and found.bound <= value(best) else 0
    return Run("feasible", best.solution, max(known.bound, bound))


def _ask(
    proto: cp.CpModelProto, parameters: cp.SatParameters, exact: Exact
) -> tuple[Outcome, Sequence[int], int]:
    """Return the solver's outcome, a solution, and a bound on the objective without constant.

    If its solution does not satisfy the model, the outcome is ``unknown``.
    """
    response = _solve(proto, parameters)
    if response.status == cp.CpSolverStatus.MODEL_INVALID:
        refuse_wide(proto)
        message = f"CP-SAT calls the model invalid: {cp.CpSatHelper.validate_model(proto)}"
        raise InternalError(message)
    if response.status == cp.CpSolverStatus.INFEASIBLE:
        return "infeasible", (), 0
    solution = list(response.solution)
    if response.status == cp.CpSolverStatus.UNKNOWN or not exact.admits(solution):
        return "unknown", (), 0
    # The solver's own integer, not the double it shows.
    bound = response.inner_objective_lower_bound
    proved = response.status == cp.CpSolverStatus.OPTIMAL
    return "optimal" if proved else "feasible", solution, bound


# The rows of each model, which is solved many times; weak, so that they do not outlive it.
_READ: Final[WeakKeyDictionary[Builder, Exact]] = WeakKeyDictionary()


def _exact(builder: Builder) -> Exact:
    """Return the checker of a model, made once: reading its rows takes longer than checking."""
    if builder not in _READ:
        origin = None if builder.origin is None else _exact(builder.origin)
        _READ[builder] = Exact(builder.proto, origin)
    return _READ[builder]


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


def complete(
    builder: Builder, take: Sequence[int], counts: Sequence[int], objective: Linear | None = None
) -> Sequence[int] | None:
    """Return values of all variables that agree with the class counts, or ``None``.

    With an objective they are the best of such values. ``None`` means that the model does not
    admit the victim set.

    Raises `Contradiction` if the solver neither finds such values nor calls the model infeasible.
    """
    builder.minimize(objective or Linear({}))
    proto = cp.CpModelProto()
    # On a copy: the model itself goes on without these counts.
    proto.copy_from(builder.proto)
    for variable, count in zip(take, counts, strict=True):
        domain = proto.variables[variable].domain
        domain.clear()
        domain.extend([count, count])
    # However long it takes.
    outcome, solution, _ = _ask(proto, _careful(Deadline()), _exact(builder))
    if outcome == "infeasible":
        return None
    if outcome == "unknown" or [solution[variable] for variable in take] != [*counts]:
        message = "the solver's solution of a model with all victims given is none"
        raise Contradiction(message)
    return solution


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


def _careful(deadline: Deadline) -> cp.SatParameters:
    parameters = _one_worker(deadline)
    # Never 0: without a linear program the cover rows bound nothing (docs/design/solver.md §4).
    parameters.linearization_level = 2
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    # The step of presolve that or-tools issue 5293 is about.
    parameters.presolve_inclusion_work_limit = 0
    parameters.auto_detect_greater_than_at_least_one_of = False
    # Cuts took more time than they saved: without them, proofs of fair sharing are three times
    # faster, and hundreds of classical victims no slower.
    parameters.cut_level = 0
    return parameters


class _Sum(NamedTuple):
    variables: Sequence[int]
    coefficients: Sequence[int]

    def value(self, point: Sequence[int]) -> int:
        return value_of(self.variables, self.coefficients, point)


class _Row(NamedTuple):
    """What a row requires where all literals of ``when`` are true; just one requirement is set.

    A sum is ``within`` two bounds, or a literal of ``some`` is true.
    """

    when: Sequence[int]
    within: tuple[_Sum, int, int] | None = None
    some: Sequence[int] = ()

    def holds(self, point: Sequence[int]) -> bool:
        if not all(is_true(literal, point) for literal in self.when):
            return True
        if self.within is not None:
            linear, lower, upper = self.within
            return lower <= linear.value(point) <= upper
        return any(is_true(literal, point) for literal in self.some)


@dataclass(slots=True)
class Exact:
    """The rows of a model, each read once: a further check reads only those added since.

    Those that the model has from its ``origin`` are read there, once for all copies.
    """

    model: cp.CpModelProto
    origin: Exact | None = None
    _domains: list[tuple[int, int]] = field(default_factory=list)
    _rows: list[_Row] = field(default_factory=list)

    def admits(self, point: Sequence[int]) -> bool:
        """Say whether a point is a solution: a value for every variable, by index."""
        self._read()
        return (
            len(point) == len(self._domains)
            and all(low <= x <= high for x, (low, high) in zip(point, self._domains, strict=True))
            and all(row.holds(point) for row in self._rows)
        )

    def _read(self) -> None:
        origin = self.origin
        if origin is not None and not self._domains:
            origin._read()  # noqa: SLF001 - of this class
            self._domains, self._rows = [*origin._domains], [*origin._rows]  # noqa: SLF001
        variables, constraints = self.model.variables, self.model.constraints
        for index in range(len(self._domains), len(variables)):
            domain = variables[index].domain
            # A domain is its two ends: the builder makes none with holes.
            self._domains.append((domain[0], domain[1]))
        for index in range(len(self._rows), len(constraints)):
            self._rows.append(_read(constraints[index]))


def is_true(literal: int, point: Sequence[int]) -> bool:
    """Say whether a literal is true; a negative one is the negation of variable -literal - 1."""
    return point[literal] == 1 if literal >= 0 else point[-literal - 1] == 0


def value_of(variables: Iterable[int], coefficients: Iterable[int], point: Sequence[int]) -> int:
    """Return the value of a linear expression."""
    return sum(c * point[v] for v, c in zip(variables, coefficients, strict=True))


def _read(row: cp.ConstraintProto) -> _Row:
    enforced = row.enforcement_literal
    when = list(enforced) if len(enforced) else ()
    if row.has_linear():
        linear = row.linear
        domain = linear.domain
        terms = _Sum(list(linear.vars), list(linear.coeffs))
        return _Row(when, within=(terms, domain[0], domain[1]))
    if row.has_bool_or():
        return _Row(when, some=list(row.bool_or.literals))
    raise NotImplementedError(f"a row that the builder does not make: {row}")
