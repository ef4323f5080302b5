"""What YuniKorn decides for an ask, or a queue: one entry for all three kinds of preemption.

Generic preemption makes a plan of each node, chooses the node, and then the final victims. An ask
with a required node, as of a DaemonSet, is preempted for by rules of its own: no delay, fence,
guaranteed or policy counts.

Source: docs/semantics/yunikorn.md §3 to §11; yunikorn-core be3bb487, scheduler/objects/
preemption.go (checkPreemptionQueueGuarantees, calculateVictimsByNode, TryPreemption) and
required_node_preemptor.go.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cmp_to_key
from typing import Final, Literal

from msgspec import Struct, field

from planner.errors import UnsupportedError
from planner.laws import yunikorn as laws
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, cancelled, is_usable
from planner.quota.yunikorn.queue import Snapshot, under
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    equal,
    fits_in,
    fits_raw,
    floor_minus,
    ge_all,
    gt_known,
    gt_zero,
    minus,
    plus,
    same_or_zero,
)
from planner.reference.laws import keeps
from planner.reference.yunikorn.candidates import (
    OPTED_OUT_SCORE,
    ORIGINATOR_SCORE,
    Candidate,
    find_candidates,
    find_fence,
    in_order,
    may_go,
)
from planner.reference.yunikorn.order import NO_TIES
from planner.reference.yunikorn.predicates import Predicates, predicates_of
from planner.reference.yunikorn.quota import CorePanics, preempt_quota
from planner.reference.yunikorn.turn import Preconditions, check, placeholder_for
from planner.state.yunikorn import Allocation, Ask
from planner.state.yunikorn_release import V1_8


class Plan(Struct, frozen=True):
    """The plan of a node: its candidates in order, the victims, and how many of them are needed.

    The victims up to and including ``index`` make room; -1 means that there is room already.
    """

    room: NodeRoom
    group: Sequence[Candidate]
    index: int
    victims: Sequence[Candidate]


@keeps(laws.YK_WITHIN_GUARANTEED)
def can_help(snapshot: Snapshot, candidates: Sequence[Candidate]) -> bool:
    """Say whether preemption can help at all: the ask fits into what is left of the guaranteed.

    Where the leaf has no guaranteed of its own, removals may make room in that of an ancestor. Up
    to 1.7 some removal has to be possible, and to leave room in all types.
    """
    trial = snapshot.fresh()
    rest = trial.remaining()
    if rest is not None and fits_raw(rest, trial.ask) and not trial.older:
        return True
    # The order does not matter: removals only add to what is left.
    trial.add(trial.leaf, trial.ask)
    for candidate in candidates:
        trial.remove(candidate.queue, candidate.resource)
        if _is_within(trial):
            return True
    return False


def _is_within(trial: Snapshot) -> bool:
    """Say whether the ask's leaf is within its guaranteed in the types of the ask; None is not.

    Up to 1.7 that is tested in all types.
    """
    rest = trial.remaining()
    if rest is None:
        return False
    return ge_all(rest, {}) if trial.older else under(rest, trial.ask)


@keeps(laws.YK_FITS_NODE)
def plan_node(snapshot: Snapshot, room: NodeRoom, group: Sequence[Candidate]) -> Plan | None:
    """Return the plan of a node with its candidates in order, None if none makes room."""
    if fits_in(room.available, snapshot.ask):
        return Plan(room, group, -1, ())
    return _second_pass(snapshot.fresh(), room, group, _first_pass(snapshot.fresh(), room, group))


def _first_pass(trial: Snapshot, room: NodeRoom, group: Sequence[Candidate]) -> list[Candidate]:
    """Order the candidates: those that lessen the shortfall first, then those that do not."""
    free: Resource = room.available
    head: list[Candidate] = []
    tail: list[Candidate] = []
    for candidate in group:
        if not trial.takeable(candidate.queue):
            continue
        # The core ends the pass here, although later candidates may be smaller (§7).
        if not charge(trial, candidate)[0]:
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


@keeps(laws.YK_OVER_GUARANTEED)
def _second_pass(
    trial: Snapshot, room: NodeRoom, group: Sequence[Candidate], ordered: Sequence[Candidate]
) -> Plan | None:
    """Take all candidates that are still takeable, and note with which of them the ask fits."""
    free: Resource = room.available
    victims: list[Candidate] = []
    index = -1
    for candidate in ordered:
        # Tested anew: the leaf of the ask is not charged here, and the order has changed.
        if not trial.takeable(candidate.queue):
            continue
        trial.remove(candidate.queue, candidate.resource)
        free = plus(free, candidate.resource)
        if index < 0 and fits_in(free, trial.ask):
            index = len(victims)
        victims.append(candidate)
    return None if index < 0 else Plan(room, group, index, victims)


def charge(trial: Snapshot, candidate: Candidate) -> tuple[bool, Amount]:
    """Move a candidate's amount to the ask's leaf, if that has as much of its guaranteed left.

    Up to 1.7 it only must not be over it afterwards, in some type and under it in none. Returns
    whether it was moved, and what was left to the leaf before it was charged.
    """
    trial.remove(candidate.queue, candidate.resource)
    rest = trial.remaining()
    trial.add(trial.leaf, candidate.resource)
    if trial.older:
        after = trial.remaining()
        is_moved = after is None or not gt_zero(minus({}, after))
    else:
        is_moved = rest is not None and fits_raw(rest, candidate.resource)
    if not is_moved:
        discharge(trial, candidate)
    return is_moved, rest


def discharge(trial: Snapshot, candidate: Candidate) -> None:
    """Undo `charge`."""
    trial.remove(trial.leaf, candidate.resource)
    trial.add(candidate.queue, candidate.resource)


BATCH: Final = 10
# Below all flags, and above any index: an answer with a lower score has neither flag.
SATISFACTORY: Final = 1 << 32
NO_CANDIDATE_SCORE: Final = 1 << 35


Success = tuple[str, tuple[Candidate, ...]]
"""The node that was made free, and the victims in the order in which they are released."""


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
    and nodes that have no order in the core.
    """
    ask = asking.ask
    fence = find_fence(asking.leaf, ask, cluster.release)
    candidates = in_order(find_candidates(asking.leaf, ask, fence), ties)
    snapshot = Snapshot(asking.leaf, ask.resource, older=cluster.release < V1_8)
    if not can_help(snapshot, candidates):
        return None
    # The candidates of each node, in their order.
    groups: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.allocation.node_id].append(candidate)
    plans = (
        plan_node(snapshot, room, groups.get(room.node_id, ()))
        for room in cluster.nodes
        if is_usable(cluster, room, ask)
    )
    # Nodes with room are left out if they were tried: something else refused the ask there.
    checks = [plan for plan in plans if plan is not None and (plan.victims or not nodes_tried)]
    # Fewer victims first; a node with room (-1) before all others.
    checks.sort(key=lambda plan: (plan.index, plan.room.node_id))
    choice = _choose(checks, predicates, ties)
    if choice is None:
        return None
    plan, index = choice
    chosen = plan.victims[: index + 1]
    more = _additional(snapshot, chosen, candidates)
    return None if more is None else _final(snapshot, plan.room, [*chosen, *more])


