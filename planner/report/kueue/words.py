"""What the reason codes of Kueue mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner import laws
from planner.plan import Plan
from planner.report.text import clean
from planner.state.release import KnownBy


def law_behind(plan: Plan, reason: str) -> laws.Law | None:
    """Return the law behind a reason code of a plan, if the code is known."""
    return laws.law_behind(plan.rules, reason)


_KNOWN_BY: Final[Mapping[KnownBy, str]] = {
    "given": "as you say",
    "recorded": "which decided the recorded instance",
    "image": "the image of its manager",
    "labels": "the labels of its chart",
    "gates": "the newest that knows the feature gates that are set",
}


def release_of(plan: Plan) -> str:
    """Say which release of Kueue a plan is for; nothing where it was only assumed."""
    if plan.kueue is None or plan.kueue.known_by == "assumed":
        return ""
    return f"{clean(plan.kueue.release)}, {_KNOWN_BY[plan.kueue.known_by]}"
