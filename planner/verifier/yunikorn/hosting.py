"""Where an ask may go: its fence, what priorities are worth below it, and what a node says to it.

Fence and priorities are walks over the queues, written from the rules: up from the ask to the
fence, and up from a victim to the first queue that has the ask below it, too. What stands in the
way of the ask on a node is said in words. Source: docs/semantics/yunikorn.md §3, §4, §7, §10, §11.1
and §15; yunikorn-core be3bb487, scheduler/objects/queue.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planner.quota.yunikorn.cluster import Asking, NodeRoom
from planner.quota.yunikorn.hosting import is_usable
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import fits, ge_known, plus
from planner.verifier.yunikorn.case import Victim, YuniKornCase, say_amount, say_amounts, say_queue


@dataclass(frozen=True, slots=True)
class Fence:
    """The queue beyond which nothing is preempted for an ask, and why it stops there."""

    queue: Queue
    reason: str


def find_fence(asking: Asking) -> Fence:
    """Return the first queue on the ask's way up that stops preemption.

    That is one with the policy ``fence``, or that cannot take the ask within its effective
    maximum, be it the ask's own, or the root.
    """
    for queue in reversed(asking.leaf.lineage[1:]):
        if queue.properties.preemption_fence:
            return Fence(queue, "its preemption.policy is fence")
        wanted = plus(queue.allocated, asking.ask.resource)
        # A queue too full for the ask is a fence, too. The design does not say so, the core does:
        # of the ask's own leaf it leaves no candidates at all (docs/semantics/yunikorn.md §4).
        if queue.effective_max and not ge_known(queue.effective_max, wanted):
            return Fence(queue, "it cannot take the ask within its maximum")
    return Fence(asking.leaf.lineage[0], "it is the root")


def is_inside(queue: Queue, fence: Fence) -> bool:
    """Say whether a queue is the fence or below it."""
    return fence.queue in queue.lineage


def common_queue(asking: Asking, queue: Queue) -> Queue:
    """Return the lowest queue that has both the ask and another queue at or below it."""
    return next(step for step in reversed(queue.lineage) if step in asking.leaf.lineage)


def worth_of_ask(asking: Asking, top: Queue) -> int:
    """Return the priority of the ask as seen at a queue above it, that one's offset included."""
    worth = asking.ask.priority
    for queue in reversed(asking.leaf.lineage):
        offset = queue.properties.priority_offset
        worth = offset if queue.properties.priority_fence else worth + offset
        # The offset of the common queue counts, though victims below it do not add it (§13.6).
        if queue is top:
            break
    return worth


def adjusted_priority(asking: Asking, queue: Queue, priority: int) -> int:
    """Return the priority of an allocation on the scale of the ask's own.

    It may go if this is at most the ask's priority. Offsets of the queues from its own up to,
    but without, the first one in common with the ask are added. A priority fence on that way
    gives everything below it its own offset in place of single priorities; of several fences
    each must be passed, so the highest counts.
    """
    top = common_queue(asking, queue)
    offsets, fences = 0, []
    for step in queue.lineage[len(top.lineage) :]:
        offset = step.properties.priority_offset
        if step.properties.priority_fence:
            # Going down, the core subtracts the offsets of the queues it passes before it meets the
            # fence; here they are added to the other side. The fence's own is not passed on (§4).
            fences.append(offsets + offset)
        else:
            offsets += offset
    worth = max(fences) if fences else priority + offsets
    return asking.ask.priority + worth - worth_of_ask(asking, top)


def has_priority_fence(asking: Asking, queue: Queue) -> bool:
    """Say whether a priority fence stands between a queue and the first in common with the ask."""
    below = queue.lineage[len(common_queue(asking, queue).lineage) :]
    return any(step.properties.priority_fence for step in below)


def room_faults(case: YuniKornCase, room: NodeRoom) -> Iterator[str]:
    """Say why the ask cannot have a node once the victims are gone, if so."""
    ask = case.asking.ask
    yield from _unusable(case, room)
    # Where the node has room already the core takes victims from any node: what is short then is
    # guaranteed (§10).
    must_be_there = case.required_node or not fits(room.available, ask.resource)
    after = room.available
    for victim in case.victims:
        if is_on(victim, room):
            after = plus(after, victim.resource)
        elif must_be_there:
            place = victim.allocation.node_id or "no node"
            yield f"{victim.key} is on {place}, not on {room.node_id}, where the ask is to go"
    # With a required node the core compares every type of either, and negative amounts as such.
    types = {*ask.resource, *after} if case.required_node else ask.resource.keys()
    for t in sorted(types):
        wanted, left = ask.resource.get(t, 0), after.get(t, 0)
        if wanted > (left if case.required_node else max(0, left)):
            yield (
                f"node {room.node_id} would have {say_amount(t, left)} for the ask's "
                f"{say_amount(t, wanted)}"
            )


def placement_faults(case: YuniKornCase) -> Iterator[str]:
    """Say why the ask cannot be allocated right now, if so."""
    ask = case.asking.ask
    for queue in reversed(case.asking.leaf.lineage):
        for t, most in sorted((queue.max or {}).items()):
            # Headroom counts what is being preempted as used, unlike guaranteed (§3).
            left = max(0, most - queue.allocated.get(t, 0))
            if ask.resource.get(t, 0) > left:
                yield (
                    f"{say_queue(queue)} has {say_amount(t, left)} left of its maximum, "
                    f"the ask is {say_amount(t, ask.resource[t])}"
                )
    if not any(_takes_now(case, room) for room in case.cluster.nodes):
        yield f"no node has room for {say_amounts(ask.resource)}"


def is_on(victim: Victim, room: NodeRoom) -> bool:
    """Say whether a victim is on a node."""
    return victim.allocation.node_id == room.node_id


def _takes_now(case: YuniKornCase, room: NodeRoom) -> bool:
    ask = case.asking.ask
    if ask.required_node:
        usable = room.node_id == ask.required_node
    else:
        usable = room.node.schedulable and not room.reserved_for_others(ask.allocation_key)
    vetoed = room.node_id in case.cluster.x.veto_nodes
    return usable and not vetoed and fits(room.available, ask.resource)


def _unusable(case: YuniKornCase, room: NodeRoom) -> Iterator[str]:
    """Say why a node may not be chosen at all, if so."""
    ask = case.asking.ask
    if case.required_node:
        if room.node_id != ask.required_node:
            yield f"the ask requires node {ask.required_node}, not {room.node_id}"
    elif room.node_id in case.cluster.x.veto_nodes:
        yield f"the predicates of the ask refuse node {room.node_id}"
    elif not is_usable(case.cluster, room, ask):
        if not room.node.schedulable:
            yield f"node {room.node_id} is not schedulable"
        elif not fits(room.node.capacity, ask.resource):
            yield f"node {room.node_id} is too small for the ask: {say_amounts(room.node.capacity)}"
        else:
            yield f"node {room.node_id} is reserved for others"