def _choose(
    checks: Sequence[Plan], predicates: Predicates | None, ties: Mapping[str, int]
) -> tuple[Plan, int] | None:
    """Choose the node, and the index of its last victim: the first node without a callback.

    With a callback it is the node of the lowest score, batch by batch; of equal ones that which
    answers first.
    """
    if predicates is None:
        return (checks[0], checks[0].index) if checks else None
    best: tuple[tuple[int, int, int], Plan, int] | None = None
    for start in range(0, len(checks), BATCH):
        for plan in checks[start : start + BATCH]:
            if plan.victims:
                index = predicates.first_index(plan.room, plan.victims, plan.index)
            else:
                index = -1 if predicates.passes(plan.room) else None
            if index is not None:
                rank = score_of(plan, index), start, ties.get(plan.room.node_id, 0)
                if best is None or rank < best[0]:
                    best = (rank, plan, index)
        # No further batch is asked, though a node in it might score lower.
        if best is not None and best[0][0] < SATISFACTORY:
            break
    if best is None:
        return None
    _, plan, index = best
    # An answer beyond the victims it was asked about fails, though another node might do.
    return None if index >= len(plan.victims) else (plan, index)


@keeps(laws.YK_LAST_TIER)
def score_of(plan: Plan, index: int) -> int:
    """Return the score of a successful answer; the lowest wins.

    The flags are those of the first allocations of the node's own order, not of the victims.
    """
    # Even a node that needs no victim is the worst if it has no candidate (§8).
    if not plan.group or index >= len(plan.group):
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


