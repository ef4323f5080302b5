"""Fair sharing preemption, victim by victim, and the choice of the configured search.

Which queue is next to lose a workload: that of the highest share.

Source: docs/semantics/kueue.md §5.1 and §6.2 to §6.7; kueue ff69552e
pkg/scheduler/preemption/preemption.go ``fairPreemptions`` and its two passes;
pkg/scheduler/preemption/fairsharing/ordering.go.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from planner.laws import kueue as laws
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.tree import NO_PARENT, Share, Shares
from planner.reference.kueue.chance import ReleaseCrash
from planner.reference.kueue.classical import candidate_order, permitted, search_classical
from planner.reference.kueue.context import Context, Search, Target, fill_back, restore
from planner.reference.laws import keeps
from planner.state.kueue_configuration import Strategy

OWN = "InClusterQueue"
WITHIN_NOMINAL = "InCohortReclamation"
FAIR = "InCohortFairSharing"


def search_fair_sharing(context: Context) -> Search:
    """Run the preemption search of a cluster with fair sharing."""
    candidates = fair_candidates(context)
    if not candidates:
        return Search((), (True,))
    # Shares are tested as if the preemptor ran: its request is in the tree (§6.3).
    context.usage.add(context.queue, context.request)
    passes = _Passes(context)
    done = passes.first(candidates) or passes.again() or passes.second()
    context.usage.remove(context.queue, context.request)
    targets = passes.targets
    # Shares are not tested again: a target put back may be what let another pass (§6.7).
    if done:
        fill_back(context, targets, borrowing=True)
    restore(context, targets)
    return Search(tuple(targets), (True,), borrowing=True) if done else Search((), (True,))


@keeps(laws.FS_BORROWS_CONTESTED)
def fair_candidates(context: Context) -> Sequence[Admitted]:
    """Return the candidates in Kueue's order.

    They are of every queue that borrows contested quota, and of the own queue.
    """
    tree, borrowing = context.snapshot.tree, list[int]()
    if context.policy.reclaim_within_cohort != "Never":
        # From the root: any queue that borrows may lose, whatever cohorts are between (§6.2).
        borrowing = [
            node
            for node in tree.below(tree.root(context.queue))
            if tree.nodes[node].is_queue and tree.nodes[node].active and node != context.queue
            if not context.usage.within_nominal(node, context.contested)
        ]
    return permitted(context, [borrowing, [context.queue]])[0]


class _Passes:
    """The two passes over the candidates; removals of the first stay in the second."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.shares = Shares(context.snapshot.tree, context.snapshot.configuration.rules)
        self.targets: list[Target] = []
        self.retry: list[Admitted] = []
        self.strategies = context.snapshot.configuration.strategies
        # Evaluated once, before the first removal.
        self.within_nominal = self._stays_within_nominal()

    def _stays_within_nominal(self) -> bool:
        context = self.context
        gate = context.snapshot.configuration.gate("FairSharingPreemptWithinNominal")
        return gate and context.usage.within_nominal(context.queue, context.contested)

    def again(self) -> bool:
        """Apply the first strategy once more to candidates that failed it, if a gate says so.

        That is done after a workload of the own queue was removed, which lowers the own share
        (switch 8 of planner/state/kueue_release.py).
        """
        gate = self.context.snapshot.configuration.gate
        own = any(target.workload.queue == self.context.queue for target in self.targets)
        if not (own and gate("FairSharingReevaluatePreemptionCandidates")):
            return False
        self.within_nominal = self._stays_within_nominal()
        candidates, self.retry = self.retry, []
        return self.first(candidates)

    def first(self, candidates: Sequence[Admitted]) -> bool:
        """Apply the first configured strategy; say whether the preemptor fits."""
        order = QueueOrder(self.context, self.shares, candidates)
        permits = _STRATEGIES[self.strategies[0]]
        while (queue := order.next_queue()) is not None:
            if queue == self.context.queue:
                removed = self._remove(order.candidates[queue].popleft(), OWN)
            elif self.within_nominal:
                removed = self._remove(order.candidates[queue].popleft(), WITHIN_NOMINAL)
            else:
                removed = self._first_that_passes(order, queue, permits)
            if removed and self._fits():
                return True
        return False

    @keeps(laws.FS_SHARES)
    def second(self) -> bool:
        """Try candidates that failed once more, one per queue, by its share before removal."""
        # With one strategy configured, whichever it is, there is no second pass (§6.6).
        if len(self.strategies) < len(_STRATEGIES):
            return False
        order = QueueOrder(self.context, self.shares, self.retry)
        while (queue := order.next_queue()) is not None:
            # Never the own queue: its candidates need no test, so none of them is left to retry.
            mine, theirs = self._sides(queue)
            candidate = order.candidates[queue].popleft()
            order.pruned.add(queue)
            # Always by LessThanInitialShare, not by the second strategy that is configured.
            if mine.order < theirs.order:
                self._remove(candidate, FAIR)
                if self._fits():
                    return True
        return False

    @keeps(laws.FS_SHARES)
    def _first_that_passes(
        self, order: QueueOrder, queue: int, permits: Callable[[Share, Share, Share], bool]
    ) -> bool:
        mine, theirs = self._sides(queue)
        # The own side has weight 0 and borrows: the other side's share never gets as large.
        hopeless = mine.weighted == float("inf") and theirs.weighted != float("inf")
        # Nothing is removed until a candidate passes, so equal usage leaves the same share.
        passes: dict[int, bool] = {}
        _, node = self._almost_lca(queue)
        candidates = order.candidates[queue]
        while candidates:
            candidate = candidates.popleft()
            alike = id(candidate.usage)
            if not hopeless and (alike not in passes or self._is_moved_by(candidate)):
                passes[alike] = permits(mine, theirs, self._share_without(candidate, node))
            if not hopeless and passes[alike]:
                return self._remove(candidate, FAIR)
            self.retry.append(candidate)
        return False

    def _remove(self, candidate: Admitted, reason: str) -> bool:
        self.context.take_out(candidate)
        self.targets.append(Target(candidate, reason))
        return True

    @keeps(laws.FS_FITS)
    def _fits(self) -> bool:
        """Test the fit with the preemptor's own usage out of the tree."""
        context = self.context
        context.usage.remove(context.queue, context.request)
        fits = context.workload_fits(borrowing=True)
        context.usage.add(context.queue, context.request)
        return fits

    def _sides(self, queue: int) -> tuple[Share, Share]:
        """Return the shares of the preemptor's and the target's side below their LCA."""
        mine, theirs = self._almost_lca(queue)
        usage = self.context.usage
        return self.shares.share_of(usage, mine), self.shares.share_of(usage, theirs)

    def _share_without(self, candidate: Admitted, theirs: int) -> Share:
        """Return the share of the target's side after removing a candidate."""
        usage, queue, held = self.context.usage, candidate.queue, candidate.usage
        if not self._is_moved_by(candidate):
            return self.shares.without(usage, theirs, queue, held)
        usage.remove(queue, held)
        share = self.shares.share_of(usage, theirs)
        usage.add(queue, held)
        return share

    def _is_moved_by(self, candidate: Admitted) -> bool:
        """Say whether usage may change when a candidate is taken out and put back.

        Older releases have negative amounts, or wrap around.
        """
        wraps = self.context.snapshot.tree.arithmetic.wraps
        return wraps or any(amount < 0 for amount in candidate.usage.values())

    def _almost_lca(self, queue: int) -> tuple[int, int]:
        tree = self.context.snapshot.tree
        mine, theirs = tree.path(self.context.queue), tree.path(queue)
        # A cohort, as the two queues are in one tree: so there is a node below it on either path.
        shared = next(node for node in theirs if node in mine)
        return mine[mine.index(shared) - 1], theirs[theirs.index(shared) - 1]


