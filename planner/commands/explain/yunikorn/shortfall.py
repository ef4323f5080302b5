"""What is short: on the node with the least shortfall, of maxima, and of the guaranteed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np

from planner.commands.explain.yunikorn.record import YuniKornShortfall
from planner.commands.explain.yunikorn.wording import amount
from planner.laws import RULE_SETS, YK_WITHIN_GUARANTEED
from planner.models.yunikorn.need import At, missing_on, over_limits, short_of_guaranteed
from planner.problem.array import BoolArray
from planner.problem.yunikorn import YuniKornProblem
from planner.quota.yunikorn.queue import Queue
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.state.yunikorn_quantity import format_yunikorn_quantity


def shortfalls(planning: YuniKornPlanning) -> tuple[YuniKornShortfall, ...]:
    """Return what is short on the nearest node, and on the ask's path.

    The nearest node lacks the least when all candidates on it are gone, and of several the least
    before that; amounts are compared as parts of what is asked. Where no node may host the ask
    it is the one whose capacity is nearest.
    """
    problem = planning.problem
    found: list[YuniKornShortfall] = []
    if not problem.roomy or problem.ask.required_node:
        found += _of_node(planning) if problem.usable.any() else _of_capacity(planning)
    if not problem.ask.required_node:
        found += [_of_max(planning, at) for at in over_limits(problem)]
        asked = YK_WITHIN_GUARANTEED in RULE_SETS[planning.subject.rules]
        short = short_of_guaranteed(problem) if asked else ()
        found += [_of_guaranteed(planning, at) for at in short or ()]
    return tuple(found)


def nearest_node(planning: YuniKornPlanning) -> int:
    """Return the usable node with the least shortfall; there must be one."""
    problem = planning.problem

    def distance(node: int) -> tuple[Fraction, Fraction]:
        missing = missing_on(problem, node)
        held = held_by(problem, planning.eligible & (problem.node == node))
        rest = {t: max(0, lacking - held[t]) for t, lacking in missing.items()}
        return _parts(problem, rest), _parts(problem, missing)

    return min(np.flatnonzero(problem.usable).tolist(), key=distance)


def held_by(problem: YuniKornProblem, who: BoolArray) -> list[int]:
    """Return what some allocations hold together of each type: (T,)."""
    return [sum(column.tolist()) for column in problem.holding[who].T]


def _parts(problem: YuniKornProblem, missing: Mapping[int, int]) -> Fraction:
    """Return amounts as parts of what is asked, added up."""
    asked = problem.ask.resource
    return sum(
        (Fraction(units, max(1, asked.get(problem.types[t], 0))) for t, units in missing.items()),
        Fraction(0),
    )


def _of_node(planning: YuniKornPlanning) -> Iterator[YuniKornShortfall]:
    problem, node = planning.problem, nearest_node(planning)
    name = problem.nodes[node]
    held = held_by(problem, planning.eligible & (problem.node == node))
    for t, short in missing_on(problem, node).items():
        resource = problem.types[t]
        asked = problem.ask.resource.get(resource, 0)
        available = asked - short
        yield YuniKornShortfall(
            place="node",
            where=name,
            resource=resource,
            requested=asked,
            available=available,
            short=short,
            held_by_candidates=held[t],
            text=f"{amount(asked, resource)} asked, {_bare(available, resource)} available on "
            f"node {name}, {_bare(short, resource)} short; candidates there hold "
            f"{_bare(held[t], resource)}",
        )


def _of_capacity(planning: YuniKornPlanning) -> Iterator[YuniKornShortfall]:
    """Say what the largest node lacks where all are too small."""
    problem, asked = planning.problem, planning.problem.ask.resource
    lacking = {
        room.node_id: {
            t: asked[name] - max(0, room.node.capacity.get(name, 0))
            for t, name in enumerate(problem.types)
            if asked.get(name, 0) > max(0, room.node.capacity.get(name, 0))
        }
        for room in planning.cluster.nodes
    }
    if not lacking or not all(lacking.values()):
        return
    name = min(lacking, key=lambda node: _parts(problem, lacking[node]))
    for t, short in lacking[name].items():
        resource = problem.types[t]
        capacity = asked[resource] - short
        yield YuniKornShortfall(
            place="node",
            where=name,
            resource=resource,
            requested=asked[resource],
            available=capacity,
            short=short,
            held_by_candidates=0,
            text=f"{amount(asked[resource], resource)} asked, node {name} has "
            f"{_bare(capacity, resource)} in all, {_bare(short, resource)} short",
        )


def _of_max(planning: YuniKornPlanning, at: At) -> YuniKornShortfall:
    queue, resource, asked, held = _at(planning, at)
    limit = (queue.max or {}).get(resource, 0)
    room = max(0, limit) - queue.allocated.get(resource, 0)
    return YuniKornShortfall(
        place="max",
        where=queue.path,
        resource=resource,
        requested=asked,
        available=room,
        short=at.amount,
        held_by_candidates=held,
        text=f"{amount(asked, resource)} asked, {_bare(room, resource)} left of the maximum "
        f"{_bare(limit, resource)} of queue {queue.path}, {_bare(at.amount, resource)} short; "
        f"candidates below it hold {_bare(held, resource)}",
    )


def _of_guaranteed(planning: YuniKornPlanning, at: At) -> YuniKornShortfall:
    queue, resource, asked, held = _at(planning, at)
    left, whole = asked - at.amount, (queue.guaranteed or {}).get(resource, 0)
    return YuniKornShortfall(
        place="guaranteed",
        where=queue.path,
        resource=resource,
        requested=asked,
        available=left,
        short=at.amount,
        held_by_candidates=held,
        text=f"{amount(asked, resource)} asked, {_bare(left, resource)} left of the guaranteed "
        f"{_bare(whole, resource)} of queue {queue.path}, {_bare(at.amount, resource)} short; "
        f"candidates below it hold {_bare(held, resource)}",
    )


def _at(planning: YuniKornPlanning, at: At) -> tuple[Queue, str, int, int]:
    """Return queue, type, what is asked of it, and what candidates below the queue hold of it."""
    problem, resource = planning.problem, planning.problem.types[at.type]
    queue = planning.cluster.tree.by_path[problem.queues[at.queue].path]
    below = np.array([_is_below(problem, i, at.queue) for i in range(len(problem.queues))])
    held = held_by(problem, planning.eligible & below[problem.queue])[at.type]
    return queue, resource, problem.ask.resource.get(resource, 0), held


def _is_below(problem: YuniKornProblem, queue: int, top: int) -> bool:
    while queue > top:  # parents come before their children
        queue = problem.queues[queue].parent
    return queue == top


def _bare(units: int, resource: str) -> str:
    return format_yunikorn_quantity(units, resource)
