"""Linear rows that every legal victim set for a node satisfies: the model without its hard parts.

They tell what is missing on a node even with all candidates gone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from planner.laws import RULE_SETS, yunikorn
from planner.models.shared.classes import Classes, Row
from planner.models.yunikorn.candidates import (
    is_under_guaranteed,
    missing_on,
    over_limits,
    short_of_guaranteed,
)
from planner.models.yunikorn.formulation import Columns
from planner.problem.array import IntArray
from planner.problem.yunikorn import YuniKornProblem


class NodeRows(Struct, frozen=True):
    """The rows that the victims of every plan for one node satisfy.

    - ``classes``: (C,) the classes that can have victims: those on the node; all, if the node has
      room for the ask without any victims.
    - ``cover``: Rows for what victims must free, over these classes: coefficients (C,) >= 0.
    """

    classes: IntArray
    cover: Sequence[Row]


def node_rows(problem: YuniKornProblem, classes: Classes, rules: str) -> dict[int, NodeRows]:
    """Return the rows of each usable node: that the ask fits there, and within what queues permit.

    - ``classes``: Classes of allocations that no law excludes.
    - ``rules``: A key of `planner.laws.RULE_SETS`, one of YuniKorn.
    """
    columns = Columns(problem, classes)
    laws = RULE_SETS[rules]
    short = short_of_guaranteed(problem) if yunikorn.YK_WITHIN_GUARANTEED in laws else []
    if yunikorn.YK_UNDER_GUARANTEED in laws and not is_under_guaranteed(problem):
        short = None  # no victims help
    over = over_limits(problem) if yunikorn.YK_WITHIN_LIMITS in laws else []
    needs = None if short is None else [*short, *over]
    found = {}
    for node, on_node in columns.of_node.items():
        holding = columns.holding[on_node]
        if needs is None:
            # 0 >= 1: a row that nothing satisfies, with a name for the proof.
            cover = [Row.of("nothing is guaranteed to the ask", np.zeros_like(on_node), 1)]
        else:
            cover = [Row.of("victims", np.ones_like(on_node), 1)]
            short_here = {} if node in columns.free_nodes else missing_on(problem, node)
            cover += [
                Row.of(f"{problem.types[t]} on {problem.nodes[node]}", holding[:, t], missing)
                for t, missing in short_here.items()
            ]
            for need in needs:
                below = columns.within[need.queue][columns.queue[on_node]]
                name = f"{problem.types[need.type]} below {problem.queues[need.queue].path}"
                cover.append(Row.of(name, np.where(below, holding[:, need.type], 0), need.amount))
        found[node] = NodeRows(on_node, cover)
    return found
