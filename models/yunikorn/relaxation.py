"""Linear rows that every legal victim set for a node satisfies: the model without its hard parts.

The rows bound every separable cost from below, node by node. No variable here is integral, and none
is CP-SAT's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from planner.laws import RULE_SETS, yunikorn
from planner.models.shared.classes import Classes, Row
from planner.models.yunikorn.candidates import (
    At,
    above_guaranteed,
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
    - ``caps``: Rows for what victims may free at most, over these classes: coefficients <= 0.
    """

    classes: IntArray
    cover: Sequence[Row]
    caps: Sequence[Row]


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
    allowances = above_guaranteed(problem) if yunikorn.YK_LEAVES_GUARANTEED in laws else []
    held = columns.sums(list(columns.of_node.values()))
    # A cap that all candidates of a node together keep needs no row.
    binding: dict[int, list[At]] = {}
    for allowance in allowances:
        beyond = held[:, allowance.queue, allowance.type] > allowance.amount
        for number in np.flatnonzero(beyond).tolist():
            binding.setdefault(number, []).append(allowance)
    found = {}
    for number, (node, on_node) in enumerate(columns.of_node.items()):
        holding, caps = columns.holding[on_node], []
        for allowance in binding.get(number, ()):
            name, below = _held_below(columns, on_node, allowance)
            caps.append(Row.of(name, -below, -allowance.amount))
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
            cover += [Row.of(*_held_below(columns, on_node, need), need.amount) for need in needs]
        found[node] = NodeRows(on_node, cover, caps)
    return found


def _held_below(columns: Columns, classes: IntArray, at: At) -> tuple[str, IntArray]:
    """Return a name, and (C,) what a member of each class holds if at or below a queue, else 0."""
    problem, below = columns.problem, columns.within[at.queue][columns.queue[classes]]
    name = f"{problem.types[at.type]} below {problem.queues[at.queue].path}"
    return name, np.where(below, columns.holding[classes, at.type], 0)
