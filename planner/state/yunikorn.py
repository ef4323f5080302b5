"""The frozen schema of a YuniKorn cluster: queues.yaml and the core's full state dump.

Amounts are integers in the core's own units: milli-cores for ``vcore``, base units for all else.
Times are nanoseconds since 1970, as in the dump. What the dump lacks stands under the extra key
``x`` (docs/semantics/yunikorn.md §14; yunikorn-core be3bb487, webservice/dao).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Final

from pydantic import (
    AliasChoices,
    BeforeValidator,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from planner.quantity import MAX_INT64
from planner.state.base import Bool, Int32, Int64, KubernetesObject, Schema
from planner.state.yunikorn_quantity import format_yunikorn_quantity, parse_yunikorn_quantity

REQUIRED_NODE_TAG: Final = "yunikorn.apache.org/requiredNode"
NAMESPACE_TAG: Final = "kubernetes.io/meta/namespace"
POD_NAME_TAG: Final = "kubernetes.io/meta/podName"
"""Where the Kubernetes shim writes which pod it is (yunikorn-k8shim, common/si_helper.go)."""
DEFAULT_PARTITION: Final = "default"
ROOT: Final = "root"

_EXPECTED: Final = (
    "digits with an optional suffix k M G T P E or Ki Mi Gi Ti Pi Ei, for vcore also m"
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")
_ENDED: Final = frozenset({"Completed", "Expired", "Failed", "Rejected"})
"""States of applications that the core keeps for its dump only (objects/application_state.go)."""


def _text(value: object) -> object:
    """Return a scalar as the strings the core reads: YAML numbers and switches are text to it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > MAX_INT64:
        return value  # no quantity, and Python refuses to write very long integers
    return str(value) if isinstance(value, int | float) else value


