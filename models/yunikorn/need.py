"""What victims must free, and what they may: per law, by queue or node and resource type.

Each is an amount for all victims at or below a queue together, so that laws.py can state it as
one row and relaxation.py as one row per node.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from planner.models.yunikorn.guaranteed import counting_guarantees, used
from planner.problem.yunikorn import NOWHERE, YuniKornProblem


class At(NamedTuple):
    """An amount of a type (a position in the problem's types) at a queue."""

    queue: int
    type: int
    amount: int


def short_of_guaranteed(problem: YuniKornProblem) -> list[At] | None:
    """YK-04: return what the ask lacks of what its queue has left, ``None`` if that is nothing.

    ``None`` means that no victims help: nothing is guaranteed on the way to the queue.
    """
    counting = counting_guarantees(problem)[problem.own_queue]
    if counting is None:
        return None
    short = [
        At(g.queue, g.type, problem.ask.resource[problem.types[g.type]] - g.left) for g in counting
    ]
    return [each for each in short if each.amount > 0]


def is_under_guaranteed(problem: YuniKornProblem) -> bool:
    """YK-12: say whether the queue of the ask has something left of its guaranteed.

    That is so in some type of the ask of which every guarantee that counts has something left.
    """
    asked = {t for t, name in enumerate(problem.types) if problem.ask.resource.get(name, 0) > 0}
    counting = [g for g in counting_guarantees(problem)[problem.own_queue] or () if g.type in asked]
    exhausted = {g.type for g in counting if g.left <= 0}
    return any(g.type not in exhausted for g in counting)


def over_limits(problem: YuniKornProblem) -> list[At]:
    """YK-09: return by how much the ask would exceed the maxima on its path.

    A type that a maximum lacks is not limited; at the root it counts as 0.
    """
    over = []
    for queue in problem.path:
        facts = problem.queues[queue]
        limit, is_root = facts.max or {}, facts.parent == NOWHERE
        for t, name in enumerate(problem.types):
            if name in problem.ask.resource and (is_root or name in limit):
                wanted = facts.allocated.get(name, 0) + problem.ask.resource[name]
                # The root has a maximum of every type: what no node has, there is none of.
                over.append(At(queue, t, wanted - max(0, limit.get(name, 0))))
    return [each for each in over if each.amount > 0]


def above_guaranteed(problem: YuniKornProblem) -> list[At]:
    """YK-02: return what may go of each type that a queue has a guaranteed of.

    On the path of the ask it is as much more as the ask brings; a queue that is below its
    guaranteed already may not lose anything else.
    """
    path = set(problem.path)
    may_go = []
    for queue, facts in enumerate(problem.queues):
        guaranteed: Mapping[str, int] = facts.guaranteed or {}
        for t, name in enumerate(problem.types):
            if name in guaranteed:
                above = max(0, used(facts, name) - guaranteed[name])
                asked = problem.ask.resource.get(name, 0) if queue in path else 0
                may_go.append(At(queue, t, above + asked))
    return may_go


def missing_on(problem: YuniKornProblem, node: int) -> dict[int, int]:
    """YK-08: return what victims must free on a node, by type; only what is missing.

    Types of which the ask wants nothing are not looked at, but an ask with a required node asks
    that none of them stays below 0.
    """
    available, asked = problem.available[node], problem.ask.resource
    missing = {
        t: asked.get(name, 0) - available.get(name, 0)
        for t, name in enumerate(problem.types)
        if asked.get(name, 0) > 0 or problem.ask.required_node
    }
    return {t: amount for t, amount in missing.items() if amount > 0}
