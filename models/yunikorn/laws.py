"""The laws that tie victims together, one function each, over a formulation.

The laws that exclude single allocations are in candidates.py; all ids and sources are in
planner/laws/yunikorn.py. YK-05 asks for an order of the victims in which the queue of each victim
is over its guaranteed at the victim's turn.

A victim may have its turn if nothing is guaranteed on the path of its queue, or if one of the
queue's guarantees g of a type t of the ask is exceeded at that moment. Read backwards, an order
puts victims back, each as soon as its queue, with the victim itself back, exceeds one of its
guarantees. Usage only grows that way, so

* a victim that can be put back can be put back later, too: victims have a legal order exactly if
  putting back, in any order, does not get stuck;
* once one victim of a leaf is back, the other victims of that leaf can follow at once.

Hence the model chooses one victim per leaf, its last, with the guarantee g that this victim finds
exceeded, and an order of the leaves. With ``over(g)`` the usage above g before any removal:

    over(g) - victims(q, t) - victims of leaves below g that come back after q + last(q, t) >= 1

Leaves whose victims can always be put back, whatever is evicted (nearly all), need no constraint,
and the other leaves may count on them: they are back first.

Up to 1.7 all types that are guaranteed count: one guarantee is exceeded, and of no type is anything
left, so that some guarantee of it has over >= 0. Usage only grows, so all the above holds as well.

Source: docs/semantics/yunikorn.md §5 and §15.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

import numpy as np

from planner.laws import RULE_SETS, Register, yunikorn
from planner.laws.yunikorn import Spared
from planner.models.shared.builder import (
    ZERO,
    Builder,
    Linear,
    constant,
    made_once,
    negation,
    variable,
)
from planner.models.shared.classes import in_force, new_takes
from planner.models.shared.measure import hit_where_taken
from planner.models.yunikorn.candidates import (
    Counting,
    Guarantee,
    above_guaranteed,
    counting_guarantees,
    is_under_guaranteed,
    missing_on,
    over_limits,
    short_of_guaranteed,
)
from planner.models.yunikorn.formulation import Columns, Formulation
from planner.problem.array import BoolArray, IntArray
from planner.problem.yunikorn import NOWHERE, YuniKornProblem
from planner.quota.classes import Classes

_NONE: Final = 2**62
"""More than any allocation holds."""


def over_guaranteed(formulation: Formulation) -> None:
    """YK-05: there is an order of removals in which every victim has its turn."""
    groups = formulation.groups
    counting = counting_guarantees(formulation.problem)
    for classes, leaves in zip(
        groups, doubtful_leaves(formulation.columns, groups, counting), strict=True
    ):
        if leaves.any():
            turns = _Turns(formulation, classes, np.flatnonzero(leaves).tolist())
            for leaf in turns.leaves:
                turns.require(leaf, counting[leaf] or ())


def doubtful_leaves(
    columns: Columns, groups: Sequence[IntArray], counting: Sequence[Counting]
) -> BoolArray:
    """Return which leaves might not be put back if all candidates of a group are gone: (G, Q).

    A leaf is certain if one of its guarantees is exceeded once its smallest candidate is back
    and all other candidates below the guarantee are gone, except those of certain leaves. Up to 1.7
    no leaf with a guarantee is.
    """
    # (G, Q, T) the least that a candidate of each leaf holds, _NONE without any.
    shape = len(groups), len(columns.problem.queues), columns.holding.shape[1]
    least = np.full(shape, _NONE, dtype=np.int64)
    doubtful = np.zeros(least.shape[:2], dtype=np.bool_)
    for index, classes in enumerate(groups):
        np.minimum.at(least[index], columns.queue[classes], columns.holding[classes])
        doubtful[index, columns.queue[classes]] = True
    # If nothing is guaranteed on the path of a queue, its victims have their turn at any time.
    doubtful[:, [queue for queue, counts in enumerate(counting) if counts is None]] = False
    while True:
        # Certain leaves are back first, so only what doubtful leaves hold may be gone; each leaf
        # that becomes certain may make others certain, until none does.
        gone = columns.sums(groups, doubtful)
        certain = np.zeros_like(doubtful)
        for leaf in np.flatnonzero(doubtful.any(axis=0)).tolist():
            for g in () if columns.problem.older else counting[leaf] or ():
                back = least[:, leaf, g.type]
                certain[:, leaf] |= back - gone[:, g.queue, g.type] > g.left
        if not (doubtful & certain).any():
            return doubtful
        doubtful &= ~certain


class _Turns:
    """The last victims and the order of doubtful leaves in one group of classes."""

    def __init__(self, formulation: Formulation, classes: IntArray, leaves: Sequence[int]) -> None:
        self.leaves = leaves
        self._formulation = formulation
        self._builder = formulation.builder
        queues = formulation.columns.queue[classes]
        self._classes = {leaf: classes[queues == leaf] for leaf in leaves}
        self._last = made_once(self._choose_last)
        self._which_last = made_once(self._which)
        self._gone = made_once(self._add_up)
        self._still_gone = made_once(self._stay_gone)
        self._before = made_once(self._order)
        self._rank = made_once(self._rank_of)

    def require(self, leaf: int, guarantees: Sequence[Guarantee]) -> None:
        """Require touched => the last victim of a leaf finds some guarantee exceeded."""
        builder, formulation = self._builder, self._formulation
        touched = builder.new_bool()
        hit_where_taken(formulation, self._classes[leaf].tolist(), touched)
        # A guarantee that is not exceeded now never is: removals only lower usage.
        exceeded = ((self._over(leaf, g), 1) for g in guarantees if g.left < 0)
        builder.any_of([*builder.witnesses(exceeded), negation(touched)])
        # Up to 1.7 nothing may be left of any type, at the turn of the same victim.
        for t in {g.type for g in guarantees} if formulation.problem.older else ():
            spent = ((self._over(leaf, g), 0) for g in guarantees if g.type == t and g.left <= 0)
            builder.any_of([*builder.witnesses(spent), negation(touched)])

    def _over(self, leaf: int, g: Guarantee) -> Linear:
        over = constant(-g.left) - self._gone(leaf, g.type) + self._last(leaf, g.type)
        below = self._formulation.problem.within[g.queue]
        for other in self.leaves:
            if other != leaf and below[other]:
                over = over - self._still_gone(other, leaf, g.type)
        return over

    def _choose_last(self, leaf: int, t: int) -> Linear:
        """Return how much of a type the last victim of a leaf holds; 0 if it has no victims.

        The expression has a literal per size that occurs; at most one of them is true.
        """
        builder, formulation = self._builder, self._formulation
        classes = self._classes[leaf]
        held = formulation.columns.holding[classes, t]
        if formulation.problem.older:
            which = self._which_last(leaf)
            return Linear({one: n for one, n in zip(which, held.tolist(), strict=True) if n})
        # By size and not by class: which of the victims of one size is last does not matter.
        literals = {builder.new_bool(): size for size in sorted({*held[held > 0].tolist()})}
        for literal, size in literals.items():
            of_size = [formulation.take[k] for k in classes[held == size].tolist()]
            builder.add(Linear(dict.fromkeys(of_size, 1)) >= variable(literal))
        builder.add(Linear(dict.fromkeys(literals, 1)) <= 1)
        return Linear(literals)

    def _which(self, leaf: int) -> list[int]:
        """Return a literal for each class of a leaf: whether its last victim is of that class."""
        literals = [self._builder.new_bool() for _ in self._classes[leaf]]
        for literal, k in zip(literals, self._classes[leaf].tolist(), strict=True):
            self._builder.add(variable(self._formulation.take[k]) >= variable(literal))
        self._builder.add(Linear(dict.fromkeys(literals, 1)) <= 1)
        return literals

    def _add_up(self, leaf: int, t: int) -> Linear:
        """Return how much of a type all victims of a leaf hold, over at most one variable."""
        freed = self._formulation.freed(self._classes[leaf], t)
        if len(freed.terms) <= 1:
            return freed
        most = self._builder.bounds(freed)[1]
        gone = Linear({self._builder.new(0, most // freed.unit): freed.unit})
        self._builder.add(freed.equals(gone))
        return gone

    def _stay_gone(self, other: int, leaf: int, t: int) -> Linear:
        """Return what victims of ``other`` hold that are not back at the turn of ``leaf``.

        It is 0 if ``other`` is back first, and is bounded from below only.
        """
        builder = self._builder
        gone = self._gone(other, t)
        most = builder.bounds(gone)[1]
        if most == 0:
            return ZERO
        still = Linear({builder.new(0, most // gone.unit): gone.unit})
        back = self._before(other, leaf)
        # If ``other`` is back first, ``still`` may be 0; else it is at least all that is gone.
        builder.add(still - gone + most * variable(back) >= 0)
        return still

    def _rank_of(self, leaf: int) -> int:
        del leaf
        return self._builder.new(0, len(self.leaves) - 1)

    def _order(self, first: int, second: int) -> int:
        literal = self._builder.new_bool()
        later = variable(self._rank(second)) - variable(self._rank(first))
        # Ranks exclude circles; leaves that are not compared may have the same rank.
        self._builder.add(later >= 1, when=[literal])
        return literal


STATED: Final[Register[Callable[[Formulation], None]]] = Register()
"""How a law is stated over a formulation, by the law's id."""

