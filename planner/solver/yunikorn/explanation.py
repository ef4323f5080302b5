"""Short answers in words: why nothing can be done, or nothing needs to be."""

from __future__ import annotations

from planner.models.shared.classes import Classes
from planner.models.yunikorn.relaxation import node_rows
from planner.problem.array import BoolArray
from planner.problem.yunikorn import YuniKornProblem
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.quota.yunikorn.properties import SECOND
from planner.reference.yunikorn.preconditions import Preconditions
from planner.state.yunikorn import Ask


def victims_in_words(count: int) -> str:
    """Return ``1 allocation`` or ``n allocations``."""
    return f"{count} allocation{'' if count == 1 else 's'}"


def postponed(
    cluster: Cluster, asking: Asking, conditions: Preconditions | None
) -> tuple[str, ...]:
    """Say what makes the core wait before it preempts for an ask, if anything does."""
    if conditions is None or conditions.allocatable_now:
        return ()
    key, notes = asking.ask.allocation_key, []
    if not conditions.delay_passed:
        due = asking.ask.request_time + asking.leaf.properties.delay
        wait = -(-(due - cluster.now) // SECOND)
        notes.append(f"{key}: the preemption delay of {asking.leaf.path} lasts {wait} s more")
    if not conditions.check_interval_passed:
        notes.append(f"{key}: the core looked less than 15 s ago, and waits until they are over")
    return tuple(notes)


def explain_refusal(cluster: Cluster, ask: Ask) -> str:
    """Say why an ask may not preempt at all (YK-11)."""
    if ask.triggered_preemption:
        return "it has triggered preemption before, and the core never does so twice for an ask"
    if not cluster.partition.preemption.enabled:
        return f"preemption is switched off in partition {cluster.partition.name}"
    return "it may not preempt others: its PriorityClass or pod says preemptionPolicy Never"


def explain_infeasible(
    problem: YuniKornProblem, classes: Classes, eligible: BoolArray, rules: str
) -> str:
    """Say what is missing although every candidate may go, or that the laws protect too many."""
    count = int(eligible.sum())
    if not problem.usable.any():
        return "no node may host it: too small, not schedulable, or reserved for others"
    if count == 0:
        return "no allocation may be preempted for it: see `planner laws`, YK-03 to YK-07 and YK-10"
    counts = classes.sizes
    shortest: tuple[int, str] | None = None
    for node, rows in node_rows(problem, classes, rules).items():
        mine = counts[rows.classes]
        short = [r.name for r in rows.cover if int((r.coefficients * mine).sum()) < r.bound]
        if not short:
            return (
                f"no set of the {count} candidates is legal: what would be needed leaves a queue "
                "below its guaranteed, or is in a queue that is no longer over it"
            )
        if shortest is None or len(short) < shortest[0]:
            where = "for " + problem.nodes[node]
            shortest = (len(short), f"{where} they hold too little: {', '.join(short)}")
    nearest = shortest[1] if shortest else ""
    return f"{count} candidates are not enough on any node; {nearest}"
