"""A linear program over what a box leaves open.

Every row may be missed at a price, so the program always has an optimum: if a row has to be missed,
its duals are multipliers that make the rows contradict one another. They are doubles and prove
nothing: the caller rounds them to integers and checks the sum exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from msgspec import Struct, field

from planner.problem.array import FloatArray
from planner.proof.box import Box, Row
from planner.solver.deadline import OutOfTime, waited_for
from planner.solver.proving.rows import BoxRows

if TYPE_CHECKING:
    from ortools.linear_solver import pywraplp

GUIDE: Final = 1e-4
"""The weight of the measure beside rows that are missed: it only chooses among points."""


class Suggestion(Struct, frozen=True):
    """Multipliers per row, in doubles; by how much rows are missed in all; the best point: (K,).

    ``least`` is the optimum of the program: what is missed, and a little of the measure;
    ``quantities`` are the values of further quantities at that point. ``program`` is the program,
    of which parts of the box can be tried; without rows there is none.
    """

    multipliers: Mapping[str, float]
    missed: float
    point: FloatArray
    least: float = 0.0
    quantities: Mapping[str, float] = field(default_factory=dict)
    program: Program | None = None


LONG: Final = 50_000
"""Entries from which GLOP takes so long that progress has to be told meanwhile."""

ITERATIONS: Final = 20
"""Iterations of the simplex algorithm for each row and column: a program that ends takes a few for
each row, but among amounts from one to 2^60 GLOP may go round in circles for ever."""


class Optimum(NamedTuple):
    """The optimum of a program, for its box or a part of it: see `Suggestion`.

    ``values`` are those of the columns. Where a part's own rows leave no point at all, ``missed``
    and ``least`` are infinite, and there are no multipliers.
    """

    values: FloatArray
    multipliers: Mapping[str, float]
    missed: float
    least: float


class Program:
    """The program: columns are classes left open, further quantities, and what each row misses.

    Classes that no row tells apart have one column, and the measure is made least by a last one.
    Each row is divided by its largest coefficient, each quantity by the largest it can be.
    """

    def __init__(self, look: BoxRows) -> None:
        self.look, box, rows = look, look.box, len(look.names)
        binding, self.open = look.binds, look.open
        column = np.full(box.least.size, -1, dtype=np.int64)
        column[self.open] = np.arange(self.open.size)
        # The quantities of binding rows are the columns after the classes.
        inside = binding[look.extra_row]
        used = np.array(sorted({*look.extra_quantity[inside].tolist()}), dtype=np.int64)
        of_quantity = np.full(len(look.quantities), -1, dtype=np.int64)
        of_quantity[used] = self.open.size + np.arange(used.size)
        self.used, self.ends = used, look.extra_ends[used]
        self.scale: FloatArray = np.maximum(1.0, np.abs(look.extra_ends).max(axis=1, initial=1.0))
        free = column[look.classes] >= 0
        fixed = look.amounts[~free] * box.least[look.classes[~free]]
        least = look.least - np.bincount(look.row_of[~free], fixed, rows)
        # Rows that nothing in the box can break are left out: they would bind nothing.
        free &= binding[look.row_of]
        row = np.concatenate([look.row_of[free], look.extra_row[inside]])
        quantity = look.extra_quantity[inside]
        columns = np.concatenate([column[look.classes[free]], of_quantity[quantity]])
        scaled = look.extra_amount[inside] * self.scale[quantity]
        values = np.concatenate([look.amounts[free], scaled])
        self.scale = self.scale[used]
        unit = np.zeros(rows)
        np.maximum.at(unit, row, np.abs(values))
        numbers = np.flatnonzero(unit > 0.0)
        self.needed: FloatArray = look.least[numbers]
        self.rows = [look.names[i] for i in numbers.tolist()]
        self.units: FloatArray = unit[numbers]
        self.least: FloatArray = least[numbers] / self.units
        place = np.full(rows, -1, dtype=np.int64)
        place[numbers] = np.arange(numbers.size)
        order = np.lexsort((columns, row))
        order = order[values[order] != 0.0]
        self.row_of, self.columns = place[row[order]], columns[order]
        self.values: FloatArray = values[order] / unit[row[order]]
        self._merge()
        self.guide, self.weight = "", 0.0
        self.guides, self.most = np.zeros(0, dtype=np.int64), np.zeros(0)

    def _merge(self) -> None:
        """Make one column of all classes that no row tells apart: ``kinds`` has that of each."""
        classes, quantities = self.open.size, self.scale.size
        # Columns with the same sum of their values, so weighed, are alike: were they not, this
        # program would only suggest something worse.
        weights = np.sin(1.0 + np.arange(len(self.rows)))[self.row_of]
        sums = np.bincount(self.columns, self.values * weights, classes + quantities)[:classes]
        _, first, self.kinds = np.unique(sums, return_index=True, return_inverse=True)
        self.merged = first.size
        kept = np.isin(self.columns, first) | (self.columns >= classes)
        place = np.append(self.kinds, self.merged + np.arange(quantities))
        self.columns = place[self.columns[kept]]
        self.row_of, self.values = self.row_of[kept], self.values[kept]

    def _ends(self, box: Box) -> tuple[FloatArray, FloatArray]:
        """Return the least and the most of each column in a box."""
        least, most = (
            np.bincount(self.kinds, of[self.open], self.merged).astype(float)
            for of in (box.least, box.most)
        )
        further = self.ends / self.scale[:, None]
        return np.append(least, further[:, 0]), np.append(most, further[:, 1])

    def _spread(self, values: FloatArray) -> FloatArray:
        """Return what each open class gives: of each kind the first classes as much as they can."""
        order = np.argsort(self.kinds, kind="stable")
        kinds, box = self.kinds[order], self.look.box
        least, free = (of[self.open[order]] for of in (box.least, box.most - box.least))
        before = free.cumsum() - free
        before -= before[np.searchsorted(kinds, np.arange(self.merged))][kinds]
        beyond = values[: self.merged] - np.bincount(kinds, least, self.merged)
        given = np.zeros(order.size)
        given[order] = least + np.clip(beyond[kinds] - before, 0, free)
        return given

    @cached_property
    def engine(self) -> pywraplp.Solver:
        """GLOP with the program, which no measure leads yet."""
        # It takes a tenth of a second to load; many small plans are proved without any program.
        from ortools.linear_solver import linear_solver_pb2, pywraplp  # noqa: PLC0415

        model, (least, most) = linear_solver_pb2.MPModelProto(), self._ends(self.look.box)
        self.of_box = least, most
        for low, high in zip(least.tolist(), most.tolist(), strict=True):
            model.variable.add(lower_bound=low, upper_bound=high)
        for _ in self.rows:
            model.variable.add(lower_bound=0.0, upper_bound=inf, objective_coefficient=1.0)
        # The last column is the part by which the measure could be less than it may be at most.
        model.variable.add(lower_bound=0.0, upper_bound=1.0)
        ends = np.searchsorted(self.row_of, np.arange(len(self.rows) + 1)).tolist()
        columns, values = self.columns.tolist(), self.values.tolist()
        for row, bound in enumerate(self.least.tolist()):
            mine = slice(ends[row], ends[row + 1])
            of, by = [*columns[mine], least.size + row], [*values[mine], 1.0]
            model.constraint.add(lower_bound=bound, upper_bound=inf, var_index=of, coefficient=by)
        engine: pywraplp.Solver = pywraplp.Solver.CreateSolver("GLOP")
        engine.LoadModelFromProto(model)
        self.variables = engine.variables()
        return engine

    def _lead(self, guide: str) -> None:
        """Let a measure lead to a good point by its row, or those of all that it is the largest of.

        Without a name none does.
        """
        if guide == self.guide:
            return
        engine, spared = self.engine, self.variables[-1]
        for row in self.guides.tolist():
            engine.constraint(row).SetCoefficient(spared, 0.0)
        of_guide = (f"{name} of ".startswith(f"{guide} of ") for name in self.rows)
        ours = [n for n, mine in enumerate(of_guide) if mine]
        self.guide, self.guides = guide, np.array(ours, dtype=np.int64)
        # What the measure may be at most, in the unit of each of its rows.
        self.most = -self.needed[self.guides] / self.units[self.guides]
        for row, most in zip(ours, self.most.tolist(), strict=True):
            engine.constraint(row).SetCoefficient(spared, -most)
        self.weight = GUIDE * float(self.most.max(initial=0.0))
        engine.Objective().SetCoefficient(spared, -self.weight)

    def solve(self, guide: str, seconds: float | None = None) -> Suggestion | None:
        """Suggest by the program, which misses rows as little as possible.

        ``guide`` names the measure that leads to a good point; without one, rows are missed only
        where they must be. ``None`` if the solver gives up, or takes longer than so many
        ``seconds``.
        """
        if not self.rows:
            return Suggestion({}, 0.0, self.look.box.least.astype(float))
        self._lead(guide)
        try:
            found = self._optimum(seconds)
        except OutOfTime:
            return None
        if found is None:
            return None
        point = self.look.box.least.astype(float)
        point[self.open] = self._spread(found.values)
        names = (self.look.quantities[q] for q in self.used.tolist())
        further = (found.values[self.merged :] * self.scale).tolist()
        return Suggestion(
            found.multipliers,
            found.missed,
            point,
            found.least,
            dict(zip(names, further, strict=True)),
            self,
        )

    def tried(self, part: Box, guide: str, seconds: float | None = None) -> Optimum | None:
        """Solve for a part of the box, by the rows of the whole box and those that the part adds.

        It goes on from the last optimum, which takes a tenth of the time.
        """
        self._lead(guide)
        ends, known = self.of_box, self._ends(part)
        changed = np.flatnonzero((ends[0] != known[0]) | (ends[1] != known[1])).tolist()
        for n in changed:
            self.variables[n].SetBounds(float(known[0][n]), float(known[1][n]))
        own, sums = self.look.box.sums, part.sums
        new = [row for name, row in sums.items() if own.get(name) is not row]
        rows = [self._added(row) for row in new]
        try:
            found = self._optimum(seconds)
        except OutOfTime:  # it may still be at work
            return None
        for n in changed:
            self.variables[n].SetBounds(float(ends[0][n]), float(ends[1][n]))
        for row in rows:  # none can be taken out again
            row.SetBounds(-inf, inf)
        return found

    def _added(self, row: Row) -> pywraplp.Constraint:
        """Add a row of a part of the box."""
        here = np.zeros(self.look.box.least.size)
        here[row.classes] = row.amounts
        fixed = here @ self.look.box.least - here[self.open] @ self.look.box.least[self.open]
        # Of classes that no row tells apart, a part of which is in the row, each gives as much.
        inside = np.bincount(self.kinds, here[self.open], self.merged)
        amounts = (inside / np.bincount(self.kinds, minlength=self.merged)).tolist()
        added = self.engine.Constraint(float(row.least) - fixed, inf)
        for n, amount in enumerate(amounts):
            if amount:
                added.SetCoefficient(self.variables[n], amount)
        names = [self.look.quantities[q] for q in self.used.tolist()]
        for name, amount in row.extra.items():
            n = names.index(name)
            added.SetCoefficient(self.variables[self.merged + n], amount * float(self.scale[n]))
        return added

    def _optimum(self, seconds: float | None) -> Optimum | None:
        """Return the optimum of the program as it is now; ``None`` if the solver gives up.

        Raises `OutOfTime` if it does not even do that.
        """
        from ortools.linear_solver import linear_solver_pb2  # noqa: PLC0415 - as above

        engine, width = self.engine, self.merged + self.scale.size
        iterations = ITERATIONS * (width + 2 * len(self.rows))
        engine.SetTimeLimit(0 if seconds is None else max(1, int(1000 * seconds)))
        # Without preprocessing its points are nearer to the measure, and small programs faster; but
        # it may get lost among amounts that are far apart.
        for preprocessing in ("false", "true"):
            engine.SetSolverSpecificParametersAsString(
                f"max_number_of_iterations: {iterations} use_preprocessing: {preprocessing}"
            )
            if self.look.size <= LONG:
                status = engine.Solve()
            else:
                status = waited_for(engine.Solve, engine.InterruptSolve, seconds)
            if status != engine.ABNORMAL:
                break
        if status == engine.INFEASIBLE:
            return Optimum(np.zeros(width), {}, inf, inf)
        # Where the solver was stopped on its way is a matter of chance.
        if status != engine.OPTIMAL:
            return None
        answer = linear_solver_pb2.MPSolutionResponse()
        engine.FillSolutionResponseProto(answer)
        values, duals = np.array(answer.variable_value), answer.dual_value[: len(self.rows)]
        # Divided by the unit once more: the checker's rows are not scaled.
        weighed = zip(self.rows, duals, self.units.tolist(), strict=True)
        multipliers = {name: value / unit for name, value, unit in weighed if value > 0}
        missed = float(values[width : width + len(self.rows)].sum())
        return Optimum(values[:width], multipliers, missed, self.weight + answer.objective_value)
