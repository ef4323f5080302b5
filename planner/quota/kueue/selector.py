"""Which labels and taints of nodes keep a pod away: rows, terms and tolerations, one by one.

Source: Kubernetes, component-helpers/scheduling/corev1 (nodeaffinity); api/core/v1, toleration.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planner.state.kueue_topology import Node
from planner.state.pods import (
    INTEGER,
    NodeSelectorTerm,
    PodSpec,
    SelectorRequirement,
    Taint,
    Toleration,
)


class InvalidSelectorError(ValueError):
    """The pod's node affinity cannot be evaluated; Kueue fails the podset for it."""


def untolerated(taints: Iterable[Taint], tolerations: Sequence[Toleration]) -> Iterator[Taint]:
    """Yield the taints that keep pods away: no toleration accepts them."""
    for taint in taints:
        if taint.is_hard and not any(one.accepts(taint) for one in tolerations):
            yield taint


def selects(pod: PodSpec, node: Node) -> bool:
    """Say whether a pod's selector and its required node affinity take a node."""
    labels, required = node.metadata.labels, pod.required_nodes
    if any(labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    return required is None or any(meets_term(term, node) for term in required)


def meets(row: SelectorRequirement, value: str | None) -> bool:
    """Say whether the value of a label, or its absence, meets a row, as Kubernetes does.

    Raises `InvalidSelectorError` if the row is not valid.
    """
    # Refuse what Kubernetes' label selector refuses.
    if not row.is_valid:
        raise InvalidSelectorError(f"{row.key} {row.operator} {list(row.values)}")
    match row.operator:
        case "In":
            return value in row.values
        case "NotIn":
            return value not in row.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case _:
            if value is None or not INTEGER.fullmatch(value):
                return False
            ours, theirs = int(value), int(row.values[0])
            return ours > theirs if row.operator == "Gt" else ours < theirs


def meets_term(term: NodeSelectorTerm, node: Node) -> bool:
    """Say whether a node meets all rows of a term; no node meets a term without rows."""
    if not term.match_expressions and not term.match_fields:
        return False
    labels = node.metadata.labels
    try:
        selected = all(meets(row, labels.get(row.key)) for row in term.match_expressions)
    except InvalidSelectorError:
        return False
    return selected and all(_meets_name(row, node.metadata.name) for row in term.match_fields)


def _meets_name(row: SelectorRequirement, name: str) -> bool:
    """Say whether a node's name, the only field there is, meets a row; it must have one value."""
    if row.key != "metadata.name" or len(row.values) != 1:
        return False
    if row.operator == "In":
        return row.values[0] == name
    return row.operator == "NotIn" and row.values[0] != name
