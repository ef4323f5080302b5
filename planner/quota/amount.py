"""Saturating 64-bit amounts with Kueue's sentinel Unlimited (docs/semantics/kueue.md §1).

Comparison needs no function: Unlimited is the largest 64-bit integer, so plain ``<`` is right.
"""

from __future__ import annotations

from planner.quantity import MAX_INT64, MIN_INT64, UNLIMITED


def add(a: int, b: int) -> int:
    """Return a + b: Unlimited if either is, otherwise saturating (and then Unlimited too)."""
    if a == UNLIMITED or b == UNLIMITED:  # noqa: PLR1714 - no set for each sum
        return UNLIMITED
    total = a + b
    if MIN_INT64 <= total <= MAX_INT64:
        return total
    return MAX_INT64 if total > 0 else MIN_INT64


def subtract(a: int, b: int) -> int:
    """Return a - b: Unlimited - Unlimited is 0, Unlimited - b Unlimited, a - Unlimited least."""
    if a == UNLIMITED:
        return 0 if b == UNLIMITED else UNLIMITED
    if b == UNLIMITED:
        return MIN_INT64
    total = a - b
    if MIN_INT64 <= total <= MAX_INT64:
        return total
    return MAX_INT64 if total > 0 else MIN_INT64


def multiply(a: int, count: int) -> int:
    """Return a * count, saturating."""
    return min(max(a * count, MIN_INT64), MAX_INT64)
