"""For how long a pending workload has waited since the scheduler first looked at it.

Source: KEP-83, Alternatives, "Extra knobs in ClusterQueue preemption policy".
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from planner.state.clock import seconds_since
from planner.state.kueue import Workload

ATTEMPTED: Final = ("Admitted", "QuotaReserved")
"""The conditions that are False from the first attempt on; KEP-83 names the first, and Kueue
writes the second."""


def seconds_waiting(workload: Workload, now: datetime) -> int:
    """Return the whole seconds since the first attempt, 0 if there was none."""
    for kind in ATTEMPTED:
        condition = workload.condition(kind)
        if condition is not None and condition.status == "False":
            return seconds_since(condition.last_transition_time, now)
    return 0
