"""Balanced placement: as few domains as possible, and about as many slices on each.

A gate turns it on for preferred levels. It changes where pods go, not whether they fit.

Source: docs/semantics/kueue-topology.md §10.1; kueue ff69552e
pkg/cache/scheduler/tas_balanced_placement.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from planner.reference.kueue.topology.ask import Aim
from planner.reference.kueue.topology.slots import Domain, Orders, sum_up

_ORDERS = Orders(best_fit=True)


class _Greedy(NamedTuple):
    """How many domains a greedy choice uses, and the last ones, with and without the leader."""

    number: int
    last_leader: Domain | None
    last: Domain | None


class _Choice(NamedTuple):
    """The best threshold so far, and the domains that keep it."""

    threshold: int
    number: int
    domains: list[Domain]


class Balance:
    """Chooses the domains from which pods are spread: ``need`` slices, and as many leaders."""

    def __init__(self, aim: Aim, need: int, leader: int) -> None:
        self.aim = aim
        self.need = need
        self.leader = leader

    def choose(self, by_level: Sequence[Sequence[Domain]]) -> list[Domain] | None:
        """Choose among the sets of domains, one set for each parent of the level.

        ``None`` where nothing balanced is found.

        Raises
        ------
        ZeroDivisionError
            If no slice is asked for.
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
        """Return the choice from a set of domains, where it is better than the one so far."""
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
        """Return how many slices each domain can have at least, and what is tried if not."""
        # The domains among which slices are shared: the children above slices' level.
        above = self.aim.level < self.aim.slice_level
        served = [child for domain in some for child in domain.children] if above else some
        greedy = self._greedy(served)
        if greedy is None:
            return None
        # No slice asked for uses no domain, and this divides by zero: Kueue panics there (§10.1).
        least = self.need // greedy.number
        if greedy.last_leader is not None:
            least = min(least, greedy.last_leader.slices_l)
        if greedy.last is not None:
            least = min(least, greedy.last.slices)
        if self.leader and greedy.last is not None:
            return least, min(least, greedy.last.slices_l)
        return least, least

    def _pruned(self, some: Sequence[Domain], least: int) -> tuple[list[Domain], _Greedy | None]:
        """Return copies of domains without those that take less, and what is chosen of them."""
        fresh = [domain.copy() for domain in some]
        # Empty all domains, of two levels, that take fewer slices.
        for domain in fresh:
            for child in domain.children:
                self._trim(child, least)
        for domain in fresh:
            if domain.children:
                # Without the inner layers of slices, as in Kueue.
                sum_up(domain, self.aim, 1, leader=bool(self.leader))
            self._trim(domain, least)
        return fresh, self._greedy(fresh)

    def _greedy(self, some: Sequence[Domain]) -> _Greedy | None:
        """Take domains, the largest first, until all is served; ``None`` where it is not."""
        leader, rest = self.leader, self.need
        number = position = 0
        last_leader = last = None
        ds = _ORDERS.with_leader(some) if leader else list(some)
        while leader > 0 and position < len(ds) and ds[position].lead > 0:
            domain = ds[position]
            last_leader = domain
            leader -= domain.lead
            rest -= domain.slices_l
            number += 1
            position += 1
        if leader > 0:
            return None
        for domain in _ORDERS.plain(ds[position:]):
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
        """Return the fewest domains that serve all with the fewest pods to spare."""
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
                        continue  # it would add nothing
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
        """Give each domain its least, and the rest to the first that take it."""
        extra = self.need - len(found) * least
        out = _ORDERS.with_leader(found)
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
    """Take from a domain and all below it what it takes, or only what it takes with a leader."""
    domain.pods_l = domain.slices_l = domain.lead = 0
    if whole:
        domain.pods = domain.slices = 0
    for child in domain.children:
        _empty(child, whole=whole)


def _entropy(some: Sequence[Domain]) -> float:
    """Return how evenly pods are spread, in bits."""
    total = sum(domain.pods for domain in some)
    shares = (domain.pods / total for domain in some if domain.pods > 0)
    return -sum(share * log2(share) for share in shares)
