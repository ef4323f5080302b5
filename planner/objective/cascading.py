"""What a search knows of the term D11, which no formula tells.

Whether a victim would preempt again is a decision of the scheduler on the state after the plan.
So D11 is asked for whole victim sets, and every answer also holds for others: a cut of the search,
as in logic-based Benders decomposition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, Protocol

CASCADE: Final = ("D11",)
"""The measure."""


class Cut(NamedTuple):
    """A proven fact: one victim would preempt again in every victim set of a kind.

    All are positions of workloads. The sets are those with the ``victim`` and all of ``going``,
    and none of ``staying``, in which the amounts of the victims named in each of ``sums`` add up
    to its total. The victim itself is in none of the three.
    """

    victim: int
    going: frozenset[int]
    staying: frozenset[int]
    sums: tuple[tuple[Mapping[int, int], int], ...]


class Cascades(Protocol):
    """The answers so far."""

    @property
    def cuts(self) -> Sequence[Cut]:
        """Everything learned, in the order in which it was."""
        ...

    def count(self, victims: Sequence[int]) -> int:
        """Return how many of some victims, given by positions, would preempt again.

        Each that would is in a cut from then on.
        """
        ...

    def is_steady(self, position: int) -> bool:
        """Say whether a workload could preempt nobody again, whoever goes with it."""
        ...
