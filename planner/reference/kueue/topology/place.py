"""The placement procedure of Kueue for one podset, or one group of workers and their leader.

Source: docs/semantics/kueue-topology.md §5 and §3.4; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``findTopologyAssignment``, ``findLevelWithFitDomains``,
``updateCountsToMinimumGeneric``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from planner.quota.kueue.topology_tree import FlavorTree
from planner.reference.kueue.topology.ask import Aim, Ask, Manner, Misfit
from planner.reference.kueue.topology.balanced import Balance
from planner.reference.kueue.topology.slots import Domain, LeafCounts, Orders, domains_of


class Chosen(NamedTuple):
    """The leaves of a placement in order, each with how many pods of the podset or leader."""

    workers: tuple[tuple[int, int], ...]
    leaders: tuple[tuple[int, int], ...]


class Manners(NamedTuple):
    """What the feature gates say of placement (§10)."""

    mixed: bool = True
    balanced: bool = False


class Short(NamedTuple):
    """So many of the slices that are wanted fit, and so many of each layer of slices."""

    fits: int
    layers: tuple[int, ...] = ()


def place(  # noqa: PLR0913, PLR0917 - what a placement depends on
    tree: FlavorTree,
    aim: Aim,
    counts: LeafCounts,
    workers: Ask,
    leader: Ask | None,
    manners: Manners,
    scores: Sequence[int] | None = None,
) -> Chosen | Misfit | Short:
    """Place the pods of a podset, and the one of its leader, where Kueue would.

    ``Short`` is returned where there is not enough room, ``Misfit`` where there is no domain.
    """
    best_fit = not (manners.mixed and aim.manner is Manner.UNCONSTRAINED)
    orders = Orders(best_fit, scores is not None)
    placement = _Placement(tree, aim, workers.count, int(leader is not None), orders)
    by_level = domains_of(tree, counts, aim, scores, leader=leader is not None)
    if not by_level[aim.level]:
        return Misfit(f"no topology domains at level: {tree.levels[aim.level]}")
    if manners.balanced and aim.manner is Manner.PREFERRED:
        start = Balance(aim, placement.need, placement.leader).choose(by_level)
        if start is not None:
            return placement.spread(start, chosen_by_balance=True)
    found = placement.fitting(by_level, aim.level)
    return found if isinstance(found, Short) else placement.spread(found)


class _Placement:
    """One placement: what is wanted, and the orders by which domains are taken."""

    def __init__(self, tree: FlavorTree, aim: Aim, count: int, leader: int, orders: Orders) -> None:
        self.tree = tree
        self.aim = aim
        self.count = count
        self.leader = leader
        self.orders = orders
        self.need = count // aim.size

    def fitting(self, by_level: Sequence[Sequence[Domain]], level: int) -> list[Domain] | Short:
        """Choose the domains, all of one level, that take everything (§5.4)."""
        ds = self.orders.with_leader(by_level[level])
        one = self._one(ds)
        if one is not None:
            return [one]
        if self.aim.manner is Manner.REQUIRED:
            return Short(ds[0].slices, self._layers([ds[0]]))
        # One domain of the next level up before several of this one.
        if self.aim.manner is Manner.PREFERRED and level > 0:
            return self.fitting(by_level, level - 1)
        several = self._several(ds)
        if isinstance(several, Short):
            return several._replace(layers=self._layers(by_level[0]))
        return several

    def _one(self, ds: Sequence[Domain]) -> Domain | None:
        """Return the domain that takes everything alone, if there is one."""
        leader, need, orders = self.leader, self.need, self.orders
        for domain in () if orders.best_fit else ds:
            enough = domain.amount(slices=True, leader=leader > 0) >= need
            if domain.lead >= leader and enough:
                return domain
        # Where what pods prefer comes first, one behind may do; only a required level needs it.
        behind = len(ds) if orders.scored and self.aim.manner is Manner.REQUIRED else 1
        for position in range(behind):
            if ds[position].slices_l >= need and ds[position].lead >= leader:
                if not orders.best_fit:
                    return ds[position]
                return orders.best(ds[position:], need, leader, slices=True)
        return None

    def _layers(self, some: Sequence[Domain]) -> tuple[int, ...]:
        """Return how many slices of each layer there are below some domains, where there are any.

        Kueue's own numbers of inner layers are sometimes smaller; they are in messages only.
        """
        if len(self.aim.constraints) <= 1:
            return ()
        found, below = [], list(some)
        for one in self.aim.constraints:
            level = self.tree.level(one.topology)
            while below and below[0].level != level:
                below = [child for domain in below for child in domain.children]
            found.append(sum(domain.pods // one.size for domain in below))
        return tuple(found)

    def _several(self, some: Sequence[Domain]) -> list[Domain] | Short:
        leader, rest, best_fit = self.leader, self.need, self.orders.best_fit
        ds = leader_first(some, self.count, leader, self.aim.size, slices=True)
        chosen: list[Domain] = []
        position = 0
        while leader > 0 and position < len(ds) and ds[position].lead > 0:
            domain = ds[position]
            if best_fit and domain.slices_l >= rest:
                domain = self.orders.best(ds[position:], rest, leader, slices=True)
            chosen.append(domain)
            leader -= domain.lead
            rest -= domain.slices_l
            position += 1
        if leader > 0:
            return Short(self.need - rest)
        ds = self.orders.plain(ds[position:])
        for position, each in enumerate(ds):
            if rest <= 0:
                break
            domain = each
            if best_fit and domain.slices >= rest:
                domain = self.orders.best(ds[position:], rest, 0, slices=True)
            chosen.append(domain)
            rest -= domain.slices
        return chosen if rest <= 0 else Short(self.need - rest)

    def spread(self, start: Sequence[Domain], *, chosen_by_balance: bool = False) -> Chosen:
        """Give the pods to the leaves below the chosen domains (§5.5, §5.6)."""
        aim, depth = self.aim, self.tree.depth
        fit = list(start)
        if not chosen_by_balance:
            fit = self._take(fit, self.count, self.leader, aim.size, slices=True)
            for _ in range(start[0].level if start else depth, min(depth, aim.slice_level)):
                # Here all children compete at once, below the slices' level those of one domain.
                below = self.orders.plain([child for domain in fit for child in domain.children])
                fit = self._take(below, self.count, self.leader, aim.size, slices=True)
        for level in range(fit[0].level if fit else depth, depth):
            size = aim.size if level < aim.slice_level else aim.layers.get(level + 1, 1)
            following: list[Domain] = []
            for domain in fit:
                children = self.orders.plain(domain.children)
                if size > 1:
                    for child in children:
                        # After sorting: the order is still that of the counts from below.
                        child.slices = child.pods // size
                        child.slices_l = child.pods_l // size
                pods, lead = domain.pods, domain.lead
                following += self._take(children, pods, lead, size, slices=size > 1)
            fit = following
        fit.sort(key=lambda domain: domain.rank)
        return Chosen(
            tuple((leaf.rank, leaf.pods) for leaf in fit if leaf.pods > 0),
            tuple((leaf.rank, leaf.lead) for leaf in fit if leaf.lead > 0),
        )

    def _take(
        self, some: Sequence[Domain], count: int, leader: int, size: int, *, slices: bool
    ) -> list[Domain]:
        """Give pods to domains in their order, no more than they take (``take`` of §5.5)."""
        ds = leader_first(some, count, leader, size, slices=slices)
        rest, factor = (count // size, size) if slices else (count, 1)
        out: list[Domain] = []
        for position, each in enumerate(ds):
            domain, beside = each, leader > 0
            enough = domain.amount(slices=slices, leader=beside) >= rest and domain.lead >= leader
            if self.orders.best_fit and enough:
                domain = self.orders.best(ds[position:], rest, leader, slices=slices)
            amount = domain.amount(slices=slices, leader=beside)
            done = amount >= rest and domain.lead >= leader
            here, domain.lead = min(amount, rest), min(domain.lead, leader)
            if slices:
                domain.slices = domain.slices_l = here
            domain.pods = here * factor
            leader -= domain.lead
            rest -= here
            out.append(domain)
            if done:
                return out
        return []


def leader_first(
    some: Sequence[Domain], count: int, leader: int, size: int, *, slices: bool
) -> list[Domain]:
    """Bring a domain to the front that takes the leader and leaves enough for the others."""
    ds = list(some)
    if leader == 0 or len(ds) < 2:  # noqa: PLR2004 - one alone is in front
        return ds
    have = sum(domain.amount(slices=slices, leader=False) for domain in ds)
    need = count // size if slices else count
    for position, domain in enumerate(ds):
        own = domain.amount(slices=slices, leader=False)
        lost = own - domain.amount(slices=slices, leader=True)
        if domain.lead >= leader and have - lost >= need:
            return [domain, *ds[:position], *ds[position + 1 :]]
    return ds
