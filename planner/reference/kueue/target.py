"""What a preemption search finds, and what every search does at its end.

Source: docs/semantics/kueue.md §5.7; kueue ff69552e pkg/scheduler/preemption/preemption.go
``fillBackWorkloads``, ``restoreSnapshot``.
"""

from __future__ import annotations

from typing import NamedTuple

from planner.quota.kueue.snapshot import Admitted
from planner.reference.kueue.context import Context


class Target(NamedTuple):
    """A workload the scheduler would preempt, and its reason code."""

    workload: Admitted
    reason: str


class Search(NamedTuple):
    """What the search found: targets in Kueue's order, empty if none; its attempts, in order.

    An attempt is named by whether it permits borrowing. ``borrowing`` is the successful one.
    """

    targets: tuple[Target, ...]
    attempts: tuple[bool, ...]
    borrowing: bool | None = None


def fill_back(context: Context, targets: list[Target], *, borrowing: bool) -> None:
    """Give back what is not needed, last but one first (§5.7); the swap decides the order."""
    # Not the last: until it went, the preemptor did not fit. What moves into a gap is not looked
    # at again, and nobody's validity is tested anew: both as in Kueue.
    for position in range(len(targets) - 2, -1, -1):
        workload = targets[position].workload
        context.put_back(workload)
        if context.fits(borrowing=borrowing):
            targets[position] = targets[-1]
            targets.pop()
        else:
            context.take_out(workload)


def restore(context: Context, targets: list[Target]) -> None:
    """Put the targets back into the usage."""
    for target in targets:
        context.put_back(target.workload)
