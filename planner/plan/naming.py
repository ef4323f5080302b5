"""Many names in a sentence; what people call those of a plan, and of what there is talk in it."""

from __future__ import annotations

from collections.abc import Collection
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planner.plan import AnyPlan


def name_some(names: Collection[str], most: int) -> str:
    """Name some of several, and count the others."""
    more = len(names) - most
    return ", ".join(islice(names, most)) + (f" and {more} more" if more > 0 else "")


def names_of(*plans: AnyPlan) -> dict[str, str]:
    """Return what people call preemptors and victims whose keys are no names, by their keys."""
    pairs = [(plan.preemptor, plan.preemptor_name) for plan in plans]
    pairs += [(victim.key, victim.name) for plan in plans for victim in plan.victims]
    return {key: name for key, name in pairs if name != key}


def resources_of(*plans: AnyPlan) -> tuple[str, ...]:
    """Return the resources that plans ask for and that their victims hold."""
    return tuple(
        sorted({name for plan in plans for _, name in (*plan.requested, *dict(plan.freed))})
    )