@keeps(laws.YK_OVER_GUARANTEED, laws.YK_WITHIN_GUARANTEED)
def _additional(
    snapshot: Snapshot, chosen: Sequence[Candidate], candidates: Sequence[Candidate]
) -> list[Candidate] | None:
    """Find further victims on any node; None if they leave the ask's leaf over its guaranteed.

    The ask's leaf is charged with each of them, but not with the victims chosen before.
    """
    trial = snapshot.fresh()
    for candidate in chosen:
        trial.remove(candidate.queue, candidate.resource)
    more: list[Candidate] = []
    taken = {candidate.key for candidate in chosen}
    for candidate in candidates:
        if candidate.key in taken or not trial.takeable(candidate.queue):
            continue
        is_moved, before = charge(trial, candidate)
        if not is_moved:
            break
        # The removal changed nothing for the leaf, so the candidate does not help.
        if same_or_zero(before, trial.remaining()):
            discharge(trial, candidate)
        else:
            more.append(candidate)
    tested = more or trial.older
    return None if tested and not _is_within(trial) else more


def _final(snapshot: Snapshot, room: NodeRoom, victims: Sequence[Candidate]) -> Success | None:
    """Collect victims until the ask is exceeded in one type; free space does not count.

    The result may be too small for the node, larger than needed, or even empty.
    """
    if not victims:
        return None
    ask, total = snapshot.ask, dict[str, int]()
    anywhere = fits_in(room.available, ask)
    final = []
    for victim in victims:
        if not anywhere and victim.allocation.node_id != room.node_id:
            continue
        # Tested before the victim is added: the victim that reaches the ask is still taken.
        if gt_known(ask, total):
            final.append(victim)
        total = plus(total, victim.resource)
    return None if gt_known(ask, total) else (room.node_id, tuple(final))


class CoreHangs(UnsupportedError):  # noqa: N818 - it says what the core does
    """The core locks itself and schedules nothing any more."""


def cancelled_by(cluster: Cluster, asking: Asking) -> set[str]:
    """Return the reservations that an attempt to preempt cancels, whether it succeeds or not.

    Raises `CoreHangs` if one is of the same application, which the core has locked by then.
    """
    ask = asking.ask
    lost = {key for room in cluster.nodes for key in cancelled(cluster, room, ask)}
    if not lost:
        return lost
    fence = find_fence(asking.leaf, ask, cluster.release)
    found = find_candidates(asking.leaf, ask, fence)
    if not can_help(Snapshot(asking.leaf, ask.resource), found):
        return set()
    own = [one.allocation_key for one in asking.application.requests if one.allocation_key in lost]
    if own:
        said = f"to preempt for {ask.allocation_key} it cancels the reservation of {own[0]}"
        raise CoreHangs("YuniKorn", f"{said}, of the same application, and locks itself for ever")
    return lost


@keeps(laws.YK_FITS_NODE)
def preempt_required_node(
    cluster: Cluster, ask: Ask, room: NodeRoom, ties: Mapping[str, int]
) -> tuple[Candidate, ...]:
    """Return the victims on the required node, in order; none if they would not suffice.

    The free space of the node does not lessen the number of victims.
    """
    # By ties first: the next sort keeps that order where the core has none.
    held = sorted(_eligible(cluster, ask, room), key=lambda candidate: ties.get(candidate.key, 0))
    held.sort(key=cmp_to_key(_compare))
    victims = []
    taken: dict[str, int] = {}
    for candidate in held:
        if ge_all(taken, ask.resource):
            break
        taken = plus(taken, candidate.resource)
        victims.append(candidate)
    # Free space counts here, but not above: there may be more victims than needed (§11.1).
    suffices = ge_all(plus(taken, room.available), ask.resource)
    return tuple(victims) if suffices else ()


