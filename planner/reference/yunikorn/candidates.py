"""Which allocations an ask may preempt: the fence, the priorities, the walk over the queues.

Source: docs/semantics/yunikorn.md §4; yunikorn-core be3bb487, scheduler/objects/queue.go
(FindEligiblePreemptionVictims).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planner.laws import (
    YK_FENCE,
    YK_LAST_TIER,
    YK_OTHER_QUEUE,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_PRIORITY,
)
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import ge_all, ge_known, plus, share_type
from planner.quota.yunikorn.snapshot import Snapshot
from planner.reference.laws import keeps
from planner.state.yunikorn import Allocation, Ask


@dataclass(frozen=True, eq=False)
class Candidate:
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


@dataclass(frozen=True, slots=True)
class Fence:
    """The queue beyond which nothing is preempted, and the priorities on the way up to it."""

    root: Queue
    priorities: Mapping[str, int]


@keeps(YK_FENCE)
def find_fence(leaf: Queue, ask: Ask) -> Fence:
    """Walk up from the leaf of the ask to the first queue that stops preemption.

    Besides the root and a queue with the policy ``fence`` that is a queue which cannot take the
    ask within its effective maximum, the leaf itself included.
    """
    priority = ask.priority
    priorities = {}
    queue = leaf
    while True:
        properties = queue.properties
        offset = properties.priority_offset
        # The queue's own offset counts at the fence, too, and so for all who are compared there.
        priority = offset if properties.priority_fence else priority + offset
        priorities[queue.path] = priority
        if queue.parent is None or properties.preemption_fence:
            break
        # A queue whose maximum keeps the ask out is a fence: victims elsewhere would not help it.
        # Where that is the leaf of the ask itself, there are no candidates at all (§13.7).
        if queue.effective_max and not ge_known(
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


@keeps(YK_FENCE, YK_OTHER_QUEUE, YK_PRIORITY)
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
        # Inside a priority fence the fence is compared once, and nobody's own priority after it.
        elif offset <= priority:
            below = (priority, True)
        else:
            continue
        yield from _below(child, ask, snapshot, path, below)


@keeps(YK_OVER_GUARANTEED, YK_PREEMPTABLE, YK_PRIORITY)
def _of_leaf(
    queue: Queue, ask: Ask, snapshot: Snapshot, priority: int | None
) -> Iterator[Candidate]:
    """Yield the candidates of a leaf up to a priority, None for any."""
    rest = snapshot.remaining(queue)
    # Nothing guaranteed on the way (None) means over it; an empty rest means not.
    if rest is not None and ge_all(rest, {}):
        return
    for application in queue.applications:
        for allocation in application.allocations:
            if (
                # By type alone: an allocation that holds 0 of it counts (§4).
                share_type(ask.resource, allocation.resource)
                and not allocation.required_node
                and not allocation.x.released
                and not allocation.x.not_in_app
                and not allocation.preempted
                and (priority is None or allocation.priority <= priority)
            ):
                yield Candidate(allocation, queue, application.application_id)


@keeps(YK_LAST_TIER)
def in_order(candidates: list[Candidate], ties: Mapping[str, int]) -> list[Candidate]:
    """Sort candidates: opted out last, originators late, newest first.

    Source: docs/semantics/yunikorn.md §7.

    What is equal in all of these has no order in the core; ``ties`` may give a rank by key.
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
