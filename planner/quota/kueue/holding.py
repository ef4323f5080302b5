"""What an admitted workload holds, and when it queued.

Source: docs/semantics/kueue.md §2.1, §2.3 and §2.4; kueue ff69552e pkg/workload/workload.go
``totalRequestsFromAdmission``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from planner.quantity import MAX_INT64, MIN_INT64
from planner.quota.kueue.amount import Arithmetic, arithmetic_of, divide
from planner.quota.kueue.request import counts_after_reclaim
from planner.quota.kueue.tree import FlavorResource
from planner.state.kueue import ClusterQueue, Configuration, Workload
from planner.state.kueue_facts import Entry, Facts, Layout
from planner.state.kueue_workload import BOOST_GATE, Told, run_of

NEVER = datetime.min.replace(tzinfo=UTC)
"""The value of a missing timestamp, which Kueue takes as the zero time."""

_MOVING = frozenset({"Evicted", "Preempted"})
"""Conditions that may move a workload in its queue."""

_OF_RUN = frozenset({"QuotaReserved", "Admitted", "PodsReady"})
"""Conditions that tell since when a workload runs."""

_BOOST = re.compile(r"[+-]?[0-9]{1,64}")


class PodSetHolding(Struct, frozen=True):
    """What the pods of one podset hold: per resource the flavor, if it has one, and the amount."""

    name: str
    count: int
    flavors: Mapping[str, str]
    amounts: Mapping[str, int]


_Held = tuple[str, int | None, AbstractSet[FlavorResource], Iterable[tuple[FlavorResource, int]]]
"""A podset's name, its pod count, the fr it names a flavor for, and its usage as (fr, units)."""


class Holding(NamedTuple):
    """What an admitted workload holds.

    ``amounts`` is the usage per flavor-resource; ``named`` is every fr it names a flavor for,
    whatever the amount; ``running`` is how many pods of each podset still run.
    """

    amounts: Mapping[FlavorResource, int]
    named: AbstractSet[FlavorResource]
    running: Mapping[str, int]

    @property
    def pods(self) -> int:
        """Return how many pods still run."""
        return sum(self.running.values())


def holding_of(workload: Workload, configuration: Configuration) -> Holding:
    """Return what an admitted workload holds; nothing if it is not admitted.

    Only ``status.admission`` counts. Where pods were reclaimed, each amount is divided by the
    admitted count, truncating, and multiplied by the count that is left. The pods that run are
    those admitted, without the reclaimable ones.
    """
    admission, exact = workload.status.admission, arithmetic_of(configuration.rules)
    held = []
    for one in admission.pod_set_assignments if admission else ():
        frs, named = _named(tuple(one.flavors.items()))
        units = [
            (frs[resource], exact.units(nano, resource))
            for resource, nano in one.resource_usage.items()
            if resource in frs
        ]
        held.append((one.name, one.count, named, units))
    spec = {one.name: one.count for one in workload.spec.pod_sets}
    return _holding(held, counts_after_reclaim(workload, configuration), spec, exact)


def holding_by_facts(facts: Facts, configuration: Configuration) -> Holding:
    """Return what a workload kept as facts holds; none of its pods is reclaimable."""
    counts = dict(facts.counts)
    held = []
    for layout, count, amounts in facts.held:
        frs, named, _ = of_layout(layout)
        units = zip(frs, amounts, strict=True)
        held.append((layout.name, count, named, [one for one in units if one[0] in named]))
    return _holding(held, counts, counts, arithmetic_of(configuration.rules))


@lru_cache(maxsize=4096)
def of_layout(layout: Layout) -> tuple[Sequence[FlavorResource], AbstractSet[FlavorResource], bool]:
    """Return the fr of each amount, the fr with a named flavor, and if all amounts have one."""
    named = _named(layout.flavors)[1]
    frs = [FlavorResource(flavor, resource) for flavor, resource in layout.held]
    return frs, named, named >= set(frs)


