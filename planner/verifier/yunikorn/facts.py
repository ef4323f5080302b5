"""What a YuniKorn plan claims of itself and of the state: values, bounds, order, facts.

The laws say that a plan is legal; these checks say that what it says is true. Everything is
recomputed from the state and the victims.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Final

from planner.laws import Law
from planner.plan import Verdict
from planner.plan.yunikorn import YuniKornPlan, YuniKornVictim
from planner.quantity import plural
from planner.quota.yunikorn.resource import plus
from planner.state.clock import SECOND, from_nanoseconds
from planner.state.yunikorn import Allocation, Claim, parse_yunikorn_quantity
from planner.verifier.kueue.certificate import REPLAYED, check_levels, check_status, judge_replay
from planner.verifier.wording import compare, judge, once_each
from planner.verifier.yunikorn.case import Victim, YuniKornCase
from planner.verifier.yunikorn.laws import adjusted_priority, is_on

FACTS: Final = Law(
    "CT-05",
    "check_yunikorn_facts",
    "what the plan says of preemptor and victims is what the state says",
    "Queues, applications, nodes, priorities, flags, usage and ages, the room on the node, and "
    "what the queues use.",
    "docs/semantics/yunikorn.md §2, §4, §7 and §14",
)

CLOCK_TOLERANCE: Final = timedelta(milliseconds=1)
"""A plan's clock is coarser than the core's nanoseconds."""


def check_yunikorn_certificate(
    case: YuniKornCase,
    plan: YuniKornPlan,
    terms: Mapping[str, int],
    levels: Sequence[str] | None = None,
) -> tuple[Verdict, ...]:
    """Check all claims of a plan with a certificate.

    ``terms`` are all terms, recomputed from the plan's victims; ``levels`` are those of the plan's
    objective, in order, and not compared when absent.
    """
    verdicts = [check_levels(plan, terms, levels), check_status(plan)]
    verdicts.append(check_yunikorn_facts(case, plan))
    if plan.certificate is not None:
        # CT-04: with a required node, or for a lowered quota, any order is legal.
        reason = "the ask requires a node" if case.required_node else "a quota was lowered"
        holds = f"any order will do: {reason}" if case.in_any_order else REPLAYED
        order = plan.certificate.removal_order
        verdicts.append(judge_replay(case.victims, order, case.obstacle, holds))
    return tuple(verdicts)


def check_yunikorn_facts(case: YuniKornCase, plan: YuniKornPlan) -> Verdict:
    """CT-05: what the plan says of ask, victims, node and queues is what the state says."""
    findings = [
        *_ask_faults(case, plan),
        *_room_faults(case, plan),
        *_queue_faults(case, plan),
        *_order_faults(case, plan),
    ]
    victims = {victim.key: victim for victim in case.victims}
    for i, claim in enumerate(plan.victims):
        victim = victims.get(claim.allocation)
        if victim is None:
            findings.append(f"nothing is known of {claim.allocation}")
            continue
        findings += _victim_faults(case, claim, victim)
        stated = [amount.resource for amount in claim.usage]
        held = [t for t, units in victim.resource.items() if units]
        findings += once_each(f"victims[{i}].usage of {claim.allocation}", stated, held)
    return judge(
        FACTS, findings, f"{plan.preemptor} and {plural(len(plan.victims), 'victim')} compared"
    )


def _ask_faults(case: YuniKornCase, plan: YuniKornPlan) -> Iterator[str]:
    asking, key = case.asking, case.asking.ask.allocation_key
    clock = from_nanoseconds(case.cluster.now)
    if abs(plan.now - clock) > CLOCK_TOLERANCE:
        yield from compare("the clock", plan.now.isoformat(), clock.isoformat())
    yield from compare("partition", plan.partition, case.cluster.partition.name)
    yield from compare("preemptor", plan.preemptor, key)
    yield from _pod_faults(plan.pod, asking.ask)
    yield from compare(f"application of {key}", plan.application, asking.application.application_id)
    yield from compare(f"queue of {key}", plan.queue, asking.leaf.path)
    yield from compare(f"priority of {key}", plan.priority, asking.ask.priority)
    if asking.shares is not None:  # a queue that comes down to its maximum goes to no node
        yield from compare(f"node of {key}", plan.node, None)
    yield from compare("last_tier", plan.last_tier, any(one.last_tier for one in case.victims))


def _victim_faults(case: YuniKornCase, claim: YuniKornVictim, victim: Victim) -> Iterator[str]:
    held = victim.allocation
    # With a required node plain priorities are compared, without offsets (§11.1).
    plain = held.priority
    worth = plain if case.in_any_order else adjusted_priority(case.asking, victim.queue, plain)
    age_s = max(0, case.cluster.now - held.allocation_time) // SECOND
    for what, stated, recomputed in (
        ("application", claim.application, victim.application_id),
        ("queue", claim.queue, victim.queue.path),
        ("node", claim.node, held.node_id),
        ("priority", claim.priority, held.priority),
        ("adjusted_priority", claim.adjusted_priority, worth),
        ("originator", claim.originator, held.originator),
        ("opted_out", claim.opted_out, held.opted_out),
        ("age_s", claim.age_s, age_s),
    ):
        yield from compare(f"{what} of {victim.key}", stated, recomputed)
    yield from _pod_faults(claim.pod, held)
    # Compare amounts, and read back what is written as queues.yaml does.
    for amount in claim.usage:
        what = f"{amount.resource} of {victim.key}"
        yield from compare(f"usage of {what}", amount.units, held.resource.get(amount.resource, 0))
        # queues.yaml knows no negative quantities; an amount of a dump may be negative.
        sign = -1 if amount.quantity.startswith("-") else 1
        units = parse_yunikorn_quantity(amount.quantity.removeprefix("-"), amount.resource)
        if units is None or sign * units != amount.units:
            yield f"quantity of {what}: {amount.quantity} is not {amount.units}"


def _pod_faults(stated: str | None, claim: Claim) -> Sequence[str]:
    return [] if stated is None else compare(f"pod of {claim.allocation_key}", stated, claim.pod)


def _order_faults(case: YuniKornCase, plan: YuniKornPlan) -> Iterator[str]:
    """Say if positions contradict the core's order: opted out last, originators late, newest first.

    With a required node originators are last, and of each kind the lowest priorities first (§11.1);
    likewise for a lowered quota. Equal allocations have no order in the core.
    """

    def rank(held: Allocation) -> tuple[int, ...]:
        if case.in_any_order:
            last = 2 if held.originator else int(held.opted_out)
            return last, held.priority, -held.allocation_time
        return held.opted_out, held.originator, -held.allocation_time

    held = {victim.key: victim.allocation for victim in case.victims}
    known = (claim for claim in plan.victims if claim.allocation in held)
    for earlier, later in pairwise(sorted(known, key=lambda claim: claim.position)):
        keys = f"{earlier.allocation} and {later.allocation}"
        first, second = held[earlier.allocation], held[later.allocation]
        if earlier.position == later.position:
            yield f"{keys} have the same position {later.position}"
        elif rank(first) > rank(second):
            yield f"positions of {keys}: the core takes {later.allocation} first"


def _room_faults(case: YuniKornCase, plan: YuniKornPlan) -> Iterator[str]:
    """Compare the stated room: what the ask wants of the node, and what it has now and after."""
    node, ask = case.node, case.asking.ask
    if node is None:
        if plan.room:
            yield "there is no node whose room could be stated"
        return
    lacks = case.cluster.lacks(node.node_id, ask)
    wanted = {**ask.resource, **{one.what: one.missing for one in lacks}}
    after = node.available
    for victim in case.victims:
        if is_on(victim, node):
            after = plus(after, case.cluster.given_back(victim.allocation, ask))
    stated = [row.resource for row in plan.room]
    yield from once_each(f"the room on {node.node_id}", stated, ask.resource)
    for row in plan.room:
        t, what = row.resource, f"{row.resource} on {node.node_id}"
        yield from compare(f"asked {what}", row.asked, wanted.get(t, 0))
        yield from compare(f"available {what}", row.available, node.available.get(t, 0))
        yield from compare(f"room after {what}", row.after, after.get(t, 0))


def _queue_faults(case: YuniKornCase, plan: YuniKornPlan) -> Iterator[str]:
    """Compare limits and usage of queues, now and with the victims gone and the ask placed.

    Those of the ask and of victims are listed, with all above them, in what is asked or guaranteed.
    """
    leaves = [case.asking.leaf, *(victim.queue for victim in case.victims)]
    touched = {queue.path: queue for leaf in leaves for queue in leaf.lineage}
    held = [
        f"{t} of queue {path}"
        for path, queue in touched.items()
        for t in {*case.asking.ask.resource, *(queue.guaranteed or {})}
    ]
    told = [f"{row.resource} of queue {row.queue}" for row in plan.queues]
    yield from once_each("queues", told, sorted(held))
    for row in plan.queues:
        queue, t = case.cluster.tree.by_path.get(row.queue), row.resource
        if queue is None:
            yield f"nothing is known of queue {row.queue}"
            continue
        used = case.used(queue)
        what = f"{t} of queue {queue.path}"
        yield from compare(f"guaranteed {what}", row.guaranteed, (queue.guaranteed or {}).get(t))
        yield from compare(f"max {what}", row.max, (queue.max or {}).get(t))
        yield from compare(f"usage before of {what}", row.before, used.get(t, 0))
        after = case.changed(queue, used).get(t, 0)
        yield from compare(f"usage after of {what}", row.after, after)
