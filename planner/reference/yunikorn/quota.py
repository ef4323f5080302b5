"""Preemption after a queue's quota was lowered below its usage.

Source: docs/semantics/yunikorn.md §11.2, docs/semantics/yunikorn-features.md §23;
yunikorn-core be3bb487, scheduler/objects/quota_preemptor.go and queue.go
(setPreemptionTime, tryAcquirePreemption).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import Struct, field

from planner.errors import UnsupportedError
from planner.laws.yunikorn import YK_SEARCHED
from planner.quota.yunikorn.lowered import parts_of, preemptable_amount, shares
from planner.quota.yunikorn.queue import Queue, walk
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    equal,
    fits_loose,
    ge_known,
    gt_zero,
    minus,
    plus,
)
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import (
    OPTED_OUT_SCORE,
    ORIGINATOR_SCORE,
    Candidate,
    in_leaf,
)
from planner.state.clock import SECOND
from planner.state.yunikorn import Allocation
from planner.state.yunikorn_release import V1_8, Release

HOUR: Final = 3600 * SECOND


class QuotaPreemption(Struct, frozen=True):
    """What quota preemption does to one queue.

    ``acquired`` says that the queue is managed and over its maximum; ``amount`` is what should be
    freed, ``shares`` how that is split over leaves, ``victims`` the victims leaf by leaf.
    """

    acquired: bool
    amount: Amount = None
    shares: Mapping[str, Resource] = field(default_factory=dict)
    victims: tuple[Candidate, ...] = ()


class CorePanics(UnsupportedError):  # noqa: N818 - it says what the core does
    """The core ends with a nil pointer dereference, and its process with it."""


def preempt_quota(queue: Queue, ties: Mapping[str, int], release: Release) -> QuotaPreemption:
    """Free what a queue uses above its maximum, as far as the guaranteed on its path allows.

    The start time counts as passed. Before 1.8 the core has nothing of the kind; how 1.8 does it is
    not reproduced, but as 1.9 does.

    Raises `CorePanics` where the core does.
    """
    is_lowered_to = release >= V1_8 and queue.is_managed
    if not is_lowered_to or ge_known(queue.max, queue.allocated):
        return QuotaPreemption(acquired=False)
    amount = preemptable_amount(queue)
    if not amount:
        if any(parts_of(queue).values()):
            nothing = "has nothing to free, but children above their guaranteed: the core panics"
            raise CorePanics(f"queue {queue.path}", nothing)
        return QuotaPreemption(acquired=True, amount=amount)
    found = shares(queue)
    victims = [v for leaf, share in found.items() for v in search_leaf(leaf, share, ties)]
    named = {} if queue.is_leaf else {leaf.path: share for leaf, share in found.items()}
    return QuotaPreemption(acquired=True, amount=amount, shares=named, victims=tuple(victims))


def preempt_due(
    root: Queue, due: Collection[str], ties: Mapping[str, int], release: Release
) -> list[tuple[Queue, QuotaPreemption]]:
    """Free what queues use above their maximum whose time has passed, in one pass from the root.

    A queue for which that is done hides all below it until the next pass.

    Raises `CorePanics` where the core does.
    """
    if root.path in due:
        found = preempt_quota(root, ties, release)
        if found.acquired:
            return [(root, found)]
    below = () if root.is_leaf else root.children
    return [each for child in below for each in preempt_due(child, due, ties, release)]


class QuotaTimes:
    """When quota preemption starts in each queue, in nanoseconds, from one queues.yaml to the next.

    At first the allocations arrive. Source: docs/semantics/yunikorn-features.md §23.
    """

    def __init__(self, root: Queue, *, enabled: bool, now: int) -> None:
        self._queues = {queue.path: queue for queue in walk(root)}
        self.starts: dict[str, int] = {}
        for path, queue in self._queues.items() if enabled else ():
            if queue.properties.quota_delay and _is_above(queue):
                self.starts[path] = now + queue.properties.quota_delay

    def change(self, root: Queue, now: int) -> None:
        """Put another queues.yaml into force."""
        new = {queue.path: queue for queue in walk(root)}
        for path, queue in new.items():
            if path in self._queues:
                self._change(self._queues[path], queue, now)
        self._queues |= new

    def _change(self, old: Queue, new: Queue, now: int) -> None:
        before, delay = old.properties.quota_delay, new.properties.quota_delay
        # Of the root only nodes change the maximum: the core takes it for one that had none.
        had = old.max if new.parent else None
        start = self.starts.pop(new.path, None)
        if not delay or not _is_above(new):
            return
        is_same = had is not None and equal(had, new.max or {})
        is_lower = not is_same and _exceeds(had, new.max)
        is_higher = not is_same and _exceeds(new.max, had)
        if start is None and ((is_same and not before) or is_lower):
            start = now + delay
        elif start is not None and (is_same or is_lower or is_higher):
            start += delay - before
        if start is not None:
            self.starts[new.path] = start


def _is_above(queue: Queue) -> bool:
    return queue.max is not None and not ge_known(queue.max, queue.allocated)


def _exceeds(a: Amount, b: Amount) -> bool:
    """Say whether ``a`` is more than ``b`` in some type, and less in none; nothing is 0."""
    return gt_zero(minus(a, b))


@keeps(YK_SEARCHED)
def search_leaf(leaf: Queue, amount: Resource, ties: Mapping[str, int]) -> list[Candidate]:
    """Take victims in order while they do not exceed the amount in its own types.

    The order is by score, priority, hour of creation (newest first), and size: the shares of the
    leaf's maximum that an allocation holds, the largest first.
    """
    if not any(amount.values()):
        return []
    limits = leaf.max or {}

    def rank(candidate: Candidate) -> tuple[int, int, int, list[float], int]:
        held = candidate.allocation
        shares = [
            float(value) / float(limits.get(t) or 1)
            for t, value in held.resource.items()
            if t in amount and value
        ]
        hour, tie = held.allocation_time // HOUR, ties.get(candidate.key, 0)
        return -score_of(held, amount), held.priority, -hour, sorted(shares, reverse=True), tie

    total: dict[str, int] = {}
    victims = []
    for candidate in sorted(in_leaf(leaf, amount), key=rank):
        # A candidate too large alone is passed over, and smaller ones behind it are still tried.
        if not fits_loose(amount, candidate.resource):
            continue
        total = plus(total, candidate.resource)
        if ge_known(amount, total):
            victims.append(candidate)
        else:
            total = minus(total, candidate.resource)
    return victims


def score_of(allocation: Allocation, amount: Resource) -> int:
    """Return the score; the highest is taken first, so opted-out and originator allocations are."""
    matching = sum(1 for t in amount if t in allocation.resource)
    score = matching * 100 // len(allocation.resource)
    if allocation.originator:
        score += ORIGINATOR_SCORE
    if allocation.opted_out:
        score |= OPTED_OUT_SCORE
    return score
