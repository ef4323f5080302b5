"""Linear rows that every legal victim set satisfies: the model without its hard parts.

They bound every separable cost from below, and tell which classes can matter at all
(docs/design/solver.md §3). No variable here is integral, and none is CP-SAT's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from planner.models.kueue.formulation import Columns
from planner.models.shared.row import Relaxation, Row
from planner.problem.array import IntArray
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.kueue.amount import add, subtract
from planner.quota.kueue.tree import NO_PARENT


def cover_rows(problem: Problem, columns: Columns) -> list[Row]:
    """Return what victims must free, per flavor-resource and per limit of the path.

    Removing a workload raises what is available to the preemptor by at most what it holds, so
    in every legal set ``sum(holding) >= request - available``; at a node with a borrowing limit
    only victims below it count.
    """
    rows = []
    for fr in problem.needed:
        need = problem.request[fr]
        for node in problem.path:
            kept, quota = problem.kept[node][fr], problem.quota[node][fr]
            used = problem.usage[node][fr]
            if node != problem.path[-1]:
                if kept == UNLIMITED:
                    break
                # At the usage of now: what removals free here in addition is in the coefficients.
                need -= max(0, kept - used)
                limit = problem.limit[node][fr]
                cap = UNLIMITED if limit is None else add(subtract(quota, kept), limit)
                missing = need + max(0, used - kept) - cap
            else:
                cap = quota
                missing = need + used - quota
            if UNLIMITED not in {cap, quota} and missing > 0:
                name = f"{problem.frs[fr]} at {problem.names[node]}"
                rows.append(Row(name, *_held_below(columns, node, fr), missing))
    return rows


def relax(problem: Problem, columns: Columns) -> Relaxation:
    """Return the cover rows, and what KQ-07 or FS-06 leaves of each side node."""
    keeping = _keeping_below(problem)
    side = [
        node
        for node in columns.below
        # Where something below keeps quota, a removal may count for less at the node than it
        # holds, and the row could forbid legal sets.
        if node not in problem.path and keeping[node].isdisjoint(_watched(problem, node))
    ]
    return with_excess(cover_rows(problem, columns), problem, columns, side, beyond=1)


def with_excess(
    given: Sequence[Row], problem: Problem, columns: Columns, nodes: Iterable[int], *, beyond: int
) -> Relaxation:
    """Return rows that are given, and those of nodes that need some excess for the last victim.

    Before its last victim a node gives up at most its excess - ``beyond``, in the fr that shows
    it so much over its quota. With several contested fr, a witness variable per fr chooses one.
    The nodes must be such that have candidates.
    """
    rows = list(given)
    choices: list[range] = []
    witnesses = 0
    for node in sorted(nodes):
        node_rows = _excess_rows(problem, columns, node, witnesses, beyond)
        if node_rows is not None:
            rows.extend(node_rows)
            choices.append(range(witnesses, witnesses + len(node_rows) - 1))
            witnesses += len(node_rows) - 1
    return Relaxation(rows, witnesses, choices)


def _excess_rows(
    problem: Problem, columns: Columns, node: int, first: int, beyond: int
) -> list[Row] | None:
    """Return the rows of one node, or ``None`` if nothing binds it, whatever is removed."""
    bounded = []
    below = columns.below[node]
    counts = columns.counts[below]
    for fr in _watched(problem, node):
        excess = problem.usage[node][fr] - problem.quota[node][fr]
        if excess < beyond:
            continue
        held = columns.holding[below, fr]
        total = sum((held * counts).tolist())
        # All but the last victim stay within the excess; the last adds the largest at most.
        room = excess - beyond + int(held.max())
        # One fr that cannot bind is witness enough for any set.
        if total <= room:
            return None
        bounded.append((*_held_below(columns, node, fr), room, total))
    name = problem.names[node]
    rows = [
        # With witness z: holding . take is at most room if z, and at most total otherwise.
        Row(f"excess of {name}", classes, -holding, -total, ((first + i, -(total - room)),))
        for i, (classes, holding, room, total) in enumerate(bounded)
    ]
    nobody = np.zeros(0, dtype=np.int64)
    some = Row(
        f"{name} is over quota in some resource",
        nobody,
        nobody,
        1,
        tuple((first + i, 1) for i in range(len(bounded))),
    )
    return [*rows, some]


def _held_below(columns: Columns, node: int, fr: int) -> tuple[IntArray, IntArray]:
    """Return the classes at or below a node that hold something, and what a member does."""
    below = columns.below.get(node, np.zeros(0, dtype=np.int64))
    held: IntArray = columns.holding[below, fr]
    return below[held != 0], held[held != 0]


def _watched(problem: Problem, node: int) -> Sequence[int]:
    """Return the fr in which a side node must stay over quota: KQ-07, or FS-06."""
    return problem.contested if problem.fair is None else problem.fair.known[node]


def _keeping_below(problem: Problem) -> list[set[int]]:
    """Return for each node the fr of which something below it keeps quota for itself: (N,).

    Where there are none, everything below the node counts fully there.
    """
    keeping: list[set[int]] = [set() for _ in problem.parent]
    for node in reversed(range(len(problem.parent))):  # parents come before their children
        above = problem.parent[node]
        if above != NO_PARENT:
            own = {fr for fr, kept in enumerate(problem.kept[node]) if kept}
            keeping[above] |= keeping[node] | own
    return keeping
