"""A YuniKorn plan matched with the state, and an order in which its victims can be removed.

An order is built backwards, then replayed removal by removal. YuniKorn's objects are put in words
here, too: amounts as queues.yaml writes them, queues by their path.

The core takes a victim only while its queue has no guaranteed on its path, or less than nothing
left of it in some type of the ask (docs/semantics/yunikorn.md §5, ``takeable``). What is left
only grows while victims go, in every queue. So the order is read backwards, from the state
without any victim: a victim that can be put back now, as the last one to go, can still be put
back after others. Putting victims back until none can be therefore finds an order if there is
one; if some cannot be put back, no order is legal.

Within a queue only the first victim to be put back matters: with it the queue is over its
guaranteed, and all others of that queue follow. Cost: leaves with victims × victims × depth at
most, and victims × depth as a rule.

Sums must not saturate for this, and amounts not be negative. The replay still accepts nothing but
a legal order then, but another legal order may be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct, field

from planner.laws.yunikorn import YK_FITS_NODE, YK_PREEMPTABLE, Spared
from planner.plan.yunikorn import YuniKornPlan
from planner.quantity import format_units
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, prepare
from planner.quota.yunikorn.lowered import LOWERED, find_asking
from planner.quota.yunikorn.queue import Queue, Snapshot
from planner.quota.yunikorn.resource import Resource, minus, minus_known, plus
from planner.state.yunikorn import VCORE, Allocation, YuniKornState
from planner.state.yunikorn_release import V1_8
from planner.verifier.wording import misnamed, say_some


def say_amount(resource: str, units: int) -> str:
    """Write an amount in the core's unit with its type: 1500 of ``vcore`` is ``1500m vcore``."""
    return f"{format_units(units, 'cpu' if resource == VCORE else resource)} {resource}"


def say_amounts(amounts: Mapping[str, int], types: Iterable[str] | None = None) -> str:
    """Write the amounts of ``types``, of all if it is ``None``; "nothing" if there are none."""
    chosen = sorted(amounts) if types is None else [t for t in sorted(types) if t in amounts]
    return say_some([say_amount(t, amounts[t]) for t in chosen]) or "nothing"


def say_queue(queue: Queue) -> str:
    """Name a queue."""
    return f"queue {queue.path}"


class Victim(Struct, frozen=True, eq=False):
    """An allocation with the queue and the application that it belongs to."""

    allocation: Allocation
    queue: Queue
    application_id: str

    @property
    def key(self) -> str:
        """The key of the allocation."""
        return self.allocation.allocation_key

    @property
    def resource(self) -> Resource:
        """The resources of the allocation, in the core's units."""
        return self.allocation.resource

    def is_spared(self, spare: Spared) -> bool:
        """Say whether YK-01 spares the allocation."""
        if spare == "opted-out":
            return self.allocation.opted_out
        return spare == "last-tier" and self.last_tier

    @property
    def last_tier(self) -> bool:
        """Whether the allocation opted out of preemption, or is its application's originator."""
        return self.allocation.opted_out or self.allocation.originator


class Removal(Struct, frozen=True):
    """The result of removing the victims.

    ``order`` is a legal order, empty if there is none (or no victim); ``obstacle`` says in words
    why there is none.
    """

    order: tuple[Victim, ...]
    obstacle: str


def remove_all(snapshot: Snapshot, victims: Sequence[Victim]) -> Removal:
    """Find a legal order of removals and replay it; say what stands in the way if there is none."""
    state = snapshot.fresh()
    for victim in victims:
        state.remove(victim.queue, victim.resource)
    waiting: dict[str, list[Victim]] = {}
    for victim in victims:
        waiting.setdefault(victim.queue.path, []).append(victim)
    backwards: list[Victim] = []
    moved = True
    while waiting and moved:
        moved = False
        for path, group in list(waiting.items()):
            for last in group:
                # Can it be the queue's last to go?
                state.add(last.queue, last.resource)
                if not state.takeable(last.queue):
                    state.remove(last.queue, last.resource)
                    continue
                others = [victim for victim in group if victim is not last]
                for victim in others:
                    state.add(victim.queue, victim.resource)
                backwards += [last, *others]
                del waiting[path]
                # Other queues may follow: guaranteed of a common ancestor binds both.
                moved = True
                break
    if waiting:
        # For one queue: what it has left before the last of its victims goes.
        group = next(iter(waiting.values()))
        victim, keys = group[0], say_some([one.key for one in group])
        state.add(victim.queue, victim.resource)
        beside = "" if len(group) == 1 else f", with only {victim.key} of them still there"
        left = f"{say_queue(victim.queue)} has {_say_left(state, victim.queue)}"
        return Removal((), f"the core would not take {keys}: {left}{beside}")
    return replay(snapshot, backwards[::-1])


def replay(snapshot: Snapshot, order: Sequence[Victim]) -> Removal:
    """Remove one victim after the other, up to the first that the core would not take."""
    state = snapshot.fresh()
    for victim in order:
        if not state.takeable(victim.queue):
            left = _say_left(state, victim.queue)
            return Removal((), f"at the turn of {victim.key}, {say_queue(victim.queue)} has {left}")
        state.remove(victim.queue, victim.resource)
    return Removal(tuple(order), "")


