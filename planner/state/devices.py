"""Devices that claims ask for: classes of them, templates of claims, and what drivers publish.

Only what decides how much quota a claim takes (docs/semantics/kueue-features.md §4).
"""

from __future__ import annotations

from pydantic import Field

from planner.state.base import Bool, Int64, KubernetesObject, Metadata, Quantity, Schema


class CelSelector(Schema):
    """A condition on a device, in the Common Expression Language."""

    expression: str = ""


class DeviceSelector(Schema):
    """A condition on a device; without an expression every device meets it."""

    cel: CelSelector | None = None


class DeviceClassSpec(Schema):
    """Which devices are of the class, and which extended resource stands for one of them."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str = Field(default="", alias="extendedResourceName")


class DeviceClass(KubernetesObject):
    """A DeviceClass."""

    metadata: Metadata
    spec: DeviceClassSpec = DeviceClassSpec.blank()


class ExactDeviceRequest(Schema):
    """A request for devices of one class."""

    device_class_name: str = Field(default="", alias="deviceClassName")
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = Field(default="", alias="allocationMode")
    count: Int64 = 0
    admin_access: Bool = Field(default=False, alias="adminAccess")


class DeviceSubRequest(Schema):
    """One of several alternatives of a request; Kueue takes none, so nothing in it matters."""


class DeviceRequest(Schema):
    """A request of a claim: exactly these devices, or the first alternative that there is."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = Field(
        default=None, alias="firstAvailable"
    )


class DeviceClaim(Schema):
    """The requests of a claim."""

    requests: tuple[DeviceRequest, ...] = ()


class ResourceClaimSpec(Schema):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim.blank()


class ResourceClaimTemplateSpec(Schema):
    """The claim that is made for each pod."""

    spec: ResourceClaimSpec = ResourceClaimSpec.blank()


class ResourceClaimTemplate(KubernetesObject):
    """A ResourceClaimTemplate."""

    metadata: Metadata
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec.blank()


class Counter(Schema):
    """The value of a counter."""

    value: Quantity = 0


class CounterConsumption(Schema):
    """How much of each counter of a set a device takes."""

    counters: dict[str, Counter] = Field(default_factory=dict)


class Device(Schema):
    """A device of a driver."""

    name: str = ""
    consumes_counters: tuple[CounterConsumption, ...] = Field(default=(), alias="consumesCounters")


class ResourcePool(Schema):
    """The pool of a slice; it is known in full when all its slices of one generation are."""

    name: str = ""
    generation: Int64 = 0
    slice_count: Int64 = Field(default=0, alias="resourceSliceCount")


class ResourceSliceSpec(Schema):
    """Devices of a driver, as it publishes them."""

    driver: str = ""
    pool: ResourcePool = ResourcePool.blank()
    devices: tuple[Device, ...] = ()


class ResourceSlice(KubernetesObject):
    """A ResourceSlice."""

    metadata: Metadata
    spec: ResourceSliceSpec = ResourceSliceSpec.blank()
