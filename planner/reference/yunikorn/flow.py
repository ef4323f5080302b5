"""Ask after ask, until nothing moves: how a cluster settles.

Source: docs/semantics/yunikorn.md §14 (flow mode). A step is the first ask, in the order of
the state, that finds a node or triggers preemption. Victims vanish at once and the ask takes the
node, whether it fits there or not; what was reserved for it is free again. A required node is
reserved for its ask as soon as the ask waits (yunikorn-core be3bb487, scheduler/objects/
application.go, tryRequiredNode).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.yunikorn.cluster import Asking, Cluster, cancelled, prepare
from planner.quota.yunikorn.resource import Resource, fits_in, fits_loose, minus, plus
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.decision import Decision, decide
from planner.reference.yunikorn.turn import backs_off, free_node
from planner.state.yunikorn import Allocation, Ask, Claim, Node, Partition, YuniKornState


class Step(Struct, frozen=True):
    """One ask that found its node, with or without preemption."""

    ask: str
    kind: Literal["allocate", "preempt"]
    node: str
    victims: tuple[str, ...] = ()


class Look(NamedTuple):
    """An ask that was looked at: whether preemption was tried for it, and its step, if it moves."""

    asking: Asking
    attempted: bool
    step: Step | None = None
    victims: Sequence[Candidate] = ()


class Flow(Struct, frozen=True):
    """All steps, and the cluster in which nothing moves any more."""

    steps: tuple[Step, ...]
    settled: Cluster

    @property
    def usage(self) -> dict[str, Resource]:
        """What every queue has allocated at the end."""
        return {path: queue.allocated for path, queue in self.settled.tree.by_path.items()}

    @property
    def pending(self) -> dict[str, int]:
        """How many asks wait in every leaf at the end."""
        return {
            path: sum(len(application.requests) for application in queue.applications)
            for path, queue in self.settled.tree.by_path.items()
            if queue.is_leaf
        }


def run_flow(state: YuniKornState, *, recreate: bool = False, max_steps: int = 100) -> Flow:
    """Let the asks of a state with one partition find their nodes, one after the other.

    With ``recreate`` every victim comes back as a new ask of its application.

    Raises `LookupFailed` if an application is in a queue which does not exist.
    """

    def again(victim: Allocation, now: int) -> Ask:
        return asked_as(f"{victim.allocation_key}-again", victim, now)

    steps: list[Step] = []
    cluster = prepare(state)
    while len(steps) < max_steps:
        here = reserved(cluster)
        moved = next((look for look in looks(here) if look.step is not None), None)
        if moved is None or moved.step is None:
            break
        steps.append(moved.step)
        partition = after(here, moved, again if recreate else None)
        state = state.model_copy(update={"partitions": (partition,)})
        cluster = prepare(state)
    return Flow(tuple(steps), cluster)


def looks(
    cluster: Cluster, decider: Callable[[Cluster, Asking], Decision] = decide
) -> Iterator[Look]:
    """Look at one ask after the other, in the order of the state; ``decider`` may preempt.

    Required nodes of the cluster are reserved already.
    """
    for application in cluster.partition.applications:
        for ask in application.requests:
            asking = Asking(ask, application, cluster.tree.leaf_of(application))
            room = None if backs_off(cluster, application) else free_node(cluster, asking)
            if room is not None:
                step = Step(ask.allocation_key, "allocate", room.node_id)
                yield Look(asking, attempted=False, step=step)
                continue
            found = decider(cluster, asking)
            attempted = found.conditions is not None and found.conditions.attempted
            if found.node is None:
                yield Look(asking, attempted)
            else:
                step = Step(ask.allocation_key, "preempt", found.node, found.victim_keys)
                yield Look(asking, attempted, step, found.victims)


def reserved(cluster: Cluster) -> Cluster:
    """Return the cluster with every required node reserved for the asks that wait for room there.

    The core does so in the cycle before it preempts, where an ask fits the headroom and the empty
    node; reservations of asks that may run elsewhere are cancelled.
    """
    waiting: dict[str, list[Ask]] = defaultdict(list)
    for application, ask in cluster.partition.asks:
        if ask.required_node:
            headroom = cluster.tree.leaf_of(application).headroom
            if fits_loose(headroom, ask.resource):
                waiting[ask.required_node].append(ask)
    if not waiting:
        return cluster
    required = {key for key, ask in cluster.asks.items() if ask.required_node}
    rooms = []
    for room in cluster.nodes:
        node = room.node
        keys = [
            ask.allocation_key
            for ask in waiting.get(room.node_id, ())
            if fits_in(node.capacity, ask.resource) and not fits_in(room.available, ask.resource)
        ]
        if keys:
            kept = [key for key in node.reservations if key in required]
            update = {"reservations": tuple(dict.fromkeys((*kept, *keys)))}
            rooms.append(replace(room, node=node.model_copy(update=update)))
        else:
            rooms.append(room)
    return replace(cluster, nodes=tuple(rooms))


def unreserved(nodes: Iterable[Node], keys: Collection[str]) -> Iterator[Node]:
    """Yield nodes without their reservations for these asks."""
    for node in nodes:
        left = tuple(key for key in node.reservations if key not in keys)
        changed = len(left) < len(node.reservations)
        yield node.model_copy(update={"reservations": left}) if changed else node


def after(
    cluster: Cluster, look: Look, again: Callable[[Allocation, int], Ask] | None
) -> Partition:
    """Return the partition after the step of an ask, with what is reserved in the cluster.

    ``again`` makes a new ask in the application of a victim, from the victim and the clock of its
    loss; without it victims do not come back.

    Raises `ValueError` if the ask does not move.
    """
    asking, victims = look.asking, look.victims
    if look.step is None:
        message = f"ask {asking.ask.allocation_key} does not move"
        raise ValueError(message)
    node = look.step.node
    gone = {victim.key for victim in victims}
    available = {room.node_id: room.available for room in cluster.nodes}
    for victim in victims:
        on = victim.allocation.node_id
        if on in available:  # a dump may hold allocations of a node that it does not have
            available[on] = plus(available[on], victim.resource)
    available[node] = minus(available[node], asking.ask.resource)
    applications = []
    for application in cluster.partition.applications:
        kept = tuple(one for one in application.allocations if one.allocation_key not in gone)
        lost = [one for one in application.allocations if one.allocation_key in gone]
        asks = application.requests
        if application is asking.application:
            asks = tuple(one for one in asks if one is not asking.ask)
            held = asking.ask.model_dump(by_alias=True, include=_COMMON)
            # The ask becomes the allocation, and is as old as it was.
            held |= {"allocationTime": asking.ask.request_time, "nodeId": node}
            kept = (*kept, Allocation.model_validate(held))
        if again is not None:
            asks = (*asks, *(again(one, cluster.now) for one in lost))
        applications.append(application.model_copy(update={"allocations": kept, "requests": asks}))
    done = {asking.ask.allocation_key}
    if look.step.kind == "preempt" and not asking.ask.required_node:
        done.update(*(cancelled(cluster, room, asking.ask) for room in cluster.nodes))
    rooms = {room.node_id: room.node for room in cluster.nodes}
    nodes = tuple(
        one.model_copy(update={"available": dict(available[one.node_id])})
        for one in unreserved((rooms[one.node_id] for one in cluster.partition.nodes), done)
    )
    changed = {"applications": tuple(applications), "nodes": nodes}
    return cluster.partition.model_copy(update=changed)


def asked_as(key: str, claim: Claim, now: int) -> Ask:
    """Return a new ask with this key, made ``now``, for what an ask or allocation asks for."""
    common = claim.model_dump(by_alias=True, include=_COMMON)
    return Ask.model_validate({**common, "allocationKey": key, "requestTime": now})


_COMMON: Final = set(Claim.model_fields)
"""The fields that an ask and its allocation have in common."""
