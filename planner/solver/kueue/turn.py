"""What a plan says where Kueue would not come to its preemptor, now or ever."""

from __future__ import annotations

from typing import Final

from planner.plan import Plan
from planner.reference.kueue.cycle.turn import InTheWay, in_the_way
from planner.solver.engine import Deadline
from planner.solver.kueue.explanation import hold_in_words
from planner.solver.kueue.planning import Planning

SMALL: Final = 300
"""Workloads that hold quota up to which it is looked at: a decision for every head of a tree."""


def with_turn(planning: Planning, plan: Plan, deadline: Deadline) -> Plan:
    """Return a plan, and Kueue's own beside it, with what keeps Kueue from the preemptor.

    Who is in the way in every cycle is not looked for in a large state, and where Kueue evicts
    nobody anyhow.
    """
    if plan.greedy is None:
        return plan
    reason = planning.held_back
    found = None
    if plan.greedy.victims and (reason is None or reason.why == "notHead"):
        found = who_is_in_the_way(planning, deadline)
    if found is not None:
        said = in_words(plan.preemptor, plan.cluster_queue, found)
    elif reason is not None:
        said = hold_in_words(plan.preemptor, reason)
    else:
        return plan
    told: dict[str, object] = {"held_back": reason}
    theirs = {"explanation": said, "in_the_way": found.workloads if found else ()}
    greedy = plan.greedy.model_copy(update=told | theirs)
    return plan.model_copy(update=told | {"greedy": greedy, "notes": (*plan.notes, said)})


def who_is_in_the_way(planning: Planning, deadline: Deadline) -> InTheWay | None:
    """Return who keeps Kueue from the preemptor, if that is known and the state is small."""
    if sum(map(len, planning.snapshot.admitted.values())) > SMALL:
        return None
    preemptor = planning.preemptor
    late = lambda: deadline.passed  # noqa: E731 - asked again and again
    return in_the_way(planning.state, planning.snapshot, preemptor.key, preemptor.queue, late)


def in_words(preemptor: str, queue: str, found: InTheWay) -> str:
    """Say who is in the way, and what Kueue's own victims then are."""
    names = " and ".join(found.workloads) or "others"
    if found.own_queue:
        why = f"{names} is the head of ClusterQueue {queue}, which is StrictFIFO"
    else:
        why = f"in every cycle {names} comes first and reserves what it cannot have"
    return (
        f"Kueue itself evicts nobody for {preemptor}, as long as nothing changes: {why}; what it "
        "would evict is what it would choose if the turn came"
    )
