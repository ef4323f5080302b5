"""Which queue fair sharing looks at next: the most unfair one, found from the root down.

Source: docs/semantics/kueue.md §6.4; kueue ff69552e
pkg/scheduler/preemption/fairsharing/ordering.go.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import groupby
from operator import attrgetter
from typing import Final

from planner.laws.kueue import FS_BORROWING
from planner.laws.kueue_strict import ST_HIGHEST_SHARE
from planner.quota.kueue.past_use import Contender, Contest
from planner.quota.kueue.share import Share, Shares
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import NO_PARENT
from planner.reference.kueue.context import Context
from planner.reference.kueue.crash import ReleaseCrash
from planner.reference.laws import keeps

_BY_UID: Final = attrgetter("uid")
_BY_RESERVATION: Final = attrgetter("reserved_s")
_BY_PRIORITY: Final = attrgetter("priority")
_BY_EVICTION: Final = attrgetter("evicted")
_BY_QUEUE: Final = attrgetter("queue")
_BY_PAST: Final = attrgetter("past")

OrderKey = tuple[bool, bool, int, float, str]


def candidate_order(context: Context) -> Callable[[Admitted], OrderKey]:
    """Return the key of Kueue's candidate order (§5.4), other queues before the own one.

    Of workloads in different ClusterQueues nothing else decides.
    """

    def key(workload: Admitted) -> OrderKey:
        return (
            not workload.evicted,
            workload.queue == context.queue,
            workload.priority,
            # When QuotaReserved became True, newest first; not creation, nor Admitted (§5.4).
            -workload.reserved_s,
            workload.uid,
        )

    return key


def in_candidate_order(context: Context, candidates: Iterable[Admitted]) -> list[Admitted]:
    """Return candidates in Kueue's order, in which past use comes before priority.

    Past use is compared within a ClusterQueue that is set up so, among those that are evicted and
    among the others (docs/semantics/kueue-features.md §3.4).
    """
    key = candidate_order(context)
    ordered = list(candidates)
    # The order of `key`, last part first: a sort keeps the order of equals. Of 100 to 100,000
    # candidates that takes two thirds of the time of one sort by tuples.
    ordered.sort(key=_BY_UID)
    ordered.sort(key=_BY_RESERVATION, reverse=True)
    ordered.sort(key=_BY_PRIORITY)
    # With candidates of one side only this key would decide nothing.
    if {context.queue} < {*map(_BY_QUEUE, ordered)}:
        own = context.queue
        ordered.sort(key=lambda one: one.queue == own)
    ordered.sort(key=_BY_EVICTION, reverse=True)
    if {*map(_BY_PAST, ordered)} <= {None}:
        return ordered
    arranged: list[Admitted] = []
    for _, same in groupby(ordered, key=lambda one: key(one)[:2]):
        group = list(same)
        contest = Contest(
            [Contender(key(one), one.queue, one.local_queue, one.past) for one in group]
        )
        arranged += [group[position] for position in context.chance.arrange(contest)]
    return arranged


class QueueOrder:
    """An ordering of the queues that still have candidates; what is pruned stays pruned."""

    def __init__(self, context: Context, shares: Shares, candidates: Iterable[Admitted]) -> None:
        self.context = context
        self.shares = shares
        self.key = candidate_order(context)
        self.candidates: dict[int, deque[Admitted]] = {}
        for candidate in candidates:
            self.candidates.setdefault(candidate.queue, deque()).append(candidate)
        self.path = context.snapshot.tree.path(context.queue)
        self.pruned: set[int] = set()

    def has_candidate(self, queue: int) -> bool:
        """Say whether a queue has candidates left."""
        return bool(self.candidates.get(queue))

    def pop(self, queue: int) -> Admitted:
        """Take a queue's first remaining candidate."""
        return self.candidates[queue].popleft()

    def drop(self, queue: int) -> None:
        """Look at a queue no more."""
        self.pruned.add(queue)

    def next_queue(self) -> int | None:
        """Return the queue to look at next, or ``None`` when all are pruned."""
        tree, own = self.context.snapshot.tree, self.context.queue
        if tree.nodes[own].parent == NO_PARENT:
            if own not in self.pruned and self.has_candidate(own):
                return own
            if not self.context.snapshot.configuration.rules.searches_without_cohort:
                raise ReleaseCrash(self.context.snapshot, self.context.preemptor)
            return None
        root = self.path[-1]
        # A descent may end where all is pruned by then; the next one goes another way.
        while root not in self.pruned:
            queue = self._descend(root)
            if queue is not None:
                return queue
        return None

    @keeps(ST_HIGHEST_SHARE)
    def _descend(self, cohort: int) -> int | None:
        """Go down to the child of the highest share; ``None`` if that only pruned something."""
        queue = self._highest_queue(cohort)
        child = self._highest_cohort(cohort)
        if queue is None and child is None:
            self.pruned.add(cohort)
            return None
        # Of equal shares the cohort comes first, whoever the candidates are.
        if queue is None or (child is not None and child[1].order >= queue[1].order):
            return self._descend(child[0]) if child else None
        return queue[0]

    def _children(self, cohort: int, *, queues: bool) -> list[int]:
        tree = self.context.snapshot.tree
        return [
            child
            for child in tree.children[cohort]
            if tree.nodes[child].active
            and tree.nodes[child].is_queue == queues
            and child not in self.pruned
        ]

    @keeps(FS_BORROWING)
    def _highest_queue(self, cohort: int) -> tuple[int, Share] | None:
        best: tuple[int, Share] | None = None
        for queue in self._children(cohort, queues=True):
            share = self.shares.of(self.context.usage, queue)
            may_borrow = share.borrowing or queue == self.context.queue
            if not may_borrow or not self.has_candidate(queue):
                self.pruned.add(queue)
            elif best is None or share.order > best[1].order:
                best = (queue, share)
            elif share.order == best[1].order:
                # By their first candidates; so a queue with an evicted workload comes first.
                first, other = self.candidates[queue][0], self.candidates[best[0]][0]
                best = (queue, share) if self.key(first) < self.key(other) else best
        return best

    @keeps(FS_BORROWING)
    def _highest_cohort(self, cohort: int) -> tuple[int, Share] | None:
        """Return the child cohort of the highest share.

        Kueue chooses among equal cohorts at random; here the last one in the dump wins.
        """
        best: tuple[int, Share] | None = None
        for child in self._children(cohort, queues=False):
            share = self.shares.of(self.context.usage, child)
            # The way to the own queue stays open: its candidates may go whatever is borrowed.
            if not share.borrowing and child not in self.path:
                self.pruned.add(child)
            elif best is None or share.order >= best[1].order:
                best = (child, share)
        return best
