"""Pods that victims have beyond what PodDisruptionBudgets permit, by the pages of Kubernetes."""

import math
from collections.abc import Iterable
from fractions import Fraction

from tests.oracle.cluster import Cluster, Held, Json


def beyond_budgets(cluster: Cluster, victims: Iterable[Held]) -> int:
    """Add up, over all budgets, the covered pods of the victims beyond those that may go."""
    listed = list(victims)
    return sum(
        max(0, _covered(budget, listed) - _may_go(budget, cluster))
        for budget in cluster.of_kind("PodDisruptionBudget")
    )


def _covered(budget: Json, workloads: Iterable[Held]) -> int:
    inside = budget["metadata"]["namespace"]
    return sum(
        _count(each.source, pod_set["name"])
        for each in workloads
        for pod_set in each.source["spec"]["podSets"]
        if each.source["metadata"]["namespace"] == inside
        and _selects(budget["spec"].get("selector"), _labels(pod_set))
    )


def _count(workload: Json, name: str) -> int:
    return sum(
        int(assigned.get("count", 1))
        for assigned in workload["status"]["admission"]["podSetAssignments"]
        if assigned["name"] == name
    )


def _labels(pod_set: Json) -> dict[str, str]:
    labels: dict[str, str] = pod_set["template"].get("metadata", {}).get("labels", {})
    return labels


def _selects(selector: Json | None, labels: dict[str, str]) -> bool:
    if selector is None:
        return False
    rows = [
        {"key": key, "operator": "In", "values": [value]}
        for key, value in selector.get("matchLabels", {}).items()
    ]
    for row in [*rows, *selector.get("matchExpressions", [])]:
        there, among = row["key"] in labels, labels.get(row["key"]) in row.get("values", [])
        meets = {"In": among, "NotIn": not among, "Exists": there, "DoesNotExist": not there}
        if not meets[row["operator"]]:
            return False
    return True


def _may_go(budget: Json, cluster: Cluster) -> int:
    said = budget.get("status", {}).get("disruptionsAllowed")
    if said is not None:
        return int(said)
    pods = _covered(budget, cluster.held)
    if "maxUnavailable" in budget["spec"]:
        return _of(budget["spec"]["maxUnavailable"], pods)
    if "minAvailable" in budget["spec"]:
        return max(0, pods - _of(budget["spec"]["minAvailable"], pods))
    return 0


def _of(number: int | str, pods: int) -> int:
    if isinstance(number, str):
        return math.ceil(Fraction(int(number.strip("%")), 100) * pods)
    return number
