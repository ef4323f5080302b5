"""Models point by point: every solution, and whether a point is one, added up in integers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ortools.sat.python import cp_model
from ortools.sat.python import cp_model_helper as cp

from planner.models.shared.builder import Builder, Linear, variable
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine

_FEW: Final = cp.SatParameters()
_FEW.num_workers = 1
_FEW.catch_sigint_signal = False
_FEW.cp_model_presolve = False
_FEW.linearization_level = 0
_FEW.auto_detect_greater_than_at_least_one_of = False
"""One worker without presolve; with linear programs an enumeration takes ten times as long."""


class _Collector(cp_model.CpSolverSolutionCallback):
    def __init__(self, variables: Sequence[cp_model.IntVar]) -> None:
        super().__init__()
        self.variables = variables
        self.found: set[tuple[int, ...]] = set()

    def on_solution_callback(self) -> None:
        self.found.add(tuple(map(self.value, self.variables)))


def solutions(builder: Builder, variables: Sequence[int]) -> set[tuple[int, ...]]:
    """Return what some variables are in the solutions of a model: all are enumerated."""
    model, solver = cp_model.CpModel(builder.proto), cp_model.CpSolver()
    collector = _Collector([*map(model.get_int_var_from_proto_index, variables)])
    solver.parameters.copy_from(_FEW)
    solver.parameters.enumerate_all_solutions = True
    status = solver.solve(model, collector)
    assert status in {cp_model.OPTIMAL, cp_model.INFEASIBLE}
    return collector.found


def admits(builder: Builder, take: Sequence[int], counts: Sequence[int]) -> bool:
    """Say whether a model has a solution with some counts: by propagation."""
    model = cp.CpModelProto()
    model.copy_from(builder.proto)
    for index, count in zip(take, counts, strict=True):
        domain = model.variables[index].domain
        domain.clear()
        domain.extend([count, count])
    wrapper = cp.SolveWrapper()
    wrapper.set_parameters(_FEW)
    solve: Callable[[cp.CpModelProto], cp.CpSolverResponse] = wrapper.solve
    response = solve(model)
    if response.status == cp.CpSolverStatus.INFEASIBLE:
        return False
    assert response.status == cp.CpSolverStatus.OPTIMAL
    assert Exact(model).admits([*response.solution])
    return True


def complete(
    builder: Builder, take: Sequence[int], counts: Sequence[int], objective: Linear | None = None
) -> Sequence[int] | None:
    """Return values of all variables that agree with some counts; ``None`` if there are none.

    With an objective they are the best of such values.
    """
    twin = builder.copy()
    for index, count in zip(take, counts, strict=True):
        twin.add(variable(index).equals(count))
    found = run_engine(twin, objective, Deadline())
    assert found.outcome in {"optimal", "infeasible"}
    if found.outcome == "infeasible":
        return None
    assert Exact(twin.proto).admits(found.solution)
    return found.solution


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
    """The rows of a model, each read once: a further check reads only those added since."""

    model: cp.CpModelProto
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
