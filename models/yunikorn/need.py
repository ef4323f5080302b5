"""What victims must free, and what they may: per law, by queue or node and resource type.

Each is an amount for all victims at or below a queue together, so that laws.py can state it as
one row and relaxation.py as one row per node. First, which guaranteed amounts count at a queue:
what the core calls its remaining guaranteed.

Source: docs/semantics/yunikorn.md §5; yunikorn-core be3bb487 scheduler/objects/preemption.go
(``getRemainingGuaranteedResource``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from planner.problem.yunikorn import NOWHERE, QueueFacts, YuniKornProblem


@dataclass(frozen=True, slots=True)
class Guarantee:
    """A guaranteed amount of one type of the ask, at a queue or one above it.

    ``type`` is a position in the problem's types; ``left`` is the amount without what is used
    now, negative where the queue is over it.
    """

    queue: int
    type: int
    left: int


Counting = tuple[Guarantee, ...] | None


def used(facts: QueueFacts, name: str) -> int:
    """Return what a queue uses of a type, without what is being preempted already."""
    if name not in facts.allocated:
        return 0
    return facts.allocated[name] - facts.preempting.get(name, 0)


def counting_guarantees(problem: YuniKornProblem) -> list[Counting]:
    """Return for every queue the guarantees whose least is what it has left: (Q,).

    What a queue has left of a type is the least ``left`` among its guarantees of that type; a
    type without one is not limited. ``None`` means that nothing is guaranteed on its way at all,
    an empty tuple that something is, but of no type of the ask.

    From the root down, a queue with a guaranteed of its own adds it to those that count at its
    parent, with two exceptions. At the queue of the ask its own types replace those from above.
    And where that queue has a guaranteed, each other queue whose path is a plain prefix of its
    path (every ancestor, but also ``root.a.q1`` for ``root.a.q10``) counts for nothing and hides
    what is above it.
    """
    asking = problem.queues[problem.own_queue]
    counting: list[Counting] = []
    for queue, facts in enumerate(problem.queues):
        above = None if facts.parent == NOWHERE else counting[facts.parent]
        own = _own(problem, queue)
        if not own:
            counting.append(above)
        elif queue == problem.own_queue:
            types = {guarantee.type for guarantee in own}
            counting.append((*own, *(g for g in above or () if g.type not in types)))
        # The core compares paths as text, and a sibling may pass for an ancestor (§5).
        elif facts.parent != NOWHERE and asking.guaranteed and asking.path.startswith(facts.path):
            counting.append(None)
        else:
            counting.append((*own, *(above or ())))
    asked = {t for t, name in enumerate(problem.types) if name in problem.ask.resource}
    return [
        None if all_types is None else tuple(g for g in all_types if g.type in asked)
        for all_types in counting
    ]


def _own(problem: YuniKornProblem, queue: int) -> tuple[Guarantee, ...]:
    facts = problem.queues[queue]
    position = {name: t for t, name in enumerate(problem.types)}
    return tuple(
        Guarantee(queue, position[name], amount - used(facts, name))
        for name, amount in (facts.guaranteed or {}).items()
    )


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