def _say_left(state: Snapshot, queue: Queue) -> str:
    left = state.remaining(queue) or {}
    return f"{say_amounts(left, state.ask)} left of its guaranteed, not less than nothing"


REQUIRED_NODE: Final = "yunikorn-required-node"
LAST_TIER: Final = "last_resort"
"""The term that counts opted-out and originator victims."""


class YuniKornCase(Struct, frozen=True, dict=True):
    """Victims for one ask on one node, or for one queue, under a rule set.

    ``victims`` are in plan order, each once. ``faults`` are statements of the plan that do not
    match the state at all, in words, by the name of the law they break. Without a ``plan`` nothing
    is claimed of the victims.
    """

    cluster: Cluster
    asking: Asking
    rules: str
    node: NodeRoom | None
    victims: tuple[Victim, ...]
    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    plan: YuniKornPlan | None = None

    @property
    def required_node(self) -> bool:
        """Whether the rules are those for an ask with a required node."""
        return self.rules == REQUIRED_NODE

    @property
    def in_any_order(self) -> bool:
        """Whether victims may go in any order, and no offsets count: no guaranteed is looked at."""
        return self.rules in {REQUIRED_NODE, LOWERED}

    @property
    def nothing_evicted(self) -> bool:
        """Whether the plan names neither victims nor a node: the ask is to fit as it is."""
        return not self.victims and self.node is None and not any(self.faults.values())

    @property
    def snapshot(self) -> Snapshot:
        """The usage of the queues as it was before any removal."""
        return Snapshot(self.asking.leaf, self.asking.ask.resource, older=self.older)

    @property
    def older(self) -> bool:
        """Whether the rules of guaranteed amounts are those up to 1.7: all types count."""
        return self.cluster.release < V1_8

    @cached_property
    def removal(self) -> Removal:
        """The result of removing the victims one by one, or in any order."""
        if self.in_any_order:
            return Removal(self.victims, "")
        return remove_all(self.snapshot, self.victims)

    def obstacle(self, order: Sequence[Victim]) -> str:
        """Say what prevents removing the victims in this order; empty if nothing does."""
        return "" if self.in_any_order else replay(self.snapshot, order).obstacle

    @property
    def touched(self) -> tuple[Queue, ...]:
        """The queues with a victim at or below them, from the root down."""
        found = {step.path: step for victim in self.victims for step in victim.queue.lineage}
        return tuple(sorted(found.values(), key=lambda queue: (len(queue.lineage), queue.path)))

    def used(self, queue: Queue) -> Resource:
        """Return what a queue uses today, without what is being preempted already."""
        # That counts as gone where guaranteed is compared (docs/semantics/yunikorn.md §5).
        return minus_known(queue.allocated, queue.preempting) or {}

    def changed(self, queue: Queue, before: Resource) -> Resource:
        """Return an amount of a queue with the victims gone, and the ask added on its path."""
        after = before
        for victim in self.victims:
            if queue in victim.queue.lineage:
                after = minus(after, victim.resource)
        return plus(after, self.asking.ask.resource) if queue in self.asking.leaf.lineage else after


def match_yunikorn(
    state: YuniKornState, plan: YuniKornPlan, cluster: Cluster | None = None
) -> YuniKornCase:
    """Match a plan with the state; what cannot be matched becomes a fault.

    ``cluster`` is the plan's partition made ready, to save the time of doing so. Raises
    ``LookupFailed`` if the state has no such partition, or the plan's preemptor is not one of its
    asks, or of its queues.
    """
    cluster = cluster or prepare(state, plan.partition)
    cluster, asking = find_asking(cluster, plan.preemptor, plan.rules)
    # Everything that holds resources for an application, by its key.
    holders = {}
    for application in cluster.partition.applications:
        queue = cluster.tree.leaf_of(application)
        for allocation in application.allocations:
            # One known to its node only is in no application: a victim on a required node only.
            if asking.ask.required_node or not allocation.x.not_in_app:
                victim = Victim(allocation, queue, application.application_id)
                holders[victim.key] = victim
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
        plan=plan,
    )


def rules_fault(asking: Asking, rules: str) -> str:
    """Say why rules are those of another kind of ask; empty if they are this ask's."""
    required = asking.ask.required_node
    if required and rules != REQUIRED_NODE:
        return f"{asking.ask.allocation_key} requires node {required}: it has rules of its own"
    if not required and rules == REQUIRED_NODE:
        return f"{asking.ask.allocation_key} requires no node"
    return ""


def _victim_faults(plan: YuniKornPlan, holders: Mapping[str, Victim]) -> Iterator[str]:
    yield from misnamed(plan.keys, plan.preemptor, holders, "the ask", "the allocations")
    for claim in plan.victims:
        held = holders.get(claim.allocation)
        if held and claim.application != held.application_id:
            yield f"{held.key} is of application {held.application_id}, not {claim.application}"
        if held and claim.queue != held.queue.path:
            yield f"{held.key} is in queue {held.queue.path}, not in {claim.queue}"
