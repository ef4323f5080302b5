"""Exact Kubernetes quantities: text to integers, with Kueue's rounding and saturation.

A quantity is held as an ``int`` of *nano-units*, the finest step Kubernetes knows, so sums are
exact. Schedulers calculate in coarser integers: Kueue in milli-units for ``cpu`` and whole units
for everything else (docs/semantics/kueue.md §1), rounding away from zero and saturating at
64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Final

MAX_INT64: Final = 2**63 - 1
MIN_INT64: Final = -(2**63)
UNLIMITED: Final = MAX_INT64
"""Kueue's sentinel for a quota without bound: the largest 64-bit integer itself."""

NANO: Final = 10**9

_DECIMAL_EXPONENT: Final = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY_SHIFT: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_PATTERN: Final = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]?|[eE][+-]?[0-9]+)"
)
_LONGEST: Final = 64
_MOST_DIGITS: Final = 18
_MOST_BINARY_DIGITS: Final = 14
_FINEST: Final = -9
_LARGEST_EXPONENT: Final = 99
_BRIEF_DIGITS: Final = 4
_BRIEFLY: Final = Context(prec=_BRIEF_DIGITS, rounding=ROUND_HALF_UP)

SUFFIXES: Final = "a number with an optional suffix n u m k M G T P E or Ki Mi Gi Ti Pi Ei"


class QuantityError(ValueError):
    """The text is not a Kubernetes quantity."""


