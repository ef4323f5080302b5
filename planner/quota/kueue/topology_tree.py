"""The nodes behind a flavor as a tree of domains, and what is free on its leaves.

Source: docs/semantics/kueue-topology.md §2.1 to §2.3; kueue ff69552e
pkg/cache/scheduler/tas_topology_tree.go, tas_nodes_cache.go, tas_non_tas_pod_cache.go.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec import Struct

from planner.quantity import to_units
from planner.quota.kueue.request import Defaults, pod_request
from planner.state.kueue import HOST, Node, Pod, ResourceFlavor, Topology
from planner.state.kueue_topology import PodContainer
from planner.state.pods import Container, PodSpec, Resources

PODS: Final = "pods"
"""The resource of which every pod takes one on its node."""

Values = tuple[str, ...]
Units = Mapping[str, int]


class FlavorTree(Struct, frozen=True):
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

    def parents(self) -> list[list[int]]:
        """Return for each level the place, one level up, of the domain above each; 0 at the top."""
        above = [[0] * len(self.values[0])]
        for level, children in enumerate(self.children, start=1):
            row = [0] * len(self.values[level])
            for parent, below in enumerate(children):
                for child in below:
                    row[child] = parent
            above.append(row)
        return above

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
    def of(cls, nodes: Iterable[Node], pods: Iterable[Pod]) -> Machines:
        """Count usable nodes, and pods on them, in Kueue's units, each quantity rounded up."""
        usable = tuple(node for node in nodes if node.is_usable)
        names = {node.metadata.name for node in usable}
        # Once for all equal nodes: thousands of nodes are of a few shapes.
        shapes = cache(lambda amounts: units_of(dict(amounts)))
        have = tuple([shapes(tuple(node.status.allocatable.items())) for node in usable])
        taken: dict[str, dict[str, int]] = {}
        known: dict[object, Units] = {}
        for pod in pods:
            if pod.spec.node_name not in names or not pod.holds_its_node:
                continue
            # All that decides how much a pod takes: many thousand pods are of a few shapes.
            several = (pod.spec.containers, pod.spec.init_containers)
            whole = pod.spec.resources and tuple(pod.spec.resources.requests.items())
            containers = tuple(
                tuple([(one.restart_policy, *one.resources.requests.items()) for one in some])
                for some in several
            )
            shape = containers, whole, tuple(pod.spec.overhead.items())
            asked = known.get(shape)
            if asked is None:
                asked = known[shape] = _asked_by(pod)
            row = taken.setdefault(pod.spec.node_name, {})
            for name, amount in asked.items():
                row[name] = row.get(name, 0) + amount
            # A pod takes one of ``pods`` beside whatever it asks for by that name.
            row[PODS] = row.get(PODS, 0) + 1
        return cls(usable, have, taken)


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
