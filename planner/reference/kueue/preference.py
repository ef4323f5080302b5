"""Which of two flavors Kueue prefers, and when its walk over the flavors stops.

Source: docs/semantics/kueue.md §4.5 and §4.6; kueue ff69552e
pkg/scheduler/flavorassigner/flavorassigner.go ``isPreferred``, ``shouldTryNextFlavor``.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from planner.quota.kueue.assignment import Mode
from planner.state.kueue import Configuration
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


class Taste(NamedTuple):
    """What decides between two offers.

    ``level_first`` says that a lower borrow level comes before a better possibility;
    ``empty_last`` that having nobody to preempt is worse than anything else that is left.
    """

    level_first: bool
    empty_last: bool


def taste_of(fungibility: FlavorFungibility, configuration: Configuration) -> Taste:
    """Return what decides in a ClusterQueue, under the rules of the release of Kueue.

    Older releases take each preference for the other one (switch 1 of
    planner/state/kueue_release.py), and a gate chooses one where none is given (17).
    """
    preference, rules = fungibility.preference, configuration.rules
    if preference is not None:
        named = preference == "PreemptionOverBorrowing"
        level_first = named == rules.preference_as_named
    else:
        level_first = (
            configuration.gate("FlavorFungibilityImplicitPreferenceDefault")
            and fungibility.when_can_borrow == "TryNextFlavor"
        )
    return Taste(level_first, rules.no_candidates_last)


def is_preferred(a: Offer, b: Offer, taste: Taste) -> bool:
    """Say whether a is strictly preferred over b; equal offers are not."""
    if a.possibility is Possibility.NO_FIT:
        return False
    if b.possibility is Possibility.NO_FIT:
        return True
    a_empty = a.possibility is Possibility.NO_CANDIDATES
    b_empty = b.possibility is Possibility.NO_CANDIDATES
    # Before any preference: a flavor where nobody can be evicted only waits (§4.5).
    if taste.empty_last and a_empty != b_empty:
        return b_empty
    if taste.level_first:
        return (-a.level, a.possibility) > (-b.level, b.possibility)
    return (a.possibility, -a.level) > (b.possibility, -b.level)


def tries_next(offer: Offer, fungibility: FlavorFungibility) -> bool:
    """Say whether the walk goes on to the next flavor after this one."""
    if offer.possibility in {Possibility.NO_FIT, Possibility.NO_CANDIDATES}:
        return True
    if offer.possibility is not Possibility.FIT and fungibility.when_can_preempt == "TryNextFlavor":
        return True
    # Also for one that preempts: above level 0 both settings must say stop (§4.6).
    return offer.level > 0 and fungibility.when_can_borrow == "TryNextFlavor"
