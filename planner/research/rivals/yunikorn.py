"""What the rivals need to know of YuniKorn, where all victims are on one node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from planner.laws.yunikorn import YK_WITHIN_LIMITS
from planner.objective.profiles import Profile
from planner.problem.array import BoolArray
from planner.solver.deadline import Deadline
from planner.solver.search import Search
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import prepare_ask

ROOM: Final = (YK_WITHIN_LIMITS,)
"""A queue's maximum is looked at only once there is a node."""


def prepare(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline, apart: Collection[int]
) -> Search:
    """Return the planner's search, ready for its levels; ``apart`` get classes of their own."""
    return prepare_ask(planning, profile, deadline, planning.greedy_plan(), apart).search


def pools(planning: YuniKornPlanning) -> Sequence[Sequence[int]]:
    """Return the candidates of each node that the ask may go to, in the core's order."""
    problem = planning.problem
    found: dict[int, list[int]] = {}
    for position in planning.in_candidate_order(planning.eligible.nonzero()[0].tolist()):
        node = int(problem.node[position])
        if node >= 0 and problem.usable[node]:
            found.setdefault(node, []).append(position)
    return [found[node] for node in sorted(found)]


places = pools


def own(planning: YuniKornPlanning) -> BoolArray:
    """Say of each allocation whether it is in the queue of the ask: (W,)."""
    mine: BoolArray = planning.problem.queue == planning.problem.own_queue
    return mine


def below(planning: YuniKornPlanning) -> BoolArray:
    """Say of each allocation whether its priority is lower, without offsets of queues: (W,)."""
    lower: BoolArray = planning.problem.priority < planning.problem.ask.priority
    return lower
