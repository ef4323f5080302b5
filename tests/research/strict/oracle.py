"""Which sets Kueue's documented precedence leads to: two passes, turns, attempts one by one.

Kueue's search for victims, walked in every way that its documentation leaves open: candidates of
a queue in any order, and any of equal shares. What that order decides is who is asked before the
one who goes, so every subset of those who are refused is tried. What is pruned is remembered, as
Kueue does. Giving back what need not have gone is no removal, and left out.
"""

from collections.abc import Iterator
from itertools import chain, combinations
from typing import NamedTuple

from tests.oracle.cluster import NodeId
from tests.oracle.fair import FINAL, Search, candidates
from tests.oracle.legality import attempt, collected, reachable
from tests.oracle.question import Question

SHOWN_MOST = 12
"""More candidates would take too long."""


def strict_sets(question: Question) -> frozenset[int]:
    """Return every set of victims, as a bit mask, that is found if precedence is kept.

    Nobody goes where the preemptor fits at once: Kueue's documentation asks before it begins.
    """
    nobody = {0} if question.tree.fits(0, borrow=True) else set()
    if question.cluster.fair:
        return frozenset(_Passes(question).found() | nobody)
    return frozenset(_attempts(question) | nobody)


def _attempts(question: Question) -> set[int]:
    """Return what the first attempt finds that finds anything."""
    merged, attempts = collected(question)
    for borrow in attempts:
        allowed = attempt(question, merged, borrow=borrow)
        tree = question.tree

        def goes(gone: int, index: int) -> bool:
            fitted = bool(gone) and tree.fits(gone, borrow=borrow)  # noqa: B023 - used at once
            return not fitted and allowed(gone, index)  # noqa: B023

        reached = reachable(tuple(each.index for each in merged), goes)
        if found := {gone for gone in reached if gone and tree.fits(gone, borrow=borrow)}:
            return found
    return set()


class _Moment(NamedTuple):
    """The pass, who is gone, the candidates left and to be retried, and what is pruned."""

    second: bool
    gone: int
    left: frozenset[int]
    retry: frozenset[int]
    pruned: frozenset[NodeId]


class _Passes:
    """Fair sharing's two passes, in every way that they can go."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.rules = Search(question)
        self.tree, self.shares = question.tree, self.rules.shares
        self.candidates = candidates(question)
        assert len(self.candidates) <= SHOWN_MOST
        self.queue_of = {i: ("queue", question.cluster.held[i].queue) for i in self.candidates}

    def found(self) -> set[int]:
        """Return every set after whose last removal the preemptor fits."""
        begin = _Moment(
            second=False,
            gone=0,
            left=frozenset(self.candidates),
            retry=frozenset(),
            pruned=frozenset(),
        )
        ahead, seen, ends = [begin], {begin}, set()
        while ahead:
            moment = ahead.pop()
            if moment.gone and self.tree.fits(moment.gone, borrow=True):
                ends.add(moment.gone)
                continue
            for after in self._after(moment):
                if after not in seen:
                    seen.add(after)
                    ahead.append(after)
        return ends

    def _after(self, moment: _Moment) -> Iterator[_Moment]:
        for queue, pruned in self._turns(moment):
            now = moment._replace(pruned=pruned)
            if queue is not None:
                yield from self._second(now, queue) if moment.second else self._first(now, queue)
            elif not moment.second and len(self.rules.strategies) > 1:
                yield _Moment(
                    second=True,
                    gone=moment.gone,
                    left=moment.retry,
                    retry=frozenset(),
                    pruned=frozenset(),
                )

    def _first(self, moment: _Moment, queue: NodeId) -> Iterator[_Moment]:
        here = {index for index in moment.left if self.queue_of[index] == queue}
        passing = {index for index in here if self._passes(moment.gone, index)}
        refused = sorted(here - passing)
        if not passing:
            yield moment._replace(left=moment.left - here, retry=moment.retry | here)
        for index in passing:
            sizes = range(len(refused) + 1)
            for before in chain.from_iterable(combinations(refused, size) for size in sizes):
                left = moment.left - {index} - set(before)
                gone, retry = moment.gone | 1 << index, moment.retry | set(before)
                yield moment._replace(gone=gone, left=left, retry=retry)

    def _second(self, moment: _Moment, queue: NodeId) -> Iterator[_Moment]:
        after = moment._replace(pruned=moment.pruned | {queue})
        mine, top = self.rules.sides(queue, moment.gone)
        passes = mine < self.shares.share(top, moment.gone)
        for index in moment.left:
            if self.queue_of[index] == queue:
                gone = moment.gone | 1 << index if passes else moment.gone
                yield after._replace(gone=gone, left=moment.left - {index})

    def _passes(self, gone: int, index: int) -> bool:
        queue = self.queue_of[index]
        if queue == self.question.queue or self.rules.within_nominal:
            return True
        mine, top = self.rules.sides(queue, gone)
        if self.rules.strategies[0] == FINAL:
            return mine <= self.shares.share(top, gone | 1 << index)
        return mine < self.shares.share(top, gone)

    def _turns(self, moment: _Moment) -> set[tuple[NodeId | None, frozenset[NodeId]]]:
        """Return whose turn it may be, nobody's at the end of a pass, and what is pruned then."""
        root = self.rules.path[-1]
        found: set[tuple[NodeId | None, frozenset[NodeId]]] = set()
        ahead = [moment.pruned]
        while ahead:
            pruned = ahead.pop()
            if root in pruned:
                found.add((None, pruned))
            elif root[0] == "queue":
                some = bool(moment.left)
                found.add((root if some else None, pruned))
            else:
                for turn in self._descend(moment, root, pruned):
                    if turn[0] is None:
                        ahead.append(turn[1])
                    else:
                        found.add(turn)
        return found

    def _descend(
        self, moment: _Moment, cohort: NodeId, pruned: frozenset[NodeId]
    ) -> Iterator[tuple[NodeId | None, frozenset[NodeId]]]:
        nodes = self.question.cluster.nodes
        children = [c for c in self.tree.children[cohort] if c not in pruned and nodes[c].active]
        idle = {c for c in children if not self._matters(moment, c)}
        pruned |= idle
        shares = {c: self.shares.share(c, moment.gone) for c in children if c not in idle}
        if not shares:
            yield None, pruned | {cohort}
            return
        most = [child for child in shares if shares[child] == max(shares.values())]
        cohorts = [child for child in most if child[0] == "cohort"]
        for child in cohorts:
            yield from self._descend(moment, child, pruned)
        if not cohorts:
            yield from ((child, pruned) for child in most)

    def _matters(self, moment: _Moment, child: NodeId) -> bool:
        borrows = self.shares.borrows(child, moment.gone)
        if child[0] == "cohort":
            return borrows or child in self.rules.path
        left = any(self.queue_of[index] == child for index in moment.left)
        return left and (borrows or child == self.question.queue)
