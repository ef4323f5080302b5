"""Rules of thumb: each follows its source, and ignores the objective unless its docstring names it.

Random orders and local search compare by the objective; a seed fixes what they draw.

Sources: kubernetes pkg/scheduler/framework/preemption/preemption.go ``pickOneNodeForPreemption``
and pkg/scheduler/framework/plugins/defaultpreemption ``SelectVictimsOnNode``; volcano
pkg/scheduler/actions/preempt and pkg/scheduler/actions/reclaim, with the plugins ``priority`` and
``proportion``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np

from planner.research.rivals.contest import Contest, Found, SpentError


def greedy(contest: Contest) -> Found:
    """Take the scheduler's own victims, by an exact replay of its decision."""
    return Found(contest.planning.greedy_positions() or None)


def smallest(contest: Contest) -> Found:
    """Take the smallest candidate that is sufficient, or else the largest, until there is room.

    A candidate is sufficient if it holds all that is still missing. In the end victims that are not
    needed are spared. Of several nodes the best answer by the objective counts.
    """
    table = contest.table
    contested, size = list(table.contested), table.size.__getitem__

    def by_size(pool: list[int]) -> list[int] | None:
        missing = np.array(table.needs[table.alternative(pool)], dtype=np.int64)[contested]
        chosen, left = list[int](), list(pool)
        while left:
            going = [position for position in chosen if not table.leaving[position]]
            after = missing - table.holding[going][:, contested].sum(axis=0)
            enough = [p for p in left if (table.holding[p, contested] >= after).all()]
            position = min(enough, key=size) if enough else max(left, key=size)
            left.remove(position)
            broken = contest.broken([*chosen, position])
            if not broken:
                return [*chosen, position]
            if broken <= contest.room:
                chosen.append(position)
        return None

    return contest.best_of_pools(by_size)


def kube_scheduler(contest: Contest) -> Found:
    """Choose as kube-scheduler does for a pod, with ClusterQueues in the place of missing nodes.

    On each node all pods of a lower priority are victims if that makes room; from the highest
    priority down, the longest running first, each that is not needed is spared. The node is chosen
    whose highest priority of a victim is the lowest; then the smallest sum of priorities; then the
    fewest victims; then the latest start of a victim of the highest priority.
    PodDisruptionBudgets come first there and are in none of these states.
    """
    below = contest.part.below(contest.planning)
    rank, age = contest.table.priority, contest.table.separable["run_time"]

    def as_a_node(victims: Sequence[int]) -> tuple[int, ...]:
        """Return the numbers by which nodes are compared; the less, the better."""
        priorities = [int(rank[position]) for position in victims]
        highest = max(priorities, default=0)
        oldest = max((int(age[p]) for p in victims if rank[p] == highest), default=0)
        # Priorities are shifted there so that the sum of a longer list is never the smaller one.
        return highest, sum(one + 2**31 for one in priorities), len(victims), oldest

    answers = []
    for place in contest.part.places(contest.planning):
        lower = [position for position in place if below[position]]
        if not lower or not contest.makes_room(lower):
            continue
        dearest = sorted(lower, key=lambda p: (-int(rank[p]), -int(age[p])))
        answers.append(contest.spare(dearest, lower, contest.makes_room))
    return Found(min(answers, key=as_a_node, default=None) or None)


def volcano(contest: Contest) -> Found:
    """Preempt in the own queue as Volcano does and, where that makes no room, reclaim from others.

    The lowest priority comes first, of equal ones the newest; reclaim passes over candidates whose
    queue would fall below what it deserves, which the laws of these states decide. The first node
    with room is taken, and no victim is spared afterwards.
    """
    own, below = contest.part.own(contest.planning), contest.part.below(contest.planning)
    rank, age = contest.table.priority, contest.table.separable["run_time"]
    for takes in (own & below, ~own):
        for pool in contest.pools():
            some = (position for position in pool if takes[position])
            order = sorted(some, key=lambda p: (int(rank[p]), int(age[p])))
            found = contest.add_until_legal(order)
            if found is not None:
                return Found(found)
    return Found(None)


MOVES = 20
"""Moves that local search tries for each judgement it may ask for."""


def random_restarts(contest: Contest) -> Found:
    """Take candidates in a random order as the scheduler does, again and again; keep the best.

    A round ends as the scheduler's own does: victims not needed are spared, in reverse order.
    """
    best: Sequence[int] | None = None
    with suppress(SpentError):  # no judgement is left
        for found in _rounds(contest):
            if best is None or contest.values(found) < contest.values(best):
                best = found
    return Found(best)


def local_search(contest: Contest) -> Found:
    """Improve the scheduler's own victims, or else random ones, by small moves while they last.

    A move drops a victim, or exchanges one or two victims for another one; it is made if the
    objective becomes less and no law is broken.
    """
    start, chance = contest.planning.greedy_positions(), contest.chance
    best: Sequence[int] | None = None
    with suppress(SpentError):  # no judgement is left
        best = start if start and contest.is_legal(start) else next(_rounds(contest))
        candidates = [position for pool in contest.pools() for position in pool]
        value = contest.values(best)
        for _ in range(MOVES * contest.effort.judgements):
            trial = list(best)
            for _ in range(chance.choice((1, 1, 2))):
                if trial:
                    trial.pop(chance.randrange(len(trial)))
            if chance.randrange(3):
                added = candidates[chance.randrange(len(candidates))]
                trial += [] if added in trial else [added]
            worth = contest.values(trial)
            if worth < value and contest.is_legal(trial):
                best, value = trial, worth
    return Found(best)


def _rounds(contest: Contest) -> Iterator[Sequence[int]]:
    """Yield answers to random orders, until no judgement is left."""
    pools = contest.pools()
    if not pools:
        raise SpentError
    while True:
        order = pools[contest.chance.randrange(len(pools))].copy()
        contest.chance.shuffle(order)
        found = contest.add_until_legal(order)
        if found is not None:
            yield contest.give_back(found)
