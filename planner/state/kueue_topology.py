"""The objects that placement on nodes looks at: topologies, nodes, and pods that take room on them.

Source: docs/semantics/kueue-topology.md §1 and §1.1.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from typing import Annotated, Any, ClassVar, Final, Self

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from planner.state.base import (
    Bool,
    Condition,
    Count,
    KubernetesObject,
    Name,
    NamedObject,
    Schema,
    shared,
)
from planner.state.pods import ResourceList, Taint, Toleration

HOST: Final = "kubernetes.io/hostname"
"""The label whose domains are single nodes."""

MOST_DOMAINS: Final = 100_000
"""The API server takes no more domains in a slice of an assignment."""

PLACED: Final = frozenset(
    {
        "kueue.x-k8s.io/podset-required-topology",
        "kueue.x-k8s.io/podset-preferred-topology",
        "kueue.x-k8s.io/podset-unconstrained-topology",
        "kueue.x-k8s.io/podset-slice-required-topology",
        "kueue.x-k8s.io/podset-slice-required-topology-constraints",
    }
)
"""Annotations of pods whose workload's assignment is counted instead of them (§2.3)."""


class TopologyLevel(Schema):
    """One level of a topology: the label that names its domains."""

    node_label: str


class TopologySpec(Schema):
    """The levels, highest first."""

    levels: tuple[TopologyLevel, ...] = ()


class Topology(NamedObject):
    """A Topology: how nodes are nested in racks, blocks and zones."""

    spec: TopologySpec = TopologySpec.blank()

    @property
    def levels(self) -> tuple[str, ...]:
        """The label keys of its levels, highest first."""
        return tuple(level.node_label for level in self.spec.levels)


class NodeSpec(Schema):
    """What keeps pods from a node."""

    taints: tuple[Taint, ...] = ()
    unschedulable: Bool = False


class NodeStatus(Schema):
    """What a node has, and whether it is ready."""

    allocatable: ResourceList = Field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()


class Node(NamedObject):
    """A node of the cluster."""

    spec: NodeSpec = NodeSpec.blank()
    status: NodeStatus = NodeStatus.blank()

    @property
    def is_usable(self) -> bool:
        """Whether it is schedulable, and says that it is ready."""
        conditions = self.status.conditions
        ready = next((one for one in conditions if one.type == "Ready"), None)
        return not self.spec.unschedulable and ready is not None and ready.is_true


class PodRequests(Schema):
    """What a container asks for; its limits do not stand in for that here."""

    requests: ResourceList = Field(default_factory=dict)


class PodContainer(Schema):
    """A container or init container of a pod that exists."""

    resources: PodRequests = PodRequests.blank()
    restart_policy: str = ""


class ExistingPodSpec(Schema):
    """Where a pod is, and what it takes there."""

    node_name: str = ""
    containers: Annotated[tuple[PodContainer, ...], shared()] = ()
    init_containers: Annotated[tuple[PodContainer, ...], shared()] = ()
    resources: PodRequests | None = None
    overhead: ResourceList = Field(default_factory=dict)


class PodStatus(Schema):
    """The part of a pod's ``status`` that says whether it is over."""

    phase: str = ""

    @property
    def is_over(self) -> bool:
        """Whether the pod has ended, and counts for no other pod any more."""
        return self.phase in {"Succeeded", "Failed"}


def _telling(value: object) -> object:
    # A pod may carry kilobytes of annotations, and there may be 50,000 pods.
    return {key: "" for key in value if key in PLACED} if isinstance(value, dict) else value


class PodMetadata(Schema):
    """Who a pod is, and which annotations of Kueue's placement it has."""

    name: Name
    namespace: str = ""
    annotations: Annotated[dict[str, str], BeforeValidator(_telling)] = Field(default_factory=dict)


class Pod(KubernetesObject):
    """A pod that exists, as far as it holds a node outside of Kueue's placement."""

    metadata: PodMetadata
    spec: ExistingPodSpec = ExistingPodSpec.blank()
    status: PodStatus = PodStatus.blank()

    @property
    def holds_its_node(self) -> bool:
        """Whether it takes room on a node that no assignment of a workload counts (§2.3)."""
        over = self.status.is_over
        return bool(self.spec.node_name) and not over and not self.metadata.annotations


class AssignedDomain(Schema):
    """A domain and how many pods are in it (v1beta1)."""

    values: tuple[str, ...] = ()
    count: Count = 0


