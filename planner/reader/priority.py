"""Priorities of workloads that name a class but carry no number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeVar

from planner.reader.show import shown
from planner.state import PriorityClass, Workload
from planner.state.workloads import Facts

Known = TypeVar("Known", Workload, Workload | Facts)

_BUILT_IN: Final = {
    ("PriorityClass", "system-cluster-critical"): 2_000_000_000,
    ("PriorityClass", "system-node-critical"): 2_000_001_000,
}
"""The classes that every Kubernetes cluster has (kubernetes pkg/apis/scheduling/types.go)."""


def resolve_priorities(
    workloads: Sequence[Known],
    kueue_classes: Sequence[PriorityClass],
    pod_classes: Sequence[PriorityClass],
) -> tuple[list[Known], list[str]]:
    """Give each workload without a priority that of the class it names.

    A class that was not read counts as priority 0, as it does for Kueue, and is remarked upon.
    Workloads without a class stay as they are.
    """
    values = dict(_BUILT_IN)
    values |= {("WorkloadPriorityClass", each.metadata.name): each.value for each in kueue_classes}
    values |= {("PriorityClass", each.metadata.name): each.value for each in pod_classes}
    missing: Counter[tuple[str, str]] = Counter()
    resolved: list[Known] = []
    for workload in workloads:
        if not isinstance(workload, Workload):  # facts have a priority, or name no class
            resolved.append(workload)
            continue
        spec = workload.spec
        if spec.priority is None and spec.priority_class is not None:
            key = (spec.priority_class.kind, spec.priority_class.name)
            if key not in values:
                missing[key] += 1
            changed = spec.model_copy(update={"priority": values.get(key, 0)})
            resolved.append(workload.model_copy(update={"spec": changed}))
        else:
            resolved.append(workload)
    notes = [
        f"{kind} {shown(name)} was not read: priority 0 for the {count} workloads that name it"
        for (kind, name), count in missing.items()
    ]
    return resolved, notes
