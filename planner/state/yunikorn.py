"""The frozen schema of a YuniKorn cluster: queues.yaml and the core's full state dump.

Amounts are integers in the core's own units: milli-cores for ``vcore``, base units (bytes, devices,
pods) for all else. Times are nanoseconds since 1970, as in the dump. What the dump lacks stands
under the extra key ``x``.

Source: docs/semantics/yunikorn.md §2 and §14; yunikorn-core be3bb487, webservice/dao.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Final

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    PlainSerializer,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from planner.quantity import MAX_INT64
from planner.state.base import Bool, Int32, Int64, KubernetesObject, Schema, Time
from planner.state.record import AnyState
from planner.state.yaml_number import yaml_number
from planner.state.yunikorn_pods import KubernetesObjects
from planner.state.yunikorn_usage import QueueState, Usage, none_is_empty

VCORE: Final = "vcore"
MILLI: Final = 1000
_QUANTITY: Final = re.compile(r"(?P<digits>[0-9]+)\s*(?P<suffix>m|[kMGTPE]|[KMGTPE]i)?", re.ASCII)
_LONGEST: Final = 40
_BYTES: Final = frozenset({"memory", "ephemeral-storage"})
_STEPS: Final = {
    "": 1,
    **{f"{suffix}i": 1024**power for power, suffix in enumerate("KMGTPE", start=1)},
    **{suffix: 1000**power for power, suffix in enumerate("kMGTPE", start=1)},
}


def parse_yunikorn_quantity(text: str, resource: str) -> int | None:
    """Read a quantity of queues.yaml in the core's unit; None if it is not one.

    Source: docs/semantics/yunikorn.md §2: a plain number of ``vcore`` is cores.
    """
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        return None
    value, suffix = int(match["digits"]), match["suffix"] or ""
    is_vcore = resource == VCORE
    if suffix == "m":
        return value if is_vcore and value <= MAX_INT64 else None
    value *= _STEPS[suffix] * (MILLI if is_vcore else 1)
    return value if value <= MAX_INT64 else None


def format_yunikorn_quantity(units: int, resource: str) -> str:
    """Return an amount in YuniKorn's units as queues.yaml writes it: ``64``, ``1500m``, ``16Gi``.

    Bytes get the shortest suffix that is exact.
    """
    if resource == "vcore":
        return f"{units}m" if units % 1000 else str(units // 1000)
    if resource in _BYTES or resource.startswith("hugepages-"):
        exact = (f"{units // step}{suffix}" for suffix, step in _STEPS.items() if units % step == 0)
        return min(exact, key=len)
    return str(units)


REQUIRED_NODE_TAG: Final = "yunikorn.apache.org/requiredNode"
NAMESPACE_TAG: Final = "kubernetes.io/meta/namespace"
POD_NAME_TAG: Final = "kubernetes.io/meta/podName"
"""The tags in which the Kubernetes shim names the pod (yunikorn-k8shim, common/si_helper.go)."""
DEFAULT_PARTITION: Final = "default"
ROOT: Final = "root"
PREEMPTION_POLICY: Final = "preemption.policy"
PRIORITY_POLICY: Final = "priority.policy"
PRIORITY_OFFSET: Final = "priority.offset"
DEFAULT: Final = "default"
DISABLED: Final = "disabled"
DRAINING: Final = "Draining"
"""The status of a queue that left queues.yaml, and schedules what it has."""

_EXPECTED: Final = (
    "digits with an optional suffix k M G T P E or Ki Mi Gi Ti Pi Ei, for vcore also m"
)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,10}")
_WORDS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}
"""Words of older YAML, which the core takes for a switch only where it wants one."""
_ENDED: Final = frozenset({"Completed", "Expired", "Failed", "Rejected"})
"""States of applications that the core keeps for its dump only (objects/application_state.go)."""


def _text(value: object) -> object:
    """Return a scalar as the strings the core reads: YAML numbers and switches are text to it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > MAX_INT64:
        return value  # no quantity, and Python refuses to write very long integers
    return str(value) if isinstance(value, int | float) else value


def _read_quantities(value: object) -> object:
    if not isinstance(value, dict):
        return value
    amounts = {}
    for resource, written in value.items():
        text = _text(written)
        amount = parse_yunikorn_quantity(text, str(resource)) if isinstance(text, str) else None
        if amount is None:
            # The entry is no text by itself: pydantic encodes texts, and not any can be encoded.
            entry = (str(resource), written)
            about = {"expected": _EXPECTED, "owner": "YuniKorn", "entry": entry}
            raise PydanticCustomError("own_quantity", "should be {expected}", about)
        amounts[resource] = amount
    return amounts


def _written_quantities(amounts: dict[str, int]) -> dict[str, str]:
    return {name: format_yunikorn_quantity(units, name) for name, units in amounts.items()}