STATED.of(yunikorn.YK_OVER_GUARANTEED)(over_guaranteed)


@STATED.of(yunikorn.YK_LAST_TIER)
def spares_last_tier(formulation: Formulation) -> None:
    """YK-01: no victim has opted out, or, if ``spare`` says so, is an originator.

    One model cannot say whether a legal set without such victims exists: a caller that finds none
    builds the model again, with a ``spare`` that spares fewer.

    Source: docs/semantics/yunikorn.md §15.
    """
    last_tier = spared_by(formulation.problem, formulation.spare).tolist()
    members = formulation.classes.members
    for take, positions in zip(formulation.take, members, strict=True):
        # Members are in the core's order, with those that opted out last: ordinary ones come first.
        ordinary = sum(not last_tier[position] for position in positions)
        formulation.builder.add(variable(take) <= ordinary)


def spared_by(problem: YuniKornProblem, spare: Spared) -> BoolArray:
    """Return whom YK-01 spares: (A,); nobody where a quota was lowered."""
    if spare == "nobody" or problem.shares is not None:
        return np.zeros_like(problem.opted_out)
    return problem.opted_out if spare == "opted-out" else problem.opted_out | problem.originator


@STATED.of(yunikorn.YK_LEAVES_GUARANTEED)
def leaves_guaranteed(formulation: Formulation) -> None:
    """YK-02: no queue with victims ends below its guaranteed, or below its usage if that is less.

    For every queue q and type t of its guaranteed:

        used(q, t) - victims(q, t) + ask(t) [q above the ask] >= min(guaranteed, used)(q, t)

    Source: docs/semantics/yunikorn.md §15; design document, law 2.
    """
    columns, groups = formulation.columns, formulation.groups
    sums = columns.sums(groups)
    for queue, t, may_go in above_guaranteed(formulation.problem):
        # Only one group has victims, and most groups do not hold more than may be freed.
        binding = [
            classes[columns.problem.within[queue][columns.queue[classes]]]
            for classes, held in zip(groups, sums[:, queue, t].tolist(), strict=True)
            if held > may_go
        ]
        if binding:
            formulation.builder.add(formulation.freed(np.concatenate(binding), t) <= may_go)


