"""Where pods are placed: the nodes behind a flavor as a tree of domains, and what pods take there.

Source: docs/semantics/kueue-topology.md §1, §2.1 to §2.4 and §9; kueue ff69552e
pkg/cache/scheduler/tas_topology_tree.go, tas_nodes_cache.go, tas_non_tas_pod_cache.go,
tas_flavor.go, clusterqueue_snapshot.go ``updateTASUsage``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct, field

from planner.quantity import to_units
from planner.quota.kueue.activity import PROVISIONING, leaves_it_to_workers
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.request import PODS, Defaults, add_to, pod_request
from planner.state.kueue import (
    HOST,
    ClusterQueue,
    Configuration,
    LimitRange,
    Node,
    Pod,
    ResourceFlavor,
    RuntimeClass,
    State,
    Topology,
    Workload,
)
from planner.state.kueue_topology import PodContainer
from planner.state.kueue_workload import Admission, PodSet, PodSetAssignment
from planner.state.pods import Container, PodSpec, PodTemplate, Resources
from planner.state.queues import AdmissionCheck

Values = tuple[str, ...]
Units = Mapping[str, int]


class FlavorTree(Struct, frozen=True, dict=True):
    """The domains of one flavor, level by level from the highest, each level by its values.

    ``values[l][d]`` are the level values of a domain, ``children[l][d]`` the domains below it, by
    their places on the next level. The lowest level holds the leaves: ``leaf_of`` maps the id that
    assignments use to the place of a leaf, ``nodes`` has the first node of each leaf, ``free`` what
    the nodes of a leaf have besides the pods that Kueue does not place, by the columns that
    ``column_of`` names.
    """

    flavor: str
    topology: str
    levels: tuple[str, ...]
    values: Sequence[Sequence[Values]]
    children: Sequence[Sequence[range]]
    leaf_of: Mapping[str, int]
    nodes: Sequence[Node]
    free: Sequence[Sequence[int]]
    column_of: Mapping[str, int]

    @property
    def ends_in_host(self) -> bool:
        """Whether every leaf is one node."""
        return self.levels[-1:] == (HOST,)

    @property
    def depth(self) -> int:
        """The place of the lowest level."""
        return len(self.levels) - 1

    def level(self, key: str) -> int | None:
        """Return the place of a level; ``None`` if the topology has no such level."""
        return self.levels.index(key) if key in self.levels else None

    @cached_property
    def parents(self) -> list[list[int]]:
        """For each level the place, one level up, of the domain above each; 0 at the top."""
        above = [[0] * len(self.values[0])]
        for level, children in enumerate(self.children, start=1):
            row = [0] * len(self.values[level])
            for parent, below in enumerate(children):
                for child in below:
                    row[child] = parent
            above.append(row)
        return above

    def over(self, domain: int, own: int, level: int) -> int:
        """Return the domain of ``level`` that a domain of the level ``own`` is in."""
        for row in self.parents[own:level:-1]:
            domain = row[domain]
        return domain

    def leaf_id(self, leaf: int) -> str:
        """Return the id of a leaf, as ``leaf_of`` knows it."""
        values = self.values[-1][leaf]
        return values[-1] if self.ends_in_host else ",".join(values)


class Machines(NamedTuple):
    """All nodes with what they have, and what pods outside of Kueue's placement take of each."""

    nodes: Sequence[Node]
    allocatable: Sequence[Units]
    taken: Mapping[str, Units]

    @classmethod
    def of_nodes(cls, nodes: Iterable[Node], pods: Iterable[Pod]) -> Machines:
        """Count usable nodes, and pods on them, in Kueue's units, each quantity rounded up."""
        usable = tuple(node for node in nodes if node.is_usable)
        names = {node.metadata.name for node in usable}
        # Once for all equal nodes: thousands of nodes are of a few shapes.
        shapes = cache(lambda amounts: units_of(dict(amounts)))
        have = tuple([shapes(tuple(node.status.allocatable.items())) for node in usable])
        taken: dict[str, dict[str, int]] = {}
        for pod, amounts in takers(pods, names):
            add_to(taken.setdefault(pod.spec.node_name, {}), amounts)
        return cls(usable, have, taken)


