"""What is left of the guaranteed, and copies of the queues' usage to try removals on.

Source: docs/semantics/yunikorn.md §4 and §5; yunikorn-core be3bb487,
scheduler/objects/preemption.go and quota_snapshot arithmetic there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    fill_from,
    ge_all,
    min_left,
    min_union,
    minus,
    minus_known,
    plus,
)


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
    """The usage of all queues, to be changed without changing the queues; copied on write."""

    __slots__ = ("_allocated", "ask", "leaf")

    def __init__(self, leaf: Queue, ask: Resource) -> None:
        self.leaf = leaf
        self.ask = ask
        self._allocated: dict[str, Resource] = {}

    def fresh(self) -> Snapshot:
        """Return a snapshot in which nothing has changed yet."""
        return Snapshot(self.leaf, self.ask)

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
        """Say whether a queue is over its guaranteed in a type of the ask, or has no guaranteed."""
        rest = self.remaining(queue)
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
