"""What stands in the way of an ask on a node, in words.

Source: docs/semantics/yunikorn.md §3, §7, §10, §11.1 and §15.
"""

from __future__ import annotations

from collections.abc import Iterator

from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.hosting import is_usable
from planner.quota.yunikorn.resource import fits, plus
from planner.verifier.yunikorn.case import YuniKornCase
from planner.verifier.yunikorn.victim import Victim
from planner.verifier.yunikorn.wording import say_amount, say_amounts, say_queue


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
