"""Which allocations may be preempted for an ask: the fence and the priorities.

Source: docs/semantics/yunikorn.md §4; yunikorn-core be3bb487, scheduler/objects/queue.go
(FindEligiblePreemptionVictims).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from planner.laws import yunikorn as laws
from planner.quota.yunikorn.queue import Queue, Snapshot
from planner.quota.yunikorn.resource import (
    Resource,
    equal,
    ge_known,
    plus,
    share_type,
)
from planner.reference.laws import keeps
from planner.state.yunikorn import Allocation, Ask
from planner.state.yunikorn_release import V1_9, Release

ORIGINATOR_SCORE: Final = 1 << 33
OPTED_OUT_SCORE: Final = 1 << 34
"""What the flags add to the score of a node, or of an allocation where a quota was lowered."""


class Candidate(Struct, frozen=True, eq=False):
    """An allocation that may be preempted, its queue and its application."""

    allocation: Allocation
    queue: Queue
    application_id: str

    @property
    def key(self) -> str:
        """The key of the allocation."""
        return self.allocation.allocation_key

    @property
    def resource(self) -> dict[str, int]:
        """What the allocation holds."""
        return self.allocation.resource


class Fence(Struct, frozen=True):
    """The queue beyond which nothing is preempted, and the priorities on the way up to it."""

    root: Queue
    priorities: Mapping[str, int]


@keeps(laws.YK_FENCE)
def find_fence(leaf: Queue, ask: Ask, release: Release = V1_9) -> Fence:
    """Walk up from the leaf of the ask to the first queue that stops preemption.

    Besides the root and a queue with the policy ``fence`` that is a queue which cannot take the
    ask within its effective maximum, the leaf itself included; up to 1.8 one that holds just its
    own maximum.
    """
    priority = ask.priority
    priorities = {}
    queue = leaf
    while True:
        properties = queue.properties
        offset = properties.priority_offset
        # The queue's own offset counts at the fence, too, and so for all candidates compared there.
        priority = offset if properties.priority_fence else priority + offset
        priorities[queue.path] = priority
        if queue.parent is None or properties.preemption_fence:
            break
        # A queue whose maximum keeps the ask out is a fence: victims elsewhere would not help it.
        # Where that is the leaf of the ask itself, there are no candidates at all (§13.7).
        if release < V1_9:
            if queue.max is not None and equal(queue.max, queue.allocated):
                break
        elif queue.effective_max and not ge_known(
            queue.effective_max, plus(queue.allocated, ask.resource)
        ):
            break
        queue = queue.parent
    return Fence(queue, priorities)


def find_candidates(leaf: Queue, ask: Ask, fence: Fence) -> list[Candidate]:
    """Walk down from the fence and collect what may be preempted, queue by queue.

    Neither the opt-out nor the originator flag removes a candidate, and a priority fence inside
    the subtree of a victim removes the test of single priorities there.
    """
    snapshot = Snapshot(leaf, ask.resource)
    top = fence.priorities[fence.root.path]
    return list(_below(fence.root, ask, snapshot, fence.priorities, (top, False)))


@keeps(laws.YK_FENCE, laws.YK_OTHER_QUEUE, laws.YK_PRIORITY)
def _below(
    queue: Queue, ask: Ask, snapshot: Snapshot, path: Mapping[str, int], bound: tuple[int, bool]
) -> Iterator[Candidate]:
    priority, anyone = bound
    if queue.is_leaf:
        # The whole queue of the ask is spared, and with it the application (§13.3).
        if queue is not snapshot.leaf and not queue.properties.disabled:
            yield from _of_leaf(queue, ask, snapshot, None if anyone else priority)
        return
    for child in queue.children:
        offset = child.properties.priority_offset
        if child.path in path:
            below = (path[child.path], anyone)
        elif not child.properties.priority_fence:
            below = (priority - offset, anyone)
        # A priority fence is compared once, and no priority of an allocation inside it.
        elif offset <= priority:
            below = (priority, True)
        else:
            continue
        yield from _below(child, ask, snapshot, path, below)


@keeps(laws.YK_OVER_GUARANTEED, laws.YK_PREEMPTABLE, laws.YK_PRIORITY)
def _of_leaf(
    queue: Queue, ask: Ask, snapshot: Snapshot, priority: int | None
) -> Iterator[Candidate]:
    """Yield the candidates of a leaf up to a priority; None means any priority."""
    if not snapshot.lists(queue):
        return
    for candidate in in_leaf(queue, ask.resource):
        if priority is None or candidate.allocation.priority <= priority:
            yield candidate


def in_leaf(leaf: Queue, wanted: Resource) -> Iterator[Candidate]:
    """Yield the allocations of a leaf that hold a wanted type and may be preempted."""
    for application in leaf.applications:
        for held in application.allocations:
            if may_go(held, wanted) and not held.x.not_in_app:
                yield Candidate(held, leaf, application.application_id)


def may_go(held: Allocation, wanted: Resource, *, released: bool = False) -> bool:
    """Say whether an allocation holds a wanted type, and nothing spares it.

    With ``released`` one that is being released is not spared.
    """
    spared = held.required_node or held.preempted or (held.x.released and not released)
    # By type alone: an allocation that holds 0 of a type counts (§4).
    return not spared and share_type(wanted, held.resource)


@keeps(laws.YK_LAST_TIER)
def in_order(candidates: list[Candidate], ties: Mapping[str, int]) -> list[Candidate]:
    """Sort candidates: opted out last, originators late, newest first.

    Source: docs/semantics/yunikorn.md §7.

    Candidates equal in all of these have no order in the core; ``ties`` may rank them by key.
    """

    def rank(candidate: Candidate) -> tuple[bool, bool, int, int]:
        allocation = candidate.allocation
        return (
            allocation.opted_out,
            allocation.originator,
            -allocation.allocation_time,
            ties.get(allocation.allocation_key, 0),
        )

    return sorted(candidates, key=rank)
