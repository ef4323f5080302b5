"""What the rivals need to know of Kueue. Quota has no nodes: ClusterQueues take their place."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from planner.laws import Law
from planner.objective.profiles import Profile
from planner.problem.array import BoolArray
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare as prepare_search
from planner.solver.search import Search

ROOM: Final[tuple[Law, ...]] = ()


def prepare(
    planning: Planning, profile: Profile, deadline: Deadline, apart: Collection[int]
) -> Search:
    """Return the planner's search, ready for its levels; ``apart`` get classes of their own."""
    return prepare_search(planning, profile, deadline, planning.greedy_plan(), apart)


def pools(planning: Planning) -> Sequence[Sequence[int]]:
    """Return all candidates as one pool, in Kueue's order."""
    return [planning.in_candidate_order(planning.eligible.nonzero()[0].tolist())]


def places(planning: Planning) -> Sequence[Sequence[int]]:
    """Return the candidates of each ClusterQueue."""
    found: dict[int, list[int]] = {}
    queues: list[int] = planning.problem.queue.tolist()
    for position in pools(planning)[0]:
        found.setdefault(queues[position], []).append(position)
    return list(found.values())


def own(planning: Planning) -> BoolArray:
    """Say of each workload whether it is in the preemptor's ClusterQueue: (W,)."""
    mine: BoolArray = planning.problem.queue == planning.problem.path[0]
    return mine


def below(planning: Planning) -> BoolArray:
    """Say of each workload whether its priority is lower than the preemptor's: (W,)."""
    lower: BoolArray = planning.problem.priority < planning.problem.preemptor_priority
    return lower
