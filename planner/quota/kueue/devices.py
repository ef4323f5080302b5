"""What pods take of quota for the devices that they claim.

A claim template is counted by the device classes of its requests, an extended resource by the
device class that provides it; the Configuration says under which names. Where a dump lacks an
object, the totals that Kueue itself recorded count, if there are any.

Source: docs/semantics/kueue-features.md §4; kueue ff69552e pkg/dra/claims.go
``countDevicesPerClass``, extended_resources.go ``ResolveExtendedResourceQuota``, counters.go
``GetCounterResourcesForWorkload``, mapper.go, and pkg/controller/core/workload_controller.go
``handleDRA``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from planner.quantity import MAX_INT64, NANO, to_units
from planner.quota.kueue.amount import multiply, saturating_add
from planner.quota.kueue.request import (
    Charge,
    Defaults,
    add_to,
    in_kueues_order,
    raise_to,
    with_defaults,
)
from planner.state.kueue import Configuration, LimitRange, RuntimeClass, State, Workload
from planner.state.kueue_configuration import CounterSource
from planner.state.kueue_release import Rules
from planner.state.kueue_workload import NEVER, PodSet
from planner.state.pods import (
    Container,
    Device,
    DeviceClass,
    DeviceSelector,
    ExactDeviceRequest,
    PodSpec,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceSlice,
)

_CLAIM: Final = "KueueDRAIntegration feature does not support use of resource claims"
_OFF: Final = "Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled"


class Charges(Struct, frozen=True):
    """What the pods of a workload take for devices, per podset.

    ``rejection`` says in Kueue's words why Kueue does not queue the workload. ``lacking`` says what
    the dump lacks. ``recorded`` are the totals that Kueue wrote down itself: they count where
    something is lacking, and wherever the Configuration takes requests from the record. ``doubts``
    are texts on what matters and could not be checked.
    """

    of_pod_set: Mapping[str, Charge] = field(default_factory=dict)
    rejection: str = ""
    lacking: str = ""
    recorded: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes to print next to a plan: what is lacking or could not be checked."""
        if not self.lacking:
            return self.doubts
        instead = "its request is what Kueue recorded in status.resourceRequests"
        otherwise = "what it takes for devices is not known"
        return (f"{self.lacking}: {instead if self.recorded else otherwise}", *self.doubts)


NOTHING: Final = Charges()


class _RejectedError(Exception):
    """Kueue does not queue the workload; the text is Kueue's own."""


class _LackingError(Exception):
    """The dump lacks an object or a setting that is needed; the text says which."""


class Devices(Struct, frozen=True):
    """What a dump knows of devices, and of the defaults that namespaces give to pods."""

    configuration: Configuration
    limit_ranges: Sequence[LimitRange] = ()
    runtime_classes: Sequence[RuntimeClass] = ()
    device_classes: Sequence[DeviceClass] = ()
    resource_claim_templates: Sequence[ResourceClaimTemplate] = ()
    resource_slices: Sequence[ResourceSlice] = ()

    @classmethod
    def in_state(cls, state: State) -> Devices:
        """Take from a state the parts that decide what pods take for devices."""
        return cls(*(getattr(state, name) for name in cls.__struct_fields__))

    def charges(self, workload: Workload) -> Charges:
        """Return what the pods of a pending workload take, or why Kueue rejects it."""
        found = self._by_claims(workload)
        if found.rejection or self.configuration.requests_from == "template":
            return found
        return replace(found, recorded=_recorded(workload))

    def _by_claims(self, workload: Workload) -> Charges:
        gate = self.configuration.gate
        claims = [
            claim
            for pods in workload.spec.pod_sets
            for claim in pods.template.spec.resource_claims
            if claim.claim is not None or claim.template is not None
        ]
        if not gate("KueueDRAIntegration"):
            rejects = bool(claims) and gate("KueueDRARejectWorkloadsWhenDRADisabled")
            return replace(NOTHING, rejection=_OFF) if rejects else NOTHING
        if not claims and not self._asks_extended(workload):
            return NOTHING
        if any(claim.claim is not None for claim in claims):
            return replace(NOTHING, rejection=_CLAIM)
        namespace, rules = workload.metadata.namespace, self.configuration.rules
        defaults = Defaults.in_namespace(namespace, self.limit_ranges, self.runtime_classes, rules)
        known = _Known(self, workload)
        pod_sets = workload.spec.pod_sets
        try:
            # In Kueue's order: the first error is the reason.
            claimed = [known.of_templates(*each) for each in enumerate(pod_sets)]
            extended = [known.of_extended_resources(pods, defaults) for pods in pod_sets]
            counted = [known.of_counters(*each) for each in enumerate(pod_sets)]
        except _RejectedError as error:
            return replace(NOTHING, rejection=f"dra: {error}")
        except _LackingError as error:
            return Charges(lacking=str(error), recorded=_recorded(workload))
        charges = {}
        for pods, three in zip(pod_sets, zip(claimed, extended, counted, strict=True), strict=True):
            replaced = frozenset[str]().union(*(one.replaced for one in three))
            charges[pods.name] = Charge(replaced, _added(*(one.amounts for one in three)))
        return Charges(charges, doubts=tuple(dict.fromkeys(known.doubts)))

    def _asks_extended(self, workload: Workload) -> bool:
        if not self.configuration.gate("KueueDRAIntegrationExtendedResource"):
            return False
        backed = {one.spec.extended_resource_name for one in self.device_classes} - {""}
        return bool(backed) and any(
            amount != 0 and name in backed and is_extended(name)
            for pods in workload.spec.pod_sets
            for container in _containers(pods.template.spec)
            for name, amount in container.resources.requests.items()
        )


