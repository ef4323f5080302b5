"""The laws of YuniKorn, one function each: the executable specification.

First come the fence of an ask, and priorities as they are compared below it: both are walks over
the queues, written from the rules: up from the ask to the fence, and up from a victim to the first
queue that has the ask below it, too. Then come, in words, the reasons that keep an ask off a node.

Source: docs/semantics/yunikorn.md §3 to §7, §10, §11.1 and §15; yunikorn-core be3bb487
scheduler/objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from planner.laws import Register
from planner.laws import yunikorn as laws
from planner.plan import Verdict
from planner.quantity import plural
from planner.quota.yunikorn.cluster import Asking, NodeRoom, is_usable
from planner.quota.yunikorn.limits import ACCEPTED
from planner.quota.yunikorn.queue import Queue, under
from planner.quota.yunikorn.resource import (
    Amount,
    equal,
    fits_in,
    fits_loose,
    fits_raw,
    ge_all,
    ge_known,
    plus,
    share_type,
)
from planner.state.yunikorn_release import V1_9
from planner.verifier.wording import judge, judge_order, say_count, say_some
from planner.verifier.yunikorn.case import (
    LAST_TIER,
    Victim,
    YuniKornCase,
    rules_fault,
    say_amount,
    say_amounts,
    say_queue,
)


def find_fence(case: YuniKornCase) -> tuple[Queue, str]:
    """Return the first queue on the ask's way up that stops preemption, and why it does.

    It is a queue with the policy ``fence``, or one that cannot take the ask within its effective
    maximum (up to 1.8 one that holds just its own), also the ask's own, or the root.
    """
    asking = case.asking
    for queue in reversed(asking.leaf.lineage[1:]):
        if queue.properties.preemption_fence:
            return queue, "its preemption.policy is fence"
        if case.cluster.release < V1_9:
            if queue.max is not None and equal(queue.max, queue.allocated):
                return queue, "it holds just its maximum"
            continue
        wanted = plus(queue.allocated, asking.ask.resource)
        # A queue too full for the ask is a fence, too. The design does not say so, the core does:
        # at the ask's own leaf it leaves no candidates at all (docs/semantics/yunikorn.md §4).
        if queue.effective_max and not ge_known(queue.effective_max, wanted):
            return queue, "it cannot take the ask within its maximum"
    return asking.leaf.lineage[0], "it is the root"


def common_queue(asking: Asking, queue: Queue) -> Queue:
    """Return the lowest queue that has both the ask and another queue at or below it."""
    return next(step for step in reversed(queue.lineage) if step in asking.leaf.lineage)


def adjusted_priority(asking: Asking, queue: Queue, priority: int) -> int:
    """Return the priority of an allocation on the scale of the ask's own.

    It may be a victim if this is at most the ask's priority. Offsets of the queues from its own
    up to, but without, the first queue in common with the ask are added. A priority fence on that
    way gives all allocations below it its own offset in place of their priorities; of several
    fences each must be passed, so the highest counts.
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
    # The ask as seen at the common queue: its offset counts, though victims below do not add it
    # (§13.6).
    mine = asking.ask.priority
    for step in reversed(asking.leaf.lineage[len(top.lineage) - 1 :]):
        offset = step.properties.priority_offset
        mine = offset if step.properties.priority_fence else mine + offset
    return asking.ask.priority + (max(fences) if fences else priority + offsets) - mine


def room_faults(case: YuniKornCase, room: NodeRoom) -> Iterator[str]:
    """Yield the reasons why the ask cannot have a node once the victims are gone."""
    ask, lacks = case.asking.ask, case.cluster.lacks(room.node_id, case.asking.ask)
    yield from _unusable(case, room)
    # If the node has room, the core takes victims from any node: guaranteed is short (§10).
    must_be_there = case.required_node or bool(lacks) or not fits_in(room.available, ask.resource)
    after = room.available
    for victim in case.victims:
        if is_on(victim, room):
            after = plus(after, victim.resource)
        elif must_be_there:
            place = victim.allocation.node_id or "no node"
            yield f"{victim.key} is on {place}, not on {room.node_id}, where the ask is to go"
    # With a required node the core compares every type of either, and negative amounts as such.
    types = {*ask.resource, *after} if case.required_node else ask.resource.keys()
    for t in sorted(types):
        wanted, left = ask.resource.get(t, 0), after.get(t, 0)
        if wanted > (left if case.required_node else max(0, left)):
            yield (
                f"node {room.node_id} would have {say_amount(t, left)} for the ask's "
                f"{say_amount(t, wanted)}"
            )
    gone = [victim.key for victim in case.victims if is_on(victim, room)]
    for lack in lacks:
        if (short := lack.left(gone)) > 0:
            yield f"node {room.node_id} would still lack {short} {lack.what} for the ask's pod"


