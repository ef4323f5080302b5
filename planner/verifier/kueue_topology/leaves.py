"""Which nodes may take a podset, what leaves of a tree take, and whether a group has room there.

Source: docs/semantics/kueue.md §4.2 and docs/semantics/kueue-topology.md §2.4, §4.1 and §7.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct, field

from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Group, Pods
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.topology import FlavorTree
from planner.state.kueue import Node, ResourceFlavor
from planner.state.pods import NodeSelectorTerm, PodSpec, SelectorRequirement, Taint, Toleration

# How many values Kubernetes accepts for an operator; it refuses selectors with other numbers.
_VALUES_PER_OPERATOR: Final = {
    **dict.fromkeys(("In", "NotIn"), range(1, 2**31)),
    **dict.fromkeys(("Exists", "DoesNotExist"), range(1)),
    **dict.fromkeys(("Gt", "Lt"), range(1, 2)),
}
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_LABEL = re.compile(r"([a-z0-9]([-a-z0-9_.]*[a-z0-9])?)?", re.IGNORECASE | re.ASCII)
_LONGEST_LABEL: Final = 63


class Obstacle(NamedTuple):
    """Why a podset cannot run on a flavor.

    ``fatal`` says that a selector cannot be evaluated, which ends the walk over flavors.
    """

    text: str
    fatal: bool = False


def obstacle_between(
    pod: PodSpec,
    flavor: ResourceFlavor,
    others: Iterable[ResourceFlavor] = (),
    *,
    numbers: bool = True,
) -> Obstacle | None:
    """Return what keeps a podset from the nodes of a flavor, if anything does.

    Taints with effect NoSchedule or NoExecute need a toleration, of the pods or of the flavor.
    Selectors count only where they name a label that the flavor defines; a term of the affinity
    that names no such label permits every flavor. In older releases the labels of ``others``,
    which the same resource group lists, count as well; and without ``numbers`` a toleration that
    compares numbers tolerates nothing.
    """
    tolerations = [
        one
        for one in (*flavor.spec.tolerations, *pod.tolerations)
        if numbers or one.operator in ("", "Equal", "Exists")
    ]
    for taint in _kept_away(flavor.spec.node_taints, tolerations):
        return Obstacle(f"its taint {taint.key}={taint.value}:{taint.effect} is not tolerated")
    # A value of None is a label that only other flavors have: known, and never equal to any value.
    labels: dict[str, str | None] = {key: None for each in others for key in each.spec.node_labels}
    labels |= flavor.spec.node_labels
    for key, value in pod.node_selector.items():
        # A key that no flavor at hand has counts as met (docs/semantics/kueue.md §4.2).
        if labels.get(key, value) != value:
            if labels[key] is None:
                return Obstacle(f"it has no label {key}, of which {value} is selected")
            return Obstacle(f"its label {key}={labels[key]} is not the {value} selected")
    # Of each term only the rows that say something about a label of the flavor.
    terms = [
        [row for row in term.match_expressions if row.key in labels]
        for term in pod.required_nodes or ()
    ]
    # Terms are ORed, so one without such rows permits every flavor. Kueue then drops the whole
    # affinity, also where another term could not be evaluated.
    silent = not terms or not all(terms)
    # All rows are validated before any is compared: an invalid row makes its term invalid.
    valid = [rows for rows in terms if all(map(_is_valid, rows))]
    if silent or any(all(_judge_row(row, labels[row.key]) for row in rows) for rows in valid):
        return None
    if len(valid) < len(terms):
        return Obstacle("the required node affinity cannot be evaluated on its labels", fatal=True)
    return Obstacle("its labels do not match the required node affinity")


def runs_on(node: Node, pod: PodSpec, tolerations: Sequence[Toleration]) -> bool:
    """Say whether pods may run on one node (docs/semantics/kueue-topology.md §4.1).

    Here all labels of the node count, and no node meets an empty term of the affinity.
    """
    labels = node.metadata.labels
    repelled = any(_kept_away(node.spec.taints, tolerations))
    if repelled or not pod.node_selector.items() <= labels.items():
        return False
    terms, name = pod.required_nodes, node.metadata.name
    return terms is None or any(_is_met(term, labels, name) for term in terms)


def _is_met(term: NodeSelectorTerm, labels: Mapping[str, str], name: str) -> bool:
    rows, fields = term.match_expressions, term.match_fields
    if not (rows or fields) or not all(map(_is_valid, rows)):
        return False
    for row in rows:
        if row.key not in labels:
            # A missing label satisfies the negative operators: Kubernetes asks for no key there.
            if row.operator not in ("NotIn", "DoesNotExist"):
                return False
        elif not _judge_row(row, labels[row.key]):
            return False
    # Fields know only the name of a node, one value at a time; any other row is met by no node.
    named = {"In": {True}, "NotIn": {False}}
    return all(
        field.key == "metadata.name"
        and len(field.values) == 1
        and (field.values[0] == name) in named.get(field.operator, ())
        for field in fields
    )


def _kept_away(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Iterator[Taint]:
    """Yield the taints that keep pods away and are not tolerated."""
    for taint in taints:
        strict = taint.effect in ("NoSchedule", "NoExecute")
        if strict and not any(_covers(toleration, taint) for toleration in tolerations):
            yield taint


def _covers(toleration: Toleration, taint: Taint) -> bool:
    # An empty effect means any effect, an empty key any key.
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    # What is left are Gt and Lt, of whole numbers only: other values tolerate nothing.
    if not (_WHOLE.fullmatch(toleration.value) and _WHOLE.fullmatch(taint.value)):
        return False
    higher = int(taint.value) > int(toleration.value)
    lower = int(taint.value) < int(toleration.value)
    return higher if toleration.operator == "Gt" else lower


def _is_valid(row: SelectorRequirement) -> bool:
    if len(row.values) not in _VALUES_PER_OPERATOR.get(row.operator, ()):
        return False
    if row.operator in ("Gt", "Lt") and not _WHOLE.fullmatch(row.values[0]):
        return False
    return all(_LABEL.fullmatch(v) and len(v) <= _LONGEST_LABEL for v in row.values)


def _judge_row(row: SelectorRequirement, value: str | None) -> bool:
    if value is None:  # the label is another flavor's
        return row.operator in ("NotIn", "DoesNotExist")
    if row.operator in ("In", "NotIn"):
        return (value in row.values) == (row.operator == "In")
    if row.operator in ("Exists", "DoesNotExist"):
        return row.operator == "Exists"
    if not _WHOLE.fullmatch(value):
        return False
    bound = int(row.values[0])
    return int(value) > bound if row.operator == "Gt" else int(value) < bound


MOST: Final = 2**31 - 1
"""As many pods as Kueue can count."""

Assumed = Mapping[str, Mapping[str, int]]
"""What the podsets placed before take, by the ids of leaves."""


class Slots(NamedTuple):
    """What each leaf takes of a group: pods; pods beside the leader; 1 if it takes the leader."""

    pods: Sequence[int]
    beside: Sequence[int]
    lead: Sequence[int]


class Nodes(Struct, frozen=True):
    """The nodes of a snapshot, and what workloads give back there."""

    snapshot: Snapshot
    _suited: dict[tuple[str, str], Sequence[bool]] = field(default_factory=dict)
    _known: dict[str, Slots] = field(default_factory=dict)

    def tree(self, flavor: str) -> FlavorTree:
        """Return the tree of a flavor."""
        return self.snapshot.topologies.trees[flavor]

    def given_back(self, victims: Iterable[Admitted]) -> dict[str, dict[int, dict[str, int]]]:
        """Return what leaves get back, flavor by flavor, when victims are removed."""
        found: dict[str, dict[int, dict[str, int]]] = {}
        topologies, queues = self.snapshot.topologies, self.snapshot.queues
        for victim in victims:
            # Only in the victim's own flavors, and those that its queue lists: Kueue gives nothing
            # back to other flavors of the same node (§2.4).
            for one in topologies.moved_by(victim.workload, queues[victim.queue]):
                leaf = self.tree(one.flavor).leaf_of.get(one.leaf)
                # A leaf that is not in the tree gets nothing back: its node is gone.
                if leaf is not None:
                    add_to(found.setdefault(one.flavor, {}).setdefault(leaf, {}), one.amounts)
        return found

    def slots(
        self, group: Group, given: Mapping[int, Mapping[str, int]], assumed: Assumed
    ) -> Slots:
        """Return what leaves take of a group, with ``given`` back and ``assumed`` taken."""
        tree, now = self.tree(group.flavor), self._known.get(group.name)
        if now is None:  # before any removal, and with nothing assumed
            rows = [
                self._count(group, leaf, {}, {}) if suited else (0, 0, 0)
                for leaf, suited in enumerate(self.suited_to(group.workers))
            ]
            columns = [list(column) for column in zip(*rows, strict=True)]
            now = self._known[group.name] = Slots(*columns) if rows else Slots((), (), ())
        changed = set(given)
        changed.update(tree.leaf_of[name] for name in assumed if name in tree.leaf_of)
        # Most leaves are as they were: only leaves where something changes are counted anew.
        if not changed:
            return now
        pods, beside, lead = list(now.pods), list(now.beside), list(now.lead)
        suited = self.suited_to(group.workers)
        for leaf in changed:
            if suited[leaf]:
                more, less = given.get(leaf, {}), assumed.get(tree.leaf_id(leaf), {})
                pods[leaf], beside[leaf], lead[leaf] = self._count(group, leaf, more, less)
        return Slots(pods, beside, lead)

    def left(self, flavor: str, leaf: int, name: str) -> int:
        """Return what a leaf has left of a resource before any removal; it may be below 0."""
        column = self.tree(flavor).column_of.get(name)
        placed = self.snapshot.placed or self.snapshot.topologies.occupancy
        return 0 if column is None else placed.left[flavor][leaf][column]

    def _count(
        self, group: Group, leaf: int, more: Mapping[str, int], less: Mapping[str, int]
    ) -> tuple[int, int, int]:
        def cap(name: str) -> int:
            left = self.left(group.flavor, leaf, name)
            known = name in self.tree(group.flavor).column_of
            # A resource that no node of the tree mentions is 0 there, whatever is given back.
            return left + more.get(name, 0) - less.get(name, 0) if known else 0

        wanted = group.workers.amounts
        pods = fitting(wanted, {name: cap(name) for name in wanted})
        if group.leader is None:
            return pods, pods, 0
        first = group.leader.amounts
        if not fitting(first, {name: cap(name) for name in first}):
            return pods, pods, 0
        # The leader is served first: the workers get what it leaves on this leaf (§4.1).
        left = {name: cap(name) - first.get(name, 0) for name in wanted}
        return pods, fitting(wanted, left), 1

    def suited_to(self, pods: Pods) -> Sequence[bool]:
        """Return for each leaf whether it may take the pods of a podset at all."""
        key = pods.flavor, pods.name
        if key not in self._suited:
            tree = self.tree(pods.flavor)
            # Above single nodes Kueue looks at no taint or selector (§4.1).
            self._suited[key] = [
                not tree.ends_in_host or runs_on(node, pods.pod, pods.tolerations)
                for node in tree.nodes
            ]
        return self._suited[key]


def fitting(wanted: Mapping[str, int], cap: Mapping[str, int]) -> int:
    """Return how many times the amounts wanted fit into the capacity."""
    counts = [max(0, cap[name]) // amount for name, amount in wanted.items() if amount]
    return min([MOST, *counts])


def add_to(row: dict[str, int], amounts: Mapping[str, int], count: int = 1) -> None:
    """Add amounts, ``count`` times, to those taken on a leaf or given back there."""
    for name, amount in amounts.items():
        row[name] = row.get(name, 0) + amount * count


def has_room(tree: FlavorTree, group: Group, slots: Slots) -> bool:
    """Say whether the pods of a group fit in the tree as its aim requires."""
    aim = group.aim
    if aim is None or not tree.values[aim.level]:
        return False
    enough = slices_at_most(tree, group, slots) >= group.slices
    if not enough or group.leader is None:
        return enough
    # The leader takes one leaf: there, what is left beside it counts.
    above = domains_of(tree, aim.level)
    for leaf in (leaf for leaf, takes in enumerate(slots.lead) if takes):
        pods = list(slots.pods)
        pods[leaf] = slots.beside[leaf]
        held = held_by(tree, group, pods)
        here = held[above[leaf]] if aim.required else sum(held)
        if here >= group.slices:
            return True
    return False


def domains_of(tree: FlavorTree, level: int) -> list[int]:
    """Return the domain of a level that each leaf is in."""
    found = list(range(len(tree.values[-1])))
    for above in reversed(tree.parents[level + 1 :]):
        found = [above[place] for place in found]
    return found


def slices_at_most(tree: FlavorTree, group: Group, slots: Slots) -> int:
    """Return how many slices fit at most, leaders aside: in one domain, or in all."""
    held = held_by(tree, group, slots.pods)
    return max(held, default=0) if group.aim and group.aim.required else sum(held)


def held_by(tree: FlavorTree, group: Group, pods: Sequence[int]) -> list[int]:
    """Return how many slices each domain of the group's level can hold, leaders aside.

    They are sums of Q (§7), of the pods that leaves take.
    """
    aim, held = group.aim, list(pods)
    if aim is None:
        return []
    for level in range(tree.depth, aim.level - 1, -1):
        if level == aim.slice_level:
            held = [each // aim.size for each in held]
        elif level > aim.slice_level:
            layer = aim.layers.get(level, 1)
            # Rounded down before it is added up: a layer must be whole in one domain of its level.
            held = [each - each % layer for each in held]
        if level > aim.level:
            held = [sum(held[d] for d in below) for below in tree.children[level - 1]]
    return held
