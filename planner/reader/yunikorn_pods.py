"""Who opted out of preemption, may not preempt others, or is kept off nodes: what Kubernetes has.

In a state dump, the core's asks and allocations do not say so. The Kubernetes shim's part of the
dump does (``rmDiagnostics``), and so do objects of the API server beside it. Source:
yunikorn-k8shim 23b6b47f, cache/task.go (isPreemptSelfAllowed, isPreemptOtherAllowed),
cache/context.go (IsPreemptSelfAllowed, GetStateDump), common/si_helper.go (CreateTagsForTask).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

from planner.errors import SchemaError
from planner.reader.complaint import checked
from planner.reader.items import Item
from planner.reader.show import Path, place, shown
from planner.reader.yunikorn_files import YuniKornFiles, with_objects
from planner.state.base import NamedObject
from planner.state.kueue_topology import Node as KubernetesNode
from planner.state.pods import Taint
from planner.state.yunikorn import Application, Ask, Claim, Node
from planner.state.yunikorn_pods import (
    ApartTerm,
    KubernetesObjects,
    Namespace,
    Pod,
    PodPriorityClass,
    ShimNode,
)

OPT_OUT_UNKNOWN: Final = (
    "the state dump does not say which pods opted out of preemption or may not preempt others: "
    "all are taken to allow both; PriorityClasses and pods beside the dump would say it"
)

_FLAGS: Final = {
    "allow_preempt_self": "being preempted",
    "allow_preempt_other": "preempting others",
}
UNTOLD: Final = (
    "perhaps tolerations, host ports, spread or volumes, which no dump has: kubectl get "
    "pods,nodes,namespaces -A -o json beside it would say so"
)
"""What binds a pod to nodes, and stands in its own object alone."""
_BUILT_IN: Final = "system-"
"""The prefix of the classes of every cluster, which neither opt out nor forbid preempting."""

HOSTNAME: Final = "kubernetes.io/hostname"
"""The label that each node has its own value of."""

Linked = TypeVar("Linked", bound=Claim)
Kind = TypeVar("Kind", bound=NamedObject)


class _Apart(NamedTuple):
    """A term of pods of a namespace that keeps others out of their domains: a pod on each node."""

    term: ApartTerm
    namespace: str
    pods: dict[str, str]


_Whom = tuple[str, frozenset[tuple[str, str]] | None]
"""A namespace, and of a pod's labels those at which terms look; None where they are not known."""


def _may_host(node: Node, claim: Claim) -> bool:
    """Say whether a claim may be planned on a node, and the empty node would hold it."""
    required = claim.required_node
    eligible = node.node_id == required if required else node.schedulable
    return eligible and all(n <= node.capacity.get(t, 0) for t, n in claim.resource.items())


