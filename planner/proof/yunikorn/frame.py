"""One ask of YuniKorn as a frame: the classes of candidates, the nodes it may go to, and turns.

YuniKorn's guaranteed amounts decide in which order victims can be removed: here as refusals. Read
backwards, an order of removals puts victims back: with a victim back, its queue must be over one of
the guaranteed amounts that count for it, in a type of the ask. Usage only grows that way, so a
victim that can be put back now can be later, too; see ``planner.verifier.yunikorn.case``, which
judges single sets.

Source: docs/semantics/yunikorn.md §3, §4, §5 (what is left of the guaranteed), §7, §11.1 and §15.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from planner.errors import UnsupportedError
from planner.laws import RULE_SETS
from planner.laws.yunikorn import (
    YK_FENCE,
    YK_MAY_PREEMPT,
    YK_OTHER_QUEUE,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_PRIORITY,
    YK_SEARCHED,
    Spared,
)
from planner.proof.box import (
    Box,
    Numbers,
    Row,
    exact,
    numbered,
    sum_of_products,
)
from planner.quantity import MAX_INT64, MIN_INT64
from planner.quota.classes import Classes, IntArray, by_value
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, may_host
from planner.quota.yunikorn.queue import Queue
from planner.state.yunikorn_release import V1_8
from planner.verifier.yunikorn.case import REQUIRED_NODE, Victim, YuniKornCase
from planner.verifier.yunikorn.laws import CHECKS


class Guarantee(NamedTuple):
    """What a queue is guaranteed of a type."""

    queue: Queue
    type: str
    amount: int

    @property
    def name(self) -> str:
        """How rows call it."""
        return f"{self.type} of {self.queue.path}"


def counting(asking: Queue, queue: Queue) -> tuple[Guarantee, ...] | None:
    """Return the guarantees whose least rest, by type, is what the core calls left at a queue.

    ``asking`` is the queue of the ask. ``None`` means that nothing is guaranteed on the way. From
    the root down each queue adds its own guarantees to those above it; but at the ask's own queue
    its own replace those above of the same type, and where that queue has a guaranteed, a queue
    whose path is a plain prefix of its path adds none and hides those above. Which guarantees count
    does not depend on the usage. Source: docs/semantics/yunikorn.md §5, rules 1 to 4.
    """
    found: tuple[Guarantee, ...] | None = None
    for step in queue.lineage:
        own = tuple(Guarantee(step, t, amount) for t, amount in (step.guaranteed or {}).items())
        if not own:
            continue
        if step is asking:
            # Rule 3a: what the ask's leaf is guaranteed itself stands, ancestors fill in other
            # types.
            kept = (one for one in found or () if one.type not in (step.guaranteed or {}))
            found = (*own, *kept)
        # Rule 3b, with the plain prefix of the core: `root.a.q1` counts as above `root.a.q10`. The
        # root has no ask reference, and so is not asked.
        elif step.parent and asking.guaranteed and asking.path.startswith(step.path):
            found = None
        else:
            found = (*own, *(found or ()))
    return found


def used_between(queue: Queue, t: str) -> tuple[int, int]:
    """Return the least and the most that a queue can count as using of a type at the start.

    What is being preempted is taken off only where the queue has allocated some of the type:
    where it has none, that may change with the first removal.
    """
    going = queue.preempting.get(t, 0)
    if t in queue.allocated:
        return queue.allocated[t] - going, queue.allocated[t] - going
    # Both ends are kept: a bound must hold before and after that first removal.
    return min(0, -going), max(0, -going)


class Turns:
    """YK-05 over the K classes of a frame, in its L leaves.

    ``leaf`` is (K,): the position of the queue of each class; ``watched`` has for each leaf the
    guarantees of which one is to be exceeded, ``counted`` those that its removals count for, and
    ``held`` for each guarantee what one member of each class holds of its type, never negative:
    (K,). That up to 1.7 nothing may be left of any type is for the verifier to ask of single sets.
    """

    def __init__(self, frame: Frame) -> None:
        self.leaf = frame.queue
        guarantees: dict[Guarantee, int] = {}
        self.watched: list[list[int] | None] = []
        for queue in frame.leaves:
            found = counting(frame.asking.leaf, queue)
            # Usage never rises: a guarantee that is not exceeded now is exceeded at no turn.
            exceeded = (
                one
                for one in found or ()
                if one.type in frame.ask or frame.cluster.release < V1_8
                if used_between(one.queue, one.type)[1] > one.amount
            )
            numbers = [guarantees.setdefault(one, len(guarantees)) for one in exceeded]
            # Without any guarantee on its way a queue always has a turn.
            self.watched.append(None if found is None else numbers)
        self.over = [used_between(g.queue, g.type)[1] - g.amount for g in guarantees]
        self.held = [frame.held(g.type) for g in guarantees]
        # A guarantee counts removals from the leaves at or below its queue.
        self.counted = [
            [number for g, number in guarantees.items() if g.queue in leaf.lineage]
            for leaf in frame.leaves
        ]

    def stuck(self, least: IntArray) -> int | None:
        """Return a leaf without a possible last victim, in any set with at least these victims.

        Here each leaf is put back that can be. No such set can put back more: each further victim
        only lowers usage, and while one of them is the first of its leaf to be put back, the
        victims of ``least`` there are still gone. So the set puts leaves back only when they have
        been put back here, by induction over its own order.
        """
        waiting: dict[int, list[int]] = {}
        for k in np.flatnonzero(least > 0).tolist():
            if self.watched[leaf := int(self.leaf[k])] is not None:
                waiting.setdefault(leaf, []).append(k)
        over = list(self.over)

        def move(leaf: int, classes: Sequence[int], sign: int) -> None:
            for g in self.counted[leaf]:
                over[g] += sign * sum(int(self.held[g][k]) * int(least[k]) for k in classes)

        for leaf, classes in waiting.items():
            # All victims are gone first: read backwards, that is where an order begins.
            move(leaf, classes, -1)
        moved = True
        while waiting and moved:
            moved = False
            for leaf, classes in list(waiting.items()):
                # With its largest victim back, all others of the leaf can follow.
                if any(
                    over[g] + max(int(self.held[g][k]) for k in classes) > 0
                    for g in self.watched[leaf] or ()
                ):
                    move(leaf, classes, 1)
                    del waiting[leaf]
                    moved = True
        return next(iter(waiting), None)


SINGLE_LAWS: Final = tuple(
    law.id
    for law in (
        YK_OTHER_QUEUE,
        YK_OVER_GUARANTEED,
        YK_PRIORITY,
        YK_FENCE,
        YK_PREEMPTABLE,
        YK_MAY_PREEMPT,
        YK_SEARCHED,
    )
)
"""Laws that refuse single allocations; YK-05 does so where a queue has no turn even before any
removal, as usage never rises."""

NOWHERE: Final = -1
"""The node of an allocation whose node is not in the partition."""


class Setting(Struct, frozen=True):
    """An ask as claims speak of it: ``cluster`` has the nodes and queues, ``rules`` is a rule set.

    ``order`` is (A,): the rank of each allocation in the core's candidate order. ``spare`` says
    whom YK-01 spares: they are never victims.
    """

    cluster: Cluster
    asking: Asking
    rules: str
    order: IntArray
    spare: Spared


class Frame:
    """An ask, over K classes of its candidates on N nodes.

    ``victims`` are the candidates by their positions among all allocations, in classes of the same
    queue, node and resources. ``over_freed`` says whether a measure counts ``excess_freed``, so
    that rows depend on the host. Raises ``UnsupportedError`` if the core itself cannot add amounts
    up exactly.
    """

    def __init__(
        self, setting: Setting, victims: Mapping[int, Victim], classes: Classes, *, over_freed: bool
    ) -> None:
        self.cluster = cluster = setting.cluster
        self.asking = asking = setting.asking
        self.rule_set = rules = setting.rules
        self.spare: Spared = setting.spare
        self.order = setting.order
        self.victims = victims
        self.classes = classes
        self.over_freed = over_freed
        self.ask = asking.ask.resource
        self.required = rules == REQUIRED_NODE
        self.laws = {law.id for law in RULE_SETS[rules]}
        self.first = [victims[position] for position in classes.first.tolist()]
        self.leaves = list({victim.queue.path: victim.queue for victim in self.first}.values())
        number = {queue.path: i for i, queue in enumerate(self.leaves)}
        self.queue = integers(number[victim.queue.path] for victim in self.first)
        places = {room.node_id: i for i, room in enumerate(cluster.nodes)}
        self.node = integers(places.get(one.allocation.node_id, NOWHERE) for one in self.first)
        self.holding = [cluster.given_back(one.allocation, asking.ask) for one in self.first]
        self.written: dict[int, list[tuple[str, Row]]] = {}
        self._held: dict[str, IntArray] = {}
        self._refuse_inexact()
        self.turns = Turns(self)
        self.ranges: dict[str, tuple[int, int]] = {}

    def _refuse_inexact(self) -> None:
        """Refuse amounts for which sums of the core and of rows could differ.

        Raises ``UnsupportedError`` if an allocation holds less than nothing, or removals take more
        from what a queue uses than the core can count: its sums end at the limits of 64 bits.
        """
        amounts = [amount for one in self.first for amount in one.resource.values()]
        unsafe = min((0, *amounts, *self.ask.values())) < 0
        # Nothing that is used is below zero by more than 64 bits.
        some = self.leaves if self._together > MAX_INT64 else ()
        everyone, sizes = np.arange(self.queue.size), self.classes.sizes
        for queue in {step.path: step for leaf in some for step in leaf.lineage}.values():
            mine = self.inside(everyone, queue)
            for t in {t for k in mine.tolist() for t in self.first[k].resource}:
                going = sum_of_products(self.held(t)[mine], sizes[mine])
                unsafe |= used_between(queue, t)[0] - going < MIN_INT64
        if unsafe:
            raise UnsupportedError(
                self.asking.ask.allocation_key,
                "amounts are negative, or more than YuniKorn itself can add up",
                hint="a proof tree needs sums within 64 bits",
            )

    @cached_property
    def _together(self) -> int:
        """What all candidates hold of all types."""
        sizes = self.classes.sizes.tolist()
        pairs = zip(self.holding, sizes, strict=True)
        return sum(sum(held.values()) * size for held, size in pairs)

    # The classes.

    def held(self, t: str) -> IntArray:
        """(K,) what one member of each class holds of a type, or gives back of what pods lack."""
        if t not in self._held:
            self._held[t] = integers(held.get(t, 0) for held in self.holding)
        return self._held[t]

    @property
    def shape(self) -> IntArray:
        """(K,) a number for each class, equal for classes that no law tells apart."""
        return self._shape

    @cached_property
    def _shape(self) -> IntArray:
        return numbered(key_of(self.cluster, self.asking, one) for one in self.first)

    @cached_property
    def _inside(self) -> Mapping[str, NDArray[np.bool_]]:
        """Per path of a queue (L,): which of the leaves are at or below it."""
        found: dict[str, NDArray[np.bool_]] = {}
        for number, leaf in enumerate(self.leaves):
            for step in leaf.lineage:
                known = found.setdefault(step.path, np.zeros(len(self.leaves), dtype=np.bool_))
                known[number] = True
        return found

    def inside(self, mine: IntArray, queue: Queue) -> IntArray:
        """Return the classes among ``mine`` that are at or below a queue."""
        known = self._inside.get(queue.path)
        return mine[:0] if known is None else mine[known[self.queue[mine]]]

    @cached_property
    def of_node(self) -> Mapping[int, IntArray]:
        """The classes on each node that has any."""
        return by_value(self.node, np.arange(self.node.size))

    def name(self, leaf: int) -> str:
        """Return how a tree names the queue of candidates."""
        return self.leaves[leaf].path

    # The nodes.

    @cached_property
    def usable(self) -> NDArray[np.bool_]:
        """(N,) whether the ask may go to a node at all: YK-08, except for the room there."""
        ask = self.asking.ask
        usable = [may_host(self.cluster, room, ask) for room in self.cluster.nodes]
        return np.array(usable, dtype=np.bool_)

    @cached_property
    def anywhere(self) -> int | None:
        """The first usable node that has room without victims: for it victims may be on any node.

        ``None`` for an ask with a required node, which takes victims from there only.
        """
        if self.required:
            return None
        rooms = self.cluster.nodes
        usable = np.flatnonzero(self.usable).tolist()
        return next((n for n in usable if not self.missing(rooms[n])), None)

    def missing(self, room: NodeRoom) -> Mapping[str, int]:
        """YK-08: return what victims must free on a node, by type; only what is missing.

        A type of which less than nothing is available does not count if the ask wants none of it;
        with a required node it has to be made up for, whether the ask names the type or not. What
        the ask's pod lacks by Kubernetes' count is missing, too.
        """
        types = {**self.ask, **(room.available if self.required else {})}
        short = {t: self.ask.get(t, 0) - room.available.get(t, 0) for t in sorted(types)}
        counts = (t for t in short if self.required or self.ask[t] > 0)
        lacks = self.cluster.lacks(room.node_id, self.asking.ask)
        missing = {t: short[t] for t in counts if short[t] > 0}
        return missing | {one.what: one.missing for one in lacks}

    @cached_property
    def _missing(self) -> Mapping[str, Numbers]:
        """Per type (N,): what is missing on each node."""
        missing = [self.missing(room) for room in self.cluster.nodes]
        types = sorted({t for short in missing for t in short})
        each = {t: [short.get(t, 0) for short in missing] for t in types}
        return {t: exact(some, max(self._together, *some)) for t, some in each.items()}

    def hosts(self, box: Box) -> list[int]:
        """Return the nodes that sets of a box can be for; no legal set is for another one.

        All victims are on the node, at least one, and all candidates there hold together what is
        missing; or the node has room without victims, then victims may be anywhere.
        """
        if not box.most.any():
            return []
        # The node of some allocations is not in the partition: to evict these makes no room.
        on = (self.node >= 0) & (box.most > 0)
        numbers = np.arange(self.usable.size)
        enough = self.usable & np.isin(numbers, self.node[on])
        for t, missing in self._missing.items():
            freed = np.zeros(numbers.size, dtype=missing.dtype)
            held = self.held(t).astype(missing.dtype, copy=False) * box.most
            np.add.at(freed, self.node[on], held[on])
            enough &= freed >= missing
        for node in sorted({*self.node[box.least > 0].tolist()}):  # all victims are on the host
            enough &= numbers == node
        found: set[int] = set(np.flatnonzero(enough).tolist())
        # One node with room is enough for all such nodes: for each the same sets are legal.
        return sorted(found if self.anywhere is None else found | {self.anywhere})

    def case(self, host: int, victims: tuple[Victim, ...]) -> YuniKornCase:
        """Return what the verifier judges: these victims, for a node."""
        room = self.cluster.nodes[host]
        return YuniKornCase(self.cluster, self.asking, self.rule_set, room, victims)


def candidates(
    cluster: Cluster, asking: Asking, rules: str, without: Collection[str] = ()
) -> Iterator[tuple[int, Victim]]:
    """Yield the allocations that no law refuses by itself, with their positions among all.

    The laws ``without`` are not asked. The verifier judges one allocation of each kind; a kind is
    what these laws look at.
    """
    asked = {law.id for law in RULE_SETS[rules]}.intersection(SINGLE_LAWS)
    laws = sorted(asked.difference(without))
    # Any node will do: none of these laws looks at it.
    room = cluster.nodes[0] if cluster.nodes else None
    judged: dict[Hashable, bool] = {}
    position = 0
    for application in cluster.partition.applications:
        queue = cluster.tree.leaf_of(application)
        for held in application.allocations:
            # With a required node the allocations are those of that node (§11.1).
            if held.x.not_in_app and not asking.ask.required_node:
                continue
            victim = Victim(held, queue, application.application_id)
            kind = (
                queue.path,
                held.priority,
                (bool(held.required_node), held.x.released, held.preempted),
                frozenset(held.resource),
            )
            if kind not in judged:
                case = YuniKornCase(cluster, asking, rules, room, (victim,))
                judged[kind] = all(CHECKS[law](case).holds for law in laws)
            required = asking.ask.required_node
            # YK-08, 11.1: with a required node, only allocations on it are listed.
            elsewhere = bool(required) and (held.node_id != required or held.x.not_on_node)
            if judged[kind] and not elsewhere and victim.key != asking.ask.allocation_key:
                yield position, victim
            # Also for allocations that are left out: positions are places in the table of all
            # allocations.
            position += 1


def key_of(cluster: Cluster, asking: Asking, victim: Victim) -> Hashable:
    """Return what a candidate must have in common with another for no law to tell them apart."""
    held = cluster.given_back(victim.allocation, asking.ask)
    return victim.queue.path, victim.allocation.node_id, tuple(sorted(held.items()))


def integers(values: Iterable[int]) -> IntArray:
    """Return numbers as an array."""
    return np.array(list(values), dtype=np.int64)
