"""Where quota lives: ClusterQueues, Cohorts, LocalQueues, ResourceFlavors and their helpers."""

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AliasChoices, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from planner.state.base import (
    Amount,
    Condition,
    Count,
    Int32,
    Int64,
    Name,
    NamedObject,
    QuantityText,
    Schema,
    Time,
)
from planner.state.pods import LabelSelector, ResourceList, Taint, Toleration

_OLD_FUNGIBILITY = {"Borrow": "MayStopSearch", "Preempt": "MayStopSearch"}


def _current_fungibility(value: object) -> object:
    return _OLD_FUNGIBILITY.get(value, value) if isinstance(value, str) else value


def _without_empty(value: object) -> object:
    # Kueue itself sets its default where the API server has set none.
    return {k: v for k, v in value.items() if v != ""} if isinstance(value, dict) else value


Fungibility = Annotated[
    Literal["MayStopSearch", "TryNextFlavor"], BeforeValidator(_current_fungibility)
]
"""``Borrow`` and ``Preempt`` are the names MayStopSearch had before v1beta2."""

WithinPolicy = Literal["", "Never", "LowerPriority", "LowerOrNewerEqualPriority"]
ReclaimPolicy = Literal["", "Never", "LowerPriority", "Any"]
BorrowPolicy = Literal["", "Never", "LowerPriority"]
"""A policy is empty where no API server has set the default Never. An empty policy makes nobody a
candidate, but Kueue takes any policy that is not Never as leave to preempt while borrowing
(docs/semantics/kueue.md §4.4)."""


class ResourceQuota(Schema):
    """Quota of one resource in one flavor; a limit that is absent is not a limit of 0."""

    name: Name
    nominal_quota: Amount
    borrowing_limit: Amount | None = None
    lending_limit: Amount | None = None


class FlavorQuotas(Schema):
    """The quotas of one flavor in a resource group."""

    name: Name
    resources: tuple[ResourceQuota, ...] = ()


class ResourceGroup(Schema):
    """Resources which share their flavors, in the order in which flavors are tried."""

    covered_resources: tuple[Name, ...] = ()
    flavors: tuple[FlavorQuotas, ...] = ()


class QuotaSpec(Schema):
    """What a ClusterQueue and a Cohort have in common: quotas."""

    resource_groups: tuple[ResourceGroup, ...] = ()

    @model_validator(mode="after")
    def _each_quota_once(self) -> Self:
        # The API server refuses a second one, of which nobody can say what counts.
        seen: set[tuple[str, str]] = set()
        for flavor, quota in self.quotas:
            which = {"which": f"{quota.name} in flavor {flavor}"}
            if (flavor, quota.name) in seen:
                raise PydanticCustomError("quota_twice", "should have {which} once", which)
            seen.add((flavor, quota.name))
        return self

    @property
    def quotas(self) -> Iterator[tuple[str, ResourceQuota]]:
        """Each quota, with the flavor that it is in."""
        for group in self.resource_groups:
            for flavor in group.flavors:
                yield from ((flavor.name, quota) for quota in flavor.resources)

    @property
    def owned(self) -> set[tuple[str, str]]:
        """The flavors and resources of which it has quota."""
        return {(flavor, quota.name) for flavor, quota in self.quotas}


class FairSharingWeight(Schema):
    """The weight of a ClusterQueue or Cohort under fair sharing, in nano-units; default 1."""

    weight: Amount = 10**9


class FlavorFungibility(Schema):
    """When the walk over the flavors of a group stops, and what it prefers."""

    when_can_borrow: Fungibility = "MayStopSearch"
    when_can_preempt: Fungibility = "TryNextFlavor"
    preference: Literal["BorrowingOverPreemption", "PreemptionOverBorrowing"] | None = None


class BorrowWithinCohort(Schema):
    """Whether borrowing may preempt, and up to which priority."""

    policy: BorrowPolicy = "Never"
    max_priority_threshold: Int32 | None = None


