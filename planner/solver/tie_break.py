"""The canonical answer among equals: the smallest sorted tuple of candidate positions.

All measures are fixed by now, the number of victims included. Victim by victim, the earliest
position in the scheduler's candidate order that still permits an answer is taken, so that one
state has one answer, whatever the machine.
"""

from __future__ import annotations

from planner.models.shared.builder import Linear, variable
from planner.solver.engine import Outcome
from planner.solver.search import Counts, Search


def break_ties(search: Search) -> bool:
    """Replace the incumbent by the canonical answer; say whether that was proved."""
    if search.incumbent is None:
        return False
    if _is_only_answer(search):
        return True
    fixed = [0] * len(search.classes)
    ceilings: dict[int, int] = {}
    while sum(fixed) < sum(search.incumbent):
        position, k = _next_victim(search, search.incumbent, fixed)
        earlier = [
            other
            for other in search.alive
            if other not in ceilings
            and fixed[other] < search.classes.count(other)
            and _position(search, other, fixed[other]) < position
        ]
        outcome = _find_earlier(search, fixed, ceilings, earlier) if earlier else "infeasible"
        if outcome == "unknown":
            return False
        if outcome == "infeasible":
            # Proved: no answer that begins like this one takes any more of the earlier ones.
            ceilings |= {other: fixed[other] for other in earlier}
            search.alive = [other for other in search.alive if ceilings.get(other, 1)]
            fixed[k] += 1
    return True


def _is_only_answer(search: Search) -> bool:
    """Say whether nothing else reaches the values of all levels: one solve settles most ties."""
    others = search.fork()
    others.cut = [*search.cut, search.answer]
    others.incumbent = None
    return others.run_on(others.alive).outcome == "infeasible"


def _position(search: Search, k: int, member: int) -> int:
    return int(search.rules.order[search.classes.members[k][member]])


def _next_victim(search: Search, incumbent: Counts, fixed: Counts) -> tuple[int, int]:
    """Return the earliest victim of the incumbent that is not fixed yet: position and class."""
    return min(
        (_position(search, k, fixed[k]), k) for k, count in enumerate(incumbent) if count > fixed[k]
    )


def _find_earlier(
    search: Search, fixed: Counts, ceilings: dict[int, int], earlier: list[int]
) -> Outcome:
    """Look for an answer with the fixed victims and at least one of the earlier ones."""
    rows = [(variable(k), count) for k, count in enumerate(fixed) if count]
    rows += [(Linear({k: -1}), -limit) for k, limit in ceilings.items() if limit]
    one_more = Linear(dict.fromkeys(earlier, 1))
    rows.append((one_more, 1 + sum(fixed[k] for k in earlier)))
    return search.run_on(search.alive, rows=rows).outcome
