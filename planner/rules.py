"""A rule set of Kueue: what one beside its own two has to bring along.

It is asked for by its name, or by ``NAME:OPTIONS``, and stands so in plans. What a room asks of it
beyond this record is a `Piece` that the room declares, with what Kueue's own rules answer: what the
verifier asks is no business of the models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from planner.laws.law import Law
    from planner.state.kueue import State

T = TypeVar("T")


class RuleSet(NamedTuple):
    """A rule set that plans of Kueue can be made by; the defaults are Kueue's own rules.

    - ``name``, ``title``: What ``--rules`` calls it, before any options; and the same in words.
    - ``laws``: Its laws, in the order in which they are reported. They take the place of those of
      Kueue's own rules, or are added to these, as each says itself (`Law.beside`).
    - ``scheduler``: The scheduler's name under these rules, where it is not Kueue's.
    - ``read``: Returns the name with the options of a text, without those at their defaults.
      Raises ``SchemaError`` if they cannot be used.
    - ``state``: Returns a state as these rules know it.
    - ``borrows``: Whether a preemptor may borrow while it preempts, by the name with its options.
    - ``counts_pods``: Whether admission asks for the resource ``pods``, too.
    - ``pieces``: Its answers to what rooms ask, each by the name of a `Piece`.
    """

    name: str = ""
    title: str = ""
    laws: tuple[Law, ...] = ()
    scheduler: str = ""
    read: Callable[[str], str] = str
    state: Callable[[State], State] = lambda state: state
    borrows: Callable[[str], bool] = lambda _: True
    counts_pods: bool = True
    pieces: Mapping[str, object] = MappingProxyType({})

    @property
    def replaces(self) -> bool:
        """Whether its laws take the place of those of Kueue's own rules."""
        return bool(self.laws) and not any(law.beside for law in self.laws)


OWN: Final = RuleSet()
"""The scheduler's own rules, which have no name: of Kueue's two the one that a state configures."""


class Piece(Generic[T]):
    """What a room asks of a rule set; ``own`` is the answer of Kueue's own rules."""

    def __init__(self, name: str, own: T) -> None:
        self.name: Final = name
        self.own: Final = own

    def for_rules(self, rules: RuleSet) -> T:
        """Return the answer of a rule set: that of Kueue's own rules if it has no other."""
        return cast("T", rules.pieces.get(self.name, self.own))
