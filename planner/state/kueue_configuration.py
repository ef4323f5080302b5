"""Kueue's Configuration: fair sharing, feature gates, and the resource settings."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import (
    Field,
    PrivateAttr,
    SerializationInfo,
    SerializerFunctionWrapHandler,
    ValidatorFunctionWrapHandler,
    WrapSerializer,
    WrapValidator,
    field_validator,
    model_validator,
)

from planner.errors import SchemaError
from planner.state.base import Bool, KubernetesObject, Quantity, Schema
from planner.state.kueue_release import DECIDING, NEWEST, KnownBy, Release, Rules, find_release
from planner.state.pods import DeviceSelector
from planner.state.record import RequestsFrom

FEATURE_GATES: Final = {name: NEWEST.default(name, {}) for name in DECIDING}
"""The gates that change what the planner decides, with the defaults of the newest rules."""

Strategy = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]

BOTH_STRATEGIES: Final[tuple[Strategy, ...]] = (
    "LessThanOrEqualToFinalShare",
    "LessThanInitialShare",
)


class FairSharing(Schema):
    """Fair sharing; its presence means on in v1beta2, ``enable`` says so in v1beta1."""

    enable: Bool = True
    strategies: tuple[Strategy, ...] = Field(default=(), alias="preemptionStrategies")

    @field_validator("strategies")
    @classmethod
    def _accepted_list(cls, value: tuple[Strategy, ...]) -> tuple[Strategy, ...]:
        if value not in {(), BOTH_STRATEGIES, *((each,) for each in BOTH_STRATEGIES)}:
            message = (
                "should be empty, one strategy, or LessThanOrEqualToFinalShare followed by "
                "LessThanInitialShare"
            )
            raise ValueError(message)
        return value


class AdmissionFairSharing(Schema):
    """Admission fair sharing; its presence means on. Resources without a weight weigh 1."""

    resource_weights: dict[str, float] = Field(default_factory=dict)


class RequeuingStrategy(Schema):
    """Which timestamp orders a workload that was evicted for PodsReadyTimeout."""

    timestamp: Literal["Eviction", "Creation"] = "Eviction"


class WaitForPodsReady(Schema):
    """Whether admission waits until all that holds quota is ready, and how evicted ones requeue."""

    block_admission: Bool = False
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy.blank()


class Transformation(Schema):
    """A resource transformation: one requested resource becomes others."""

    input: str
    strategy: Literal["Retain", "Replace"] = "Retain"
    multiply_by: str = ""
    outputs: dict[str, Quantity] = Field(default_factory=dict)


class CounterSource(Schema):
    """A counter of the devices of a driver that is charged instead of their number."""

    driver: str = ""
    name: str = ""
    device_selector: DeviceSelector = DeviceSelector.blank()


class CapacitySource(Schema):
    """A capacity of the devices of a driver that is charged instead of their number."""

    driver: str = ""
    resource_name: str = ""


class DeviceSource(Schema):
    """What of the devices of a class is charged."""

    counter: CounterSource | None = None
    capacity: CapacitySource | None = None


class DeviceClassMapping(Schema):
    """The name under which devices of some classes count as a resource."""

    name: str
    device_class_names: tuple[str, ...] = ()
    sources: tuple[DeviceSource, ...] = ()


class ResourceSettings(Schema):
    """How requests are read before quota is checked."""

    exclude_prefixes: tuple[str, ...] = Field(default=(), alias="excludeResourcePrefixes")
    transformations: tuple[Transformation, ...] = ()
    quota_check_strategy: Literal["BlockUndeclared", "IgnoreUndeclared"] = "BlockUndeclared"
    device_class_mappings: tuple[DeviceClassMapping, ...] = ()


def _is_switched_off(key: str, item: object) -> bool:
    if key not in {"fairSharing", "waitForPodsReady"} or not isinstance(item, dict):
        return False
    return item.get("enable") is None or item["enable"] is False


class Configuration(KubernetesObject):
    """The part of Kueue's Configuration that decides anything; all defaults when absent.

    It also knows the release of Kueue that it is given to, and where requests are taken from, which
    no Configuration says.
    """

    fair_sharing: FairSharing | None = None
    feature_gates: dict[str, Bool] = Field(default_factory=dict)
    wait_for_pods_ready: WaitForPodsReady | None = None
    resources: ResourceSettings = ResourceSettings.blank()
    admission_fair_sharing: AdmissionFairSharing | None = None
    # Private: no Configuration of a cluster has these fields. A state writes them: see StatedRules.
    _release: Release = PrivateAttr(default_factory=lambda: NEWEST)  # a default is copied
    _release_known_by: KnownBy = PrivateAttr(default="assumed")
    _requests: RequestsFrom = PrivateAttr(default="template")

    @model_validator(mode="before")
    @classmethod
    def _as_v1beta1_means_it(cls, value: object) -> object:
        # v1beta1 has an ``enable`` in both, with default false; v1beta2 knows presence only.
        if not isinstance(value, dict):
            return value
        version = value.get("apiVersion")
        if not isinstance(version, str) or not version.endswith("/v1beta1"):
            return value
        found = {key: item for key, item in value.items() if not _is_switched_off(key, item)}
        waits = found.get("waitForPodsReady")
        # Only there it blocks admission unless it says that it does not.
        if isinstance(waits, dict) and waits.get("blockAdmission") is None:
            found["waitForPodsReady"] = {**waits, "blockAdmission": True}
        return found

    def under(self, release: Release, known_by: KnownBy) -> "Configuration":
        """Return the same Configuration, as given to a release that is ``known_by`` a sign."""
        copy = self.model_copy()
        copy._release, copy._release_known_by = release, known_by  # noqa: SLF001 - its own copy
        return copy

    def counting(self, requests: RequestsFrom) -> "Configuration":
        """Return the same Configuration, with the place that requests are taken from."""
        if requests not in get_args(RequestsFrom):
            raise SchemaError("requests", f"{requests!r} cannot be used", "template or recorded")
        copy = self.model_copy()
        copy._requests = requests  # noqa: SLF001 - its own copy
        return copy

    @property
    def requests_from(self) -> RequestsFrom:
        """Where the requests of pending workloads are taken from."""
        return self._requests

    @property
    def release_known_by(self) -> KnownBy:
        """How the release of Kueue was known."""
        return self._release_known_by

    @property
    def release(self) -> Release:
        """The release of Kueue that it is given to."""
        # Each step of a search asks for it: pydantic's own way to a private attribute takes long.
        private = self.__pydantic_private__
        return self._release if private is None else private["_release"]

    @property
    def rules(self) -> Rules:
        """The rule switches of the release."""
        return self.release.rules

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on in the release; one that it does not know has no effect.

        Raises ``KeyError`` if the planner does not know the gate.
        """
        if name not in FEATURE_GATES:
            raise KeyError(name)
        return self.release.is_on(name, self.feature_gates)

    @property
    def timestamp_buffer(self) -> timedelta:
        """How much later than the preemptor a victim of equal priority must have queued."""
        return timedelta(minutes=5 if self.gate("SchedulerTimestampPreemptionBuffer") else 0)

    @property
    def blocks_admission(self) -> bool:
        """Whether no workload is admitted while pods of an admitted one are not ready."""
        settings = self.wait_for_pods_ready
        blocks = settings is not None and settings.block_admission
        return blocks and not self.gate("DisableWaitForPodsReady")

    @property
    def fair_sharing_on(self) -> bool:
        """Whether preemption follows fair sharing instead of the classical rules."""
        return self.fair_sharing is not None and self.fair_sharing.enable

    @property
    def admission_fair_sharing_on(self) -> bool:
        """Whether ClusterQueues may order workloads by the past use of their LocalQueues."""
        return self.admission_fair_sharing is not None and self.gate("AdmissionFairSharing")

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The fair sharing strategies in the order in which they are tried."""
        configured = self.fair_sharing.strategies if self.fair_sharing else ()
        return configured or BOTH_STRATEGIES


class StatedRules(Schema):
    """What a state writes of its Configuration beside the fields that Kueue knows."""

    release: str = NEWEST.name
    release_known_by: KnownBy = "assumed"
    requests_from: RequestsFrom = "template"

    @field_validator("release")
    @classmethod
    def _with_known_rules(cls, value: str) -> str:
        return find_release(value).name


def _read_with_rules(value: object, handler: ValidatorFunctionWrapHandler) -> Configuration:
    configuration: Configuration = handler(value)
    if not isinstance(value, dict):  # an object, which has its rules
        return configuration
    stated = StatedRules.model_validate(value)
    release = find_release(stated.release)
    return configuration.under(release, stated.release_known_by).counting(stated.requests_from)


def _write_with_rules(
    value: Configuration, handler: SerializerFunctionWrapHandler, info: SerializationInfo
) -> dict[str, Any]:
    stated = StatedRules(
        release=value.release.name,
        release_known_by=value.release_known_by,
        requests_from=value.requests_from,
    )
    return {**handler(value), **stated.model_dump(by_alias=info.by_alias)}


ConfigurationOfState = Annotated[
    Configuration, WrapValidator(_read_with_rules), WrapSerializer(_write_with_rules)
]
"""A Configuration that is written, and read back, with the release and where requests come from."""