def _holding(
    held: Iterable[_Held], left: Mapping[str, int], spec: Mapping[str, int], exact: Arithmetic
) -> Holding:
    """Add up what podsets hold; ``left`` and ``spec`` are pod counts after reclaim and before."""
    pods = dict(left)
    amounts: dict[FlavorResource, int] = {}
    named: AbstractSet[FlavorResource] = frozenset()
    for name, count, all_named, usage in held:
        after = left.get(name, 0)
        if count is None:
            count = spec.get(name, 0)  # noqa: PLW2901 - what Kueue counts with
        elif name in left:
            pods[name] = min(after, count)
        named = named | all_named if named else all_named
        for fr, units in usage:
            # Divided first, as in Kueue: the remainder is lost. A count of 0 is no divisor, though
            # in older releases the count that is left may be negative, and so below it.
            less = after < count and count != 0
            amount = exact.multiply(divide(units, count), after) if less else units
            amounts[fr] = exact.add(amounts[fr], amount) if fr in amounts else amount
    return Holding(amounts, named, pods)


def pod_set_holdings(workload: Workload, configuration: Configuration) -> tuple[PodSetHolding, ...]:
    """Return what an admitted workload holds podset by podset, in the order of its admission.

    Amounts are as in ``holding_of``, but resources without a flavor are listed, too.
    """
    admission, exact = workload.status.admission, arithmetic_of(configuration.rules)
    left = counts_after_reclaim(workload, configuration)
    spec = {one.name: one.count for one in workload.spec.pod_sets}
    held = []
    for assigned in admission.pod_set_assignments if admission else ():
        name, usage = assigned.name, assigned.resource_usage.items()
        count, after = assigned.count, left.get(name, 0)
        if count is None:
            count = spec.get(name, 0)
        amounts = {resource: exact.units(nano, resource) for resource, nano in usage}
        if after < count and count != 0:
            amounts = {r: exact.multiply(divide(n, count), after) for r, n in amounts.items()}
            count = after
        held.append(PodSetHolding(name, count, assigned.flavors, amounts))
    return tuple(held)


@lru_cache(maxsize=4096)
def _named(
    flavors: tuple[tuple[str, str], ...],
) -> tuple[Mapping[str, FlavorResource], AbstractSet[FlavorResource]]:
    """Return the fr of each resource with a flavor, and their set; a dump has few such maps."""
    frs = {resource: FlavorResource(flavor, resource) for resource, flavor in flavors}
    return frs, frozenset(frs.values())


def is_concurrent(queue: ClusterQueue, configuration: Configuration) -> bool:
    """Say whether the variants of a workload compete in a ClusterQueue.

    Then only variants are admitted there, and only they hold quota
    (docs/semantics/kueue-features.md §7).
    """
    policy = queue.spec.concurrent_admission
    return policy is not None and configuration.gate("ConcurrentAdmission")


def effective_priority(entry: Entry, configuration: Configuration) -> int:
    """Return the priority, plus the boost annotation where the gate PriorityBoost is on.

    A boost that is no 32-bit decimal integer counts as 0.
    """
    priority, text = entry.priority, entry.boost
    if text is not None and configuration.gate(BOOST_GATE):
        boost = int(text) if _BOOST.fullmatch(text) else 0
        if -(2**31) <= boost < 2**31:
            priority += boost
    return min(max(priority, MIN_INT64), MAX_INT64)


class Progress(NamedTuple):
    """What the conditions of a workload say of its reservation and run.

    The first three are as in `Run`. ``moved`` says that a condition may have moved it in its queue.
    """

    reserved: bool
    reserved_s: float | None
    started_at: datetime | None
    evicted: bool
    moved: bool


def progress_of(workload: Workload) -> Progress:
    """Read the conditions in one pass: a state can have 200,000 workloads that run."""
    told: dict[str, Told] = {}
    evicted = moved = False
    for one in workload.status.conditions:
        kind = one.type
        if kind in _OF_RUN:
            told.setdefault(kind, (one.status, one.reason, one.last_transition_time))
        elif kind in _MOVING:
            moved = True
            evicted = evicted or (kind == "Evicted" and one.is_true)
    run = run_of(told, checked=bool(workload.status.admission_checks))
    return Progress(*run, evicted, moved)


