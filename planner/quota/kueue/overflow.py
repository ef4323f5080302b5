"""Amounts so large that an older release of Kueue wraps around, where newer ones stop.

Source: docs/semantics/kueue-releases.md §2.1, 14.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from planner.quantity import MAX_INT64, format_quantity, to_quota, to_units
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.tree import QuotaTree
from planner.state.kueue import ClusterQueue, Cohort, State

_FIELDS: Final = ("nominalQuota", "borrowingLimit", "lendingLimit")


def overflowing(snapshot: Snapshot, preemptor: Preemptor) -> str:
    """Return a resource of which amounts may wrap around in the release; nothing if none may.

    No sum or difference of a decision exceeds all quotas, limits, usage and the request together.
    Quotas and requests of less than nothing have wrapped around already.
    """
    if snapshot.configuration.rules.saturates:
        return ""
    tree, total = snapshot.tree, Counter[str]()
    negative = next(_negative(tree, preemptor), "")
    if negative:
        return negative
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


def _negative(tree: QuotaTree, preemptor: Preemptor) -> Iterator[str]:
    """Yield resources of which a quota or a request is less than nothing."""
    for node in tree.nodes:
        for fr, quota in node.quotas.items():
            if any(part is not None and part < 0 for part in quota):
                yield tree.frs[fr].resource
    for request in preemptor.pod_sets:
        yield from (name for name, amount in request.totals.items() if amount < 0 < request.count)


def misread(state: State, snapshot: Snapshot) -> Iterator[str]:
    """Say which quotas and limits are more than a release can count, and what it counts instead."""
    units, name = snapshot.tree.arithmetic.quota, snapshot.configuration.release.name
    owners: list[ClusterQueue | Cohort] = [*state.cluster_queues, *state.cohorts]
    for owner in owners:
        groups = owner.spec.resource_groups
        for flavor in (flavor for group in groups for flavor in group.flavors):
            for quota in flavor.resources:
                written = quota.nominal_quota, quota.borrowing_limit, quota.lending_limit
                for field, nano in zip(_FIELDS, written, strict=True):
                    if nano is None:
                        continue
                    # It may be taken for its amount, or for Unlimited.
                    taken = units(nano, quota.name)
                    if taken in {to_units(nano, quota.name), to_quota(nano, quota.name)}:
                        continue
                    yield (
                        f"{type(owner).__name__} {owner.name} has {field} {format_quantity(nano)} "
                        f"of {quota.name} in flavor {flavor.name}: Kueue {name} cannot count so "
                        f"far, and takes it for {taken}"
                    )
