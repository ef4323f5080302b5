"""Linear rows that every legal victim set satisfies: the model without its hard parts.

The rows bound every separable cost from below, and show which classes can matter at all
(docs/design/solver.md §3). No variable here is integral, and none is CP-SAT's.

For a joint plan the rows hold in whatever order it is served. After the last step that asks for a
flavor-resource, usage of it only falls. So in the end every node above an admitted preemptor keeps
to its quota and borrowing limit there, with all admitted preemptors counted; and evicting a
workload lowers the usage of a node by at most what the workload holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from planner.models.shared.builder import Linear
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.classes import Classes
from planner.quota.kueue.amount import add
from planner.quota.kueue.tree import NO_PARENT, FlavorResource

if TYPE_CHECKING:
    from planner.models.kueue.joint import Entrant


def cover_rows(
    entrants: Sequence[Entrant], admitted: Collection[int], classes: Classes
) -> list[tuple[Linear, int]]:
    """Return rows for what victims must free so that all ``admitted`` that have ways are admitted.

    A row is an expression over the numbers of classes, and its lower bound. From the first node of
    a path on that keeps quota for itself, nodes are left out: what is free there may serve a
    preemptor although more than the limit is borrowed.
    """
    rows: dict[tuple[int, int, FlavorResource], tuple[Linear, int]] = {}
    those = [entrants[e] for e in sorted(admitted) if entrants[e].ways]
    for entrant in those:
        problem = entrant.ways[0].problem
        places = [*enumerate(map(entrant.place, classes.first.tolist()))]
        beside = [other for other in those if other.tree == entrant.tree]
        for fr, amount in _least(entrant).items():
            position = problem.frs.index(fr)
            for node, most in _limits(problem, position) if amount else ():
                if (entrant.tree, node, fr) in rows:
                    continue
                below = {node}
                for at, above in enumerate(problem.parent):  # parents come before their children
                    if above in below:
                        below.add(at)
                held = {
                    k: int(problem.holding[place, position])
                    for k, place in places
                    if place is not None and int(problem.queue[place]) in below
                }
                row = Linear({k: each for k, each in held.items() if each})
                rows[entrant.tree, node, fr] = row, _used(problem, beside, node, position) - most
    return [row for row in rows.values() if row[1] > 0]


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


def _used(problem: Problem, entrants: Sequence[Entrant], node: int, position: int) -> int:
    """Return the least usage of a node with all entrants of its tree in, and nobody evicted.

    ``position`` is that of a flavor-resource in the problem.
    """
    usage, fr = [row[position] for row in problem.usage], problem.frs[position]
    for entrant in entrants:
        # Any way will do: all problems of a tree give its nodes the same numbers.
        usage[entrant.ways[0].problem.own_queue] += _least(entrant).get(fr, 0)
    for at in reversed(range(len(usage))):  # parents come before their children
        above, kept = problem.parent[at], problem.kept[at][position]
        if above != NO_PARENT and kept != UNLIMITED:
            before = max(0, problem.usage[at][position] - kept)
            usage[above] += max(0, usage[at] - kept) - before
    return usage[node]
