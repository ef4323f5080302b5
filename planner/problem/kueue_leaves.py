"""Which leaves may take the pods of a podset at all: taints, node selectors, required affinity.

Source: docs/semantics/kueue-topology.md §4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from planner.quota.kueue.placing import Pods
from planner.quota.kueue.topology_tree import FlavorTree
from planner.state.kueue import Node
from planner.state.pods import NodeSelectorTerm, SelectorRequirement, Taint, Toleration

_INTEGER: Final = re.compile(r"[+-]?[0-9]+")
_LABEL: Final = re.compile(r"(|[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")


def eligible_leaves(tree: FlavorTree, pods: Pods) -> Iterable[int]:
    """Return the leaves that may take a podset; where these are no nodes, all of them."""
    if not tree.ends_in_host:
        return range(len(tree.nodes))
    seen: dict[int, bool] = {}
    return [leaf for leaf, node in enumerate(tree.nodes) if _may_take(node, pods, seen)]


def _may_take(node: Node, pods: Pods, seen: dict[int, bool]) -> bool:
    taints = node.spec.taints
    if taints:
        if id(taints) not in seen:
            seen[id(taints)] = all(_is_tolerated(one, pods.tolerations) for one in taints)
        if not seen[id(taints)]:
            return False
    labels = node.metadata.labels
    if any(labels.get(key) != value for key, value in pods.pod.node_selector.items()):
        return False
    affinity = pods.pod.affinity.node_affinity if pods.pod.affinity else None
    if affinity is None or affinity.required is None:
        return True
    return any(_meets(term, labels, node.metadata.name) for term in affinity.required.terms)


def _is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    if taint.effect not in {"NoSchedule", "NoExecute"}:
        return True
    return any(
        one.effect in {"", taint.effect} and one.key in {"", taint.key} and _compares(one, taint)
        for one in tolerations
    )


def _compares(one: Toleration, taint: Taint) -> bool:
    if one.operator in {"", "Equal"}:
        return one.value == taint.value
    if one.operator == "Exists":
        return True
    numbers = _INTEGER.fullmatch(one.value) and _INTEGER.fullmatch(taint.value)
    if not numbers:
        return False
    ours, theirs = int(one.value), int(taint.value)
    return theirs < ours if one.operator == "Lt" else theirs > ours


def _meets(term: NodeSelectorTerm, labels: Mapping[str, str], name: str) -> bool:
    """Say whether a node meets a term: all of its rows, and an empty one is met by none."""
    rows, fields = term.match_expressions, term.match_fields
    if not rows and not fields:
        return False
    return all(_is_valid(row) and _holds(row, labels.get(row.key)) for row in rows) and all(
        one.key == "metadata.name"
        and len(one.values) == 1
        and one.operator in {"In", "NotIn"}
        and (one.values[0] == name) == (one.operator == "In")
        for one in fields
    )


def _is_valid(row: SelectorRequirement) -> bool:
    number = len(row.values)
    if not all(_LABEL.fullmatch(value) for value in row.values):
        return False
    if row.operator in {"In", "NotIn"}:
        return number > 0
    if row.operator in {"Exists", "DoesNotExist"}:
        return number == 0
    compares = row.operator in {"Gt", "Lt"}
    return compares and number == 1 and bool(_INTEGER.fullmatch(row.values[0]))


def _holds(row: SelectorRequirement, value: str | None) -> bool:
    if row.operator in {"In", "NotIn"}:
        return (value in row.values) == (row.operator == "In")
    if row.operator in {"Exists", "DoesNotExist"}:
        return (value is not None) == (row.operator == "Exists")
    if value is None or not _INTEGER.fullmatch(value):
        return False
    bound = int(row.values[0])
    return int(value) > bound if row.operator == "Gt" else int(value) < bound
