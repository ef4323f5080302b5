"""A Kueue problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from planner.laws import (
    FS_BORROWING,
    FS_FITS,
    FS_SHARES,
    KQ_BORROW_WITHIN_COHORT,
    KQ_FITS,
    KQ_OVER_QUOTA,
    KQ_WITHOUT_BORROWING,
    Law,
)
from planner.models.kueue.columns import Columns
from planner.models.kueue.fair_sharing import borrowing_until_last_victim, shares
from planner.models.kueue.formulation import Formulation
from planner.models.kueue.last_victim import LastVictims
from planner.models.kueue.laws import (
    borrow_within_cohort,
    fits,
    over_quota_until_last_victim,
    without_borrowing,
)
from planner.models.shared.builder import Builder
from planner.models.shared.classes import new_takes
from planner.problem.kueue import Problem

Laws = tuple[tuple[Law, Callable[[Formulation], None]], ...]

CLASSICAL: Final[Laws] = (
    (KQ_FITS, fits),
    (KQ_WITHOUT_BORROWING, without_borrowing),
    (KQ_BORROW_WITHIN_COHORT, borrow_within_cohort),
    (KQ_OVER_QUOTA, over_quota_until_last_victim),
)

FAIR: Final[Laws] = (
    (FS_FITS, fits),
    (FS_BORROWING, borrowing_until_last_victim),
    (FS_SHARES, shares),
)


def assemble(
    problem: Problem,
    columns: Columns,
    attempts: Sequence[bool],
    without: Collection[str] = (),
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    Parameters
    ----------
    attempts
        The attempts that law KQ-08 permits.
    """
    builder = Builder()
    take = new_takes(builder, columns.classes)
    borrowing = builder.new(int(min(attempts)), int(max(attempts)))
    formulation = Formulation(problem, columns, builder, take, borrowing)
    formulation.last_victims = LastVictims(formulation)
    for law, state in CLASSICAL if problem.fair is None else FAIR:
        if law.id not in without:
            state(formulation)
    return formulation