def placement_faults(case: YuniKornCase) -> Iterator[str]:
    """Yield the reasons why the ask cannot be allocated without preemption."""
    ask = case.asking.ask
    if _takes_place(case):  # neither maxima nor limits are looked at
        return
    yield from _passed_over(case)
    for queue in reversed(case.asking.leaf.lineage):
        for t, most in sorted((queue.max or {}).items()):
            # Headroom counts what is being preempted as used, unlike guaranteed (§3).
            left = max(0, most - queue.allocated.get(t, 0))
            if ask.resource.get(t, 0) > left:
                yield (
                    f"{say_queue(queue)} has {say_amount(t, left)} left of its maximum, "
                    f"the ask is {say_amount(t, ask.resource[t])}"
                )
        # Headroom is never below 0, but usage is counted with the ask's 0 of a type, too (§3).
        for t in sorted(t for t, amount in ask.resource.items() if not amount):
            limits, used = queue.max or {}, queue.allocated.get(t, 0)
            most = limits.get(t, used if queue.parent else 0)
            if used > most:
                yield (
                    f"{say_queue(queue)} has {say_amount(t, used)}, its maximum is "
                    f"{say_amount(t, most)}, and the ask has 0 of it"
                )
    if not any(_takes_now(case, room) for room in case.cluster.nodes):
        yield f"no node has room for {say_amounts(ask.resource)}"


def is_on(victim: Victim, room: NodeRoom) -> bool:
    """Say whether a victim is on a node."""
    return victim.allocation.node_id == room.node_id


def _takes_now(case: YuniKornCase, room: NodeRoom) -> bool:
    ask = case.asking.ask
    if ask.required_node:
        usable = room.node_id == ask.required_node
    else:
        usable = room.node.schedulable and not room.reserved_for_others(ask.allocation_key)
    shim = case.cluster
    refused = shim.closes(room.node_id, ask) or bool(shim.lacks(room.node_id, ask))
    return usable and not refused and fits_in(room.available, ask.resource)


def _unusable(case: YuniKornCase, room: NodeRoom) -> Iterator[str]:
    """Yield the reasons why a node may not be chosen at all."""
    ask = case.asking.ask
    if case.cluster.closes(room.node_id, ask):
        yield f"the predicates of the ask refuse node {room.node_id}"
    elif case.required_node:
        if room.node_id != ask.required_node:
            yield f"the ask requires node {ask.required_node}, not {room.node_id}"
    elif not is_usable(case.cluster, room, ask):
        if not room.node.schedulable:
            yield f"node {room.node_id} is not schedulable"
        elif not fits_in(room.node.capacity, ask.resource):
            yield f"node {room.node_id} is too small for the ask: {say_amounts(room.node.capacity)}"
        else:
            yield f"node {room.node_id} is reserved for others"


CHECKS: Final[Register[Callable[[YuniKornCase], Verdict]]] = Register()
"""The check of every law, by the law's id."""

NOTHING_EVICTED: Final = "does not apply: nothing is evicted"


@CHECKS.of(laws.YK_LAST_TIER)
def spares_last_tier(case: YuniKornCase) -> Verdict:
    """YK-01: no victim opted out, nor is an originator where these are counted, unless unavoidably.

    That no legal set spares all that opted out is a claim of its own in the certificate. That none
    spares originators as well is the plan's level ``last_resort``: its value is the number of both,
    and its bound is positive. A plan that claims no proof needs neither; the core only orders by
    the tier. Source: docs/semantics/yunikorn.md §13.1 and §15.
    """
    plan, last = case.plan, [victim for victim in case.victims if victim.last_tier]
    if not last:
        return judge(laws.YK_LAST_TIER, (), "no victim opted out or is an originator")
    tiers = {True: "opted out", False: "is an originator"}
    named = say_some([f"{victim.key} {tiers[victim.allocation.opted_out]}" for victim in last])
    # The core prefers others, but takes opted-out victims at last: no law binds it (§13.1).
    if plan is None or plan.algorithm == "yunikorn":
        return judge(laws.YK_LAST_TIER, (), f"does not apply: the core only orders by it; {named}")
    findings, proved = [], plan.claim == "optimal"
    levels = plan.certificate.levels if plan.certificate else ()
    level = next((level for level in levels if level.term == LAST_TIER), None)
    resort = plan.certificate.last_resort if plan.certificate else None
    opted_out = any(victim.allocation.opted_out for victim in last)
    if opted_out and proved and resort is None:
        findings.append(f"{named}: nothing says that no legal set spares who opted out")
    if level and (level.value != len(last) or (proved and not level.bound)):
        known = f"{level.value} of them claimed, no fewer than {level.bound} proved necessary"
        findings.append(f"{named}: {known}")
    if level is None and not opted_out:
        detail = f"originators count where last_resort does, not under {plan.objective}; {named}"
    elif resort is not None if opted_out else level and level.bound:
        detail = f"proved unavoidable: {named}"
    else:
        detail = f"not proved unavoidable in time: {named}"
    return judge(laws.YK_LAST_TIER, findings, detail)


