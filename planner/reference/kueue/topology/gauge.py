"""Whether there is room at all, kept up to date leaf by leaf: what cannot fit is known at once.

A search takes away one workload after the other, each of which frees a few leaves. What is found
here is necessary: where it says no, nothing is placed.

Source: docs/semantics/kueue-topology.md §7.
"""

from __future__ import annotations

from typing import Final

from planner.quota.kueue.topology_tree import FlavorTree
from planner.reference.kueue.topology.ask import Aim, Manner
from planner.reference.kueue.topology.slots import LeafCounts


class Gauge:
    """How many slices all domains hold, and whether one at the required level holds enough."""

    def __init__(self, tree: FlavorTree, aim: Aim, counts: LeafCounts, count: int) -> None:
        self._aim: Final = aim
        self._counts: Final = counts
        self._need: Final = count // aim.size
        self._parents: Final = tree.parents()
        self._held = [[0] * len(some) for some in tree.values]
        self._enough = self._total = 0
        if self._need > 0:
            for leaf in range(len(counts.pods)):
                self.refresh(leaf)

    @property
    def may_fit(self) -> bool:
        """Whether there may be a placement."""
        if not self._held[self._aim.level]:
            return False
        if self._need <= 0:
            return True
        # The leader is left out: it only takes room, so what is too little stays so.
        if self._aim.manner is Manner.REQUIRED:
            return self._enough > 0
        return self._total >= self._need

    def refresh(self, leaf: int) -> None:
        """Take over the count of a leaf."""
        place, more = leaf, self._counts.pods[leaf] - self._held[-1][leaf]
        for level in range(len(self._held) - 1, -1, -1):
            before = self._held[level][place]
            now = self._held[level][place] = before + more
            before, now = self._passed_on(level, before), self._passed_on(level, now)
            more = now - before
            # Lost in rounding to whole slices or layers: nothing above sees the change.
            if not more:
                return
            if level == self._aim.level:
                self._enough += (now >= self._need) - (before >= self._need)
            if level == 0:
                self._total += more
            else:
                place = self._parents[level][place]

    def _passed_on(self, level: int, held: int) -> int:
        """Return what counts above a domain: whole slices at their level, whole layers below it."""
        aim = self._aim
        if level == aim.slice_level:
            return held // aim.size
        layer = aim.layers.get(level, 1)
        return held - held % layer
