r"""A finished plan matched with the state, and an order in which its victims can be removed.

An order is built from the victims that can be last, and proved by replaying every removal.

Kueue tests each removal at its moment (docs/semantics/kueue.md §5.6). A victim of another
queue may go only while its queue, and every cohort between that and the lowest common ancestor,
is over quota in some contested flavor-resource. Usage only falls while victims go, and usage of
a node depends on nothing but the victims below it; so below each such node n the last victim
meets the hardest test, that n is over quota with nothing left to remove but that victim.

A victim can be the last one below n exactly if it passes this test at n and, as it is then also
the last one further down, at every node between its queue and n. Walking every victim up once,
until it fails, therefore finds for every node all victims that can be its last one:

    can(n) = { v below n : u(m, S \ {v}) over quota for every m from the queue of v up to n }

If some can(n) is empty, no order is legal. Otherwise choose from the top down: a node takes its
parent's choice if that lies below it, and any of can(n) if not; remove at each node the victims of
its last child after those of its other children. Every other removal below n happens with more left
to remove, so it passes too. Cost: victims × depth × contested flavor-resources.

Sums must not saturate for this: usage at the limit of 64 bits does not fall. The replay still
accepts nothing but a legal order then, but another legal order may be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, singledispatch
from typing import ClassVar, Self

from msgspec import Struct, field

from planner.errors import LookupFailed
from planner.laws.kueue import KQ_FITS, KQ_HOLDS_CONTESTED
from planner.plan.kueue import Plan
from planner.quota.kueue.amount import saturating_add, subtract
from planner.quota.kueue.assignment import (
    Assignment,
    contested,
    total_request,
    whole_request,
)
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import placed_groups
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import Usage
from planner.state.kueue import Configuration
from planner.verifier.kueue.setting import Setting, say_amount, say_node
from planner.verifier.kueue_topology import Floor
from planner.verifier.wording import misnamed, say_some

LastVictims = Mapping[int, Sequence[int]]
"""Per touched node off the preemptor's path: positions of the victims that can be last there."""


class Removal(Struct, frozen=True):
    """The result of removing the victims.

    ``order`` is a legal order, empty if there is none (or no victim); ``obstacle`` says in words
    why there is none. ``usage`` is the usage after all victims are gone, legally or not.
    """

    order: tuple[Admitted, ...]
    obstacle: str
    usage: Usage


