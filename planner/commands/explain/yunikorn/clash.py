"""The laws in words: why an allocation may be taken, or may not; which laws leave no plan.

Also what is short where there is no plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal

import numpy as np
from msgspec.structs import replace

from planner.case.yunikorn_words import explain_refusal
from planner.commands.explain.record import LawInWords
from planner.commands.explain.yunikorn.record import YuniKornShortfall
from planner.laws import RULE_SETS, Law, Register
from planner.laws import yunikorn as laws
from planner.models.shared.builder import Builder, Linear
from planner.models.yunikorn.candidates import (
    At,
    Counting,
    above_guaranteed,
    counting_guarantees,
    eligible,
    exclusions,
    fence_root,
    missing_on,
    over_limits,
    short_of_guaranteed,
    used,
)
from planner.models.yunikorn.formulation import build_classes
from planner.models.yunikorn.laws import assemble
from planner.plan.base import name_some
from planner.problem.array import BoolArray
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quantity import plural
from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.resource import fits_in, share_type
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.state.yunikorn import Allocation
from planner.state.yunikorn import format_yunikorn_quantity as bare
from planner.state.yunikorn_release import V1_9


def amount(units: int, t: str) -> str:
    """Return an amount of a type as queues.yaml writes it, with the type."""
    return f"{bare(units, t)} {t}"


def listed(texts: Iterable[str]) -> str:
    """Return the first few texts with commas between them, and how many more there are."""
    return name_some(list(texts), 4)


def guarantees(problem: YuniKornProblem, queue: int, *, exceeded: bool = False) -> str:
    """Say how much a queue uses of each guaranteed that counts for it, or that it exceeds."""
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
            uses.setdefault(each.queue, []).append(f"{bare(now, name)} of {of}")
    return " and ".join(
        f"queue {problem.queues[holder].path} uses {listed(texts)} guaranteed"
        for holder, texts in uses.items()
    )


def fence(problem: YuniKornProblem) -> str:
    """Say where preemption stops on the ask's way up, and why."""
    facts = problem.queues[fence_root(problem)]
    if facts.parent is None:
        return f"queue {facts.path}"
    if facts.properties.preemption_fence:
        return f"queue {facts.path}, whose preemption.policy is fence"
    full = "cannot take the ask within its maximum"
    if problem.release < V1_9:
        full = "holds just its maximum"
    return f"queue {facts.path}, which {full}"


def fault(planning: YuniKornPlanning, room: NodeRoom) -> str:
    """Say why a node that is not usable may not host the ask, whatever is preempted."""
    ask = planning.problem.ask
    if ask.required_node and room.node_id != ask.required_node:
        return f"is not {ask.required_node}, the node that the ask requires"
    if planning.case.cluster.closes(room.node_id, ask):
        return "is refused by the shim"
    if not room.node.schedulable:
        return "is not schedulable"
    if not fits_in(room.node.capacity, ask.resource):
        return "is too small for the ask"
    return "is reserved for others"


OF_ALLOCATION: Final[Register[Callable[[YuniKornPlanning, int], str]]] = Register()
"""What a law says of an allocation that it forbids, by the law's id."""
WORDS: Final[Register[Callable[[YuniKornPlanning], str]]] = Register()
"""What a law says of an ask, with its numbers, by the law's id."""


def excluded_by(planning: YuniKornPlanning, position: int) -> LawInWords | None:
    """Return the first law that excludes an allocation on its own, ``None`` for a candidate.

    YK-01 excludes no single allocation: it compares whole plans.
    """
    problem = planning.problem
    for law, forbids in exclusions(problem):
        if forbids(problem)[position]:
            return LawInWords.said(law, OF_ALLOCATION, planning, position)
    text = _no_room(planning, position)
    return LawInWords.with_text(laws.YK_FITS_NODE, text) if text else None