@CHECKS.of(laws.YK_LEAVES_GUARANTEED)
def leaves_guaranteed(case: YuniKornCase) -> Verdict:
    """YK-02: no queue with a victim is left below its guaranteed, unless it has no less than now.

    For every queue with victims at or below it and every type of its guaranteed: not (after <
    guaranteed and after < used), with after = used − victims (+ ask on the ask's path).
    Source: docs/semantics/yunikorn.md §13.2 and §15.
    """
    findings = []
    for queue in case.touched:
        used = case.used(queue)
        after = case.changed(queue, used)
        for t, guaranteed in sorted((queue.guaranteed or {}).items()):
            left = after.get(t, 0)
            # A queue below its guaranteed may stay so: only what this plan takes is its fault.
            if left < guaranteed and left < used.get(t, 0):
                findings.append(
                    f"{say_queue(queue)} would be left with {say_amount(t, left)}, its "
                    f"guaranteed is {say_amount(t, guaranteed)}"
                )
    guarded = sum(queue.guaranteed is not None for queue in case.touched)
    have = "has a guaranteed, and keeps" if guarded == 1 else "have a guaranteed, and keep"
    holds = f"{guarded} of {plural(len(case.touched), 'queue')} touched {have} it"
    return judge(laws.YK_LEAVES_GUARANTEED, findings, holds)


@CHECKS.of(laws.YK_OTHER_QUEUE)
def other_queue(case: YuniKornCase) -> Verdict:
    """YK-03: no victim is in the queue of the ask.

    Source: docs/semantics/yunikorn.md §4 and §13.3.
    """
    leaf = case.asking.leaf
    # The core leaves out the whole queue, and with it the application of the ask (§13.3).
    own = [victim.key for victim in case.victims if victim.queue is leaf]
    findings = [f"{say_some(own)} is in {say_queue(leaf)}, as the ask itself"] if own else []
    return judge(laws.YK_OTHER_QUEUE, findings, f"no victim is in {say_queue(leaf)}")


@CHECKS.of(laws.YK_WITHIN_GUARANTEED)
def within_guaranteed(case: YuniKornCase) -> Verdict:
    """YK-04: the ask fits into what is left of the guaranteed of its queue.

    Either it fits now, in every type; or with the ask counted and the victims gone no type of it
    has less than nothing left. Up to 1.7 the latter is asked of all types that are guaranteed, and
    in any case. Source: docs/semantics/yunikorn.md §6, §15 and §16.
    """
    if case.nothing_evicted:
        return judge(laws.YK_WITHIN_GUARANTEED, (), NOTHING_EVICTED)
    ask, state = case.asking.ask.resource, case.snapshot
    now, left = _left_to_ask(case)
    if now is None:
        return judge(laws.YK_WITHIN_GUARANTEED, [left], "")
    # Types outside the guaranteed are free: what is missing there is not compared (§6).
    if fits_raw(now, ask) and not case.older:
        return judge(laws.YK_WITHIN_GUARANTEED, (), f"{left}, the ask is {say_amounts(ask)}")
    # Victims help where the leaf has no guaranteed of its own and an ancestor's is used up.
    state.add(case.asking.leaf, ask)
    for victim in case.victims:
        state.remove(victim.queue, victim.resource)
    then = state.remaining() or {}
    changed = f"{say_amounts(then, ask)} with the ask counted and the victims gone"
    is_within = ge_all(then, {}) if case.older else under(then, ask)
    findings = [] if is_within else [f"{left}, {changed}"]
    return judge(laws.YK_WITHIN_GUARANTEED, findings, f"{left}, {changed}")


