"""Costs that users give: what it is worth to them that a workload stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from planner.errors import SchemaError

_LARGEST_COST: Final = 2**40


def checked_costs(costs: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """Return costs that are given per key, if all of them can be used.

    Raises ``SchemaError`` if one is no whole number, negative or too large.
    """
    for name, cost in (costs or {}).items():
        if not is_whole(cost, 0, _LARGEST_COST):
            expected = f"a whole number up to {_LARGEST_COST}"
            raise SchemaError(f'costs["{name}"]', f"{cost!r} cannot be used", expected)
    return costs


def is_whole(value: object, least: int, most: int) -> TypeGuard[int]:
    """Say whether what a user gives is a whole number between two others; no truth value is."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
