"""A YuniKorn problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Collection

from planner.laws import RULE_SETS
from planner.laws.yunikorn import YK_FITS_NODE, Spared
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Classes, new_takes
from planner.models.yunikorn.columns import Columns
from planner.models.yunikorn.formulation import Formulation
from planner.models.yunikorn.laws import STATED
from planner.problem.yunikorn import YuniKornProblem


def assemble(
    problem: YuniKornProblem,
    classes: Classes,
    rules: str,
    *,
    spare: Spared,
    without: Collection[str] = (),
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    Parameters
    ----------
    problem
        The problem.
    classes
        Classes of allocations that no law excludes.
    rules
        A key of `planner.laws.RULE_SETS`, one of YuniKorn.
    spare
        Whom YK-01 spares.
    without
        Ids of laws.
    """
    builder = Builder()
    columns = Columns(problem, classes)
    take = new_takes(builder, classes)
    usable = problem.usable.tolist()
    only = sum(usable) == 1
    # A single usable node is chosen by its bounds: rows over it then need no literal.
    nodes = [builder.new(int(only and may_host), int(may_host)) for may_host in usable]
    # Without a usable node this has no solution, and neither has the problem.
    builder.add(Linear(dict.fromkeys(nodes, 1)).equals(1))
    one_node = YK_FITS_NODE.id not in without
    formulation = Formulation(problem, columns, builder, take, nodes, one_node, spare)
    for law in RULE_SETS[rules]:
        if law.id in STATED and law.id not in without:
            STATED[law.id](formulation)
    return formulation