class Pods:
    """Pods by uid and by namespace/name; PriorityClasses, labels of namespaces and taints by name.

    Once they are placed, the nodes with a taint, and the terms that keep pods off, each once.

    For every ask and allocation it finds the pod or the classes, and counts in which way.
    """

    def __init__(self) -> None:
        self.by_uid: dict[str, Pod] = {}
        self.by_name: dict[str, Pod] = {}
        self.classes: dict[str, PodPriorityClass] = {}
        self.taints: dict[str, Sequence[Taint]] = {}
        self.namespaces: dict[str, Mapping[str, str]] = {}
        self.objects: KubernetesObjects | None = None
        self._tainted: dict[Taint, list[Node]] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        self._partial: set[str] = set()
        self._apart: dict[tuple[str, str], _Apart] = {}
        self._told_by: set[str] = set()
        self._selecting: dict[_Whom, list[_Apart]] = {}
        self._nodes: dict[str, Node] = {}
        self._found_by_value = 0
        self._unknown = 0
        self._missing: Counter[str] = Counter()
        self._differing: dict[tuple[int, str], list[str]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read that would say who opted out."""
        return not self.classes and not self.by_name

    def add(self, pod: Pod, *, is_labelled: bool = True, is_partial: bool = False) -> None:
        """Keep a pod, whose labels may be unknown: where they are known, none are none.

        Of one that is partial, as the shim prints it, the containers are there without their ports.
        """
        self.by_name[pod.name] = pod
        (self._partial.add if is_partial else self._partial.discard)(pod.name)
        if is_labelled:
            self._labels[pod.name] = pod.metadata.labels
        if pod.metadata.uid:
            self.by_uid[pod.metadata.uid] = pod

    @cached_property
    def _by_value(self) -> dict[int, list[PodPriorityClass]]:
        found: dict[int, list[PodPriorityClass]] = {}
        for one in self.classes.values():
            found.setdefault(one.value, []).append(one)
        return found

    @cached_property
    def _unclassed(self) -> int | None:
        """The priority of pods that name no class, if that is known."""
        return None if any(one.global_default for one in self.classes.values()) else 0

    def place(self, nodes: Iterable[Node], applications: Iterable[Application]) -> None:
        """Keep the nodes of the core by their taints, and which pods keep others off them."""
        for node in nodes:
            self._nodes[node.node_id] = node
            for taint in self.taints.get(node.node_id, ()):
                self._tainted.setdefault(taint, []).append(node)
        held: dict[str, str] = {}
        for one in (each for application in applications for each in application.allocations):
            held |= dict.fromkeys((one.allocation_key, one.pod or one.allocation_key), one.node_id)
        for pod in self.by_name.values():
            # A pod of another scheduler is in no application.
            elsewhere = "" if pod.status.is_over else pod.spec.node_name
            at = held.get(pod.metadata.uid) or held.get(pod.name) or elsewhere
            for term in pod.spec.apart if at else ():
                own = pod.name.partition("/")[0]
                same = term.model_dump_json(), own
                known = self._apart.setdefault(same, _Apart(term, own, {}))
                known.pods.setdefault(at, pod.name)
                if term.label_selector is not None:
                    self._told_by |= term.label_selector.keys

    def linked(self, claim: Linked) -> Linked:
        """Return the ask or allocation with the flags and the placement of its pod."""
        # The shim makes the uid of a pod the key of its ask or allocation.
        pod = self.by_uid.get(claim.allocation_key) or self.by_name.get(claim.pod or "")
        flags = self._by_priority(claim.priority) if pod is None else self._by_pod(pod)
        stated = claim.x.model_fields_set
        changed: dict[str, object] = {
            name: flag for name, flag in flags.items() if name not in stated and not flag
        }  # both are allowed by default
        placement = () if pod is None else (*pod.spec.placement, *self._kept_off(pod, claim))
        if pod is not None and pod.name in self._partial:
            placement += (UNTOLD,)
        placement = placement or claim.x.placement
        if isinstance(claim, Ask):
            placement += tuple(islice(self._apart_from(pod, claim), 1))
        if placement != claim.x.placement:
            changed["placement"] = placement
        if not changed:
            return claim
        return claim.model_copy(update={"x": claim.x.model_copy(update=changed)})

    def _apart_from(self, pod: Pod | None, ask: Ask) -> Iterator[str]:
        """Yield a running pod for each term that may keep an ask off a node which would hold it.

        By the namespace of the ask's pod, and its labels, where they are known.

        Source: Kubernetes, concepts, Assigning Pods to Nodes; yunikorn-k8shim 23b6b47f,
        plugin/predicates/predicate_manager.go (InterPodAffinity).
        """
        labels = None if pod is None else self._labels.get(pod.name)
        namespace = (ask.pod or ("" if pod is None else pod.name)).partition("/")[0]
        for term, own, pods in self._selected_by(namespace, labels):
            is_certain = labels is not None and self._looks_at(namespace, term, own)
            found = "labels" if is_certain else "perhaps labels"
            for at, name in pods.items():
                # Without the labels of nodes, any other domain than one node may hold them all.
                node = self._nodes.get(at)
                is_node = term.topology_key == HOSTNAME
                if not is_node or (node is not None and _may_host(node, ask)):
                    yield f"{found} that {name} on {at} keeps off by anti-affinity"
                    break

    def _selected_by(self, namespace: str, labels: Mapping[str, str] | None) -> list[_Apart]:
        """Return the terms that may select a pod: replicas, which are many, have the same."""
        told = None
        if labels is not None:
            told = frozenset(one for one in labels.items() if one[0] in self._told_by)
        whom = namespace, told
        found = self._selecting.get(whom)
        if found is None:
            found = [
                one
                for one in self._apart.values()
                if self._looks_at(namespace, one.term, one.namespace) is not False
                and one.term.may_match(labels)
            ]
            self._selecting[whom] = found
        return found

    def _looks_at(self, namespace: str, term: ApartTerm, own: str) -> bool | None:
        return term.selects_namespace(namespace, own, self.namespaces.get(namespace))

    def _kept_off(self, pod: Pod, claim: Claim) -> Iterator[str]:
        """Yield the taints that keep a pod off a node which would hold it, each with such a node.

        Source: yunikorn-k8shim 23b6b47f, plugin/predicates/predicate_manager.go (TaintToleration).
        """
        for taint, nodes in self._tainted.items():
            if pod.spec.is_kept_off(taint):
                at = next((node.node_id for node in nodes if _may_host(node, claim)), None)
                if at is not None:
                    yield f"no toleration of the taint {taint.key} of {at}"

    def _by_pod(self, pod: Pod) -> dict[str, bool]:
        """Return the flags as the shim does: from the pod's own annotation, else its class."""
        allowed = pod.allow_preempt_self
        if allowed is None:
            name = pod.spec.priority_class_name
            known = self.classes.get(name)
            if name and known is None and not name.startswith(_BUILT_IN):
                self._missing[name] += 1
            allowed = known is None or known.allow_preempt_self
        return {"allow_preempt_self": allowed, "allow_preempt_other": pod.allow_preempt_other}

    def _by_priority(self, priority: int) -> dict[str, bool]:
        """Return the flags without a pod: what all classes of the priority agree on, or allowed."""
        classes = self._by_value.get(priority)
        if classes is None:
            self._unknown += priority != self._unclassed
            return {}
        self._found_by_value += 1
        flags = {}
        for name in _FLAGS:
            allowed = {bool(getattr(one, name)) for one in classes}
            # Pods that name no class have this priority, too, and allow both.
            if priority == self._unclassed:
                allowed |= {True}
            if len(allowed) > 1:
                names = [shown(one.metadata.name) for one in classes]
                others = ["pods without a PriorityClass"] if priority == self._unclassed else []
                self._differing[priority, name] = names + others
            flags[name] = allowed != {False}
        return flags

    def notes(self) -> tuple[str, ...]:
        """Return remarks on the flags that were guessed."""
        notes = []
        if self._found_by_value:
            notes.append(
                "asks and allocations without a pod in the dump whose PriorityClass was found by "
                f"its value: {self._found_by_value}"
            )
        if self._unknown:
            notes.append(
                "asks and allocations with neither a pod in the dump nor a PriorityClass of their "
                f"priority, which are taken to allow preemption: {self._unknown}"
            )
        for (value, name), names in self._differing.items():
            notes.append(
                f"{' and '.join(names)} have value {value} and differ in {_FLAGS[name]}: pods of "
                "this priority which are not in the dump are taken to allow it"
            )
        notes += [
            f"PriorityClass {shown(name)} was not read; pods that name it and are taken to allow "
            f"being preempted: {count}"
            for name, count in self._missing.items()
        ]
        return tuple(notes)


def read_pods(value: Mapping[str, Any], where: str, files: YuniKornFiles) -> Pods:
    """Read the shim's part of a dump, and the objects beside the dump, which go first.

    A recorded instance has these in itself.

    Raises ``SchemaError`` if an object cannot be used, or stands twice.
    """
    pods = _diagnosed(value, where)
    if isinstance(value.get("objects"), list | tuple):
        files = with_objects(files, value["objects"])
    for one in _read(PodPriorityClass, files.objects["PriorityClass"]):
        pods.classes[one.metadata.name] = one
    whole = _read(Pod, files.objects["Pod"])
    for pod in whole:
        pods.add(pod)
    namespaces = _read(Namespace, files.objects["Namespace"])
    pods.namespaces |= {one.name: one.labels for one in namespaces}
    nodes = _read(KubernetesNode, files.objects["Node"])
    pods.taints |= {one.name: one.spec.taints for one in nodes}
    if whole and nodes:
        pods.objects = KubernetesObjects.model_construct(
            pods=whole, nodes=nodes, namespaces=namespaces
        )
    return pods


def _read(model: type[Kind], items: Iterable[Item]) -> tuple[Kind, ...]:
    """Check objects of one kind, no two of which may have one name."""
    found = dict[str, tuple[Kind, Item]]()
    for item in items:
        kind = str(item.value["kind"])
        one = checked(model, item.value, item.root, item.path, kind)
        if one.name in found:
            first = found[one.name][1].where
            what = f"{kind} {shown(one.name)} stands twice; the first is at {first}"
            raise SchemaError(item.where, what, hint="keep one")
        found[one.name] = one, item
    return tuple(one for one, _ in found.values())


def _diagnosed(value: Mapping[str, Any], where: str) -> Pods:
    """Read the cache of the shim inside the dump; other resource managers write other things."""
    pods = Pods()
    diagnostics = value.get("rmDiagnostics")
    cache = diagnostics.get("cache") if isinstance(diagnostics, Mapping) else None
    if not isinstance(cache, Mapping):
        return pods
    at: Path = ("rmDiagnostics", "cache")
    for name, one in _entries(cache, "priorityClasses", where, at):
        path = (*at, "priorityClasses", name)
        known = checked(PodPriorityClass, _with_metadata(one), where, path, "PriorityClass")
        pods.classes[known.metadata.name] = known
    for name, one in _entries(cache, "nodes", where, at):
        path = (*at, "nodes", name)
        pods.taints[name] = checked(ShimNode, one, where, path, "Node").taints
    entries = _entries(cache, "pods", where, at)
    # The shim leaves out labels of pods without any, and older snapshots left out those of all.
    is_labelled = any(one.get("labels") is not None for _, one in entries)
    for name, one in entries:
        path = (*at, "pods", name)
        whole = {**_with_metadata(one), "spec": one}
        pod = checked(Pod, whole, where, path, "Pod")
        pods.add(pod, is_labelled=is_labelled, is_partial=bool(pod.spec.containers))
    return pods


def _entries(
    cache: Mapping[str, Any], part: str, where: str, at: Path
) -> Sequence[tuple[str, Mapping[str, Any]]]:
    entries = cache.get(part) or {}
    if not isinstance(entries, Mapping):
        found = f"{shown(entries)} is not an object"
        raise SchemaError(place(where, (*at, part)), found, "an object of names to objects")
    for name, one in entries.items():
        if not isinstance(one, Mapping):
            found = f"{shown(one)} is not an object"
            raise SchemaError(place(where, (*at, part, str(name))), found, "an object")
    return [(str(name), one) for name, one in entries.items()]


def _with_metadata(one: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of the cache, which is flat, in the form that the API server has."""
    names = ("name", "namespace", "uid", "labels", "annotations")
    metadata = {name: one[name] for name in names if one.get(name) is not None}
    return {**one, "metadata": metadata}


def with_flags(
    applications: Sequence[Application], pods: Pods, nodes: Sequence[Node]
) -> tuple[tuple[Application, ...], tuple[str, ...]]:
    """Write into every ask and allocation which preemptions it allows; flags given in ``x`` stay.

    What binds their pods to some of the nodes is written there, too.

    Returns the applications, and remarks on how the flags were found.
    """
    if pods.is_empty:
        return tuple(applications), ()
    pods.place(nodes, applications)
    changed = tuple(
        one.model_copy(
            update={
                "allocations": tuple(pods.linked(claim) for claim in one.allocations),
                "requests": tuple(pods.linked(ask) for ask in one.requests),
            }
        )
        for one in applications
    )
    return changed, pods.notes()
