"""Bounded searches over orders of removals: whatever is asked of each, and classical preemption.

In classical preemption attempts go in turn, and nobody goes once it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, TypeVar

from planner.quota.kueue.amount import add
from planner.quota.kueue.snapshot import Admitted
from planner.quota.kueue.tree import Usage
from planner.verifier.kueue.setting import Setting, Variant

MOST_STATES: Final = 10_000
"""After how many states a search ends without an answer."""


class State(Protocol):
    """A moment of a search: who is gone, in which order."""

    @property
    def order(self) -> tuple[int, ...]:
        """Positions of those who are gone."""
        ...

    @property
    def key(self) -> Hashable:
        """What the rest of the search depends on."""
        ...


Moment = TypeVar("Moment", bound=State)


def search(
    begin: Moment,
    steps: Callable[[Moment], Iterable[Moment]],
    is_end: Callable[[Moment], bool],
    most: int = MOST_STATES,
) -> tuple[bool | None, tuple[int, ...]]:
    """Look for an end, the first step first; no state is visited twice.

    Returns
    -------
        Whether there is one, and the order that leads to it; ``None`` if ``most`` states were
        visited and some are left.
    """
    ahead, seen = [begin], {begin.key}
    visited = 0
    while ahead:
        state = ahead.pop()
        if is_end(state):
            return True, state.order
        visited += 1
        if visited > most:
            return None, ()
        # A stack takes the last first: reversed, the step that came first is followed first.
        for after in reversed(list(steps(state))):
            if after.key not in seen:
                seen.add(after.key)
                ahead.append(after)
    return False, ()


class Ledger:
    """The usage after removals; only the last one is kept, as trees may be large."""

    def __init__(self, setting: Setting, start: Usage, workloads: Sequence[Admitted]) -> None:
        self.setting = setting
        self.workloads = workloads
        self._start = start
        self._last: tuple[frozenset[int], Usage] = (frozenset(), start.copy())
        self._fits: dict[tuple[frozenset[int], bool], bool] = {}

    def usage(self, gone: frozenset[int]) -> Usage:
        """Return the usage without those at some positions; it is not to be changed."""
        before, usage = self._last
        if before != gone:
            # A search mostly goes one further: then removals are continued in place of a new copy.
            usage = usage if before < gone else self._start.copy()
            # In any order: usage depends on who is gone alone (docs/explanation/closed-form.md,
            # Lemma 1).
            for position in gone - before if before < gone else gone:
                usage.remove(self.workloads[position].queue, self.workloads[position].usage)
            self._last = gone, usage
        return usage

    def fits(self, gone: frozenset[int], *, borrowing: bool) -> bool:
        """Say whether the preemptor fits, its request not being counted in the usage."""
        known = self._fits.get((gone, borrowing))
        if known is None:
            known = fits(self.setting, self.usage(gone), borrowing=borrowing)
            self._fits[gone, borrowing] = known
        return known


def fits(setting: Setting, usage: Usage, *, borrowing: bool) -> bool:
    """Say whether the preemptor fits (docs/semantics/kueue.md §5.1 ``workloadFits``)."""
    queue, tree = setting.queue, setting.snapshot.tree
    for fr, asked in setting.searched.items():
        within = add(usage.amount[queue][fr], asked) <= tree.nominal(queue, fr)
        if not (borrowing or within) or asked > max(0, usage.available(queue, fr)):
            return False
    return True


Positions = frozenset[int]


class Gone(NamedTuple):
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
        return search(Gone(()), self._steps, lambda m: m.key == self.everybody, most)

    def enough(self, most: int = MOST_STATES) -> bool | None:
        """Say whether the preemptor fits without some of them, removed in some order."""
        # Fitting is monotone, so where all of them are not enough no part of them is.
        if not self._fits(self.everybody):
            return False
        found, _ = search(Gone(()), self._steps, lambda m: bool(m) and self._fits(m.key), most)
        return found

    def _fits(self, gone: Positions) -> bool:
        return self.ledger.fits(gone, borrowing=self.borrowing)

    def _steps(self, moment: Gone) -> Iterator[Gone]:
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
                yield Gone((*moment.order, position))

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
