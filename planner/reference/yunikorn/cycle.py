"""Whole scheduling cycles, until an ask is decided or nothing moves any more.

In each cycle the first pass that yields something ends it: reservations, then placeholders, then
allocation, of which preemption is a part. What the core changes in one cycle the next one sees; no
pod of a victim or a placeholder is gone, as the shim confirms nothing in between.

Source: docs/semantics/yunikorn-features.md §17 to §22; yunikorn-core be3bb487,
scheduler/context.go (schedule), partition.go, objects/queue.go and application.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from planner.quota.yunikorn.cluster import RESERVATION_DELAY, Asking, Cluster, NodeRoom, prepare
from planner.quota.yunikorn.held_back import (
    ATTEMPTS,
    fits_user,
    may_not_start,
    placeholders_of,
    waits_for_placeholder,
)
from planner.quota.yunikorn.limits import ACCEPTED, RUNNING
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import (
    added_up,
    equal,
    fits_in,
    fits_loose,
    ge_all,
    gt_zero,
    minus,
)
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.decision import (
    cancelled_by,
    preempt_required_node,
    try_preemption,
)
from planner.reference.yunikorn.order import (
    NO_TIES,
    apps_in_order,
    in_turn,
    leaves_in_order,
    leftover,
    nodes_in_order,
)
from planner.reference.yunikorn.predicates import predicates_of
from planner.reference.yunikorn.turn import backs_off, check_in_turn
from planner.state.clock import from_nanoseconds
from planner.state.yunikorn import Allocation, Application, Ask, Claim, YuniKornState
from planner.state.yunikorn_release import V1_8

MOST_IDLE: Final = 4
"""After so many cycles in a row that did nothing, nothing moves any more."""
MOST_CYCLES: Final = 10_000
_RUN: Final = {"New": ACCEPTED, "Resuming": ACCEPTED, "": RUNNING}
"""The state of an application after an allocation; of all others it runs."""


class Event(Struct):
    """What one cycle did; reservations are by ask, releases by allocation key with their kind."""

    source: str = ""
    result: str = ""
    ask: str = ""
    node: str = ""
    reserved: dict[str, str] = field(default_factory=dict)
    unreserved: dict[str, str] = field(default_factory=dict)
    triggered: list[str] = field(default_factory=list)
    released: list[tuple[str, str]] = field(default_factory=list)

    @property
    def is_idle(self) -> bool:
        """Whether nothing happened."""
        moved = self.reserved or self.unreserved or self.triggered or self.released
        return not (self.result or moved)


def run_cycles(
    state: YuniKornState,
    partition: str | None = None,
    ask: str | None = None,
    ties: Mapping[str, int] = NO_TIES,
    most: int = MOST_CYCLES,
) -> list[Event]:
    """Return what the cycles of a partition do until nothing moves, or an ask is decided.

    ``ties`` rank what has no order in the core; there are at ``most`` so many cycles.

    Raises `CoreHangs` if the core locks itself, and `UnsupportedError` where applications are
    sorted by fairness.
    """
    core, events, idle = Core(state, partition, ties), list[Event](), 0
    if state.x.settle:
        core.settle()
    while idle < MOST_IDLE and len(events) < most:
        event = core.cycle()
        events.append(event)
        idle = idle + 1 if event.is_idle else 0
        if ask is not None and (ask in event.triggered or (event.ask == ask and event.result)):
            break
    return events[: len(events) - idle]


class Core:
    """The core's memory of a partition from cycle to cycle."""

    def __init__(
        self, state: YuniKornState, partition: str | None, ties: Mapping[str, int]
    ) -> None:
        self._state = state
        self._cluster: Cluster | None = prepare(state, partition)
        self._partition = self.cluster.partition
        self._limits = self.cluster.limits
        self._preempts = self._partition.preemption.enabled
        self._ties = ties
        self._nodes = {
            room.node_id: room.node.model_copy(update={"available": dict(room.available)})
            for room in self.cluster.nodes
        }
        self._applications = {one.application_id: one for one in self._partition.applications}
        self._event = Event()

    @property
    def cluster(self) -> Cluster:
        """The cluster as it is now."""
        if self._cluster is None:
            update = {
                "applications": tuple(self._applications.values()),
                "nodes": tuple(self._nodes.values()),
            }
            partition = self._partition.model_copy(update=update)
            state = self._state.model_copy(update={"partitions": (partition,)})
            self._cluster = prepare(state, limits=self._limits)
        return self._cluster

    def cycle(self) -> Event:
        """Run one cycle."""
        self._event, before = Event(), self._reservations()
        passes = (self._reserved_pass, self._placeholder_pass, self._allocation_pass)
        for each in passes:
            waiting = self.cluster.waiting.get(self.cluster.tree.root.path)
            if gt_zero(waiting) and each():
                break
        after = self._reservations()
        self._event.reserved = {k: n for k, n in after.items() if before.get(k) != n}
        self._event.unreserved = {k: n for k, n in before.items() if after.get(k) != n}
        return self._event

    def settle(self) -> None:
        """Run cycles without preemption until nothing moves."""
        self._preempts = False
        for _ in range(MOST_CYCLES):
            if self.cycle().is_idle:
                break
        for owner in self._applications if self._state.x.clear_backoff else ():
            self._change(owner, backoff_deadline=None)
        self._preempts = self._partition.preemption.enabled

    def _reservations(self) -> dict[str, str]:
        nodes = self._nodes.values()
        return {key: node.node_id for node in nodes for key in node.reservations}

    def _leaves(self) -> Iterator[Queue]:
        return leaves_in_order(self.cluster, self._ties)

    # Reservations

    def _reserved_pass(self) -> bool:
        """Allocate what is reserved, or make a required node free, which ends no cycle."""
        if not self._reservations():
            return False
        for leaf in self._leaves():
            for one in leaf.applications:
                application = self._applications[one.application_id]
                if may_not_start(self.cluster, application):
                    continue
                if self._try_reserved(application.application_id, leaf.path):
                    return self._accepted(application.application_id)
        return False

    def _try_reserved(self, owner: str, path: str) -> bool:
        known, application = self._reservations(), self._applications[owner]
        leaf = self.cluster.tree.by_path[path]
        asks = [
            ask
            for ask in application.requests
            if ask.allocation_key in known
            and fits_user(self.cluster, Asking(ask, application, leaf))
            and fits_loose(leaf.headroom, ask.resource)
        ]
        for ask in asks:
            room = self._room(known[ask.allocation_key])
            full = not fits_in(room.available, ask.resource)
            if ask.required_node and full and not ask.triggered_preemption:
                if victims := preempt_required_node(self.cluster, ask, room, self._ties):
                    self._trigger(owner, ask, victims)
            elif self._takes(room, ask, leaf):
                return self._allocate(owner, ask, room.node_id, "reserved")
        for ask in asks:
            for room in () if ask.required_node else nodes_in_order(self.cluster):
                holds = room.node.schedulable and fits_in(room.node.capacity, ask.resource)
                if holds and self._takes(room, ask, leaf):
                    return self._allocate(owner, ask, room.node_id, "reserved")
        return False

    # Placeholders

    def _placeholder_pass(self) -> bool:
        for leaf in self._leaves():
            for one in apps_in_order(leaf, self._ties):
                gang = any(held.placeholder for held in one.allocations)
                if gang and self._try_placeholders(one.application_id):
                    return True
        return False

    def _try_placeholders(self, owner: str) -> bool:
        """Replace a placeholder; one that is too small for its ask is given up."""
        fit: tuple[Allocation, Ask] | None = None
        for ask in in_turn(self._applications[owner].requests, self._ties):
            shim = predicates_of(self.cluster, ask)
            held_for = placeholders_of(self._applications[owner], ask)
            for held in sorted(held_for, key=lambda one: self._ties.get(one.allocation_key, 0)):
                if not ge_all(held.resource, ask.resource):
                    self._release(owner, held, "TIMEOUT")
                    continue
                fit = fit or (held, ask)
                room = self.cluster.node(held.node_id)
                if room is not None and shim.reservable(room):
                    return self._replace(owner, ask, held, held.node_id)
        if fit is not None:
            held, ask = fit
            for room in nodes_in_order(self.cluster):
                if room.node.schedulable and self._takes(room, ask):
                    return self._replace(owner, ask, held, room.node_id)
        return False

    def _replace(self, owner: str, ask: Ask, held: Allocation, node: str) -> bool:
        """Give an ask the place of a placeholder, or another one, which only the node counts."""
        self._release(owner, held, "PLACEHOLDER_REPLACED")
        self._without(owner, ask)
        if node != held.node_id:
            self._take_room(node, ask)
            real = _allocated(ask, node)
            real = real.model_copy(update={"x": real.x.model_copy(update={"not_in_app": True})})
            self._change(owner, allocations=(*self._applications[owner].allocations, real))
        self._event.source, self._event.result = "placeholder", "Replaced"
        self._event.ask, self._event.node = ask.allocation_key, node
        return True

    # Allocation

    def _allocation_pass(self) -> bool:
        for leaf in self._leaves():
            attempts = [ATTEMPTS]
            for one in apps_in_order(leaf, self._ties):
                if may_not_start(self.cluster, one) or backs_off(self.cluster, one):
                    continue
                if self._try_allocate(one.application_id, leaf, attempts):
                    return self._accepted(one.application_id)
        return False

    def _try_allocate(self, owner: str, leaf: Queue, attempts: list[int]) -> bool:
        unschedulable = 0
        most = leaf.properties.backoff if self.cluster.release >= V1_8 else 0
        for ask in in_turn(self._applications[owner].requests, self._ties):
            if 0 < most <= unschedulable:
                until = from_nanoseconds(self.cluster.now + leaf.properties.backoff_delay)
                self._change(owner, backoff_deadline=until)
                return False
            application = self._applications[owner]
            asking = Asking(ask, application, self.cluster.tree.leaf_of(application))
            if waits_for_placeholder(application, ask) or not fits_user(self.cluster, asking):
                continue
            if not fits_loose(asking.leaf.headroom, ask.resource):
                if self._preempt(asking, attempts, nodes_tried=False):
                    return True
                continue
            if ask.required_node:
                if self._try_required(owner, ask, asking.leaf):
                    return True
                continue
            placed = self._try_nodes(owner, ask, asking.leaf)
            if placed or self._preempt(asking, attempts, nodes_tried=True):
                return True
            unschedulable += 1
        return False

    def _try_required(self, owner: str, ask: Ask, leaf: Queue) -> bool:
        """Allocate an ask on its node, or reserve that, and cancel what others reserved there."""
        node = self._nodes.get(ask.required_node)
        if node is None:
            return False
        asks = self.cluster.asks
        kept = [key for key in node.reservations if key in asks and asks[key].required_node]
        self._set(node.node_id, reservations=tuple(kept))
        reserved = ask.allocation_key in self._reservations()
        if self._takes(self._room(node.node_id), ask, leaf):
            return self._allocate(owner, ask, node.node_id, "allocate")
        if not reserved:
            self._reserve(ask, node.node_id)
        return not reserved

    def _try_nodes(self, owner: str, ask: Ask, leaf: Queue) -> bool:
        """Allocate an ask on the first node that takes it, or reserve the one it fills most."""
        reserved = ask.allocation_key in self._reservations()
        old = self.cluster.now - ask.request_time > RESERVATION_DELAY
        best: tuple[float, NodeRoom] | None = None
        for room in nodes_in_order(self.cluster):
            if not room.node.schedulable or not fits_in(room.node.capacity, ask.resource):
                continue
            if self._takes(room, ask, leaf):
                return self._allocate(owner, ask, room.node_id, "allocate")
            left = leftover(room.available, ask.resource)
            if old and not reserved and (best is None or left < best[0]):
                best = left, room
        if best is None or not predicates_of(self.cluster, ask).reservable(best[1]):
            return False
        self._reserve(ask, best[1].node_id)
        return True

    def _preempt(self, asking: Asking, attempts: list[int], *, nodes_tried: bool) -> bool:
        """Preempt for an ask, if the leaf has an attempt left, and reserve the node."""
        cluster, ask, owner = self.cluster, asking.ask, asking.application.application_id
        if not self._preempts or not attempts[0]:
            return False
        attempts[0] -= cluster.release < V1_8
        if not check_in_turn(cluster, asking).attempted:
            return False
        attempts[0] -= cluster.release >= V1_8
        checked = ask.x.model_copy(update={"preempt_check_time": cluster.now})
        self._change_ask(owner, ask, x=checked)
        self._cluster = cluster  # when it was looked at matters to the ask's own next turn alone
        lost = cancelled_by(cluster, asking)
        shim = None if cluster.x.predicates == "none" else predicates_of(cluster, ask)
        found = try_preemption(cluster, asking, shim, nodes_tried=nodes_tried, ties=self._ties)
        self._unreserve(lost)
        if found is None:
            return False
        node, victims = found
        self._trigger(owner, ask, victims)
        self._reserve(ask, node)
        return True

    # What the passes do

    def _takes(self, room: NodeRoom, ask: Ask, leaf: Queue | None = None) -> bool:
        """Say whether a node takes an ask, and its leaf, if that counts."""
        if leaf is not None and not leaf.may_take(ask.resource):
            return False
        free = gt_zero(ask.resource) and not room.reserved_for_others(ask.allocation_key)
        return free and predicates_of(self.cluster, ask).passes(room)

    def _accepted(self, owner: str) -> bool:
        """Count an application that was given something before it runs."""
        if self._applications[owner].application_state == ACCEPTED:
            self._limits.accept(self._applications[owner])
        return True

    def _allocate(self, owner: str, ask: Ask, node: str, source: str) -> bool:
        reserved = ask.allocation_key in self._reservations()
        self._unreserve([ask.allocation_key])
        self._without(owner, ask)
        self._take_room(node, ask)
        application = self._applications[owner]
        self._change(owner, allocations=(*application.allocations, _allocated(ask, node)))
        self._limits.count(application, ask.resource)
        if not ask.placeholder or _is_complete(self._applications[owner]):
            state = _RUN.get(application.application_state, RUNNING)
            if RUNNING == state != application.application_state:
                self._limits.start(application)
            self._change(owner, application_state=state)
        self._event.source = source
        self._event.result = "AllocatedReserved" if reserved else "Allocated"
        self._event.ask, self._event.node = ask.allocation_key, node
        return True

    def _trigger(self, owner: str, ask: Ask, victims: Iterable[Candidate]) -> None:
        keys = {victim.key for victim in victims}
        for victim in victims:
            held = self._applications[victim.application_id].allocations
            marked = (
                one.model_copy(update={"preempted": True}) if one.allocation_key in keys else one
                for one in held
            )
            self._change(victim.application_id, allocations=tuple(marked))
            self._event.released.append((victim.key, "PREEMPTED_BY_SCHEDULER"))
        self._change_ask(owner, ask, triggered_preemption=True)
        self._event.triggered.append(ask.allocation_key)

    def _release(self, owner: str, held: Allocation, kind: str) -> None:
        gone = held.model_copy(update={"x": held.x.model_copy(update={"released": True})})
        allocations = self._applications[owner].allocations
        self._change(owner, allocations=tuple(gone if one is held else one for one in allocations))
        self._event.released.append((held.allocation_key, kind))

    def _reserve(self, ask: Ask, node: str) -> None:
        """Move the reservation of an ask; a node has one, or several of asks that require it."""
        if self._reservations().get(ask.allocation_key) == node:
            return
        self._unreserve([ask.allocation_key])
        there = self._nodes[node].reservations
        asks = self.cluster.asks
        required = all(key in asks and asks[key].required_node for key in there)
        if (not there or (ask.required_node and required)) and fits_in(
            self._nodes[node].capacity, ask.resource
        ):
            self._set(node, reservations=(*there, ask.allocation_key))

    def _unreserve(self, keys: Iterable[str]) -> None:
        gone = {*keys}
        for node in [*self._nodes.values()]:
            if not gone.isdisjoint(node.reservations):
                left = tuple(key for key in node.reservations if key not in gone)
                self._set(node.node_id, reservations=left)

    def _take_room(self, node: str, ask: Ask) -> None:
        self._set(node, available=minus(self._nodes[node].available, ask.resource))

    def _without(self, owner: str, ask: Ask) -> None:
        asks = self._applications[owner].requests
        left = tuple(one for one in asks if one.allocation_key != ask.allocation_key)
        self._change(owner, requests=left)

    def _change_ask(self, owner: str, ask: Ask, **update: object) -> None:
        self._change(
            owner,
            requests=tuple(
                one.model_copy(update=update) if one.allocation_key == ask.allocation_key else one
                for one in self._applications[owner].requests
            ),
        )

    def _change(self, owner: str, **update: object) -> None:
        self._applications[owner] = self._applications[owner].model_copy(update=update)
        self._cluster = None

    def _set(self, node: str, **update: object) -> None:
        self._nodes[node] = self._nodes[node].model_copy(update=update)
        self._cluster = None

    def _room(self, node: str) -> NodeRoom:
        room = self.cluster.node(node)
        assert room is not None  # noqa: S101 - only nodes of the partition carry reservations
        return room


def _allocated(ask: Ask, node: str) -> Allocation:
    """Return what an ask becomes on a node: it is as old as it was."""
    common = ask.model_dump(by_alias=True, include=set(Claim.model_fields))
    common |= {"allocationTime": ask.request_time, "nodeId": node}
    return Allocation.model_validate(common)


def _is_complete(application: Application) -> bool:
    """Say whether the placeholders of a gang are all there: they add up to what it asks for."""
    held = added_up(one.resource for one in application.allocations if one.placeholder)
    wanted = application.x.placeholder_ask
    if wanted is None:
        groups = application.task_groups
        wanted = added_up({t: n * one.count for t, n in one.min_resource.items()} for one in groups)
    return equal(held, wanted)
