"""Rules of thumb: each is a page of its source, and none looks at the objective but where said.

Sources: kubernetes pkg/scheduler/framework/preemption/preemption.go ``pickOneNodeForPreemption``
and pkg/scheduler/framework/plugins/defaultpreemption ``SelectVictimsOnNode``; volcano
pkg/scheduler/actions/preempt and pkg/scheduler/actions/reclaim, with the plugins ``priority`` and
``proportion``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from planner.problem.array import IntArray
from planner.rivals.contest import Contest, Found


def greedy(contest: Contest) -> Found:
    """Take the scheduler's own victims, by an exact replay of its decision."""
    return Found(contest.planning.greedy_positions() or None)


def smallest(contest: Contest) -> Found:
    """Take the smallest candidate that is sufficient, or else the largest, until there is room.

    Sufficient is who holds all that is still missing. In the end whoever is not needed is spared.
    Of several nodes the best by the objective counts.
    """
    answers = []
    for pool in contest.pools():
        found = _by_size(contest, pool)
        if found is not None:
            answers.append(contest.give_back(found))
    return Found(contest.best(answers))


def _by_size(contest: Contest, pool: Sequence[int]) -> list[int] | None:
    table, left = contest.table, list(pool)
    contested = list(table.contested)
    missing = np.array(table.needs[table.alternative(pool)], dtype=np.int64)[contested]
    chosen: list[int] = []
    while left:
        after = missing - _freed(contest, chosen, contested)
        enough = [p for p in left if (table.holding[p, contested] >= after).all()]
        size: Callable[[int], int] = lambda p: int(table.size[p])  # noqa: E731
        position = min(enough, key=size) if enough else max(left, key=size)
        left.remove(position)
        broken = contest.judge.broken([*chosen, position])
        if not broken:
            return [*chosen, position]
        if broken <= contest.room:
            chosen.append(position)
    return None


def _freed(contest: Contest, chosen: Sequence[int], contested: Sequence[int]) -> IntArray:
    table = contest.table
    going = [position for position in chosen if not table.evicted[position]]
    freed: IntArray = table.holding[going][:, contested].sum(axis=0)
    return freed


def kube_scheduler(contest: Contest) -> Found:
    """Choose as kube-scheduler does for a pod, a ClusterQueue standing for a node where none is.

    On each node all pods of a lower priority go if that makes room; from the highest priority
    down, the longest running first, each is spared that can be. Of the nodes the one is chosen
    whose highest priority of a victim is the lowest; then the smallest sum of priorities; then the
    fewest victims; then the latest start of a victim of the highest priority.
    PodDisruptionBudgets come first there and are in none of these states.
    """
    below = contest.part.below(contest.planning)
    rank, age = contest.table.priority, contest.table.separable["time"]
    answers = []
    for place in contest.part.places(contest.planning):
        lower = [position for position in place if below[position]]
        if not lower or not contest.makes_room(lower):
            continue
        kept = list(lower)
        for position in sorted(lower, key=lambda p: (-int(rank[p]), -int(age[p]))):
            rest = [one for one in kept if one != position]
            if contest.makes_room(rest):
                kept = rest
        answers.append(kept)
    return Found(min(answers, key=lambda one: _as_a_node(one, rank, age), default=None) or None)


def _as_a_node(victims: Sequence[int], rank: IntArray, age: IntArray) -> tuple[int, ...]:
    """Return what kube-scheduler compares nodes by; the less, the better."""
    priorities = [int(rank[position]) for position in victims]
    highest = max(priorities, default=0)
    oldest = max((int(age[p]) for p in victims if rank[p] == highest), default=0)
    # Priorities are shifted there so that the sum of a longer list is never the smaller one.
    return highest, sum(one + 2**31 for one in priorities), len(victims), oldest


def volcano(contest: Contest) -> Found:
    """Preempt in the own queue as Volcano does and, where that makes no room, reclaim from others.

    Lowest priority first, of equals the newest; reclaim passes over whose queue would fall below
    what it deserves, which are the laws of these states. The first node with room is it, and nobody
    is given back.
    """
    own, below = contest.part.own(contest.planning), contest.part.below(contest.planning)
    rank, age = contest.table.priority, contest.table.separable["time"]

    def ordered(some: Iterable[int]) -> list[int]:
        return sorted(some, key=lambda p: (int(rank[p]), int(age[p])))

    actions: tuple[Callable[[int], bool], ...] = (
        lambda p: bool(own[p]) and bool(below[p]),
        lambda p: not own[p],
    )
    for takes in actions:
        for pool in contest.pools():
            found = contest.add_until_legal(ordered(filter(takes, pool)))
            if found is not None:
                return Found(found)
    return Found(None)
