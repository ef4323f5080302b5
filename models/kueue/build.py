"""A Kueue problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from planner.laws import RULE_SETS
from planner.models.kueue import fair_sharing, laws, places
from planner.models.kueue.formulation import Columns, Formulation, LastVictims
from planner.models.shared.builder import Builder
from planner.models.shared.classes import new_takes
from planner.problem.kueue import Problem


def assemble(
    problem: Problem, columns: Columns, attempts: Sequence[bool], without: Collection[str] = ()
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
    state_laws(formulation, without)
    return formulation


def state_laws(formulation: Formulation, without: Collection[str] = ()) -> None:
    """State the laws in force that tie victims together, in the order of their rule set."""
    problem = formulation.problem
    stated = laws.STATED if problem.fair is None else fair_sharing.STATED
    for law in RULE_SETS[problem.rules]:
        if law.id in stated and law.id not in without:
            stated[law.id](formulation)
    # A rule set of its own: placement is asked for on top of either set of quota rules.
    for law in RULE_SETS["topology"]:
        if law.id in places.STATED and law.id not in without:
            places.STATED[law.id](formulation)
