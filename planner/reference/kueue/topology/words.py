"""Why pods cannot be placed, as Kueue writes it.

Source: docs/semantics/kueue-topology.md §3.4; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``notFitMessage``.
"""

from __future__ import annotations

from collections import Counter

from planner.quota.kueue.topology_tree import FlavorTree
from planner.reference.kueue.topology.ask import Aim
from planner.reference.kueue.topology.place import Short


def not_enough(tree: FlavorTree, aim: Aim, count: int, short: Short, excluded: Counter[str]) -> str:
    """Say how much fits of what is wanted, and which nodes are left out."""
    text = f'topology "{tree.topology}" {_how_much(aim, count, short)}'
    if not excluded:
        return text
    each = ", ".join(f"{why}: {nodes}" for why, nodes in sorted(excluded.items()))
    return f"{text}. Total nodes: {len(tree.nodes)}; excluded: {each}"


def _how_much(aim: Aim, count: int, short: Short) -> str:
    if short.layers:
        each = (
            f"{fits}/{count // one.size} slice(s) fit on level {one.topology}"
            for fits, one in zip(short.layers, aim.constraints, strict=True)
        )
        return "; ".join(("doesn't allow to fit", *each))
    wanted, unit = count // aim.size, "slice(s)" if aim.size > 1 else "pod(s)"
    if short.fits:
        return f"allows to fit only {short.fits} out of {wanted} {unit}"
    return f"doesn't allow to fit any of {wanted} {unit}"
