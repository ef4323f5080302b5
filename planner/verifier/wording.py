"""Verdicts in words: amounts in users' units, objects as kubectl names them."""

from __future__ import annotations

from collections.abc import Sequence

from planner.laws import Law
from planner.plan import Verdict
from planner.quantity import format_units
from planner.quota.share import Share
from planner.quota.snapshot import Snapshot

_SHOWN = 4


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


def say_some(items: Sequence[str]) -> str:
    """List the first few items, and say how many more there are."""
    more = len(items) - _SHOWN
    return ", ".join(items[:_SHOWN]) + (f" and {more} more" if more > 0 else "")


def say_count(count: int) -> str:
    """Say how many victims there are."""
    return "1 victim" if count == 1 else f"{count} victims"


def judge(law: Law, findings: Sequence[str], otherwise: str) -> Verdict:
    """Return a verdict: broken by the findings, or holding for the reason given otherwise."""
    detail = "; ".join(findings[:_SHOWN]) if findings else otherwise
    more = len(findings) - _SHOWN
    if more > 0:
        detail += f"; and {more} more"
    return Verdict(law=law.id, title=law.title, holds=not findings, detail=detail)


def compare(what: str, stated: object, recomputed: object) -> list[str]:
    """Say that the plan states something else than what was recomputed, if it does."""
    if stated == recomputed:
        return []
    found = "cannot be recomputed" if recomputed is None else f"is {recomputed}"
    return [f"{what} {found}, not {stated}"]
