"""Objects of Kubernetes about pods: templates, disruption budgets, events, and Kueue's manager.

A pod template decides what a workload asks for and where it may run. Events say what a cluster did,
for as long as the cluster keeps them. The image of the manager's Deployment shows the release, its
arguments the feature gates.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from planner.state.base import (
    AsRead,
    Bool,
    Condition,
    Count,
    Int32,
    Int64,
    NamedObject,
    Quantity,
    Schema,
    Time,
)

ResourceList = dict[str, Quantity]
"""Amounts per resource. The API server takes negative ones; Kueue counts them as 0."""


INTEGER: Final = re.compile(r"[+-]?[0-9]+")
"""What Gt and Lt compare."""


class Taint(Schema):
    """A taint of the nodes of a ResourceFlavor, or of a node."""

    key: str
    value: str = ""
    effect: str = ""

    @property
    def is_hard(self) -> bool:
        """Whether it keeps pods away that do not tolerate it."""
        return self.effect in {"NoSchedule", "NoExecute"}


class Toleration(Schema):
    """A toleration of a pod, or one that a ResourceFlavor adds."""

    key: str = ""
    operator: Literal["", "Equal", "Exists", "Lt", "Gt"] = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None

    def accepts(self, taint: Taint) -> bool:
        """Whether a pod with it tolerates a taint, as Kubernetes compares them."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        match self.operator:
            case "Exists":
                return True
            case "" | "Equal":
                return self.value == taint.value
            case _:
                if not (INTEGER.fullmatch(self.value) and INTEGER.fullmatch(taint.value)):
                    return False
                ours, theirs = int(self.value), int(taint.value)
                return theirs < ours if self.operator == "Lt" else theirs > ours


_LABEL_VALUE: Final = re.compile(r"(|[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")


class SelectorRequirement(Schema):
    """One row of ``matchExpressions`` in a node affinity.

    Any operator is read: the API server does not look into the templates of workloads, and whoever
    asks for nodes by a row that is not valid gets none.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether Kubernetes can evaluate the row on labels."""
        some, none = bool(self.values), not self.values
        one = len(self.values) == 1 and bool(INTEGER.fullmatch(self.values[0]))
        known = {"In": some, "NotIn": some, "Exists": none, "DoesNotExist": none}
        known |= {"Gt": one, "Lt": one}
        valid = known.get(self.operator, False)
        return valid and all(_LABEL_VALUE.fullmatch(value) for value in self.values)


