"""Costs that users give: what it is worth to them that a workload stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.errors import SchemaError

_LARGEST_COST: Final = 2**40


def checked_costs(costs: Mapping[str, int] | None) -> Mapping[str, int] | None:
    """Return costs that are given per key, if all of them can be used.

    Raises ``SchemaError`` if one is no whole number, negative or too large.
    """
    for name, cost in (costs or {}).items():
        if isinstance(cost, bool) or not isinstance(cost, int) or not 0 <= cost <= _LARGEST_COST:
            raise SchemaError(
                f'costs["{name}"]',
                f"{cost!r} cannot be used",
                f"a whole number up to {_LARGEST_COST}",
            )
    return costs
