"""Which guaranteed amounts count at a queue: what the core calls its remaining guaranteed.

Source: docs/semantics/yunikorn.md §5; yunikorn-core be3bb487 scheduler/objects/preemption.go
(``getRemainingGuaranteedResource``).
"""

from __future__ import annotations

from dataclasses import dataclass

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
