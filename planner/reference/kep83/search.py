"""The preemption search of KEP-83: remove until the preemptor fits, then add back.

Source: KEP-83, "Preemption", steps 4 and 5.
"""

from __future__ import annotations

from typing import Final

from planner.laws.kep83 import K83_AT_MIN
from planner.quota.kueue.snapshot import Admitted
from planner.reference.kep83.candidates import candidates_in_order
from planner.reference.kep83.context import Kep83Context
from planner.reference.kueue.target import Search, Target
from planner.reference.laws import keeps

OWN_QUEUE: Final = "InClusterQueue"
RECLAIMED: Final = "InCohortReclamation"
WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"
"""The KEP names no reasons; these are the codes that Kueue gives them today."""


def search_kep83(context: Kep83Context) -> Search:
    """Return the workloads to preempt, in the order of their removal; the usage stays as it was."""
    borrowing = context.options.borrows
    needed = _add_back(context, _remove(context))
    _put_back(context, needed)
    targets = tuple(Target(workload, _reason(context, workload)) for workload in needed)
    return Search(targets, (borrowing,), borrowing if targets else None)


@keeps(K83_AT_MIN)
def _remove(context: Kep83Context) -> list[Admitted]:
    """Step 4: remove candidates until the preemptor fits; if it never does, put all back."""
    removed: list[Admitted] = []
    for workload in candidates_in_order(context):
        # At its turn, with what was removed so far: the queue may go below once, not further.
        if workload.queue != context.queue and context.is_below_min(workload.queue):
            continue
        context.usage.remove(workload.queue, workload.usage)
        removed.append(workload)
        if context.fits():
            return removed
    _put_back(context, removed)
    return []


def _add_back(context: Kep83Context, removed: list[Admitted]) -> list[Admitted]:
    """Step 5: add workloads back from the last removed to the first, where it still fits.

    One that cannot be added back does not stop the walk: only then is the set minimal.
    """
    needed: list[Admitted] = []
    for workload in reversed(removed):
        context.usage.add(workload.queue, workload.usage)
        if not context.fits():
            context.usage.remove(workload.queue, workload.usage)
            needed.append(workload)
    return needed[::-1]


def _put_back(context: Kep83Context, workloads: list[Admitted]) -> None:
    for workload in workloads:
        context.usage.add(workload.queue, workload.usage)


def _reason(context: Kep83Context, workload: Admitted) -> str:
    if workload.queue == context.queue:
        return OWN_QUEUE
    return WHILE_BORROWING if context.options.borrows else RECLAIMED
