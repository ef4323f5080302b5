"""Where the fence of an ask is, and what priorities are worth below it.

Both are walks over the queues, written from the rules: up from the ask to the fence, and up from
a victim to the first queue that has the ask below it, too. Source: docs/semantics/yunikorn.md
§4; yunikorn-core be3bb487, scheduler/objects/queue.go.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.quota.yunikorn.cluster import Asking
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import ge_known, plus


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