def permitted_by(planning: YuniKornPlanning, position: int) -> LawInWords:
    """Return the law that made an allocation a candidate, with the numbers."""
    problem = planning.problem
    if problem.shares is not None:
        queue = problem.queues[int(problem.queue[position])].path
        text = f"the core would free {_share_of(planning, position)} in queue {queue}"
        if problem.opted_out[position] or problem.originator[position]:
            why = "opted out" if problem.opted_out[position] else "is an originator"
            text = f"{text}, and takes it before others, as it {why}"
        return LawInWords.with_text(laws.YK_SEARCHED, text)
    most = f"{_priority_of(planning, position)} is at most the ask's {problem.ask.priority}"
    if problem.ask.required_node:
        text = f"{most}, and it is on {problem.ask.required_node}, which the ask requires"
        return LawInWords.with_text(laws.YK_PRIORITY, text)
    over = guarantees(problem, int(problem.queue[position]), exceeded=True)
    return LawInWords.with_text(laws.YK_OVER_GUARANTEED, f"{over}; {most}")


def node_order(planning: YuniKornPlanning, position: int) -> Sequence[int]:
    """Return the candidates on the node of an allocation, in the order that the core tries there.

    Allocations of queues that are not over their guaranteed are left out: the core skips them.
    Equal creation times keep the order of the state; in the core their order is not defined.

    Source: docs/semantics/yunikorn.md §7 and §11.1.
    """
    problem, node = planning.problem, planning.problem.allocations[position].node_id
    candidates = planning.eligible.nonzero()[0].tolist()
    there = [i for i in candidates if problem.allocations[i].node_id == node]
    return sorted(there, key=problem.order.tolist().__getitem__)


def _priority_of(planning: YuniKornPlanning, position: int) -> str:
    own = int(planning.problem.priority[position])
    adjusted = planning.adjusted[position]
    after = "" if adjusted == own else f", {adjusted} after the offsets and fences of the queues,"
    return f"its priority {own}{after}"


@OF_ALLOCATION.of(laws.YK_OTHER_QUEUE)
def _is_in_its_queue(planning: YuniKornPlanning, _position: int) -> str:
    problem = planning.problem
    return f"it is in the queue of the ask, {problem.queues[problem.own_queue].path}"


@OF_ALLOCATION.of(laws.YK_OVER_GUARANTEED)
def _is_of_a_needy_queue(planning: YuniKornPlanning, position: int) -> str:
    problem = planning.problem
    queue = int(problem.queue[position])
    uses = guarantees(problem, queue)
    return f"queue {problem.queues[queue].path} is not over its guaranteed: {uses}"


@OF_ALLOCATION.of(laws.YK_PRIORITY)
def _above_priority(planning: YuniKornPlanning, position: int) -> str:
    return f"{_priority_of(planning, position)} is above the ask's {planning.problem.ask.priority}"


@OF_ALLOCATION.of(laws.YK_FENCE)
def _is_beyond_the_fence(planning: YuniKornPlanning, position: int) -> str:
    problem = planning.problem
    facts = problem.queues[int(problem.queue[position])]
    if facts.properties.disabled and facts.is_leaf:
        return f"queue {facts.path} has preemption.policy disabled"
    return f"it is outside the fence at {fence(problem)}"


@OF_ALLOCATION.of(laws.YK_PREEMPTABLE)
def _is_of_no_use(planning: YuniKornPlanning, position: int) -> str:
    ask, allocation = planning.problem.ask, planning.problem.allocations[position]
    if not share_type(ask.resource, allocation.resource):
        return f"it holds nothing of what the ask wants, {listed(sorted(ask.resource))}"
    return _bound(allocation)


def _bound(allocation: Allocation) -> str:
    if allocation.required_node:
        return "it must stay on its node, which it requires"
    return "it is released already" if allocation.x.released else "it is being preempted already"


@OF_ALLOCATION.of(laws.YK_SEARCHED)
def _is_not_searched(planning: YuniKornPlanning, position: int) -> str:
    problem, share = planning.problem, _share_of(planning, position)
    queue = problem.queues[int(problem.queue[position])].path
    if not share:
        return f"the core would free nothing in queue {queue}"
    if not share_type((problem.shares or {})[queue], problem.allocations[position].resource):
        return f"it holds nothing of what the core would free in queue {queue}, {share}"
    return _bound(problem.allocations[position])


