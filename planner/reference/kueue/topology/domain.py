"""Domains in one evaluation: how many pods and slices each takes, and the orders among them.

Source: docs/semantics/kueue-topology.md §5.2, §5.3 and §10; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``fillInCountsHelper``, ``sortedDomains``,
``findBestFitDomainBy``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.quota.kueue.topology_tree import FlavorTree
from planner.reference.kueue.topology.ask import Aim
from planner.reference.kueue.topology.slots import LeafCounts


@dataclass(slots=True, eq=False)
class Domain:
    """A domain while pods are placed: first what it takes, and in the end what it was given.

    ``rank`` is its place among those of its level, by level values; ``pods_l``, ``slices_l`` are
    what it takes besides the leader, ``lead`` how many leaders.
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
        """Return how many slices, or else pods, it takes, perhaps besides the leader."""
        if slices:
            return self.slices_l if leader else self.slices
        return self.pods_l if leader else self.pods

    def copy(self) -> Domain:
        """Return a copy of it and of everything below."""
        children = [child.copy() for child in self.children]
        own = self.pods, self.pods_l, self.slices, self.slices_l, self.lead, self.score
        return Domain(self.level, self.rank, children, *own)


def domains_of(
    tree: FlavorTree,
    counts: LeafCounts,
    aim: Aim,
    scores: Sequence[int] | None,
    *,
    leader: bool,
) -> list[list[Domain]]:
    """Return all domains, level by level, with what they take (§5.2)."""
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
            sum_up(domain, aim, aim.layers.get(level + 1, 1), leader=leader)
        by_level.insert(0, here)
    return by_level


def sum_up(domain: Domain, aim: Aim, layer: int, *, leader: bool) -> None:
    """Add up what the children of a domain take; ``layer`` is by which size their pods count."""
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
        # The leader goes where it costs least; without one, nothing is lost anywhere.
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
    # Slices are formed at their own level: what is below has none, and above they are added up.
    if domain.level == aim.slice_level:
        domain.slices, domain.slices_l = domain.pods // aim.size, domain.pods_l // aim.size


class Orders(NamedTuple):
    """The two orders of domains, by one of two algorithms (§5.3).

    ``best_fit`` takes the largest first, and of those that are enough the smallest; otherwise the
    least free capacity comes first. By ``scored`` what pods prefer comes before that.
    """

    best_fit: bool
    scored: bool = False

    def plain(self, some: Sequence[Domain]) -> list[Domain]:
        """Return domains in the order ``order``."""
        sign = -1 if self.best_fit else 1
        if self.scored:
            return sorted(some, key=lambda d: (-d.score, sign * d.slices, d.pods, d.rank))
        return sorted(some, key=lambda d: (sign * d.slices, d.pods, d.rank))

    def with_leader(self, some: Sequence[Domain]) -> list[Domain]:
        """Return domains in the order ``orderL``: those first that take the leader."""
        sign = -1 if self.best_fit else 1
        if self.scored:
            return sorted(
                some, key=lambda d: (-d.lead, -d.score, sign * d.slices_l, d.pods_l, d.rank)
            )
        return sorted(some, key=lambda d: (-d.lead, sign * d.slices_l, d.pods_l, d.rank))

    def best(self, some: Sequence[Domain], need: int, leader: int, *, slices: bool) -> Domain:
        """Return the smallest domain that is enough; the first where none is."""
        found, least = some[0], None
        for domain in some:
            # What pods prefer comes before the best fit: domains of a lower score are no choice.
            if self.scored and domain.score != some[0].score:
                break
            if domain.lead < leader:
                continue
            amount = domain.amount(slices=slices, leader=leader > 0)
            if amount >= need and (least is None or amount < least):
                found, least = domain, amount
        return found
