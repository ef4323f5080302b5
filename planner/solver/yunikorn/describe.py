"""Victim sets as plans: the records that are printed and verified, and short answers in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from planner.models.yunikorn.formulation import build_classes
from planner.models.yunikorn.laws import lacking
from planner.plan import Conclusion
from planner.plan.yunikorn import (
    NodeRoom,
    QueueUse,
    ResourceAmount,
    RuleSet,
    YuniKornPlan,
    YuniKornVictim,
)
from planner.problem.array import BoolArray
from planner.problem.yunikorn import YuniKornProblem
from planner.quantity import plural
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import Resource, fits_in, minus, minus_known, plus
from planner.state.clock import from_nanoseconds
from planner.state.yunikorn import format_yunikorn_quantity

if TYPE_CHECKING:
    from planner.solver.yunikorn.planning import YuniKornPlanning


def plan_of(
    planning: YuniKornPlanning,
    found: Conclusion[YuniKornPlan],
    victims: Sequence[int] = (),
    node: str | None = None,
) -> YuniKornPlan:
    """Return a plan of an ask; victims are positions in the problem's allocations."""
    ask = planning.case.asking.ask
    described = tuple(_victim(planning, position) for position in victims)
    touches = node is not None or planning.case.asking.shares is not None
    return YuniKornPlan(
        rules=planning.rules,
        algorithm="yunikorn" if found.own else "optimum",
        status=found.status,
        explanation=found.explanation,
        objective=found.objective,
        partition=planning.case.cluster.partition.name,
        preemptor=ask.allocation_key,
        pod=ask.pod,
        application=planning.case.asking.application.application_id,
        queue=planning.case.asking.leaf.path,
        priority=ask.priority,
        now=from_nanoseconds(planning.case.cluster.now),
        node=node,
        room=_room(planning, node, victims),
        victims=described,
        last_tier=any(victim.originator or victim.opted_out for victim in described),
        queues=_queues(planning, victims) if touches else (),
        terms=dict(found.terms),
        certificate=found.certificate,
        greedy=found.greedy,
        notes=planning.notes,
    )


def fields_of(planning: YuniKornPlanning, position: int) -> dict[str, Any]:
    """Return the fields that answers have of every allocation, by their names."""
    problem, allocation = planning.problem, planning.problem.allocations[position]
    return {
        "allocation": allocation.allocation_key,
        "pod": allocation.pod,
        "application": problem.applications[position],
        "queue": problem.queues[int(problem.queue[position])].path,
        "node": allocation.node_id,
        "priority": allocation.priority,
        "adjusted_priority": planning.adjusted[position],
        "originator": allocation.originator,
        "opted_out": allocation.opted_out,
        "usage": tuple(
            ResourceAmount(resource=t, units=units, quantity=format_yunikorn_quantity(units, t))
            for t, units in sorted(allocation.resource.items())
        ),
    }


def _victim(planning: YuniKornPlanning, position: int) -> YuniKornVictim:
    table = planning.table
    return YuniKornVictim(
        **fields_of(planning, position),
        position=planning.place.get(position, len(planning.place) + 1),
        age_s=table.disruptions[position].running_s,
        costs=table.costs_of(position),
    )


def _room(
    planning: YuniKornPlanning, node: str | None, victims: Sequence[int]
) -> tuple[NodeRoom, ...]:
    room = None if node is None else planning.case.cluster.node(node)
    if room is None:
        return ()
    after, ask = dict(room.available), planning.case.asking.ask
    # Where the core is short itself, what pods request is short for the same reason mostly.
    is_short = not fits_in(room.available, ask.resource)
    lacks = {
        one.what: one.missing
        for one in planning.case.cluster.lacks(room.node_id, ask)
        if not (is_short and one.is_room)
    }
    for position in victims:
        allocation = planning.problem.allocations[position]
        if allocation.node_id == node and not allocation.x.not_on_node:
            after = plus(after, planning.case.cluster.given_back(allocation, ask))
    return tuple(
        NodeRoom(resource=t, asked=asked, available=room.available.get(t, 0), after=after.get(t, 0))
        for t, asked in (*sorted(ask.resource.items()), *sorted(lacks.items()))
    )


