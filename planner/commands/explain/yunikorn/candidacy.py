"""Law by law in words: why the rules permit an allocation as a victim, or do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from planner.commands.explain.record import LawInWords
from planner.commands.explain.yunikorn.record import YuniKornStanding
from planner.laws import Register
from planner.laws import yunikorn as laws
from planner.laws.yunikorn import Spared
from planner.models.yunikorn.candidates import (
    Counting,
    counting_guarantees,
    exclusions,
    fence_root,
    missing_on,
    used,
)
from planner.models.yunikorn.laws import spared_by
from planner.plan.base import name_some
from planner.plan.yunikorn import ResourceAmount
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.resource import fits, share_type
from planner.solver.yunikorn.describe import explain_refusal
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.state.yunikorn import format_yunikorn_quantity


def amount(units: int, t: str) -> str:
    """Return an amount of a type as queues.yaml writes it, with the type."""
    return f"{format_yunikorn_quantity(units, t)} {t}"


def listed(texts: Iterable[str]) -> str:
    """Return some texts with commas, and how many there are more."""
    return name_some(list(texts), 4)


def guarantees(problem: YuniKornProblem, queue: int, *, exceeded: bool = False) -> str:
    """Say what a queue uses of what counts as its guaranteed: all, or only what is exceeded."""
    counting: Counting = counting_guarantees(problem)[queue]
    path = problem.queues[queue].path
    if counting is None:
        return f"nothing is guaranteed to queue {path} or to one above it"
    if not counting:
        return f"what is guaranteed to queue {path} is of no type that the ask wants"
    uses: dict[int, list[str]] = {}
    for each in counting:
        if each.left < 0 or not exceeded:
            name = problem.types[each.type]
            now = used(problem.queues[each.queue], name)
            of = amount(each.left + now, name)
            uses.setdefault(each.queue, []).append(f"{format_yunikorn_quantity(now, name)} of {of}")
    return " and ".join(
        f"queue {problem.queues[holder].path} uses {listed(texts)} guaranteed"
        for holder, texts in uses.items()
    )


def fence(problem: YuniKornProblem) -> str:
    """Say where preemption stops on the ask's way up, and why."""
    facts = problem.queues[fence_root(problem)]
    if facts.parent == NOWHERE:
        return f"queue {facts.path}"
    if facts.preemption_fence:
        return f"queue {facts.path}, whose preemption.policy is fence"
    return f"queue {facts.path}, which cannot take the ask within its maximum"


def fault(planning: YuniKornPlanning, room: NodeRoom) -> str:
    """Say why a node that is not usable may not host the ask, whatever is preempted."""
    ask = planning.problem.ask
    if ask.required_node:
        return f"is not {ask.required_node}, the node that the ask requires"
    if not room.node.schedulable:
        return "is not schedulable"
    if not fits(room.node.capacity, ask.resource):
        return "is too small for the ask"
    if room.node_id in planning.cluster.x.veto_nodes:
        return "is refused by the shim"
    return "is reserved for others"


WORDS: Final[Register[Callable[[YuniKornPlanning, int], str]]] = Register()
"""What a law says of an allocation that it forbids, by the law's id."""


def standing(planning: YuniKornPlanning, position: int, *, spared: Spared) -> YuniKornStanding:
    """Say how the laws see an allocation.

    ``spared`` says whom YK-01 spares because some legal set does without them.
    """
    problem, subject = planning.problem, planning.subject
    allocation = problem.allocations[position]
    law = excluded_by(planning, position)
    if law is None and spared_by(problem, spared)[position]:
        why = "it is the originator of its application"
        if problem.opted_out[position]:
            why = "it has opted out of preemption"
        text = f"{why}: a last resort, and there are plans without any"
        law = LawInWords.of(laws.YK_LAST_TIER, text)
    order = node_order(planning, position)
    candidate = law is None
    return YuniKornStanding(
        allocation=allocation.allocation_key,
        pod=allocation.pod,
        application=problem.applications[position],
        queue=problem.queues[int(problem.queue[position])].path,
        node=allocation.node_id,
        priority=allocation.priority,
        adjusted_priority=subject.adjusted[position],
        originator=allocation.originator,
        opted_out=allocation.opted_out,
        candidate=candidate,
        law=law or permitted_by(planning, position),
        position=subject.place.get(position) if candidate else None,
        candidates=len(subject.place),
        node_position=order.index(position) + 1 if candidate else None,
        node_candidates=len(order),
        usage=tuple(
            ResourceAmount(resource=t, units=units, quantity=format_yunikorn_quantity(units, t))
            for t, units in sorted(allocation.resource.items())
        ),
    )


def excluded_by(planning: YuniKornPlanning, position: int) -> LawInWords | None:
    """Return the first law that excludes an allocation on its own, ``None`` for a candidate.

    YK-01 does not: it compares whole plans.
    """
    problem = planning.problem
    for law, forbids in exclusions(problem):
        if forbids(problem)[position]:
            text = WORDS[law.id](planning, position) if law.id in WORDS else law.title
            return LawInWords.of(law, text)
    text = _no_room(planning, position)
    return LawInWords.of(laws.YK_FITS_NODE, text) if text else None