def takers(pods: Iterable[Pod], nodes: Collection[str]) -> Iterator[tuple[Pod, Units]]:
    """Yield the pods that Kueue did not place on some nodes, each with what it takes there."""
    known: dict[object, Units] = {}
    for pod in pods:
        if pod.spec.node_name not in nodes or not pod.holds_its_node:
            continue
        # All that decides how much a pod takes: many thousand pods are of a few shapes.
        several = (pod.spec.containers, pod.spec.init_containers)
        whole = pod.spec.resources and tuple(pod.spec.resources.requests.items())
        containers = tuple(
            tuple([(one.restart_policy, *one.resources.requests.items()) for one in some])
            for some in several
        )
        shape = containers, whole, tuple(pod.spec.overhead.items())
        if shape not in known:
            asked = _asked_by(pod)
            # A pod takes one of ``pods`` beside whatever it asks for by that name.
            known[shape] = {**asked, PODS: asked.get(PODS, 0) + 1}
        yield pod, known[shape]


def units_of(amounts: Mapping[str, int]) -> dict[str, int]:
    """Return amounts in nano-units as Kueue's units, each rounded up; none is negative."""
    return {name: max(0, to_units(nano, name)) for name, nano in amounts.items()}


def _asked_by(pod: Pod) -> Units:
    # Amounts are nano-units already, which validation would take for whole ones.
    def container(one: PodContainer) -> Container:
        asked = Resources.model_construct(requests=one.resources.requests)
        return Container.model_construct(resources=asked, restart_policy=one.restart_policy)

    spec = pod.spec
    whole = spec.resources and Resources.model_construct(requests=spec.resources.requests)
    template = PodSpec.model_construct(
        containers=tuple(map(container, spec.containers)),
        init_containers=tuple(map(container, spec.init_containers)),
        resources=whole,
        overhead=spec.overhead,
    )
    return units_of(pod_request(template, Defaults()))


def is_of(node: Node, flavor: ResourceFlavor, levels: Iterable[str]) -> bool:
    """Say whether a node has the labels of a flavor, and a label for every level of its topology.

    To Kueue a label that is not there is as good as one without text.
    """
    labels = node.metadata.labels
    wanted = flavor.spec.node_labels.items()
    return all(labels.get(key, "") == value for key, value in wanted) and all(
        key in labels for key in levels
    )


def tree_of(flavor: ResourceFlavor, topology: Topology, machines: Machines) -> FlavorTree:
    """Lay out the nodes of a flavor by the levels of its topology.

    Nodes of one leaf are added up, such as all nodes of a rack where racks are the lowest level.
    """
    levels = topology.levels
    in_hosts = levels[-1:] == (HOST,)
    first: dict[str, tuple[Values, int]] = {}
    members: dict[str, list[int]] = {}
    for position, node in enumerate(machines.nodes):
        labels = node.metadata.labels
        if not is_of(node, flavor, levels):
            continue
        values = tuple([labels[key] for key in levels])
        # By the label, which need not be the name of the node; Kueue writes assignments so (§2.2).
        leaf = values[-1] if in_hosts else ",".join(values)
        first.setdefault(leaf, (values, position))
        members.setdefault(leaf, []).append(position)
    # Sorted by level values, as lists of text: a domain is a range of leaves, in Kueue's order.
    leaves = sorted(first, key=lambda leaf: first[leaf][0])
    lowest = [first[leaf][0] for leaf in leaves]
    by_level = [sorted({values[:n] for values in lowest}) for n in range(1, len(levels))]
    by_level.append(lowest)
    positions = [position for some in members.values() for position in some]
    names = dict.fromkeys(name for one in positions for name in machines.allocatable[one])
    column_of = {name: column for column, name in enumerate(names)}
    # What the nodes of each leaf have left by columns; it may be negative.
    free = [[0] * len(column_of) for _ in leaves]
    for row, leaf in zip(free, leaves, strict=True):
        for position in members[leaf]:
            for name, amount in machines.allocatable[position].items():
                row[column_of[name]] += amount
            taken = machines.taken.get(machines.nodes[position].metadata.name, {})
            for name, amount in taken.items():
                # A resource that no node has gets no column: a pod that asks for it fits nowhere.
                if name in column_of:
                    row[column_of[name]] -= amount
    return FlavorTree(
        flavor=flavor.name,
        topology=topology.name,
        levels=levels,
        values=by_level,
        children=children_of(by_level),
        leaf_of={leaf: place for place, leaf in enumerate(leaves)},
        nodes=[machines.nodes[first[leaf][1]] for leaf in leaves],
        free=free,
        column_of=column_of,
    )


