"""The order in which nominees are processed; with fair sharing a tournament for each place.

Source: docs/semantics/kueue.md §7.3; kueue ff69552e pkg/scheduler/scheduler.go
``makeClassicalIterator``, pkg/scheduler/fair_sharing_iterator.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from planner.quota.kueue.share import Shares
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import Usage
from planner.reference.kueue.cycle.record import Nominee
from planner.state.kueue import Configuration


def classical_order(nominees: Iterable[Nominee], configuration: Configuration) -> list[Nominee]:
    """Sort: preemptors (by a gate), lower borrow level, higher priority (by a gate), earlier.

    Kueue leaves ties open; here the queue that stands first in the dump comes first.
    """
    by_priority = configuration.gate("PrioritySortingWithinCohort")
    preemptors_first = configuration.gate("PrioritizePreemptorWorkloads")

    def key(nominee: Nominee) -> tuple[bool, int, int, datetime]:
        preemptor = nominee.preemptor
        priority = -preemptor.priority if by_priority else 0
        waits = preemptors_first and not nominee.preempts
        return waits, nominee.decision.assignment.borrowing, priority, preemptor.queued_at

    return sorted(nominees, key=key)


class _Standing(NamedTuple):
    """How a nominee stands in the contest of one cohort; the smaller one wins."""

    waits: bool
    borrows: bool
    share: tuple[bool, float]
    priority: int
    queued_at: datetime


def tournament_order(
    snapshot: Snapshot, usage: Usage, nominees: Iterable[Nominee]
) -> Iterator[Nominee]:
    """Yield the fairest nominee of a tree, again and again; ``usage`` may change in between.

    Kueue chooses the tree at random, and also among equals. Here the tree of the first queue of
    the dump comes first, and of equals a cohort before a queue, then the first in the dump.
    """
    rest = {nominee.preemptor.queue: nominee for nominee in nominees}
    # No rules of a release: they say which shares count as borrowing, which is not asked here.
    shares = Shares(snapshot.tree)
    while rest:
        root = snapshot.tree.path(next(iter(rest)))[-1]
        for winner in _Tournament(snapshot, usage, shares, rest).winner(root):
            yield rest.pop(winner)


class _Tournament:
    """One contest from the queues up to a root."""

    def __init__(
        self,
        snapshot: Snapshot,
        usage: Usage,
        shares: Shares,
        nominees: Mapping[int, Nominee],
    ) -> None:
        self._snapshot = snapshot
        self._shares = shares
        self._nominees = nominees
        self._standings = {queue: self._standings_of(usage, queue) for queue in nominees}

    def winner(self, node: int) -> list[int]:
        """Return the queue whose nominee wins below a node; nothing if none is left there."""
        tree = self._snapshot.tree
        if tree.nodes[node].is_queue:
            return [node] if node in self._nominees else []
        candidates = [winner for child in tree.children[node] for winner in self.winner(child)]
        if not candidates:
            return []
        return [min(candidates, key=lambda queue: self._standings[queue][node])]

    def _standings_of(self, usage: Usage, queue: int) -> dict[int, _Standing]:
        """Return how a nominee stands at every cohort above it, its own usage included.

        What counts at a cohort is the share of the child from which the nominee comes.
        """
        nominee = self._nominees[queue]
        gate = self._snapshot.configuration.gate
        priority = nominee.preemptor.priority if gate("PrioritySortingWithinCohort") else 0
        waits = gate("PrioritizePreemptorWorkloads") and not nominee.preempts
        used = nominee.decision.assigned.usage
        standings = {}
        # Each alone: the others of the cycle are in the tree only once they are processed.
        usage.add(queue, used)
        path = self._snapshot.tree.path(queue)
        for child, cohort in pairwise(path):
            if not gate("FairSharingPrioritizeNonBorrowing"):
                borrows = False
            elif self._snapshot.configuration.rules.borrowing_by_request:
                borrows = self._borrows(usage, child, used)
            else:
                # Releases before switch 4 take the entry's borrow level, at every node alike.
                borrows = nominee.decision.assignment.borrowing > 0
            share = self._shares.of(usage, child).order
            queued_at = nominee.preemptor.queued_at
            standings[cohort] = _Standing(waits, borrows, share, -priority, queued_at)
        usage.remove(queue, used)
        return standings

    def _borrows(self, usage: Usage, node: int, requested: Mapping[int, int]) -> bool:
        """Say whether a node borrows of anything that is asked for; zeros do not count."""
        tree = self._snapshot.tree
        return any(
            amount > 0
            and fr in tree.known[node]
            and usage.amount[node][fr] > tree.subtree[node][fr]
            for fr, amount in requested.items()
        )
