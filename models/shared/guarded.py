"""A builder whose rows bind only where a literal holds."""

from __future__ import annotations

from collections.abc import Iterable

from planner.models.shared.builder import Builder, Linear


class Guarded(Builder):
    """The same model as another builder's; every row and clause is enforced by one more literal.

    Definitions of auxiliary variables (``positive_part``) hold whether the literal does or not.
    """

    def __init__(self, builder: Builder, literal: int) -> None:
        # The same lists, not copies: a variable made here is one of the other builder's, too.
        self.proto = builder.proto
        self.lower = builder.lower
        self.upper = builder.upper
        self.literal = literal

    def any_of(self, literals: Iterable[int], when: Iterable[int] = ()) -> None:
        """Require that at least one literal is true, where the guard holds."""
        super().any_of(literals, (*when, self.literal))

    def _row(
        self, linear: Linear, least: int | None, most: int | None, when: Iterable[int]
    ) -> None:
        super()._row(linear, least, most, (*when, self.literal))
