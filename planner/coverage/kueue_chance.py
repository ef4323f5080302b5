"""What Kueue leaves to chance, and a state does not show: equal heads, and nodes of one hostname.

Source: docs/semantics/kueue.md §7.1; docs/semantics/kueue-releases.md §2.1, 41;
docs/semantics/kueue-topology.md §2.2.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from planner.coverage.kueue_features import CHANCE
from planner.plan import Uncovered
from planner.quota.kueue.holding import effective_priority, queue_order_time
from planner.quota.kueue.topology import is_of
from planner.state.kueue import HOST, Node, ResourceFlavor, State, Workload

Order = tuple[int, datetime]
"""The place of a workload in its ClusterQueue: higher priority, then earlier; less is first."""


def order_of(workload: Workload, state: State) -> Order:
    """Return the place of a pending workload in its ClusterQueue, but for past use."""
    given = state.configuration
    return -effective_priority(workload, given), queue_order_time(workload, given)


def heads(workload: Workload, state: State, waiting: Mapping[str, Order]) -> Iterator[Uncovered]:
    """Yield the workloads that are as good a head as this one, in a release that breaks no tie.

    ``waiting`` are all that wait in its ClusterQueue, by key. Which of them comes first depends on
    when Kueue heard of each.
    """
    mine = order_of(workload, state)
    if mine != min(waiting.values(), default=mine):
        return
    alike = [key for key, order in waiting.items() if order == mine and key != workload.key]
    if alike:
        named = [f"Workload {key}" for key in (workload.key, *alike)]
        yield CHANCE.found(
            named,
            "they are of equal priority and age in one ClusterQueue, and Kueue "
            f"{state.configuration.release.name} takes the one first of which it heard at some "
            "time that no dump shows; the one of the smaller UID is taken here",
            "assumed",
        )


def of_one_host(nodes: Iterable[Node]) -> dict[str, list[Node]]:
    """Return usable nodes by the text of their label for a hostname, where several share it."""
    found: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        if node.is_usable and HOST in node.metadata.labels:
            found[node.metadata.labels[HOST]].append(node)
    return {host: some for host, some in found.items() if len(some) > 1}


def hosts(
    workload: Workload,
    flavors: Iterable[ResourceFlavor],
    levels: Mapping[str, Sequence[str]],
    several: Mapping[str, Sequence[Node]],
) -> Iterator[Uncovered]:
    """Yield nodes of one hostname that are not alike: any of them may stand for their leaf.

    ``flavors`` are those with a topology that the workload may get, ``levels`` those of the
    topologies, ``several`` the nodes that share a hostname. What they have is added up; where the
    leaf is, and who may go there, is read from the node that Kueue comes to first, at random.
    """
    asked = _looked_at(workload)
    unlike: dict[str, None] = {}
    for flavor in flavors:
        keys = levels.get(flavor.spec.topology_name, ())
        if tuple(keys[-1:]) != (HOST,):
            continue
        for nodes in several.values():
            members = [node for node in nodes if is_of(node, flavor, keys)]
            if len({_seen(node, {*keys, *asked}) for node in members}) > 1:
                unlike.update({f"Node {node.metadata.name}": None for node in members})
    if unlike:
        yield CHANCE.found(
            [*unlike],
            f"several nodes have one and the same label {HOST}, and other labels or taints: Kueue "
            "adds up what they have, and reads labels and taints from any one of them, here from "
            "the first in the state",
            "assumed",
        )


_NAME = "metadata.name"


def _looked_at(workload: Workload) -> set[str]:
    """Return the label keys of nodes that a workload selects by, and the field of their name."""
    keys: set[str] = set()
    for pods in workload.spec.pod_sets:
        spec = pods.template.spec
        keys |= spec.node_selector.keys()
        terms = [*(spec.required_nodes or ()), *(one.preference for one in spec.preferred_nodes)]
        keys |= {row.key for term in terms for row in term.match_expressions}
        keys |= {_NAME for term in terms if term.match_fields}
    updates = (one for check in workload.status.admission_checks for one in check.updates)
    return keys.union(*(one.node_selector for one in updates))


def _seen(node: Node, keys: Iterable[str]) -> tuple[object, ...]:
    """Return what Kueue may read from a node that stands for a leaf."""
    labels = {**node.metadata.labels, _NAME: node.metadata.name}
    taints = [one for one in node.spec.taints if one.effect in {"NoSchedule", "NoExecute"}]
    return (
        frozenset((key, labels.get(key)) for key in keys),
        frozenset((one.key, one.value, one.effect) for one in taints),
    )
