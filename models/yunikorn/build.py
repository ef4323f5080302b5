"""A YuniKorn problem as a CP-SAT model: variables, then a flat list of laws."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final

from planner.laws import (
    RULE_SETS,
    YK_FITS_NODE,
    YK_LAST_TIER,
    YK_LEAVES_GUARANTEED,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_UNDER_GUARANTEED,
    YK_WITHIN_GUARANTEED,
    YK_WITHIN_LIMITS,
    Law,
    Spared,
)
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Classes, new_takes
from planner.models.yunikorn.columns import Columns
from planner.models.yunikorn.formulation import Formulation
from planner.models.yunikorn.laws import (
    fits_node,
    leaves_guaranteed,
    preemptable,
    spares_last_tier,
    under_guaranteed,
    within_guaranteed,
    within_limits,
)
from planner.models.yunikorn.over_guaranteed import over_guaranteed
from planner.problem.yunikorn import YuniKornProblem

LAWS: Final[tuple[tuple[Law, Callable[[Formulation], None]], ...]] = (
    (YK_LAST_TIER, spares_last_tier),
    (YK_LEAVES_GUARANTEED, leaves_guaranteed),
    (YK_WITHIN_GUARANTEED, within_guaranteed),
    (YK_UNDER_GUARANTEED, under_guaranteed),
    (YK_OVER_GUARANTEED, over_guaranteed),
    (YK_FITS_NODE, fits_node),
    (YK_WITHIN_LIMITS, within_limits),
    (YK_PREEMPTABLE, preemptable),
)


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
    nodes = [builder.new(int(only and may_host), int(may_host)) for may_host in usable]
    builder.equal(Linear(dict.fromkeys(nodes, 1)), 1)
    one_node = YK_FITS_NODE.id not in without
    formulation = Formulation(problem, columns, builder, take, nodes, one_node, spare)
    in_force = {law.id for law in RULE_SETS[rules]}.difference(without)
    for law, state in LAWS:
        if law.id in in_force:
            state(formulation)
    return formulation