def _left_to_ask(case: YuniKornCase) -> tuple[Amount, str]:
    """Return what is left of the guaranteed of the ask's queue, and the same in words."""
    queue, now = say_queue(case.asking.leaf), case.snapshot.remaining()
    if now is None:
        return None, f"no guaranteed is set for {queue} or any queue above it"
    left = say_amounts(now, case.asking.ask.resource)
    return now, f"{queue} has {left} left of its guaranteed"


@CHECKS.of(laws.YK_UNDER_GUARANTEED)
def under_guaranteed(case: YuniKornCase) -> Verdict:
    """YK-12: the queue of the ask has something left of its guaranteed before any removal.

    It is enough that something is left of one type of the ask. Source: design document, law 4.
    """
    if case.nothing_evicted:
        return judge(laws.YK_UNDER_GUARANTEED, (), NOTHING_EVICTED)
    now, left = _left_to_ask(case)
    asked = [t for t, amount in case.asking.ask.resource.items() if amount > 0]
    some = now is not None and any(now.get(t, 0) > 0 for t in asked)
    return judge(laws.YK_UNDER_GUARANTEED, [] if some else [left], left)


@CHECKS.of(laws.YK_OVER_GUARANTEED)
def over_guaranteed(case: YuniKornCase) -> Verdict:
    """YK-05: there is an order in which each queue is over its guaranteed at its victim's turn.

    It then has no guaranteed on its path, or less than nothing left of it in some type of the
    ask; up to 1.7 less than nothing in some type, and something in none. The order is constructed
    and then replayed, see ``removal``. Source: docs/semantics/yunikorn.md §5 and §15.
    """
    return judge_order(laws.YK_OVER_GUARANTEED, case.removal.obstacle, case.removal.order)


@CHECKS.of(laws.YK_PRIORITY)
def priority(case: YuniKornCase) -> Verdict:
    """YK-06: no victim has a higher priority than the ask, with offsets and fences counted.

    Plain priorities where the ask requires a node. Victims outside the fence or of the ask's
    own queue have no priority to compare: YK-07 and YK-03 judge them.
    Source: docs/semantics/yunikorn.md §4 and §11.1.
    """
    mine, findings = case.asking.ask.priority, []
    fencing, _ = find_fence(case)
    for victim in case.victims:
        its = victim.allocation.priority
        if case.required_node:
            if its > mine:
                findings.append(f"{victim.key} has priority {its}, the ask has {mine}")
            continue
        if victim.queue is case.asking.leaf or fencing not in victim.queue.lineage:
            continue
        worth = adjusted_priority(case.asking, victim.queue, its)
        if worth > mine:
            counted = "" if its == worth else f", with the queues' offsets {worth}"
            common = common_queue(case.asking, victim.queue)
            below = victim.queue.lineage[len(common.lineage) :]
            said = f"has priority {its}{counted}"
            if any(step.properties.priority_fence for step in below):
                said = f"is behind a priority fence that counts as {worth}"
            findings.append(f"{victim.key} {said}, the ask has {mine}")
    return judge(laws.YK_PRIORITY, findings, f"{say_count(len(case.victims))}, the ask has {mine}")


@CHECKS.of(laws.YK_FENCE)
def fence(case: YuniKornCase) -> Verdict:
    """YK-07: victims are inside the fence of the ask, in leaves, and not in a disabled queue.

    Source: docs/semantics/yunikorn.md §4.
    """
    (fencing, why), findings = find_fence(case), []
    for victim in case.victims:
        where = f"{victim.key} is in {say_queue(victim.queue)}"
        if fencing not in victim.queue.lineage:
            outside = f"outside {say_queue(fencing)}, which fences the ask: {why}"
            findings.append(f"{where}, {outside}")
        if victim.queue.properties.disabled:
            findings.append(f"{where}, whose preemption.policy is disabled")
        if not victim.queue.is_leaf:  # as where queues.yaml was divided after the dump
            findings.append(f"{where}, which is a parent: the core takes victims from leaves")
    return judge(laws.YK_FENCE, findings, f"the fence is {say_queue(fencing)}: {why}")


