"""Findings made of their kind and what was found."""

from __future__ import annotations

from collections.abc import Iterable

from planner.commands.lint.catalogue import KINDS
from planner.commands.lint.record import Example, Finding


def finding(code: str, objects: Iterable[str], reason: str, hint: str, example: Example) -> Finding:
    """Return a finding of a kind."""
    kind = KINDS[code]
    return Finding(
        code=code,
        family=kind.family,
        severity=kind.severity,
        title=kind.title,
        objects=tuple(dict.fromkeys(objects)),
        reason=reason,
        hint=hint,
        example=example,
    )