# By the shares of the preemptor's side, and of the victim's before and after the removal.
_STRATEGIES: dict[Strategy, Callable[[Share, Share, Share], bool]] = {
    "LessThanOrEqualToFinalShare": lambda mine, _, after: mine.order <= after.order,
    "LessThanInitialShare": lambda mine, before, _: mine.order < before.order,
}


class QueueOrder:
    """An ordering of the queues that still have candidates; a pruned node stays pruned."""

    def __init__(self, context: Context, shares: Shares, candidates: Iterable[Admitted]) -> None:
        self.context = context
        self.shares = shares
        self.key = candidate_order(context)
        self.candidates: dict[int, deque[Admitted]] = defaultdict(deque)
        for candidate in candidates:
            self.candidates[candidate.queue].append(candidate)
        self.path = context.snapshot.tree.path(context.queue)
        self.pruned: set[int] = set()

    def next_queue(self) -> int | None:
        """Return the queue to look at next, or ``None`` when all are pruned."""
        tree, own = self.context.snapshot.tree, self.context.queue
        if tree.nodes[own].parent == NO_PARENT:
            if own not in self.pruned and self.candidates[own]:
                return own
            if not self.context.snapshot.configuration.rules.searches_without_cohort:
                raise ReleaseCrash(self.context.snapshot, self.context.preemptor)
            return None
        root = self.path[-1]
        # A descent may end at a cohort with all children pruned; the next one goes another way.
        while root not in self.pruned:
            queue = self._descend(root)
            if queue is not None:
                return queue
        return None

    def _descend(self, cohort: int) -> int | None:
        """Go down to the child of the highest share; ``None`` if the descent only pruned nodes."""
        queue, child = self._highest_queue(cohort), self._highest_cohort(cohort)
        if queue is None and child is None:
            self.pruned.add(cohort)
            return None
        # Of equal shares the cohort comes first, whatever the candidates are.
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

    @keeps(laws.FS_BORROWING)
    def _highest_queue(self, cohort: int) -> tuple[int, Share] | None:
        best: tuple[int, Share] | None = None
        highest = (False, 0.0)
        for queue in self._children(cohort, queues=True):
            share = self.shares.share_of(self.context.usage, queue)
            may_borrow = share.borrowing or queue == self.context.queue
            order = share.order
            if not may_borrow or not self.candidates[queue]:
                self.pruned.add(queue)
            elif best is None or order > highest:
                best, highest = (queue, share), order
            elif order == highest:
                # Equal shares: first candidates decide, so a queue with an evicted one is first.
                first, other = self.candidates[queue][0], self.candidates[best[0]][0]
                best = (queue, share) if self.key(first) < self.key(other) else best
        return best

    @keeps(laws.FS_BORROWING)
    def _highest_cohort(self, cohort: int) -> tuple[int, Share] | None:
        """Return the child cohort of the highest share.

        Kueue chooses among equal cohorts at random.
        """
        best: list[int] = []
        highest: Share | None = None
        for child in self._children(cohort, queues=False):
            share = self.shares.share_of(self.context.usage, child)
            # The path to the own queue stays open: its candidates count whatever is borrowed.
            if not share.borrowing and child not in self.path:
                self.pruned.add(child)
            elif highest is None or share.order > highest.order:
                best, highest = [child], share
            elif share.order == highest.order:
                best.append(child)
        return None if highest is None else (self.context.chance.among(best), highest)


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end."""
    if context.snapshot.configuration.fair_sharing_on:
        return search_fair_sharing(context)
    return search_classical(context)
