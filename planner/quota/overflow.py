"""Amounts so large that an older release of Kueue wraps around, where newer ones stop.

Source: docs/semantics/kueue-releases.md §2.1, 14.
"""

from __future__ import annotations

from collections import Counter

from planner.quantity import MAX_INT64
from planner.quota.snapshot import Preemptor, Snapshot


def overflowing(snapshot: Snapshot, preemptor: Preemptor) -> str:
    """Return a resource of which amounts may wrap around in the release; nothing if none may.

    No sum or difference of a decision exceeds all quotas, limits, usage and the request together.
    """
    if snapshot.configuration.rules.saturates:
        return ""
    tree, total = snapshot.tree, Counter[str]()
    for node in tree.nodes:
        for fr, quota in node.quotas.items():
            limits = (quota.borrowing_limit or 0) + (quota.lending_limit or 0)
            total[tree.frs[fr].resource] += abs(quota.nominal) + limits
    for workloads in snapshot.admitted.values():
        for workload in workloads:
            for fr, amount in workload.usage.items():
                total[tree.frs[fr].resource] += abs(amount)
    for request in preemptor.pod_sets:
        for resource, amount in request.totals.items():
            total[resource] += abs(amount)
    return next((resource for resource, amount in total.items() if amount >= MAX_INT64), "")