@CHECKS.of(laws.YK_FITS_NODE)
def fits_node(case: YuniKornCase) -> Verdict:
    """YK-08: the ask fits on one usable node, next to what stays there.

    Victims are on that node, unless it has room without any. An ask with a required node fits
    only there. A plan that evicts nothing needs room in the queues and on a node as it is. Where
    Kubernetes' pods and nodes are known, the ask's pod has to fit there as well.
    Source: docs/semantics/yunikorn.md §3, §7, §10, §11.1 and §15;
    docs/semantics/yunikorn-features.md §22.
    """
    if case.nothing_evicted:
        return judge(laws.YK_FITS_NODE, list(placement_faults(case)), "it fits as it is")
    findings = list(case.faults.get(laws.YK_FITS_NODE.name, ()))
    if case.node is None:
        findings = findings or ["the plan names no node"]
        return judge(laws.YK_FITS_NODE, findings, "")
    findings += room_faults(case, case.node)
    return judge(laws.YK_FITS_NODE, findings, f"node {case.node.node_id} holds the ask")


@CHECKS.of(laws.YK_WITHIN_LIMITS)
def within_limits(case: YuniKornCase) -> Verdict:
    """YK-09: the ask's queue and all above it stay within their maximum.

    For every type of the ask: allocated − victims + ask <= maximum. A type without a
    maximum is unlimited, but 0 at the root, where no node has it. With a required node the
    root is as other queues, and a type that the ask has 0 of is passed over: the core compares
    such an ask with its headroom. Source: docs/semantics/yunikorn.md §11.1 and §15.
    """
    if case.nothing_evicted:
        return judge(laws.YK_WITHIN_LIMITS, (), f"{NOTHING_EVICTED}, see {laws.YK_FITS_NODE.id}")
    findings = []
    for queue in reversed(case.asking.leaf.lineage):
        after, most = case.changed(queue, queue.allocated), queue.max or {}
        for t in sorted(case.asking.ask.resource):
            limited = t in most or (queue.parent is None and not case.required_node)
            if case.required_node and case.asking.ask.resource[t] == 0:
                continue
            if limited and after.get(t, 0) > most.get(t, 0):
                findings.append(
                    f"{say_queue(queue)} would have {say_amount(t, after[t])}, its maximum is "
                    f"{say_amount(t, most.get(t, 0))}"
                )
    within = f"{say_queue(case.asking.leaf)} and all above it stay within their maximum"
    return judge(laws.YK_WITHIN_LIMITS, findings, within)


@CHECKS.of(laws.YK_PREEMPTABLE)
def preemptable(case: YuniKornCase) -> Verdict:
    """YK-10: every victim is known, shares a type with the ask, and is free to go.

    A victim requires no node, is not released and not being preempted already. There is at least
    one, unless the ask fits as it is. Source: docs/semantics/yunikorn.md §4 and §11.1.
    """
    if case.nothing_evicted:
        return judge(laws.YK_PREEMPTABLE, (), NOTHING_EVICTED)
    findings = list(case.faults.get(laws.YK_PREEMPTABLE.name, ()))
    for victim in case.victims:
        if not share_type(case.asking.ask.resource, victim.resource):
            findings.append(f"{victim.key} holds no type of the ask")
        findings += _bound(victim, released=case.required_node and case.older)
    # The core itself may succeed with nobody preempted (§10); a plan that does so helps nobody.
    if not case.victims and not findings:
        findings.append("the plan names a node, but no victims")
    return judge(laws.YK_PREEMPTABLE, findings, say_count(len(case.victims)))


def _bound(victim: Victim, *, released: bool = False) -> Iterator[str]:
    """Yield what keeps a victim where it is, or has taken it away already; ``released`` may go."""
    held = victim.allocation
    if held.required_node:
        yield f"{victim.key} requires node {held.required_node}"
    if held.x.released and not released:
        yield f"{victim.key} is released already"
    if held.preempted:
        yield f"{victim.key} is being preempted already"


@CHECKS.of(laws.YK_MAY_PREEMPT)
def may_preempt(case: YuniKornCase) -> Verdict:
    """YK-11: partition and ask permit preemption, and these are the rules for this ask.

    For an ask with a required node only an earlier attempt forbids preemption. The core passes over
    none of them by the limits of users, running applications or gangs, or in a parent. Delays and
    back-off postpone, they do not forbid. Source: docs/semantics/yunikorn.md §3 and §11.1.
    """
    ask = case.asking.ask
    fault = rules_fault(case.asking, case.rules)
    if fault or case.nothing_evicted:
        return judge(laws.YK_MAY_PREEMPT, [fault] if fault else [], NOTHING_EVICTED)
    findings = [*_passed_over(case)]
    # An ask with a required node preempts whatever partition or own flag say (§11.1).
    if not case.required_node:
        partition = case.cluster.partition
        if not partition.preemption.enabled:
            findings.append(f"preemption is not enabled in partition {partition.name}")
        if not ask.x.allow_preempt_other:
            findings.append(f"{ask.allocation_key} may not preempt others")
    if ask.triggered_preemption:
        findings.append(f"{ask.allocation_key} has triggered preemption before")
    return judge(laws.YK_MAY_PREEMPT, findings, f"{ask.allocation_key} may preempt")


