"""Whether a podset may run on the nodes of a flavor, or on one of them.

Written from docs/semantics/kueue.md §4.2 and docs/semantics/kueue-topology.md §4.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from planner.state import Node, ResourceFlavor
from planner.state.pods import NodeSelectorTerm, PodSpec, SelectorRequirement, Taint, Toleration

# How many values Kubernetes accepts of each operator; another number is a selector it refuses.
_VALUES_PER_OPERATOR: Final = {
    "In": range(1, 2**31),
    "NotIn": range(1, 2**31),
    "Exists": range(1),
    "DoesNotExist": range(1),
    "Gt": range(1, 2),
    "Lt": range(1, 2),
}
_WHOLE = re.compile(r"[-+]?\d+", re.ASCII)
_LABEL = re.compile(r"([a-z0-9]([-a-z0-9_.]*[a-z0-9])?)?", re.IGNORECASE | re.ASCII)
_LONGEST_LABEL: Final = 63


class Obstacle(NamedTuple):
    """Why a podset cannot run on a flavor.

    ``fatal`` is a selector that cannot be evaluated: no walk over flavors gets past it.
    """

    text: str
    fatal: bool = False


def obstacle_between(
    pod: PodSpec, flavor: ResourceFlavor, others: Iterable[ResourceFlavor] = ()
) -> Obstacle | None:
    """Return what keeps a podset from the nodes of a flavor, if anything does.

    Taints with effect NoSchedule or NoExecute need a toleration, of the pods or of the flavor.
    Selectors count only where they name a label that the flavor defines; a term of the affinity
    that names none permits every flavor. In older releases the labels of ``others``, which the
    same resource group lists, count as well.
    """
    tolerations = [*flavor.spec.tolerations, *pod.tolerations]
    for taint in flavor.spec.node_taints:
        strict = taint.effect in ("NoSchedule", "NoExecute")
        if strict and not any(_covers(toleration, taint) for toleration in tolerations):
            return Obstacle(f"its taint {taint.key}={taint.value}:{taint.effect} is not tolerated")
    # A value of None is a label that only other flavors have: known, and never equal to any value.
    labels: dict[str, str | None] = {
        key: None for each in others for key in each.spec.node_labels
    } | {**flavor.spec.node_labels}
    for key, value in pod.node_selector.items():
        # A key that no flavor at hand has is dropped: it counts as if it were met
        # (docs/semantics/kueue.md §4.2).
        if labels.get(key, value) != value:
            if labels[key] is None:
                return Obstacle(f"it has no label {key}, of which {value} is selected")
            return Obstacle(f"its label {key}={labels[key]} is not the {value} selected")
    affinity = pod.affinity.node_affinity if pod.affinity else None
    terms = affinity.required.terms if affinity and affinity.required else ()
    verdicts = [_judge_term(term, labels) for term in terms]
    # Terms are ORed, so one that says nothing about these labels permits all of them. Kueue then
    # drops the whole affinity, also where another term could not be evaluated.
    if not verdicts or True in verdicts or any(not _known(term, labels) for term in terms):
        return None
    if None in verdicts:
        return Obstacle("the required node affinity cannot be evaluated on its labels", fatal=True)
    return Obstacle("its labels do not match the required node affinity")


def runs_on(node: Node, pod: PodSpec, tolerations: Sequence[Toleration]) -> bool:
    """Say whether pods may run on one node (docs/semantics/kueue-topology.md §4.1).

    Here all labels of the node count, and a term of the affinity that names none is met by no node.
    """
    for taint in node.spec.taints:
        strict = taint.effect in ("NoSchedule", "NoExecute")
        if strict and not any(_covers(toleration, taint) for toleration in tolerations):
            return False
    labels = node.metadata.labels
    if not pod.node_selector.items() <= labels.items():
        return False
    affinity = pod.affinity.node_affinity if pod.affinity else None
    if affinity is None or affinity.required is None:
        return True
    return any(_is_met(term, labels, node.metadata.name) for term in affinity.required.terms)


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


def _covers(toleration: Toleration, taint: Taint) -> bool:
    # Empty means any, of effects and of keys alike.
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


def _known(term: NodeSelectorTerm, labels: Mapping[str, str | None]) -> list[SelectorRequirement]:
    """Return the rows of a term that say something about a label of the flavor."""
    return [row for row in term.match_expressions if row.key in labels]


def _judge_term(term: NodeSelectorTerm, labels: Mapping[str, str | None]) -> bool | None:
    """Say whether all rows hold; ``None`` where one of them is not valid."""
    rows = _known(term, labels)
    # All rows before any is compared: one that is not valid makes the term so, met or not.
    if not all(_is_valid(row) for row in rows):
        return None
    return all(_judge_row(row, labels[row.key]) for row in rows)


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
