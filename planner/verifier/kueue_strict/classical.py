"""Precedence in classical preemption: attempts in turn, and nobody goes once it fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planner.quota.kueue.snapshot import Admitted
from planner.verifier.kueue.setting import Setting, Variant
from planner.verifier.kueue_strict.walk import MOST_STATES, Ledger, search

Positions = frozenset[int]


class Moment(NamedTuple):
    """Who is gone, in which order."""

    order: tuple[int, ...]

    @property
    def key(self) -> Positions:
        """What the rest of the search depends on."""
        return frozenset(self.order)


@dataclass
class AttemptOrders:
    """All orders in which some workloads may be removed in one attempt.

    Source: docs/semantics/kueue.md §5.6.
    """

    setting: Setting
    workloads: Sequence[Admitted]
    borrowing: bool
    stops: bool = False

    def __post_init__(self) -> None:
        """Note all of them, and the usage that removals begin from."""
        self.ledger = Ledger(self.setting, self.setting.snapshot.usage, self.workloads)
        self.everybody = frozenset(range(len(self.workloads)))

    def all_of_them(self, most: int = MOST_STATES) -> tuple[bool | None, tuple[int, ...]]:
        """Look for an order of all; with ``stops``, the preemptor must not fit before the end."""
        return search(Moment(()), self._steps, lambda m: m.key == self.everybody, most)

    def enough(self, most: int = MOST_STATES) -> bool | None:
        """Say whether the preemptor fits without some of them, removed in some order."""
        # Fitting is monotone, so where all of them are not enough no part of them is.
        if not self._fits(self.everybody):
            return False
        found, _ = search(Moment(()), self._steps, lambda m: bool(m) and self._fits(m.key), most)
        return found

    def _fits(self, gone: Positions) -> bool:
        return self.ledger.fits(gone, borrowing=self.borrowing)

    def _steps(self, moment: Moment) -> Iterator[Moment]:
        gone = moment.key
        # Kueue tests fitting after a removal only, never before the first: hence `gone` (§5.6).
        if self.stops and gone and self._fits(gone):
            return
        usage, setting = self.ledger.usage(gone), self.setting
        idle: dict[int, bool] = {}
        # Small ones first: they leave a queue over its quota for longest.
        for position in sorted(self.everybody - gone, key=self._size):
            queue = self.workloads[position].queue
            if queue not in idle:
                idle[queue] = any(
                    usage.within_nominal(node, setting.contested) for node in setting.side(queue)
                )
            if not idle[queue]:
                yield Moment((*moment.order, position))

    def _size(self, position: int) -> tuple[int, ...]:
        held = self.workloads[position].usage
        return tuple(held.get(fr, 0) for fr in sorted(self.setting.contested))


def candidates_of(setting: Setting, *, borrowing: bool) -> list[Admitted]:
    """Return who may go in an attempt at all (§5.3 and §5.6)."""
    return [
        candidate
        for candidate in setting.candidates
        if not borrowing or setting.variant(candidate) is not Variant.RECLAIM_WITHOUT_BORROWING
    ]
