"""Disruption terms as expressions over the classes of a formulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

import numpy as np

from planner.models.shared.builder import (
    ZERO,
    Builder,
    Linear,
    constant,
    negation,
    refuse_overflow,
    variable,
)
from planner.objective.profiles import Measure
from planner.objective.terms import PER_MILLE, Replayed, TermTable, counted_as_borrowed, unfairness
from planner.problem.array import IntArray
from planner.quota.classes import Classes
from planner.term import MORE, RATED

GroupT = TypeVar("GroupT")


class Measured(Protocol):
    """A formulation of any scheduler: its classes, and how many victims each class has."""

    @property
    def builder(self) -> Builder:
        """The model under construction."""
        ...

    @property
    def classes(self) -> Classes:
        """The classes of candidates."""
        ...

    @property
    def take(self) -> Sequence[int]:
        """The variable of each class: how many of its members are victims."""
        ...

    @property
    def alternatives(self) -> Sequence[int]:
        """The literals of alternatives, such as nodes: one is true; empty without a choice."""
        ...


def express(formulation: Measured, table: TermTable, measure: Measure) -> Linear:
    """Return a sum of terms as an expression, exact where it is minimised or bounded above.

    Terms that are not sums over victims get auxiliary variables, bounded from below only.
    """
    return sum((_term(formulation, table, term) for term in measure), start=ZERO)


def _term(formulation: Measured, table: TermTable, term: str) -> Linear:
    if term in table.separable:
        return _times(formulation, table.separable[term][formulation.classes.first])
    if term in table.replayed:
        return _as_far_as_known(formulation, table.replayed[term], guessing=table.guessing)
    return _NOT_SEPARABLE[term](formulation, table)


def _times(formulation: Measured, amounts: IntArray) -> Linear:
    """Return the sum of amounts over all victims, given per member of each class: (K,)."""
    pairs = zip(formulation.take, amounts.tolist(), strict=True)
    return Linear({v: amount for v, amount in pairs if amount})


def hit_where_taken(formulation: Measured, members: Iterable[int], literal: int) -> None:
    """State that a literal is true if at least one of the classes ``members`` has a victim."""
    for k in members:
        take = variable(formulation.take[k])
        formulation.builder.add(take <= formulation.classes.count(k) * variable(literal))


def _going(formulation: Measured, table: TermTable) -> list[int]:
    """Return the classes whose members are not being evicted already."""
    return np.flatnonzero(~table.leaving[formulation.classes.first]).tolist()


def _grouped(
    formulation: Measured, table: TermTable, groups: Sequence[GroupT]
) -> dict[GroupT, list[int]]:
    """Return the classes not being evicted already, by group; ``groups`` has each class's: (K,)."""
    found: dict[GroupT, list[int]] = {}
    for k in _going(formulation, table):
        if groups[k] != "":  # workloads whose namespace is not known
            found.setdefault(groups[k], []).append(k)
    return found


def _highest_rank(formulation: Measured, table: TermTable) -> Linear:
    """The largest rank among victims that are not being evicted already."""
    builder, going = formulation.builder, _going(formulation, table)
    ranks = table.rank[formulation.classes.first].tolist()
    if not going:
        return ZERO
    highest = builder.new(0, max(ranks[k] for k in going))
    hit = {rank: builder.new_bool() for rank in sorted({ranks[k] for k in going})}
    for rank, literal in hit.items():
        # One literal per rank and not per class: ranks are few, and the row is shared.
        builder.add(variable(highest) >= rank, when=[literal])
    for k in going:
        hit_where_taken(formulation, [k], hit[ranks[k]])
    return variable(highest)


def _over_freed(formulation: Measured, table: TermTable) -> Linear:
    """What victims free beyond the need, weighted, over the contested resources."""
    first = formulation.classes.first
    going = ~table.leaving[first]
    total = ZERO
    for fr in table.contested:
        if table.weight[fr] == 0:
            continue
        freed = _times(formulation, table.holding[first, fr] * going)
        # What must be freed depends on the alternative that is chosen.
        need = constant(table.needs[0][fr])
        if formulation.alternatives:
            chosen = zip(formulation.alternatives, table.needs, strict=True)
            need = Linear({literal: needs[fr] for literal, needs in chosen})
        over = formulation.builder.positive_part(freed - need)
        total = total + table.weight[fr] * over
    return total


def _beyond_budgets(formulation: Measured, table: TermTable) -> Linear:
    """pdb: pods beyond what each PodDisruptionBudget permits, added up over the budgets."""
    first = formulation.classes.first
    going = ~table.leaving[first]
    over = (
        _times(formulation, budget.pods[first] * going) - budget.allowed
        for budget in table.budgets or ()
    )
    return sum(map(formulation.builder.positive_part, over), start=ZERO)


def _touched(formulation: Measured, table: TermTable, groups: Sequence[GroupT]) -> Linear:
    """How many groups, of each class one, have a victim that is not being evicted already."""
    touched, certain = [], 0
    for members in _grouped(formulation, table, groups).values():
        if formulation.builder.is_positive(formulation.take[k] for k in members):
            certain += 1
            continue
        touched.append(formulation.builder.new_bool())
        hit_where_taken(formulation, members, touched[-1])
    return Linear(dict.fromkeys(touched, 1), certain)


