"""Kubernetes quantities, read exactly, and sums of 64 bits that end at the largest of them."""

import math
import re
from fractions import Fraction
from typing import Final

UNLIMITED: Final = 2**63 - 1
"""No limit. A sum that reaches it is without limit, too."""

LEAST: Final = -(2**63)
LARGEST_CORES: Final = UNLIMITED // 1000
SUFFIXES: Final = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    **{sign: Fraction(1000**power) for power, sign in enumerate("MGTPE", 2)},
    **{f"{sign}i": Fraction(1024**power) for power, sign in enumerate("KMGTPE", 1)},
}
NUMBER: Final = re.compile(r"([+-]?\d+\.?\d*|[+-]?\.\d+)(?:[eE]([+-]?\d+)|([A-Za-z]*))")


def exactly(quantity: str | int) -> Fraction:
    """Return what a quantity says."""
    found = NUMBER.fullmatch(str(quantity))
    if found is None:
        message = f"not a quantity: {quantity}"
        raise ValueError(message)
    number, exponent, suffix = found.groups()
    return Fraction(number) * (10 ** int(exponent) if exponent else SUFFIXES[suffix or ""])


def in_units(resource: str, amount: Fraction) -> int:
    """Return an amount in milli-cores or whole units, rounded away from zero."""
    scaled = amount * 1000 if resource == "cpu" else amount
    rounded = math.ceil(scaled) if scaled >= 0 else math.floor(scaled)
    return max(LEAST, min(UNLIMITED, rounded))


def requested(resource: str, quantity: str | int) -> int:
    """Return a request or a usage in units."""
    return in_units(resource, exactly(quantity))


def quota(resource: str, quantity: str | int) -> int:
    """Return a quota or a limit in units."""
    amount = exactly(quantity)
    if resource == "cpu" and amount >= LARGEST_CORES:
        return UNLIMITED
    return in_units(resource, amount)


def plus(one: int, other: int) -> int:
    """Add."""
    if UNLIMITED in {one, other}:
        return UNLIMITED
    return max(LEAST, min(UNLIMITED, one + other))


def minus(one: int, other: int) -> int:
    """Subtract."""
    if one == UNLIMITED:
        return 0 if other == UNLIMITED else UNLIMITED
    return LEAST if other == UNLIMITED else max(LEAST, min(UNLIMITED, one - other))
