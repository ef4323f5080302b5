"""Usage of every node after the removals, as linear expressions over the tree.

A queue's usage falls by what its victims hold. A cohort's usage is the sum of what its children
use beyond what they keep for themselves: max(0, usage - kept). Where the sign is settled by the
bounds this stays linear; elsewhere it costs one auxiliary variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from planner.models.kueue.columns import Columns
from planner.models.shared.builder import ZERO, Builder, Linear, total
from planner.problem.kueue import Problem
from planner.quantity import UNLIMITED


class TreeUsage:
    """The usage expressions of one model, made when first asked for.

    Parameters
    ----------
    request
        (F,) what to count at the preemptor's queue besides, nothing by default.
    """

    def __init__(
        self,
        builder: Builder,
        problem: Problem,
        columns: Columns,
        take: Sequence[int],
        request: Sequence[int] | None = None,
    ) -> None:
        self._builder = builder
        self._problem = problem
        self._columns = columns
        self._request = request or [0] * len(problem.frs)
        self._children = problem.children
        self._by_queue: dict[int, list[tuple[int, int]]] = {}
        for k, variable in enumerate(take):
            self._by_queue.setdefault(int(columns.queue[k]), []).append((k, variable))
        self._held = cache(lambda fr: columns.holding[:, fr].tolist())
        self.after = cache(self._after)
        self.local_free = cache(self._local_free)

    def _after(self, node: int, fr: int) -> Linear:
        """Return the usage of a node after all removals."""
        before = self._problem.usage[node][fr]
        if node == self._problem.own_queue:
            before += self._request[fr]
        if node in self._by_queue:
            holding = self._held(fr)
            removed = {v: -holding[k] for k, v in self._by_queue[node] if holding[k]}
            return Linear(removed, before)
        changes = []
        # Only what changes is added to the usage of now: all other children cost no terms.
        for child in self._children[node]:
            if self._may_change(child):
                used, kept = self._problem.usage[child][fr], self._problem.kept[child][fr]
                changes.append(self.stored(child, fr) - max(0, used - kept))
        return total(changes) + before

    def _may_change(self, node: int) -> bool:
        """Say whether a node has candidates, or the preemptor's request."""
        return node in self._columns.below or node in self._problem.path

    def _local_free(self, node: int, fr: int) -> Linear:
        """Return what the node keeps and does not use: max(0, kept - usage)."""
        kept = self._problem.kept[node][fr]
        if kept == 0:
            return ZERO
        return self._builder.positive_part(-self.after(node, fr) + kept)

    def stored(self, node: int, fr: int) -> Linear:
        """Return what the node uses of its parent: max(0, usage - kept).

        It is usage - kept + max(0, kept - usage), so one auxiliary variable serves both.
        """
        kept = self._problem.kept[node][fr]
        if kept == UNLIMITED:
            return ZERO
        return self.after(node, fr) - kept + self.local_free(node, fr)