class IndividualValues(Schema):
    """Values with a common beginning and end."""

    prefix: str = ""
    roots: tuple[str, ...] = ()
    suffix: str = ""


class LevelValues(Schema):
    """The values of one level: one for all domains, or one for each."""

    universal: str | None = None
    individual: IndividualValues | None = None

    def at(self, position: int) -> str:
        """Return the value of a domain."""
        if self.universal is not None or self.individual is None:
            return self.universal or ""
        each = self.individual
        return f"{each.prefix}{each.roots[position]}{each.suffix}"


class PodCounts(Schema):
    """How many pods are in each domain: one number for all, or one for each."""

    universal: Count | None = None
    individual: tuple[Count, ...] | None = None

    def at(self, position: int) -> int:
        """Return the count of a domain."""
        if self.universal is not None or self.individual is None:
            return self.universal or 0
        return self.individual[position]


DomainCount = Annotated[int, Field(strict=True, ge=0, le=MOST_DOMAINS)]


def lacks_values(part: "AssignmentSlice") -> bool:
    """Say whether a slice lists fewer values, or counts, than it has domains."""
    columns: list[tuple[object, ...]] = [
        one.individual.roots or ()
        for one in part.values or ()
        if one.universal is None and one.individual is not None
    ]
    counts = part.counts
    if counts is not None and counts.universal is None and counts.individual is not None:
        columns.append(counts.individual)
    return any(len(column) < part.domain_count for column in columns)


class AssignmentSlice(Schema):
    """Some domains with their pods, written column by column (v1beta2)."""

    domain_count: DomainCount
    values: tuple[LevelValues, ...] = Field(default=(), alias="valuesPerLevel")
    counts: PodCounts = Field(default=PodCounts.blank(), alias="podCounts")

    wrong_as_a_whole: ClassVar[Callable[[Any], bool] | None] = staticmethod(lacks_values)

    @property
    def is_one_domain(self) -> bool:
        """Whether all of its domains are one and the same, whatever ``domain_count`` is."""
        several = [one for one in self.values if one.universal is None and one.individual]
        listed = self.counts.universal is None and self.counts.individual is not None
        return not several and not listed

    @model_validator(mode="after")
    def _as_many_as_said(self) -> Self:
        if lacks_values(self):
            message = "should have a value for each of its {count} domains"
            raise PydanticCustomError("domains", message, {"count": self.domain_count})
        return self


class TopologyAssignment(Schema):
    """Where the pods of a podset are: read in either encoding, and written in that of v1beta2."""

    levels: tuple[str, ...] = ()
    domains: tuple[AssignedDomain, ...] = ()
    slices: tuple[AssignmentSlice, ...] = ()

    def places(self) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yield the values of every domain, and how many pods are there (§1.1)."""
        for domain in self.domains:
            yield domain.values, domain.count
        for part in self.slices:
            # A slice may count 100,000 domains that are all this one: they are yielded as one.
            if part.is_one_domain:
                values = tuple(column.universal or "" for column in part.values)
                yield values, part.domain_count * (part.counts.universal or 0)
                continue
            for position in range(part.domain_count):
                values = tuple(column.at(position) for column in part.values)
                yield values, part.counts.at(position)

    @model_serializer(mode="wrap")
    def _with_slices_alone(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        slices = (*_columns(self.domains), *self.slices)
        found: dict[str, Any] = handler(self.model_copy(update={"slices": slices}))
        del found["domains"]
        return found


def _columns(domains: Sequence[AssignedDomain]) -> Iterator[AssignmentSlice]:
    """Yield slices for domains, in the same order: the API server takes no slice of none."""
    # Values of one length in a row are one slice: as many slices as domains may be too many.
    for _, group in groupby(domains, key=lambda one: len(one.values)):
        while some := tuple(islice(group, MOST_DOMAINS)):
            roots = zip(*(one.values for one in some), strict=True)
            yield AssignmentSlice.model_construct(  # of parts that are read already
                domain_count=len(some),
                values=tuple(LevelValues(individual=IndividualValues(roots=one)) for one in roots),
                counts=PodCounts(individual=tuple(one.count for one in some)),
            )


class PodSetUpdate(Schema):
    """What a ready admission check adds to the pods of a podset."""

    name: str = ""
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)
    node_selector: dict[str, str] = Field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = ()


class UnhealthyNode(Schema):
    """A node of an assignment that is gone, or not healthy."""

    name: str = ""
