"""The least value of one measure, looking at as few classes as the proof permits.

A linear relaxation bounds the cost and says what each class would add or save. Classes that are
clearly in or clearly out are left so at first, and the exact model decides on the rest; what was
left is either proved to be right, or decided on too (docs/design/solver.md §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.errors import InternalError
from planner.models.shared.classes import Classes
from planner.models.shared.row import Row
from planner.objective.profiles import Measure
from planner.solver.bound import Bound, best_single_row, trivial_bound
from planner.solver.engine import Outcome, Run, within
from planner.solver.search import Search

CORE = 300
"""Classes up to which the exact model is solved whole."""

CORE_EFFORT = 1.0
"""Effort for a part of the classes: what it cannot answer soon, more classes can."""


@dataclass(frozen=True, slots=True)
class Least:
    """The least value found, and the proven bound."""

    outcome: Outcome
    value: int = 0
    bound: int = 0


@dataclass(slots=True)
class _Core:
    """The classes under decision: ``free``; of the others, ``full`` go whole and the rest stay.

    ``reduced`` is the reduced cost of each class.
    """

    classes: Sequence[int]
    bound: Bound
    free: set[int]
    reduced: dict[int, int] = field(init=False)

    def __post_init__(self) -> None:
        """Index the reduced costs by class."""
        self.reduced = dict(zip(self.classes, self.bound.reduced, strict=True))

    @property
    def whole(self) -> bool:
        """Whether every class is under decision."""
        return len(self.free) == len(self.classes)

    def full(self) -> list[int]:
        """Return the classes outside that go whole, because leaving a member costs."""
        return [k for k, cost in self.reduced.items() if cost < 0 and k not in self.free]

    def open_below(self, value: int | None) -> list[int]:
        """Return the classes outside that could differ in an answer below a value.

        The most doubtful come first; without a value it is all of them.
        """
        reduced = self.reduced
        outside = [k for k in self.classes if k not in self.free]
        if value is not None:
            room = self.bound.room(value - 1)
            outside = [k for k in outside if abs(reduced[k]) <= room]
        return sorted(outside, key=lambda k: abs(reduced[k]))


def minimise(search: Search, measure: Measure) -> Least:
    """Find the least value of a separable measure, and prove it as far as time permits."""
    core = _start(search, search.alive, measure, search.known_value(measure))
    bound = core.bound
    partly = True
    while True:
        known = search.known_value(measure)
        if known is not None and known <= bound.whole:
            return _proved(search, measure, core, known, bound.whole)
        if search.deadline.passed:
            return _unproved(search, measure, core, Run("unknown"))
        partly = partly and not core.whole
        full = core.full()
        result = search.run_on(
            sorted(core.free.union(full)),
            measure,
            full=full,
            least=bound.whole,
            attempts=within(CORE_EFFORT, search.attempts) if partly else None,
        )
        known = search.known_value(measure)
        if core.whole and result.outcome == "infeasible" and known is None:
            return Least("infeasible")
        missing = core.open_below(known)
        if missing and not search.deadline.passed:
            core.free.update(missing[: max(CORE, len(core.free))])
        elif result.settled and not missing and known is not None:
            return _proved(search, measure, core, known, known)
        elif not partly or search.deadline.passed:
            return _unproved(search, measure, core, result)
        else:
            partly = False  # nothing is missing: these classes alone settle it


def minimise_whole(search: Search, measure: Measure) -> Least:
    """Find the least value of a measure that is no sum, on all classes alive."""
    if search.known_value(measure) == 0:
        search.limit(measure, 0)
        return Least("optimal")
    result = search.run_on(search.alive, measure)
    value = search.known_value(measure)
    if value is None:
        return Least("infeasible" if result.outcome == "infeasible" else "unknown")
    search.limit(measure, value)
    if result.outcome == "optimal":
        return Least("optimal", value, value)
    return Least("feasible", value, max(0, min(value, result.bound)))


def find_within(search: Search, measure: Measure, most: int) -> Outcome:
    """Bound a measure above from now on, and look for any answer that keeps to that."""
    search.limit(measure, most)
    known = search.known_value(measure)
    if known is not None and known <= most:
        return "optimal"
    search.incumbent = None
    if search.is_separable(measure):
        left = search.classes.subset(search.alive)
        if search.rules.quick_bound(left, search.costs(measure, left)).whole > most:
            return "infeasible"
    return find_any(search, search.alive)


def find_any(search: Search, classes: Sequence[int]) -> Outcome:
    """Look for any answer among some classes: a promising core first, then all of them."""
    if search.rules.is_hopeless(search.classes.subset(classes)):
        return "infeasible"
    core = _start(search, classes, ("count",))
    if core.bound.whole > sum(search.classes.count(k) for k in classes):
        return "infeasible"  # proved: more would have to go than there are
    if not core.whole:
        full = core.full()
        attempts = within(CORE_EFFORT, search.attempts)
        found = search.run_on(sorted(core.free.union(full)), full=full, attempts=attempts)
        if found.outcome == "optimal":
            return "optimal"
    return search.run_on(classes).outcome


def _start(
    search: Search, classes: Sequence[int], measure: Measure, known: int | None = None
) -> _Core:
    """Bound a measure over some classes, and choose the most doubtful ones for decision.

    ``known`` is the value of an answer, if there is one: no bound can say more.
    """
    chosen = search.classes.subset(classes)
    costs = search.costs(measure, chosen)
    if known == 0:
        return _Core(classes, trivial_bound(costs), set(classes))
    below = _bounded_below(search, chosen)
    by_levels, _ = best_single_row(below, costs, chosen.sizes.tolist())
    if known is not None and by_levels.whole >= known:
        return _Core(classes, by_levels, set(classes))
    if len(classes) <= CORE or search.deadline.passed:
        quick = search.rules.quick_bound(chosen, costs)
        return _Core(classes, max(quick, by_levels, key=lambda each: each.whole), set(classes))
    bound = search.rules.close_bound(chosen, costs, _bounded_above(search, chosen) + below)
    doubtful = sorted(range(len(classes)), key=lambda k: abs(bound.reduced[k]))
    forced = search.forced.keys() & set(classes)
    return _Core(classes, bound, forced | {classes[k] for k in doubtful[:CORE]})


def _bounded_above(search: Search, classes: Classes) -> list[Row]:
    """Return the measures that are bounded above as rows."""
    return [
        Row("+".join(measure), -search.costs(measure, classes), -limit)
        for measure, limit in search.limits.items()
        if search.is_separable(measure)
    ]


def _bounded_below(search: Search, classes: Classes) -> list[Row]:
    """Return what is proved of earlier levels as rows."""
    return [
        Row("+".join(measure), search.costs(measure, classes), bound)
        for measure, bound in search.bounds.items()
    ]


def _proved(search: Search, measure: Measure, core: _Core, value: int, proven: int) -> Least:
    """Fix a proven level; drop and force what every answer of this value does without or has."""
    bound = core.bound
    if bound.whole > value:
        message = f"{measure}: the solver's {value} is below the exact bound {bound.whole}"
        raise InternalError(message)
    room = bound.room(value)
    reduced = core.reduced
    search.alive = [k for k in search.alive if reduced[k] <= room]
    for k, cost in reduced.items():
        certain = search.classes.count(k) - room // -cost if cost < 0 else 0
        if certain > 0:
            search.forced[k] = max(certain, search.forced.get(k, 0))
    search.limit(measure, value)
    return Least("optimal", value, proven)


def _unproved(search: Search, measure: Measure, core: _Core, result: Run) -> Least:
    bound = core.bound
    value = search.known_value(measure)
    if value is None:
        return Least("unknown", bound=bound.whole)
    by_solver = result.bound if core.whole and result.outcome == "feasible" else 0
    search.limit(measure, value)
    return Least("feasible", value, min(value, max(bound.whole, by_solver)))