def children_of(by_level: Sequence[Sequence[Values]]) -> list[list[range]]:
    """Return for each domain, level by level, the range of its children on the next level."""
    children = []
    for above, below in pairwise(by_level):
        # A prefix sorts before all that it begins, so this finds the first child of each.
        starts = [bisect_left(below, values) for values in above]
        children.append([range(a, b) for a, b in pairwise([*starts, len(below)])])
    return children


GATE: Final = "TopologyAwareScheduling"
OVERLAPPING: Final = "TASHandleOverlappingFlavors"


class Taken(NamedTuple):
    """Pods of one shape on a leaf of a flavor: ``amounts`` is what they take together.

    The leaf need not exist. Every pod takes one of the resource ``pods``.
    """

    flavor: str
    leaf: str
    amounts: Mapping[str, int]


class Occupancy:
    """What is left on every leaf of every tree; the mutable half.

    ``left[flavor]`` has a row for each leaf, by the columns of the tree. Each leaf that changes is
    appended to ``log[flavor]``, so that a cache of counts knows which of them are out of date.
    ``scored`` are the podsets (workload, podset, flavor) whose preferences for nodes were
    evaluated: Kueue forgets the scores after that (§10). Copies share ``scored``.
    """

    __slots__ = ("left", "log", "scored", "trees")

    def __init__(self, trees: Mapping[str, FlavorTree]) -> None:
        self.trees = trees
        self.left = {name: [list(row) for row in tree.free] for name, tree in trees.items()}
        self.log: dict[str, list[int]] = {name: [] for name in trees}
        self.scored: set[tuple[str, str, str]] = set()

    def copy(self) -> Occupancy:
        """Return an independent copy, with an empty log."""
        other = Occupancy.__new__(Occupancy)
        other.trees, other.scored = self.trees, self.scored
        other.left = {name: [list(row) for row in rows] for name, rows in self.left.items()}
        other.log = {name: [] for name in self.trees}
        return other

    def afresh(self) -> Occupancy:
        """Return an independent copy with no podset ``scored`` yet, as at the start of a cycle."""
        other = self.copy()
        other.scored = set()
        return other

    def give_back(self, some: Iterable[Taken]) -> None:
        """Let pods give back what they took."""
        self.take(some, -1)

    def take(self, some: Iterable[Taken], sign: int = 1) -> None:
        """Take what pods take, ``sign`` times; pods on leaves that do not exist take nothing."""
        for flavor, leaf_id, amounts in some:
            tree = self.trees.get(flavor)
            leaf = None if tree is None else tree.leaf_of.get(leaf_id)
            if tree is None or leaf is None:
                continue
            row = self.left[flavor][leaf]
            for name, amount in amounts.items():
                column = tree.column_of.get(name)
                if column is not None:
                    row[column] -= sign * amount
            self.log[flavor].append(leaf)