@STATED.of(yunikorn.YK_WITHIN_GUARANTEED)
def within_guaranteed(formulation: Formulation) -> None:
    """YK-04: the ask fits into what its queue has left of its guaranteed.

    For every guarantee g of a type t of the ask that counts at the queue of the ask:

        left(g) + victims(queue of g, t) >= ask(t)

    If enough is left before any removal, this holds for any victims. If nothing is guaranteed on
    the path of its queue, the ask may not preempt.

    Source: docs/semantics/yunikorn.md §6 and §15.
    """
    short = short_of_guaranteed(formulation.problem)
    if short is None:
        formulation.builder.any_of([])
        return
    for queue, t, amount in short:
        formulation.builder.add(formulation.freed_below(queue, t) >= amount)


@STATED.of(yunikorn.YK_UNDER_GUARANTEED)
def under_guaranteed(formulation: Formulation) -> None:
    """YK-12: the queue of the ask is under its guaranteed before anything is removed.

    Source: design document, law 4.
    """
    if not is_under_guaranteed(formulation.problem):
        formulation.builder.any_of([])


@STATED.of(yunikorn.YK_FITS_NODE)
def fits_node(formulation: Formulation) -> None:
    """YK-08: the ask fits on the chosen node, and victims are there.

    For every usable node n without room and type t, with x(n) its literal:

        victims(n, t) >= missing(n, t) x(n)

    and a victim on m needs x(m), or x(n) of a node n with room: then victims may be anywhere. For
    an ask with a required node no type may stay below 0, also none that the ask does not name.
    Where Kubernetes' pods and nodes are known, what the ask's pod lacks there is missing as types
    are: what is requested by Kubernetes' own count, places for pods, and host ports.

    Source: docs/semantics/yunikorn.md §7, §11.1 and §15; docs/semantics/yunikorn-features.md §22.
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
    nodes, counts = columns.node.tolist(), columns.classes.sizes.tolist()
    for take, node, count in zip(formulation.take, nodes, counts, strict=True):
        # A class on a node that the partition lacks has victims only if these may be anywhere.
        own = set() if node == NOWHERE else {formulation.alternatives[node]}
        permitted = Linear(dict.fromkeys(anywhere | own, -count))
        builder.add(permitted + variable(take) <= 0)


@STATED.of(yunikorn.YK_WITHIN_LIMITS)
def within_limits(formulation: Formulation) -> None:
    """YK-09: the ask's queue and all above it are within their maximum, with the ask.

    For every queue p of the path and type t of the ask:

        allocated(p, t) - victims(p, t) + ask(t) <= max(0, max(p, t))

    A type that the maximum lacks is not limited; at the root it counts as 0.

    Source: docs/semantics/yunikorn.md §15.
    """
    for queue, t, over in over_limits(formulation.problem):
        formulation.builder.add(formulation.freed_below(queue, t) >= over)


@STATED.of(yunikorn.YK_PREEMPTABLE)
def preemptable(formulation: Formulation) -> None:
    """YK-10: there is at least one victim.

    Source: docs/semantics/yunikorn.md §15.
    """
    formulation.builder.add(Linear(dict.fromkeys(formulation.take, 1)) >= 1)


@STATED.of(yunikorn.YK_WITHIN_MAX)
def within_max(formulation: Formulation) -> None:
    """YK-13: the queue is within its maximum.

    For every type t of which it uses more:

        victims(t) >= used(t) - max(t)

    Source: docs/semantics/yunikorn.md §11.2.
    """
    problem = formulation.problem
    for name, amount in (problem.excess or {}).items():
        freed = formulation.freed_below(problem.own_queue, problem.types.index(name))
        formulation.builder.add(freed >= amount)


def lacking(problem: YuniKornProblem, classes: Classes, rules: str) -> dict[int, list[str]]:
    """Return by usable node, in words, what all candidates together hold too little of for it.

    - ``classes``: Classes of allocations that no law excludes.
    - ``rules``: A key of `planner.laws.RULE_SETS`, one of YuniKorn.
    """
    columns, laws = Columns(problem, classes), RULE_SETS[rules]
    short = short_of_guaranteed(problem) if yunikorn.YK_WITHIN_GUARANTEED in laws else []
    over = over_limits(problem) if yunikorn.YK_WITHIN_LIMITS in laws else []
    hopeless = yunikorn.YK_UNDER_GUARANTEED in laws and not is_under_guaranteed(problem)
    # In Python's integers, which no sum leaves.
    held = columns.holding.astype(object) * classes.sizes[:, None]
    found = {}
    for node, on_node in columns.of_node.items():
        if hopeless or short is None:
            found[node] = ["nothing is guaranteed to the ask"]
            continue
        missing = {} if node in columns.free_nodes else missing_on(problem, node)
        found[node] = [] if on_node.size else ["victims"]
        found[node] += [
            f"{problem.types[t]} on {problem.nodes[node]}"
            for t, amount in missing.items()
            if held[on_node, t].sum() < amount
        ]
        for queue, t, amount in (*short, *over):
            below = on_node[columns.problem.within[queue][columns.queue[on_node]]]
            if held[below, t].sum() < amount:
                found[node].append(f"{problem.types[t]} below {problem.queues[queue].path}")
    return found


def assemble(
    problem: YuniKornProblem,
    classes: Classes,
    rules: str,
    *,
    spare: Spared,
    without: Collection[str] = (),
) -> Formulation:
    """Build the model; laws whose id is in ``without`` are left out (to show that each counts).

    - ``classes``: Classes of allocations that no law excludes.
    - ``rules``: A key of `planner.laws.RULE_SETS`, one of YuniKorn.
    - ``spare``: Whom YK-01 spares.
    """
    builder = Builder()
    columns = Columns(problem, classes)
    take = new_takes(builder, classes)
    usable = problem.usable.tolist()
    only = sum(usable) == 1
    # A single usable node is chosen by its bounds: rows over it then need no literal.
    nodes = [builder.new(int(only and may_host), int(may_host)) for may_host in usable]
    # Without a usable node this row has no solution, and neither has the problem.
    builder.add(Linear(dict.fromkeys(nodes, 1)).equals(1))
    one_node = yunikorn.YK_FITS_NODE.id not in without
    formulation = Formulation(problem, columns, builder, take, nodes, one_node, spare)
    for state in in_force(STATED, RULE_SETS[rules], without):
        state(formulation)
    return formulation
