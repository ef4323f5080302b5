"""What Kubernetes demands of a node for an ask's pod, and what removals give it back.

The shim asks the plugins of Kubernetes' default profile. What they count over the cluster (required
pod affinity, anti-affinity and spread) they count once, with all pods in place; a removal gives
back resources and ports of its own node alone. So a node that a victim keeps closed stays closed.

Volumes and claims to devices are not looked at.

Source: docs/semantics/yunikorn-features.md §22; yunikorn-k8shim 23b6b47f,
plugin/predicates/predicate_manager.go; Kubernetes 1.36, pkg/scheduler/framework/plugins.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from planner.quantity import is_milli, to_units
from planner.quota.kueue.request import Defaults, pod_request
from planner.quota.kueue.selector import selects, untolerated
from planner.state.kueue_topology import Node
from planner.state.pods import LabelSelector, Taint
from planner.state.yunikorn import Application, Ask
from planner.state.yunikorn_pods import ApartTerm, KubernetesObjects, Pod, SpreadConstraint

_UNSCHEDULABLE: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_PODS: Final = "pods"
_ANY_ADDRESS: Final = "0.0.0.0"  # noqa: S104 - what Kubernetes writes for all addresses of a node
_PORTS: Final = "host ports"

Domain = tuple[str, str]
"""A key of a topology, and the value that all nodes of the domain have there."""
Port = tuple[str, str, int]


class Lack(NamedTuple):
    """What a pod lacks on a node beside the pods there, and what each of them gives back of it.

    ``held`` is by the keys of their allocations: of host ports each pod holds 1 that clashes.
    """

    what: str
    missing: int
    held: Mapping[str, int]

    @property
    def is_room(self) -> bool:
        """Whether it is a resource, which a reservation does not look at."""
        return self.what != _PORTS

    def left(self, gone: Sequence[str]) -> int:
        """Return what is still missing once some pods, each named once, are gone."""
        return self.missing - sum(self.held.get(key, 0) for key in gone)


class Placed:
    """The pods and nodes of Kubernetes, and where the pods are.

    ``unknown`` is the key of an allocation of which there is no pod: it counts as gone.
    """

    def __init__(self, objects: KubernetesObjects, applications: Sequence[Application]) -> None:
        self.pods = {pod.metadata.uid: pod for pod in objects.pods}
        self.nodes = {node.metadata.name: node for node in objects.nodes}
        self.namespaces = {one.metadata.name: one.labels for one in objects.namespaces}
        held = (each for one in applications for each in one.allocations)
        at = {each.allocation_key: each.node_id for each in held}
        self.unknown = next((key for key in at if key not in self.pods), None)
        self.on: dict[str, dict[str, Pod]] = defaultdict(dict)
        for uid, pod in self.pods.items():
            node = pod.spec.node_name or at.get(uid, "")
            if node in self.nodes and not pod.status.is_over:
                self.on[node][uid] = pod
        self._requests: dict[str, Mapping[str, int]] = {}
        self._demands: dict[str, Demand] = {}

    def demand(self, ask: Ask) -> Demand | None:
        """Return what the pod of an ask demands; None where the pod is not known."""
        key = ask.allocation_key
        if key in self.pods and key not in self._demands:
            self._demands[key] = Demand(self, self.pods[key])
        return self._demands.get(key)

    def request(self, pod: Pod) -> Mapping[str, int]:
        """Return what a pod takes of a node, itself among it, in the units of Kubernetes."""
        uid = pod.metadata.uid or ""
        if uid not in self._requests:
            self._requests[uid] = {**units(pod_request(pod.spec, Defaults())), _PODS: 1}
        return self._requests[uid]

    @property
    def each(self) -> Iterator[tuple[Node, Pod]]:
        """All pods that are on a node, with that."""
        return ((self.nodes[name], pod) for name, pods in self.on.items() for pod in pods.values())


def units(amounts: Mapping[str, int]) -> Mapping[str, int]:
    """Return nano-units as the scheduler of Kubernetes counts: cpu by the 1/1000, rounded up."""
    return {t: to_units(n, t) for t, n in amounts.items()}


class Demand:
    """What the pod of one ask demands of nodes; ``unknown`` is as of ``Placed``."""

    def __init__(self, placed: Placed, pod: Pod) -> None:
        self._placed, self._pod, self.unknown = placed, pod, placed.unknown
        self._lacks: dict[str, Sequence[Lack] | None] = {}

    def lacks(self, name: str) -> Sequence[Lack] | None:
        """Return what the pod lacks on a node with all pods in place; None if it is closed to it.

        Removals open no node that is closed, nor one that Kubernetes does not have.
        """
        if name not in self._lacks:
            node = self._placed.nodes.get(name)
            is_open = node is not None and self._is_eligible(node) and self._is_welcome(node)
            found = (*self._ports_taken(name), *self._room_lacking(name)) if is_open else None
            self._lacks[name] = found
        return self._lacks[name]

    def _ports_taken(self, name: str) -> Iterator[Lack]:
        wanted = [*_ports(self._pod)]
        held = {
            uid: 1
            for uid, pod in (self._placed.on[name] if wanted else {}).items()
            if any(_clash(one, other) for one in wanted for other in _ports(pod))
        }
        if held:
            yield Lack(_PORTS, len(held), held)

    def _room_lacking(self, name: str) -> Iterator[Lack]:
        allocatable = units(self._placed.nodes[name].status.allocatable)
        requests = {uid: self._placed.request(pod) for uid, pod in self._placed.on[name].items()}
        for t, asked in self._placed.request(self._pod).items():
            held = {uid: each[t] for uid, each in requests.items() if each.get(t)}
            missing = asked + sum(held.values()) - allocatable.get(t, 0)
            if asked > 0 and missing > 0:
                unit = "millicores" if is_milli(t) else t
                yield Lack(f"{unit} by Kubernetes", missing, held)

    def _is_eligible(self, node: Node) -> bool:
        """Say whether the pod may be on the node by what the node itself is."""
        taints = (*node.spec.taints, *([_UNSCHEDULABLE] if node.spec.unschedulable else ()))
        spec = self._pod.spec
        return not any(untolerated(taints, spec.tolerations)) and selects(spec, node)

    def _is_welcome(self, node: Node) -> bool:
        """Say whether the pods of the cluster let the pod in: affinity both ways, and spread."""
        labels = node.metadata.labels
        if any((key, labels.get(key)) in self._closed for key in labels):
            return False
        return self._has_company(node) and all(
            self._is_even(constraint, index, node) for index, constraint in enumerate(self._spread)
        )

    @cached_property
    def _closed(self) -> frozenset[Domain]:
        """The domains that anti-affinity closes: of the pod itself, and of pods that run."""
        closed = set[Domain]()
        for node, pod in self._placed.each:
            apart = [one for one in self._pod.spec.apart if self._looks_at(one, self._pod, pod)]
            apart += [one for one in pod.spec.apart if self._looks_at(one, pod, self._pod)]
            keys = (one.topology_key for one in apart)
            closed.update((key, value) for key in keys if (value := _label(node, key)) is not None)
        return frozenset(closed)

    def _looks_at(self, term: ApartTerm, owner: Pod, other: Pod) -> bool:
        """Say whether a term of a pod selects another pod."""
        own, namespace = _namespace(owner), _namespace(other)
        labels = self._placed.namespaces.get(namespace)
        selects = term.selects_namespace(namespace, own, labels)
        return bool(selects) and _matches(term.label_selector, other)

    @cached_property
    def _company(self) -> frozenset[Domain]:
        """The domains with a pod that all terms of the pod's own affinity select."""
        terms = self._pod.spec.together
        return frozenset(
            (term.topology_key, value)
            for node, pod in (self._placed.each if terms else ())
            if all(self._looks_at(term, self._pod, pod) for term in terms)
            for term in terms
            if (value := _label(node, term.topology_key)) is not None
        )

    def _has_company(self, node: Node) -> bool:
        terms = self._pod.spec.together
        values = [(term.topology_key, _label(node, term.topology_key)) for term in terms]
        if any(value is None for _, value in values):
            return False
        if all(domain in self._company for domain in values):
            return True
        # The first of its kind may come anywhere.
        own = all(self._looks_at(term, self._pod, self._pod) for term in terms)
        return not self._company and own

    @cached_property
    def _spread(self) -> tuple[SpreadConstraint, ...]:
        hard = (one for one in self._pod.spec.spread if one.when_unsatisfiable == "DoNotSchedule")
        return tuple(hard)

    @cached_property
    def _counted(self) -> tuple[Counter[str], ...]:
        """How many pods that it selects each domain has, constraint by constraint.

        A node that lacks a key of any of them is in no domain.
        """
        counts: tuple[Counter[str], ...] = tuple(Counter() for _ in self._spread)
        keys, spec = [one.topology_key for one in self._spread], self._pod.spec
        for name, node in self._placed.nodes.items():
            if any(key not in node.metadata.labels for key in keys):
                continue
            for constraint, count in zip(self._spread, counts, strict=True):
                if constraint.node_affinity_policy == "Honor" and not selects(spec, node):
                    continue
                taints = node.spec.taints if constraint.node_taints_policy == "Honor" else ()
                if not any(untolerated(taints, spec.tolerations)):
                    pods = self._placed.on[name].values()
                    found = sum(self._selects(constraint, pod) for pod in pods)
                    count[node.metadata.labels[constraint.topology_key]] += found
        return counts

    def _selects(self, constraint: SpreadConstraint, pod: Pod) -> bool:
        own, labels = self._pod.metadata.labels, pod.metadata.labels
        same = all(labels.get(key) == own[key] for key in constraint.match_label_keys if key in own)
        there = _namespace(pod) == _namespace(self._pod) and not pod.metadata.deletion_timestamp
        return there and same and _matches(constraint.label_selector, pod)

    def _is_even(self, constraint: SpreadConstraint, index: int, node: Node) -> bool:
        value = _label(node, constraint.topology_key)
        if value is None:
            return False
        counts = self._counted[index]
        least = min(counts.values(), default=None)
        if least is None:
            return True
        if len(counts) < constraint.min_domains:
            least = 0
        own = self._selects(constraint, self._pod)
        return counts[value] + own - least <= constraint.max_skew


def _label(node: Node, key: str) -> str | None:
    return node.metadata.labels.get(key)


def _namespace(pod: Pod) -> str:
    return pod.metadata.namespace or "default"


def _matches(selector: LabelSelector | None, pod: Pod) -> bool:
    return selector is not None and selector.matches(pod.metadata.labels)


def _ports(pod: Pod) -> Iterator[Port]:
    """Yield the ports of its node that a pod takes: address, protocol, number."""
    for port in pod.spec.host_ports:
        yield port.host_ip or _ANY_ADDRESS, port.protocol or "TCP", port.host_port


def _clash(one: Port, other: Port) -> bool:
    same = one[1:] == other[1:]
    return same and (one[0] == other[0] or _ANY_ADDRESS in {one[0], other[0]})
