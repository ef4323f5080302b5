"""One algorithm, and what a scheduler with algorithms of its own must provide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Generic, TypeVar

from msgspec import Struct

from planner.objective.profiles import Profile
from planner.state import AnyState

StateT = TypeVar("StateT", bound=AnyState)

OPTIMUM: Final = "optimum:"


class Algorithm(Struct, frozen=True):
    """One way to find victims; measure.py lists the names.

    ``scheduler`` is the only one it is for, ``None`` for any. With a ``profile`` it is the optimum
    under that. ``edit`` changes a state before the algorithm is run on it; ``rules`` take the
    place of the scheduler's own.
    """

    name: str
    scheduler: str | None = None
    profile: Profile | None = None
    edit: Callable[[Any], Any] | None = None
    rules: str | None = None

    def state(self, state: StateT) -> StateT:
        """Return the state that this algorithm is run on: edited, if it has an edit."""
        return state if self.edit is None else self.edit(state)


Planning_contra = TypeVar("Planning_contra", contravariant=True)
Plan_contra = TypeVar("Plan_contra", contravariant=True)


class Compared(Generic[Planning_contra, Plan_contra]):
    """What is asked of a scheduler with algorithms of its own: here there are none."""

    algorithms: Sequence[Algorithm] = ()

    def find_algorithm(self, name: str, find: Callable[[str], Algorithm]) -> Algorithm | None:
        """Return an algorithm beyond ``algorithms`` by its name; ``find`` finds those of any name.

        Raises ``InputError`` if the file of its objective or an option cannot be used.
        """
        del name, find
        return None

    def has_own_flavors(self, own: Planning_contra, plan: Plan_contra) -> bool | None:
        """Say whether a plan has the flavors that the scheduler itself assigns, if it knows any."""
        del own, plan
        return None

    def outside(self, own: Planning_contra, plan: Plan_contra) -> tuple[str, ...]:
        """Return the laws of the unedited state that victims found by other rules break."""
        del own, plan
        return ()
