"""A queue above its lowered maximum: what the core would free of it, and in which leaves.

Source: docs/semantics/yunikorn.md §11.2, docs/semantics/yunikorn-features.md §23;
yunikorn-core be3bb487, scheduler/objects/quota_preemptor.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Final

from msgspec.structs import replace

from planner.errors import LookupFailed, did_you_mean
from planner.quantity import MAX_INT64, MIN_INT64
from planner.quota.yunikorn.cluster import Asking, Cluster, NodeRoom, find_ask
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import (
    Amount,
    Resource,
    added_up,
    ge_known,
    min_left,
    min_union,
    minus_known,
)
from planner.state.yunikorn import Application, Ask, Node

LOWERED: Final = "yunikorn-lowered-quota"
"""The rules by which a queue comes down to its maximum."""
_ANYWHERE: Final = NodeRoom(Node.model_construct(node_id=""), {})


def find_asking(cluster: Cluster, key: str, rules: str) -> tuple[Cluster, Asking]:
    """Return who preempts by some rules: an ask, by its key, or a queue, by its path.

    Raises `LookupFailed` if there is none.
    """
    return lowered(cluster, key) if rules == LOWERED else (cluster, find_ask(cluster, key))


def lowered(cluster: Cluster, path: str) -> tuple[Cluster, Asking]:
    """Return a queue that comes down to its maximum as an ask that wants nothing, anywhere.

    No node matters to it: there is one only, which has room for nothing.

    Raises `LookupFailed` if there is no such queue.
    """
    queue, paths = cluster.tree.by_path.get(path), list(cluster.tree.by_path)
    if queue is None:
        source, found = cluster.tree.source, f'there is no queue "{path}"'
        raise LookupFailed(source, found, ", ".join(paths[:10]), did_you_mean(path, paths))
    ask = Ask(allocation_key=path, resource=dict.fromkeys(queue.max or {}, 0))
    owner = Application(applicationID="", queue_name=path)
    searched = {leaf.path: part for leaf, part in shares(queue).items() if any(part.values())}
    return replace(cluster, nodes=(_ANYWHERE,)), Asking(ask, owner, queue, searched)


def excess(queue: Queue) -> Resource:
    """Return what a queue uses above its maximum, without what is being preempted already."""
    used = minus_known(queue.allocated, queue.preempting) or {}
    over = {t: used.get(t, 0) - most for t, most in (queue.max or {}).items()}
    return {t: amount for t, amount in over.items() if amount > 0}


def shares(queue: Queue) -> dict[Queue, Resource]:
    """Return what the core would free in each leaf at or below a queue; some may be 0."""
    amount = preemptable_amount(queue)
    if not amount:
        return {}
    return {queue: amount} if queue.is_leaf else dict(_split(queue, amount))


def preemptable_amount(queue: Queue) -> Amount:
    """Return what to free: usage above the maximum, and above the guaranteed of the path."""
    used = minus_known(queue.allocated, queue.preempting)
    if not queue.max or not used:
        return None
    need = _above(minus_known(queue.max, used))
    above: Amount = {}
    for step in queue.lineage:
        # Only negative amounts count in the end: a step without a guaranteed limits nothing.
        above = min_union(_left(step), above)
    return min_left(need, _above(above))


def _above(left: Amount) -> dict[str, int]:
    """Return what is used above an amount, of which ``left`` is left: its negative values."""
    return {t: _whole(float(-value)) for t, value in (left or {}).items() if value < 0}


def _whole(double: float) -> int:
    """Return a double rounded down, as Go does on x86-64: 2^63 becomes the least int64.

    Amounts go through doubles in the core, and lose their last bits from 2^53 on.
    """
    return floor(double) if double < float(MAX_INT64) else MIN_INT64


def _left(queue: Queue) -> Amount:
    """Return the guaranteed less the usage, perhaps negative; without a guaranteed, the usage."""
    if queue.guaranteed is None:
        return queue.allocated
    return minus_known(queue.guaranteed, queue.allocated)


def _split(queue: Queue, amount: Resource) -> Iterator[tuple[Queue, Resource]]:
    """Split an amount over the leaves below a queue, in proportion to usage above the guaranteed.

    Types below the guaranteed count with their absolute value too.
    """
    parts = parts_of(queue)
    total = added_up(parts.values())
    for child, part in parts.items():
        share = {
            # In doubles, as in the core, and rounded down: the shares may add up to less.
            t: _whole(float(value) / float(total[t]) * amount[t]) if value else 0
            for t, value in part.items()
            if t in amount
        }
        if child.is_leaf:
            yield child, share
        else:
            yield from _split(child, share)


def parts_of(queue: Queue) -> dict[Queue, Resource]:
    """Return what each child above its guaranteed uses above it, if only in some type."""
    return {
        child: {t: abs(value) for t, value in (_left(child) or {}).items()}
        for child in queue.children
        if child.allocated and not ge_known(child.guaranteed, child.allocated)
    }
