"""How many pods of a shape each leaf and each domain takes, and whether there is room at all.

A search removes one workload after the other, each of which frees a few leaves: whether there is
room is kept up to date leaf by leaf. Room is necessary: without it nothing is placed. One podset,
or one group of workers and their leader, has a place if and only if one domain at the level that it
requires, or else all domains together, hold as many slices as it wants.

Source: docs/semantics/kueue-topology.md §4.1, §5.2, §5.3, §7 and §10; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``fillLeafCounts``, ``fillInCountsHelper``,
``sortedDomains``, ``findBestFitDomainBy``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from planner.quota.kueue.selector import meets_term, untolerated
from planner.quota.kueue.topology import FlavorTree, children_of
from planner.reference.kueue.topology.ask import Aim, Ask, Manner
from planner.state.kueue_topology import Node
from planner.state.pods import PodSpec, Toleration

MOST: Final = 2**31 - 1
"""The most pods that Kueue can count."""

Amounts = Mapping[str, int]
Columns = Sequence[tuple[int | None, int]]
"""A request by columns of a tree; the column is None for a resource that no node has."""


class LeafCounts:
    """The slots of all leaves for a podset, and perhaps the leader of its group.

    ``pods[leaf]`` is how many pods of the podset a leaf takes, ``with_leader[leaf]`` how many
    beside the leader's, ``lead[leaf]`` whether the leader fits there. A leaf that does not qualify
    takes none.
    """

    def __init__(
        self,
        tree: FlavorTree,
        rows: Sequence[Sequence[int]],
        qualified: Sequence[bool],
        workers: Ask,
        leader: Ask | None,
    ) -> None:
        self._tree: Final = tree
        self._rows: Final = rows
        self._qualified: Final = qualified
        self._workers: Final = columns(tree, workers.amounts)
        self._leader: Final = None if leader is None else columns(tree, leader.amounts)
        self.pods: Final = [0] * len(rows)
        # One list for both where there is no leader: the counts are the same.
        self.with_leader: Final = self.pods if leader is None else [0] * len(rows)
        self.lead: Final = [0] * len(rows)
        for leaf, row in enumerate(rows):
            if qualified[leaf]:
                self.count(leaf, row)

    def refresh(self, leaf: int) -> None:
        """Count a leaf again whose row has changed."""
        if self._qualified[leaf]:
            self.count(leaf, self._rows[leaf])

    def without(self, assumed: Mapping[str, Amounts]) -> LeafCounts:
        """Return the counts after earlier podsets took what is ``assumed``, by id of the leaf."""
        leaf_of = self._tree.leaf_of
        here = [(leaf_of[name], assumed[name]) for name in assumed if name in leaf_of]
        if not here:
            return self
        other = LeafCounts.__new__(LeafCounts)
        other.__dict__.update(self.__dict__)
        pods = list(self.pods)
        beside = pods if self._leader is None else list(self.with_leader)
        other.__dict__.update(pods=pods, with_leader=beside, lead=list(self.lead))
        for leaf, amounts in here:
            if self._qualified[leaf]:
                row = list(self._rows[leaf])
                for name, amount in amounts.items():
                    column = self._tree.column_of.get(name)
                    if column is not None:
                        row[column] -= amount
                other.count(leaf, row)
        return other

    def count(self, leaf: int, row: Sequence[int]) -> None:
        """Count what a leaf takes where ``row`` is left on it."""
        self.pods[leaf] = slots(self._workers, row)
        if self._leader is not None:
            # One pod, whatever the leader's count says: the API has it be 1 (§4).
            fits = slots(self._leader, row) > 0
            self.lead[leaf] = int(fits)
            if fits:
                row = list(row)
                for column, amount in self._leader:
                    if column is not None:
                        row[column] -= amount
            self.with_leader[leaf] = slots(self._workers, row)


def columns(tree: FlavorTree, amounts: Amounts) -> Columns:
    """Return a request by columns, without amounts of 0, which limit nothing."""
    return [(tree.column_of.get(name), amount) for name, amount in amounts.items() if amount]


def slots(wanted: Columns, row: Sequence[int]) -> int:
    """Return how many times a request fits into what is left of a leaf."""
    least = MOST
    for column, amount in wanted:
        if column is None:
            return 0
        left = row[column]
        if left < amount:
            return 0
        least = min(least, left // amount)
    return least


class Qualification:
    """Which leaves may take the pods of a podset at all, and why other leaves may not.

    Where leaves are not nodes, every leaf qualifies.
    """

    def __init__(self, tree: FlavorTree, pod: PodSpec, tolerations: Sequence[Toleration]) -> None:
        self._tree = tree
        self._pod = pod
        self._required = pod.required_nodes
        self._tolerations = (*pod.tolerations, *tolerations)
        self.against: Sequence[str] = [
            self._why_not(node) if tree.ends_in_host else "" for node in tree.nodes
        ]
        self.leaves: Sequence[bool] = [not why for why in self.against]

    def _why_not(self, node: Node) -> str:
        for taint in untolerated(node.spec.taints, self._tolerations):
            value = f"={taint.value}" if taint.value else ""
            return f'taint "{taint.key}{value}:{taint.effect}"'
        labels = node.metadata.labels
        if any(labels.get(key) != value for key, value in self._pod.node_selector.items()):
            return "nodeSelector"
        terms = self._required
        return "" if terms is None or any(meets_term(term, node) for term in terms) else "affinity"

    def scores(self) -> list[int] | None:
        """Return the scores of the leaves by the pod's preferences; ``None`` if it has none.

        A leaf that does not qualify has none, and adds none to the domains above it.
        """
        preferred = self._pod.preferred_nodes
        if not preferred or not self._tree.ends_in_host:
            return None
        return [
            sum(one.weight for one in preferred if fits and meets_term(one.preference, node))
            for node, fits in zip(self._tree.nodes, self.leaves, strict=True)
        ]


def excluded(
    wanted: Wanted,
    rows: Sequence[Sequence[int]],
    against: Sequence[str],
    assumed: Mapping[str, Amounts],
) -> Counter[str]:
    """Count the leaves that take no pod, by reason; of short resources the first by name counts.

    ``against`` says what is against each leaf, as a `Qualification` does.
    """
    tree, found = wanted.tree, Counter[str]()
    for leaf, row in enumerate(rows):
        if against[leaf]:
            found[against[leaf]] += 1
            continue
        given = assumed.get(tree.leaf_id(leaf), {})
        for name, amount in sorted(wanted.workers.amounts.items()):
            column = tree.column_of.get(name)
            left = 0 if column is None else row[column] - given.get(name, 0)
            if amount and left < amount:
                found[f'resource "{name}"'] += 1
                break
    return found


@dataclass(slots=True, eq=False)
class Domain:
    """A domain while pods are placed: first what it can take, in the end what it was given.

    ``rank`` is its place in its level, by level values; ``pods_l``, ``slices_l`` are what it takes
    besides the leader, ``lead`` how many leaders it takes.
    """

    level: int
    rank: int
    children: Sequence[Domain] = ()
    pods: int = 0
    pods_l: int = 0
    slices: int = 0
    slices_l: int = 0
    lead: int = 0
    score: int = 0

    def amount(self, *, slices: bool, leader: bool) -> int:
        """Return how many slices, or else pods, the domain takes, perhaps besides the leader."""
        if slices:
            return self.slices_l if leader else self.slices
        return self.pods_l if leader else self.pods

    def copy(self) -> Domain:
        """Return a copy of the domain and of all domains below it."""
        children = [child.copy() for child in self.children]
        own = self.pods, self.pods_l, self.slices, self.slices_l, self.lead, self.score
        return Domain(self.level, self.rank, children, *own)


def sum_up(domain: Domain, aim: Aim, layer: int, *, leader: bool) -> None:
    """Add up what the children of a domain take; their pods count in multiples of ``layer``."""
    pods = slices = lead = score = 0
    least_pods = least_slices = None
    for child in domain.children:
        own, beside = child.pods, child.pods_l
        if layer > 1:
            own, beside = own - own % layer, beside - beside % layer
        pods += own
        slices += child.slices
        score += child.score
        lead = max(lead, child.lead)
        # The leader goes to the child where it costs least; without a leader nothing is lost.
        if child.lead or not leader:
            lost, lost_slices = own - beside, child.slices - child.slices_l
            if least_pods is None or least_slices is None:
                least_pods, least_slices = lost, lost_slices
            else:
                least_pods, least_slices = min(least_pods, lost), min(least_slices, lost_slices)
    domain.pods, domain.slices, domain.lead, domain.score = pods, slices, lead, score
    if least_pods is None or least_slices is None:
        domain.pods_l = domain.slices_l = 0
    else:
        domain.pods_l, domain.slices_l = pods - least_pods, slices - least_slices
    # Slices are formed at their own level: domains below have none, domains above add them up.
    if domain.level == aim.slice_level:
        domain.slices, domain.slices_l = domain.pods // aim.size, domain.pods_l // aim.size


class Orders(NamedTuple):
    """The two orders of domains, by one of two algorithms (§5.3).

    ``best_fit`` takes the largest domain first, and of domains that are enough the smallest; else
    the least free capacity comes first. What pods prefer comes before that: where nothing is
    ``scored``, all domains have the score 0.
    """

    best_fit: bool
    scored: bool

    def plain(self, some: Sequence[Domain]) -> list[Domain]:
        """Return domains in the order ``order``."""
        sign = -1 if self.best_fit else 1
        return sorted(some, key=lambda d: (-d.score, sign * d.slices, d.pods, d.rank))

    def with_leader(self, some: Sequence[Domain]) -> list[Domain]:
        """Return domains in the order ``orderL``: domains that take the leader come first."""
        sign = -1 if self.best_fit else 1
        return sorted(some, key=lambda d: (-d.lead, -d.score, sign * d.slices_l, d.pods_l, d.rank))

    def best(self, some: Sequence[Domain], need: int, leader: int, *, slices: bool) -> Domain:
        """Return the smallest domain that is enough for ``need``; the first where none is."""
        found, least = some[0], None
        for domain in some:
            # What pods prefer comes before the best fit: domains of a lower score are no choice.
            if domain.score != some[0].score:
                break
            if domain.lead < leader:
                continue
            amount = domain.amount(slices=slices, leader=leader > 0)
            if amount >= need and (least is None or amount < least):
                found, least = domain, amount
        return found


class Gauge:
    """How many slices all domains hold, and whether a domain of the aim's level holds enough."""

    def __init__(self, wanted: Wanted, counts: LeafCounts) -> None:
        self._aim: Final = wanted.aim
        self._counts: Final = counts
        self._need: Final = wanted.slices
        self._parents: Final = wanted.tree.parents
        self._held = [[0] * len(some) for some in wanted.tree.values]
        self._enough = self._total = 0
        if self._need > 0:
            for leaf in range(len(counts.pods)):
                self.refresh(leaf)

    @property
    def may_fit(self) -> bool:
        """Whether there may be a placement."""
        if not self._held[self._aim.level]:
            return False
        if self._need <= 0:
            return True
        # The leader is left out: it only takes room, so too little room stays too little.
        if self._aim.manner is Manner.REQUIRED:
            return self._enough > 0
        return self._total >= self._need

    def refresh(self, leaf: int) -> None:
        """Carry the changed count of a leaf up the tree."""
        place, more = leaf, self._counts.pods[leaf] - self._held[-1][leaf]
        for level in range(len(self._held) - 1, -1, -1):
            before = self._held[level][place]
            now = self._held[level][place] = before + more
            before, now = self._passed_on(level, before), self._passed_on(level, now)
            more = now - before
            # Lost in rounding to whole slices or layers: nothing above sees the change.
            if not more:
                return
            if level == self._aim.level:
                self._enough += (now >= self._need) - (before >= self._need)
            if level == 0:
                self._total += more
            else:
                place = self._parents[level][place]

    def _passed_on(self, level: int, held: int) -> int:
        """Return what a domain adds to its parent: whole slices at their level, layers below it."""
        aim = self._aim
        if level == aim.slice_level:
            return held // aim.size
        layer = aim.layers.get(level, 1)
        return held - held % layer


