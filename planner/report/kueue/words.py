"""What the reason codes of Kueue mean."""

from __future__ import annotations

from planner import laws
from planner.plan import Plan


def law_behind(plan: Plan, reason: str) -> laws.Law | None:
    """Return the law behind a reason code of a plan, if the code is known."""
    return laws.law_behind(plan.rules, reason)
