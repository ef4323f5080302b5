"""The order in which nominees are processed without fair sharing.

Source: docs/semantics/kueue.md §7.3; kueue ff69552e pkg/scheduler/scheduler.go
``makeClassicalIterator``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from planner.reference.kueue.cycle.record import Nominee
from planner.state.kueue import Configuration


def classical_order(nominees: Iterable[Nominee], configuration: Configuration) -> list[Nominee]:
    """Sort: preemptors (by a gate), lower borrow level, higher priority (by a gate), earlier.

    Kueue leaves ties open; here the queue that stands first in the dump comes first.
    """
    by_priority = configuration.gate("PrioritySortingWithinCohort")
    preemptors_first = configuration.gate("PrioritizePreemptorWorkloads")

    def key(nominee: Nominee) -> tuple[bool, int, int, datetime]:
        preemptor = nominee.preemptor
        priority = -preemptor.priority if by_priority else 0
        waits = preemptors_first and not nominee.preempts
        return waits, nominee.decision.assignment.borrowing, priority, preemptor.queued_at

    return sorted(nominees, key=key)
