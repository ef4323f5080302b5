"""A Kueue problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from planner.models.kueue import fair_sharing, laws, places
from planner.models.kueue.formulation import Columns, Formulation
from planner.models.shared.classes import in_force
from planner.problem.kueue import Problem


def assemble(
    problem: Problem, columns: Columns, attempts: Sequence[bool], without: Collection[str] = ()
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    ``attempts`` are those that law KQ-08 permits.
    """
    formulation = Formulation.begun(problem, columns, attempts)
    state_laws(formulation, without)
    return formulation


def state_laws(formulation: Formulation, without: Collection[str] = ()) -> None:
    """State the laws in force that tie victims together, in the order of their rule set."""
    problem = formulation.problem
    stated = laws.STATED if problem.fair is None else fair_sharing.STATED
    # Laws of placement are a rule set of their own, on top of either set of quota rules.
    placing = in_force(places.STATED, "topology", without)
    for state in [*in_force(stated, problem.rules, without), *placing]:
        state(formulation)