def _queues(planning: YuniKornPlanning, victims: Sequence[int]) -> tuple[QueueUse, ...]:
    """Return the queues of the ask and the victims, and all above them, from the root down."""
    problem, asking = planning.problem, planning.case.asking
    touched = {queue.path: queue for queue in asking.leaf.lineage}
    left: dict[str, Resource] = {}  # taken off one by one: sums of the core saturate
    for position in victims:
        held = problem.allocations[position].resource
        leaf = planning.case.cluster.tree.by_path[problem.queues[int(problem.queue[position])].path]
        for queue in leaf.lineage:
            touched[queue.path] = queue
            left[queue.path] = minus(left.get(queue.path, _used(queue)), held)
    rows = []
    # By the parts of the path: as plain text `root.a-b` would come before `root.a.b`.
    for path, queue in sorted(touched.items(), key=lambda item: item[0].split(".")):
        before = _used(queue)
        after = left.get(path, before)
        if queue in asking.leaf.lineage:
            after = plus(after, asking.ask.resource)
        types = sorted({*asking.ask.resource, *(queue.guaranteed or ())})
        rows += [
            QueueUse(
                queue=queue.path,
                resource=t,
                guaranteed=(queue.guaranteed or {}).get(t),
                max=(queue.max or {}).get(t),
                before=before.get(t, 0),
                after=after.get(t, 0),
            )
            for t in types
        ]
    return tuple(rows)


def _used(queue: Queue) -> Resource:
    return minus_known(queue.allocated, queue.preempting) or {}


def explain_infeasible(problem: YuniKornProblem, eligible: BoolArray, rules: RuleSet) -> str:
    """Say what is missing even with all candidates gone, or that the laws protect too many."""
    count = int(eligible.sum())
    if problem.excess is not None:
        return _explain_excess(problem, problem.holding[eligible].sum(axis=0).tolist(), count)
    if not problem.usable.any():
        return "no node may host it: too small, not schedulable, reserved, or closed by predicates"
    if count == 0:
        return "no allocation may be preempted for it: see `planner laws`, YK-03 to YK-07 and YK-10"
    lacks = lacking(problem, build_classes(problem, eligible, []), rules)
    node = min(lacks, key=lambda one: len(lacks[one]))
    if not lacks[node]:
        none = "the only candidate is not" if count == 1 else f"no set of the {count} candidates is"
        return (
            f"{none} legal: what would be needed leaves a queue "
            "below its guaranteed, or is in a queue that is no longer over it"
        )
    if count == 1:
        return (
            "1 candidate is not enough on any node; "
            f"for {problem.nodes[node]} it holds too little: {', '.join(lacks[node])}"
        )
    nearest = f"for {problem.nodes[node]} they hold too little: {', '.join(lacks[node])}"
    return f"{count} candidates are not enough on any node; {nearest}"


def _explain_excess(problem: YuniKornProblem, held: Sequence[int], count: int) -> str:
    """Say what keeps a queue above its maximum; ``held`` is what its candidates hold: (T,)."""
    path = problem.queues[problem.own_queue].path
    if not count:
        return f"no allocation of {path} may be preempted: see `planner laws`, YK-14"
    short = [
        f"{format_yunikorn_quantity(amount, t)} {t} above its max, of which they hold "
        f"{format_yunikorn_quantity(held[problem.types.index(t)], t)}"
        for t, amount in (problem.excess or {}).items()
        if held[problem.types.index(t)] < amount
    ]
    if short:
        return f"{plural(count, 'candidate')} cannot bring {path} to its max: {', '.join(short)}"
    some = plural(count, "candidate")
    return f"no set of {some} brings {path} to its max and leaves every queue its guaranteed"
