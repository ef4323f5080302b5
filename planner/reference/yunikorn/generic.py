"""Generic preemption: the plan of each node, the choice of the node, and the final victims.

Source: docs/semantics/yunikorn.md §6 to §10; yunikorn-core be3bb487,
scheduler/objects/preemption.go (checkPreemptionQueueGuarantees, calculateVictimsByNode,
TryPreemption).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from planner.laws import YK_FITS_NODE, YK_LAST_TIER, YK_OVER_GUARANTEED, YK_WITHIN_GUARANTEED
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom
from planner.quota.yunikorn.hosting import is_usable
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    fits,
    fits_raw,
    floor_minus,
    gt_known,
    plus,
    same_or_zero,
)
from planner.quota.yunikorn.snapshot import Snapshot, under
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import Candidate, find_candidates, find_fence, in_order
from planner.reference.yunikorn.preconditions import Predicates


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


BATCH: Final = 10
# Below all flags, and above any index: such an answer has neither flag.
SATISFACTORY: Final = 1 << 32
ORIGINATOR_SCORE: Final = 1 << 33
OPTED_OUT_SCORE: Final = 1 << 34
NO_CANDIDATE_SCORE: Final = 1 << 35


class Choice(NamedTuple):
    """The chosen node and the victims on it."""

    room: NodeRoom
    victims: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Success:
    """The node that was made free, and the victims in the order in which they are released."""

    node_id: str
    victims: tuple[Candidate, ...]


def try_preemption(
    cluster: Cluster,
    asking: Asking,
    predicates: Predicates | None,
    *,
    nodes_tried: bool,
    ties: Mapping[str, int],
) -> Success | None:
    """Find the node and the victims for an ask, None if there is no preemption.

    ``nodes_tried`` says that the nodes were tried without preemption; ``ties`` ranks allocations
    that have no order in the core.
    """
    ask = asking.ask
    fence = find_fence(asking.leaf, ask)
    candidates = in_order(find_candidates(asking.leaf, ask, fence), ties)
    snapshot = Snapshot(asking.leaf, ask.resource)
    if not can_help(snapshot, candidates):
        return None
    plans = _plans(cluster, asking, snapshot, candidates)
    # Nodes with room are left out if they were tried: something else refused the ask there.
    checks = [plan for plan in plans if plan.victims or not nodes_tried]
    # Fewer victims first; a node with room (-1) before all others.
    checks.sort(key=lambda plan: (plan.index, plan.room.node_id))
    choice = _choose(checks, snapshot, predicates)
    if choice is None:
        return None
    more = _additional(snapshot, choice.victims, candidates)
    return None if more is None else _final(snapshot, choice, [*choice.victims, *more])


def _plans(
    cluster: Cluster, asking: Asking, snapshot: Snapshot, candidates: Sequence[Candidate]
) -> list[Plan]:
    """Plan every usable node; the candidates keep their order in each group."""
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.allocation.node_id].append(candidate)
    plans = (
        plan_node(snapshot, room, groups.get(room.node_id, ()))
        for room in cluster.nodes
        if is_usable(cluster, room, asking.ask)
    )
    return [plan for plan in plans if plan is not None]


def _choose(
    checks: Sequence[Plan], snapshot: Snapshot, predicates: Predicates | None
) -> Choice | None:
    """Choose the node: the first without a callback, else the lowest score, batch by batch."""
    if predicates is None:
        return _chosen(checks[0], checks[0].index) if checks else None
    best: tuple[int, Plan, int] | None = None
    for start in range(0, len(checks), BATCH):
        for plan in checks[start : start + BATCH]:
            index = _ask_shim(plan, snapshot, predicates)
            if index is not None:
                score = score_of(plan, index)
                if best is None or score < best[0]:
                    best = (score, plan, index)
        # No further batch is asked, though a node in it might score lower.
        if best is not None and best[0] < SATISFACTORY:
            break
    return None if best is None else _chosen(best[1], best[2])


def _chosen(plan: Plan, index: int) -> Choice:
    return Choice(plan.room, plan.victims[: index + 1])


def _ask_shim(plan: Plan, snapshot: Snapshot, predicates: Predicates) -> int | None:
    """Return the index the shim answers for a plan, None if it refuses."""
    if plan.victims:
        return predicates.first_index(plan.room, snapshot.ask, plan.victims, plan.index)
    return -1 if predicates.passes(plan.room, snapshot.ask) else None


@keeps(YK_LAST_TIER)
def score_of(plan: Plan, index: int) -> int:
    """Return the score of a successful answer; the lowest wins.

    The flags are those of the first allocations of the node's own order, not of the victims.
    """
    # Even a node that needs nobody is the worst if nobody on it may go (§8).
    if not plan.group:
        return NO_CANDIDATE_SCORE
    if index < 0:
        return 0
    first = [candidate.allocation for candidate in plan.group[: index + 1]]
    score = index + 1
    if any(allocation.opted_out for allocation in first):
        score |= OPTED_OUT_SCORE
    if any(allocation.originator for allocation in first):
        score |= ORIGINATOR_SCORE
    return score


@keeps(YK_OVER_GUARANTEED, YK_WITHIN_GUARANTEED)
def _additional(
    snapshot: Snapshot, chosen: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate] | None:
    """Find further victims on any node; None if they leave the ask's leaf over its guaranteed.

    The ask's leaf is charged with each of them, but not with those chosen before.
    """
    trial = snapshot.fresh()
    for candidate in chosen:
        trial.remove(candidate.queue, candidate.resource)
    more: list[Candidate] = []
    taken = {candidate.key for candidate in chosen}
    for candidate in candidates:
        if candidate.key in taken or not trial.takeable(candidate.queue):
            continue
        before = charge(trial, candidate)
        if before is None:
            break
        # It changed nothing for the leaf, so it does not help.
        if same_or_zero(before, trial.remaining()):
            discharge(trial, candidate)
        else:
            more.append(candidate)
    if more:
        rest = trial.remaining()
        if rest is None or not under(rest, trial.ask):
            return None
    return more


def _final(snapshot: Snapshot, choice: Choice, victims: Sequence[Candidate]) -> Success | None:
    """Collect victims until the ask is exceeded in one type; free space does not count.

    The result may be too small for the node, larger than needed, or even empty.
    """
    if not victims:
        return None
    ask, room = snapshot.ask, choice.room
    anywhere = fits(room.available, ask)
    total: dict[str, int] = {}
    final = []
    for victim in victims:
        if not anywhere and victim.allocation.node_id != room.node_id:
            continue
        # Asked before it is added: the victim by which the ask is reached is still taken.
        if gt_known(ask, total):
            final.append(victim)
        total = plus(total, victim.resource)
    return None if gt_known(ask, total) else Success(room.node_id, tuple(final))
