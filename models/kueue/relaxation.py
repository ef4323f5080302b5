"""Linear rows that every legal victim set satisfies: the model without its hard parts.

The rows bound every separable cost from below, and show which classes can matter at all
(docs/design/solver.md §3). No variable here is integral, and none is CP-SAT's.

For a joint plan the rows hold in whatever order it is served. After the last step that asks for a
flavor-resource, usage of it only falls. So in the end every node above an admitted preemptor keeps
to its quota and borrowing limit there, with all admitted preemptors counted; and evicting a
workload lowers the usage of a node by at most what the workload holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from planner.models.kueue.formulation import Columns
from planner.models.shared.classes import Classes, Relaxation, Row
from planner.problem.array import IntArray
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.kueue.amount import add, subtract
from planner.quota.kueue.tree import NO_PARENT, FlavorResource

if TYPE_CHECKING:
    from planner.models.kueue.joint import Entrant


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
                # At the usage before removals: what these free in addition is in the coefficients.
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
    """Return the cover rows, and rows for what KQ-07 or FS-06 lets each side node give up."""
    # (N,) the fr of which some node below a node keeps quota for itself.
    keeping: list[set[int]] = [set() for _ in problem.parent]
    for node in reversed(range(len(problem.parent))):  # parents come before their children
        above = problem.parent[node]
        if above != NO_PARENT:
            own = {fr for fr, kept in enumerate(problem.kept[node]) if kept}
            keeping[above] |= keeping[node] | own
    side = [
        node
        for node in columns.below
        # Where a node below keeps quota, a removal may lower the usage of this node by less than
        # the victim holds, and the row could forbid legal sets.
        if node not in problem.path and keeping[node].isdisjoint(_watched(problem, node))
    ]
    return with_excess(cover_rows(problem, columns), problem, columns, side, beyond=1)


def with_excess(
    given: Sequence[Row], problem: Problem, columns: Columns, nodes: Iterable[int], *, beyond: int
) -> Relaxation:
    """Return the given rows, and rows for nodes that must be over quota for their last victim.

    Before its last victim a node gives up at most its excess - ``beyond``, in the fr in which the
    law finds it over quota. With several contested fr, a witness variable per fr chooses one.
    Every node must have candidates.
    """
    rows, choices = list(given), list[range]()
    witnesses = 0
    for node in sorted(nodes):
        node_rows = _excess_rows(problem, columns, node, witnesses, beyond)
        if node_rows:
            rows += node_rows
            choices.append(range(witnesses, witnesses + len(node_rows) - 1))
            witnesses = choices[-1].stop
    return Relaxation(rows, witnesses, choices)


def _excess_rows(
    problem: Problem, columns: Columns, node: int, first: int, beyond: int
) -> list[Row]:
    """Return the rows of one node; none if it keeps its law whatever is removed."""
    bounded = []
    below = columns.below[node]
    counts = columns.counts[below]
    for fr in _watched(problem, node):
        excess = problem.usage[node][fr] - problem.quota[node][fr]
        if excess < beyond:
            continue
        held = columns.holding[below, fr]
        total = sum((held * counts).tolist())
        # All but the last victim stay within the excess; the last adds at most the largest.
        room = excess - beyond + int(held.max())
        # An fr in which no set exceeds this room is a witness for every set.
        if total <= room:
            return []
        bounded.append((*_held_below(columns, node, fr), room, total))
    name = problem.names[node]
    rows = [
        # With witness z: holding . take is at most room if z, and at most total otherwise.
        Row(f"excess of {name}", classes, -holding, -total, ((first + i, -(total - room)),))
        for i, (classes, holding, room, total) in enumerate(bounded)
    ]
    nobody = np.zeros(0, dtype=np.int64)
    over = f"{name} is over quota in some resource"
    one_of = tuple((first + i, 1) for i in range(len(bounded)))
    return [*rows, Row(over, nobody, nobody, 1, one_of)]


def _held_below(columns: Columns, node: int, fr: int) -> tuple[IntArray, IntArray]:
    """Return the classes at or below a node that hold some of an fr, and how much per member."""
    below = columns.below.get(node, np.zeros(0, dtype=np.int64))
    held: IntArray = columns.holding[below, fr]
    return below[held != 0], held[held != 0]


def _watched(problem: Problem, node: int) -> Sequence[int]:
    """Return the fr in which a side node must stay over quota: KQ-07, or FS-06."""
    return problem.contested if problem.fair is None else problem.fair.known[node]


def joint_cover_rows(
    entrants: Sequence[Entrant], admitted: Collection[int], classes: Classes
) -> list[Row]:
    """Return rows for what victims must free so that all ``admitted`` that have ways are admitted.

    From the first node of a path on that keeps quota for itself, nodes are left out: what is free
    there may serve a preemptor although more than the limit is borrowed.
    """
    rows: dict[tuple[int, int, FlavorResource], Row] = {}
    admitted = [e for e in sorted(admitted) if entrants[e].ways]
    for e in admitted:
        entrant = entrants[e]
        problem = entrant.ways[0].problem
        for fr, amount in _least(entrant).items():
            position = problem.frs.index(fr)
            for node, most in _limits(problem, position) if amount else ():
                if (entrant.tree, node, fr) in rows:
                    continue
                below = {node}
                for at, above in enumerate(problem.parent):  # parents come before their children
                    if above in below:
                        below.add(at)
                held = np.zeros(len(classes), dtype=np.int64)
                for k, place in enumerate(map(entrant.place, classes.first.tolist())):
                    if place is not None and int(problem.queue[place]) in below:
                        held[k] = problem.holding[place, position]
                missing = _used(entrants, admitted, entrant, node, fr) - most
                name = f"{fr} at {problem.names[node]}"
                rows[entrant.tree, node, fr] = Row.of(name, held, missing)
    return [row for row in rows.values() if row.bound > 0]


def _least(entrant: Entrant) -> dict[FlavorResource, int]:
    """Return, per fr of all its ways, the least that an entrant both asks for and then holds."""
    # The smaller of what must fit when it is served, and what it holds from then on.
    asked = [
        {
            problem.frs[fr]: min(problem.request[fr], way.reserved.get(problem.frs[fr], 0))
            for fr in problem.requested
        }
        for way in entrant.ways
        for problem in [way.problem]
    ]
    in_all = [fr for fr in asked[0] if all(fr in each for each in asked)]
    return {fr: min(each[fr] for each in asked) for fr in in_all}


def _limits(problem: Problem, fr: int) -> Iterator[tuple[int, int]]:
    """Yield the nodes of the path with the most that each may use, up to one that keeps quota."""
    for node in problem.path:
        if problem.kept[node][fr]:
            return
        quota, limit = problem.quota[node][fr], problem.limit[node][fr]
        if node != problem.path[-1]:
            quota = UNLIMITED if limit is None else add(quota, limit)
        if quota != UNLIMITED:
            yield node, quota


def _used(
    entrants: Sequence[Entrant],
    admitted: Collection[int],
    entrant: Entrant,
    node: int,
    fr: FlavorResource,
) -> int:
    """Return the least usage of a node with all ``admitted`` of its tree in, and nobody evicted."""
    problem = entrant.ways[0].problem
    position = problem.frs.index(fr)
    usage = [row[position] for row in problem.usage]
    for other in (entrants[e] for e in admitted):
        if other.tree == entrant.tree:
            # Any way will do: all problems of a tree give its nodes the same numbers.
            usage[other.ways[0].problem.own_queue] += _least(other).get(fr, 0)
    for at in reversed(range(len(usage))):  # parents come before their children
        above, kept = problem.parent[at], problem.kept[at][position]
        if above != NO_PARENT and kept != UNLIMITED:
            before = max(0, problem.usage[at][position] - kept)
            usage[above] += max(0, usage[at] - kept) - before
    return usage[node]