def _read_quantities(value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
    if not isinstance(value, dict):
        return value
    amounts = {}
    for resource, written in value.items():
        text = _text(written)
        amount = parse_yunikorn_quantity(text, str(resource)) if isinstance(text, str) else None
        if amount is None:
            about = {"expected": _EXPECTED, "owner": "YuniKorn"}
            about |= {"key": str(resource), "written": written}
            raise PydanticCustomError("own_quantity", "should be {expected}", about)
        amounts[resource] = amount
    return amounts


def _written_quantities(amounts: dict[str, int]) -> dict[str, str]:
    return {name: format_yunikorn_quantity(units, name) for name, units in amounts.items()}


def _read_properties(value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
    return {k: _text(v) for k, v in value.items()} if isinstance(value, dict) else value


def _read_priority(value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
    if isinstance(value, str):
        return int(value) if _INTEGER.fullmatch(value) else (value or 0)
    return value


def _read_list(value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
    return () if value is None else value


Resource = dict[str, Int64]
"""A sparse resource: a type that is absent is not the same as a type with value 0."""

Held = dict[str, Annotated[Int64, Field(ge=0)]]
"""What a pod asks for or holds: its requests, which no API server takes below 0."""

Quantities = Annotated[
    Resource,
    BeforeValidator(_read_quantities),
    PlainSerializer(_written_quantities, return_type=dict[str, str]),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
]
"""A resource written as in queues.yaml, with suffixes."""

Priority = Annotated[
    Int32,
    BeforeValidator(_read_priority),
    WithJsonSchema({"type": ["string", "integer"]}),
]
"""32 bits, as in the core and in Kubernetes: with the offsets of queues it stays within 64."""


class ConfigSchema(Schema):
    """A piece of queues.yaml; the dump writes the same keys with capitals. Null means absent.

    Queues stand in queues: validating again without nulls, level by level, would take
    exponentially long.
    """

    @model_validator(mode="before")
    @classmethod
    def _lower_case(cls, value: Any) -> Any:  # noqa: ANN401 - any JSON may stand here
        if not isinstance(value, dict):
            return value
        return {str(k).lower(): v for k, v in value.items() if v is not None}


class QueueResources(ConfigSchema):
    """The quota of a queue as it is written."""

    guaranteed: Quantities = Field(default_factory=dict)
    max: Quantities = Field(default_factory=dict)


class QueueConfig(ConfigSchema):
    """A queue of queues.yaml with its children."""

    name: str
    parent: Bool = False
    properties: Annotated[dict[str, str], BeforeValidator(_read_properties)] = Field(
        default_factory=dict
    )
    resources: QueueResources = QueueResources.blank()
    limits: tuple[object, ...] = ()
    queues: Annotated[tuple[QueueConfig, ...], BeforeValidator(_read_list)] = ()


class PreemptionSwitches(ConfigSchema):
    """The switches of a partition: generic preemption and quota preemption."""

    enabled: Bool = True
    quota: Bool = Field(default=False, alias="quotapreemptionenabled")


class PartitionConfig(ConfigSchema):
    """A partition of queues.yaml."""

    name: str = DEFAULT_PARTITION
    limits: tuple[object, ...] = ()
    queues: tuple[QueueConfig, ...] = ()
    preemption: PreemptionSwitches = PreemptionSwitches.blank()


class QueuesConfig(ConfigSchema):
    """The whole of queues.yaml."""

    partitions: tuple[PartitionConfig, ...]


class ClaimExtra(Schema):
    """What the dump lacks of an ask or an allocation.

    ``not_in_app`` and ``not_on_node`` mark inconsistent states, which only tests have.
    ``placement`` names the fields of its pod that bind it to some nodes.
    """

    allow_preempt_self: Bool = Field(default=True, alias="allowPreemptSelf")
    allow_preempt_other: Bool = Field(default=True, alias="allowPreemptOther")
    released: Bool = False
    placement: tuple[str, ...] = ()
    preempt_check_time: Int64 | None = Field(default=None, alias="preemptCheckTime")
    not_in_app: Bool = Field(default=False, alias="notInApp")
    not_on_node: Bool = Field(default=False, alias="notOnNode")


class Claim(KubernetesObject):
    """What an ask and an allocation have in common."""

    allocation_key: str = Field(alias="allocationKey")
    resource: Held = Field(
        default_factory=dict, validation_alias=AliasChoices("resource", "resourcePerAlloc")
    )
    priority: Priority = 0
    request_time: Int64 = Field(default=0, alias="requestTime")
    originator: Bool = False
    required_node_id: str = Field(default="", alias="requiredNodeId")
    allocation_tags: dict[str, str] = Field(default_factory=dict, alias="allocationTags")
    x: ClaimExtra = ClaimExtra.blank()

    @property
    def required_node(self) -> str:
        """The one node it may run on, as of a DaemonSet; empty if any node will do."""
        return self.required_node_id or self.allocation_tags.get(REQUIRED_NODE_TAG, "")

    @property
    def pod(self) -> str | None:
        """Its pod as namespace/name, as the Kubernetes shim tags it; None without these tags."""
        namespace = self.allocation_tags.get(NAMESPACE_TAG)
        name = self.allocation_tags.get(POD_NAME_TAG)
        return f"{namespace}/{name}" if namespace and name else None


class Ask(Claim):
    """A request that waits for a node."""

    triggered_preemption: Bool = Field(default=False, alias="triggeredPreemption")


class Allocation(Claim):
    """A request that has its node."""

    allocation_time: Int64 = Field(default=0, alias="allocationTime")
    node_id: str = Field(default="", alias="nodeId")
    placeholder: Bool = False
    preempted: Bool = False

    @property
    def opted_out(self) -> bool:
        """Whether it asked not to be preempted; the core takes that as a suggestion."""
        return not self.x.allow_preempt_self


class Application(KubernetesObject):
    """An application with its allocations and asks."""

    application_id: str = Field(alias="applicationID")
    queue_name: str = Field(alias="queueName")
    partition: str = ""
    application_state: str = Field(default="", alias="applicationState")
    allocations: tuple[Allocation, ...] = ()
    requests: tuple[Ask, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether it has ended and nothing of it is left; its queue may be gone by then."""
        return self.application_state in _ENDED and not self.allocations and not self.requests


class Node(KubernetesObject):
    """A node; ``reservations`` are the allocation keys of the asks it is reserved for."""

    node_id: str = Field(alias="nodeID")
    capacity: Resource = Field(default_factory=dict)
    occupied: Resource = Field(default_factory=dict)
    allocated: Resource | None = None
    available: Resource | None = None
    schedulable: Bool = True
    is_reserved: Bool = Field(default=False, alias="isReserved")
    reservations: tuple[str, ...] = ()


class PartitionNodes(KubernetesObject):
    """The nodes of a partition."""

    partition_name: str = Field(default="default", alias="partitionName")
    nodes_info: tuple[Node, ...] = Field(default=(), alias="nodesInfo")


class QueueUsage(KubernetesObject):
    """Amounts of a queue that are not the sums of its allocations."""

    allocated: Resource | None = Field(default=None, alias="allocatedResource")
    preempting: Resource | None = Field(default=None, alias="preemptingResource")


class DirectCall(Schema):
    """A call of the preemptor without the scheduling cycle around it."""

    nodes_tried: Bool = Field(alias="nodesTried")


class PredicateRow(Schema):
    """The fixed answer of the shim for one node."""

    node: str
    success: Bool
    index: int


class FlowOptions(Schema):
    """How a flow runs: whether victims come back as asks, and how many steps at most."""

    recreate: Bool = False
    max_steps: int = Field(default=100, alias="maxSteps")


class InstanceExtra(KubernetesObject):
    """What only a recorded instance can say; a real cluster has none of it.

    ``predicates`` is ``none`` (no callback) or ``table`` (fixed answers); otherwise the shim
    answers by resources, with the vetoes given here.
    """

    root_max: Resource | None = Field(default=None, alias="rootMax")
    no_root_max: Bool = Field(default=False, alias="noRootMax")
    queue_usage: dict[str, QueueUsage] = Field(default_factory=dict, alias="queueUsage")
    predicates: str = ""
    table: tuple[PredicateRow, ...] = ()
    alloc_nodes: tuple[str, ...] = Field(default=(), alias="allocNodes")
    direct: DirectCall | None = None
    reservation_wait_timeout_s: int | None = Field(default=None, alias="reservationWaitTimeout")
    reservation_delay_ns: int | None = Field(default=None, alias="reservationDelay")
    quota_queue: str | None = Field(default=None, alias="quotaQueue")
    must_remove: dict[str, tuple[str, ...]] = Field(default_factory=dict, alias="mustRemove")
    veto_nodes: tuple[str, ...] = Field(default=(), alias="vetoNodes")
    flow: FlowOptions | None = None


class Partition(Schema):
    """A partition with everything in it."""

    name: str
    root: QueueConfig
    limits: tuple[object, ...] = ()
    preemption: PreemptionSwitches = PreemptionSwitches.blank()
    nodes: tuple[Node, ...] = ()
    applications: tuple[Application, ...] = ()

    @property
    def asks(self) -> Iterator[tuple[Application, Ask]]:
        """All asks with their applications, in the order of the dump."""
        return ((one, ask) for one in self.applications for ask in one.requests)


class YuniKornState(Schema):
    """Everything that was read of a YuniKorn cluster.

    ``now`` is the clock of the decision in nanoseconds; ``digest`` names the input (SHA-256).
    """

    now: Int64
    digest: str
    source: str
    notes: tuple[str, ...] = ()
    partitions: tuple[Partition, ...]
    x: InstanceExtra = InstanceExtra.blank()

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        return "yunikorn"
