"""What YuniKorn's shim reads of Kubernetes: who may preempt, and who may be preempted.

Source: docs/semantics/yunikorn.md §14; yunikorn-k8shim 23b6b47f, cache/task.go, cache/context.go,
cache/external/scheduler_cache_dao.go and plugin/predicates/predicate_manager.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import Field

from planner.state.base import NamedObject, Schema
from planner.state.kueue_topology import Node, PodStatus
from planner.state.pods import Affinity, Container, LabelSelector, PodSpec, Taint
from planner.state.queues import PriorityClass

ALLOW_PREEMPTION: Final = "yunikorn.apache.org/allow-preemption"
"""The annotation of a pod or a PriorityClass; ``"false"`` opts out of being preempted."""

NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The label that each namespace has its own value of."""

CLAIMS: Final = frozenset({"persistentVolumeClaim", "ephemeral", "resourceClaims"})
"""What binds a pod to nodes by volumes and devices, of which nobody here knows where they are."""

PreemptionPolicy = Literal["Never", "PreemptLowerPriority"]


class PodPriorityClass(PriorityClass):
    """A PriorityClass of Kubernetes as the shim reads it."""

    preemption_policy: PreemptionPolicy = "PreemptLowerPriority"

    @property
    def allow_preempt_self(self) -> bool:
        """Whether its pods may be preempted, unless they say otherwise themselves."""
        return self.metadata.annotations.get(ALLOW_PREEMPTION) != "false"

    @property
    def allow_preempt_other(self) -> bool:
        """Whether its pods may preempt others: Kubernetes copies its policy into them."""
        return self.preemption_policy != "Never"


class Namespace(NamedObject):
    """A namespace, by whose labels the terms of pods may select those of others."""

    @property
    def labels(self) -> Mapping[str, str]:
        """Its labels; the API server gives each its name as one."""
        return {NAME_LABEL: self.metadata.name, **self.metadata.labels}


class PodPort(Schema):
    """A port of a container, which may be one of its node, at one address or at all."""

    host_port: int = 0
    host_ip: str = Field(default="", alias="hostIP")
    protocol: str = "TCP"


class PodContainer(Container):
    """A container of a pod: what it asks for, and its ports."""

    ports: tuple[PodPort, ...] = ()  # pyright: ignore[reportIncompatibleVariableOverride]


class PodVolume(Schema):
    """A volume of a pod; one that is claimed may be bound to some nodes."""

    claim: dict[str, object] | None = Field(default=None, alias="persistentVolumeClaim")
    ephemeral: dict[str, object] | None = None


class ApartTerm(Schema):
    """A term of a pod about those in its domain of a topology, which it keeps out or comes to.

    A term without a ``labelSelector`` selects nobody. It selects pods of the namespaces that it
    names and of those whose labels its ``namespaceSelector`` selects, without both those of its
    own. Not read are ``matchLabelKeys`` and ``mismatchLabelKeys``, which only make it select fewer.
    """

    topology_key: str = ""
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None

    def selects_namespace(
        self, namespace: str, own: str, labels: Mapping[str, str] | None
    ) -> bool | None:
        """Say whether the term of a pod of ``own`` looks at a namespace; None if nobody knows.

        An empty ``namespace`` is one that is not known, and ``labels`` may not be known either.
        """
        selector = self.namespace_selector
        if not namespace:
            return None
        if namespace in self.namespaces:
            return True
        if selector is None:
            return not self.namespaces and namespace == own
        return None if labels is None or not selector.is_valid else selector.matches(labels)

    def may_match(self, labels: Mapping[str, str] | None) -> bool:
        """Say whether a pod with these labels, or any where they are not known, may be selected."""
        selector = self.label_selector
        if selector is None:
            return False
        return labels is None or not selector.is_valid or selector.matches(labels)


class PodAntiAffinity(Schema):
    """Which pods a pod keeps out of its domains, or comes to; preferences are not read."""

    required: tuple[ApartTerm, ...] = Field(
        default=(), alias="requiredDuringSchedulingIgnoredDuringExecution"
    )


class PodAffinity(Affinity):
    """What draws a pod to nodes and to other pods, and what keeps it and others apart."""

    pod_affinity: PodAntiAffinity | None = None  # pyright: ignore[reportIncompatibleVariableOverride]
    pod_anti_affinity: PodAntiAffinity | None = None  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def is_there(self) -> bool:
        """Whether any of it is given."""
        return bool(self.model_fields_set)


