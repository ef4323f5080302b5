"""What an admitted workload holds, and when it queued.

Source: docs/semantics/kueue.md §2.1, §2.3 and §2.4; kueue ff69552e pkg/workload/workload.go
``totalRequestsFromAdmission``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from planner.quota.kueue.amount import arithmetic_of, divide
from planner.quota.kueue.request import pods_left
from planner.quota.kueue.tree import FlavorResource
from planner.state.kueue import ClusterQueue, Configuration, Workload
from planner.state.kueue_columns import Columns, Held
from planner.state.kueue_workload import BOOST_GATE, NEVER


class PodSetHolding(Struct, frozen=True):
    """What the pods of one podset hold: per resource the flavor, if it has one, and the amount."""

    name: str
    count: int
    flavors: Mapping[str, str]
    amounts: Mapping[str, int]


def pod_set_holdings(held: Held, configuration: Configuration) -> tuple[PodSetHolding, ...]:
    """Return what an admitted workload holds podset by podset, in the order of its admission.

    Where pods were reclaimed, each amount is divided by the admitted count, truncating, and
    multiplied by the count that is left. Resources without a flavor are listed, too.
    """
    exact, left = arithmetic_of(configuration.rules), pods_left(held, configuration)
    spec, found = dict(held.counts), list[PodSetHolding]()
    for name, said, flavors, resources, nano in held.assigned:
        count = spec.get(name, 0) if said is None else said
        after = left.get(name, 0)
        amounts = dict(zip(resources, map(exact.units, nano, resources), strict=True))
        # Divided first, as in Kueue: the remainder is lost. A count of 0 is no divisor, though in
        # older releases the count that is left may be negative, and so below it.
        if after < count and count != 0:
            amounts = {r: exact.multiply(divide(n, count), after) for r, n in amounts.items()}
            count = after
        found.append(PodSetHolding(name, count, dict(flavors), amounts))
    return tuple(found)


def running_of(
    held: Held, configuration: Configuration, holdings: Sequence[PodSetHolding]
) -> dict[str, int]:
    """Return how many pods of each podset run: those admitted, without the reclaimable ones."""
    running = pods_left(held, configuration)
    for one in holdings:
        if one.name in running:
            running[one.name] = min(running[one.name], one.count)
    return running


def is_concurrent(queue: ClusterQueue, configuration: Configuration) -> bool:
    """Say whether the variants of a workload compete in a ClusterQueue.

    Then only variants are admitted there, and only they hold quota
    (docs/semantics/kueue-features.md §7).
    """
    policy = queue.spec.concurrent_admission
    return policy is not None and configuration.gate("ConcurrentAdmission")


def effective_priority(workload: Workload, configuration: Configuration) -> int:
    """Return the priority, plus the boost annotation where the gate PriorityBoost is on."""
    return workload.priority + (workload.boost if configuration.gate(BOOST_GATE) else 0)


def effective_priorities(columns: Columns, configuration: Configuration) -> NDArray[np.int64]:
    """Return the effective priority of each workload: (N,)."""
    return columns.priority + (columns.boost if configuration.gate(BOOST_GATE) else 0)


def queue_order_time(workload: Workload, configuration: Configuration) -> datetime:
    """Return the timestamp that orders the workload in its queue (docs/semantics/kueue.md §2.4)."""
    evicted = workload.condition("Evicted")
    if evicted and evicted.is_true:
        settings = configuration.wait_for_pods_ready
        by_creation = settings and settings.requeuing_strategy.timestamp == "Creation"
        # Only these evictions move a workload in its queue: a preempted one keeps its place.
        moving = {"AdmissionCheck"} if by_creation else {"AdmissionCheck", "PodsReadyTimeout"}
        if evicted.reason in moving:
            return evicted.last_transition_time or NEVER
    if not configuration.gate("PrioritySortingWithinCohort"):
        preempted = workload.condition("Preempted")
        if preempted and preempted.is_true and preempted.reason == "InCohortReclaimWhileBorrowing":
            return (preempted.last_transition_time or NEVER) + timedelta(milliseconds=1)
    return workload.metadata.creation_timestamp or NEVER


class Shape(Struct, frozen=True, eq=False):
    """What a workload holds: amounts per fr, the fr it names a flavor for, the pods that run.

    ``usage`` and ``names`` have indices of fr. It is told from others by identity, which is faster:
    holders of the same usage mostly share it.
    """

    usage: Mapping[int, int]
    names: AbstractSet[int]
    pods: int


def shape_of(
    held: Held, configuration: Configuration, number: Callable[[FlavorResource], int]
) -> Shape:
    """Return the shape of what a workload holds by its admission; nothing if it is not admitted.

    ``number`` returns the index of a flavor-resource.
    """
    exact = arithmetic_of(configuration.rules)
    amounts: dict[FlavorResource, int] = {}
    named = set[FlavorResource]()
    holdings = pod_set_holdings(held, configuration)
    for one in holdings:
        named.update(FlavorResource(flavor, r) for r, flavor in one.flavors.items())
        for resource, amount in one.amounts.items():
            if resource in one.flavors:
                fr = FlavorResource(one.flavors[resource], resource)
                amounts[fr] = exact.add(amounts[fr], amount) if fr in amounts else amount
    usage = {number(fr): amount for fr, amount in amounts.items()}
    names = {number(fr) for fr in sorted(named)}
    return Shape(usage, names, sum(running_of(held, configuration, holdings).values()))


class Shapes:
    """Makes the shapes of what the workloads of a state hold; a large one has 100,000.

    ``index`` has the fr that have quotas; further ones get their indices as workloads first hold
    or name them.
    """

    def __init__(self, configuration: Configuration, index: dict[FlavorResource, int]) -> None:
        self._configuration = configuration
        self._index = index
        self._units = arithmetic_of(configuration.rules).units
        self._forms: dict[tuple[object, object], tuple[Sequence[int], AbstractSet[int]] | None] = {}

    def shape_of(self, held: Held) -> Shape:
        """Return the shape of what a workload holds."""
        if len(held.assigned) == 1 and not held.reclaimable:
            name, pods, flavors, resources, amounts = held.assigned[0]
            form = self._form(flavors, resources)
            # Almost every workload: one podset, of which all pods run.
            if form is not None and pods is not None and held.counts == ((name, pods),):
                units = map(self._units, amounts, resources)
                return Shape(dict(zip(form[0], units, strict=True)), form[1], pods)
        return shape_of(held, self._configuration, self._number)

    def _form(
        self, flavors: tuple[tuple[str, str], ...], resources: tuple[str, ...]
    ) -> tuple[Sequence[int], AbstractSet[int]] | None:
        """Return the fr of each amount, and those that are named; ``None`` if not all are named."""
        if (flavors, resources) not in self._forms:
            frs = {resource: FlavorResource(flavor, resource) for resource, flavor in flavors}
            names = {*map(self._number, sorted(frs.values()))}
            places = [self._number(frs[one]) for one in resources if one in frs]
            is_whole = len(places) == len(resources)
            self._forms[flavors, resources] = (places, names) if is_whole else None
        return self._forms[flavors, resources]

    def _number(self, fr: FlavorResource) -> int:
        return self._index.setdefault(fr, len(self._index))