class Wanted(Struct, frozen=True):
    """What a podset, or a group of workers and their leader, wants of the nodes of a flavor."""

    tree: FlavorTree
    aim: Aim
    workers: Ask
    leader: Ask | None
    qualified: Sequence[bool]

    @classmethod
    def for_group(
        cls,
        tree: FlavorTree,
        aim: Aim,
        group: tuple[Ask, Ask | None],
        tolerations: Sequence[Toleration],
    ) -> Wanted:
        """Return what a group (workers, perhaps a leader) wants; ``aim`` is in terms of the tree.

        ``tolerations`` are those of the flavor.
        """
        workers, leader = group
        return cls(tree, aim, workers, leader, Qualification(tree, workers.pod, tolerations).leaves)

    @property
    def slices(self) -> int:
        """How many slices are wanted; of size 1 a slice is a pod."""
        return self.workers.count // self.aim.size

    @property
    def is_required(self) -> bool:
        """Whether one domain must hold everything; otherwise all of the flavor may share it."""
        return self.aim.manner is Manner.REQUIRED

    def counts(self, rows: Sequence[Sequence[int]]) -> LeafCounts:
        """Count the pods that each leaf takes; ``rows`` is what is left on each, by columns."""
        return LeafCounts(self.tree, rows, self.qualified, self.workers, self.leader)

    def domains(
        self, counts: LeafCounts, scores: Sequence[int] | None = None
    ) -> list[list[Domain]]:
        """Return all domains, level by level, with what they take (§5.2)."""
        tree, aim = self.tree, self.aim
        leaves = []
        size = aim.size if aim.slice_level == tree.depth else 0
        for rank, pods in enumerate(counts.pods):
            leaf = Domain(tree.depth, rank)
            leaf.pods, leaf.pods_l = pods, counts.with_leader[rank]
            leaf.lead = counts.lead[rank]
            if size:
                leaf.slices, leaf.slices_l = leaf.pods // size, leaf.pods_l // size
            if scores is not None:
                leaf.score = scores[rank]
            leaves.append(leaf)
        by_level = [leaves]
        for level in range(tree.depth - 1, -1, -1):
            below = by_level[0]
            here = [
                Domain(level, rank, below[some.start : some.stop])
                for rank, some in enumerate(tree.children[level])
            ]
            for domain in here:
                layer = aim.layers.get(level + 1, 1)
                sum_up(domain, aim, layer, leader=self.leader is not None)
            by_level.insert(0, here)
        return by_level

    def held(self, counts: LeafCounts) -> list[list[int]]:
        """Return how many slices each domain holds, besides the leader, level by level.

        Domains below the level of the slices hold none.
        """
        levels = self.domains(counts)
        if self.leader is None:
            return [[domain.slices for domain in some] for some in levels]
        return [[domain.slices_l if domain.lead else 0 for domain in some] for some in levels]

    def held_in_all(self, counts: LeafCounts) -> int:
        """Return how many slices all domains together hold, besides the leader."""
        top = self.domains(counts)[0]
        held = sum(domain.slices for domain in top)
        if self.leader is None:
            return held
        lost = [domain.slices - domain.slices_l for domain in top if domain.lead]
        return held - min(lost) if lost else 0

    def below(self, level: int, rank: int) -> tuple[Wanted, range]:
        """Return this request in one domain as its tree, and the leaves of ``tree`` below that."""
        tree = self.tree
        spans = list(_spans(tree, level, rank))
        leaves = spans[-1]
        values = [tree.values[n][span.start : span.stop] for n, span in enumerate(spans)]
        alone = replace(
            tree,
            values=values,
            children=children_of(values),
            leaf_of={tree.leaf_id(leaf): leaf - leaves.start for leaf in leaves},
            nodes=tree.nodes[leaves.start : leaves.stop],
            free=tree.free[leaves.start : leaves.stop],
        )
        qualified = self.qualified[leaves.start : leaves.stop]
        return replace(self, tree=alone, qualified=qualified), leaves


def _spans(tree: FlavorTree, level: int, rank: int) -> Iterator[range]:
    """Yield for each level the domain on the path to a domain, or all domains below it."""
    own = tree.values[level][rank]
    for above in range(level):
        place = bisect_left(tree.values[above], own[: above + 1])
        yield range(place, place + 1)
    span = range(rank, rank + 1)
    yield span
    for children in tree.children[level:]:
        span = range(children[span.start].start, children[span.stop - 1].stop)
        yield span