@keeps(laws.YK_PREEMPTABLE, laws.YK_PRIORITY)
def _eligible(cluster: Cluster, ask: Ask, room: NodeRoom) -> list[Candidate]:
    return [
        Candidate(allocation, cluster.tree.leaf_of(application), application.application_id)
        for application in cluster.partition.applications
        for allocation in application.allocations
        if allocation.node_id == room.node_id
        and not allocation.x.not_on_node
        and allocation.priority <= ask.priority
        and may_go(allocation, ask.resource, released=cluster.release < V1_8)
    ]


@keeps(laws.YK_LAST_TIER)
def _class_of(allocation: Allocation) -> int:
    """Rank ordinary allocations first, then those opted out, then originators."""
    if allocation.originator:
        return 3
    return 2 if allocation.opted_out else 1


def _compare(left: Candidate, right: Candidate) -> int:
    """Compare as the core sorts; equal or incomparable sizes have no order there."""
    a, b = left.allocation, right.allocation
    first, second = ((_class_of(one), one.priority, -one.allocation_time) for one in (a, b))
    if first != second:
        return -1 if first < second else 1
    if equal(a.resource, b.resource):
        return 0
    # No strict order: of two that are each larger in some type, each precedes the other.
    return 1 if gt_zero(minus(a.resource, b.resource)) else -1


Kind = Literal["generic", "required-node", "quota", "panic", "hangs"]


class Decision(Struct, frozen=True):
    """What is decided for one ask, or for one queue above its maximum.

    A preemption may be triggered without victims; ``node`` is the node it reserves. ``replaces`` is
    a placeholder of which the ask takes the place. At ``panic`` the core ends, and at ``hangs`` it
    schedules nothing any more.
    """

    kind: Kind
    conditions: Preconditions | None
    triggered: bool = False
    node: str | None = None
    victims: tuple[Candidate, ...] = field(default=())
    replaces: Allocation | None = None

    @property
    def fits_at_once(self) -> bool:
        """Whether the ask is allocated without preemption, once it has its turn."""
        if self.replaces is not None:
            return True
        return self.conditions is not None and self.conditions.allocatable_now

    @property
    def victim_keys(self) -> tuple[str, ...]:
        """The allocation keys of the victims, in the order in which they are released."""
        return tuple(victim.key for victim in self.victims)


def decide(
    cluster: Cluster, asking: Asking, *, callback: bool = True, ties: Mapping[str, int] = NO_TIES
) -> Decision:
    """Decide for an ask of a prepared partition whether it preempts, on which node, and whom.

    ``callback`` says that the shim has registered its predicates, as it always does in a cluster.
    ``ties`` are ranks for what has no order in the core: allocations, by key, equal in opt-out,
    originator and creation time, and nodes of equal score. Without ``ties`` they keep the order of
    the state, and that of the names of nodes.
    """
    if asking.shares is not None:
        return _of_lowered_quota(cluster, asking, ties)
    ask, direct = asking.ask, cluster.x.direct
    found: Success | None = None
    kind: Kind = "required-node" if ask.required_node else "generic"
    if direct is None and (held := placeholder_for(cluster, asking)):
        return Decision(kind, None, replaces=held)
    room = cluster.node(ask.required_node) if ask.required_node else None
    if ask.required_node and room is None:
        return Decision(kind, None)
    conditions = check(cluster, asking)
    # Some recorded states call the preemptor directly, whatever its conditions say.
    if direct is None and not conditions.attempted:
        return Decision(kind, conditions)
    if room is not None:
        victims = preempt_required_node(cluster, ask, room, ties)
        found = (room.node_id, victims) if victims else None
    else:
        registered = callback and cluster.x.predicates != "none"
        shim = predicates_of(cluster, ask) if registered else None
        tried = conditions.nodes_tried if direct is None else direct.nodes_tried
        try:
            cancelled_by(cluster, asking)
            found = try_preemption(cluster, asking, shim, nodes_tried=tried, ties=ties)
        except CoreHangs:
            kind = "hangs"
    if found is None:
        return Decision(kind, conditions)
    return Decision(kind, conditions, True, *found)  # noqa: FBT003


def _of_lowered_quota(cluster: Cluster, asking: Asking, ties: Mapping[str, int]) -> Decision:
    try:
        victims = preempt_quota(asking.leaf, ties, cluster.release).victims
    except CorePanics:
        return Decision("panic", None)
    return Decision("quota", None, bool(victims), None, victims)
