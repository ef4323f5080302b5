"""What the reason codes of Kueue mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from planner.laws import (
    FS_RECLAIM,
    FS_SHARES,
    FS_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_CLUSTER_QUEUE,
    K83_WITHIN_COHORT,
    KQ_BORROW_WITHIN_COHORT,
    KQ_RECLAIM,
    KQ_WITHIN_CLUSTER_QUEUE,
    Law,
)
from planner.plan import Plan

ALLOWED_BY: Final[Mapping[str, Mapping[str, Law]]] = {
    "kueue-classical": {
        "InClusterQueue": KQ_WITHIN_CLUSTER_QUEUE,
        "InCohortReclamation": KQ_RECLAIM,
        "InCohortReclaimWhileBorrowing": KQ_BORROW_WITHIN_COHORT,
    },
    "kueue-fair": {
        "InClusterQueue": FS_WITHIN_CLUSTER_QUEUE,
        "InCohortReclamation": FS_RECLAIM,
        "InCohortFairSharing": FS_SHARES,
    },
    "kep83": {
        "InClusterQueue": K83_WITHIN_CLUSTER_QUEUE,
        "InCohortReclamation": K83_WITHIN_COHORT,
        "InCohortReclaimWhileBorrowing": K83_WITHIN_COHORT,
    },
}
"""For each rule set of Kueue, the law behind each of its reason codes."""


def law_behind(plan: Plan, reason: str) -> Law | None:
    """Return the law behind a reason code, if the code is known."""
    return ALLOWED_BY.get(plan.rules, {}).get(reason)
