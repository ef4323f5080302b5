"""A YuniKorn plan matched with the state: what the laws judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from planner.laws.yunikorn import YK_FITS_NODE, YK_PREEMPTABLE
from planner.plan import Proof, YuniKornPlan
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, find_ask, prepare
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import Resource, minus, minus_known, plus
from planner.quota.yunikorn.snapshot import Snapshot
from planner.state.yunikorn import YuniKornState
from planner.verifier.yunikorn.removal import Removal, remove_all
from planner.verifier.yunikorn.victim import Victim

REQUIRED_NODE: Final = "yunikorn-required-node"
LAST_TIER: Final = "D0"
"""The term that counts opted-out and originator victims."""


@dataclass(frozen=True, slots=True)
class LastTier:
    """What a plan says of its last-tier victims: the level that counts them, where it has one.

    ``by_core`` says that the core chose them; ``value`` and ``bound`` are those of the level;
    ``resort`` says on what it rests that no legal set spares who opted out, ``proved`` that the
    plan claims to be proved best.
    """

    objective: str = ""
    by_core: bool = False
    value: int | None = None
    bound: int | None = None
    resort: Proof | None = None
    proved: bool = False


@dataclass(frozen=True)
class YuniKornCase:
    """Victims for one ask on one node, under a rule set.

    ``victims`` are in plan order, each once. ``faults`` is what the plan says that does not
    match the state at all, in words, by the name of the law it breaks.
    """

    cluster: Cluster
    asking: Asking
    rules: str
    node: NodeRoom | None
    victims: tuple[Victim, ...]
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    last_tier: LastTier = LastTier()

    @property
    def required_node(self) -> bool:
        """Whether the rules are those for an ask with a required node."""
        return self.rules == REQUIRED_NODE

    @property
    def nothing_evicted(self) -> bool:
        """Whether the plan names neither victims nor a node: the ask is to fit as it is."""
        return not self.victims and self.node is None and not any(self.faults.values())

    @property
    def snapshot(self) -> Snapshot:
        """The usage of the queues as it was before any removal."""
        return Snapshot(self.asking.leaf, self.asking.ask.resource)

    @cached_property
    def removal(self) -> Removal:
        """What comes of removing the victims one by one; with a required node, in any order."""
        if self.required_node:
            return Removal(self.victims, "")
        return remove_all(self.snapshot, self.victims)

    @property
    def touched(self) -> tuple[Queue, ...]:
        """The queues with a victim at or below them, from the root down."""
        found = {step.path: step for victim in self.victims for step in victim.queue.lineage}
        return tuple(sorted(found.values(), key=lambda queue: (len(queue.lineage), queue.path)))

    def used(self, queue: Queue) -> Resource:
        """Return what a queue uses today, without what is being preempted already."""
        # What is being preempted is on its way out, and counts as gone where guaranteed is compared
        # (docs/semantics/yunikorn.md §5).
        return minus_known(queue.allocated, queue.preempting) or {}

    def changed(self, queue: Queue, before: Resource) -> Resource:
        """Return an amount of a queue with the victims gone, and the ask where it belongs."""
        after = before
        for victim in self.victims:
            if queue in victim.queue.lineage:
                after = minus(after, victim.resource)
        return plus(after, self.asking.ask.resource) if queue in self.asking.leaf.lineage else after


def match_yunikorn(
    state: YuniKornState, plan: YuniKornPlan, cluster: Cluster | None = None
) -> YuniKornCase:
    """Match a plan with the state; what cannot be matched becomes a fault.

    Parameters
    ----------
    state
        What the plan was made for.
    plan
        The plan.
    cluster
        The plan's partition made ready, to save the time of doing so.

    Raises
    ------
    LookupFailed
        If the state has no such partition, or the plan's preemptor is not one of its asks.
    """
    if cluster is None:
        cluster = prepare(state, plan.partition)
    asking = find_ask(cluster, plan.preemptor)
    holders = _holders(cluster)
    node = None if plan.node is None else cluster.node(plan.node)
    unknown = [f"there is no node {plan.node}"] if plan.node is not None and node is None else []
    return YuniKornCase(
        cluster=cluster,
        asking=asking,
        rules=plan.rules,
        node=node,
        victims=tuple(holders[key] for key in dict.fromkeys(plan.keys) if key in holders),
        faults={
            YK_FITS_NODE.name: unknown,
            YK_PREEMPTABLE.name: tuple(_victim_faults(plan, holders)),
        },
        last_tier=_last_tier(plan),
    )


def rules_fault(asking: Asking, rules: str) -> str:
    """Say that an ask is planned by the rules of another kind of ask, if it is."""
    required = asking.ask.required_node
    if required and rules != REQUIRED_NODE:
        return f"{asking.ask.allocation_key} requires node {required}: it has rules of its own"
    if not required and rules == REQUIRED_NODE:
        return f"{asking.ask.allocation_key} requires no node"
    return ""


def _holders(cluster: Cluster) -> dict[str, Victim]:
    """Return everything that holds resources for an application, by its key."""
    holders = {}
    for application in cluster.partition.applications:
        queue = cluster.tree.leaf_of(application)
        for allocation in application.allocations:
            # One that the state puts on its node only is known to no application, and never a
            # victim.
            if not allocation.x.not_in_app:
                victim = Victim(allocation, queue, application.application_id)
                holders[victim.key] = victim
    return holders


def _victim_faults(plan: YuniKornPlan, holders: Mapping[str, Victim]) -> Iterator[str]:
    for key, count in Counter(plan.keys).items():
        if key == plan.preemptor:
            yield f"{key} is the ask itself"
        elif key not in holders:
            yield f"{key} is not among the allocations"
        if count > 1:
            yield f"{key} is named {count} times"
    for claim in plan.victims:
        held = holders.get(claim.allocation)
        if held and claim.application != held.application_id:
            yield f"{held.key} is of application {held.application_id}, not {claim.application}"
        if held and claim.queue != held.queue.path:
            yield f"{held.key} is in queue {held.queue.path}, not in {claim.queue}"


def _last_tier(plan: YuniKornPlan) -> LastTier:
    levels = plan.certificate.levels if plan.certificate else ()
    level = next((level for level in levels if level.term == LAST_TIER), None)
    return LastTier(
        objective=plan.objective,
        by_core=plan.algorithm == "yunikorn",
        value=None if level is None else level.value,
        bound=None if level is None else level.bound,
        resort=plan.certificate.last_resort if plan.certificate else None,
        proved=plan.claim == "optimal",
    )
