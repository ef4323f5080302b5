"""Kueue's objects in words: amounts in users' units, queues as kubectl names them."""

from __future__ import annotations

from planner.quantity import format_units
from planner.quota.kueue.share import Share
from planner.quota.kueue.snapshot import Snapshot


def say_amount(snapshot: Snapshot, fr: int, units: int, *, named: bool = True) -> str:
    """Write an amount as a quantity, with its resource and flavor unless not ``named``."""
    flavor_resource = snapshot.tree.frs[fr]
    quantity = format_units(units, flavor_resource.resource)
    return f"{quantity} {flavor_resource}" if named else quantity


def say_node(snapshot: Snapshot, node: int) -> str:
    """Name a ClusterQueue or cohort."""
    kind = "ClusterQueue" if snapshot.tree.nodes[node].is_queue else "Cohort"
    return f"{kind} {snapshot.queue_name(node)}"


def say_shares(*shares: Share) -> list[str]:
    """Write shares in thousandths, with six digits unless two that differ would look alike.

    Shares of weight 0 are infinite and compare by their ratios.
    """
    values = [share.order[1] for share in shares]
    short = [f"{value:.6g}" for value in values]
    # A verdict that says "400 is more than 400" would help nobody.
    texts = short if len(set(short)) == len(set(values)) else [repr(value) for value in values]
    return [
        f"infinity (weight 0, ratio {text})" if share.order[0] else text
        for share, text in zip(shares, texts, strict=True)
    ]
