"""The cheapest way to keep one row: what it costs may be more than the measure allows."""

from __future__ import annotations

from math import gcd
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from planner.plan.proof import ByRows
from planner.proof.box import Box
from planner.proof.claims import BETTER
from planner.quota.classes import IntArray
from planner.solver.proving.rows import BoxRows

_OFF: Final = 1e-6
"""The relative error that costs in doubles may have."""


class Cover(NamedTuple):
    """The victims that keep one row at the least cost: of all ``whole`` classes, and of the last.

    Of the ``last`` class so many are to ``spare``.
    """

    whole: IntArray
    last: int
    spare: int

    def within(self, box: Box) -> Box:
        """Return the box of this one set."""
        counts = box.least.copy()
        counts[self.whole] = box.most[self.whole]
        counts[self.last] = max(box.least[self.last], box.most[self.last] - max(0, self.spare))
        return replace(box, least=counts, most=counts)


def one_against_measure(look: BoxRows) -> tuple[ByRows | None, Cover | None]:
    """Weigh one row against the measure: cheapest first, until enough is freed.

    For one row the best multiplier is known: the cost of a unit at which a fractional cover is
    complete. Where no row contradicts the measure so, the dearest cover is returned.
    """
    box, measure = look.box, look.layers.find(BETTER)
    if measure is None:
        return None, None
    costs = np.zeros(box.least.size)
    costs[measure.classes] = -measure.amounts.astype(float)
    # The cost of the certain victims, and of further quantities at their ends.
    certain = float((costs * box.least).sum())
    certain -= sum(c * look.ranges[name][c > 0] for name, c in measure.extra.items())
    most = -float(measure.least)
    dearest, cover = -1.0, None
    for number in look.binding:
        name = look.names[number]
        row = look.row(name)
        if name == BETTER or row.extra or row.least <= 0:
            continue
        classes, amounts = look.entries(number)
        useful = (amounts > 0) & (box.most[classes] > box.least[classes])
        if not useful.any():
            continue
        missing = float(row.least) - float((amounts * box.least[classes]).sum())
        classes, amounts = classes[useful], amounts[useful]
        order = (costs[classes] / amounts).argsort(kind="stable")
        free = (box.most - box.least)[classes[order]]
        covered = (amounts[order] * free).cumsum()
        end = min(int(covered.searchsorted(missing)), order.size - 1)
        last = int(classes[order[end]])
        prices = (costs[classes[order[: end + 1]]] * free[: end + 1]).cumsum()
        price = float(prices[end])
        # The pair says that a set costs at least what the fractional cover does: if that is within
        # the measure, whatever the error of doubles, there is nothing to add up.
        over = float(covered[end]) - missing
        least = certain + price - over * float(costs[last] / amounts[order[end]])
        if least > most - _OFF * (abs(least) + abs(most) + 1.0):
            unit = int(row.amounts[(row.classes == last).argmax()])
            common = gcd(int(costs[last]), unit)
            pair = {name: int(costs[last]) // common, BETTER: unit // common}
            if pair[name] > 0 and look.contradict(pair):
                return ByRows(rows=pair), None
        if price > dearest:
            dearest = price
            cover = Cover(classes[order[:end]], last, int(over // float(amounts[order[end]])))
    return None, cover