@singledispatch
def remove_all(setting: Setting, victims: Sequence[Admitted]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if there is none.

    Other rules register a function of their own for their settings.
    """
    after = setting.snapshot.usage.copy()
    for victim in victims:
        after.remove(victim.queue, victim.usage)
    # First all victims are removed, then each is put back alone: no order need be guessed.
    subtree, last = setting.snapshot.tree.subtree, dict[int, list[int]]()
    for position, victim in enumerate(victims):
        over = True
        for node, left in usage_with(setting, victim, after, setting.contested):
            # Once a victim fails it cannot be last further up: it would be last here, too.
            over = over and any(left[fr] > subtree[node][fr] for fr in left)
            positions = last.setdefault(node, [])
            if over:
                positions.append(position)
    stuck = lowest_stuck(setting, victims, last)
    if stuck is not None:
        obstacle = say_stuck(setting, *stuck, after, setting.contested)
        return Removal((), obstacle, after)
    return replay(setting, arrange(setting, victims, last))


def replay(setting: Setting, order: Sequence[Admitted]) -> Removal:
    """Remove one victim after the other; stop judging at the first that Kueue would not take."""
    usage = setting.snapshot.usage.copy()
    obstacle = ""
    for victim in order:
        if not obstacle:
            side = setting.side(victim.queue)
            # Before the removal, as Kueue does: one may end within quota, but not begin within it.
            within = next((n for n in side if usage.within_nominal(n, setting.contested)), None)
            if within is not None:
                used = {fr: usage.amount[within][fr] for fr in setting.contested}
                obstacle = f"{say_node(setting.snapshot, within)} is " + say_within(
                    setting, within, used, (victim.key,)
                )
        usage.remove(victim.queue, victim.usage)
    return Removal(() if obstacle else tuple(order), obstacle, usage)


def usage_with(
    setting: Setting, victim: Admitted, after: Usage, frs: Iterable[int]
) -> Iterator[tuple[int, dict[int, int]]]:
    """Yield the nodes above a victim, up to the common ancestor, with their usage if it is back.

    A node passes on to its parent what exceeds the free part of what it keeps for itself.
    """
    rise = {fr: victim.usage.get(fr, 0) for fr in frs}
    for node in setting.side(victim.queue):
        yield node, {fr: saturating_add(after.amount[node][fr], more) for fr, more in rise.items()}
        # What is put back fills the part that is never lent first, and only the rest rises (§3).
        rise = {fr: max(0, subtract(more, after.local_free(node, fr))) for fr, more in rise.items()}


def arrange(setting: Setting, victims: Sequence[Admitted], last: LastVictims) -> list[Admitted]:
    """Order victims: those of the own queue first, then per node those of its last child last."""
    tree = setting.snapshot.tree
    chosen: dict[int, int] = {}
    # From the top down: a choice above binds all nodes between it and the queue of the victim.
    for node in sorted(last, key=lambda touched: len(tree.path(touched))):
        above = chosen.get(tree.nodes[node].parent)
        # Choices must be nested: the last victim below a cohort is the last in its queue, too.
        inherits = above is not None and node in setting.side(victims[above].queue)
        chosen[node] = above if above is not None and inherits else last[node][-1]

    def key(position: int) -> tuple[tuple[bool, int], ...]:
        # From the top down: is this the branch that must go last, and which branch is it?
        steps = []
        above = -1
        for node in reversed(setting.side(victims[position].queue)):
            steps.append((above == chosen[node], node))
            above = chosen[node]
        return (*steps, (above == position, position))

    own = [v for v in victims if not setting.side(v.queue)]
    others = [i for i, v in enumerate(victims) if setting.side(v.queue)]
    return own + [victims[i] for i in sorted(others, key=key)]


def lowest_stuck(
    setting: Setting, victims: Sequence[Admitted], last: LastVictims
) -> tuple[int, Sequence[Admitted]] | None:
    """Return the lowest node at which no victim can be the last one, and who can be below it.

    ``None`` if there is no such node.
    """
    tree = setting.snapshot.tree
    stuck = [node for node, positions in last.items() if not positions]
    if not stuck:
        return None
    node = max(stuck, key=lambda node: len(tree.path(node)))
    if tree.nodes[node].is_queue:
        return node, [victim for victim in victims if victim.queue == node]
    positions = {i for child in tree.children[node] for i in last.get(child, ())}
    return node, [victims[i] for i in sorted(positions)]


def say_stuck(
    setting: Setting, node: int, contenders: Sequence[Admitted], after: Usage, frs: Iterable[int]
) -> str:
    """Say of a node where no victim can be last how much it uses, at most, before the last goes."""
    best: dict[int, int] = {}
    for victim in contenders:
        left = dict(usage_with(setting, victim, after, frs))[node]
        best = {fr: max(amount, best.get(fr, amount)) for fr, amount in left.items()}
    whichever = "" if len(contenders) == 1 else ", whichever of them that is"
    return (
        f"before its last victim goes{whichever}, {say_node(setting.snapshot, node)} is "
        + say_within(setting, node, best, [v.key for v in contenders])
    )


def say_within(setting: Setting, node: int, used: Mapping[int, int], victims: Sequence[str]) -> str:
    """Say that a node is not over its quota, with what it uses of each flavor-resource."""
    snapshot = setting.snapshot
    kind = "nominal" if snapshot.tree.nodes[node].is_queue else "subtree"
    amounts = say_uses(snapshot, kind, used, snapshot.tree.subtree[node])
    nothing = ": nothing is contested" if not setting.contested else ""
    detail = f" ({say_some(amounts)})" if amounts else nothing
    return f"not over its quota{detail}, so Kueue would not take {say_some(victims)}"


def say_uses(
    snapshot: Snapshot, kind: str, used: Mapping[int, int], quota: Mapping[int, int] | Sequence[int]
) -> list[str]:
    """Say of each flavor-resource how much is used, and of how much quota."""
    return [
        f"uses {say_amount(snapshot, fr, used[fr])} of {kind} quota "
        f"{say_amount(snapshot, fr, quota[fr], named=False)}"
        for fr in sorted(used)
    ]


class Case(Struct, frozen=True, dict=True):
    """Victims of one attempt in one setting.

    ``borrowing`` names the attempt, ``None`` when nothing is evicted. ``victims`` are in plan
    order, each once; ``reasons`` are the codes the plan gives them. ``faults`` are statements of
    the plan that do not match the state at all, in words, by the name of the law they break;
    ``rules`` is the rule set that judges the case.
    """

    rules: ClassVar = "kueue-classical"

    setting: Setting
    borrowing: bool | None
    victims: tuple[Admitted, ...]
    reasons: tuple[str, ...]
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.victims) != len(self.reasons):
            raise ValueError(f"{len(self.victims)} victims with {len(self.reasons)} reasons")

    @classmethod
    def matching(cls, setting: Setting, plan: Plan) -> Self:
        """Match a plan with the state; what cannot be matched becomes a fault, never an error."""
        named = {victim.workload: victim for victim in plan.victims}
        found = ((key, setting.holder(key, victim.cluster_queue)) for key, victim in named.items())
        known = {key: holder for key, holder in found if holder is not None}
        # By the name of a law: the laws that read faults have these two names in all rule sets.
        faults = {
            KQ_FITS.name: tuple(assignment_faults(setting, plan.assignment)),
            KQ_HOLDS_CONTESTED.name: tuple(_victim_faults(setting, plan, known)),
        }
        reasons = tuple(named[key].reason for key in known)
        return cls(setting, plan.borrowing, tuple(known.values()), reasons, faults)

    @property
    def snapshot(self) -> Snapshot:
        """The snapshot as it was before any removal."""
        return self.setting.snapshot

    @property
    def own(self) -> list[tuple[Admitted, str]]:
        """The victims of the preemptor's own queue, with their reasons."""
        pairs = zip(self.victims, self.reasons, strict=True)
        return [pair for pair in pairs if pair[0].queue == self.setting.queue]

    @property
    def others(self) -> list[tuple[Admitted, str]]:
        """The victims of the tree's other queues, with their reasons."""
        pairs = zip(self.victims, self.reasons, strict=True)
        return [pair for pair in pairs if self.setting.side(pair[0].queue)]

    @cached_property
    def removal(self) -> Removal:
        """The result of removing the victims."""
        return remove_all(self.setting, self.victims)

    def obstacle(self, order: Sequence[Admitted]) -> str:
        """Say what prevents removing the victims in this order; empty if nothing does."""
        return replay(self.setting, order).obstacle

    @property
    def nothing_evicted(self) -> bool:
        """Whether the plan names no victims at all."""
        # A plan whose victims the state does not know evicts something, though nothing is matched.
        return not self.victims and not self.faults.get(KQ_HOLDS_CONTESTED.name)


def rules_fault(configuration: Configuration, rules: str) -> str:
    """Say why Kueue follows other rules under a Configuration; empty if it follows these."""
    if configuration.fair_sharing_on and rules == "kueue-classical":
        return "with fairSharing configured, Kueue makes no classical attempts"
    if not configuration.fair_sharing_on and rules == "kueue-fair":
        return "without fairSharing configured, Kueue does not compare shares"
    return ""


def setting_of(snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment) -> Setting:
    """Derive request and contested flavor-resources from an assignment.

    Raises ``LookupFailed`` if the snapshot does not know a flavor-resource of the assignment, or
    the nodes of a flavor.
    """
    groups = placed_groups(assignment, preemptor, snapshot)
    for flavor in (one.flavor for one in groups):
        if flavor not in snapshot.topologies.trees:
            found = f"pods are assigned flavor {flavor}, of whose nodes the state knows nothing"
            raise LookupFailed(preemptor.key, found, "its Topology and its nodes")
    return Setting(
        snapshot=snapshot,
        preemptor=preemptor,
        request=whole_request(assignment, preemptor, snapshot),
        contested=contested(assignment, snapshot),
        searched=total_request(assignment, preemptor, snapshot),
        floor=Floor(snapshot, groups),
    )


def _victim_faults(setting: Setting, plan: Plan, known: Mapping[str, Admitted]) -> Iterator[str]:
    others = "the workloads that hold quota"
    yield from misnamed(plan.keys, setting.preemptor.key, known, "the preemptor", others)
    for victim in plan.victims:
        holder = known.get(victim.workload)
        if holder and setting.snapshot.queue_name(holder.queue) != victim.cluster_queue:
            yield (
                f"{victim.workload} holds its quota in ClusterQueue "
                f"{setting.snapshot.queue_name(holder.queue)}, not in {victim.cluster_queue}"
            )


def assignment_faults(setting: Setting, assignment: Assignment) -> Iterator[str]:
    """Say what the assignment leaves out: a request left out would seem to fit."""
    if assignment.mode == "NoFit":
        yield "the assignment says NoFit: some podset has no flavors"
    requests = setting.preemptor.pod_sets
    names = [request.name for request in requests]
    assigned = [pods.name for pods in assignment.pod_sets]
    # Assignment stops at the first podset that fails, so a shorter list leaves podsets without
    # flavors (docs/semantics/kueue.md §4.1).
    if names != assigned:
        yield f"the assignment is for podsets {assigned}, the workload has {names}"
        return
    partial = any(request.pod_set.min_count is not None for request in requests)
    configuration = setting.snapshot.configuration
    strategy = configuration.resources.quota_check_strategy
    ignores = configuration.gate("QuotaCheckStrategy") and strategy == "IgnoreUndeclared"
    groups = setting.snapshot.queues[setting.queue].spec.resource_groups
    covered = {name for group in groups for name in group.covered_resources}
    for request, pods in zip(requests, assignment.pod_sets, strict=True):
        # Partial admission may reduce a count to minCount; its search counts from the spec,
        # whatever is reclaimable: it can scale a podset up (§4.8).
        least, most = request.pod_set.min_count or request.spec_count, request.spec_count
        reduced = pods.count is not None and partial and least <= pods.count <= most
        if pods.count not in {None, request.count} and not reduced:
            yield (
                f'podset "{request.name}" is assigned {pods.count} pods: it asks for '
                f"{request.count}, at least {min(least, request.count)}"
            )
        for resource, amount in request.totals.items():
            # A request of 0 may be without a flavor: Kueue skips it where nothing covers it (§4.1).
            skipped = not amount or (ignores and resource not in covered)
            if not skipped and resource not in pods.flavors:
                yield f'podset "{request.name}" asks for {resource} but gets no flavor for it'
