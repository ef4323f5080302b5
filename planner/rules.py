"""A rule set of Kueue beside its own two: what it has to bring along.

A rule set is asked for by its name, or by ``NAME:OPTIONS``, and stands so in plans. What further
rooms ask of it they declare themselves, each a `Piece` beside the protocol for its type: what the
verifier asks is no business of the models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Generic, NamedTuple, TypeVar, cast

from planner.laws import Law

T = TypeVar("T")


class RuleSet(NamedTuple):
    """A rule set that plans of Kueue can be made by.

    - ``name``: What ``--rules`` calls it, before a colon.
    - ``laws``: Its laws, in the order in which they are reported.
    - ``title``: The rule set in words.
    - ``pieces``: By the name of each `Piece` a function that loads it.
    """

    name: str
    laws: tuple[Law, ...]
    title: str
    pieces: Mapping[str, Callable[[], object]] = MappingProxyType({})


class Piece(Generic[T]):
    """A piece that a room asks of every rule set; the room's protocol is its type."""

    def __init__(self, name: str) -> None:
        self.name: Final = name

    def of(self, rules: RuleSet) -> T:
        """Return this piece of a rule set."""
        return cast("T", rules.pieces[self.name]())