class LabelRequirement(Schema):
    """One row of ``matchExpressions`` in a label selector, of which no API server takes another.

    Source: Kubernetes, ``ValidateLabelSelectorRequirement`` of apimachinery; kueue ff69552e
    pkg/webhooks/clusterqueue_webhook.go, ``validateClusterQueueSpec``.
    """

    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: Annotated[tuple[str, ...], Field(validate_default=True)] = ()

    @field_validator("values")
    @classmethod
    def _as_the_operator_has_them(
        cls, values: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        operator = info.data.get("operator")  # absent where it is wrong itself
        wanted = operator in {"In", "NotIn"}
        if operator is not None and wanted != bool(values):
            count = "one or more values" if wanted else "no values"
            raise PydanticCustomError(
                "values",
                "should be {expected}",
                {"expected": f"{count}, as the operator is {operator}"},
            )
        return values


class LabelSelector(Schema):
    """A label selector: all its labels and all its rows must match; an empty one always does."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        """The labels that it looks at."""
        return frozenset((*self.match_labels, *(row.key for row in self.match_expressions)))

    @cached_property
    def is_valid(self) -> bool:
        """Whether Kubernetes can evaluate it on labels: pods may keep values that no label has."""
        values = (value for row in self.match_expressions for value in row.values)
        return all(_LABEL_VALUE.fullmatch(value) for value in values)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Say whether labels match, as Kubernetes does."""
        wanted = self.match_labels.items()
        if any(labels.get(key) != value for key, value in wanted):
            return False
        return all(_meets(row, labels) for row in self.match_expressions)


def _meets(row: LabelRequirement, labels: Mapping[str, str]) -> bool:
    match row.operator:
        case "In":
            return labels.get(row.key) in row.values
        # An absent label is in no list, so that NotIn holds, as in Kubernetes.
        case "NotIn":
            return labels.get(row.key) not in row.values
        case "Exists":
            return row.key in labels
        case "DoesNotExist":
            return row.key not in labels


class NodeSelectorTerm(Schema):
    """One alternative of a required node affinity; its rows must all match."""

    match_expressions: tuple[SelectorRequirement, ...] = ()
    match_fields: tuple[SelectorRequirement, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether Kubernetes can evaluate all rows on nodes: a field has one value."""
        fields = all(
            row.operator in {"In", "NotIn"} and len(row.values) == 1 for row in self.match_fields
        )
        return fields and all(row.is_valid for row in self.match_expressions)


class PreferredTerm(Schema):
    """A preference for nodes; it counts only with the gate TASRespectNodeAffinityPreferred."""

    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm.blank()


class NodeSelector(Schema):
    """A required node affinity: any one of its terms is enough."""

    terms: tuple[NodeSelectorTerm, ...] = Field(default=(), alias="nodeSelectorTerms")


class NodeAffinity(Schema):
    """The required part decides; preferences only where pods are placed, by a gate."""

    required: NodeSelector | None = Field(
        default=None, alias="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[PreferredTerm, ...] = Field(
        default=(), alias="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Schema):
    """A pod's affinity; pod (anti-)affinity matters only to which workloads are alike."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: AsRead = None
    pod_anti_affinity: AsRead = None


class Resources(Schema):
    """Requests and limits, in nano-units per resource."""

    requests: ResourceList = Field(default_factory=dict)
    limits: ResourceList = Field(default_factory=dict)


class Container(Schema):
    """A container or init container; ``restartPolicy: Always`` makes the latter a sidecar."""

    name: str = ""
    resources: Resources = Resources.blank()
    restart_policy: str = ""
    ports: AsRead = None


class PodResourceClaim(Schema):
    """A claim to devices: a ready-made one, or made for each pod from a template."""

    name: str = ""
    claim: str | None = Field(default=None, alias="resourceClaimName")
    template: str | None = Field(default=None, alias="resourceClaimTemplateName")


class PodSpec(Schema):
    """A pod, as far as quota is concerned, and which workloads are alike.

    ``priority`` and ``spread`` decide nothing but that.
    """

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: Resources | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    overhead: ResourceList = Field(default_factory=dict)
    runtime_class_name: str = ""
    node_selector: dict[str, str] = Field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    priority: Int32 | None = None
    spread: AsRead = Field(default=None, alias="topologySpreadConstraints")
    termination_grace_s: Int64 | None = Field(default=None, alias="terminationGracePeriodSeconds")

    @property
    def required_nodes(self) -> tuple[NodeSelectorTerm, ...] | None:
        """The terms of the required node affinity, one of which is enough; ``None`` without it."""
        nodes = self.affinity.node_affinity if self.affinity else None
        return nodes.required.terms if nodes and nodes.required else None

    @property
    def preferred_nodes(self) -> tuple[PreferredTerm, ...]:
        """The preferences for nodes."""
        nodes = self.affinity.node_affinity if self.affinity else None
        return nodes.preferred if nodes else ()

    @property
    def has_valid_affinity(self) -> bool:
        """Whether every term of the required node affinity can be evaluated on nodes."""
        return all(term.is_valid for term in self.required_nodes or ())

    @property
    def has_valid_preferences(self) -> bool:
        """Whether every preference for nodes that has a weight can be evaluated on nodes."""
        return all(one.preference.is_valid for one in self.preferred_nodes if one.weight)


class TemplateMetadata(Schema):
    """The labels of a template's pods, by which PodDisruptionBudgets select pods, and annotations.

    Admission checks may not contradict either.
    """

    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)


class PodTemplate(Schema):
    """The template of a podset."""

    metadata: TemplateMetadata = TemplateMetadata.blank()
    spec: PodSpec = PodSpec.blank()


Percentage = Annotated[str, StringConstraints(pattern=r"^(100|[0-9]{1,2})%$")]
"""A share of the pods that a budget covers."""


class BudgetSpec(Schema):
    """Which pods a budget covers, and how many must stay or may go. Without selector: none."""

    selector: LabelSelector | None = None
    min_available: Count | Percentage | None = None
    max_unavailable: Count | Percentage | None = None


class BudgetStatus(Schema):
    """How many evictions the cluster permits now; nothing where it has not said so yet."""

    disruptions_allowed: Count | None = None
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(NamedObject):
    """A PodDisruptionBudget: it covers pods of its own namespace."""

    spec: BudgetSpec = BudgetSpec.blank()
    status: BudgetStatus = BudgetStatus.blank()


class EventObject(Schema):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class Event(NamedObject):
    """An Event, as ``kubectl get events`` prints it; only those about victims are looked at."""

    reason: str = ""
    message: str = ""
    about: EventObject = Field(default=EventObject.blank(), alias="involvedObject")
    last_seen: Time = Field(default=None, alias="lastTimestamp")
    seen: Time = Field(default=None, alias="eventTime")

    @property
    def at(self) -> datetime | None:
        """When it was last seen."""
        return self.last_seen or self.seen or self.metadata.creation_timestamp


class ManagerContainer(Schema):
    """A container of the manager."""

    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()


class ManagerPod(Schema):
    """The pod of the manager."""

    containers: tuple[ManagerContainer, ...] = ()


class ManagerTemplate(Schema):
    """The template of that pod."""

    spec: ManagerPod = ManagerPod.blank()


class DeploymentSpec(Schema):
    """What a Deployment runs."""

    template: ManagerTemplate = ManagerTemplate.blank()


class Deployment(NamedObject):
    """A Deployment; only that of Kueue's manager matters."""

    spec: DeploymentSpec = DeploymentSpec.blank()


class CelSelector(Schema):
    """A condition on a device, in the Common Expression Language."""

    expression: str = ""


class DeviceSelector(Schema):
    """A condition on a device; without an expression every device meets it."""

    cel: CelSelector | None = None


class DeviceClassSpec(Schema):
    """Which devices are of the class, and which extended resource stands for one of them."""

    selectors: tuple[DeviceSelector, ...] = ()
    extended_resource_name: str = ""


class DeviceClass(NamedObject):
    """A DeviceClass."""

    spec: DeviceClassSpec = DeviceClassSpec.blank()


class ExactDeviceRequest(Schema):
    """A request for devices of one class."""

    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: Bool = False


class DeviceSubRequest(Schema):
    """One of several alternatives of a request; Kueue takes none, so nothing in it matters."""


class DeviceRequest(Schema):
    """A request of a claim: exactly these devices, or the first alternative that there is."""

    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] | None = None


class DeviceCondition(Schema):
    """A constraint or a setting of a claim; older releases ask only whether there is one."""


class DeviceClaim(Schema):
    """The requests of a claim, and what else it says of the devices."""

    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceCondition, ...] = ()
    config: tuple[DeviceCondition, ...] = ()


class ResourceClaimSpec(Schema):
    """What a claim asks for."""

    devices: DeviceClaim = DeviceClaim.blank()


class ResourceClaimTemplateSpec(Schema):
    """The claim that is made for each pod."""

    spec: ResourceClaimSpec = ResourceClaimSpec.blank()


class ResourceClaimTemplate(NamedObject):
    """A ResourceClaimTemplate."""

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
    consumes_counters: tuple[CounterConsumption, ...] = ()


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


class ResourceSlice(NamedObject):
    """A ResourceSlice."""

    spec: ResourceSliceSpec = ResourceSliceSpec.blank()
