"""CP-SAT as the finder: the least value of a measure, levels in their order, and the first of ties.

What the solver says of an answer is its word, and proves nothing (planner.solver.levels).
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import inf
from typing import Final

from msgspec import Struct

from planner.models.shared.builder import Linear
from planner.objective.profiles import Measure, with_names
from planner.solver.search import Counts, Outcome, RowOverClasses, Search
from planner.stage import begin

_SHARE: Final = 3 / 4
"""The share of the time left that one level may take."""


class Least(Struct, frozen=True):
    """The least value found, and the bound."""

    outcome: Outcome
    value: int = 0
    bound: int = 0


class Answer(Struct, frozen=True):
    """All levels, and whether the solver calls each best; the incumbent of the search is it."""

    outcome: Outcome
    levels: Mapping[Measure, Least]


def find_any(search: Search) -> Outcome:
    """Look for any answer; first, in half of the time, by guessing what a replay would say."""
    if search.rules.table.replayed:
        whole = search.deadline
        search.deadline = whole.half()
        search.run(guessing=True)
        search.deadline = whole
        if search.incumbent is not None:
            return "optimal"
    return search.run().outcome


def find_within(search: Search, measure: Measure, most: int) -> Outcome:
    """Bound a measure above from now on, and look for any answer that keeps to the bound."""
    search.limit(measure, most)
    known = search.known_value(measure)
    if known is not None and known <= most:
        return "optimal"
    search.incumbent = None
    return find_any(search)


def find_equal(search: Search, rows: Sequence[RowOverClasses] = ()) -> Outcome:
    """Look for another answer that keeps to all limits and to further conditions.

    The incumbent need not keep to the conditions; an answer that is found takes its place. The
    outcome is ``optimal`` if there is an answer, ``infeasible`` or ``unknown``.
    """
    others = search.fork()
    others.incumbent = None
    outcome = others.run(rows=rows).outcome
    if others.incumbent is None:
        return outcome
    search.incumbent = others.incumbent
    return "optimal"


def minimise(
    search: Search, measure: Measure, effort: float = inf, *, guessing: bool = False
) -> Least:
    """Find the least value of a measure from the incumbent on, and bound it from now on.

    Where it is ``guessing`` what a replay would say, there may be a lower one.
    """
    if search.known_value(measure) == 0:
        search.limit(measure, 0)
        return Least("optimal")
    result = search.run(measure, effort=effort, guessing=guessing)
    value = search.known_value(measure)
    if value is None:
        return Least("infeasible" if result.outcome == "infeasible" else "unknown")
    search.limit(measure, value)
    if result.outcome == "infeasible":  # there is none better than what was known
        return Least("optimal", value, value)
    if result.outcome == "optimal" and result.bound == value:
        return Least("optimal", value, value)
    # A bound that an answer refutes is none.
    return Least("feasible", value, result.bound if 0 < result.bound <= value else 0)


def solve_levels(search: Search, levels: Sequence[Measure]) -> Answer:
    """Solve the levels in order, then make the answer canonical, if each is best.

    Each level has a share of the time left: a hard one leaves the others time.
    """
    if search.incumbent is None:
        outcome = find_any(search)
        if outcome in {"infeasible", "unknown"}:
            return Answer(outcome, {})
    done, whole = dict[Measure, Least](), search.deadline
    for measure in with_names(levels):
        search.deadline = whole.part(_SHARE)
        left = search.deadline.left()
        begin(f"level {len(done) + 1}" + ("" if left is None else f", for at most {left:.0f} s"))
        for earlier in done:  # a later level may have improved it
            search.limit(earlier, search.value(earlier, search.answer))
        done[measure] = minimise(search, measure)
        search.deadline = whole
    for measure, least in done.items():
        if least.outcome != "optimal":
            value = search.value(measure, search.answer)
            is_best = value == least.bound
            done[measure] = Least("optimal" if is_best else "feasible", value, least.bound)
    best = all(least.outcome == "optimal" for least in done.values()) and break_ties(search)
    return Answer("optimal" if best else "feasible", done)


def break_ties(search: Search) -> bool:
    """Replace the incumbent by the canonical answer; say whether the solver settled that.

    Among equal answers that is the one with the smallest sorted tuple of positions in the
    scheduler's candidate order, so that one state has one answer. All measures are fixed by now,
    the number of victims included. Victim by victim, the earliest position that still permits an
    answer is taken; where few answers are equal, many victims are settled at once, as no candidate
    before the last of them can take the place of one.
    """
    fixed = [0] * len(search.classes)
    closed, span = set[int](), 1
    while search.incumbent is not None and sum(fixed) < sum(search.incumbent):
        known = search.answer
        step, earlier = next_step(search, fixed, closed, span)
        outcome: Outcome = "infeasible"
        if earlier:
            # An answer with the fixed victims and at least one more of the earlier candidates.
            one_more = Linear(dict.fromkeys(earlier, 1)), 1 + sum(fixed[k] for k in earlier)
            outcome = find_equal(search, [one_more])
        if outcome == "unknown":
            search.incumbent = known
            return False
        if outcome == "infeasible":
            # No answer that begins like this one takes more of the earlier candidates.
            closed.update(earlier)
            search.conditions += [(Linear({k: -1}), -fixed[k]) for k in earlier if fixed[k]]
            search.active = [k for k in search.active if fixed[k] or k not in closed]
            for _, k in step:
                fixed[k] += 1
            search.conditions += [(Linear({k: 1}), fixed[k]) for k in {k for _, k in step}]
            # Steps grow while no earlier candidate comes in, and shrink when one does: few
            # questions either way.
            span = 2 * len(step)
        else:
            if _positions(search, known) <= _positions(search, search.answer):
                search.incumbent = known  # one comes in, but an even earlier victim drops out
            span = max(1, len(step) // 2)
    return search.incumbent is not None


def _position(search: Search, k: int, member: int) -> int:
    return int(search.rules.order[search.classes.members[k][member]])


def _positions(search: Search, counts: Counts) -> list[int]:
    """Return the positions of an answer's victims in the candidate order, sorted."""
    return sorted(
        _position(search, k, member) for k, count in enumerate(counts) for member in range(count)
    )


def next_step(
    search: Search, fixed: Counts, closed: Container[int], span: int
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the next victims of the incumbent, and the classes with an earlier candidate to take.

    Classes that are ``closed`` give no more than the ``fixed`` ones. Victims are given by position
    and class. They are ``span``, or fewer: no class may give both a victim here and an earlier
    candidate, so that victims of the classes returned are all fixed.
    """
    ahead = sorted(
        (_position(search, k, member), k)
        for k, count in enumerate(search.answer)
        for member in range(fixed[k], count)
    )
    next_member = [
        (_position(search, k, search.answer[k]), k)
        for k in search.active
        if k not in closed and search.answer[k] < search.classes.count(k)
    ]
    size = min(span, len(ahead))
    while True:
        step = ahead[:size]
        earlier = [k for position, k in next_member if position < step[-1][0]]
        if not {k for _, k in step}.intersection(earlier):
            return step, earlier
        size -= 1  # one victim alone comes before all other members of its class
