"""Amounts, queues, nodes and the fence in words."""

from __future__ import annotations

from collections.abc import Iterable

from planner.models.yunikorn.candidates import fence_root
from planner.models.yunikorn.guaranteed import Counting, counting_guarantees, used
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.resource import fits
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.state.yunikorn_quantity import format_yunikorn_quantity


def amount(units: int, t: str) -> str:
    """Return an amount of a type as queues.yaml writes it, with the type."""
    return f"{format_yunikorn_quantity(units, t)} {t}"


def counted(count: int, what: str = "allocation") -> str:
    """Return ``1 allocation`` or ``n allocations``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(texts: Iterable[str], most: int = 4) -> str:
    """Return some texts with commas, and how many there are more."""
    known = list(texts)
    more = len(known) - most
    return ", ".join(known[:most]) + (f" and {more} more" if more > 0 else "")


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
