"""Every legal set of victims under fair sharing, with shares in doubles as Kueue computes them."""

from functools import cache

from tests.oracle.amounts import minus, plus
from tests.oracle.cluster import Held, NodeId
from tests.oracle.legality import Legal, in_order, reachable, side
from tests.oracle.question import Question

FINAL, INITIAL = "LessThanOrEqualToFinalShare", "LessThanInitialShare"

Share = tuple[bool, float]
"""Whether it is infinite, and what it is then compared by: larger is less fair."""


class Shares:
    """The shares of a tree, in which the request of the preemptor is counted."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.tree = question.tree
        self._known = cache(self.tree.known)
        self._lendable = cache(self._lend)

    def excess(self, node: NodeId, gone: int) -> dict[str, int]:
        """Return by resource what a node uses beyond its quota, where that is positive."""
        found: dict[str, int] = {}
        if self.tree.nodes[node].parent is None:
            return found
        for at in sorted(self._known(node)):
            used = self.tree.usage(node, at, gone, asked=True)
            over = minus(used, self.tree.subtree(node, at))
            if over > 0:
                found[at[1]] = plus(found.get(at[1], 0), over)
        return found

    def _lend(self, node: NodeId, resource: str) -> int:
        parent = self.tree.nodes[node].parent
        root = self.tree.above(node)[-1]
        assert parent is not None
        total = 0
        for at in sorted(self._known(root)):
            if at[1] == resource:
                total = plus(total, self.tree.potential(parent, at))
        return total

    def borrows(self, node: NodeId, gone: int) -> bool:
        """Whether a node uses more than its quota of anything."""
        return bool(self.excess(node, gone))

    def share(self, node: NodeId, gone: int) -> Share:
        """Return the share of a node."""
        ratio = 0.0
        for resource, over in self.excess(node, gone).items():
            lendable = self._lendable(node, resource)
            if lendable > 0:
                ratio = max(ratio, float(over) * 1000.0 / float(lendable))
        weight = self.tree.nodes[node].weight
        if ratio == 0.0:
            return False, 0.0
        return (True, ratio) if weight == 0.0 else (False, ratio / weight)


def fair(question: Question) -> Legal:
    """Return candidates and legal sets."""
    taken, search = candidates(question), Search(question)
    found = {gone for gone in reachable(taken, search.allowed) if question.fits(gone, borrow=True)}
    return Legal(question, taken, frozenset(found))


def candidates(question: Question) -> tuple[int, ...]:
    """Return who may go at all, in Kueue's order."""
    held = question.cluster.held
    taken = [index for index in range(len(held)) if _is_candidate(question, index)]
    key = in_order(question, own_last=True)
    return tuple(sorted(taken, key=lambda index: key(held[index])))


def _is_candidate(question: Question, index: int) -> bool:
    held = question.cluster.held[index]
    tree, queue = question.tree, ("queue", held.queue)
    if not question.may_take(held) or not question.cluster.nodes[queue].active:
        return False
    if queue == question.queue:
        return True
    roots = tree.above(question.queue)[-1:]
    if not roots or tree.above(queue)[-1:] != roots:
        return False
    nominal = tree.nodes[queue].nominal
    return any(tree.usage(queue, at, 0) > nominal.get(at, 0) for at in question.contested)


class Search:
    """What fair sharing asks of one removal."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.tree = question.tree
        self.shares = Shares(question)
        self.strategies = tuple(
            (question.cluster.configuration.get("fairSharing") or {}).get("preemptionStrategies")
            or (FINAL, INITIAL)
        )
        self.path = [question.queue, *self.tree.above(question.queue)]
        nominal = self.tree.nodes[question.queue].nominal
        self.within_nominal = question.cluster.gate(
            "FairSharingPreemptWithinNominal", default=True
        ) and all(
            self.tree.usage(question.queue, at, 0, asked=True) <= nominal.get(at, 0)
            for at in question.contested
        )

    def allowed(self, gone: int, index: int) -> bool:
        """Whether a candidate may go next."""
        return self.borrows(gone, self.question.cluster.held[index]) and self.fair(gone, index)

    def borrows(self, gone: int, held: Held) -> bool:
        """Whether a queue and the cohorts above it on its side borrow; the own queue need not."""
        return all(self.shares.borrows(node, gone) for node in self._side(held))

    def _side(self, held: Held) -> list[NodeId]:
        ancestor = self.question.ancestor(("queue", held.queue))
        return [] if ancestor is None else side(self.tree, held, ancestor)

    def fair(self, gone: int, index: int) -> bool:
        """Whether the shares let a candidate go next."""
        held = self.question.cluster.held[index]
        nodes = self._side(held)
        if not nodes or self.within_nominal:
            return True
        preemptor, _ = self.sides(("queue", held.queue), gone)
        before = self.shares.share(nodes[-1], gone)
        after = self.shares.share(nodes[-1], gone | 1 << index)
        tests = {FINAL: preemptor <= after, INITIAL: preemptor < before}
        return any(tests[strategy] for strategy in self.strategies)

    def sides(self, queue: NodeId, gone: int) -> tuple[Share, NodeId]:
        """Return the share of the preemptor's side, and the top of the other queue's."""
        ancestor = self.question.ancestor(queue)
        assert ancestor is not None
        mine = self.path[self.path.index(ancestor) - 1]
        path = [queue, *self.tree.above(queue)]
        return self.shares.share(mine, gone), path[path.index(ancestor) - 1]
