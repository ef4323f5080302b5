"""One way to answer, and what is asked of a scheduler that has ways of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol, TypeVar

from msgspec import Struct

from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.scheduler import OWN, Part, Placement
from planner.solver.start import AnyPlanning, RulesInput
from planner.state import AnyState

StateT = TypeVar("StateT", bound=AnyState)

OPTIMUM: Final = "optimum:"


class Algorithm(Struct, frozen=True):
    """One way to answer; see measure.py for what there is.

    ``scheduler`` is the only one it is for, ``None`` for any. ``profile`` makes it an optimum.
    ``edit`` makes of a state the one that it is to find; ``rules`` are other rules than the
    scheduler's own. ``placement`` says who places pods on nodes.
    """

    name: str
    scheduler: str | None = None
    profile: Profile | None = None
    edit: Callable[[Any], Any] | None = None
    rules: RulesInput | None = None
    placement: Placement = OWN

    def state(self, state: StateT) -> StateT:
        """Return the state as this algorithm finds it."""
        return state if self.edit is None else self.edit(state)


class Compared(Protocol):
    """What comparing asks of a scheduler that can answer by several rules."""

    ALGORITHMS: Sequence[Algorithm]

    def find_algorithm(self, name: str, find: Callable[[str], Algorithm]) -> Algorithm | None:
        """Return another one by its name; ``find`` knows the shared ones.

        Raises
        ------
        InputError
            If the file of its objective or an option cannot be used.
        """

    def why_not(self, algorithm: Algorithm, own: AnyPlanning) -> str:
        """Say why an algorithm means nothing for a preemptor; empty if it does."""
        ...

    def has_own_flavors(self, own: AnyPlanning, plan: AnyPlan) -> bool:
        """Say whether a plan has the flavors that the scheduler itself assigns."""
        ...

    def outside(self, own: AnyPlanning, plan: AnyPlan) -> tuple[str, ...]:
        """Return the laws of the state as it is that victims found by other rules break."""
        ...


COMPARED: Final = Part[Compared]("comparison")
