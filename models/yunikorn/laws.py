"""The laws that tie victims together, one function each, over a formulation.

The laws that exclude single allocations are in candidates.py, YK-05 is in over_guaranteed.py; all
ids and sources are in planner/laws.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import numpy as np

from planner.laws import Register
from planner.laws.yunikorn import (
    YK_FITS_NODE,
    YK_LAST_TIER,
    YK_LEAVES_GUARANTEED,
    YK_OVER_GUARANTEED,
    YK_PREEMPTABLE,
    YK_UNDER_GUARANTEED,
    YK_WITHIN_GUARANTEED,
    YK_WITHIN_LIMITS,
    Spared,
)
from planner.models.shared.builder import Linear, variable
from planner.models.yunikorn.need import (
    above_guaranteed,
    is_under_guaranteed,
    missing_on,
    over_limits,
    short_of_guaranteed,
)
from planner.models.yunikorn.over_guaranteed import over_guaranteed
from planner.problem.array import BoolArray
from planner.problem.yunikorn import NOWHERE, YuniKornProblem

if TYPE_CHECKING:
    from planner.models.yunikorn.formulation import Formulation

STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law is stated over a formulation, by the law's id."""

STATED.of(YK_OVER_GUARANTEED)(over_guaranteed)


@STATED.of(YK_LAST_TIER)
def spares_last_tier(formulation: Formulation) -> None:
    """YK-01: no victim has opted out, or, where that is asked for, is an originator.

    Whether some other legal set exists is not a question of one model: whoever finds none
    without such victims builds it again with less of this law.

    Source: docs/semantics/yunikorn.md §15.
    """
    last_tier = spared_by(formulation.problem, formulation.spare).tolist()
    members = formulation.classes.members
    for take, positions in zip(formulation.take, members, strict=True):
        # Members stand in the core's order, those that opted out last: the first ones are ordinary.
        ordinary = sum(not last_tier[position] for position in positions)
        formulation.builder.add(variable(take) <= ordinary)


def spared_by(problem: YuniKornProblem, spare: Spared) -> BoolArray:
    """Return whom YK-01 spares: (A,)."""
    if spare == "nobody":
        return np.zeros_like(problem.opted_out)
    return problem.opted_out if spare == "opted-out" else problem.opted_out | problem.originator


@STATED.of(YK_LEAVES_GUARANTEED)
def leaves_guaranteed(formulation: Formulation) -> None:
    """YK-02: no queue with victims ends below its guaranteed, or below where it was under it.

    For every queue q and type t of its guaranteed:

        used(q, t) - victims(q, t) + ask(t) [q above the ask] >= min(guaranteed, used)(q, t)

    Source: docs/semantics/yunikorn.md §15; design document, law 2.
    """
    columns, groups = formulation.columns, formulation.groups
    sums = columns.sums(groups)
    for queue, t, may_go in above_guaranteed(formulation.problem):
        # Only one of the groups goes, and most do not hold so much.
        binding = [
            classes[columns.within[queue][columns.queue[classes]]]
            for classes, held in zip(groups, sums[:, queue, t].tolist(), strict=True)
            if held > may_go
        ]
        if binding:
            formulation.builder.add(formulation.freed(np.concatenate(binding), t) <= may_go)


@STATED.of(YK_WITHIN_GUARANTEED)
def within_guaranteed(formulation: Formulation) -> None:
    """YK-04: the ask fits into what its queue has left of its guaranteed.

    For every guarantee g of a type t of the ask that counts at the queue of the ask:

        left(g) + victims(queue of g, t) >= ask(t)

    With enough left at once that holds for any victims. A queue without any guarantee on its way
    may not preempt.

    Source: docs/semantics/yunikorn.md §6 and §15.
    """
    short = short_of_guaranteed(formulation.problem)
    if short is None:
        formulation.builder.any_of([])
        return
    for queue, t, amount in short:
        formulation.builder.add(formulation.freed_below(queue, t) >= amount)


@STATED.of(YK_UNDER_GUARANTEED)
def under_guaranteed(formulation: Formulation) -> None:
    """YK-12: the queue of the ask is under its guaranteed before anything is removed.

    Source: design document, law 4.
    """
    if not is_under_guaranteed(formulation.problem):
        formulation.builder.any_of([])


@STATED.of(YK_FITS_NODE)
def fits_node(formulation: Formulation) -> None:
    """YK-08: the ask fits on the chosen node, and victims are there.

    For every usable node n without room and type t, with x(n) its literal:

        victims(n, t) >= missing(n, t) x(n)

    and a victim on m needs x(m), or x(n) of a node n with room: then victims are anywhere. An
    ask with a required node asks that no type, also none that it does not name, stays below 0.

    Source: docs/semantics/yunikorn.md §7, §11.1 and §15.
    """
    columns, builder = formulation.columns, formulation.builder
    free = columns.free_nodes
    for node, classes in columns.of_node.items():
        if node not in free:
            chosen = formulation.alternatives[node]
            for t, missing in missing_on(formulation.problem, node).items():
                freed = formulation.freed(classes, t)
                builder.add(freed >= missing * variable(chosen))
    anywhere = {formulation.alternatives[node] for node in free}
    nodes, counts = columns.node.tolist(), columns.counts.tolist()
    for take, node, count in zip(formulation.take, nodes, counts, strict=True):
        # On a node that the partition lacks: it may go only where victims may be anywhere.
        own = set() if node == NOWHERE else {formulation.alternatives[node]}
        permitted = Linear(dict.fromkeys(anywhere | own, -count))
        builder.add(permitted + variable(take) <= 0)


@STATED.of(YK_WITHIN_LIMITS)
def within_limits(formulation: Formulation) -> None:
    """YK-09: the ask's queue and all above it are within their maximum, with the ask.

    For every queue p of the path and type t of the ask:

        allocated(p, t) - victims(p, t) + ask(t) <= max(0, max(p, t))

    A type that the maximum lacks is not limited; at the root it counts as 0.

    Source: docs/semantics/yunikorn.md §15.
    """
    for queue, t, over in over_limits(formulation.problem):
        formulation.builder.add(formulation.freed_below(queue, t) >= over)


@STATED.of(YK_PREEMPTABLE)
def preemptable(formulation: Formulation) -> None:
    """YK-10: there is at least one victim.

    Source: docs/semantics/yunikorn.md §15.
    """
    formulation.builder.add(Linear(dict.fromkeys(formulation.take, 1)) >= 1)
