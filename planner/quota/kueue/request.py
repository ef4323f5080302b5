"""What a pending workload asks for: per podset, exact until the last conversion.

Source: docs/semantics/kueue.md §2.2; kueue ff69552e pkg/workload/workload.go
``totalRequestsFromPodSets`` and pkg/workload/resources.go ``AdjustResources``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from planner.quantity import MIN_INT64, NANO
from planner.quota.kueue.amount import SATURATING, Arithmetic, arithmetic_of, divide
from planner.state.kueue import Configuration, LimitRange, RuntimeClass, Workload
from planner.state.kueue_columns import Held, held_of
from planner.state.kueue_configuration import Transformation
from planner.state.kueue_release import Rules
from planner.state.kueue_workload import PodSet
from planner.state.pods import Container, PodSpec, Resources

PODS: Final = "pods"
"""The resource that counts pods: each takes one on its node, and of a queue that covers it."""
_POD_LEVEL = ("cpu", "memory")
_OFFSET: Final = 0xCBF29CE484222325
_PRIME: Final = 0x100000001B3


class PodSetRequest(Struct, frozen=True):
    """The requests of one podset, all its pods together, in Kueue's integer units.

    ``count`` leaves reclaimable pods out, ``spec_count`` does not. Zero requests stay listed.
    """

    pod_set: PodSet
    count: int
    totals: Mapping[str, int]
    arithmetic: Arithmetic = SATURATING

    @property
    def name(self) -> str:
        """The name of the podset."""
        return self.pod_set.name

    @property
    def spec_count(self) -> int:
        """The count the workload was written with."""
        return self.pod_set.count

    def scaled(self, count: int) -> PodSetRequest:
        """Return the request at another pod count: integer division first, as Kueue does."""
        if self.count in {0, count}:
            return self
        multiply = self.arithmetic.multiply
        totals = {
            name: multiply(divide(total, self.count), count) for name, total in self.totals.items()
        }
        return replace(self, count=count, totals=totals)

    def totals_at(self, count: int | None) -> dict[str, int]:
        """Return the totals at another pod count, if one is given, and all pods as ``pods``."""
        pods = self.count if count is None else count
        return {**self.scaled(pods).totals, PODS: pods}


class Amounts(Struct, frozen=True):
    """Requests and limits as exact amounts: of a pod or container, or defaults of a namespace."""

    requests: Mapping[str, int] = field(default_factory=dict)
    limits: Mapping[str, int] = field(default_factory=dict)


class Defaults(Struct, frozen=True):
    """What a namespace adds to its pods: container and pod defaults, and runtime overheads.

    ``pod`` is absent in releases that complete no requests for whole pods: neither defaults nor the
    pods' own limits stand in for what is missing (switch 27b of planner/state/kueue_release.py).
    """

    container: Amounts = field(default_factory=Amounts)
    pod: Amounts | None = field(default_factory=Amounts)
    overheads: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @classmethod
    def in_namespace(
        cls,
        namespace: str,
        limit_ranges: Iterable[LimitRange],
        runtime_classes: Iterable[RuntimeClass],
        rules: Rules,
    ) -> Defaults:
        """Collect the defaults of a namespace; of several LimitRanges the first value counts."""
        own = (one for one in limit_ranges if one.metadata.namespace == namespace)
        items = [item for one in own for item in one.spec.limits]
        container, pod = (
            Amounts(
                limits=_first_of(item.default for item in items if item.type == kind),
                requests=_first_of(item.default_request for item in items if item.type == kind),
            )
            for kind in ("Container", "Pod")
        )
        overheads = {rc.metadata.name: rc.overhead.pod_fixed for rc in runtime_classes}
        return cls(container, pod if rules.reads_pod_level else None, overheads)


class Charge(Struct, frozen=True):
    """What one pod takes for devices: amounts in nano-units, and the resources they replace."""

    replaced: frozenset[str] = frozenset()
    amounts: Mapping[str, int] = field(default_factory=dict)


NO_CHARGE: Final = Charge()


def counts_after_reclaim(workload: Workload, configuration: Configuration) -> dict[str, int]:
    """Return the pod count of each podset of a workload without its reclaimable pods."""
    return pods_left(held_of(workload), configuration)


def pods_left(held: Held, configuration: Configuration) -> dict[str, int]:
    """Return the pod count of each podset without its reclaimable pods.

    No count is below zero, except in older releases (switch 27a of planner/state/kueue_release.py).
    """
    left = dict(held.counts)
    if not held.reclaimable or not configuration.gate("ReclaimablePods"):
        return left
    reclaimable = dict(held.reclaimable)
    left = {name: count - reclaimable.get(name, 0) for name, count in left.items()}
    if configuration.rules.clamps_reclaimable:
        return {name: max(0, count) for name, count in left.items()}
    return left


def pod_set_requests(
    workload: Workload,
    configuration: Configuration,
    defaults: Defaults,
    charges: Mapping[str, Charge] | None = None,
) -> tuple[PodSetRequest, ...]:
    """Return the requests of every podset of a pending workload, in the order of its spec.

    ``charges`` is what its pods take for devices, per podset: neither excluded prefixes nor
    transformations apply to that.
    """
    counts = counts_after_reclaim(workload, configuration)
    settings, rules = configuration.resources, configuration.rules
    arithmetic, floor = arithmetic_of(rules), 0 if rules.floors_requests else MIN_INT64
    requests = []
    for pods in workload.spec.pod_sets:
        exact = pod_request(pods.template.spec, defaults).items()
        kept = {name: n for name, n in exact if not name.startswith(settings.exclude_prefixes)}
        # In Kueue's order: excluded prefixes, transformations, devices, then units and the count.
        per_pod = dict(_transform(kept, settings.transformations, rules))
        charge = charges.get(pods.name, NO_CHARGE) if charges else NO_CHARGE
        for name in charge.replaced & per_pod.keys():
            del per_pod[name]
        add_to(per_pod, charge.amounts)
        count = counts[pods.name]
        totals = {
            # Rounded per pod; the usage of admitted workloads was rounded once, on the total.
            name: arithmetic.multiply(max(floor, arithmetic.units(amount, name)), count)
            for name, amount in per_pod.items()
        }
        requests.append(PodSetRequest(pods, count, totals, arithmetic))
    return tuple(requests)


def pod_request(pod: PodSpec, defaults: Defaults) -> dict[str, int]:
    """Return what one pod asks for, in nano-units per resource.

    The sum of the containers and sidecars, or an init container's peak where that is larger;
    pod-level requests replace the sum; the overhead comes on top.
    """

    def asked(container: Container) -> dict[str, int]:
        return dict(with_defaults(container.resources, defaults.container).requests)

    total: dict[str, int] = {}
    for container in pod.containers:
        add_to(total, asked(container))
    sidecars: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in pod.init_containers:
        running = asked(container)
        if container.restart_policy == "Always":
            add_to(total, running)
            add_to(sidecars, running)
            running = dict(sidecars)
        else:
            # An init container runs beside the sidecars that were started before it, and no others.
            add_to(running, sidecars)
        raise_to(peak, running)
    raise_to(total, peak)
    if pod.resources is not None:
        own, more = pod.resources, defaults.pod
        whole = own.requests if more is None else with_defaults(own, more).requests
        # Pod-level requests count even where the containers together ask for more.
        total |= {
            name: amount
            for name, amount in whole.items()
            if name in _POD_LEVEL or name.startswith("hugepages-")
        }
    add_to(total, pod.overhead or defaults.overheads.get(pod.runtime_class_name, {}))
    return total


def with_defaults(resources: Resources, defaults: Amounts) -> Amounts:
    """Return requests and limits as a namespace completes them, in nano-units.

    Limits: own ones, then default ones. Requests: own ones, then default ones, then the limits.
    """
    limits = _first_of((resources.limits, defaults.limits))
    return Amounts(_first_of((resources.requests, defaults.requests, limits)), limits)


def _transform(
    requests: Mapping[str, int], transformations: Iterable[Transformation], rules: Rules
) -> Mapping[str, int]:
    """Apply the resource transformations of the Configuration; outputs never go below zero.

    In older releases the request for an output resource replaces the amount that is made of it, or
    is added to that, at random (switch 26 of planner/state/kueue_release.py): here it replaces it.
    """
    by_input = {one.input: one for one in transformations}
    if not by_input.keys() & requests.keys():
        return requests
    retained: dict[str, int] = {}
    generated: dict[str, int] = {}
    for name, amount in requests.items():
        transformation = by_input.get(name)
        if transformation is None:
            retained[name] = amount
            continue
        factor = NANO
        if rules.multiplies_transformed:
            factor = requests.get(transformation.multiply_by, NANO)
        if not rules.transforms_exactly:
            factor = _from_zero(factor, NANO) * NANO
        multiplied = _from_zero(amount * factor, NANO)
        for output, per_unit in transformation.outputs.items():
            # Three exact nano amounts multiplied; finer than a nano-unit rounds away from zero.
            product = amount * factor * per_unit
            if not rules.transforms_exactly:
                product = _from_zero(multiplied, NANO) * NANO**2 * per_unit
            generated[output] = generated.get(output, 0) + _from_zero(product, NANO**2)
        kept = amount if rules.transforms_apart else multiplied
        if transformation.strategy == "Retain":
            retained[name] = kept
    if not rules.transforms_apart:
        return generated | retained
    add_to(retained, {name: max(0, amount) for name, amount in generated.items()})
    return retained


def ambiguous_resources(workload: Workload, configuration: Configuration) -> frozenset[str]:
    """Return the resources a release counts at random: requested, and outputs of transformations.

    Newer releases add both amounts up (switch 26 of planner/state/kueue_release.py).
    """
    if configuration.rules.transforms_apart:
        return frozenset()
    found = set()
    for pods in workload.spec.pod_sets:
        asked = pod_request(pods.template.spec, Defaults())
        for one in configuration.resources.transformations:
            if one.input in asked:
                kept = asked if one.strategy == "Retain" else asked.keys() - {one.input}
                found.update(one.outputs.keys() & kept)
    return frozenset(found)


def _from_zero(amount: int, unit: int) -> int:
    """Divide, and round away from zero."""
    return -(-amount // unit) if amount >= 0 else amount // unit


def _first_of(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Merge: of several amounts of one resource the first counts."""
    merged: dict[str, int] = {}
    for one in amounts:
        merged = {**one, **merged}
    return merged


def raise_to(amounts: dict[str, int], least: Mapping[str, int]) -> None:
    """Raise amounts to what they are at least; one that is not there counts as 0."""
    for name, amount in least.items():
        amounts[name] = max(amounts.get(name, 0), amount)


def add_to(total: dict[str, int], more: Mapping[str, int]) -> None:
    """Add amounts to a total, name by name."""
    for name, amount in more.items():
        total[name] = total.get(name, 0) + amount


def in_kueues_order(names: Iterable[str]) -> list[str]:
    """Return names of resources or device classes in Kueue's order: by their FNV-1a hash.

    The order decides nothing but which reasons are known when a podset fails.
    """
    return sorted(names, key=lambda name: (_hashed(name), name))


@lru_cache(maxsize=1024)
def _hashed(name: str) -> int:
    value = _OFFSET
    for byte in name.encode():
        value = (value ^ byte) * _PRIME % 2**64
    return value
