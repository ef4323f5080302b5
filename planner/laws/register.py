"""Functions by the ids of the laws that they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from planner.laws.law import Law

F = TypeVar("F", bound=Callable[..., object])


class Register(dict[str, F]):
    """The functions of one room that state, check or word laws: one for each law, by its id.

    Whoever needs the function of a law looks it up, so a new law is a record and the functions
    that are registered for it.
    """

    def of(self, *laws: Law) -> Callable[[F], F]:
        """Return a decorator that registers a function for some laws.

        Raises
        ------
        ValueError
            From the decorator, if a law has a function already.
        """

        def enter(function: F) -> F:
            for law in laws:
                if law.id in self:
                    message = f"{law.id} is registered twice"
                    raise ValueError(message)
                self[law.id] = function
            return function

        return enter
