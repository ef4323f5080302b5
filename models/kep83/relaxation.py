"""Linear rows that every victim set permitted by KEP-83 satisfies."""

from __future__ import annotations

import numpy as np

from planner.models.kueue.columns import Columns
from planner.models.kueue.relaxation import cover_rows, with_excess
from planner.models.shared.row import Relaxation, Row
from planner.problem.kep83 import Kep83Problem
from planner.quantity import UNLIMITED


def rows(problem: Kep83Problem, columns: Columns) -> list[Row]:
    """Return what victims must free: anywhere for K83-01, in the own queue for K83-02."""
    return [*cover_rows(problem.base, columns), *_within_min(problem, columns)]


def relax(problem: Kep83Problem, columns: Columns) -> Relaxation:
    """Return these rows, and what K83-07 leaves of each other queue.

    Before its last victim it gives up at most its excess, in the involved fr that shows it at
    its min or above.
    """
    others = sorted({*columns.queue.tolist()} - {problem.base.own_queue})
    return with_excess(rows(problem, columns), problem.base, columns, others, beyond=0)


def _within_min(problem: Kep83Problem, columns: Columns) -> list[Row]:
    """Return what the own queue must give up so that what needs preemption does not borrow."""
    base, found = problem.base, []
    own = columns.queue == base.own_queue
    for fr in () if problem.borrows else base.contested:
        nominal = base.quota[base.own_queue][fr]
        missing = base.usage[base.own_queue][fr] + base.request[fr] - nominal
        if base.request[fr] and nominal != UNLIMITED and missing > 0:
            name = f"min of {base.names[base.own_queue]} in {base.frs[fr]}"
            found.append(Row.of(name, np.where(own, columns.holding[:, fr], 0), missing))
    return found
