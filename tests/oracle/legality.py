"""Every legal set of victims, by removing candidates in every order: classical preemption."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.oracle.cluster import Held, NodeId
from tests.oracle.question import Question
from tests.oracle.tree import Tree

Allowed = Callable[[int, int], bool]
"""Whether a workload may go next, the ones of the mask being gone."""


@dataclass(frozen=True)
class Legal:
    """The candidates in the scheduler's order, as indices, and all legal sets, as bit masks."""

    question: Question
    candidates: tuple[int, ...]
    sets: frozenset[int]

    @property
    def named(self) -> set[frozenset[str]]:
        """All legal sets, by the names of their members."""
        return self.question.names(self.sets)

    def keys(self, victims: int) -> list[str]:
        """Name the victims, in the order of candidates."""
        held = self.question.cluster.held
        return [held[index].key for index in self.candidates if victims >> index & 1]

    def mask(self, keys: frozenset[str]) -> int:
        """Return the set of these names."""
        held = enumerate(self.question.cluster.held)
        return sum(1 << index for index, each in held if each.key in keys)


def reachable(candidates: tuple[int, ...], allowed: Allowed) -> set[int]:
    """Return every set that single removals lead to, each one allowed at its moment."""
    found, ahead = {0}, [0]
    while ahead:
        gone = ahead.pop()
        for index in candidates:
            more = gone | 1 << index
            if more not in found and allowed(gone, index):
                found.add(more)
                ahead.append(more)
    return found


def in_order(question: Question, *, own_last: bool) -> Callable[[Held], tuple[object, ...]]:
    """Return the key by which Kueue sorts candidates."""

    def key(held: Held) -> tuple[object, ...]:
        own = ("queue", held.queue) == question.queue
        return (
            not held.evicted,
            own_last and own,
            held.priority,
            -held.reserved_at.timestamp(),
            held.uid,
        )

    return key


@dataclass(frozen=True)
class Candidate:
    """A candidate, the cohort at which it was found, and why it may go."""

    index: int
    held: Held
    ancestor: NodeId | None
    variant: str


WITHIN, HIERARCHY, NO_BORROWING, BORROWING = "own", "hierarchy", "no borrowing", "borrowing"


def classical(question: Question) -> Legal:
    """Return candidates and legal sets."""
    merged, attempts = collected(question)
    found = set().union(*(reached(question, merged, borrow=borrow) for borrow in attempts))
    return Legal(question, tuple(each.index for each in merged), frozenset(found))


def reached(question: Question, candidates: list[Candidate], *, borrow: bool) -> set[int]:
    """Return the sets that an attempt leads to and after which the preemptor fits."""
    allowed = attempt(question, candidates, borrow=borrow)
    found = reachable(tuple(each.index for each in candidates), allowed)
    return {gone for gone in found if question.fits(gone, borrow=borrow)}


def collected(question: Question) -> tuple[list[Candidate], list[bool]]:
    """Return the candidates in order, and which attempts there are, with borrowing or without."""
    others, own = _others(question), _own(question)
    hierarchy = [each for each in others if each.variant == HIERARCHY]
    lists = [hierarchy, [each for each in others if each.variant != HIERARCHY], own]
    key = in_order(question, own_last=False)
    for each in lists:
        each.sort(key=lambda candidate: key(candidate.held))
    merged = [c for each in lists for c in each if c.held.evicted]
    merged += [c for each in lists for c in each if not c.held.evicted]
    return merged, _attempts(question, others, hierarchy)


def _own(question: Question) -> list[Candidate]:
    return [
        Candidate(index, held, None, WITHIN)
        for index, held in enumerate(question.cluster.held)
        if ("queue", held.queue) == question.queue
        and question.cluster.nodes[question.queue].active
        and question.may_take(held)
    ]


def _others(question: Question) -> list[Candidate]:
    tree, found = question.tree, []
    advantage, rest = _fits_in_quota(tree, question.queue, question.request)
    visited = question.queue
    for cohort in tree.above(question.queue):
        for queue in _over_quota(question, cohort, visited):
            found += [
                Candidate(index, held, cohort, _variant(question, held, advantage=advantage))
                for index, held in enumerate(question.cluster.held)
                if held.queue == queue[1] and question.may_take(held)
            ]
        fitted, rest = _fits_in_quota(tree, cohort, rest)
        advantage = advantage or fitted
        visited = cohort
    return found


def _fits_in_quota(
    tree: Tree, node: NodeId, request: dict[tuple[str, str], int]
) -> tuple[bool, dict[tuple[str, str], int]]:
    fits = all(
        tree.usage(node, at, 0) + amount <= tree.subtree(node, at) for at, amount in request.items()
    )
    rest = {at: max(0, amount - tree.local_free(node, at, 0)) for at, amount in request.items()}
    return fits, rest


def _over_quota(question: Question, cohort: NodeId, visited: NodeId) -> Iterator[NodeId]:
    """Yield the queues below a cohort that are over their quota, as are all cohorts on the way."""
    for child in question.tree.children[cohort]:
        if child == visited or question.within_nominal(child, 0):
            continue
        if child[0] == "cohort":
            yield from _over_quota(question, child, visited)
        elif question.cluster.nodes[child].active:
            yield child


def _variant(question: Question, held: Held, *, advantage: bool) -> str:
    if advantage:
        return HIERARCHY
    borrowing = question.policies.get("borrowWithinCohort") or {}
    if borrowing.get("policy", "Never") == "Never" or held.priority >= question.priority:
        return NO_BORROWING
    threshold = borrowing.get("maxPriorityThreshold")
    return NO_BORROWING if threshold is not None and held.priority > threshold else BORROWING


def _attempts(
    question: Question, others: list[Candidate], hierarchy: list[Candidate]
) -> list[bool]:
    borrowing = question.policies.get("borrowWithinCohort") or {}
    forbidden = borrowing.get("policy", "Never") == "Never"
    queue = question.cluster.nodes[question.queue]
    under = all(
        question.tree.usage(question.queue, at, 0) < queue.nominal.get(at, 0)
        for at in question.contested
    )
    if not others or (forbidden and not under):
        return [True]
    return [False, True] if forbidden and not hierarchy else [True, False]


def attempt(question: Question, candidates: list[Candidate], *, borrow: bool) -> Allowed:
    """Return what an attempt asks of one removal."""
    by_index = {each.index: each for each in candidates}

    def allowed(gone: int, index: int) -> bool:
        candidate = by_index[index]
        if candidate.ancestor is None:
            return True
        if borrow and candidate.variant == NO_BORROWING:
            return False
        return not any(
            question.within_nominal(node, gone)
            for node in side(question.tree, candidate.held, candidate.ancestor)
        )

    return allowed


def side(tree: Tree, held: Held, ancestor: NodeId) -> list[NodeId]:
    """List the queue of a workload and the cohorts above it, strictly below an ancestor."""
    queue = "queue", held.queue
    above = tree.above(queue)
    return [queue, *above[: above.index(ancestor)]]