class Preemption(Schema):
    """The preemption policies of a ClusterQueue; they bind its own preemptors only."""

    within_cluster_queue: WithinPolicy = "Never"
    reclaim_within_cohort: ReclaimPolicy = "Never"
    borrow_within_cohort: BorrowWithinCohort = BorrowWithinCohort.blank()


class AdmissionCheckRule(Schema):
    """An admission check a ClusterQueue asks for, and for which flavors: without any, for all."""

    name: str
    on_flavors: tuple[str, ...] = ()


class AdmissionChecksStrategy(Schema):
    """The admission checks of a ClusterQueue in their newer form."""

    admission_checks: tuple[AdmissionCheckRule, ...] = ()


class MigrationConstraints(Schema):
    """How far down its flavors a workload may be and still be migrated to a better one."""

    last_acceptable_flavor: str = Field(default="", alias="lastAcceptableFlavorName")


class Migration(Schema):
    """When a variant that was admitted makes room for one with a better flavor."""

    constraints: MigrationConstraints = MigrationConstraints.blank()


class ConcurrentAdmissionPolicy(Schema):
    """Its presence lets the variants of one workload compete, each with flavors of its own."""

    migration: Migration = Migration.blank()


class ConditionsStatus(Schema):
    """A status of which only the conditions matter."""

    conditions: tuple[Condition, ...] = ()

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of a type, if there is one."""
        return next((item for item in self.conditions if item.type == kind), None)

    @property
    def is_active(self) -> bool:
        """Whether Kueue, or whose check it is, has called it Active."""
        said = self.condition("Active")
        return said is not None and said.is_true


class AdmissionScope(Schema):
    """How a ClusterQueue admits: with ``UsageBasedAdmissionFairSharing``, by past usage first."""

    admission_mode: str = "NoAdmissionFairSharing"


class ResourceTotal(Schema):
    """How much of a resource is taken in one flavor."""

    name: Name
    total: Amount = 0


class FlavorTotals(Schema):
    """How much is taken of the resources of one flavor."""

    name: Name
    resources: tuple[ResourceTotal, ...] = ()


class FairSharingStatus(Schema):
    """What Kueue publishes under fair sharing, and only then: the share it works with."""

    weighted_share: Int64 | None = None


class ClusterQueueStatus(ConditionsStatus):
    """What Kueue says of a ClusterQueue: it is held against what is worked out here."""

    fair_sharing: FairSharingStatus | None = None
    reserved: tuple[FlavorTotals, ...] = Field(default=(), alias="flavorsReservation")
    pending: Count | None = Field(default=None, alias="pendingWorkloads")


class CohortStatus(Schema):
    """What Kueue says of a Cohort."""

    fair_sharing: FairSharingStatus | None = None


class ClusterQueueSpec(QuotaSpec):
    """Quota, cohort and policies of a ClusterQueue."""

    cohort_name: str = Field(default="", validation_alias=AliasChoices("cohortName", "cohort"))
    queueing_strategy: Literal["StrictFIFO", "BestEffortFIFO"] = "BestEffortFIFO"
    namespace_selector: LabelSelector | None = None
    flavor_fungibility: Annotated[FlavorFungibility, BeforeValidator(_without_empty)] = (
        FlavorFungibility.blank()
    )
    preemption: Preemption = Preemption.blank()
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = "None"
    fair_sharing: FairSharingWeight = FairSharingWeight.blank()
    admission_checks_strategy: AdmissionChecksStrategy = AdmissionChecksStrategy.blank()
    admission_checks: tuple[str, ...] = ()
    admission_scope: AdmissionScope | None = None
    concurrent_admission: ConcurrentAdmissionPolicy | None = Field(
        default=None, alias="concurrentAdmissionPolicy"
    )


class ClusterQueue(NamedObject):
    """A ClusterQueue."""

    spec: ClusterQueueSpec = ClusterQueueSpec.blank()
    status: ClusterQueueStatus = ClusterQueueStatus.blank()

    @property
    def check_rules(self) -> tuple[AdmissionCheckRule, ...]:
        """The admission checks it asks for, in either form."""
        older = tuple(AdmissionCheckRule(name=name) for name in self.spec.admission_checks)
        return self.spec.admission_checks_strategy.admission_checks + older

    @property
    def flavor_names(self) -> tuple[str, ...]:
        """The flavors of all its resource groups, in order, each once."""
        groups = self.spec.resource_groups
        return tuple(dict.fromkeys(one.name for group in groups for one in group.flavors))


class CohortSpec(QuotaSpec):
    """Parent and quota of a Cohort."""

    parent_name: str = Field(default="", validation_alias=AliasChoices("parentName", "parent"))
    fair_sharing: FairSharingWeight = FairSharingWeight.blank()


class Cohort(NamedObject):
    """A Cohort object; cohorts without an object exist too, with all defaults."""

    spec: CohortSpec = CohortSpec.blank()
    status: CohortStatus = CohortStatus.blank()


class LocalQueueWeight(Schema):
    """The weight of a LocalQueue under admission fair sharing."""

    weight: QuantityText = "1"


class LocalQueueSpec(Schema):
    """Where a LocalQueue sends its workloads."""

    cluster_queue: str = ""
    stop_policy: Literal["None", "Hold", "HoldAndDrain"] = "None"
    fair_sharing: LocalQueueWeight = LocalQueueWeight.blank()


class AdmissionFairSharingStatus(Schema):
    """What a LocalQueue used in the past, decayed, when it was last sampled."""

    consumed: dict[str, QuantityText] = Field(default_factory=dict, alias="consumedResources")
    last_update: Time = None


class LocalQueueFairSharingStatus(Schema):
    """The fair sharing status of a LocalQueue; its ``weightedShare`` decides nothing."""

    admission: AdmissionFairSharingStatus = Field(
        default=AdmissionFairSharingStatus.blank(), alias="admissionFairSharingStatus"
    )


class LocalQueueStatus(ConditionsStatus):
    """The status of a LocalQueue."""

    fair_sharing: LocalQueueFairSharingStatus = LocalQueueFairSharingStatus.blank()


class LocalQueue(NamedObject):
    """A LocalQueue: workloads of its namespace that name it wait in its ClusterQueue."""

    spec: LocalQueueSpec = LocalQueueSpec.blank()
    status: LocalQueueStatus = LocalQueueStatus.blank()


class ResourceFlavorSpec(Schema):
    """The nodes a flavor stands for."""

    node_labels: dict[str, str] = Field(default_factory=dict)
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology_name: str = ""


class ResourceFlavor(NamedObject):
    """A ResourceFlavor."""

    spec: ResourceFlavorSpec = ResourceFlavorSpec.blank()


class PriorityClass(NamedObject):
    """A WorkloadPriorityClass or a Kubernetes PriorityClass: a name for a number."""

    value: Int32
    global_default: bool = False


class AdmissionCheckSpec(Schema):
    """Which controller answers for an admission check."""

    controller: str = Field(default="", alias="controllerName")


class AdmissionCheck(NamedObject):
    """An admission check; a queue that asks for one which is not Active is inactive."""

    spec: AdmissionCheckSpec = AdmissionCheckSpec.blank()
    status: ConditionsStatus = ConditionsStatus.blank()


class LimitRangeItem(Schema):
    """Defaults and bounds of one type of a LimitRange."""

    type: str
    min: ResourceList = Field(default_factory=dict)
    max: ResourceList = Field(default_factory=dict)
    default: ResourceList = Field(default_factory=dict)
    default_request: ResourceList = Field(default_factory=dict)


class LimitRangeSpec(Schema):
    """The items of a LimitRange."""

    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(NamedObject):
    """A LimitRange: defaults and bounds for the pods and containers of its namespace."""

    spec: LimitRangeSpec = LimitRangeSpec.blank()


class Overhead(Schema):
    """The fixed overhead of a RuntimeClass."""

    pod_fixed: ResourceList = Field(default_factory=dict)


class RuntimeClass(NamedObject):
    """A RuntimeClass: pods that name it carry its overhead."""

    overhead: Overhead = Overhead.blank()


class Namespace(NamedObject):
    """A namespace: only its labels decide, against the selectors of ClusterQueues."""
