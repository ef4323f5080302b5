"""The canonical answer among equal ones: the smallest sorted tuple of candidate positions.

All measures are fixed by now, the number of victims included. Victim by victim, the earliest
position in the scheduler's candidate order that still permits an answer is taken, so that one
state has one answer, whatever the machine. Where few answers are equal, many victims are settled
at once: no candidate before the last of them can take the place of one.

If any answer will do, the solver wanders among sums that are nearly right. Instead a fixed measure
can be loosened by one step and minimised: its linear program then leads to an answer that keeps to
the least value, or proves that there is none. With hundreds of victims that is ten times faster, or
ten times slower: the two ways take turns, each time with more effort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from planner.models.shared.builder import Linear
from planner.objective.profiles import Measure
from planner.solver.attempt import Attempt, Outcome
from planner.solver.search import Counts, RowOverClasses, Search


def find_equal(search: Search, rows: Sequence[RowOverClasses] = ()) -> Outcome:
    """Look for an answer that keeps to all limits and to further conditions.

    The incumbent need not keep to the conditions; an answer that is found takes its place. The
    outcome is ``optimal`` if there is an answer, ``infeasible`` or ``unknown``.
    """
    for attempt in search.attempts:
        for guided in (search.guided, not search.guided):
            guide = guide_of(search) if guided else None
            if guided and guide is None:
                continue
            outcome = try_once(search, rows, guide, attempt)
            if outcome != "unknown" or search.deadline.passed:
                search.guided = guided
                return outcome
    return "unknown"


def try_once(
    search: Search, rows: Sequence[RowOverClasses], guide: Measure | None, attempt: Attempt
) -> Outcome:
    """Look for such an answer in a single attempt, led by the measure ``guide`` if there is one."""
    others = search.fork()
    others.incumbent = None
    if guide is None:
        outcome = others.run_on(others.active, rows=rows, attempts=[attempt]).outcome
    else:
        most = search.limits[guide]
        costs = search.costs(guide, search.classes.subset(search.active))
        # The least step by which the measure can rise.
        others.limits[guide] = most + (int(np.gcd.reduce(costs)) or 1)
        outcome = others.run_on(
            others.active, guide, rows=rows, least=most, attempts=[attempt]
        ).outcome
        if others.incumbent is not None and others.value(guide, others.incumbent) > most:
            others.incumbent = None
            outcome = "infeasible" if outcome == "optimal" else "unknown"
    search.attempts = others.attempts
    if others.incumbent is None:
        return outcome
    search.incumbent = others.incumbent
    return "optimal"


def guide_of(search: Search) -> Measure | None:
    """Return the fixed measure with the most different costs of classes, if any has several."""
    active = search.classes.subset(search.active)
    different = {
        measure: len({*search.costs(measure, active).tolist()})
        for measure, least in search.bounds.items()
        if search.limits.get(measure) == least
    }
    guide = max(different, key=different.__getitem__, default=None)
    return None if guide is None or different[guide] == 1 else guide


FEW: Final = 2
"""Equal answers, besides the first, that are listed before victims are settled one by one."""


def break_ties(search: Search) -> bool:
    """Replace the incumbent by the canonical answer; say whether that was proved."""
    if search.incumbent is None:
        return False
    if _has_few(search):
        return True
    fixed = [0] * len(search.classes)
    span = 1
    while sum(fixed) < sum(search.answer):
        known = search.answer
        step, earlier = next_step(search, fixed, span)
        outcome: Outcome = "infeasible"
        if earlier:
            # An answer with the fixed victims and at least one more of the earlier candidates.
            one_more = Linear(dict.fromkeys(earlier, 1)), 1 + sum(fixed[k] for k in earlier)
            outcome = find_equal(search, [one_more])
        if outcome == "unknown":
            search.incumbent = known
            return False
        if outcome == "infeasible":
            # Proved: no answer that begins like this one takes more of the earlier candidates.
            search.upper |= {other: fixed[other] for other in earlier}
            search.active = [other for other in search.active if search.upper.get(other, 1)]
            for _, k in step:
                fixed[k] += 1
                search.lower[k] = max(fixed[k], search.lower.get(k, 0))
            # Steps grow while no earlier candidate comes in, and shrink when one does: few
            # questions either way.
            span = 2 * len(step)
        else:
            if _positions(search, known) <= _positions(search, search.answer):
                search.incumbent = known  # one comes in, but an even earlier victim drops out
            span = max(1, len(step) // 2)
    return True


def _has_few(search: Search) -> bool:
    """Make the first of a few equal answers the incumbent; say whether there are no others.

    Most ties are settled so: no other answer reaches the values of all levels, or just one does.
    """
    others = search.fork()
    # A list of its own: answers are cut off here to find others, and not because they are refused.
    others.cut = list(search.cut)
    outcome: Outcome = "optimal"
    for _ in range(FEW):
        others.cut.append(others.answer)
        outcome = find_equal(others)
        if outcome != "optimal":
            break
        search.incumbent = min(search.answer, others.answer, key=lambda a: _positions(search, a))
    search.attempts, search.guided = others.attempts, others.guided
    return outcome == "infeasible"


def _position(search: Search, k: int, member: int) -> int:
    return int(search.rules.order[search.classes.members[k][member]])


def _positions(search: Search, counts: Counts) -> list[int]:
    """Return the positions of an answer's victims in the candidate order, sorted."""
    return sorted(
        _position(search, k, member) for k, count in enumerate(counts) for member in range(count)
    )


def next_step(search: Search, fixed: Counts, span: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Return the next victims of the incumbent, and the classes with an earlier candidate to take.

    Victims are given by position and class. They are ``span``, or fewer: no class may give both a
    victim here and an earlier candidate, so that victims of the classes returned are all fixed.
    """
    ahead = sorted(
        (_position(search, k, member), k)
        for k, count in enumerate(search.answer)
        for member in range(fixed[k], count)
    )
    next_member = [
        (_position(search, k, search.answer[k]), k)
        for k in search.active
        if k not in search.upper and search.answer[k] < search.classes.count(k)
    ]
    size = min(span, len(ahead))
    while True:
        step = ahead[:size]
        earlier = [k for position, k in next_member if position < step[-1][0]]
        if not {k for _, k in step}.intersection(earlier):
            return step, earlier
        size -= 1  # one victim alone comes before all other members of its class