def permitted_by(planning: YuniKornPlanning, position: int) -> LawInWords:
    """Return the law that made an allocation a candidate, with the numbers."""
    problem = planning.problem
    most = f"{_priority(planning, position)} is at most the ask's {problem.ask.priority}"
    if problem.ask.required_node:
        text = f"{most}, and it is on {problem.ask.required_node}, which the ask requires"
        return LawInWords.of(laws.YK_PRIORITY, text)
    over = guarantees(problem, int(problem.queue[position]), exceeded=True)
    return LawInWords.of(laws.YK_OVER_GUARANTEED, f"{over}; {most}")


def node_order(planning: YuniKornPlanning, position: int) -> Sequence[int]:
    """Return the candidates on the node of an allocation as the core looks at them there.

    Those of queues that are not over their guaranteed are left out: the core skips them. What is
    equal in creation time keeps the order of the state; in the core its order is not defined.

    Source: docs/semantics/yunikorn.md §7 and §11.1.
    """
    problem, node = planning.problem, planning.problem.allocations[position].node_id
    candidates = planning.eligible.nonzero()[0].tolist()
    there = [i for i in candidates if problem.allocations[i].node_id == node]

    def required(i: int) -> tuple[int, int, int]:
        tier = 2 if problem.originator[i] else int(problem.opted_out[i])
        return tier, int(problem.priority[i]), -problem.allocations[i].allocation_time

    if problem.ask.required_node:
        return sorted(there, key=required)
    return sorted(there, key=problem.order.tolist().__getitem__)


def _priority(planning: YuniKornPlanning, position: int) -> str:
    own = int(planning.problem.priority[position])
    adjusted = planning.subject.adjusted[position]
    after = "" if adjusted == own else f", {adjusted} after the offsets and fences of the queues,"
    return f"its priority {own}{after}"


@WORDS.of(laws.YK_OTHER_QUEUE)
def _other_queue(planning: YuniKornPlanning, position: int) -> str:
    del position
    problem = planning.problem
    return f"it is in the queue of the ask, {problem.queues[problem.own_queue].path}"


@WORDS.of(laws.YK_OVER_GUARANTEED)
def _over_guaranteed(planning: YuniKornPlanning, position: int) -> str:
    problem = planning.problem
    queue = int(problem.queue[position])
    uses = guarantees(problem, queue)
    return f"queue {problem.queues[queue].path} is not over its guaranteed: {uses}"


@WORDS.of(laws.YK_PRIORITY)
def _above_priority(planning: YuniKornPlanning, position: int) -> str:
    return f"{_priority(planning, position)} is above the ask's {planning.problem.ask.priority}"


@WORDS.of(laws.YK_FENCE)
def _fence(planning: YuniKornPlanning, position: int) -> str:
    problem = planning.problem
    facts = problem.queues[int(problem.queue[position])]
    if facts.disabled and facts.is_leaf:
        return f"queue {facts.path} has preemption.policy disabled"
    return f"it is outside the fence at {fence(problem)}"


@WORDS.of(laws.YK_PREEMPTABLE)
def _preemptable(planning: YuniKornPlanning, position: int) -> str:
    ask, allocation = planning.problem.ask, planning.problem.allocations[position]
    if not share_type(ask.resource, allocation.resource):
        return f"it holds nothing of what the ask wants, {listed(sorted(ask.resource))}"
    if allocation.required_node:
        return "it must stay on its node, which it requires"
    return "it is released already" if allocation.x.released else "it is being preempted already"


@WORDS.of(laws.YK_MAY_PREEMPT)
def _may_preempt(planning: YuniKornPlanning, position: int) -> str:
    del position
    return explain_refusal(planning.cluster, planning.asking.ask)


@WORDS.of(laws.YK_FITS_NODE)
def _elsewhere(planning: YuniKornPlanning, position: int) -> str:
    node = planning.problem.allocations[position].node_id
    return f"it is on {node}, and the ask requires {planning.problem.ask.required_node}"


def _no_room(planning: YuniKornPlanning, position: int) -> str:
    """Say why no plan is for the node of an allocation; empty if there may be one."""
    problem = planning.problem
    if problem.roomy and not problem.ask.required_node:
        return ""
    node = int(problem.node[position])
    name = problem.allocations[position].node_id
    if node == NOWHERE:
        return f"its node {name} is not in the partition"
    if not problem.usable[node]:
        return f"its node {name} {fault(planning, planning.cluster.nodes[node])}"
    candidates = planning.eligible & (problem.node == node)
    for t, missing in missing_on(problem, node).items():
        held = sum(problem.holding[candidates, t].tolist())
        if held < missing:
            lacking, there = amount(missing, problem.types[t]), amount(held, problem.types[t])
            return f"its node {name} lacks {lacking}, and all candidates there hold {there}"
    return ""
