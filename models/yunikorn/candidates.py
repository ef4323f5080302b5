"""Laws that exclude single allocations, as masks; the amounts that victims must or may free.

Every mask is (A,), True where the law forbids the allocation. Nothing here depends on which other
allocations are victims, so excluded allocations get no variable.

What victims must free, and what they may, is per law, by queue or node and resource type: an amount
for all victims at or below a queue together, so that laws.py can state it as one row. The amounts
depend on which guaranteed amounts count at a queue: what the core calls its remaining guaranteed.

Source: docs/semantics/yunikorn.md §5; yunikorn-core be3bb487 scheduler/objects/preemption.go
(``getRemainingGuaranteedResource``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from planner.laws import RULE_SETS, Law, Register, yunikorn
from planner.problem.array import BoolArray
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quota.yunikorn.lowered import LOWERED
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import equal, ge_known, plus, share_type
from planner.state.yunikorn_release import V1_9


class Guarantee(Struct, frozen=True):
    """A guaranteed amount of one type, which counts at its ``queue`` and may count below.

    ``type`` is a position in the problem's types; ``left`` is the amount without what the queue
    uses now, negative where the queue is over it.
    """

    queue: int
    type: int
    left: int


Counting = tuple[Guarantee, ...] | None


def used(facts: Queue, name: str) -> int:
    """Return what a queue uses of a type, without what is being preempted already."""
    if name not in facts.allocated:
        return 0
    return facts.allocated[name] - facts.preempting.get(name, 0)


def counting_guarantees(problem: YuniKornProblem) -> list[Counting]:
    """Return for every queue the guarantees that count there: (Q,).

    What a queue has left of a type is the least ``left`` among its guarantees of that type; a
    type without a guarantee is not limited. ``None`` means that nothing at all is guaranteed on
    the path of the queue, an empty tuple that something is, but of no type of the ask.

    From the root down, a queue with a guaranteed of its own adds it to the guarantees that count
    at its parent, with two exceptions. At the queue of the ask its own guarantees replace those
    from above of the same type. And where that queue has a guaranteed, none at all counts at any
    other such queue whose path is a plain prefix of its path (an ancestor, but also ``root.a.q1``
    for ``root.a.q10``). Up to 1.7 the types that the ask does not want count as well.
    """
    asking = problem.queues[problem.own_queue]
    counting: list[Counting] = []
    position = {name: t for t, name in enumerate(problem.types)}
    for queue, facts in enumerate(problem.queues):
        parent = problem.parent[queue]
        above = None if parent == NOWHERE else counting[parent]
        own = tuple(
            Guarantee(queue, position[name], amount - used(facts, name))
            for name, amount in (facts.guaranteed or {}).items()
        )
        if not own:
            counting.append(above)
        elif queue == problem.own_queue:
            types = {guarantee.type for guarantee in own}
            counting.append((*own, *(g for g in above or () if g.type not in types)))
        # The core compares paths as text, and a sibling may pass for an ancestor (§5).
        elif parent != NOWHERE and asking.guaranteed and asking.path.startswith(facts.path):
            counting.append(None)
        else:
            counting.append((*own, *(above or ())))
    named = problem.types if problem.older else problem.ask.resource
    asked = {t for t, name in enumerate(problem.types) if name in named}
    return [
        None if all_types is None else tuple(g for g in all_types if g.type in asked)
        for all_types in counting
    ]


class At(NamedTuple):
    """An amount of a type (a position in the problem's types) at a queue."""

    queue: int
    type: int
    amount: int


def short_of_guaranteed(problem: YuniKornProblem) -> list[At] | None:
    """YK-04: return by how much the ask exceeds what its queue has left, by guarantee.

    ``None`` means that no victims help: nothing is guaranteed on the path of the queue.
    """
    counting = counting_guarantees(problem)[problem.own_queue]
    if counting is None:
        return None
    asked = problem.ask.resource
    short = [At(g.queue, g.type, asked.get(problem.types[g.type], 0) - g.left) for g in counting]
    return [each for each in short if each.amount > 0]


def is_under_guaranteed(problem: YuniKornProblem) -> bool:
    """YK-12: say whether the queue of the ask has something left of its guaranteed.

    It has if there is a type of the ask of which every guarantee that counts has something left.
    """
    asked = {t for t, name in enumerate(problem.types) if problem.ask.resource.get(name, 0) > 0}
    counting = [g for g in counting_guarantees(problem)[problem.own_queue] or () if g.type in asked]
    exhausted = {g.type for g in counting if g.left <= 0}
    return any(g.type not in exhausted for g in counting)


def over_limits(problem: YuniKornProblem) -> list[At]:
    """YK-09: return by how much the ask would exceed the maxima on its path.

    A type that a maximum lacks is not limited; at the root it counts as 0. For an ask with a
    required node, which is compared with the headroom, it is not limited at the root either, and
    types of which it wants nothing do not count.
    """
    found = []
    loosely = bool(problem.ask.required_node)
    asked = {name for name, amount in problem.ask.resource.items() if amount > 0 or not loosely}
    for queue in problem.path:
        facts = problem.queues[queue]
        limit, is_root = facts.max or {}, facts.parent is None and not loosely
        for t, name in enumerate(problem.types):
            # The root has a maximum of every type: of a type that no node has it is 0.
            if name in asked and (is_root or name in limit):
                wanted = facts.allocated.get(name, 0) + problem.ask.resource[name]
                over = wanted - max(0, limit.get(name, 0))
                found += [At(queue, t, over)] if over > 0 else []
    return found


def above_guaranteed(problem: YuniKornProblem) -> list[At]:
    """YK-02: return how much victims may free of each type that a queue has a guaranteed of.

    On the path of the ask that is more by what the ask brings; a queue that is below its
    guaranteed already may lose only that.
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

    Types of which the ask wants nothing are looked at for an ask with a required node only: none
    of them may stay below 0. What its pod lacks by Kubernetes' own count is missing, too.
    """
    available, asked = problem.available[node], problem.ask.resource
    missing = {
        t: asked.get(name, 0) - available.get(name, 0)
        for t, name in enumerate(problem.types)
        if asked.get(name, 0) > 0 or problem.ask.required_node
    }
    lacking = problem.lacking[node]
    missing |= {t: lacking[name] for t, name in enumerate(problem.types) if name in lacking}
    return {t: amount for t, amount in missing.items() if amount > 0}


Exclusion = Callable[[YuniKornProblem], BoolArray]

EXCLUSIONS: Final[Register[Exclusion]] = Register()
"""By law id: the function that returns which allocations the law forbids by itself, (A,)."""


@EXCLUSIONS.of(yunikorn.YK_OTHER_QUEUE)
def other_queue(problem: YuniKornProblem) -> BoolArray:
    """YK-03: forbid the allocations of the ask's own queue, hence of its own application.

    Source: docs/semantics/yunikorn.md §4.
    """
    return np.equal(problem.queue, problem.own_queue)


@EXCLUSIONS.of(yunikorn.YK_PRIORITY)
def priority(problem: YuniKornProblem) -> BoolArray:
    """YK-06: forbid allocations whose adjusted priority is higher than that of the ask.

    Source: docs/semantics/yunikorn.md §4 and §11.1; see `adjusted_priorities`.
    """
    return _mask(value > problem.ask.priority for value in adjusted_priorities(problem))


@EXCLUSIONS.of(yunikorn.YK_FENCE)
def fence(problem: YuniKornProblem) -> BoolArray:
    """YK-07: forbid allocations outside the fence, or in a leaf with preemption disabled.

    The queue of the ask is left to YK-03: its setting binds the asks of other queues only.

    Source: docs/semantics/yunikorn.md §4; yunikorn-core be3bb487 scheduler/objects/queue.go
    ``findPreemptionFenceRoot``.
    """
    closed = [each.properties.disabled or not each.is_leaf for each in problem.queues]
    closed[problem.own_queue] = False
    forbidden: BoolArray = np.array(closed) | ~problem.within[fence_root(problem)]
    return forbidden[problem.queue]


@EXCLUSIONS.of(yunikorn.YK_PREEMPTABLE)
def preemptable(problem: YuniKornProblem) -> BoolArray:
    """YK-10: forbid what shares no type with the ask, must stay on its node, or is being preempted.

    A type of amount 0 counts as shared. Up to 1.7 what is released may go for a required node.

    Source: docs/semantics/yunikorn.md §4 and §11.1.
    """
    return _mask(
        not share_type(problem.ask.resource, allocation.resource)
        or bool(allocation.required_node)
        or (allocation.x.released and not (problem.older and problem.ask.required_node))
        or allocation.preempted
        for allocation in problem.allocations
    )


@EXCLUSIONS.of(yunikorn.YK_MAY_PREEMPT)
def may_preempt(problem: YuniKornProblem) -> BoolArray:
    """YK-11: forbid everything if the ask may not preempt at all.

    Source: docs/semantics/yunikorn.md §3.
    """
    return np.full(len(problem.allocations), not problem.may_preempt, dtype=np.bool_)


@EXCLUSIONS.of(yunikorn.YK_FITS_NODE)
def on_required_node(problem: YuniKornProblem) -> BoolArray:
    """YK-08 for an ask with a required node: forbid what is not on that node.

    For any other ask no allocation is excluded by its node alone.

    Source: docs/semantics/yunikorn.md §11.1.
    """
    if not problem.ask.required_node:
        return np.zeros(len(problem.allocations), dtype=np.bool_)
    return _mask(
        allocation.node_id != problem.ask.required_node or allocation.x.not_on_node
        for allocation in problem.allocations
    )


@EXCLUSIONS.of(yunikorn.YK_OVER_GUARANTEED)
def never_over_guaranteed(problem: YuniKornProblem) -> BoolArray:
    """YK-05, as far as it excludes single allocations: forbid what can never have a turn.

    The queue of such an allocation exceeds no guarantee that counts there now, or up to 1.7 has
    something left of a type; and removals never raise usage.
    """

    def is_over(counting: Counting) -> bool:
        if counting is None:
            return True
        spent = {each.type for each in counting if each.left <= 0}
        under = problem.older and any(each.type not in spent for each in counting)
        return not under and any(each.left < 0 for each in counting)

    over = [is_over(each) for each in counting_guarantees(problem)]
    return ~np.array(over, dtype=np.bool_)[problem.queue]


@EXCLUSIONS.of(yunikorn.YK_SEARCHED)
def searched(problem: YuniKornProblem) -> BoolArray:
    """YK-14: forbid what no leaf with a share has, what holds no type of it, and what may not go.

    Source: docs/semantics/yunikorn.md §11.2.
    """
    shares = [(problem.shares or {}).get(queue.path, {}) for queue in problem.queues]
    return preemptable(problem) | _mask(
        not share_type(shares[queue], allocation.resource)
        for queue, allocation in zip(problem.queue.tolist(), problem.allocations, strict=True)
    )


def exclusions(problem: YuniKornProblem) -> Sequence[tuple[Law, Exclusion]]:
    """Return the laws in force that exclude single allocations, in order, with their functions.

    The laws as designed, as written and as coded exclude the same allocations.
    """
    rules = "yunikorn-required-node" if problem.ask.required_node else "yunikorn-design"
    if problem.shares is not None:
        rules = LOWERED
    return [(law, EXCLUSIONS[law.id]) for law in RULE_SETS[rules] if law.id in EXCLUSIONS]


def eligible(problem: YuniKornProblem, without: Collection[str] = ()) -> BoolArray:
    """Return the allocations no law excludes: (A,); laws whose id is in ``without`` are dropped."""
    allowed = np.ones(len(problem.allocations), dtype=np.bool_)
    for law, forbids in exclusions(problem):
        if law.id not in without:
            allowed &= ~forbids(problem)
    return allowed


def adjusted_priorities(problem: YuniKornProblem) -> list[int]:
    """Return the priority of each allocation on the scale of the ask's own: (A,).

    An allocation passes YK-06 exactly if its value here is at most the priority of the ask. The
    ask gains the offsets of its queues on the way up to the first queue it has in common with the
    allocation, that queue included (a priority fence on this way replaces what was gained); the
    allocation gains the offsets of its own queues up to there. Below a priority fence all have the
    offset of the fence as their priority; of nested fences the strictest counts.

    An ask with a required node is compared by plain priorities, a lowered quota by none.
    """
    plain: list[int] = problem.priority.tolist()
    if problem.ask.required_node or problem.shares is not None:
        return plain
    gained: dict[int, int] = {}
    value = problem.ask.priority
    for queue in problem.path:
        means = problem.queues[queue].properties
        # Up the path of the ask offsets are added as in the core. In queues off the path they are
        # converted to the scale of the ask, so that the law is one comparison.
        value = means.priority_offset + (0 if means.priority_fence else value)
        gained[queue] = value
    # What each queue adds to priorities, and the priorities that queues fix.
    shift: list[int] = []
    fixed: dict[int, int] = {}
    for queue, facts in enumerate(problem.queues):
        if queue in gained:
            shift.append(problem.ask.priority - gained[queue])
            continue
        parent, means = problem.parent[queue], facts.properties
        offset, above = means.priority_offset, shift[parent]
        if parent in fixed:
            fixed[queue] = fixed[parent]
        if means.priority_fence:
            # Of nested fences the strictest counts: each is compared with the same priority.
            fixed[queue] = max(offset + above, fixed.get(queue, offset + above))
        shift.append(above if means.priority_fence else above + offset)
    return [
        fixed[queue] if queue in fixed else own + shift[queue]
        for queue, own in zip(problem.queue.tolist(), plain, strict=True)
    ]


def fence_root(problem: YuniKornProblem) -> int:
    """Return the first queue on the ask's way up that stops preemption.

    It is the root, has the policy fence, or cannot take the ask within its effective maximum, up to
    1.8 holds just its maximum; the queue of the ask itself can be it.
    """
    for queue in problem.path:
        facts, limit = problem.queues[queue], problem.queues[queue].effective_max
        if problem.release < V1_9:
            over = facts.max is not None and equal(facts.max, facts.allocated)
        else:
            over = bool(limit) and not ge_known(limit, plus(facts.allocated, problem.ask.resource))
        if facts.properties.preemption_fence or over:
            return queue
    return problem.path[-1]


def _mask(forbidden: Iterable[bool]) -> BoolArray:
    return np.fromiter(forbidden, dtype=np.bool_)