def _unfairness(formulation: Measured, table: TermTable) -> Linear:
    """The largest ratio of victims' size to what their queue borrows, per mille, rounded up.

    It is an integer u >= 1000 * s / b for every queue, and for every cohort that shares, with s the
    size of their victims and b what they borrow.
    """
    builder, classes = formulation.builder, formulation.classes
    sizes = table.size[classes.first].tolist()
    members: dict[int, list[int]] = {}
    queues = table.queue[classes.first].tolist()
    for queue, of_queue in _grouped(formulation, table, queues).items():
        for sharer in table.sharers[queue]:
            members.setdefault(sharer, []).extend(of_queue)
    taken = {
        sharer: Linear({formulation.take[k]: sizes[k] for k in of_it if sizes[k]})
        for sharer, of_it in members.items()
    }
    most = (unfairness(builder.bounds(taken[each])[1], table.borrowed[each]) for each in taken)
    highest = builder.new(0, max(most, default=0))
    for sharer, size in taken.items():
        whole = counted_as_borrowed(table.borrowed[sharer])
        builder.add(Linear({highest: whole}) >= PER_MILLE * size)
    return variable(highest)


def _more_than_own(formulation: Measured, table: TermTable) -> Linear:
    """more@each: 1 if there are more victims than in a given plan, by priority from the highest.

    Per priority, from the highest down, ``fewer`` may be 1 only where this or an earlier priority
    has fewer victims than the given plan, or the term is 1 anyway; where no earlier priority has
    fewer, there are at most as many victims of this one as in the given plan:

        victims + fewer <= given + (all candidates + 1) * fewer before
    """
    builder, classes = formulation.builder, formulation.classes
    given = table.own or {}
    going = _grouped(formulation, table, table.priority[classes.first].tolist())
    before = value = builder.new_bool()
    for priority in sorted({*given, *going}, reverse=True):
        takes = (formulation.take[k] for k in going.get(priority, ()))
        victims, fewer = Linear(dict.fromkeys(takes, 1)), builder.new_bool()
        # So large that the row binds nothing once an earlier priority has fewer.
        slack = builder.bounds(victims)[1] + 1
        row = victims + variable(fewer) - slack * variable(before)
        builder.add(row <= given.get(priority, 0))
        before = fewer
    return variable(value)


def _rated(formulation: Measured, table: TermTable) -> Linear:
    """Add up terms at the rates of the objective, where not all of them are sums over victims."""
    total = ZERO
    for term, rate in table.rates.items():
        total = total + rate * _term(formulation, table, term)
    refuse_overflow(total, *formulation.builder.bounds(total))
    return total


MOST_SPARED: Final = 1000
"""Classes up to which it is asked of each when it is spared, once any victim was counted."""


def _as_far_as_known(formulation: Measured, replay: Replayed, *, guessing: bool) -> Linear:
    """How many victims count by what is known of all sets, and by all cuts or guesses so far."""
    builder, cuts = formulation.builder, replay.guesses if guessing else replay.cuts
    take = {k[0]: v for k, v in zip(formulation.classes.members, formulation.take, strict=True)}
    learned = dict.fromkeys(cut.victim for cut in cuts if cut.victim in take)
    asked = learned if not learned or len(take) > MOST_SPARED else take
    counted = _unless_spared(formulation, replay, {victim: take[victim] for victim in asked})
    for cut in cuts:
        if not take.keys() >= {cut.victim, *cut.going}:
            continue
        differs = []
        for amounts, least, most in cut.sums:
            sum_ = Linear({take[j]: amount for j, amount in amounts.items() if j in take})
            low, high = builder.bounds(sum_)
            differs += builder.outside(sum_, least, most)
            if high < least or most < low:
                break
        else:
            if cut.victim not in counted:
                counted[cut.victim] = builder.new_bool()
            gone = (take[j] for j in (cut.victim, *sorted(cut.going)))
            builder.any_of(
                [
                    counted[cut.victim],
                    *map(negation, gone),
                    *(take[j] for j in sorted(cut.staying) if j in take),
                    *builder.witnesses(differs),
                ]
            )
    return Linear(dict.fromkeys(counted.values(), 1))


def _unless_spared(
    formulation: Measured, replay: Replayed, asked: Mapping[int, int]
) -> dict[int, int]:
    """Return literals by victim, true where one goes that counts whoever goes beside it.

    ``asked`` are the variables of victims. It counts unless all victims hold enough together.
    """
    builder, first = formulation.builder, formulation.classes.first
    held, units, counted = dict[str, int](), dict[str, int](), dict[int, int]()
    for victim, gone in asked.items():
        spared = replay.spared(victim)
        if spared:
            counted[victim] = builder.new_bool()
        for name, least in spared.items():
            if name not in held:
                each = replay.holding[name][first]
                units[name] = max(1, int(np.gcd.reduce(each)))
                total = _times(formulation, each // units[name])
                held[name] = builder.new(0, builder.bounds(total)[1])
                builder.add(total - variable(held[name]) >= 0)
            needed = [(variable(held[name]), -(-least // units[name]))]
            enough = builder.witnesses(needed)
            builder.any_of([counted[victim], negation(gone), *enough])
    return counted


_NOT_SEPARABLE: Final[Mapping[str, Callable[[Measured, TermTable], Linear]]] = {
    "highest_priority": _highest_rank,
    "excess_freed": _over_freed,
    "queues": lambda of, table: _touched(of, table, table.queue[of.classes.first].tolist()),
    "namespaces": lambda of, table: _touched(
        of, table, [*map(table.tenant, of.classes.first.tolist())]
    ),
    "unfairness": _unfairness,
    MORE: _more_than_own,
    "disruption_budgets": _beyond_budgets,
    RATED: _rated,
}
