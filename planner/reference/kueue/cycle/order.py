"""The order in which nominees are processed; with fair sharing a tournament for each place.

Source: docs/semantics/kueue.md §7.3; kueue ff69552e pkg/scheduler/scheduler.go
``makeClassicalIterator``, pkg/scheduler/fair_sharing_iterator.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise

from planner.quota.kueue.share import Shares
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import QuotaTree, Usage
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


def tournament_order(
    snapshot: Snapshot, usage: Usage, nominees: Iterable[Nominee]
) -> Iterator[Nominee]:
    """Yield the fairest nominee of a tree, again and again; ``usage`` may change in between.

    Kueue chooses the tree at random, and also among equals. Here the tree of the first queue of
    the dump comes first, and of equals a cohort before a queue, then the first in the dump.
    """
    tree, rest = snapshot.tree, {nominee.preemptor.queue: nominee for nominee in nominees}
    # No rules of a release: they say which shares count as borrowing, which is not asked here.
    shares = Shares(tree)
    while rest:
        standings = {
            queue: _standings(snapshot, usage, shares, nominee) for queue, nominee in rest.items()
        }
        for winner in _winner(tree, standings, tree.path(next(iter(rest)))[-1]):
            yield rest.pop(winner)


_Standing = tuple[bool, bool, tuple[bool, float], int, datetime]
"""Whether a nominee waits, whether it borrows, the share, the priority and the time: less wins."""


def _winner(
    tree: QuotaTree, standings: Mapping[int, Mapping[int, _Standing]], node: int
) -> list[int]:
    """Return the queue whose nominee wins below a node; nothing if none is left there."""
    if tree.nodes[node].is_queue:
        return [node] if node in standings else []
    winners = [one for child in tree.children[node] for one in _winner(tree, standings, child)]
    return [min(winners, key=lambda queue: standings[queue][node])] if winners else []


def _standings(
    snapshot: Snapshot, usage: Usage, shares: Shares, nominee: Nominee
) -> dict[int, _Standing]:
    """Return how a nominee stands at every cohort above it, its own usage included.

    What counts at a cohort is the share of the child from which the nominee comes.
    """
    tree, gate, preemptor = snapshot.tree, snapshot.configuration.gate, nominee.preemptor
    priority = preemptor.priority if gate("PrioritySortingWithinCohort") else 0
    waits = gate("PrioritizePreemptorWorkloads") and not nominee.preempts
    used = nominee.decision.assigned.usage
    standings = {}
    # Each alone: the others of the cycle are in the tree only once they are processed.
    usage.add(preemptor.queue, used)
    for child, cohort in pairwise(tree.path(preemptor.queue)):
        if not gate("FairSharingPrioritizeNonBorrowing"):
            borrows = False
        elif snapshot.configuration.rules.borrowing_by_request:
            # Of anything that is asked for; zeros do not count.
            borrows = any(
                amount > 0
                and fr in tree.known[child]
                and usage.amount[child][fr] > tree.subtree[child][fr]
                for fr, amount in used.items()
            )
        else:
            # Releases before switch 4 take the entry's borrow level, at every node alike.
            borrows = nominee.decision.assignment.borrowing > 0
        share = shares.of(usage, child).order
        standings[cohort] = waits, borrows, share, -priority, preemptor.queued_at
    usage.remove(preemptor.queue, used)
    return standings
