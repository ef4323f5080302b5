"""Why the core waits, what its cycles make of a decision, why an ask may not preempt: in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from planner.case.yunikorn import Case, in_words
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.quota.yunikorn.held_back import passed_over
from planner.quota.yunikorn.queue import QUOTA_PREEMPTION_DELAY, Queue
from planner.quota.yunikorn.resource import fits_in
from planner.reference.yunikorn.turn import BACKS_OFF, Preconditions
from planner.state.clock import SECOND
from planner.state.yunikorn_release import V1_9


def postponed(
    cluster: Cluster, asking: Asking, conditions: Preconditions | None
) -> tuple[str, ...]:
    """Say what makes the core wait before it preempts for an ask, if anything does."""
    if asking.shares is not None:
        return tuple(_lowered(cluster, asking.leaf))
    ask = asking.ask
    if conditions is None:
        return ()
    key, notes = ask.allocation_key, list[str]()
    if conditions.held_back and not passed_over(cluster, asking):
        until = asking.application.backoff_deadline if conditions.held_back == BACKS_OFF else None
        later = "" if until is None else f", until {until.isoformat()}"
        notes.append(f"{key}: the core passes over it: {conditions.held_back}{later}")
    if not conditions.no_required_node:
        node = ask.required_node
        room = cluster.node(node)
        holds = room is not None and fits_in(room.node.capacity, ask.resource)
        if holds and not conditions.reserved and replace(conditions, reserved=True).attempted:
            notes.append(f"{key}: the core reserves {node} first, and looks for victims after that")
        if not (conditions.fits_headroom or ask.triggered_preemption):
            notes.append(f"{key}: the core looks for victims only once its queues have room for it")
        return tuple(notes)
    if conditions.allocatable_now:
        return ()
    if not conditions.delay_passed:
        due = ask.request_time + asking.leaf.properties.delay
        wait = -(-(due - cluster.now) // SECOND)
        notes.append(f"{key}: the preemption delay of {asking.leaf.path} lasts {wait} s more")
    if not conditions.check_interval_passed:
        notes.append(f"{key}: the core looked less than 15 s ago, and waits until they are over")
    return tuple(notes)


def ahead(case: Case) -> Iterator[str]:
    """Say what the core's cycles make of its decision, if they make anything else of it."""
    key, outlook = case.asking.ask.allocation_key, case.outlook
    if (hold := case.held_back) is not None:
        what, plan = _HELD[hold.why]
        yield f"{what.format(key)}: {hold.text}; the plan is what would be if {plan}"
    elif outlook.chance is not None:
        yield (
            f"{key}: YuniKorn's own choice is not determined: {_CHANCE[outlook.race]}, and it may "
            f"also {in_words(outlook.chance)}; the legal sets do not depend on that, but what "
            "compares the plan with its own choice does"
        )
    elif outlook.unknown:
        yield f"{key}: whether other asks act before it was not looked at: {outlook.unknown}"


_HELD: Final = {
    "notFirst": ("YuniKorn does not come to {} first", "it did"),
    "hangs": (
        "YuniKorn locks itself before it serves {}, and schedules nothing more",
        "it did not",
    ),
}
_CHANCE: Final = {
    False: "allocations of equal age, or others of one kind, have no order",
    True: "nodes have equal scores, and the first that answers is taken",
}


def _lowered(cluster: Cluster, queue: Queue) -> Iterator[str]:
    """Yield on what it depends that the core preempts for a queue above its maximum."""
    core = f"{queue.path}: the core preempts for a lowered quota only"
    if not queue.is_managed:
        yield f"{core} in queues of queues.yaml, and this one it made itself: it preempts nobody"
    if cluster.release < V1_9:
        yield f"{core} from 1.8 on, and in 1.8 while asks wait in the queue or below"
    if not cluster.partition.preemption.quota:
        yield f"{core} where preemption.quotapreemptionenabled is set in the partition"
    if not queue.properties.quota_delay:
        yield f"{core} where {QUOTA_PREEMPTION_DELAY} is set"


def explain_refusal(cluster: Cluster, asking: Asking) -> str:
    """Say why an ask may not preempt at all (YK-11)."""
    ask = asking.ask
    if why := passed_over(cluster, asking):
        return f"the core passes over it: {why}"
    if ask.triggered_preemption:
        return "it has triggered preemption before, and the core never does so twice for an ask"
    if not cluster.partition.preemption.enabled:
        return f"preemption is switched off in partition {cluster.partition.name}"
    return "it may not preempt others: its PriorityClass or pod says preemptionPolicy Never"
