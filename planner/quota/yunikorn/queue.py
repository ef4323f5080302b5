"""The tree of queues, what is left of their guaranteed, and a copy of usage to try removals on.

Source: docs/semantics/yunikorn.md §2, §4 and §5; yunikorn-core be3bb487,
scheduler/objects/queue.go, preemption.go and quota_snapshot arithmetic there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from msgspec import Struct

from planner.errors import LookupFailed
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    added_up,
    fill_from,
    fits_in,
    fits_loose,
    ge_all,
    gt_zero,
    min_left,
    min_union,
    minus,
    minus_known,
    plus,
    without_zeros,
)
from planner.state.clock import SECOND, parse_duration
from planner.state.yunikorn import (
    DISABLED,
    PREEMPTION_POLICY,
    PRIORITY_OFFSET,
    PRIORITY_POLICY,
    Application,
    InstanceExtra,
    Partition,
    QueueConfig,
    inherited,
)

PREEMPTION_DELAY: Final = "preemption.delay"
QUOTA_PREEMPTION_DELAY: Final = "quota.preemption.delay"
BACKOFF_AFTER: Final = "application.unschedasks.backoff"
BACKOFF_DELAY: Final = "application.unschedasks.backoff.delay"
SORT_POLICY: Final = "application.sort.policy"
SORT_PRIORITY: Final = "application.sort.priority"
FAIR: Final = "fair"
RECOVERY: Final = "root.@recovery@"
"""The queue of those whose own queue was gone when the core started again."""
FENCE: Final = "fence"

DEFAULT_DELAY: Final = 30 * SECOND

_INT32: Final = re.compile(r"[+-]?[0-9]+")
_COUNT: Final = re.compile(r"[0-9]{1,20}", re.ASCII)
_LONGEST: Final = 100


class Properties(Struct, frozen=True):
    """The effective properties of a queue; delays are in nanoseconds.

    After ``backoff`` asks that fit nowhere an application waits, 0 is never; ``quota_delay`` is
    that of preemption after the quota was lowered, 0 is never. Applications are sorted by the
    priority of their asks first, unless not ``by_priority``, and else by age, unless ``fair``.
    """

    disabled: bool = False
    preemption_fence: bool = False
    priority_fence: bool = False
    priority_offset: int = 0
    delay: int = DEFAULT_DELAY
    backoff: int = 0
    backoff_delay: int = DEFAULT_DELAY
    quota_delay: int = 0
    fair: bool = False
    by_priority: bool = True


def read_properties(effective: Mapping[str, str]) -> Properties:
    """Parse effective properties; a value that cannot be read counts as absent.

    Policies are read in any case (scheduler/policies, PreemptionPolicyFromString).
    """
    policy = effective.get(PREEMPTION_POLICY, "").lower()
    backoff = effective.get(BACKOFF_AFTER, "")
    text = effective.get(PRIORITY_OFFSET, "0")
    offset = int(text) if len(text) <= _LONGEST and _INT32.fullmatch(text) else 0
    return Properties(
        disabled=policy == DISABLED,
        preemption_fence=policy == FENCE,
        priority_fence=effective.get(PRIORITY_POLICY, "").lower() == FENCE,
        priority_offset=offset if -(2**31) <= offset < 2**31 else 0,
        delay=_delay(effective, PREEMPTION_DELAY, DEFAULT_DELAY),
        backoff=int(backoff) if _COUNT.fullmatch(backoff) else 0,
        backoff_delay=_delay(effective, BACKOFF_DELAY, DEFAULT_DELAY),
        quota_delay=_delay(effective, QUOTA_PREEMPTION_DELAY, 0),
        fair=effective.get(SORT_POLICY) == FAIR,
        by_priority=effective.get(SORT_PRIORITY, "").lower() != DISABLED,
    )


def _delay(effective: Mapping[str, str], name: str, default: int) -> int:
    delay = parse_duration(effective.get(name, "")) or 0
    return delay if delay > 0 else default


@dataclass(eq=False)
class Queue:
    """A queue. ``allocated`` and ``preempting`` are sums over everything below it.

    It is managed by queues.yaml, unless the core made it itself.
    """

    path: str
    parent: Queue | None
    is_leaf: bool
    properties: Properties
    guaranteed: Amount
    max: Amount
    allocated: Resource = field(default_factory=dict)
    preempting: Resource = field(default_factory=dict)
    children: list[Queue] = field(default_factory=list)
    applications: list[Application] = field(default_factory=list)
    is_managed: bool = True

    @cached_property
    def lineage(self) -> tuple[Queue, ...]:
        """The queue and its ancestors, root first."""
        return (*(self.parent.lineage if self.parent else ()), self)

    @cached_property
    def effective_max(self) -> Amount:
        """The least maximum of the queue and its ancestors, type by type."""
        return min_union(self.parent.effective_max if self.parent else None, self.max)

    @cached_property
    def headroom(self) -> Amount:
        """What may still be allocated below every maximum on the path, once usage is added.

        Source: docs/semantics/yunikorn.md §3.
        """
        room: Amount = None
        for queue in self.lineage:
            if queue.max is not None:
                room = min_union(room, minus_known(queue.max, queue.allocated))
        return room

    def may_take(self, amount: Resource) -> bool:
        """Say whether an amount can be counted as used in the queue and in all above it.

        Headroom is never below 0, so that 0 of a type fits where its maximum is exceeded already.
        What is used with it does not, and the core takes its node away again. Root has nothing of
        what it does not name. Source: docs/semantics/yunikorn.md §3.
        """
        for queue in self.lineage:
            after = {t: queue.allocated.get(t, 0) + value for t, value in amount.items()}
            if not (fits_loose if queue.parent else fits_in)(queue.max, after):
                return False
        return True


class QueueTree(Struct, frozen=True):
    """All queues of a partition, by path and from the root down; ``source`` is what was read."""

    root: Queue
    by_path: Mapping[str, Queue]
    source: str

    def leaf_of(self, application: Application) -> Queue:
        """Return the queue of an application.

        Raises `LookupFailed` if there is no such queue.
        """
        path = application.queue_name.lower()
        try:
            return self.by_path[path]
        except KeyError:
            raise LookupFailed(
                f"{self.source}: application {application.application_id}",
                f'its queue "{path}" is not in the queues',
                "a queue of queues.yaml or of the state dump",
            ) from None


def build_tree(partition: Partition, x: InstanceExtra, source: str) -> QueueTree:
    """Build the queues of a partition with the usage of its applications.

    ``source`` is what the partition was read from, for messages.

    Raises `LookupFailed` if an application is in a queue which does not exist.
    """
    # The maximum of root is what all registered nodes have, schedulable or not (§2).
    capacity = without_zeros(added_up(node.capacity for node in partition.nodes))
    root_max = x.root_max or (capacity if gt_zero(capacity) else None)
    root = build_queues(partition.root)
    # The resources that are configured for root are not read.
    root.guaranteed, root.max = None, None if x.no_root_max else root_max
    tree = QueueTree(root, {queue.path: queue for queue in walk(root)}, source)
    _add_usage(tree, partition)
    for path, usage in x.queue_usage.items():
        queue = tree.by_path.get(path)
        if queue is not None:  # else it is of another partition
            queue.allocated = usage.allocated or {}
            queue.preempting = usage.preempting or {}
    return tree


def walk(queue: Queue) -> Iterator[Queue]:
    """Yield a queue and everything below it, parents first."""
    yield queue
    for child in queue.children:
        yield from walk(child)


def build_queues(
    config: QueueConfig, parent: Queue | None = None, passed: Mapping[str, str] | None = None
) -> Queue:
    """Build a queue and all queues below; ``passed`` are the effective properties of its parent."""
    effective = inherited(passed or {}, config.properties)
    name, resources = config.name.lower(), config.resources
    path = f"{parent.path}.{name}" if parent else name
    # Below a leaf, as a parent is whose queues left the file, the core looks at nothing.
    hidden = parent is not None and any(above.is_leaf for above in parent.lineage)
    queue = Queue(
        path=path,
        parent=parent,
        is_leaf=not (config.parent or hidden),
        # The core reads no properties of the recovery queue, whose template may have some.
        properties=Properties() if path == RECOVERY else read_properties(effective),
        # Not "limited to 0": the core drops a map without anything positive (§2).
        guaranteed=resources.guaranteed if gt_zero(resources.guaranteed) else None,
        max=resources.max if gt_zero(resources.max) else None,
        is_managed=config.managed,
    )
    queue.children = [build_queues(child, queue, effective) for child in config.queues]
    return queue


def _add_usage(tree: QueueTree, partition: Partition) -> None:
    for application in partition.applications:
        leaf = tree.leaf_of(application)
        leaf.applications.append(application)
        held = [one for one in application.allocations if not one.x.not_in_app]
        allocated = added_up(one.resource for one in held)
        # A preempted allocation still counts as allocated; usage for guarantees is less by it.
        preempting = added_up(one.resource for one in held if one.preempted)
        for queue in leaf.lineage:
            queue.allocated = plus(queue.allocated, allocated)
            queue.preempting = plus(queue.preempting, preempting)


class AskReference(NamedTuple):
    """The leaf of the ask, as the arithmetic of every other queue refers to it."""

    path: str
    guaranteed: Amount


class Level(NamedTuple):
    """One queue on the way from the root to a queue; the root has no ask reference."""

    path: str
    guaranteed: Amount
    allocated: Amount
    preempting: Amount
    ask: AskReference | None


def remaining_guaranteed(levels: Iterable[Level]) -> Amount:
    """Return what is left of the guaranteed at the last of the levels, which start at the root.

    None means that no queue on the way guarantees anything. If the leaf of the ask has its own
    guaranteed, that of its ancestors is ignored; an ancestor is recognised by a plain prefix of
    the path, so ``root.a.q1`` counts as an ancestor of ``root.a.q10``.
    """
    up: Amount = None
    for level in levels:
        if not up and not level.guaranteed:
            up = None
            continue
        rest: Amount = None
        if level.guaranteed is not None:
            rest = minus_known(level.guaranteed, minus_known(level.allocated, level.preempting))
        if rest and level.ask is not None:
            if level.path == level.ask.path:
                up = fill_from(rest, up)
                continue
            if level.ask.guaranteed and level.ask.path.startswith(level.path):
                up = None
                continue
        up = min_union(rest, up)
    return up


def preemptable(levels: Iterable[Level]) -> Amount:
    """Return what may be preempted at the last of the levels, which start at the root.

    All values are positive, so the core's test that none is negative after a removal always
    passes; the selection of victims does not need that test.
    """
    up: Amount = None
    for level in levels:
        if not level.allocated:
            up = None
            continue
        rest = minus_known(minus_known(level.allocated, level.preempting), level.guaranteed) or {}
        over = {t: value for t, value in rest.items() if value > 0}
        up = min_left(over, up) if over else over
    return up


def under(rest: Resource, ask: Resource) -> bool:
    """Say whether ``rest`` is negative in no type of the ask (docs/semantics/yunikorn.md §5)."""
    return all(rest.get(t, 0) >= 0 for t in ask)


class Snapshot:
    """The usage of all queues, to be changed without changing the queues; copied on write.

    ``older`` says that the rules are those up to 1.7 (docs/semantics/yunikorn-features.md §25).
    """

    __slots__ = ("_allocated", "ask", "leaf", "older")

    def __init__(self, leaf: Queue, ask: Resource, *, older: bool = False) -> None:
        self.leaf = leaf
        self.ask = ask
        self.older = older
        self._allocated: dict[str, Resource] = {}

    def fresh(self) -> Snapshot:
        """Return a snapshot in which nothing has changed yet."""
        return Snapshot(self.leaf, self.ask, older=self.older)

    def levels(self, queue: Queue) -> list[Level]:
        """Return the levels from the root to a queue, with the usage of this snapshot."""
        reference = AskReference(self.leaf.path, self.leaf.guaranteed)
        return [
            Level(
                step.path,
                step.guaranteed,
                self._allocated.get(step.path, step.allocated),
                step.preempting,
                reference if step.parent else None,
            )
            for step in queue.lineage
        ]

    def remaining(self, queue: Queue | None = None) -> Amount:
        """Return what is left of the guaranteed of a queue; without one, of the ask's leaf."""
        return remaining_guaranteed(self.levels(queue or self.leaf))

    def takeable(self, queue: Queue) -> bool:
        """Say whether a queue is over its guaranteed in a type of the ask, or has no guaranteed.

        Up to 1.7 it must be over it in some type, and under it in none.
        """
        rest = self.remaining(queue)
        if self.older:
            return rest is None or gt_zero(minus({}, rest))
        return rest is None or not under(rest, self.ask)

    def lists(self, leaf: Queue) -> bool:
        """Say whether the core lists candidates of a leaf: it is over its guaranteed in some type.

        Or nothing is guaranteed on its path. The types are not only those of the ask
        (docs/semantics/yunikorn.md §4).
        """
        rest = self.remaining(leaf)
        # None, nothing guaranteed on the path, counts as over it; an empty rest does not.
        return rest is None or not ge_all(rest, {})

    def remove(self, queue: Queue, amount: Resource) -> None:
        """Take an amount away from a queue and its ancestors."""
        for step in queue.lineage:
            held = self._allocated.get(step.path, step.allocated)
            self._allocated[step.path] = minus(held, amount)

    def add(self, queue: Queue, amount: Resource) -> None:
        """Add an amount to a queue and its ancestors."""
        for step in queue.lineage:
            held = self._allocated.get(step.path, step.allocated)
            self._allocated[step.path] = plus(held, amount)
