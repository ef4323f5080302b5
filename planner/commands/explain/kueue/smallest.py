"""The fewest workloads whose eviction gives pods a place in a domain: a solve of the edited case.

In that case the nodes are those of the domain alone, whoever is given may go, and of all laws only
KT-01 holds: there is room. Neither quota nor who may be preempted counts.

Source: docs/semantics/kueue-topology.md §7: room is monotone for one podset or group.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from msgspec.structs import replace

from planner.commands.explain.kueue.record import Opening
from planner.models.kueue.formulation import Columns, Formulation
from planner.models.kueue.places import room
from planner.models.shared.builder import Linear
from planner.problem.kueue import Problem
from planner.problem.kueue_places import Amounts, Leaf, Places, Room
from planner.quota.classes import Classes
from planner.quota.kueue.placing import Aim
from planner.reference.kueue.topology.ask import Ask
from planner.reference.kueue.topology.slots import Wanted, columns
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine

EFFORT: Final = 0.1
"""The most deterministic time of the search for one set: up to half a second."""
FEW: Final = 50
"""Members up to which a set that may not be the smallest is looked through."""


class Movable(NamedTuple):
    """A workload that runs, and what it would free in the domain: for each leaf, amounts."""

    key: str
    freed: Mapping[int, Mapping[str, int]]


def least_evictions(
    wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable]
) -> int | None:
    """Return a lower bound on the evictions needed; ``None`` if not even all are enough.

    For each resource alone: how many slots a workload adds at most on the leaves that qualify.
    """
    if any(column is None for column, _ in columns(wanted.tree, wanted.workers.amounts)):
        return None
    ok, most = wanted.qualified, 0
    for name, one in _asked(wanted.workers):
        column, count = wanted.tree.column_of[name], 0
        lacking = wanted.slices * wanted.aim.size
        lacking -= sum(max(0, row[column]) // one for row in compress(rows, ok))
        gains = (
            sum(-(-there.get(name, 0) // one) for leaf, there in each.freed.items() if ok[leaf])
            for each in running
        )
        for gain in sorted(gains, reverse=True):
            if lacking <= 0 or gain <= 0:
                break
            lacking, count = lacking - gain, count + 1
        if lacking > 0:
            return None
        most = max(most, count)
    return most


def smallest_set(
    problem: Problem,
    wanted: Wanted,
    rows: Sequence[Sequence[int]],
    running: Sequence[Movable],
    deadline: Deadline,
) -> Opening:
    """Return the fewest of ``running`` whose eviction makes room.

    ``problem`` is the one to edit, and ``rows`` is what is left on the leaves now. Of several
    smallest sets it is one whose members free what comes first among ``running``. Where none is
    found in time, it is the shortest beginning of ``running`` that is enough.
    """
    beginnings = range(len(running) + 1)
    enough = bisect_left(beginnings, 1, key=lambda n: int(_fits(wanted, rows, running[:n])))
    if enough > len(running):
        return Opening(victims=None, proved=True)
    alike: dict[object, list[int]] = {}
    for place, one in enumerate(running):
        freed = frozenset((leaf, *sorted(there.items())) for leaf, there in one.freed.items())
        alike.setdefault(freed, []).append(place)
    classes = Classes.of_members([*alike.values()])
    here = replace(problem, places=_places(wanted, rows, running, classes))
    anybody = np.zeros(len(running), dtype=np.bool_)
    model = Formulation.begun(here, Columns(here, classes, anybody), (False,))
    room(model)
    count = Linear(dict.fromkeys(model.take, 1))
    found = run_engine(model.builder, count, deadline, effort=EFFORT)
    chosen: Sequence[int] = range(enough)
    best = found.solution
    proved = bool(best) and found.bound >= count.value(best)
    if proved:
        model.builder.add(count <= found.bound)
        later = Linear({index: place for place, index in enumerate(model.take)})
        first = run_engine(model.builder, later, deadline, dict(enumerate(best)), EFFORT)
        best = first.solution or best
    if best:
        chosen = classes.take([best[index] for index in model.take])
    if best and not proved and len(chosen) <= FEW:
        for place in reversed(chosen):  # whoever need not go after all
            fewer = [other for other in chosen if other != place]
            if _fits(wanted, rows, [running[n] for n in fewer]):
                chosen = fewer
    return Opening(victims=tuple(sorted(running[n].key for n in chosen)), proved=proved)


def _fits(wanted: Wanted, rows: Sequence[Sequence[int]], gone: Sequence[Movable]) -> bool:
    """Say whether there is room without some workloads."""
    left, column_of = [list(row) for row in rows], wanted.tree.column_of
    for one in gone:
        for leaf, amounts in one.freed.items():
            for name, amount in amounts.items():
                left[leaf][column_of[name]] += amount
    counts = wanted.counts(left)
    leads = wanted.leader is None or any(counts.lead)
    return leads and wanted.held_in_all(counts) >= wanted.slices


def _asked(ask: Ask) -> Amounts:
    return tuple((name, amount) for name, amount in ask.amounts.items() if amount)


def _places(
    wanted: Wanted, rows: Sequence[Sequence[int]], running: Sequence[Movable], classes: Classes
) -> Places:
    """Return what the pods need in the domain, and what each class of workloads gives back."""
    tree, aim, flavor = wanted.tree, wanted.aim, wanted.tree.flavor
    leaves = {leaf: Leaf(flavor, leaf) for leaf, ok in enumerate(wanted.qualified) if ok}
    leader = None if wanted.leader is None else _asked(wanted.leader)
    names = dict.fromkeys(name for name, _ in (*_asked(wanted.workers), *(leader or ())))
    group = Room(
        name=wanted.workers.name,
        flavor=flavor,
        slices=wanted.slices,
        aim=Aim(aim.level, wanted.is_required, aim.spread, aim.slice_level, aim.size, aim.layers),
        leaves=tuple(leaves),
        workers=_asked(wanted.workers),
        leader=leader,
    )
    kind, gives = np.zeros(len(running), dtype=np.int64), list[dict[Leaf, Amounts]]()
    for number, members in enumerate(classes.members):
        freed = running[members[0]].freed
        kind[members] = number
        gives.append(
            {
                leaves[leaf]: tuple((name, n) for name, n in there.items() if n and name in names)
                for leaf, there in freed.items()
                if leaf in leaves
            }
        )
    return Places(
        rooms=[group],
        trees={flavor: tree},
        left={
            at: {
                name: rows[leaf][tree.column_of[name]] if name in tree.column_of else 0
                for name in names
            }
            for leaf, at in leaves.items()
        },
        sharing={at: leaf for leaf, at in leaves.items()},
        kind=kind,
        gives=gives,
    )
