"""What is said next to every plan of a workload: what is counted of it, and by what order.

Source: docs/semantics/kueue-features.md §2 to §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from planner.quantity import format_units
from planner.quota.kueue.slices import Replaced, names_replaced, replaced_by
from planner.reference.kueue.decision import Decision, outcomes

if TYPE_CHECKING:
    from planner.solver.kueue.planning import Planning

MOST_SHOWN: Final = 3
"""Outcomes that are spelled out where Kueue's choice is not determined."""


def remarks(planning: Planning) -> Iterator[str]:
    """Yield what is to be said of the devices, the slice and the order behind a plan."""
    yield from planning.preemptor.notes
    replaced = replaced_by(planning.snapshot, planning.preemptor)
    if replaced is not None:
        yield from _of_slice(planning, replaced)
    else:
        yield from _of_a_name(planning)
    yield from _of_past_use(planning)
    if planning.decision.undetermined:
        found = outcomes(planning.snapshot, planning.preemptor, planning.fixed)
        yield _undetermined(found)


def _of_slice(planning: Planning, replaced: Replaced) -> Iterator[str]:
    key, old = planning.preemptor.key, replaced.slice.key
    yield (
        f"{key} replaces {old}: it asks for its additional pods only, in the same flavors, and "
        f"{old} is finished when it is admitted, not evicted"
    )
    if old in {one.key for one in planning.going}:
        yield (
            f"the rules permit {old} as a victim, too; once it is evicted, {key} asks for all of "
            "its pods"
        )
    problem = planning.problem
    beyond = [
        f"{format_units(asked - problem.searched[fr], problem.frs[fr].resource)} {problem.frs[fr]}"
        for fr, asked in enumerate(problem.request)
        if asked > max(0, problem.searched[fr]) and problem.frs[fr].resource != "pods"
    ]
    if beyond and planning.decision.assignment.mode == "Preempt":
        yield (
            f"pods of {key} ask for more each than those of {old}: Kueue's own search looks for "
            f"room for additional pods only, and not for {', '.join(beyond)} more that it needs"
        )


def _of_a_name(planning: Planning) -> Iterator[str]:
    """Say that Kueue spares a victim of the name that it takes for a replaced slice."""
    named = names_replaced(planning.preemptor.workload, planning.snapshot.configuration)
    if named in {target.workload.key for target in planning.decision.search.targets}:
        yield (
            f"Kueue itself counts on {named} to go and does not evict it: "
            f"{planning.preemptor.key} says that it replaces it, which holds within one "
            "ClusterQueue and namespace only"
        )


def _of_past_use(planning: Planning) -> Iterator[str]:
    if all(one.past is None for one in planning.going):
        return
    samples = [
        queue.status.fair_sharing.admission.last_update for queue in planning.state.local_queues
    ]
    newest = max((sample for sample in samples if sample is not None), default=None)
    when = "was recorded last" if newest is None else f"was recorded until {newest.isoformat()}"
    yield (
        "candidates of one ClusterQueue are ordered by the past use of their LocalQueues as it "
        f"{when}; what was admitted since then counts in Kueue, and is in no dump"
    )


def _undetermined(found: tuple[Decision, ...]) -> str:
    """Say what Kueue may do where the order of candidates has circles."""
    circle = "the order of candidates by past use has circles"
    if len(found) == 1:
        return f"{circle}: all orders that were tried lead to the same victims"
    told = [
        ", ".join(target.workload.key for target in one.search.targets) or "nobody"
        for one in found[:MOST_SHOWN]
    ]
    more = f"; or {len(found) - MOST_SHOWN} more" if len(found) > MOST_SHOWN else ""
    return (
        f"Kueue's own choice is not determined here: {circle}, and it may evict "
        f"{'; or '.join(told)}{more}; the legal sets and the optimum do not depend on that"
    )
