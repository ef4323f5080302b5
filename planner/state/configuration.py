"""Kueue's Configuration: fair sharing, feature gates, and the resource settings."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field, model_validator

from planner.state.base import Bool, Quantity, Schema

FEATURE_GATES: Final[dict[str, bool]] = {
    "FairSharingPreemptWithinNominal": True,
    "FairSharingPrioritizeNonBorrowing": True,
    "FlavorFungibility": True,
    "PartialAdmission": True,
    "PrioritizePreemptorWorkloads": False,
    "PriorityBoost": False,
    "PrioritySortingWithinCohort": True,
    "QuotaCheckStrategy": True,
    "ReclaimablePods": True,
    "RecomputeAssignmentUponPreemptionTargetsOverlap": True,
}
"""The gates that change what the planner decides, with Kueue's defaults (kueue ff69552e,
pkg/features/kube_features.go)."""

Strategy = Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]

BOTH_STRATEGIES: Final[tuple[Strategy, ...]] = (
    "LessThanOrEqualToFinalShare",
    "LessThanInitialShare",
)


class FairSharing(Schema):
    """Fair sharing; its presence means on in v1beta2, ``enable`` says so in v1beta1."""

    enable: Bool = True
    strategies: tuple[Strategy, ...] = Field(default=(), alias="preemptionStrategies")

    @model_validator(mode="after")
    def _accepted_list(self) -> FairSharing:
        if self.strategies not in {(), BOTH_STRATEGIES, *((s,) for s in BOTH_STRATEGIES)}:
            message = (
                "preemptionStrategies should be empty, one strategy, or "
                "LessThanOrEqualToFinalShare followed by LessThanInitialShare"
            )
            raise ValueError(message)
        return self


class RequeuingStrategy(Schema):
    """Which timestamp orders a workload that was evicted for PodsReadyTimeout."""

    timestamp: Literal["Eviction", "Creation"] = "Eviction"


class WaitForPodsReady(Schema):
    """Only its requeuing timestamp matters here."""

    requeuing_strategy: RequeuingStrategy = Field(
        default=RequeuingStrategy(), alias="requeuingStrategy"
    )


class Transformation(Schema):
    """A resource transformation: one requested resource becomes others."""

    input: str
    strategy: Literal["Retain", "Replace"] = "Retain"
    multiply_by: str = Field(default="", alias="multiplyBy")
    outputs: dict[str, Quantity] = {}


class ResourceSettings(Schema):
    """How requests are read before quota is checked."""

    exclude_prefixes: tuple[str, ...] = Field(default=(), alias="excludeResourcePrefixes")
    transformations: tuple[Transformation, ...] = ()
    quota_check_strategy: Literal["BlockUndeclared", "IgnoreUndeclared"] = Field(
        default="BlockUndeclared", alias="quotaCheckStrategy"
    )


class Configuration(Schema):
    """The part of Kueue's Configuration that decides anything; all defaults when absent."""

    fair_sharing: FairSharing | None = Field(default=None, alias="fairSharing")
    feature_gates: dict[str, Bool] = Field(default={}, alias="featureGates")
    wait_for_pods_ready: WaitForPodsReady | None = Field(default=None, alias="waitForPodsReady")
    resources: ResourceSettings = ResourceSettings()

    @model_validator(mode="before")
    @classmethod
    def _fair_sharing_off_by_default_in_v1beta1(cls, value: Any) -> Any:  # noqa: ANN401
        # v1beta1 has fairSharing.enable with default false; v1beta2 has no such field.
        if isinstance(value, dict) and str(value.get("apiVersion", "")).endswith("/v1beta1"):
            sharing = value.get("fairSharing")
            if isinstance(sharing, dict) and "enable" not in sharing:
                return {**value, "fairSharing": {**sharing, "enable": False}}
        return value

    def gate(self, name: str) -> bool:
        """Whether a feature gate is on.

        Raises
        ------
        KeyError
            If the planner does not know the gate.
        """
        return self.feature_gates.get(name, FEATURE_GATES[name])

    @property
    def fair_sharing_on(self) -> bool:
        """Whether preemption follows fair sharing instead of the classical rules."""
        return self.fair_sharing is not None and self.fair_sharing.enable

    @property
    def strategies(self) -> tuple[Strategy, ...]:
        """The fair sharing strategies in the order in which they are tried."""
        configured = self.fair_sharing.strategies if self.fair_sharing else ()
        return configured or BOTH_STRATEGIES
