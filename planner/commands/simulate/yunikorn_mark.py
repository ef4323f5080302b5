"""What decides in a partition of YuniKorn, written down without the clock.

Times decide by their order; how long an ask has waited decides until it may preempt, and that is
part of what is to come.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.quota.yunikorn.cluster import Cluster
from planner.reference.yunikorn.preconditions import CHECK_INTERVAL

Text = tuple[object, ...]
"""A tuple of tuples, texts and numbers: equal ones have the same text."""


def state_mark(cluster: Cluster, kept: Mapping[str, int]) -> Text:
    """Return what decides in a partition; ``kept`` is the progress that victims have kept."""
    applications = cluster.partition.applications
    made = _ranks(one.allocation_time for each in applications for one in each.allocations)
    rooms = tuple((room.node_id, tuple(sorted(room.available.items()))) for room in cluster.nodes)
    parts = []
    for each in applications:
        held = tuple(
            sorted(
                (one.allocation_key, one.node_id, made[one.allocation_time], one.preempted)
                for one in each.allocations
            )
        )
        asks = tuple((one.allocation_key, one.triggered_preemption) for one in each.requests)
        keys = [one.allocation_key for one in (*each.allocations, *each.requests)]
        kept_by = tuple((key, kept[key]) for key in sorted(keys) if kept.get(key))
        parts.append((each.application_id, held, asks, kept_by))
    return (*rooms, *parts)


def ages(cluster: Cluster) -> Text:
    """Return how long asks have waited, as far as it makes a difference, in nanoseconds."""
    found = []
    for application, ask in cluster.partition.asks:
        delay = cluster.tree.leaf_of(application).properties.delay
        checked = ask.x.preempt_check_time
        age = CHECK_INTERVAL if checked is None else min(cluster.now - checked, CHECK_INTERVAL)
        found.append((ask.allocation_key, min(cluster.now - ask.request_time, delay), age))
    return tuple(found)


def _ranks(values: Iterable[int]) -> dict[int, int]:
    """Return the place of each value among the different ones."""
    return {value: rank for rank, value in enumerate(sorted(set(values)))}