def _read_properties(value: object) -> object:
    if not isinstance(value, dict):
        return value
    # A property without a value is an empty text to the core, and one of the queue's own.
    return {key: "" if each is None else _text(each) for key, each in value.items()}


def _read_switch(value: object) -> object:
    return _WORDS.get(value, value) if isinstance(value, str) else value


def _read_count(value: object) -> object:
    """Return the number that a plain scalar of YAML is to the core, or the value as it is.

    What is no whole number is cut: go.yaml.in/yaml/v3, resolve.go (resolve) and decode.go (scalar),
    with which yunikorn-core be3bb487 reads a field of the type uint64.
    """
    number = yaml_number(value) if isinstance(value, str) else value
    if isinstance(number, float):
        number = int(number) if math.isfinite(number) else None
    return value if number is None else number


def _read_priority(value: object) -> object:
    if isinstance(value, str):
        return int(value) if _INTEGER.fullmatch(value) else (value or 0)
    return value


Resource = dict[str, Int64]
"""A sparse resource: a type that is absent is not the same as a type with value 0."""

NotNegative = dict[str, Annotated[Int64, Field(ge=0)]]
"""A resource of which no amount is below 0.

So are the requests of a pod, of which no API server takes others, and the quotas of queues.yaml.
"""

Quantities = Annotated[
    Resource,
    BeforeValidator(_read_quantities),
    PlainSerializer(_written_quantities, return_type=dict[str, str]),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "integer"]}}),
]
"""A resource written as in queues.yaml, with suffixes."""

Text = Annotated[str, BeforeValidator(_text), WithJsonSchema({"type": "string"})]
"""A text of queues.yaml, which may look like a number."""

Switch = Annotated[Bool, BeforeValidator(_read_switch), WithJsonSchema({"type": "boolean"})]
"""A switch of queues.yaml."""