def queue_order_time(entry: Entry, configuration: Configuration, *, moved: bool = True) -> datetime:
    """Return the timestamp that orders the workload in its queue (docs/semantics/kueue.md §2.4).

    ``moved`` is as in `Progress`: if false, no condition need be looked at.
    """
    created = entry.created or NEVER
    if not moved or isinstance(entry, Facts):
        return created
    evicted = entry.condition("Evicted")
    if evicted and evicted.is_true:
        settings = configuration.wait_for_pods_ready
        by_creation = settings and settings.requeuing_strategy.timestamp == "Creation"
        # Only these evictions move a workload in its queue: a preempted one keeps its place.
        moving = {"AdmissionCheck"} if by_creation else {"AdmissionCheck", "PodsReadyTimeout"}
        if evicted.reason in moving:
            return evicted.last_transition_time or NEVER
    if not configuration.gate("PrioritySortingWithinCohort"):
        preempted = entry.condition("Preempted")
        if preempted and preempted.is_true and preempted.reason == "InCohortReclaimWhileBorrowing":
            return (preempted.last_transition_time or NEVER) + timedelta(milliseconds=1)
    return created


_Key = tuple[object, ...]


class Shape(NamedTuple):
    """What a workload holds: amounts per fr, the fr it names a flavor for, the pods that run.

    ``usage`` and ``names`` have indices of fr.
    """

    usage: Mapping[int, int]
    names: AbstractSet[int]
    pods: int


def shape_of(holding: Holding, index: Mapping[FlavorResource, int]) -> Shape:
    """Return the shape of what a workload holds, all of whose fr have an index."""
    usage = {index[fr]: amount for fr, amount in holding.amounts.items()}
    return Shape(usage, {index[fr] for fr in holding.named}, holding.pods)


class _Form(NamedTuple):
    """What podsets of one layout share, if all its amounts have a named flavor."""

    places: Sequence[int]
    names: AbstractSet[int]
    known: dict[tuple[tuple[int, ...], int], Shape]


class Shapes:
    """What workloads of one state hold, worked out once for all that hold the same amounts.

    A dump of 100,000 workloads has some hundred shapes. ``index`` has the fr that have quotas;
    further ones get their indices as workloads first hold or name them.
    """

    def __init__(self, configuration: Configuration, index: dict[FlavorResource, int]) -> None:
        self._configuration = configuration
        self._index = index
        self._known: dict[_Key, Shape] = {}
        self._forms: dict[Layout, _Form | None] = {}
        self._seen: dict[tuple[int, int], Shape] = {}

    def of(self, entry: Entry) -> Shape:
        """Return what an admitted workload holds; ``entry`` must live as long as this is in use."""
        if isinstance(entry, Facts):  # equal parts are mostly one object here, too
            parts = id(entry.held), id(entry.counts)
            found = self._seen.get(parts)
            if found is None:
                found = self._seen[parts] = self._by_facts(entry)
            return found
        status = entry.status
        # Equal parts are mostly one object (see the reader); if not, nothing but time is lost.
        assignments = status.admission.pod_set_assignments if status.admission else ()
        key = (id(assignments), status.reclaimable_pods, id(entry.spec.pod_sets))
        if key not in self._known:
            self._known[key] = self._shape(holding_of(entry, self._configuration))
        return self._known[key]

    def _by_facts(self, facts: Facts) -> Shape:
        if len(facts.held) == 1:  # almost every workload: one podset, of which all pods run
            layout, pods, amounts = facts.held[0]
            form = self._form(layout)
            if form is not None and pods is not None and facts.counts == ((layout.name, pods),):
                found = form.known.get((amounts, pods))
                if found is None:
                    usage = dict(zip(form.places, amounts, strict=True))
                    found = form.known[amounts, pods] = Shape(usage, form.names, pods)
                return found
        key = facts.counts, facts.held
        if key not in self._known:
            self._known[key] = self._shape(holding_by_facts(facts, self._configuration))
        return self._known[key]

    def _form(self, layout: Layout) -> _Form | None:
        """Return what podsets of a layout share; ``None`` if an amount has no named flavor."""
        if layout not in self._forms:
            frs, named, is_whole = of_layout(layout)
            names = {*map(self._number, sorted(named))}
            self._forms[layout] = _Form([*map(self._number, frs)], names, {}) if is_whole else None
        return self._forms[layout]

    def _shape(self, holding: Holding) -> Shape:
        for fr in (*holding.amounts, *sorted(holding.named)):
            self._number(fr)
        return shape_of(holding, self._index)

    def _number(self, fr: FlavorResource) -> int:
        return self._index.setdefault(fr, len(self._index))
