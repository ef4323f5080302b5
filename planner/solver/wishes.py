"""The wishes of an objective, imposed on a search before its first level."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from planner.models.shared.builder import Linear
from planner.models.shared.classes import Classes
from planner.objective.terms import TermTable
from planner.objective.wishes import Wishes
from planner.solver.engine import OutOfTime
from planner.solver.search import Search


def impose(search: Search, wishes: Wishes) -> None:
    """Let a search look only for what keeps to some wishes; nothing may be narrowed before.

    Classes are divided where a wish tells their members apart.
    """
    table = search.rules.table
    protected = wishes.protected(table)
    counted = {group: wishes.counted(table, group) for group in wishes.budget}
    chosen = None if search.incumbent is None else search.classes.take(search.incumbent)
    search.classes = _divide(
        search.classes, [(protected[i], *(c[i] for c in counted.values())) for i in _all(table)]
    )
    first = search.classes.first
    search.alive = [k for k, hold in enumerate(protected[first].tolist()) if not hold]
    for group, most in wishes.budget.items():
        inside = np.flatnonzero(counted[group][first]).tolist()
        search.conditions.append((Linear(dict.fromkeys(inside, -1)), -most))
    for measure, most in wishes.most.items():
        search.limit(measure, most)
    search.incumbent = None
    with suppress(OutOfTime):  # whether it keeps to a wish of D11 is then not known
        if chosen is not None and wishes.are_kept(table, chosen):
            search.incumbent = search.classes.counts(chosen)


def _all(table: TermTable) -> range:
    return range(len(table.groups))


def _divide(classes: Classes, key: list[tuple[bool, ...]]) -> Classes:
    """Divide classes by a key of their members, which keep their order: ``key`` is (W,)."""
    parts: dict[tuple[int, tuple[bool, ...]], list[int]] = {}
    for k, members in enumerate(classes.members):
        for position in members:
            parts.setdefault((k, key[position]), []).append(position)
    divided = list(parts.values())
    return Classes(divided, np.array([each[0] for each in divided], dtype=np.int64))
