"""The laws of fair sharing that tie victims together (docs/design/theory.md §2.3).

Shares are compared in exact integers here, where Kueue compares doubles. Where rounding could
decide otherwise, the model permits the set: the verifier judges the solver's answers in doubles,
and a set that fails there is cut off.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from typing import TYPE_CHECKING, Final

from planner.laws import Register
from planner.laws.kueue import FS_BORROWING, FS_FITS, FS_SHARES
from planner.models.kueue.laws import fits
from planner.models.shared.builder import ZERO, Builder, Linear, negation

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation

STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law of fair sharing is stated over a formulation, by the law's id."""

STATED.of(FS_FITS)(fits)

_EXACT_IN_DOUBLES = 2**49
"""Different integers below it still differ as doubles, even after a few roundings."""

_LARGEST = 2**59

Excess = Mapping[str, Linear]
"""Per resource, how much a node uses beyond its quota, summed over flavors."""


@STATED.of(FS_BORROWING)
def borrowing_until_last_victim(formulation: Formulation) -> None:
    """FS-06: every touched node below its LCA has a last victim that finds it borrowing.

    As KQ-07, but in any flavor-resource that has a quota entry at the node or below.

    Source: kueue ff69552e fairsharing/ordering.go ``nextTarget``; docs/design/theory.md §2.3.
    """
    for node in formulation.last_victims.side_nodes():
        formulation.last_victims.require_over_quota(node, formulation.fair.known[node])


@STATED.of(FS_SHARES)
def shares(formulation: Formulation) -> None:
    """FS-07: below the LCA, the preemptor's side is no more unfair than the victim's.

    For every touched child a of a path cohort A, with b the child of A on the path, all usages
    with the request counted, and a' the child a with its last victim put back:

        share(b) <= share(a)    where LessThanOrEqualToFinalShare is configured, or
        share(b) <  share(a')   where LessThanInitialShare is.

    Source: kueue ff69552e fairsharing/strategy.go; docs/design/theory.md §2.3.
    """
    fair, problem = formulation.fair, formulation.problem
    if fair.within_nominal:
        return
    last_victims = formulation.last_victims
    for side in last_victims.side_nodes():
        above = problem.parent[side]
        if above in problem.path:
            mine = problem.path[problem.path.index(above) - 1]
            _Comparison(formulation, above, mine, side).state(last_victims.touched(side))


class _Comparison:
    """A comparison of the shares of two children of a cohort: the preemptor's and the victim's."""

    def __init__(self, formulation: Formulation, above: int, mine: int, theirs: int) -> None:
        self.formulation = formulation
        self.builder: Builder = formulation.builder
        self.fair = formulation.fair
        self.lendable = {r: n for r, n in self.fair.lendable[above].items() if n > 0}
        self.mine, self.theirs = mine, theirs
        weight = self.fair.weight_nano
        # Weights count by their ratio only; in lowest terms the products below stay small.
        unit = gcd(weight[mine], weight[theirs]) or 1
        self.my_weight, self.their_weight = weight[mine] // unit, weight[theirs] // unit

    def state(self, touched: int) -> None:
        """Require that a configured strategy holds if the victim's side is touched."""
        formulation = self.formulation
        mine = self._excess(self.mine, formulation.usage_with_request.after)
        options = []
        if "LessThanOrEqualToFinalShare" in self.fair.strategies:
            after = self._excess(self.theirs, formulation.usage.after)
            options.append(self._option(mine, after, strict=False))
        if "LessThanInitialShare" in self.fair.strategies:
            before = self._excess(self.theirs, formulation.last_victims.with_last)
            options.append(self._option(mine, before, strict=True))
        self.builder.any_of([*options, negation(touched)])

    def _excess(self, node: int, usage: Callable[[int, int], Linear]) -> Excess:
        problem = self.formulation.problem
        excess: dict[str, Linear] = {}
        for fr in self.fair.known[node]:
            resource = problem.frs[fr].resource
            # A resource that cannot be lent has no ratio: it has no part in a share.
            if resource in self.lendable:
                over = usage(node, fr) - problem.quota[node][fr]
                part = self.builder.positive_part(over)
                excess[resource] = excess.get(resource, ZERO) + part
        return excess

    def _option(self, mine: Excess, theirs: Excess, *, strict: bool) -> int:
        """Return a literal that implies share(mine) <= share(theirs), or < if strict."""
        builder = self.builder
        option = builder.new_bool()
        # A share of 0 is above no other; if only our side has weight 0, this is the only way.
        witnesses = [] if strict else [self._nothing_borrowed(mine)]
        if self.my_weight == 0 and self.their_weight > 0:
            if strict:
                witnesses.append(self._nothing_borrowed(mine))
                builder.any_of(self._borrowed(theirs), when=witnesses)
        elif self.my_weight > 0 and self.their_weight == 0:
            witnesses += self._borrowed(theirs)  # infinite, above anything finite
        else:
            witnesses += [
                self._dominated(mine, resource, excess, strict=strict)
                for resource, excess in theirs.items()
            ]
        builder.any_of([*witnesses, negation(option)])
        return option

    def _nothing_borrowed(self, excess: Excess) -> int:
        witness = self.builder.new_bool()
        for part in excess.values():
            self.builder.add(part <= 0, when=[witness])
        return witness

    def _borrowed(self, excess: Excess) -> list[int]:
        witnesses = [self.builder.new_bool() for _ in excess]
        for part, witness in zip(excess.values(), witnesses, strict=True):
            self.builder.add(part >= 1, when=[witness])
        return witnesses

    def _dominated(self, mine: Excess, resource: str, theirs: Linear, *, strict: bool) -> int:
        """Return a literal: if true, no ratio of mine is above theirs of this resource."""
        builder, witness = self.builder, self.builder.new_bool()
        # Otherwise 0 < 0 would pass where the preemptor's side can borrow nothing.
        if strict:
            builder.add(theirs >= 1, when=[witness])
        # Two sides of weight 0 that both borrow are compared without weights.
        both_zero = self.my_weight == 0 and self.their_weight == 0
        for own, excess in mine.items():
            # excess / (lendable * weight) <= theirs / (lendable * weight), cross-multiplied.
            left = self.lendable[resource] * (1 if both_zero else self.their_weight)
            right = self.lendable[own] * (1 if both_zero else self.my_weight)
            unit = gcd(left, right)
            left, right = left // unit, right // unit
            largest = max(left * builder.bounds(excess)[1], right * builder.bounds(theirs)[1])
            exact = self.my_weight == self.their_weight and largest < _EXACT_IN_DOUBLES
            shift = max(0, largest.bit_length() - _LARGEST.bit_length())
            # Our factor is rounded down and theirs up: the row only permits more sets.
            left, right = left >> shift, -(-right >> shift)
            slack = 0 if exact else (largest >> shift) // _EXACT_IN_DOUBLES + 1
            most = -1 if strict and exact else slack
            builder.add(left * excess - right * theirs <= most, when=[witness])
        return witness