class SpreadConstraint(Schema):
    """How evenly pods are spread over the domains of a topology.

    Of ``matchLabelKeys`` the pods that count have what the pod itself has.
    """

    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = "DoNotSchedule"
    label_selector: LabelSelector | None = None
    min_domains: int = 1
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    match_label_keys: tuple[str, ...] = ()


class ShimNode(Schema):
    """A node as the shim knows it, of which only what keeps pods away counts."""

    taints: tuple[Taint, ...] = ()


class PodPreemption(PodSpec):
    """The part of a pod's ``spec`` that says who may preempt whom, and what binds it to nodes."""

    priority_class_name: str = ""
    preemption_policy: PreemptionPolicy = "PreemptLowerPriority"
    affinity: PodAffinity = PodAffinity.blank()  # pyright: ignore[reportIncompatibleVariableOverride]
    spread: tuple[SpreadConstraint, ...] = Field(  # pyright: ignore[reportIncompatibleVariableOverride]
        default=(), alias="topologySpreadConstraints"
    )
    containers: tuple[PodContainer, ...] = ()  # pyright: ignore[reportIncompatibleVariableOverride]
    init_containers: tuple[PodContainer, ...] = ()  # pyright: ignore[reportIncompatibleVariableOverride]
    volumes: tuple[PodVolume, ...] = ()
    node_name: str = ""

    @property
    def apart(self) -> tuple[ApartTerm, ...]:
        """The terms that keep other pods out of the pod's domains, as long as it runs."""
        anti = self.affinity.pod_anti_affinity
        return () if anti is None else anti.required

    @property
    def together(self) -> tuple[ApartTerm, ...]:
        """The terms that all have to select some pod in the domain to which the pod comes."""
        company = self.affinity.pod_affinity
        return () if company is None else company.required

    @property
    def host_ports(self) -> tuple[PodPort, ...]:
        """The ports of its node: of its containers, and of its sidecars, which run beside them."""
        sidecars = (one for one in self.init_containers if one.restart_policy == "Always")
        each = (port for one in (*self.containers, *sidecars) for port in one.ports)
        return tuple(port for port in each if port.host_port > 0)

    @property
    def placement(self) -> tuple[str, ...]:
        """The fields that bind the pod to some nodes."""
        fields = {
            "nodeSelector": self.node_selector,
            "affinity": self.affinity.is_there,
            "topologySpreadConstraints": self.spread,
            "hostPort": self.host_ports,
            "persistentVolumeClaim": any(one.claim is not None for one in self.volumes),
            "ephemeral": any(one.ephemeral is not None for one in self.volumes),
            "resourceClaims": self.resource_claims,
        }
        return tuple(name for name, value in fields.items() if value)

    def is_kept_off(self, taint: Taint) -> bool:
        """Whether a taint keeps the pod away: it is hard, and no toleration accepts it.

        What compares numbers, which few clusters know, is taken to accept nothing.
        """
        accepting = (one for one in self.tolerations if one.operator not in {"Gt", "Lt"})
        return taint.is_hard and not any(one.accepts(taint) for one in accepting)


class ShimPod(PodPreemption):
    """A pod as the shim knows it: flat, with the fields of its ``spec`` beside its ``status``."""

    status: PodStatus = PodStatus.blank()


class Pod(NamedObject):
    """A pod of Kubernetes; ``metadata.uid`` is the key of its ask or allocation in the core."""

    spec: PodPreemption = PodPreemption.blank()
    status: PodStatus = PodStatus.blank()

    @property
    def name(self) -> str:
        """Its namespace and name, such as ``team-a/driver``."""
        return f"{self.metadata.namespace or 'default'}/{self.metadata.name}"

    @property
    def allow_preempt_self(self) -> bool | None:
        """Whether it may be preempted; None if it leaves that to its PriorityClass."""
        return {"true": True, "false": False}.get(
            self.metadata.annotations.get(ALLOW_PREEMPTION, "")
        )

    @property
    def allow_preempt_other(self) -> bool:
        """Whether it may preempt others."""
        return self.spec.preemption_policy != "Never"


class KubernetesObjects(Schema):
    """What the predicates look at: pods, nodes and namespaces, as kubectl prints them."""

    pods: tuple[Pod, ...] = ()
    nodes: tuple[Node, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
