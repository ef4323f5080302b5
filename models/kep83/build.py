"""A problem of KEP-83 as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from planner.laws import K83_AT_MIN, K83_FITS, K83_WITHOUT_BORROWING, Law
from planner.models.kep83.laws import at_min_until_last_victim, without_borrowing
from planner.models.kueue.columns import Columns
from planner.models.kueue.formulation import Formulation
from planner.models.kueue.last_victim import LastVictims
from planner.models.kueue.laws import fits
from planner.models.shared.builder import Builder
from planner.models.shared.classes import new_takes
from planner.problem.kep83 import Kep83Problem

LAWS: Final[tuple[tuple[Law, Callable[[Formulation], None]], ...]] = (
    (K83_FITS, fits),
    (K83_WITHOUT_BORROWING, without_borrowing),
    (K83_AT_MIN, at_min_until_last_victim),
)


def assemble(problem: Kep83Problem, columns: Columns, without: Collection[str] = ()) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    There is one attempt: whether it borrows is an option.
    """
    builder = Builder()
    take = new_takes(builder, columns.classes)
    borrowing = builder.new(int(problem.borrows), int(problem.borrows))
    formulation = Formulation(problem.base, columns, builder, take, borrowing)
    formulation.last_victims = LastVictims(formulation)
    for law, state in LAWS:
        if law.id not in without:
            state(formulation)
    return formulation
