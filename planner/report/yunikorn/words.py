"""Amounts of YuniKorn, and its last tier, in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from planner.plan import YuniKornPlan
from planner.report.text import plural
from planner.state.yunikorn_quantity import format_yunikorn_quantity

UNAVOIDABLE: Final = "proved: no legal plan under this objective does with fewer"
AVOIDABLE: Final = "not proved that no plan does with fewer"


def yunikorn_amount(units: int, resource: str) -> str:
    """Return an amount in YuniKorn's units as people write it: ``1.5`` cores, or ``500m``."""
    if resource == "vcore" and abs(units) > 1000:  # noqa: PLR2004 - one core
        return f"{Decimal(units).scaleb(-3).normalize():f}"
    return format_yunikorn_quantity(units, resource)


def last_tier(plan: YuniKornPlan) -> str:
    """Say how many victims opted out or started their application, and whether that must be.

    A bound on the first level that counts them proves it, and only under the plan's objective.
    """
    originators = sum(victim.originator for victim in plan.victims)
    opted_out = sum(victim.opted_out for victim in plan.victims)
    counts = [plural(originators, "originator")] if originators else []
    counts += [f"{opted_out:,} opted out"] if opted_out else []
    said = ", ".join(counts)
    if plan.certificate is None:
        return said
    level = next((level for level in plan.certificate.levels if level.term == "D0"), None)
    if level is None:
        return f"{said}; {plan.objective} does not count them"
    proved = level.value == level.bound
    return f"{said}; {UNAVOIDABLE if proved else AVOIDABLE}"