def _recorded(workload: Workload) -> Mapping[str, Mapping[str, int]]:
    """Return the totals that Kueue recorded, by podset; none unless it recorded all podsets."""
    recorded = {
        one.name: {
            # The number of pods is added anew wherever a queue covers ``pods``.
            name: to_units(nano, name)
            for name, nano in one.resources.items()
            if name != "pods"
        }
        for one in workload.status.resource_requests
    }
    names = {pods.name for pods in workload.spec.pod_sets}
    return recorded if recorded.keys() >= names else {}


def _added(*several: Mapping[str, int]) -> dict[str, int]:
    total: dict[str, int] = {}
    for amounts in several:
        add_to(total, amounts)
    return total


def _highest(*several: Mapping[str, int]) -> dict[str, int]:
    highest: dict[str, int] = {}
    for amounts in several:
        raise_to(highest, amounts)
    return highest


def _renamed(amounts: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Return amounts under the given names, added up; what has no name there is left out."""
    return _added(*({names[one]: amounts[one]} for one in amounts if one in names))


def is_extended(resource: str) -> bool:
    """Say whether a resource is an extended resource: its name has a domain that is not native."""
    native = resource.startswith(("kubernetes.io/", "hugepages-"))
    return "/" in resource and not native


def _containers(pod: PodSpec) -> Iterable[Container]:
    return (*pod.init_containers, *pod.containers)


class _Known:
    """What a dump knows of the devices that one workload may claim."""

    def __init__(self, devices: Devices, workload: Workload) -> None:
        namespace, configuration = workload.metadata.namespace, devices.configuration
        gate: Final = configuration.gate
        self.rules: Final = configuration.rules
        self.extended: Final = gate("KueueDRAIntegrationExtendedResource")
        self.names: Final[dict[str, str]] = {}
        # Device classes for which a counter or a capacity is charged, not the number of devices.
        self.counters: Final[dict[str, list[tuple[str, CounterSource]]]] = {}
        self.by_capacity: Final[set[str]] = set()
        for mapping in configuration.resources.device_class_mappings:
            for name in mapping.device_class_names:
                # The first mapping that names a device class wins.
                self.names.setdefault(name, mapping.name)
                for source in mapping.sources:
                    if source.counter and gate("KueueDRAIntegrationPartitionableDevices"):
                        counters = self.counters.setdefault(name, [])
                        counters.append((mapping.name, source.counter))
                    if source.capacity and gate("KueueDRAIntegrationConsumableCapacity"):
                        self.by_capacity.add(name)
        self.templates: Final = {
            one.metadata.name: one.spec.spec
            for one in devices.resource_claim_templates
            if one.metadata.namespace == namespace
        }
        self.classes: Final = {one.metadata.name: one for one in devices.device_classes}
        self.slices: Final = devices.resource_slices
        self.is_recorded: Final = bool(_recorded(workload))
        self.doubts: Final[list[str]] = []

    def missing(self, kueues_words: str, what: str) -> Exception:
        """Return the error for a missing object; if totals are recorded, only the dump lacks it."""
        return _LackingError(what) if self.is_recorded else _RejectedError(kueues_words)

    def claimed(self, place: int, pods: PodSet) -> Iterator[tuple[str, str, ResourceClaimSpec]]:
        """Yield the claims that pods make by templates: path, name of the template, requests."""
        for number, claim in enumerate(pods.template.spec.resource_claims):
            if claim.template is None:
                continue
            path = f"spec.podSets[{place}].template.spec.resourceClaims[{number}]"
            spec = self.templates.get(claim.template)
            if spec is None:
                words = (
                    f"{path}: Internal error: failed to get claim spec for ResourceClaimTemplate "
                    f"{claim.template} in podset {pods.name}: "
                    f'resourceclaimtemplates.resource.k8s.io "{claim.template}" not found'
                )
                what = f"ResourceClaimTemplate {claim.template} is not in the dump"
                raise self.missing(words, what)
            yield path, claim.template, spec

    def of_templates(self, place: int, pods: PodSet) -> Charge:
        """Count the devices of each class, leaving out classes that are charged by counters."""
        amounts: dict[str, int] = {}
        for path, template, spec in self.claimed(place, pods):
            counts = _devices_per_class(path, template, spec, self.rules)
            for name in in_kueues_order(counts):
                logical = self.names.get(name)
                if logical is None and not self.names and self.is_recorded:
                    raise _LackingError("no deviceClassMappings are in the dump")
                if logical is None:
                    text = f"DeviceClass {name} is not mapped in DRA configuration for podset"
                    raise _RejectedError(
                        f'{path}.resourceClaimTemplateName: Not found: "{text} {pods.name}"'
                    )
                if name in self.by_capacity:
                    raise _LackingError(f"DeviceClass {name} is charged by capacity")
                if name not in self.counters:
                    amounts[logical] = amounts.get(logical, 0) + counts[name] * NANO
            exactly = [one.exactly for one in spec.devices.requests if one.exactly is not None]
            if not self.is_recorded and any(_has_cel(one.selectors) for one in exactly):
                self.doubts.append(
                    "whether there are enough devices for the CEL selectors of "
                    f"ResourceClaimTemplate {template} is not checked"
                )
        return Charge(frozenset(), amounts)

    def of_extended_resources(self, pods: PodSet, defaults: Defaults) -> Charge:
        """Count extended resources under the mapped name of the device class that provides each."""
        if not self.extended:
            return Charge()
        spec = pods.template.spec
        beside = [_extended(container, defaults) for container in spec.init_containers]
        together = _added(*(_extended(container, defaults) for container in spec.containers))
        asked = _highest(*beside, together)
        logical: dict[str, str] = {}
        for name, amount in asked.items():
            behind = self._class_behind(name)
            if behind is None:
                continue
            for container in _containers(spec):
                own = _extended(container, defaults).get(name, 0)
                if own % NANO or own > MAX_INT64 * NANO:
                    raise _RejectedError(f"{name}: extended resource quantity must be an integer")
            if amount > MAX_INT64 * NANO:
                raise _RejectedError(f"{name}: total extended resource quantity overflows int64")
            logical[name] = self.names.get(behind.metadata.name, name)
        if self.rules.sums_extended_apart:
            amounts = _renamed(asked, logical)
        else:
            amounts = _highest(*(_renamed(some, logical) for some in (*beside, together)))
        return Charge(frozenset(logical), amounts)

    def _class_behind(self, resource: str) -> DeviceClass | None:
        """Return the device class that provides an extended resource: the newest, then by name."""
        named = sorted(self.classes.items())
        behind = [one for _, one in named if one.spec.extended_resource_name == resource]
        if not self.rules.takes_newest_class:  # any mapped class will do: of several, the newest
            behind = [one for one in behind if one.metadata.name in self.names] or behind
        if not behind:
            return None
        # Of equally new classes `max` takes the first, and ``behind`` is in the order of names.
        newest = max(behind, key=lambda one: one.metadata.creation_timestamp or NEVER)
        name = newest.metadata.name
        for what, charged in (("counters", self.counters), ("capacity sources", self.by_capacity)):
            if name in charged:
                resolves = f"extended resource {resource} resolves to DeviceClass {name}"
                raise _RejectedError(f"{resolves} with {what} configured")
        return newest

    def of_counters(self, place: int, pods: PodSet) -> Charge:
        """Charge the largest counter among the matching devices, times the number asked for."""
        amounts: dict[str, int] = {}
        for path, template, spec in self.claimed(place, pods):
            for number, request in enumerate(spec.devices.requests):
                exactly = request.exactly
                if exactly is None or exactly.admin_access:
                    continue
                where, name = f"{path}.devices.requests[{number}]", exactly.device_class_name
                for logical, counter in self.counters.get(name, ()):
                    known = self.classes.get(name)
                    if known is None:
                        words = f"{where}: Internal error: failed to get DeviceClass {name}"
                        raise self.missing(words, f"DeviceClass {name} is not in the dump")
                    selectors = *known.spec.selectors, *exactly.selectors, counter.device_selector
                    if _has_cel(selectors):
                        raise _LackingError(
                            f"which devices are counted for ResourceClaimTemplate {template} "
                            "depends on CEL selectors, which are not evaluated here"
                        )
                    charge = self._charge(exactly, counter, where)
                    amounts[logical] = amounts.get(logical, 0) + charge * NANO
        return Charge(frozenset(), amounts)

    def _charge(self, exactly: ExactDeviceRequest, counter: CounterSource, where: str) -> int:
        devices = list(_devices_of(self.slices, counter.driver))
        if len(devices) < exactly.count:
            words = (
                f"{where}: Internal error: insufficient matching devices for counter driver: "
                f"{len(devices)} device(s) match but {exactly.count} requested"
            )
            raise self.missing(words, f"there are {len(devices)} devices of {counter.driver}")
        values = [
            consumed.counters[counter.name].value
            for device in devices
            for consumed in device.consumes_counters
            if counter.name in consumed.counters
        ]
        if not values:
            words = (
                f"{where}: Internal error: matched devices have no consumesCounters entry for "
                f'counter "{counter.name}"'
            )
            raise self.missing(words, f"no device of {counter.driver} has {counter.name}")
        # A negative counter of a driver counts as 0; a request without a count is charged once.
        return multiply(max(0, to_units(max(values), "")), max(1, exactly.count))


def _has_cel(selectors: Iterable[DeviceSelector]) -> bool:
    return any(one.cel is not None for one in selectors)


def _extended(container: Container, defaults: Defaults) -> dict[str, int]:
    """Return the extended resources that a container asks for; limits count as missing requests."""
    asked = with_defaults(container.resources, defaults.container).requests
    return {name: amount for name, amount in asked.items() if amount > 0 and is_extended(name)}


def _devices_per_class(
    path: str, template: str, spec: ResourceClaimSpec, rules: Rules
) -> dict[str, int]:
    for where, value, what in _unsupported(spec, rules):
        of = f"ResourceClaimTemplate {template}"
        raise _RejectedError(f"{path}.devices.{where}: Invalid value: {value}: {of}: {what}")
    counts: dict[str, int] = {}
    for request in spec.devices.requests:
        exactly = request.exactly
        if exactly is not None and not exactly.admin_access and exactly.device_class_name:
            name = exactly.device_class_name
            counts[name] = saturating_add(counts.get(name, 0), exactly.count)
    return counts


def _unsupported(spec: ResourceClaimSpec, rules: Rules) -> Iterator[tuple[str, str, str]]:
    """Yield what Kueue rejects of a claim, in its order: the field, the value, and its words."""
    if spec.devices.constraints and not rules.counts_constrained:
        yield "constraints", "null", "device constraints (MatchAttribute) are not supported"
    if spec.devices.config and not rules.counts_constrained:
        yield "config", "null", "device config is not supported"
    for number, request in enumerate(spec.devices.requests):
        where, exactly = f"requests[{number}]", request.exactly
        if request.first_available is not None:
            yield where, "null", "FirstAvailable device selection is not supported"
        elif exactly is None:
            yield where, "null", "Exactly must be set if FirstAvailable is nil"
        elif exactly.admin_access:
            if not rules.skips_admin_access:
                yield f"{where}.exactly.adminAccess", "null", "AdminAccess is not supported"
        elif (mode := exactly.allocation_mode) != "ExactCount":
            what = f"unsupported allocation mode: {mode}"
            if mode == "All":
                what = "AllocationMode 'All' is not supported"
            yield f"{where}.exactly.allocationMode", f'"{mode}"', what


def _devices_of(slices: Iterable[ResourceSlice], driver: str) -> Iterator[Device]:
    """Yield the devices of a driver in pools of which all slices of the newest generation exist."""
    pools: dict[str, list[ResourceSlice]] = {}
    for one in slices:
        if one.spec.driver == driver:
            pools.setdefault(one.spec.pool.name, []).append(one)
    for some in pools.values():
        # While a driver renews a pool there are slices of two generations: the newest counts, and
        # only once it is complete.
        newest = max(one.spec.pool.generation for one in some)
        current = [one for one in some if one.spec.pool.generation == newest]
        if len(current) == current[0].spec.pool.slice_count:
            for one in current:
                yield from one.spec.devices
