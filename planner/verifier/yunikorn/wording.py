"""YuniKorn's objects in words: amounts as queues.yaml writes them, queues by their path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.quantity import format_units
from planner.quota.yunikorn.queue import Queue
from planner.state.yunikorn_quantity import VCORE
from planner.verifier.wording import say_some


def say_quantity(resource: str, units: int) -> str:
    """Write an amount of the core's unit as a quantity: 1500 of ``vcore`` is ``1500m``."""
    return format_units(units, "cpu" if resource == VCORE else resource)


def say_amount(resource: str, units: int) -> str:
    """Write a quantity with its resource type."""
    return f"{say_quantity(resource, units)} {resource}"


def say_amounts(amounts: Mapping[str, int], types: Iterable[str] | None = None) -> str:
    """Write amounts of some types, of all without any; "nothing" if there are none."""
    chosen = sorted(amounts) if types is None else [t for t in sorted(types) if t in amounts]
    return say_some([say_amount(t, amounts[t]) for t in chosen]) or "nothing"


def say_queue(queue: Queue) -> str:
    """Name a queue."""
    return f"queue {queue.path}"
