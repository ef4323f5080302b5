"""What a law is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Law:
    """One rule of a scheduler.

    ``name`` is the name of the function that states it in models and in the verifier;
    ``source`` is where the rule comes from.
    """

    id: str
    name: str
    title: str
    statement: str
    source: str
