"""Resource arithmetic: sparse maps of int64, or nothing.

Source: docs/semantics/yunikorn.md §1; yunikorn-core be3bb487, common/resources/resources.go.
``None`` is the core's nil; *empty* means None or no types. A type with value 0 makes a resource
non-empty. Sums saturate at the 64-bit limits. Nothing here changes its arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

from planner.quantity import MAX_INT64, MIN_INT64

Resource = Mapping[str, int]
Amount = Resource | None


def clamped(value: int) -> int:
    """Return a sum as an int64 holds it."""
    return value if MIN_INT64 <= value <= MAX_INT64 else min(max(value, MIN_INT64), MAX_INT64)


def copy(a: Amount) -> dict[str, int] | None:
    """Return a copy; None stays None."""
    return None if a is None else dict(a)


def plus(a: Amount, b: Amount) -> dict[str, int]:
    """Add two resources over the types of either."""
    total = dict(a or {})
    for t, value in (b or {}).items():
        total[t] = clamped(total.get(t, 0) + value)
    return total


def added_up(amounts: Iterable[Amount]) -> dict[str, int]:
    """Add up resources, one after the other."""
    return reduce(plus, amounts, {})


def minus(a: Amount, b: Amount) -> dict[str, int]:
    """Subtract over the types of either."""
    rest = dict(a or {})
    for t, value in (b or {}).items():
        rest[t] = clamped(rest.get(t, 0) - value)
    return rest


def minus_known(a: Amount, b: Amount) -> dict[str, int] | None:
    """Subtract over the types of ``a`` only; if either is empty, return a copy of ``a``."""
    if a is None or not b:
        return copy(a)
    return {t: clamped(value - b.get(t, 0)) for t, value in a.items()}


def fits_in(big: Amount, small: Amount) -> bool:
    """Say whether ``small`` fits; a type that ``big`` lacks counts as 0, as do negative values."""
    big = big or {}
    return all(value <= max(0, big.get(t, 0)) for t, value in (small or {}).items())


def fits_loose(big: Amount, small: Amount) -> bool:
    """Say whether ``small`` fits; types that ``big`` lacks are unlimited."""
    big = big or {}
    return all(value <= max(0, big[t]) for t, value in (small or {}).items() if t in big)


def fits_raw(big: Amount, small: Amount) -> bool:
    """Say whether ``small`` fits, as `fits_loose`, but negative values are compared as they are."""
    big = big or {}
    return all(value <= big[t] for t, value in (small or {}).items() if t in big)


def ge_all(a: Amount, b: Amount) -> bool:
    """Say whether ``a`` is at least ``b`` in every type of either."""
    a, b = a or {}, b or {}
    return all(a.get(t, 0) >= b.get(t, 0) for t in {**a, **b})


def gt_zero(a: Amount) -> bool:
    """Say whether some value is positive and none negative."""
    values = (a or {}).values()
    return any(value > 0 for value in values) and all(value >= 0 for value in values)


def min_union(a: Amount, b: Amount) -> dict[str, int] | None:
    """Take the minimum where both have the type, else the value of the one that has it."""
    if a is None or b is None:
        return copy(b if a is None else a)
    smaller = dict(a)
    for t, value in b.items():
        smaller[t] = min(value, smaller.get(t, value))
    return smaller


def min_left(a: Amount, b: Amount) -> dict[str, int] | None:
    """Take the minimum over the types of ``a`` only."""
    if a is None or b is None:
        return copy(a)
    return {t: min(value, b.get(t, value)) for t, value in a.items()}


def fill_from(a: Amount, b: Amount) -> dict[str, int] | None:
    """Return ``a`` and those types of ``b`` that ``a`` lacks."""
    if a is None or b is None:
        return copy(b if a is None else a)
    return {**b, **a}


def same_or_zero(a: Amount, b: Amount) -> bool:
    """Say whether two resources are equal, a missing type being 0."""
    if not any((a or {}).values()) and not any((b or {}).values()):
        return True
    if a is None or b is None:
        return False
    return equal(a, b)


def equal(a: Resource, b: Resource) -> bool:
    """Say whether two resources are equal, a missing type being 0."""
    return all(a.get(t, 0) == b.get(t, 0) for t in {**a, **b})


def floor_minus(a: Resource, b: Resource) -> dict[str, int]:
    """Subtract, but not below 0 where ``b`` has the type."""
    rest = dict(a)
    for t, value in b.items():
        rest[t] = max(0, clamped(rest.get(t, 0) - value))
    return rest


def gt_known(a: Amount, b: Amount) -> bool:
    """Say whether ``a`` exceeds ``b`` over their common types: none less, one different."""
    return _compared_known(a or {}, b or {}, or_equal=False)


def ge_known(a: Amount, b: Amount) -> bool:
    """Say whether ``a`` is at least ``b`` over their common types, if there is one."""
    return _compared_known(a or {}, b or {}, or_equal=True)


def _compared_known(a: Resource, b: Resource, *, or_equal: bool) -> bool:
    common = [t for t in a if t in b]
    if any(b[t] > a[t] for t in common):
        return False
    # Odd, but as in the core: where ``b`` is empty, a 0 in ``a`` is enough to say no.
    if a and not b:
        return all(value > 0 for value in a.values())
    if common:
        return or_equal or any(a[t] != b[t] for t in common)
    return bool(a) and bool(b)


def share_type(a: Resource, b: Resource) -> bool:
    """Say whether the two have a type in common; values do not matter."""
    return not a.keys().isdisjoint(b)


def without_zeros(a: Resource) -> dict[str, int]:
    """Return the types whose value is not 0."""
    return {t: value for t, value in a.items() if value}