@CHECKS.of(laws.YK_WITHIN_MAX)
def within_max(case: YuniKornCase) -> Verdict:
    """YK-13: the queue is within its maximum once the victims are gone.

    What is being preempted already does not count. Source: docs/semantics/yunikorn.md §11.2.
    """
    queue = case.asking.leaf
    after = case.changed(queue, case.used(queue))
    findings = [
        f"{say_queue(queue)} would still use {say_amount(t, after[t])}, its maximum is "
        f"{say_amount(t, most)}"
        for t, most in sorted((queue.max or {}).items())
        if after.get(t, 0) > most
    ]
    return judge(laws.YK_WITHIN_MAX, findings, f"{say_queue(queue)} is within its maximum")


@CHECKS.of(laws.YK_SEARCHED)
def searched(case: YuniKornCase) -> Verdict:
    """YK-14: every victim is known, in a leaf that the core searches, and free to go.

    It holds a type of the share of its leaf; it requires no node, is not released and not being
    preempted already. Source: docs/semantics/yunikorn.md §11.2.
    """
    findings, shares = list(case.faults.get(laws.YK_PREEMPTABLE.name, ())), case.asking.shares or {}
    for victim in case.victims:
        share = shares.get(victim.queue.path)
        if share is None:
            findings.append(f"{victim.key} is in {say_queue(victim.queue)}, which has no share")
        elif not share_type(share, victim.resource):
            findings.append(f"{victim.key} holds nothing of the share, {say_amounts(share)}")
        findings += _bound(victim)
    return judge(laws.YK_SEARCHED, findings, say_count(len(case.victims)))


def _takes_place(case: YuniKornCase) -> bool:
    """Say whether the ask takes the place of a placeholder of its group, there or elsewhere.

    It is at least as large in every type, and neither going nor gone; a node of such a one takes
    the ask's pod, room aside, or another node has room for it.
    Source: docs/semantics/yunikorn-features.md §20.
    """
    ask, shim = case.asking.ask, case.cluster
    if ask.placeholder or not ask.task_group_name or not case.asking.leaf.is_leaf:
        return False
    nodes = {
        one.node_id
        for one in case.asking.application.allocations
        if one.placeholder and one.task_group_name == ask.task_group_name
        if not (one.x.released or one.preempted) and ge_all(one.resource, ask.resource)
    }
    for room in shim.nodes if nodes else ():
        lacks, closed = shim.lacks(room.node_id, ask), shim.closes(room.node_id, ask)
        if room.node_id in nodes and not closed and all(one.is_room for one in lacks):
            return True
        free = room.node.schedulable and not room.node.reservations
        if free and not (closed or lacks) and fits_in(room.available, ask.resource):
            return True
    return False


def _passed_over(case: YuniKornCase) -> Iterator[str]:
    """Yield why the core never looks for a place for the ask, as what is counted stands.

    Source: docs/semantics/yunikorn-features.md §18 to §20 and §24.
    """
    ask, application, limits = case.asking.ask, case.asking.application, case.cluster.limits
    if not case.asking.leaf.is_leaf:
        yield f"{say_queue(case.asking.leaf)} is a parent, and asks are looked at in leaves only"
    if application.application_state == ACCEPTED:
        full = limits.full_queue(application) or limits.full_row(application)
        if full:
            yield f"{application.application_id} may not start: {full} has as many as may run"
    room = case.cluster.node(ask.required_node)
    if room is None or not room.reserved_for(ask.allocation_key):
        group = None if ask.placeholder else ask.task_group_name
        left = [one.waiting for one in application.task_groups if one.task_group_name == group]
        if group and max(left, default=0) > 0:
            yield f"{ask.allocation_key} waits for a placeholder of its group {group}"
    may_have = limits.headroom(application)
    if not fits_loose(may_have, ask.resource):
        yield f"its user and group may have {say_amounts(may_have or {})} more"