def _share_of(planning: YuniKornPlanning, position: int) -> str:
    """Say what the core would free in the leaf of an allocation; empty if it does not search it."""
    problem = planning.problem
    path = problem.queues[int(problem.queue[position])].path
    return listed(amount(n, t) for t, n in (problem.shares or {}).get(path, {}).items())


@WORDS.of(laws.YK_MAY_PREEMPT)
def _may_preempt(planning: YuniKornPlanning) -> str:
    return explain_refusal(planning.case.cluster, planning.case.asking)


OF_ALLOCATION.of(laws.YK_MAY_PREEMPT)(lambda planning, _: _may_preempt(planning))


@OF_ALLOCATION.of(laws.YK_FITS_NODE)
def _elsewhere(planning: YuniKornPlanning, position: int) -> str:
    node = planning.problem.allocations[position].node_id
    return f"it is on {node}, and the ask requires {planning.problem.ask.required_node}"


def _no_room(planning: YuniKornPlanning, position: int) -> str:
    """Say why no plan can be for the node of an allocation; empty if one may be."""
    problem = planning.problem
    if problem.shares is not None or (problem.roomy and not problem.ask.required_node):
        return ""
    node = int(problem.node[position])
    name = problem.allocations[position].node_id
    if node == NOWHERE:
        return f"its node {name} is not in the partition"
    if not problem.usable[node]:
        return f"its node {name} {fault(planning, planning.case.cluster.nodes[node])}"
    held = held_by(planning, problem.node == node)
    for t, missing in missing_on(problem, node).items():
        if held[t] < missing:
            lacking, there = amount(missing, problem.types[t]), amount(held[t], problem.types[t])
            return f"its node {name} lacks {lacking}, and all candidates there hold {there}"
    return ""


def shortfalls(planning: YuniKornPlanning) -> Iterator[YuniKornShortfall]:
    """Yield what is short on the nearest node, and on the ask's path.

    The nearest node lacks the least once all candidates on it are evicted, and of several such
    nodes the least now; amounts are compared as fractions of what is asked. Where no node may host
    the ask, it is the node whose capacity lacks the least.
    """
    problem = planning.problem
    if problem.shares is not None:
        return
    if not problem.roomy or problem.ask.required_node:
        yield from _of_node(planning)
    yield from (_of_queue(planning, at, "max") for at in over_limits(problem))
    if not problem.ask.required_node:
        asked = laws.YK_WITHIN_GUARANTEED in RULE_SETS[planning.rules]
        short = short_of_guaranteed(problem) if asked else ()
        yield from (_of_queue(planning, at, "guaranteed") for at in short or ())


def nearest_node(planning: YuniKornPlanning) -> int:
    """Return the usable node with the least shortfall; there must be one."""
    problem = planning.problem

    def distance(node: int) -> tuple[Fraction, Fraction]:
        missing = missing_on(problem, node)
        held = held_by(planning, problem.node == node)
        rest = {t: max(0, lacking - held[t]) for t, lacking in missing.items()}
        return _parts(problem, rest), _parts(problem, missing)

    return min(np.flatnonzero(problem.usable).tolist(), key=distance)


def held_by(planning: YuniKornPlanning, some: BoolArray) -> list[int]:
    """Return the total usage of the candidates among ``some`` allocations, by type: (T,)."""
    return [sum(held.tolist()) for held in planning.problem.holding[planning.eligible & some].T]


def _parts(problem: YuniKornProblem, missing: Mapping[int, int]) -> Fraction:
    asked = problem.ask.resource
    return sum(
        (Fraction(units, max(1, asked.get(problem.types[t], 0))) for t, units in missing.items()),
        Fraction(0),
    )


