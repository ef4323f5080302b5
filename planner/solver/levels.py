"""Lexicographic levels: minimise a measure, prove it, fix it, go on to the next.

For the least value of one measure as few classes are looked at as the proof permits. A linear
relaxation bounds the cost and says what each class would add or save. Classes that clearly give all
of their members as victims, or clearly none, are left so at first, and the exact model decides on
the rest; either it is proved that this was right, or those classes are decided on too
(docs/design/solver.md §3).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from planner.errors import InternalError
from planner.models.shared.classes import Parts, Row
from planner.objective.profiles import Measure, with_names
from planner.objective.terms import CASCADE
from planner.plan import Proof
from planner.solver.attempt import Outcome, Run, within
from planner.solver.bound import Bound, best_single_row, trivial_bound
from planner.solver.deadline import OutOfTime
from planner.solver.search import Counts, Search
from planner.solver.tie_break import break_ties
from planner.stage import begin

CORE = 300
"""Classes up to which the exact model is solved whole."""

MOST_TOGETHER: Final = 300
"""Classes up to which all are searched together, though they have parts to search one by one."""

CORE_EFFORT = 1.0
"""Effort for a part of the classes: where that does not settle it, more classes are taken."""


class Least(Struct, frozen=True):
    """The least value found, and the proven bound."""

    outcome: Outcome
    value: int = 0
    bound: int = 0


class _Core(Struct, dict=True):
    """The classes that the exact model decides on: ``free``.

    Of other classes, all members of ``full`` ones are victims, and no member of the rest.
    ``reduced`` is the reduced cost of each class.
    """

    classes: Sequence[int]
    bound: Bound
    free: set[int]

    @cached_property
    def reduced(self) -> dict[int, int]:
        return dict(zip(self.classes, self.bound.reduced, strict=True))

    @property
    def whole(self) -> bool:
        """Whether every class is free."""
        return len(self.free) == len(self.classes)

    def full(self) -> list[int]:
        """Return the classes outside ``free`` that give all members: to leave one out costs."""
        return [k for k, cost in self.reduced.items() if cost < 0 and k not in self.free]

    def open_below(self, value: int | None) -> list[int]:
        """Return the classes outside ``free`` that could differ in an answer below a value.

        The most doubtful come first; without a value all classes outside are returned.
        """
        reduced = self.reduced
        outside = [k for k in self.classes if k not in self.free]
        if value is not None:
            # What deviations may cost in an answer below the value: a dearer class cannot differ.
            room = self.bound.room(value - 1)
            outside = [k for k in outside if abs(reduced[k]) <= room]
        return sorted(outside, key=lambda k: abs(reduced[k]))


def minimise(search: Search, measure: Measure) -> Least:
    """Find the least value of a separable measure, and prove it as far as time permits."""
    core = _start(search, search.active, measure, search.known_value(measure))
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
        before, known = known, search.known_value(measure)
        if core.whole and result.outcome == "infeasible" and known is None:
            return Least("infeasible")
        missing = core.open_below(known)
        if missing and not search.deadline.passed:
            # At least twice as many each time: small steps would solve nearly the same model again
            # and again. Once these are settled without a better answer, only the proof is missing.
            best_of_these = result.settled and before == known is not None
            more = len(missing) if best_of_these else max(CORE, len(core.free))
            core.free.update(missing[:more])
        elif result.settled and not missing and known is not None:
            return _proved(search, measure, core, known, known)
        elif not partly or search.deadline.passed:
            return _unproved(search, measure, core, result)
        else:
            partly = False  # nothing is missing: these classes alone settle it


def minimise_whole(search: Search, measure: Measure) -> Least:
    """Find the least value of a measure that is no sum over victims, on all active classes."""
    if search.known_value(measure) == 0:
        search.limit(measure, 0)
        return Least("optimal")
    result = search.run_on(search.active, measure)
    value = search.known_value(measure)
    if value is None:
        return Least("infeasible" if result.outcome == "infeasible" else "unknown")
    search.limit(measure, value)
    if result.outcome == "optimal":
        return Least("optimal", value, value)
    return Least("feasible", value, max(0, min(value, result.bound)))


def find_within(search: Search, measure: Measure, most: int) -> Outcome:
    """Bound a measure above from now on, and look for any answer that keeps to the bound."""
    search.limit(measure, most)
    known = search.known_value(measure)
    if known is not None and known <= most:
        return "optimal"
    search.incumbent = None
    if search.is_separable(measure):
        left = search.classes.subset(search.active)
        if search.rules.quick_bound(left, search.costs(measure, left)).whole > most:
            return "infeasible"
    return find_any(search, search.active)


def find_any(search: Search, classes: Sequence[int]) -> Outcome:
    """Look for any answer of which some classes give victims: a promising core first, then all."""
    return _find_soon(search, classes) or search.run_on(classes).outcome


def _find_soon(search: Search, classes: Sequence[int]) -> Outcome | None:
    """Look for any answer in a promising core; ``None`` where all classes have to be looked at."""
    if search.rules.is_hopeless(search.classes.subset(classes)):
        return "infeasible"
    core = _start(search, classes, ("victims",))
    if core.bound.whole > sum(search.classes.count(k) for k in classes):
        return "infeasible"  # proved: more victims are needed than there are candidates
    if core.whole:
        return None
    full = core.full()
    attempts = within(CORE_EFFORT, search.attempts)
    found = search.run_on(sorted(core.free.union(full)), full=full, attempts=attempts)
    return "optimal" if found.outcome == "optimal" else None


def _start(
    search: Search, classes: Sequence[int], measure: Measure, known: int | None = None
) -> _Core:
    """Bound a measure over some classes, and choose the most doubtful ones to be free.

    ``known`` is the value of a known answer, if there is one: no bound is above it.
    """
    chosen = search.classes.subset(classes)
    costs = search.costs(measure, chosen)
    if known == 0:
        return _Core(classes, trivial_bound(costs), set(classes))
    below = [
        Row.of("+".join(earlier), search.costs(earlier, chosen), bound)
        for earlier, bound in search.bounds.items()
    ]
    by_levels, _ = best_single_row(below, costs, chosen.sizes.tolist())
    if known is not None and by_levels.whole >= known:
        return _Core(classes, by_levels, set(classes))
    if len(classes) <= CORE or search.deadline.passed:
        quick = search.rules.quick_bound(chosen, costs)
        return _Core(classes, max(quick, by_levels, key=lambda each: each.whole), set(classes))
    bounded = [
        Row.of("+".join(limited), -search.costs(limited, chosen), -limit)
        for limited, limit in search.limits.items()
        if search.is_separable(limited)
    ]
    bound = search.rules.close_bound(chosen, costs, bounded + below, search.deadline)
    certain = search.lower.keys() & set(classes)
    use = np.zeros(len(classes))
    for row in bounded:  # each row says -costs >= -limit
        use[row.classes] += row.amounts / min(-1, row.bound)
    doubtful = _most_doubtful(np.abs(np.array(bound.reduced, dtype=float)), use)
    return _Core(classes, bound, certain | {classes[k] for k in doubtful})


def _most_doubtful(doubt: NDArray[np.float64], use: NDArray[np.float64]) -> list[int]:
    """Return the places of CORE classes that could as well give victims as not.

    ``doubt`` is (C,): the less, the more doubtful; ``use`` (C,): what one member adds to the
    measures that are bounded above, in parts of their bounds.
    """
    order = np.lexsort((use, doubt))
    chosen: list[int] = []
    # Where all candidates are of a few sizes, thousands of classes are equally doubtful. Those that
    # use least leave room for others; some of the next size follow, as one size seldom adds up.
    begins = [0, *(np.flatnonzero(np.diff(doubt[order])) + 1).tolist(), order.size]
    for first, behind in pairwise(begins):
        chosen += order[first:behind][: max(1, (CORE - len(chosen)) // 2)].tolist()
        if len(chosen) >= CORE:
            break
    return chosen


def _proved(search: Search, measure: Measure, core: _Core, value: int, proven: int) -> Least:
    """Fix a proven level: drop classes that no answer of this value uses, force what all take."""
    bound = core.bound
    if bound.whole > value:
        message = f"{measure}: the solver's {value} is below the exact bound {bound.whole}"
        raise InternalError(message)
    search.fix(core.reduced, bound.room(value))
    search.limit(measure, value)
    return Least("optimal", value, proven)


def _unproved(search: Search, measure: Measure, core: _Core, result: Run) -> Least:
    bound = core.bound
    value = search.known_value(measure)
    if value is None:
        return Least("unknown", bound=bound.whole)
    # The solver's bound is for the classes that it was given: it says nothing of others.
    by_solver = result.bound if core.whole and result.outcome == "feasible" else 0
    search.limit(measure, value)
    return Least("feasible", value, min(value, max(bound.whole, by_solver)))


_SHARE: Final = 3 / 4
"""The share of the time left that one level may take."""


class LevelResult(Struct, frozen=True):
    """One level of an answer.

    ``proof`` says whether a tree shows it, which ``says`` tells in words where these are few;
    ``claimed`` is the bound by the solver's word where none does.
    """

    measure: Measure
    least: Least
    proof: Proof | None = None
    claimed: int | None = None
    says: str = ""


class Answer(Struct, frozen=True):
    """All levels, and whether everything is proved; the incumbent of the search is the answer."""

    outcome: Outcome
    levels: tuple[LevelResult, ...]


def solve_levels(search: Search, levels: Sequence[Measure]) -> Answer:
    """Solve the levels in order, then make the answer canonical."""
    search.levels = with_names(levels)
    found = _best_of_parts(search, levels)
    if found is not None:
        return found
    if search.incumbent is None:
        outcome = find_any(search, search.active)
        if outcome in ("infeasible", "unknown"):
            return Answer(outcome, ())
    if levels and levels[0] == CASCADE:
        stable = None
        with suppress(OutOfTime):  # the levels then start from the incumbent
            stable = _stable_anyway(search, levels[1:])
        if stable is not None:
            return stable
    return _settle(search, _solve_in_turn(search, levels))


def parts_of(search: Search) -> Parts | None:
    """Return the parts that are searched one by one; ``None`` where all are searched together."""
    if len(search.active) <= MOST_TOGETHER:
        return None
    parts = search.rules.parts(search.classes)
    return parts if parts.groups else None


def _best_of_parts(search: Search, levels: Sequence[Measure]) -> Answer | None:
    """Solve the parts of a search one by one, where it has parts and many classes.

    Each part is searched as long as it may hold an answer that is better than the best of the parts
    before it, or equal and earlier in the candidate order.
    """
    found = parts_of(search)
    if found is None:
        return None
    parts, are_all = found
    among, proved = set(search.active), are_all
    for part in parts:
        alone = search.fork()
        alone.active, alone.incumbent = [k for k in part if k in among], None
        outcome = (
            "unknown" if search.deadline.passed else _solve_part(alone, levels, search.incumbent)
        )
        proved = proved and outcome in {"optimal", "infeasible"}
        if alone.incumbent is not None and _comes_first(search, alone.incumbent):
            search.incumbent = alone.incumbent
    if search.incumbent is None:
        return None
    results: list[LevelResult] = []
    for measure, value in zip(search.levels, search.values(search.incumbent), strict=True):
        search.limit(measure, value)
        least = Least("optimal", value, value) if proved else Least("feasible", value)
        results.append(LevelResult(measure, least))
    return Answer("optimal" if proved else "feasible", tuple(results))


def _solve_part(part: Search, levels: Sequence[Measure], best: Counts | None) -> Outcome:
    """Solve a part as long as its answer may be as good as ``best``, the best answer so far."""
    if best is not None:
        *values, names = part.values(best)
        return solve_below(part, levels, [*values, names + 1]).outcome
    outcome = find_any(part, part.active)
    if outcome != "optimal":
        return outcome
    return _settle(part, _solve_in_turn(part, levels)).outcome


def _comes_first(search: Search, counts: Counts) -> bool:
    """Say whether an answer is better than the best so far, or equal and earlier in the order."""

    def rank(some: Counts) -> tuple[list[int], list[int]]:
        order = search.rules.order[list(search.classes.take(some))]
        return search.values(some), sorted(order.tolist())

    return search.incumbent is None or rank(counts) < rank(search.incumbent)


def _stable_anyway(search: Search, levels: Sequence[Measure]) -> Answer | None:
    """Solve without ``unstable``: where that is 0 in a best answer, it is best with it, too.

    Otherwise return ``None``; the search starts from that answer, or from the best one of which no
    victim could preempt anybody. Time is left for the levels with ``unstable``.
    """
    free = search.fork()
    free.deadline, free.levels = search.deadline.half(), with_names(levels)
    done = _solve_in_turn(free, levels)
    best = free.answer
    free.deadline = search.deadline.half().half()
    if find_within(free, CASCADE, 0) == "optimal" and _all_proved(done):
        free.deadline = search.deadline
        answer = _settle(free, done)
        search.incumbent = free.incumbent
        return replace(answer, levels=(LevelResult(CASCADE, Least("optimal")), *answer.levels))
    best = free.incumbent or best
    if search.value(CASCADE, best) <= search.value(CASCADE, search.answer):
        search.incumbent = best
    steady = search.fork()
    steady.deadline, steady.incumbent = search.deadline.half(), None
    cascades, first = search.rules.table.cascades, search.classes.first.tolist()
    if cascades is None:
        message = "an objective counts unstable, but nothing answers it"
        raise InternalError(message)
    steady.active = [k for k in search.active if cascades.is_steady(first[k])]
    if search.value(CASCADE, best) and find_any(steady, steady.active) == "optimal":
        for measure in levels:
            solve_level(steady, measure)
        search.incumbent = steady.incumbent
    return None


def _solve_in_turn(search: Search, levels: Sequence[Measure]) -> list[LevelResult]:
    """Solve levels one after the other, each within a share of the time that is left.

    A level that is too hard to prove leaves the others time to improve the plan.
    """
    deadline = search.deadline
    done: list[LevelResult] = []
    measures = with_names(levels)
    for number, measure in enumerate(measures, start=1):
        search.deadline = deadline.part(_SHARE)
        left = search.deadline.left()
        at_most = "" if left is None else f", for at most {left:.0f} s"
        begin(f"level {number} of {len(measures)}{at_most}")
        _solve_next(search, measure, done)
    search.deadline = deadline
    return done


def _solve_next(search: Search, measure: Measure, done: list[LevelResult]) -> None:
    least = solve_level(search, measure)
    done.append(LevelResult(measure, least))
    if least.outcome != "optimal":
        search.unproved.append(measure)
    # Also where the value is not proved least: a proved bound holds for all later levels.
    if least.bound and search.is_separable(measure):
        search.bounds[measure] = least.bound


def solve_below(search: Search, levels: Sequence[Measure], best: Sequence[int]) -> Answer:
    """Solve the levels in order, as long as the answer may be better than one that is known.

    ``best`` are the values of the known one, level by level, the number of names included. The
    outcome is infeasible as soon as it is proved that no answer is better.
    """
    search.levels = with_names(levels)
    done: list[LevelResult] = []
    equal = True
    for measure, most in zip(with_names(levels), best, strict=True):
        outcome = find_within(search, measure, most) if equal else "optimal"
        if outcome in ("infeasible", "unknown"):
            # An earlier level that is not proved might still have a better value.
            return Answer(outcome if _all_proved(done) else "unknown", ())
        _solve_next(search, measure, done)
        equal = equal and done[-1].least.value == most
    if equal:
        return Answer("infeasible" if _all_proved(done) else "unknown", ())
    return _settle(search, done)


def _settle(search: Search, done: Sequence[LevelResult]) -> Answer:
    """Make the answer of solved levels canonical, if it is proved best.

    It is not, where time left a cap undecided: another answer might keep that cap.
    """
    levels = []
    for level in done:
        least = level.least
        if least.outcome != "optimal":  # a later level may have improved it
            value, bound = search.value(level.measure, search.answer), least.bound
            least = Least("optimal" if value == bound else "feasible", value, bound)
        levels.append(replace(level, least=least))
    proved = _all_proved(levels) and break_ties(search) and not search.undecided
    return Answer("optimal" if proved else "feasible", tuple(levels))


def _all_proved(done: Sequence[LevelResult]) -> bool:
    return all(level.least.outcome == "optimal" for level in done)


def solve_level(search: Search, measure: Measure) -> Least:
    """Find the least value of a measure from the incumbent on, and bound it from now on."""
    if measure == ("highest_priority",):
        return _lowest_rank(search)
    if search.is_separable(measure):
        return minimise(search, measure)
    return minimise_whole(search, measure)


def _lowest_rank(search: Search) -> Least:
    """Lower the highest priority hit, rank by rank, until a rank is proved to be needed."""
    while True:
        value = search.value(("highest_priority",), search.answer)
        # Nothing is below rank 0.
        outcome: Outcome | None = "infeasible"
        if value:
            below = search.up_to_rank(value - 1)
            outcome = find_any(search, below)
        if outcome != "optimal":
            break
    value = search.value(("highest_priority",), search.answer)
    search.limit(("highest_priority",), value)
    if outcome == "infeasible":
        return Least("optimal", value, value)
    return Least("feasible", value, 0)
