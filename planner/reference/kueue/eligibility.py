"""May a podset run on the nodes of a flavor? Taints, node selectors, required affinity.

Source: docs/semantics/kueue.md §4.2; kueue ff69552e
pkg/scheduler/flavorassigner/flavorassigner.go ``checkFlavorForPodSets``, ``flavorSelector``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from planner.state.kueue import ResourceFlavor
from planner.state.pods import PodSpec, SelectorRequirement, Taint, Toleration

HARD_EFFECTS = {"NoSchedule", "NoExecute"}
"""Effects of taints that keep pods away."""
_LABEL_VALUE = re.compile(r"(|[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)")
_INTEGER = re.compile(r"[+-]?[0-9]+")


class InvalidSelectorError(ValueError):
    """The pod's node affinity cannot be evaluated; Kueue fails the podset for it."""


def why_ineligible(
    pod: PodSpec, flavor: ResourceFlavor, keys: AbstractSet[str] | None = None
) -> str:
    """Say why a pod may not run on the nodes of a flavor, as Kueue does; empty if it may.

    Of what the pod selects only label keys which this flavor itself defines count, or ``keys``.

    Raises
    ------
    InvalidSelectorError
        If the pod's selector is not valid for the labels the flavor defines.
    """
    tolerations = (*pod.tolerations, *flavor.spec.tolerations)
    for taint in flavor.spec.node_taints:
        if taint.effect in HARD_EFFECTS and not is_tolerated(taint, tolerations):
            shown = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
            return f"untolerated taint {shown} in flavor {flavor.name}"
    labels = flavor.spec.node_labels
    if _selector_matches(pod, labels, labels.keys() if keys is None else keys):
        return ""
    return f"flavor {flavor.name} doesn't match node affinity"


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Say whether one of some tolerations accepts a taint."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "Exists":
            return True
        case "" | "Equal":
            return toleration.value == taint.value
        case _:
            if not (_INTEGER.fullmatch(toleration.value) and _INTEGER.fullmatch(taint.value)):
                return False
            ours, theirs = int(toleration.value), int(taint.value)
            return theirs < ours if toleration.operator == "Lt" else theirs > ours


def _selector_matches(pod: PodSpec, labels: Mapping[str, str], keys: AbstractSet[str]) -> bool:
    """Compare only what names one of the label keys; the rest is dropped."""
    if any(labels.get(key) != value for key, value in pod.node_selector.items() if key in keys):
        return False
    affinity = pod.affinity.node_affinity if pod.affinity else None
    if affinity is None or affinity.required is None:
        return True
    terms = []
    for term in affinity.required.terms:
        # matchFields name nodes, of which a flavor says nothing: Kueue drops them (§4.2).
        rows = [row for row in term.match_expressions if row.key in keys]
        if not rows:
            # Terms are alternatives: one that asks nothing of this flavor admits it.
            return True
        terms.append(rows)
    if not terms:
        return True
    invalid: InvalidSelectorError | None = None
    for rows in terms:
        try:
            matches = [meets(row, labels.get(row.key)) for row in rows]
        except InvalidSelectorError as error:
            invalid = error  # a later term may still match; Kubernetes reports it only if none does
            continue
        if all(matches):
            return True
    if invalid:
        raise invalid
    return False


def _check_valid(row: SelectorRequirement) -> None:
    """Refuse what Kubernetes' label selector refuses."""
    values = row.values
    valid = {
        "In": len(values) > 0,
        "NotIn": len(values) > 0,
        "Exists": len(values) == 0,
        "DoesNotExist": len(values) == 0,
        "Gt": len(values) == 1 and bool(_INTEGER.fullmatch(values[0])),
        "Lt": len(values) == 1 and bool(_INTEGER.fullmatch(values[0])),
    }.get(row.operator, False)
    if not valid or not all(_LABEL_VALUE.fullmatch(value) for value in values):
        message = f"{row.key} {row.operator} {list(values)}"
        raise InvalidSelectorError(message)


def meets(row: SelectorRequirement, value: str | None) -> bool:
    """Compare with the value of a label, or with its absence, as Kubernetes does.

    Raises
    ------
    InvalidSelectorError
        If the row is not valid.
    """
    _check_valid(row)
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
            if value is None or not _INTEGER.fullmatch(value):
                return False
            ours, theirs = int(value), int(row.values[0])
            return ours > theirs if row.operator == "Gt" else ours < theirs
