"""Search for the least value of one measure, looking at as few classes as the proof permits.

A linear relaxation bounds the cost and tells for each class what it would add. The exact model
is solved on the most promising classes only; what it leaves out is either proved unable to
improve on the answer, or taken in (solver-performance.md, section 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from planner.errors import InternalError
from planner.models.kueue.columns import Columns
from planner.models.kueue.formulation import Formulation, assemble
from planner.models.kueue.measure import express
from planner.models.kueue.relaxation import Row, cover_rows, relax
from planner.models.shared.builder import Linear
from planner.objective.profiles import Measure
from planner.objective.terms import TermTable
from planner.problem import IntArray, Problem
from planner.solver.bound import Bound, best_single_row, linear_programming_bound
from planner.solver.engine import Deadline, Outcome, Run, complete, run

CORE = 300
"""Classes up to which the exact model is solved whole."""

CORE_EFFORT = 2.0
"""Deterministic time for a part of the classes: what it cannot answer soon, more classes can."""

Counts = list[int]
"""Victims per class, over all classes of the search."""


@dataclass(frozen=True, slots=True)
class Least:
    """The least value found, the proven bound, and the bound that needs no solver."""

    outcome: Outcome
    value: int = 0
    bound: int = 0
    solver_free: int = 0


@dataclass(slots=True)
class Search:
    """The state of a lexicographic search.

    ``alive`` are the classes that can still be part of an answer, ``limits`` the measures that
    are bounded above (caps and earlier levels), ``incumbent`` the best answer so far.
    """

    problem: Problem
    table: TermTable
    columns: Columns
    attempts: Sequence[bool]
    deadline: Deadline
    alive: list[int] = field(init=False)
    limits: list[tuple[Measure, int]] = field(default_factory=list)
    incumbent: Counts | None = None

    def __post_init__(self) -> None:
        """Start with all classes."""
        self.alive = list(range(len(self.columns)))

    def value(self, measure: Measure, counts: Counts) -> int:
        """Return a measure of a victim set."""
        terms = self.table.evaluate(self.columns.take(counts))
        return sum(terms[term] for term in measure)

    def is_separable(self, measure: Measure) -> bool:
        """Say whether a measure is a sum over victims."""
        return all(term in self.table.separable for term in measure)

    def costs(self, measure: Measure, classes: Sequence[int]) -> IntArray:
        """Return what one member of each class adds to a separable measure."""
        first = self.columns.first[np.array(classes, dtype=np.int64)]
        total = np.zeros(len(classes), dtype=np.int64)
        for term in measure:
            total += self.table.separable[term][first]
        return total

    def limit(self, measure: Measure, most: int) -> None:
        """Bound a measure above from now on; the highest rank by leaving classes out."""
        if measure == ("D1",):
            self.alive = self.up_to_rank(most)
        else:
            self.limits.append((measure, most))

    def up_to_rank(self, highest: int) -> list[int]:
        """Return the classes alive whose members can go without hitting a higher rank."""
        rank = self.table.rank[self.columns.first].tolist()
        evicted = self.problem.evicted[self.columns.first].tolist()
        return [k for k in self.alive if evicted[k] or rank[k] <= highest]

    def attempt(self) -> bool:
        """Return the attempt the incumbent belongs to, the first in Kueue's order.

        Raises
        ------
        InternalError
            If no attempt admits it.
        """
        counts = self._found()
        classes = [k for k, count in enumerate(counts) if count]
        for borrowing in self.attempts:
            formulation = assemble(self.problem, self.columns.subset(classes), [borrowing])
            wanted = [counts[k] for k in classes]
            if complete(formulation.builder, formulation.take, wanted) is not None:
                return borrowing
        message = "no attempt admits the answer"
        raise InternalError(message)

    def run_on(
        self,
        classes: Sequence[int],
        measure: Measure | None = None,
        extra: Sequence[tuple[Linear, int]] = (),
        floor: int = 0,
        effort: float | None = None,
    ) -> Run:
        """Solve the exact model on some classes; a found answer becomes the incumbent.

        ``extra`` are expressions over class numbers, with their lower bounds; the incumbent need
        not satisfy them.
        """
        formulation = assemble(self.problem, self.columns.subset(classes), self.attempts)
        for limited, limit in self.limits:
            formulation.builder.at_most(express(formulation, self.table, limited), limit)
        take = dict(zip(classes, formulation.take, strict=True))
        for linear, least in extra:
            by_variable = {take[k]: coefficient for k, coefficient in linear.terms.items()}
            formulation.builder.at_least(Linear(by_variable), least)
        objective = None if measure is None else express(formulation, self.table, measure)
        if objective is not None and floor > 0:
            formulation.builder.at_least(objective, floor)
        hint = None if extra else self._hint(formulation, classes)
        result = run(formulation.builder, objective, self.deadline, hint, effort)
        if result.solution:
            found = [0] * len(self.columns)
            for k, index in take.items():
                found[k] = int(result.solution[index])
            self.incumbent = found
        return result

    def minimise(self, measure: Measure) -> Least:
        """Find the least value of a separable measure, and prove it as far as time permits."""
        classes = self.alive
        columns = self.columns.subset(classes)
        costs = self.costs(measure, classes)
        bound, promising = self._bound(columns, costs)
        core = self._first_core(classes, bound, promising)
        effort: float | None = CORE_EFFORT
        while True:
            known = self._known_value(measure)
            if known is not None and known <= bound.whole:
                return self._proved(measure, known, bound, bound.whole)
            whole = len(core) == len(classes)
            effort = None if whole else effort
            result = self.run_on(core, measure, floor=bound.whole, effort=effort)
            if whole and result.outcome == "infeasible":
                return self._nothing()
            missing = self._missing(measure, classes, core, bound)
            settled = result.outcome in {"optimal", "infeasible"}
            if missing and not self.deadline.passed:
                core = sorted({*core, *missing[: max(CORE, len(core))]})
            elif settled and not missing:
                value = self.value(measure, self._found())
                return self._proved(measure, value, bound, value)
            elif effort is None or self.deadline.passed:
                return self._unproved(measure, result, bound, whole=whole)
            else:
                effort = None  # nothing is missing: these classes alone settle it

    def minimise_whole(self, measure: Measure) -> Least:
        """Find the least value of a measure that is no sum, on all classes alive."""
        known = self._known_value(measure)
        if known == 0:
            return Least("optimal")
        result = self.run_on(self.alive, measure)
        if result.outcome == "infeasible":
            return self._nothing()
        if self.incumbent is None:
            return Least("unknown")
        value = self.value(measure, self.incumbent)
        if result.outcome == "optimal":
            self.limits.append((measure, value))
            return Least("optimal", value, value)
        self.limits.append((measure, value))
        return Least("feasible", value, max(0, min(value, result.bound)))

    def find_any(self, classes: Sequence[int]) -> Outcome:
        """Look for any answer among some classes: a promising core first, then all of them."""
        columns = self.columns.subset(classes)
        counts = [columns.count(k) for k in range(len(columns))]
        for row in cover_rows(self.problem, columns):
            if (
                sum(c * n for c, n in zip(row.coefficients.tolist(), counts, strict=True))
                < row.bound
            ):
                return "infeasible"
        bound, promising = self._bound(columns, self.costs(("count",), classes))
        core = self._first_core(classes, bound, promising)
        whole = len(core) == len(classes)
        result = self.run_on(core, effort=None if whole else CORE_EFFORT)
        if result.outcome != "optimal" and not whole:
            result = self.run_on(classes)
        return result.outcome

    def _hint(self, formulation: Formulation, classes: Sequence[int]) -> Sequence[int] | None:
        if self.incumbent is None or len(classes) == 0:
            return None
        counts = [self.incumbent[k] for k in classes]
        if sum(counts) != sum(self.incumbent):
            return None
        hint = complete(formulation.builder, formulation.take, counts)
        if hint is None:
            message = "the model does not admit a victim set that is legal"
            raise InternalError(message)
        return hint

    def _bound(self, columns: Columns, costs: IntArray) -> tuple[Bound, list[int]]:
        """Return the best bound known, and the classes its relaxation would use."""
        counts = [columns.count(k) for k in range(len(columns))]
        if len(columns) <= CORE:
            return best_single_row(cover_rows(self.problem, columns), costs, counts)[0], []
        limits = [
            Row("+".join(measure), -self._class_costs(measure, columns), -limit)
            for measure, limit in self.limits
            if self.is_separable(measure)
        ]
        return linear_programming_bound(relax(self.problem, columns), columns, costs, limits)

    def _class_costs(self, measure: Measure, columns: Columns) -> IntArray:
        total = np.zeros(len(columns), dtype=np.int64)
        for term in measure:
            total += self.table.separable[term][columns.first]
        return total

    def _first_core(
        self, classes: Sequence[int], bound: Bound, promising: Iterable[int]
    ) -> list[int]:
        if len(classes) <= CORE:
            return list(classes)
        order = sorted(range(len(classes)), key=bound.reduced.__getitem__)
        chosen = {classes[k] for k in (*order[:CORE], *promising)}
        if self.incumbent is not None:
            chosen |= {k for k in classes if self.incumbent[k]}
        return sorted(chosen)

    def _known_value(self, measure: Measure) -> int | None:
        return None if self.incumbent is None else self.value(measure, self.incumbent)

    def _missing(
        self, measure: Measure, classes: Sequence[int], core: Sequence[int], bound: Bound
    ) -> list[int]:
        """Return the classes outside the core that could still improve, most promising first."""
        inside = set(core)
        if self.incumbent is None:
            outside = [position for position, k in enumerate(classes) if k not in inside]
        else:
            reachable = bound.reachable(self.value(measure, self.incumbent) - 1)
            outside = [
                position
                for position, k in enumerate(classes)
                if k not in inside and reachable[position]
            ]
        outside.sort(key=bound.reduced.__getitem__)
        return [classes[position] for position in outside]

    def _found(self) -> Counts:
        if self.incumbent is None:
            message = "a level was solved, but there is no answer"
            raise InternalError(message)
        return self.incumbent

    def _proved(self, measure: Measure, value: int, bound: Bound, proven: int) -> Least:
        """Fix a proven level, and drop the classes that no answer of this value can use."""
        if bound.whole > value:
            message = f"{measure}: the solver's {value} is below the exact bound {bound.whole}"
            raise InternalError(message)
        reachable = bound.reachable(value)
        self.alive = [k for k, keep in zip(self.alive, reachable, strict=True) if keep]
        self.limits.append((measure, value))
        return Least("optimal", value, proven, bound.whole)

    def _unproved(self, measure: Measure, result: Run, bound: Bound, *, whole: bool) -> Least:
        if self.incumbent is None:
            return Least("unknown", bound=bound.whole, solver_free=bound.whole)
        value = self.value(measure, self.incumbent)
        proven = max(bound.whole, result.bound if whole and result.outcome == "feasible" else 0)
        self.limits.append((measure, value))
        return Least("feasible", value, min(value, proven), bound.whole)

    def _nothing(self) -> Least:
        if self.incumbent is not None:
            message = "the solver calls infeasible what has an answer"
            raise InternalError(message)
        return Least("infeasible")