@lru_cache(maxsize=65536)
def parse_quantity(text: str) -> int:
    """Read a quantity such as ``500m``, ``1.5Gi`` or ``2e3`` as an integer of nano-units.

    Anything finer than a nano-unit is rounded away from zero, and binary-suffixed amounts are
    capped at 2^63 - 1 units, as Kubernetes does (apimachinery, resource/quantity.go,
    ``ParseQuantity``).

    Raises ``QuantityError`` if the text is not a quantity.
    """
    whole = _whole_units(text)
    if whole is not None:
        return whole * NANO
    match = _PATTERN.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None or not (match["whole"] or match["fraction"]):
        raise QuantityError(text)
    fraction = match["fraction"] or ""
    digits = int((match["whole"] or "") + fraction)
    suffix = match["suffix"]
    exponent = 9 - len(fraction)
    binary = suffix in _BINARY_SHIFT
    if binary:
        digits <<= _BINARY_SHIFT[suffix]
    elif suffix in _DECIMAL_EXPONENT:
        exponent += _DECIMAL_EXPONENT[suffix]
    else:
        # Beyond 10^99 everything saturates, and below 10^-99 everything rounds to one step.
        exponent += min(max(int(suffix[1:]), -_LARGEST_EXPONENT), _LARGEST_EXPONENT)
    nano: int = digits * 10**exponent if exponent >= 0 else -(-digits // 10**-exponent)
    if binary:
        nano = min(nano, MAX_INT64 * NANO)
    return -nano if match["sign"] == "-" else nano


def _whole_units(text: str) -> int | None:
    """Read plain digits, with a binary suffix or without, the form of almost all quantities."""
    if len(text) > _MOST_BINARY_DIGITS or not text.isascii():
        return None
    if text.isdecimal():
        return int(text)
    shift = _BINARY_SHIFT.get(text[-2:])
    if shift is None or not text[:-2].isdecimal():
        return None
    return min(int(text[:-2]) << shift, MAX_INT64)


def units_of(text: str, resource: str) -> int:
    """Return ``to_units(parse_quantity(text), resource)``, without nano-units on the way.

    Raises ``QuantityError`` if the text is not a quantity.
    """
    whole = _whole_units(text)
    if whole is None:
        return to_units(parse_quantity(text), resource)
    return min(whole * 1000 if is_milli(resource) else whole, MAX_INT64)


def approximate(text: str) -> float:
    """Return a quantity as the double that Kubernetes makes of it (``AsApproximateFloat64``).

    An integer is multiplied by a power of ten, so ``0.3`` and ``300m`` need not be the same double.
    A quantity with too many digits for 64 bits, or a fraction with a binary suffix, is taken as
    nano-units.

    Raises ``QuantityError`` if the text is not a quantity.
    """
    nano = parse_quantity(text)
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise QuantityError(text)
    whole, fraction, suffix = match["whole"].lstrip("0"), match["fraction"] or "", match["suffix"]
    digits, shift = int(whole + fraction or "0"), _BINARY_SHIFT.get(suffix)
    if shift is None:
        known = _DECIMAL_EXPONENT.get(suffix)
        scale = (int(suffix[1:]) if known is None else known) - len(fraction)
        is_short = len(whole) + len(fraction) <= _MOST_DIGITS
    else:
        digits, scale = digits << shift, 0
        is_short = not fraction and len(whole) <= _MOST_BINARY_DIGITS - shift * 3 // 10
    if not is_short or scale < _FINEST or digits > MAX_INT64:
        digits, scale = abs(nano), _FINEST
    value = float(digits) * 10.0**scale if scale else float(digits)
    return -value if match["sign"] == "-" else value


def format_quantity(nano: int) -> str:
    """Write nano-units as a quantity: ``parse_quantity`` reads the very same amount from it.

    Whole units are plain digits, such as ``8``; others are in milli-, micro- or nano-units.
    """
    for suffix, exponent in (("", 0), ("m", -3), ("u", -6)):
        units, rest = divmod(abs(nano), 10 ** (9 + exponent))
        if not rest:
            text = f"{units}{suffix}"
            break
    else:
        text = f"{abs(nano)}n"
    if len(text) >= _LONGEST:  # longer than `parse_quantity` reads, unless a suffix shortens it
        text = min(_short_forms(str(abs(nano))), key=len)
    return f"-{text}" if nano < 0 else text


def _short_forms(digits: str) -> Iterator[str]:
    """Write a huge number of nano-units with every suffix for large amounts."""
    most = min(len(digits) - 10, _LARGEST_EXPONENT)
    for suffix, exponent in (*_DECIMAL_EXPONENT.items(), (f"e{most}", most)):
        point = len(digits) - 9 - exponent
        if exponent >= 0 and point > 0:
            fraction = digits[point:].rstrip("0")
            yield f"{digits[:point]}{'.' if fraction else ''}{fraction}{suffix}"


def is_milli(resource: str) -> bool:
    """Say whether Kueue counts the resource in milli-units: only the exact name ``cpu``."""
    return resource == "cpu"


def to_units(nano: int, resource: str) -> int:
    """Convert nano-units to the scheduler's integer unit, away from zero, clamped to 64 bits.

    Source: docs/semantics/kueue.md §1 (cpu ``2500u`` is 3 milli, memory ``100m`` is 1 byte).
    """
    step = 10**6 if resource == "cpu" else NANO
    units = -(-nano // step) if nano >= 0 else nano // step
    return min(max(units, MIN_INT64), MAX_INT64)


_SCALED_AT_ONCE: Final = frozenset({0, 3, 6, 9})
"""Powers of ten by which Kubernetes multiplies in one step, even if the product overflows."""


def to_wrapped_units(nano: int, resource: str) -> int:
    """Convert nano-units to the integer unit of a scheduler that does not look at the bounds.

    An amount of more than 64 bits wraps around. But a quantity of at most 18 digits is 0 where
    its suffix stands for more than a milliard units: Kubernetes gives up while it multiplies by
    ten again and again. The quantity is taken in the form in which the API server writes it: digits
    that are no multiple of 1000, unless below the smallest suffix. Source:
    docs/semantics/kueue-releases.md §2.1, 14; apimachinery pkg/api/resource/math.go
    ``positiveScaleInt64``.
    """
    step = 10**6 if resource == "cpu" else NANO
    units = -(-nano // step) if nano >= 0 else nano // step
    if MIN_INT64 <= units <= MAX_INT64:
        return units
    digits, exponent = abs(nano), _FINEST
    while digits % 1000 == 0:
        digits //= 1000
        exponent += 3
    scale = exponent + (3 if resource == "cpu" else 0)
    if len(str(digits)) <= _MOST_DIGITS and scale not in _SCALED_AT_ONCE:
        return 0
    return (units - MIN_INT64) % 2**64 + MIN_INT64


def from_units(units: int, resource: str) -> int:
    """Convert the scheduler's integer unit to nano-units: the inverse of ``to_units``."""
    return units * (10**6 if resource == "cpu" else NANO)


def to_quota(nano: int, resource: str) -> int:
    """Convert a quota or limit to the scheduler's unit; too large to count means Unlimited.

    Source: docs/semantics/kueue.md §1: a cpu quota is Unlimited from
    floor((2^63 - 1) / 1000) cores on, any other from 2^63 - 1 units on.
    """
    bound = (MAX_INT64 // 1000) * NANO if resource == "cpu" else MAX_INT64 * NANO
    return UNLIMITED if nano >= bound else to_units(nano, resource)


def format_units(units: int, resource: str) -> str:
    """Write an amount of the scheduler's unit the way a person would write the quantity."""
    if units == UNLIMITED:
        return "unlimited"
    if resource == "cpu":
        return str(units // 1000) if units % 1000 == 0 else f"{units}m"
    if is_bytes(resource) and units > MIN_INT64:  # Kubernetes caps -8Ei at one byte less
        for suffix, shift in reversed(_BINARY_SHIFT.items()):
            if units and units % (1 << shift) == 0:
                return f"{units >> shift}{suffix}"
    return str(units)


def format_briefly(units: int, resource: str) -> str:
    """Write an amount of the scheduler's unit as a person says it: to four digits, if it is long.

    Up to 99,999 whole units, and up to four digits with a suffix, it is exact: ``2500m``, ``40Gi``;
    beyond that ``56.08k`` cores and ``303.5Gi``, where `format_units` has ``310804054Ki``.
    """
    exact = format_units(units, resource)
    digits = sum(map(str.isdigit, exact))
    if units == UNLIMITED or digits <= (_BRIEF_DIGITS + exact[-1].isdigit()):
        return exact
    value = Decimal(units) / 1000 if is_milli(resource) else Decimal(units)
    if is_bytes(resource):
        steps = {suffix: 1 << shift for suffix, shift in _BINARY_SHIFT.items()}
    else:
        steps = {suffix: 10**exponent for suffix, exponent in _DECIMAL_EXPONENT.items() if exponent}
    steps = {suffix: step for suffix, step in steps.items() if 1 < step <= abs(value)}
    suffix, step = max(steps.items(), key=lambda one: one[1], default=("", 1))
    return f"{_BRIEFLY.create_decimal(value / step).normalize():f}{suffix}"


def is_bytes(resource: str) -> bool:
    """Say whether the resource is counted in bytes, and so is written with binary suffixes."""
    return resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-")


def plural(count: int, noun: str) -> str:
    """Return a count with its noun, such as ``1 victim`` or ``3 victims``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