MAX_COUNT: Final = 2**64 - 1
Count = Annotated[
    int,
    BeforeValidator(_read_count),
    Field(strict=True, ge=0, le=MAX_COUNT),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
"""A number of queues.yaml, of 64 bits without a sign."""

ReservedFor = Annotated[str, AfterValidator(lambda key: key.rpartition("|")[2])]
"""The key of the ask; up to YuniKorn 1.5 a dump writes its application and a bar before it."""

Priority = Annotated[
    Int32, BeforeValidator(_read_priority), WithJsonSchema({"type": ["string", "integer"]})
]
"""32 bits, as in the core and in Kubernetes: with the offsets of queues it stays within 64."""


class ConfigSchema(Schema):
    """A piece of queues.yaml; the dump writes the same keys with capitals. Null means absent.

    Queues stand in queues: validating again without nulls, level by level, would take
    exponentially long.
    """

    @model_validator(mode="before")
    @classmethod
    def _lower_case(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {str(k).lower(): v for k, v in value.items() if v is not None}


class QueueResources(ConfigSchema):
    """The quota of a queue as it is written."""

    guaranteed: Quantities = Field(default_factory=dict)
    max: Quantities = Field(default_factory=dict)


class Limit(ConfigSchema):
    """What each of some users, and each of some groups, may have in a queue; ``*`` is any other."""

    users: Annotated[tuple[Text, ...], BeforeValidator(none_is_empty)] = ()
    groups: Annotated[tuple[Text, ...], BeforeValidator(none_is_empty)] = ()
    maxresources: Quantities = Field(default_factory=dict)
    maxapplications: Count = 0


Limits = Annotated[tuple[Limit, ...], BeforeValidator(none_is_empty)]


class QueueConfig(ConfigSchema):
    """A queue of queues.yaml with its children; ``managed`` unless the core made it itself."""

    name: Text
    parent: Switch = False
    properties: Annotated[dict[str, str], BeforeValidator(_read_properties)] = Field(
        default_factory=dict
    )
    resources: QueueResources = QueueResources.blank()
    limits: Limits = ()
    maxapplications: Count = 0
    managed: Switch = True
    queues: Annotated[tuple[QueueConfig, ...], BeforeValidator(none_is_empty)] = ()


def inherited(effective: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return the effective properties of a queue: ``effective`` are its parent's, ``own`` its own.

    Fences and offsets are not inherited; ``disabled`` reaches the whole subtree until a queue has
    a policy of its own.
    """
    local = {PRIORITY_POLICY: DEFAULT, PRIORITY_OFFSET: "0"}
    if effective.get(PREEMPTION_POLICY, "").lower() != DISABLED:
        local[PREEMPTION_POLICY] = DEFAULT
    return {**effective, **{name: local[name] for name in local if name in effective}, **own}


def by_path(queue: QueueConfig, above: str = "") -> Iterator[tuple[str, QueueConfig]]:
    """Yield a queue and all below it, each with its path, such as ``root.batch``."""
    path = f"{above}{queue.name.lower()}"
    yield path, queue
    for child in queue.queues:
        yield from by_path(child, f"{path}.")


class PreemptionSwitches(ConfigSchema):
    """The switches of a partition: generic preemption and quota preemption."""

    enabled: Switch = True
    quota: Switch = Field(default=False, alias="quotapreemptionenabled")


class NodeOrder(ConfigSchema):
    """In which order nodes are tried: the least used first, or with ``binpacking`` the most."""

    type: Text = ""
    weights: dict[str, float] = Field(default_factory=dict, alias="resourceweights")


class PartitionConfig(ConfigSchema):
    """A partition of queues.yaml."""

    name: Text = DEFAULT_PARTITION
    limits: Limits = ()
    queues: tuple[QueueConfig, ...] = ()
    preemption: PreemptionSwitches = PreemptionSwitches.blank()
    order: NodeOrder = Field(default=NodeOrder.blank(), alias="nodesortpolicy")


class QueuesConfig(ConfigSchema):
    """The whole of queues.yaml."""

    partitions: tuple[PartitionConfig, ...]


Key = Annotated[str, Field(min_length=1)]
"""A name by which others refer to something, and by which an answer names it."""


class ClaimExtra(Schema):
    """What the dump lacks of an ask or an allocation.

    ``not_in_app`` and ``not_on_node`` mark inconsistent states, which only tests have; the former
    also who takes the place of a placeholder on another node, which alone counts it.
    ``placement`` names the fields of its pod, and taints, that bind it to some nodes.
    """

    allow_preempt_self: Bool = True
    allow_preempt_other: Bool = True
    released: Bool = False
    placement: tuple[str, ...] = ()
    preempt_check_time: Int64 | None = None
    not_in_app: Bool = False
    not_on_node: Bool = False


class Claim(KubernetesObject):
    """What an ask and an allocation have in common."""

    allocation_key: Key
    resource: NotNegative = Field(
        default_factory=dict, validation_alias=AliasChoices("resource", "resourcePerAlloc")
    )
    priority: Priority = 0
    request_time: Int64 = 0
    originator: Bool = False
    placeholder: Bool = False
    task_group_name: str = ""
    required_node_id: str = ""
    allocation_tags: dict[str, str] = Field(default_factory=dict)
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

    triggered_preemption: Bool = False


class Allocation(Claim):
    """A request that has its node; ``uuid`` is another name of it, which only old dumps have."""

    uuid: str = ""
    allocation_time: Int64 = 0
    node_id: Key
    preempted: Bool = False

    @property
    def opted_out(self) -> bool:
        """Whether it asked not to be preempted; the core takes that as a suggestion."""
        return not self.x.allow_preempt_self


class TaskGroup(KubernetesObject):
    """How many placeholders a task group had, how large, and what became of them."""

    task_group_name: str = ""
    min_resource: Resource = Field(default_factory=dict)
    count: int = 0
    replaced: int = 0
    timed_out: int = Field(default=0, alias="timedout")

    @property
    def waiting(self) -> int:
        """How many asks of the group the core keeps for placeholders, whether these are there."""
        return self.count - self.replaced - self.timed_out


class ApplicationExtra(Schema):
    """What a dump lacks of an application: what its gang asks for, if not what it asked so far."""

    placeholder_ask: Resource | None = None


class Application(KubernetesObject):
    """An application with its allocations and asks, and whose it is.

    Before ``backoff_deadline`` the core looks at none of its asks; dumps have it from 1.8 on.
    """

    application_id: str = Field(alias="applicationID")
    queue_name: Key
    partition: str = ""
    submission_time: Int64 = 0
    application_state: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    backoff_deadline: Time = None
    task_groups: tuple[TaskGroup, ...] = Field(default=(), alias="placeholderData")
    allocations: tuple[Allocation, ...] = ()
    requests: tuple[Ask, ...] = ()
    x: ApplicationExtra = ApplicationExtra.blank()

    @property
    def is_over(self) -> bool:
        """Whether it has ended and nothing of it is left; its queue may be gone by then."""
        return self.application_state in _ENDED and not self.allocations and not self.requests


class Node(KubernetesObject):
    """A node; ``reservations`` are the allocation keys of the asks it is reserved for."""

    node_id: Key = Field(alias="nodeID")
    capacity: Resource = Field(default_factory=dict)
    occupied: Resource = Field(default_factory=dict)
    allocated: Resource | None = None
    available: Resource | None = None
    schedulable: Bool = True
    reservations: tuple[ReservedFor, ...] = ()


class PartitionNodes(KubernetesObject):
    """The nodes of a partition."""

    partition_name: str = "default"
    nodes_info: tuple[Node, ...] = ()


class QueueUsage(KubernetesObject):
    """Amounts of a queue that are not the sums of its allocations."""

    allocated: Resource | None = Field(default=None, alias="allocatedResource")
    preempting: Resource | None = Field(default=None, alias="preemptingResource")


class Build(KubernetesObject):
    """The build of a shim, which is released together with the core in it."""

    build_version: str = ""


class DirectCall(Schema):
    """A call of the preemptor without the scheduling cycle around it."""

    nodes_tried: Bool


class PredicateRow(Schema):
    """The fixed answer of the shim for one node."""

    node: str
    success: Bool
    index: int


class FlowOptions(Schema):
    """How a flow runs: whether victims come back as asks, and how many steps at most."""

    recreate: Bool = False
    max_steps: int = 100


class ClusterInfo(KubernetesObject):
    """What a dump says of its cluster: the builds of its resource managers, the shim's first."""

    builds: tuple[Build, ...] = Field(default=(), alias="rmBuildInformation")


class QuotaStep(KubernetesObject):
    """A time that passes, in seconds, and the queues.yaml that then takes the place of the last."""

    after: Int64 = 0
    queues: QueuesConfig | None = None


class InstanceExtra(KubernetesObject):
    """What a dump lacks: of a recorded instance, and of limits whatever was asked beside the dump.

    ``predicates`` is ``none`` (no callback), ``table`` (fixed answers) or ``k8s``; otherwise the
    shim answers by resources, with the vetoes given here. With ``settle`` cycles without preemption
    come first, after which no application backs off any more with ``clear_backoff``.
    ``queues_before`` is the queues.yaml that was in force before.
    """

    root_max: Resource | None = None
    no_root_max: Bool = False
    queue_usage: dict[str, QueueUsage] = Field(default_factory=dict)
    predicates: str = ""
    table: tuple[PredicateRow, ...] = ()
    alloc_nodes: tuple[str, ...] = ()
    direct: DirectCall | None = None
    reservation_wait_timeout_s: int | None = Field(default=None, alias="reservationWaitTimeout")
    reservation_delay_ns: int | None = Field(default=None, alias="reservationDelay")
    quota_queue: str | None = None
    quota_due: tuple[str, ...] = ()
    steps: tuple[QuotaStep, ...] = ()
    settle: Bool = False
    clear_backoff: Bool = False
    queues_before: QueuesConfig | None = None
    queue_state: dict[str, QueueState] = Field(default_factory=dict)
    usage: Usage | None = None
    must_remove: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    veto_nodes: tuple[str, ...] = ()
    flow: FlowOptions | None = None


class InForce(Schema):
    """What a dump says that the core made of the properties of a queue; dumps do from 1.7 on."""

    preemption_enabled: Bool = True
    is_preemption_fence: Bool = False
    is_priority_fence: Bool = False
    priority_offset: Int32 = 0
    preemption_delay: str = ""


class Partition(Schema):
    """A partition with everything in it.

    ``in_force`` is empty where the queues are not those of the dump. ``queue_states`` is empty
    where no queue object says what runs, and ``usage`` None where nobody asked the core what users
    and groups have. ``absent_nodes`` are nodes that allocations are on, or asks require, and that a
    dump lacks.
    """

    name: str
    root: QueueConfig
    preemption: PreemptionSwitches = PreemptionSwitches.blank()
    order: NodeOrder = NodeOrder.blank()
    in_force: dict[str, InForce] = Field(default_factory=dict)
    queue_states: dict[str, QueueState] = Field(default_factory=dict)
    usage: Usage | None = None
    nodes: tuple[Node, ...] = ()
    absent_nodes: tuple[str, ...] = ()
    applications: tuple[Application, ...] = ()

    @property
    def asks(self) -> Iterator[tuple[Application, Ask]]:
        """All asks with their applications, in the order of the dump."""
        return ((one, ask) for one in self.applications for ask in one.requests)


class YuniKornState(AnyState):
    """Everything that was read of a YuniKorn cluster.

    ``now`` is the clock of the decision in nanoseconds; ``digest`` names the input (SHA-256).
    ``release`` is the one that the dump names, such as ``1.8.0``; empty where it names none.
    ``objects`` is what Kubernetes' predicates look at, where that was read beside the dump.
    """

    now: Int64
    digest: str
    source: str
    release: str = ""
    notes: tuple[str, ...] = ()
    partitions: tuple[Partition, ...]
    objects: KubernetesObjects | None = None
    x: InstanceExtra = InstanceExtra.blank()

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        return "yunikorn"

    @property
    def pending(self) -> tuple[str, ...]:
        """The keys of all asks that have no allocation yet, in the order of the state."""
        applications = (one for partition in self.partitions for one in partition.applications)
        held = {allocation.allocation_key for one in applications for allocation in one.allocations}
        asks = (ask.allocation_key for partition in self.partitions for _, ask in partition.asks)
        return tuple(key for key in asks if key not in held)
