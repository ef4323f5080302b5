"""What a plan says where Kueue would never come to its preemptor."""

from __future__ import annotations

from typing import Final

from planner.plan import Plan
from planner.reference.kueue.cycle.turn import InTheWay, in_the_way
from planner.solver.engine import Deadline
from planner.solver.kueue.planning import Planning

SMALL: Final = 300
"""Workloads that hold quota up to which it is looked at: a decision for every head of a tree."""


def with_turn(planning: Planning, plan: Plan, deadline: Deadline) -> Plan:
    """Return a plan, and Kueue's own beside it, with who keeps Kueue from the preemptor.

    A plan of a large state stays as it is, and so does one for which Kueue evicts nobody.
    """
    if plan.greedy is None or not plan.greedy.victims:
        return plan
    found = who_is_in_the_way(planning, deadline)
    if found is None:
        return plan
    said = in_words(plan.preemptor, plan.cluster_queue, found)
    greedy = plan.greedy.model_copy(update={"explanation": said, "in_the_way": found.workloads})
    return plan.model_copy(update={"greedy": greedy, "notes": (*plan.notes, said)})


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
