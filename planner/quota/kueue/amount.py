"""The arithmetic of Kueue's amounts: 64 bits that saturate, or that wrap around in older releases.

Saturating amounts have the sentinel Unlimited (docs/semantics/kueue.md §1). Comparison needs no
function: Unlimited is the largest 64-bit integer, so plain ``<`` is right. Releases before 0.18
count in plain integers of Go instead (docs/semantics/kueue-releases.md §2.1, 14).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.quantity import MAX_INT64, MIN_INT64, UNLIMITED, to_quota, to_units, to_wrapped_units
from planner.state.kueue_release import Rules


def saturating_add(a: int, b: int) -> int:
    """Return a + b: Unlimited if either is, otherwise saturating (and then Unlimited too)."""
    # Before the sum: the sentinel is a number, and Unlimited + (-1) would be finite.
    if a == UNLIMITED or b == UNLIMITED:  # noqa: PLR1714 - no set for each sum
        return UNLIMITED
    total = a + b
    if MIN_INT64 <= total <= MAX_INT64:
        return total
    return MAX_INT64 if total > 0 else MIN_INT64


def subtract(a: int, b: int) -> int:
    """Return a - b: Unlimited - Unlimited is 0, Unlimited - b Unlimited, a - Unlimited minimal."""
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


def divide(a: int, count: int) -> int:
    """Return a / count, towards zero as in Go: amounts of older releases may be negative."""
    quotient = abs(a) // abs(count)
    return quotient if (a < 0) == (count < 0) else -quotient


def _wrapped(value: int) -> int:
    return (value - MIN_INT64) % 2**64 + MIN_INT64


class Arithmetic(Struct, frozen=True, eq=False):
    """How a release of Kueue calculates; a snapshot's tree has the arithmetic of its release.

    - ``add``, ``subtract``, ``multiply``: Operations on amounts in units.
    - ``add_wanted``: Adds the request of a podset to those of the podsets before it, for the test
      whether the sum fits.
    - ``units``, ``quota``: Convert nano-units of a resource to units: ``units`` for requests and
      usage, ``quota`` for quotas and limits.
    - ``wraps``: Whether sums or requests wrap around, so that adding may lower a sum: short cuts
      are wrong then.
    """

    add: Callable[[int, int], int]
    subtract: Callable[[int, int], int]
    multiply: Callable[[int, int], int]
    add_wanted: Callable[[int, int], int]
    units: Callable[[int, str], int]
    quota: Callable[[int, str], int]
    wraps: bool


SATURATING: Final = Arithmetic(
    saturating_add, subtract, multiply, saturating_add, to_units, to_quota, wraps=False
)
SATURATING_BUT_REQUESTS: Final = replace(
    SATURATING,
    # Requests and recorded usage are read as before, except for cpu, and may be below zero.
    units=lambda nano, resource: (to_units if resource == "cpu" else to_wrapped_units)(
        nano, resource
    ),
    wraps=True,
)
WRAPPING: Final = Arithmetic(
    add=lambda a, b: _wrapped(a + b),
    subtract=lambda a, b: _wrapped(a - b),
    multiply=lambda a, count: _wrapped(a * count),
    add_wanted=lambda a, b: _wrapped(a + b),
    units=to_wrapped_units,
    quota=to_wrapped_units,
    wraps=True,
)
WRAPPING_BUT_WANTED: Final = replace(
    WRAPPING,
    # Saturating, but without Unlimited: the largest number is a number like any other.
    add_wanted=lambda a, b: min(max(a + b, MIN_INT64), MAX_INT64),
)


def arithmetic_of(rules: Rules) -> Arithmetic:
    """Return the arithmetic of a release (switch 14 of planner/state/kueue_release.py)."""
    if rules.saturates:
        return SATURATING if rules.saturates_requests else SATURATING_BUT_REQUESTS
    return WRAPPING_BUT_WANTED if rules.saturates_wanted else WRAPPING
