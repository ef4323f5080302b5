"""Disruption terms as expressions over the columns of a formulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from planner.models.kueue.formulation import Formulation
from planner.models.shared.builder import ZERO, Linear, variable
from planner.objective.profiles import Measure
from planner.objective.terms import TermTable


def express(formulation: Formulation, table: TermTable, measure: Measure) -> Linear:
    """Return a sum of terms as an expression; it is exact where it is minimised or bounded above.

    Terms that are no sums get auxiliary variables bounded from below only.
    """
    total = ZERO
    for term in measure:
        build = _NOT_SEPARABLE.get(term)
        total = total.plus(build(formulation, table) if build else _sum(formulation, table, term))
    return total


def _sum(formulation: Formulation, table: TermTable, term: str) -> Linear:
    costs = table.separable[term][formulation.columns.first].tolist()
    return Linear({v: cost for v, cost in zip(formulation.take, costs, strict=True) if cost})


def _highest_rank(formulation: Formulation, table: TermTable) -> Linear:
    """D1: the largest rank among victims that are not being evicted already."""
    builder, columns = formulation.builder, formulation.columns
    ranks = table.rank[columns.first].tolist()
    evicted = table.problem.evicted[columns.first].tolist()
    going = [k for k in range(len(columns)) if not evicted[k]]
    if not going:
        return ZERO
    highest = builder.new(0, max(ranks[k] for k in going))
    hit = {rank: builder.new_bool() for rank in sorted({ranks[k] for k in going})}
    for rank, literal in hit.items():
        builder.at_least(variable(highest), rank, when=[literal])
    for k in going:
        take = variable(formulation.take[k])
        builder.at_most(take.plus(variable(hit[ranks[k]]), -columns.count(k)), 0)
    return variable(highest)


def _over_freed(formulation: Formulation, table: TermTable) -> Linear:
    """D7: what victims free beyond the need, weighted, over the contested flavor-resources."""
    columns, problem = formulation.columns, formulation.problem
    going = ~problem.evicted[columns.first]
    total = ZERO
    for fr in problem.contested:
        if table.weight[fr] == 0:
            continue
        holding = (columns.holding[:, fr] * going).tolist()
        freed = Linear({v: h for v, h in zip(formulation.take, holding, strict=True) if h})
        over = formulation.builder.positive_part(freed.shifted(-table.need[fr]))
        total = total.plus(over, table.weight[fr])
    return total


def _queues_touched(formulation: Formulation, table: TermTable) -> Linear:
    """D8: how many queues have a victim that is not being evicted already."""
    builder, columns = formulation.builder, formulation.columns
    evicted = table.problem.evicted[columns.first].tolist()
    by_queue: dict[int, list[int]] = {}
    for k, queue in enumerate(columns.queue.tolist()):
        if not evicted[k]:
            by_queue.setdefault(queue, []).append(k)
    touched = {}
    for queue, classes in by_queue.items():
        touched[queue] = builder.new_bool()
        for k in classes:
            take = variable(formulation.take[k])
            builder.at_most(take.plus(variable(touched[queue]), -columns.count(k)), 0)
    return Linear(dict.fromkeys(touched.values(), 1))


_NOT_SEPARABLE: Final[Mapping[str, Callable[[Formulation, TermTable], Linear]]] = {
    "D1": _highest_rank,
    "D7": _over_freed,
    "D8": _queues_touched,
}
