"""The plan of each node: which of its allocations would have to go.

Source: docs/semantics/yunikorn.md §6 and §7; yunikorn-core be3bb487,
scheduler/objects/preemption.go (checkPreemptionQueueGuarantees, calculateVictimsByNode).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planner.laws.yunikorn import YK_FITS_NODE, YK_OVER_GUARANTEED, YK_WITHIN_GUARANTEED
from planner.quota.yunikorn.cluster import NodeRoom
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    fits,
    fits_raw,
    floor_minus,
    plus,
    same_or_zero,
)
from planner.quota.yunikorn.snapshot import Snapshot, under
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a node: its candidates in order, the victims, and how many must go.

    The victims up to and including ``index`` make room; -1 means that there is room already.
    """

    room: NodeRoom
    group: Sequence[Candidate]
    index: int
    victims: Sequence[Candidate]


@keeps(YK_WITHIN_GUARANTEED)
def can_help(snapshot: Snapshot, candidates: Sequence[Candidate]) -> bool:
    """Say whether preemption can help at all: the ask fits into what is left of the guaranteed.

    Where the leaf has no guaranteed of its own, removals may make room in that of an ancestor.
    """
    trial = snapshot.fresh()
    rest = trial.remaining()
    if rest is not None and fits_raw(rest, trial.ask):
        return True
    # The order does not matter: removals only add to what is left.
    trial.add(trial.leaf, trial.ask)
    for candidate in candidates:
        trial.remove(candidate.queue, candidate.resource)
        rest = trial.remaining()
        if rest is not None and under(rest, trial.ask):
            return True
    return False


@keeps(YK_FITS_NODE)
def plan_node(snapshot: Snapshot, room: NodeRoom, group: Sequence[Candidate]) -> Plan | None:
    """Return the plan of a node with its candidates in order, None if none makes room."""
    if fits(room.available, snapshot.ask):
        return Plan(room, group, -1, ())
    return _second_pass(snapshot.fresh(), room, group, _first_pass(snapshot.fresh(), room, group))


def _first_pass(trial: Snapshot, room: NodeRoom, group: Sequence[Candidate]) -> list[Candidate]:
    """Sort out who helps: those that lessen the shortfall first, then those that do not."""
    free: Resource = room.available
    head: list[Candidate] = []
    tail: list[Candidate] = []
    for candidate in group:
        if not trial.takeable(candidate.queue):
            continue
        # The core ends the pass here, although later candidates may be smaller (§7).
        if charge(trial, candidate) is None:
            break
        more = plus(free, candidate.resource)
        if same_or_zero(floor_minus(trial.ask, free), floor_minus(trial.ask, more)):
            discharge(trial, candidate)
            tail.append(candidate)
        else:
            free = more
            head.append(candidate)
    # The tail is kept: the shim may refuse a node for other reasons than resources.
    return head + tail


@keeps(YK_OVER_GUARANTEED)
def _second_pass(
    trial: Snapshot, room: NodeRoom, group: Sequence[Candidate], ordered: Sequence[Candidate]
) -> Plan | None:
    """Take all that are still takeable, and note when the ask fits."""
    free: Resource = room.available
    victims: list[Candidate] = []
    index = -1
    for candidate in ordered:
        # Tested anew: the leaf of the ask is not charged here, and the order has changed.
        if not trial.takeable(candidate.queue):
            continue
        trial.remove(candidate.queue, candidate.resource)
        free = plus(free, candidate.resource)
        if index < 0 and fits(free, trial.ask):
            index = len(victims)
        victims.append(candidate)
    return None if index < 0 else Plan(room, group, index, victims)


def charge(trial: Snapshot, candidate: Candidate) -> Amount:
    """Move a candidate's amount to the ask's leaf, if that still has so much guaranteed.

    Returns what was left to the leaf after the removal and before it was charged, None if
    nothing was moved.
    """
    trial.remove(candidate.queue, candidate.resource)
    rest = trial.remaining()
    if rest is None or not fits_raw(rest, candidate.resource):
        trial.add(candidate.queue, candidate.resource)
        return None
    trial.add(trial.leaf, candidate.resource)
    return rest


def discharge(trial: Snapshot, candidate: Candidate) -> None:
    """Undo `charge`."""
    trial.remove(trial.leaf, candidate.resource)
    trial.add(candidate.queue, candidate.resource)