def _of_node(planning: YuniKornPlanning) -> Iterator[YuniKornShortfall]:
    """Yield what the nearest node lacks: of its capacity where all nodes are too small."""
    problem, asked, held = planning.problem, planning.problem.ask.resource, None
    if problem.usable.any():
        node = nearest_node(planning)
        name, missing = problem.nodes[node], missing_on(problem, node)
        held = held_by(planning, problem.node == node)
    else:
        lacking = {
            room.node_id: {
                t: asked[name] - max(0, room.node.capacity.get(name, 0))
                for t, name in enumerate(problem.types)
                if asked.get(name, 0) > max(0, room.node.capacity.get(name, 0))
            }
            for room in planning.case.cluster.nodes
        }
        if not lacking or not all(lacking.values()):
            return
        name = min(lacking, key=lambda node: _parts(problem, lacking[node]))
        missing = lacking[name]
    for t, short in missing.items():
        resource = problem.types[t]
        requested = asked.get(resource, short)  # of what Kubernetes counts, what is missing
        left, lacks = bare(requested - short, resource), f"{bare(short, resource)} short"
        text = f"node {name} has {left} in all, {lacks}"
        if held is not None:
            text = f"{left} available on node {name}, {lacks}; candidates there hold "
            text += bare(held[t], resource)
        yield YuniKornShortfall(
            place="node",
            where=name,
            resource=resource,
            requested=requested,
            available=requested - short,
            short=short,
            held_by_candidates=0 if held is None else held[t],
            text=f"{amount(requested, resource)} asked, {text}",
        )


def _of_queue(
    planning: YuniKornPlanning, at: At, place: Literal["max", "guaranteed"]
) -> YuniKornShortfall:
    problem, resource = planning.problem, planning.problem.types[at.type]
    queue = planning.case.cluster.tree.by_path[problem.queues[at.queue].path]
    asked = problem.ask.resource.get(resource, 0)
    if place == "max":
        limit, called = (queue.max or {}).get(resource, 0), "maximum"
        left = max(0, limit) - queue.allocated.get(resource, 0)
    else:
        limit, called = (queue.guaranteed or {}).get(resource, 0), "guaranteed"
        left = asked - at.amount
    held = held_by(planning, problem.within[at.queue][problem.queue])[at.type]
    return YuniKornShortfall(
        place=place,
        where=queue.path,
        resource=resource,
        requested=asked,
        available=left,
        short=at.amount,
        held_by_candidates=held,
        text=f"{amount(asked, resource)} asked, {bare(left, resource)} left of the {called} "
        f"{bare(limit, resource)} of queue {queue.path}, {bare(at.amount, resource)} short; "
        f"candidates below it hold {bare(held, resource)}",
    )


def stated(problem: YuniKornProblem, rules: str, without: set[str]) -> Builder:
    """Return the model of a problem without some laws."""
    if laws.YK_FITS_NODE.id in without:
        # Every node may host the ask, and so may an added node that does not exist.
        nodes = [*problem.nodes, ""]
        problem = replace(
            problem,
            nodes=nodes,
            available=[*problem.available, {}],
            usable=np.ones(len(nodes), dtype=np.bool_),
            lacking=[{} for _ in nodes],
        )
    classes = build_classes(problem, eligible(problem, without), [])
    builder = assemble(problem, classes, rules, spare="nobody", without=without).builder
    if not (problem.may_preempt or laws.YK_MAY_PREEMPT.id in without):
        # Whoever may not preempt at all has no plan, not even one without victims: YK-11 alone
        # says so, and what a victim would free is beside the point.
        builder.add(Linear({}) >= 1)
    return builder


def _forbidden(planning: YuniKornPlanning, law: Law) -> int:
    problem = planning.problem
    return sum(int(forbids(problem).sum()) for each, forbids in exclusions(problem) if each == law)


@WORDS.of(laws.YK_LEAVES_GUARANTEED)
def _leaves_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    holders = problem.queue if problem.shares is None else problem.queue[planning.eligible]
    may_go = [
        f"queue {problem.queues[at.queue].path} gives {amount(at.amount, problem.types[at.type])}"
        for at in above_guaranteed(problem)
        if problem.types[at.type] in problem.ask.resource
        and problem.within[at.queue][holders].any()
    ]
    return f"queues keep their guaranteed: at most {listed(may_go) or 'anything'}"


