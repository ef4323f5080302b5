"""Admission fair sharing: what LocalQueues used in the past, and the orders that follow from it.

The numbers are doubles, as in Kueue, and those of the last sample: Kueue does not let them decay to
the present, and what it adds for workloads admitted since then is in its memory only.

Source: docs/semantics/kueue-features.md §3; kueue ff69552e
pkg/util/admissionfairsharing/admission_fair_sharing.go ``CalculateUsage`` and
pkg/scheduler/preemption/common/ordering.go ``CandidatesOrdering``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

from msgspec import Struct

from planner.quantity import approximate
from planner.state.kueue import ClusterQueue, LocalQueue, State

USAGE_BASED: Final = "UsageBasedAdmissionFairSharing"


class PastUse:
    """What every LocalQueue used in the past by the weights of the Configuration."""

    def __init__(self, state: State) -> None:
        settings = state.configuration.admission_fair_sharing
        self._on: Final = state.configuration.admission_fair_sharing_on
        self._weights: Final = settings.resource_weights if settings else {}
        self._weighs_nothing: Final = state.configuration.rules.past_use_of_no_weight
        self._queues: Final = {
            (one.metadata.namespace, one.metadata.name): one for one in state.local_queues
        }
        self._known: Final[dict[tuple[str, str], float]] = {}

    def orders(self, queue: ClusterQueue) -> bool:
        """Say whether a ClusterQueue orders by the past use of its LocalQueues."""
        scope = queue.spec.admission_scope
        return self._on and scope is not None and scope.admission_mode == USAGE_BASED

    def used_by(self, namespace: str, name: str) -> float:
        """Return the past use of a LocalQueue; one that is not in the dump used nothing."""
        key = namespace, name
        if key not in self._known:
            queue = self._queues.get(key)
            self._known[key] = self._weighted(queue) if queue else 0.0
        return self._known[key]

    def _weighted(self, queue: LocalQueue) -> float:
        """Return what a LocalQueue used: weighted resources, by name, over its own weight."""
        weight = approximate(queue.spec.fair_sharing.weight)
        consumed, used = queue.status.fair_sharing.admission.consumed, 0.0
        # In Kueue's order: doubles added in another order may differ in the last digit.
        for resource in sorted(consumed):
            used += self._weights.get(resource, 1.0) * approximate(consumed[resource])
        if weight > 0:
            return used / weight
        # Such workloads come last in the queue, and first as victims, also where nothing was used.
        # Older releases divide by 0: 0 / 0 is no number, and Go sorts that before all numbers.
        return inf if used or self._weighs_nothing else -inf


class Contender(NamedTuple):
    """One of the workloads that are put in order.

    ``base`` is its sort key without admission fair sharing; ``queue`` the ClusterQueue;
    ``local_queue`` the name of its LocalQueue, without namespace; ``past`` the past use of that,
    ``None`` where the ClusterQueue does not order by past use.
    """

    base: tuple[Hashable, ...]
    queue: int
    local_queue: str
    past: float | None

    def by_past_use(self, other: Contender) -> bool:
        """Say whether past use decides between two: LocalQueues of one name are never compared."""
        return (
            self.queue == other.queue
            and self.local_queue != other.local_queue
            and self.past is not None
            and other.past is not None
            and self.past != other.past
        )

    def precedes(self, other: Contender) -> bool:
        """Say whether Kueue puts this one before another."""
        if self.by_past_use(other):
            return (self.past or 0.0) > (other.past or 0.0)
        return self.base < other.base


class Contest(Struct, frozen=True, dict=True):
    """Contenders: of any two of them, one precedes the other.

    Kueue sorts by that relation although it need not be transitive: x before y by past use, y
    before z and z before x by priority.
    """

    contenders: Sequence[Contender]

    @cached_property
    def _wins(self) -> Sequence[int]:
        """How many others each contender precedes, counted by LocalQueue, not one by one."""
        cells: dict[tuple[int, str, float | None], list[Contender]] = {}
        for one in self.contenders:
            cells.setdefault((one.queue, one.local_queue, one.past), []).append(one)
        bases = {cell: sorted(one.base for one in some) for cell, some in cells.items()}
        wins = []
        for one in self.contenders:
            won = 0
            for cell, some in cells.items():
                if one.by_past_use(some[0]):
                    won += len(some) if one.precedes(some[0]) else 0
                else:
                    won += len(some) - bisect_right(bases[cell], one.base)
            wins.append(won)
        return wins

    @property
    def is_total(self) -> bool:
        """Whether only one order is possible: no circle, so no two contenders win equally often."""
        return len(set(self._wins)) == len(self.contenders)

    def order(self) -> list[int]:
        """Return positions: contenders that precede more others are first, then by the base key."""
        return sorted(
            range(len(self.contenders)),
            key=lambda position: (-self._wins[position], self.contenders[position].base),
        )

    def sorted_from(self, start: Sequence[int]) -> list[int]:
        """Return positions as an insertion sort leaves them that begins with the order ``start``.

        That is how Kueue sorts up to twelve contenders; where there is a circle, ``start`` decides.
        """
        done: list[int] = []
        for position in start:
            at = len(done)
            while at and self.contenders[position].precedes(self.contenders[done[at - 1]]):
                at -= 1
            done.insert(at, position)
        return done
