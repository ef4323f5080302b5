"""What decides in a cohort tree of Kueue, written down without the clock.

Times decide by their order only: who was admitted before whom, who queued before whom. Of the
walks over flavors it is how far they came, and whether that is outdated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from planner.quota.snapshot import Admitted
from planner.reference.kueue.cycle.waiting import Pending, Waiting

Text = tuple[object, ...]
"""A tuple of tuples, texts and numbers: equal ones have the same text."""

_OLD = 2
"""Cycles after which it makes no difference how old the memory of a walk is."""


def signature(waiting: Waiting) -> Text:
    """Return what tells whether the next cycle finds another head, or none."""
    head = waiting.head
    return (
        head.key if head else "",
        len(waiting.active),
        len(waiting.parked),
        waiting.preemptor or "",
        len(waiting.bulk),
    )


def state_mark(
    nodes: Sequence[int],
    admitted: Mapping[int, Sequence[Admitted]],
    queues: Mapping[int, Waiting],
    kept: Mapping[str, int],
    cycle: int,
) -> Text:
    """Return what decides at some ClusterQueues after a cycle of a number.

    ``kept`` is the progress that evicted workloads have kept: it decides when they end.
    """
    holders = [one for node in nodes for one in admitted[node]]
    pending = [one for node in nodes for one in (*queues[node].active, *queues[node].parked)]
    reserved = _ranks(one.reserved_s for one in holders)
    queued = _ranks(
        [one.queued_at.timestamp() for one in holders]
        + [one.order[1].timestamp() for one in pending]
    )
    return tuple(
        (
            node,
            # In their order: among equals without UIDs the first is taken.
            tuple(_holder(one, reserved, queued, kept) for one in admitted[node]),
            _queue(queues[node], queued, kept, cycle),
        )
        for node in nodes
    )


def _holder(
    one: Admitted,
    reserved: Mapping[float, int],
    queued: Mapping[float, int],
    kept: Mapping[str, int],
) -> Text:
    return (
        one.key,
        one.evicted,
        reserved[one.reserved_s],
        queued[one.queued_at.timestamp()],
        tuple(sorted(one.usage.items())),
        tuple(sorted(one.names)),
        kept.get(one.key, 0),
    )


def _queue(
    waiting: Waiting, queued: Mapping[float, int], kept: Mapping[str, int], cycle: int
) -> Text:
    parked_together = {one.key for one in waiting.parked if one.kind in waiting.bulk}
    return (
        waiting.preemptor or "",
        tuple(_pending(one, waiting, queued, kept, cycle) for one in waiting.active),
        tuple(sorted(_pending(one, waiting, queued, kept, cycle) for one in waiting.parked)),
        tuple(sorted(parked_together)),
    )


def _pending(
    one: Pending,
    waiting: Waiting,
    queued: Mapping[float, int],
    kept: Mapping[str, int],
    cycle: int,
) -> Text:
    progress = one.progress
    walk: Text = ()
    if progress is not None and progress.has_untried:
        tried = tuple(tuple(sorted(places.items())) for places in progress.tried)
        age = min(cycle - progress.cycle, _OLD)
        walk = (tried, age, waiting.generation > progress.generation)
    return one.key, queued[one.order[1].timestamp()], kept.get(one.key, 0), walk


def _ranks(values: Iterable[float]) -> dict[float, int]:
    """Return the place of each value among the different ones."""
    return {value: rank for rank, value in enumerate(sorted(set(values)))}