@WORDS.of(laws.YK_OTHER_QUEUE)
def _other_queue(planning: YuniKornPlanning) -> str:
    own = planning.problem.queues[planning.problem.own_queue].path
    return f"{_are(planning, laws.YK_OTHER_QUEUE)} in {own}, the queue of the ask"


@WORDS.of(laws.YK_WITHIN_GUARANTEED)
def _within_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    short = short_of_guaranteed(problem)
    if short is None:
        return f"{guarantees(problem, problem.own_queue)}, so the ask may not preempt"
    lacks = listed(
        f"{amount(at.amount, problem.types[at.type])} at queue {problem.queues[at.queue].path}"
        for at in short
    )
    return f"the ask does not fit into what is left of the guaranteed: it lacks {lacks}"


@WORDS.of(laws.YK_UNDER_GUARANTEED)
def _under_guaranteed(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    return f"{guarantees(problem, problem.own_queue)}: nothing is left of it"


@WORDS.of(laws.YK_OVER_GUARANTEED)
def _over_guaranteed(planning: YuniKornPlanning) -> str:
    text, law = "queues give only while they are over their guaranteed", laws.YK_OVER_GUARANTEED
    are = f"{text}; {_are(planning, law)} in one that is not"
    return are if _forbidden(planning, law) else text


@WORDS.of(laws.YK_PRIORITY)
def _priority(planning: YuniKornPlanning) -> str:
    count = _forbidden(planning, laws.YK_PRIORITY)
    have = "has" if count == 1 else "have"
    ask = planning.problem.ask
    after = "" if ask.required_node else " after the offsets and fences of the queues"
    return f"{plural(count, 'allocation')} {have} a higher priority than {ask.priority}{after}"


@WORDS.of(laws.YK_FENCE)
def _fence(planning: YuniKornPlanning) -> str:
    text = f"preemption stays inside {fence(planning.problem)}"
    where = "outside, or in a queue with preemption.policy disabled"
    return f"{text}; {_are(planning, laws.YK_FENCE)} {where}"


@WORDS.of(laws.YK_FITS_NODE)
def _fits_node(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    if not problem.usable.any():
        reasons = Counter(fault(planning, room) for room in planning.case.cluster.nodes)
        faults = [
            f"{'1 node' if count == 1 else f'each of {count:,} nodes'} {why}"
            for why, count in reasons.items()
        ]
        return f"no node may host the ask: {listed(faults) or 'there is none'}"
    if problem.roomy and not problem.ask.required_node:
        return f"the ask goes to a node with room, such as {problem.nodes[problem.roomy[0]]}"
    node = nearest_node(planning)
    name = problem.nodes[node]
    held = held_by(planning, problem.node == node)
    lacks = listed(
        f"{amount(missing, problem.types[t])} (candidates there hold "
        f"{amount(held[t], problem.types[t])})"
        for t, missing in missing_on(problem, node).items()
    )
    return f"the ask must fit on one node; {name}, the nearest, lacks {lacks or 'nothing'}"


@WORDS.of(laws.YK_WITHIN_LIMITS)
def _within_limits(planning: YuniKornPlanning) -> str:
    problem = planning.problem
    over = listed(
        f"{amount(at.amount, problem.types[at.type])} too much for queue "
        f"{problem.queues[at.queue].path}"
        for at in over_limits(problem)
    )
    return f"queues stay within their maximum: the ask is {over}"


@WORDS.of(laws.YK_PREEMPTABLE)
def _preemptable(planning: YuniKornPlanning) -> str:
    text, law = "there must be a victim", laws.YK_PREEMPTABLE
    why = "without anything the ask wants, bound to their node, or going already"
    return f"{text}; {_are(planning, law)} {why}" if _forbidden(planning, law) else text


def _are(planning: YuniKornPlanning, law: Law) -> str:
    count = _forbidden(planning, law)
    return f"{plural(count, 'allocation')} {'is' if count == 1 else 'are'}"
