"""Which of two flavors Kueue prefers, and when its walk over the flavors stops.

Source: docs/semantics/kueue.md §4.5 and §4.6; kueue ff69552e
pkg/scheduler/flavorassigner/flavorassigner.go ``isPreferred``, ``shouldTryNextFlavor``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from planner.assignment import Mode
from planner.state.queues import FlavorFungibility


class Possibility(IntEnum):
    """What a flavor-resource offers, from worst to best."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def mode(self) -> Mode:
        """The mode that an assignment shows: having no candidates shows as Preempt too."""
        if self is Possibility.NO_FIT:
            return "NoFit"
        return "Fit" if self is Possibility.FIT else "Preempt"


class Offer(NamedTuple):
    """What a flavor-resource offers, and the height of the subtree it would borrow from."""

    possibility: Possibility
    level: int


WORST = Offer(Possibility.NO_FIT, 2**31)
BEST = Offer(Possibility.FIT, 0)


def is_preferred(a: Offer, b: Offer, fungibility: FlavorFungibility) -> bool:
    """Say whether a is strictly preferred over b; equal offers are not."""
    if a.possibility is Possibility.NO_FIT:
        return False
    if b.possibility is Possibility.NO_FIT:
        return True
    a_empty = a.possibility is Possibility.NO_CANDIDATES
    b_empty = b.possibility is Possibility.NO_CANDIDATES
    if a_empty != b_empty:
        return b_empty
    if fungibility.preference == "PreemptionOverBorrowing":
        return (-a.level, a.possibility) > (-b.level, b.possibility)
    return (a.possibility, -a.level) > (b.possibility, -b.level)


def tries_next(offer: Offer, fungibility: FlavorFungibility) -> bool:
    """Say whether the walk goes on to the next flavor after this one."""
    if offer.possibility in {Possibility.NO_FIT, Possibility.NO_CANDIDATES}:
        return True
    if offer.possibility is not Possibility.FIT and fungibility.when_can_preempt == "TryNextFlavor":
        return True
    return offer.level > 0 and fungibility.when_can_borrow == "TryNextFlavor"