class Topologies(Struct, frozen=True, dict=True):
    """The topologies of a state; trees and occupancy are worked out at first use.

    Where they are not ``looked_at``, quota alone decides.
    """

    configuration: Configuration = field(default_factory=Configuration.blank)
    topologies: Mapping[str, Topology] = field(default_factory=dict)
    flavors: Mapping[str, ResourceFlavor] = field(default_factory=dict)
    checks: Mapping[str, AdmissionCheck] = field(default_factory=dict)
    nodes: Sequence[Node] = ()
    pods: Sequence[Pod] = ()
    limit_ranges: Sequence[LimitRange] = ()
    runtime_classes: Sequence[RuntimeClass] = ()
    holders: Sequence[Workload] = ()
    looked_at: bool = False

    @classmethod
    def in_state(cls, state: State, admitted: Iterable[Iterable[Admitted]]) -> Topologies:
        """Take from a state what placement needs; ``admitted`` are all holders, by queue."""
        flavors = {one.name: one for one in state.resource_flavors if one.spec.topology_name}
        return cls(
            configuration=state.configuration,
            topologies={one.name: one for one in state.topologies},
            flavors=flavors,
            checks={one.metadata.name: one for one in state.admission_checks},
            nodes=state.nodes if flavors else (),
            pods=state.pods if flavors else (),
            limit_ranges=state.limit_ranges,
            runtime_classes=state.runtime_classes,
            holders=[one.workload for some in admitted for one in some] if flavors else (),
            looked_at=True,
        )

    @property
    def on(self) -> bool:
        """Whether placement decides; with the gate off Kueue may still show places (§6.1)."""
        return self.looked_at and self.configuration.gate(GATE)

    @cached_property
    def trees(self) -> Mapping[str, FlavorTree]:
        """The tree of each flavor whose topology is in the state, by the name of the flavor."""
        machines = Machines.of_nodes(self.nodes, self.pods)
        return {
            name: tree_of(flavor, self.topologies[flavor.spec.topology_name], machines)
            for name, flavor in self.flavors.items()
            if flavor.spec.topology_name in self.topologies
        }

    def beside(self, flavor: str) -> Iterator[tuple[int, str, Units]]:
        """Yield the pods on nodes of a flavor that Kueue did not place: leaf, name, what it takes.

        The name is namespace/name; the leaf is its place in the tree of the flavor (§2.3).
        """
        tree, spec = self.trees[flavor], self.flavors[flavor]
        levels = tree.levels[-1:] if tree.ends_in_host else tree.levels
        leaf_of = {
            node.metadata.name: tree.leaf_of[",".join(node.metadata.labels[key] for key in levels)]
            for node in self.nodes
            if node.is_usable and is_of(node, spec, tree.levels)
        }
        for pod, amounts in takers(self.pods, leaf_of):
            name = f"{pod.metadata.namespace}/{pod.metadata.name}"
            yield leaf_of[pod.spec.node_name], name, amounts

    @cached_property
    def occupancy(self) -> Occupancy:
        """What is left on the leaves besides all holders; take a copy before changing it.

        Where leaves are nodes, pods count on their node under every flavor with the node (§2.4).
        """
        found = Occupancy(self.trees)
        for workload in self.holders:
            found.take(self.booked_for(workload))
        return found

    def booked_for(self, workload: Workload) -> Iterator[Taken]:
        """Yield what a workload that holds quota takes, also under other flavors of its nodes.

        So it is at the start of a cycle: a removal in the middle of a cycle gives back under the
        workload's own flavors alone (§2.4).
        """
        overlapping = self.configuration.gate(OVERLAPPING)
        in_hosts = [name for name, tree in self.trees.items() if tree.ends_in_host]
        for one in self.taken_by(workload):
            for name in in_hosts if overlapping and one.flavor in in_hosts else (one.flavor,):
                yield one._replace(flavor=name)

    def per_pod(self, pod: PodSpec, namespace: str) -> dict[str, int]:
        """Return what one pod takes on its node in Kueue's units, without its one of ``pods``."""
        return units_of(pod_request(pod, self._defaults(namespace)))

    def taken_by(self, workload: Workload) -> list[Taken]:
        """Return what a workload that holds quota takes, by its assignment (§2.4).

        Neither reclaimable pods nor another count in the spec change that.
        """
        found: list[Taken] = []
        for assigned in workload.assigned:
            flavors = [
                name for name in dict.fromkeys(assigned.flavors.values()) if name in self.trees
            ]
            if assigned.topology is None or not flavors:
                continue
            one_pod = self._one_pod(workload, assigned)
            several: dict[int, dict[str, int]] = {}
            for values, count in assigned.topology.places():
                if count not in several:
                    together = {name: amount * count for name, amount in one_pod.items()}
                    several[count] = {**together, PODS: together.get(PODS, 0) + count}
                found += [Taken(flavor, ",".join(values), several[count]) for flavor in flavors]
        return found

    def moved_by(self, workload: Workload, queue: ClusterQueue) -> list[Taken]:
        """Return what a workload's removal gives back: of flavors that its queue lists (§2.4)."""
        admission = workload.status.admission
        known = self._moved.get(workload.key)
        # A workload that was evicted and admitted again has other places.
        if known is None or known[0] is not admission:
            listed = queue.flavor_names
            found = [one for one in self.taken_by(workload) if one.flavor in listed]
            known = self._moved[workload.key] = admission, found
        return known[1]

    @cached_property
    def _moved(self) -> dict[str, tuple[Admission | None, list[Taken]]]:
        return {}

    def _one_pod(self, workload: Workload, assigned: PodSetAssignment) -> Mapping[str, int]:
        namespace = workload.metadata.namespace
        for pods in workload.spec.pod_sets:
            if pods.name == assigned.name:
                # With the namespace: its LimitRanges fill in what a template leaves open.
                key = namespace, id(pods.template)
                if key not in self._templates:
                    amounts = self.per_pod(pods.template.spec, namespace)
                    # The template is kept alive: another object at its address would pass for it.
                    self._templates[key] = pods.template, amounts
                return self._templates[key][1]
        count = assigned.count or 1
        return {name: amount // count for name, amount in units_of(assigned.resource_usage).items()}

    @cached_property
    def _templates(self) -> dict[tuple[str, int], tuple[PodTemplate, Mapping[str, int]]]:
        """What a pod of a template takes, by namespace and template."""
        return {}

    @cached_property
    def _defaults(self) -> Callable[[str], Defaults]:
        given = self.limit_ranges, self.runtime_classes, self.configuration.rules
        return cache(lambda name: Defaults.in_namespace(name, *given))

    def missing(self, queue: ClusterQueue) -> list[str]:
        """Return the names of the missing topologies of a queue's flavors, sorted."""
        placing = (self.flavors[name] for name in queue.flavor_names if name in self.flavors)
        return sorted({one.spec.topology_name for one in placing} - self.topologies.keys())

    def is_placing_only(self, queue: ClusterQueue) -> bool:
        """Say whether all flavors of a queue have a topology, so that all its pods are placed."""
        return all(name in self.flavors for name in queue.flavor_names)

    def is_placed(self, pods: PodSet, queue: ClusterQueue) -> bool:
        """Say whether a podset is placed: it asks for that, or the queue places all pods (§1)."""
        return pods.asks_for_placement or self.is_placing_only(queue)

    def leaves_it_to_workers(self, queue: ClusterQueue) -> bool:
        """Say whether a queue hands workloads to other clusters, which place the pods (§9)."""
        return leaves_it_to_workers(queue, self.checks)

    def is_delayed(self, queue: ClusterQueue, flavor: str) -> bool:
        """Say whether pods of a workload without quota are placed later, in a second pass (§9)."""
        rules = (one for one in queue.check_rules if not one.on_flavors or flavor in one.on_flavors)
        checks = (self.checks.get(rule.name) for rule in rules)
        provisioned = any(one and one.spec.controller == PROVISIONING for one in checks)
        return provisioned or self.leaves_it_to_workers(queue)


NO_TOPOLOGIES: Final = Topologies()
"""Where quota alone decides."""
