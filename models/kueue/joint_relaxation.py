"""Linear rows that the victims of every joint plan satisfy, in whatever order it is served.

After the last step that asks for a flavor-resource, usage of it only falls. So in the end every
node above an admitted preemptor keeps to its quota and borrowing limit there, all that is admitted
counted; and evicting a workload lowers the usage of a node by at most what it holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from planner.models.kueue.joint import Entrant
from planner.models.shared.classes import Classes
from planner.models.shared.row import Row
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED
from planner.quota.kueue.amount import add
from planner.quota.kueue.tree import NO_PARENT, FlavorResource


def joint_cover_rows(
    entrants: Sequence[Entrant], admitted: Collection[int], classes: Classes
) -> list[Row]:
    """Return what victims must free so that some entrants are all admitted, as far as each can be.

    Nodes that keep something for themselves, there or below on the path, are left out: what is
    free there may serve a preemptor although more than the limit is borrowed.
    """
    rows: dict[tuple[int, int, FlavorResource], Row] = {}
    admitted = [e for e in sorted(admitted) if entrants[e].ways]
    for e in admitted:
        entrant = entrants[e]
        problem = entrant.ways[0].problem
        for fr, amount in _least(entrant).items():
            position = problem.frs.index(fr)
            for node, most in _limits(problem, position) if amount else ():
                if (entrant.tree, node, fr) not in rows:
                    used = _used(entrants, admitted, entrant, node, fr)
                    row = _row(entrant, classes, node, position, used - most)
                    rows[entrant.tree, node, fr] = row
    return [row for row in rows.values() if row.bound > 0]


def _least(entrant: Entrant) -> dict[FlavorResource, int]:
    """Return what an entrant asks for and then holds in every way, at least."""
    found: dict[FlavorResource, int] | None = None
    for way in entrant.ways:
        problem = way.problem
        # The less of what must fit when it is served, and of what it holds from then on.
        asked = {
            problem.frs[fr]: min(problem.request[fr], way.reserved.get(problem.frs[fr], 0))
            for fr in problem.requested
        }
        if found is None:
            found = asked
        else:
            found = {fr: min(n, asked[fr]) for fr, n in found.items() if fr in asked}
    return found or {}


def _limits(problem: Problem, fr: int) -> Iterator[tuple[int, int]]:
    """Yield the nodes of the path with the most that they may use, as far as all is lent."""
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
    """Return the usage of a node with nobody evicted and all of the tree admitted, at least."""
    problem = entrant.ways[0].problem
    position = problem.frs.index(fr)
    usage = [row[position] for row in problem.usage]
    for e in admitted:
        other = entrants[e]
        if other.tree == entrant.tree:
            # Any way will do: all problems of a tree number its nodes alike.
            usage[other.ways[0].problem.own_queue] += _least(other).get(fr, 0)
    for at in reversed(range(len(usage))):  # parents come before their children
        above, kept = problem.parent[at], problem.kept[at][position]
        if above != NO_PARENT and kept != UNLIMITED:
            before = max(0, problem.usage[at][position] - kept)
            usage[above] += max(0, usage[at] - kept) - before
    return usage[node]


def _row(entrant: Entrant, classes: Classes, node: int, fr: int, missing: int) -> Row:
    problem = entrant.ways[0].problem
    below = {node}
    for at, above in enumerate(problem.parent):
        if above in below:
            below.add(at)
    coefficients = np.zeros(len(classes), dtype=np.int64)
    for k, position in enumerate(classes.first.tolist()):
        place = entrant.place(position)
        if place is not None and int(problem.queue[place]) in below:
            coefficients[k] = problem.holding[place, fr]
    return Row.of(f"{problem.frs[fr]} at {problem.names[node]}", coefficients, missing)
