"""A problem of KEP-83 as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Collection

from planner.laws import RULE_SETS
from planner.models.kep83.laws import STATED
from planner.models.kueue.columns import Columns
from planner.models.kueue.formulation import Formulation
from planner.models.kueue.last_victim import LastVictims
from planner.models.shared.builder import Builder
from planner.models.shared.classes import new_takes
from planner.problem.kep83 import Kep83Problem


def assemble(problem: Kep83Problem, columns: Columns, without: Collection[str] = ()) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    There is one attempt: whether it borrows is an option.
    """
    builder = Builder()
    take = new_takes(builder, columns.classes)
    borrowing = builder.new(int(problem.borrows), int(problem.borrows))
    formulation = Formulation(problem.base, columns, builder, take, borrowing)
    formulation.last_victims = LastVictims(formulation)
    for law in RULE_SETS["kep83"]:
        if law.id in STATED and law.id not in without:
            STATED[law.id](formulation)
    return formulation
