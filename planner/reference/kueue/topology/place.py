"""The placement procedure of Kueue for one podset, or one group of workers and their leader.

A gate turns balanced placement on for preferred levels: as few domains as possible, and about as
many slices on each. It changes where pods go, not whether they fit.

Source: docs/semantics/kueue-topology.md §5, §3.4 and §10.1; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``findTopologyAssignment``, ``findLevelWithFitDomains``,
``updateCountsToMinimumGeneric``; tas_balanced_placement.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from msgspec import Struct

from planner.reference.kueue.topology.ask import Aim, Manner, Misfit
from planner.reference.kueue.topology.slots import Domain, LeafCounts, Orders, Wanted, sum_up


class Chosen(NamedTuple):
    """The leaves of a placement in order, each with how many pods of the podset or leader."""

    workers: tuple[tuple[int, int], ...]
    leaders: tuple[tuple[int, int], ...]


class Manners(NamedTuple):
    """What the feature gates say of placement (§10)."""

    mixed: bool = True
    balanced: bool = False


class Short(NamedTuple):
    """Not enough room: how many of the wanted slices fit, and how many slices of each layer."""

    fits: int
    layers: tuple[int, ...] = ()


def place_pods(
    wanted: Wanted, counts: LeafCounts, manners: Manners, scores: Sequence[int] | None = None
) -> Chosen | Misfit | Short:
    """Place the pods of a podset, and the pod of its leader, where Kueue would.

    ``Short`` is returned where there is not enough room, ``Misfit`` where there is no domain.
    """
    aim = wanted.aim
    best_fit = not (manners.mixed and aim.spread)
    orders = Orders(best_fit, scores is not None)
    placement = _Placement(wanted, orders)
    by_level = wanted.domains(counts, scores)
    if manners.balanced and aim.manner is Manner.PREFERRED:
        start = Balance(aim, placement.need, placement.leader, orders).choose(by_level)
        if start is not None:
            return placement.spread(start, chosen_by_balance=True)
    if not by_level[aim.level]:
        return Misfit(f"no topology domains at level: {wanted.tree.levels[aim.level]}")
    found = placement.fitting(by_level, aim.level)
    return found if isinstance(found, Short) else placement.spread(found)


class _Placement:
    """One placement: what is wanted, and the orders by which domains are taken."""

    def __init__(self, wanted: Wanted, orders: Orders) -> None:
        self.tree = wanted.tree
        self.aim = wanted.aim
        self.count = wanted.workers.count
        self.leader = int(wanted.leader is not None)
        self.orders = orders
        self.need = wanted.slices

    def fitting(self, by_level: Sequence[Sequence[Domain]], level: int) -> list[Domain] | Short:
        """Choose the domains, all of one level, that take all slices and the leader (§5.4)."""
        ds = self.orders.with_leader(by_level[level])
        one = self._one(ds)
        if one is not None:
            return [one]
        if self.aim.manner is Manner.REQUIRED:
            # Where the least room comes first, Kueue says how many pods the last domain takes.
            most = ds[0].slices if self.orders.best_fit else ds[-1].pods
            return Short(most, self._layers(ds))
        # One domain of the next level up before several of this one.
        if self.aim.manner is Manner.PREFERRED and level > 0:
            return self.fitting(by_level, level - 1)
        several = self._several(ds)
        if isinstance(several, Short):
            return several._replace(layers=self._layers(ds))
        return several

    def _one(self, ds: Sequence[Domain]) -> Domain | None:
        """Return the domain that takes all slices and the leader alone, if there is one."""
        leader, need, orders = self.leader, self.need, self.orders
        for domain in () if orders.best_fit else ds:
            enough = domain.amount(slices=True, leader=leader > 0) >= need
            if domain.lead >= leader and enough:
                return domain
        # Where preferences come first, a later domain may do; only a required level tries it.
        behind = len(ds) if orders.scored and self.aim.manner is Manner.REQUIRED else 1
        for position in range(behind):
            if ds[position].slices_l >= need and ds[position].lead >= leader:
                if not orders.best_fit:
                    return ds[position]
                return orders.best(ds[position:], need, leader, slices=True)
        return None

    def _layers(self, some: Sequence[Domain]) -> tuple[int, ...]:
        """Return how many slices of each layer fit below the domain that takes most of them.

        Of equal domains the first by id counts. Without inner layers the result is empty.
        """
        if len(self.aim.constraints) <= 1:
            return ()
        found: list[int] = []
        most = max(domain.slices for domain in some)
        below = [min((one for one in some if one.slices == most), key=self._id)]
        for one in self.aim.constraints:
            level = self.tree.level(one.topology)
            while below and below[0].level != level:
                below = [child for domain in below for child in domain.children]
            found.append(sum(domain.pods // one.size for domain in below))
        return tuple(found)

    def _id(self, domain: Domain) -> str:
        """Return the id of a domain: its level values, of a host the last one alone."""
        values = self.tree.values[domain.level][domain.rank]
        is_host = domain.level == self.tree.depth and self.tree.ends_in_host
        return values[-1] if is_host else ",".join(values)

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
                # Here all children compete at once, below the slices' level those of each domain.
                below = self.orders.plain([child for domain in fit for child in domain.children])
                fit = self._take(below, self.count, self.leader, aim.size, slices=True)
        for level in range(fit[0].level if fit else depth, depth):
            size = aim.size if level < aim.slice_level else aim.layers.get(level + 1, 1)
            following: list[Domain] = []
            for domain in fit:
                children = self.orders.plain(domain.children)
                if size > 1:
                    for child in children:
                        # Set after sorting: the order is still that of the counts from below.
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
    """Bring a domain to the front that takes the leader and leaves room enough for all pods."""
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


class _Greedy(NamedTuple):
    """How many domains a greedy choice uses, and the last one taken for the leader, and without."""

    number: int
    last_leader: Domain | None
    last: Domain | None


class _Choice(NamedTuple):
    """The best threshold so far, how many domains it uses, and the set of domains pruned to it."""

    threshold: int
    number: int
    domains: list[Domain]


class Balance(Struct, frozen=True):
    """Chooses the domains from which pods are spread: ``need`` slices and ``leader`` leaders."""

    aim: Aim
    need: int
    leader: int
    orders: Orders

    def choose(self, by_level: Sequence[Sequence[Domain]]) -> list[Domain] | None:
        """Choose among the sets of domains, one set for each parent of the level.

        ``None`` where nothing balanced is found.

        Raises `ZeroDivisionError` if no slice is asked for.
        """
        aim = self.aim
        above = by_level[aim.level - 1] if aim.level else ()
        sets = [parent.children for parent in above] if aim.level else [by_level[0]]
        best = _Choice(0, 0, [])
        for some in sets:
            best = self._better(some, best)
        if best.threshold == 0:
            return None
        chosen = best.domains
        if aim.level < aim.slice_level:
            outer = self._optimal(chosen, by_entropy=True)
            if outer is None:
                return None
            chosen = [child for domain in outer for child in domain.children]
        found = self._optimal(chosen, by_entropy=False)
        # More domains than the threshold serves: balance is given up, best fit takes over.
        if found is None or self.need < len(found) * best.threshold:
            return None
        return self._shared_out(found, best.threshold)

    def _better(self, some: Sequence[Domain], best: _Choice) -> _Choice:
        """Return the choice from a set of domains, or the best so far where that is better."""
        thresholds = self._thresholds(some)
        if thresholds is None or thresholds[0] < best.threshold:
            return best
        least, lower = thresholds
        fresh, greedy = self._pruned(some, least)
        # The leader's domain may not reach the first threshold: a lower one is tried once.
        if greedy is None and lower < least:
            if lower <= 0 or lower < best.threshold:
                return best
            least = lower
            fresh, greedy = self._pruned(some, least)
        if greedy is None:
            return best
        if least > best.threshold or (least == best.threshold and greedy.number < best.number):
            return _Choice(least, greedy.number, fresh)
        return best

    def _thresholds(self, some: Sequence[Domain]) -> tuple[int, int] | None:
        """Return how many slices each domain can have at least, and a lower number to try next."""
        # The domains among which slices are shared: above the slices' level the children.
        above = self.aim.level < self.aim.slice_level
        served = [child for domain in some for child in domain.children] if above else some
        greedy = self._greedy(served)
        if greedy is None:
            return None
        # Without slices no domain is used, and this divides by zero: Kueue panics there (§10.1).
        least = self.need // greedy.number
        if greedy.last_leader is not None:
            least = min(least, greedy.last_leader.slices_l)
        if greedy.last is not None:
            least = min(least, greedy.last.slices)
        if self.leader and greedy.last is not None:
            return least, min(least, greedy.last.slices_l)
        return least, least

    def _pruned(self, some: Sequence[Domain], least: int) -> tuple[list[Domain], _Greedy | None]:
        """Return copies of domains, emptied where they take less, and the greedy choice of them."""
        fresh = [domain.copy() for domain in some]
        # Empty all domains, of two levels, that take fewer slices.
        for domain in fresh:
            for child in domain.children:
                self._trim(child, least)
        for domain in fresh:
            self._sum_up_again(domain)
            self._trim(domain, least)
        return fresh, self._greedy(fresh)

    def _sum_up_again(self, domain: Domain) -> None:
        """Add up from the leaves, without the inner layers of slices, as in Kueue."""
        for child in domain.children:
            self._sum_up_again(child)
        if domain.children:
            sum_up(domain, self.aim, 1, leader=bool(self.leader))

    def _greedy(self, some: Sequence[Domain]) -> _Greedy | None:
        """Take domains, the largest first, until slices and leader fit; ``None`` if they do not."""
        leader, rest = self.leader, self.need
        number = position = 0
        last_leader = last = None
        ds = self.orders.with_leader(some) if leader else list(some)
        while leader > 0 and position < len(ds) and ds[position].lead > 0:
            domain = ds[position]
            last_leader = domain
            leader -= domain.lead
            rest -= domain.slices_l
            number += 1
            position += 1
        if leader > 0:
            return None
        for domain in self.orders.plain(ds[position:]):
            if rest <= 0 or domain.slices == 0:
                break
            last = domain
            rest -= domain.slices
            number += 1
        return None if rest > 0 else _Greedy(number, last_leader, last)

    def _trim(self, domain: Domain, least: int) -> None:
        if domain.slices < least:
            _empty(domain, whole=True)
        elif self.leader and domain.lead > 0 and domain.slices_l < least:
            _empty(domain, whole=False)

    def _optimal(self, some: Sequence[Domain], *, by_entropy: bool) -> list[Domain] | None:
        """Return the fewest domains that take all slices, with the fewest pods to spare."""
        greedy = self._greedy(some)
        if greedy is None:
            return None
        if by_entropy:
            ds = sorted(some, key=lambda d: (-d.lead, -d.slices_l, -_entropy(d.children), d.rank))
        else:
            ds = sorted(some, key=lambda d: d.rank)
        most = greedy.number
        # A knapsack: tables[n] has, of n domains, one choice for each rest of leaders and pods. The
        # first choice for a rest stays, so the order of the domains decides among equals.
        tables: list[dict[tuple[int, int], list[Domain]]] = [{} for _ in range(most + 1)]
        tables[0][self.leader, self.need * self.aim.size] = []
        for domain in ds:
            # Downwards, so that no domain is taken twice.
            for number in range(most, 0, -1):
                into, before = tables[number], tables[number - 1]
                for leaders, pods in sorted(before):
                    if leaders <= 0 and pods <= 0:
                        continue  # another domain would add nothing
                    chosen = before[leaders, pods]
                    if leaders > 0 and domain.lead > 0:
                        key = leaders - domain.lead, pods - domain.pods_l
                        into.setdefault(key, [*chosen, domain])
                    if domain.slices > 0:
                        into.setdefault((leaders, pods - domain.pods), [*chosen, domain])
        served = [pods for leaders, pods in tables[most] if leaders == 0 and pods <= 0]
        # The rest is at most 0: the largest spares the fewest pods.
        return tables[most][0, max(served)] if served else None

    def _shared_out(self, found: Sequence[Domain], least: int) -> list[Domain] | None:
        """Give each domain ``least`` slices, and the rest to the first domains that take it."""
        extra = self.need - len(found) * least
        out = self.orders.with_leader(found)
        for position, domain in enumerate(out):
            domain.lead = int(bool(self.leader) and position == 0)
            if domain.lead:
                take = min(domain.slices_l - least, extra)
            else:
                take = min(domain.slices - least, extra) if extra > 0 else 0
            domain.slices = domain.slices_l = least + take
            domain.pods = domain.slices * self.aim.size
            domain.pods_l = domain.pods - domain.lead
            extra -= take
        return out if extra <= 0 and (out or not self.leader) else None


def _empty(domain: Domain, *, whole: bool) -> None:
    """Set to 0 what a domain and all below it take, or only what they take with a leader."""
    domain.pods_l = domain.slices_l = domain.lead = 0
    if whole:
        domain.pods = domain.slices = 0
    for child in domain.children:
        _empty(child, whole=whole)


def _entropy(some: Sequence[Domain]) -> float:
    """Return the entropy of the pods over domains, in bits: more is more evenly spread."""
    total = sum(domain.pods for domain in some)
    shares = (domain.pods / total for domain in some if domain.pods > 0)
    return -sum(share * log2(share) for share in shares)
