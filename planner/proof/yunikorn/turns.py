"""Whose turn it can be: YuniKorn's guaranteed amounts as inequalities, and as refusals.

Source: docs/semantics/yunikorn.md §5 (what is left of the guaranteed) and §15 (YK-04,
YK-05). Read backwards, an order of removals puts victims back: each needs, with itself back, its
queue to be over one of the guaranteed amounts that count for it, in a type of the ask. Usage only
grows that way, so whoever can be put back now can be later, too; see
``planner.verifier.yunikorn.case``, which judges single sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Holders, Row, all_but_last
from planner.quota.yunikorn.queue import Queue
from planner.quota.yunikorn.resource import Resource

IntArray = NDArray[np.int64]


class Guarantee(NamedTuple):
    """What a queue is guaranteed of a type."""

    queue: Queue
    type: str
    amount: int

    @property
    def name(self) -> str:
        """How rows call it."""
        return f"{self.type} of {self.queue.path}"


def counting(asking: Queue, queue: Queue) -> tuple[Guarantee, ...] | None:
    """Return the guarantees whose least, by type, is what the core calls left at a queue.

    ``asking`` is the queue of the ask. ``None`` means that nothing is guaranteed on the way. From
    the root down each queue adds its own to those above it; but at the ask's own queue these
    replace what is above of the same type, and where that queue has a guaranteed, those of a
    queue whose path is a plain prefix of its path count for nothing and hide what is above.
    Which count does not depend on the usage. Source: docs/semantics/yunikorn.md §5, rules 1 to 4.
    """
    found: tuple[Guarantee, ...] | None = None
    for step in queue.lineage:
        own = tuple(Guarantee(step, t, amount) for t, amount in (step.guaranteed or {}).items())
        if not own:
            continue
        if step is asking:
            # Rule 3a: what the ask's leaf is guaranteed itself stands, ancestors fill in other
            # types.
            kept = (one for one in found or () if one.type not in (step.guaranteed or {}))
            found = (*own, *kept)
        # Rule 3b, with the plain prefix of the core: `root.a.q1` counts as above `root.a.q10`. The
        # root has no ask reference, and so is not asked.
        elif step.parent and asking.guaranteed and asking.path.startswith(step.path):
            found = None
        else:
            found = (*own, *(found or ()))
    return found


def used_between(queue: Queue, t: str) -> tuple[int, int]:
    """Return the least and the most that a queue can count as using of a type at the start.

    What is being preempted is taken off only where the queue has allocated some of the type:
    where it has none, that may change with the first removal.
    """
    going = queue.preempting.get(t, 0)
    if t in queue.allocated:
        return queue.allocated[t] - going, queue.allocated[t] - going
    # Both ends are kept: a bound must hold before and after that first removal.
    return min(0, -going), max(0, -going)


class Turns:
    """YK-05 over K classes of candidates in L leaves.

    Parameters
    ----------
    asking, ask
        The queue of the ask, and what it wants.
    leaves
        (L,) the queues that have candidates.
    leaf
        (K,) the position of the queue of each class.
    held
        Per type of the ask (K,): what one member of each class holds, never negative.
    sizes
        (K,) how many members each class has.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - the parts of a frame
        self,
        asking: Queue,
        ask: Resource,
        leaves: Sequence[Queue],
        leaf: IntArray,
        held: Mapping[str, IntArray],
        sizes: IntArray,
    ) -> None:
        self.leaves = leaves
        self.leaf = leaf
        self.held = held
        self.sizes = sizes
        self.ranges: dict[str, tuple[int, int]] = {}
        self.guarantees: list[Guarantee] = []
        self.watched: list[tuple[int, ...] | None] = []
        numbers: dict[tuple[str, str], int] = {}
        for queue in leaves:
            found = counting(asking, queue)
            watched = []
            for one in found or ():
                # Usage never rises: what is not exceeded now is exceeded by nobody's turn.
                if one.type in ask and used_between(one.queue, one.type)[1] > one.amount:
                    number = numbers.setdefault((one.queue.path, one.type), len(numbers))
                    if number == len(self.guarantees):
                        self.guarantees.append(one)
                    watched.append(number)
            # Without any guarantee on its way a queue always has a turn.
            self.watched.append(None if found is None else tuple(sorted(watched)))
        self.over = [used_between(g.queue, g.type)[1] - g.amount for g in self.guarantees]

    @cached_property
    def doubtful(self) -> NDArray[np.bool_]:
        """(L,) whether a leaf may have no turn at all, depending on who goes."""
        return np.array([watched is not None for watched in self.watched], dtype=np.bool_)

    @cached_property
    def _affected(self) -> list[list[int]]:
        """(L,) the guarantees that count what is gone from a leaf: those of queues above it."""
        paths = [{step.path for step in queue.lineage} for queue in self.leaves]
        numbered = list(enumerate(self.guarantees))
        return [[i for i, g in numbered if g.queue.path in above] for above in paths]

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """(G, L) whether a guarantee counts what is gone from a leaf."""
        counted = np.zeros((len(self.guarantees), len(self.leaves)), dtype=np.bool_)
        for leaf, affected in enumerate(self._affected):
            counted[affected, leaf] = True
        return counted

    def stuck(self, least: IntArray) -> int | None:
        """Return a leaf of which no victim can be put back last, in any set with these victims.

        All other victims below its guarantees are taken to be back if they can be. That is true
        of every set with at least so many: each further victim only lowers usage, and one that
        goes besides and is put back as the last leaves at least these gone. So the set puts
        leaves back only when these have been put back here, by induction over its own order.
        """
        taken = np.flatnonzero((least > 0) & self.doubtful[self.leaf]).tolist()
        waiting: dict[int, list[int]] = {}
        for k in taken:
            waiting.setdefault(int(self.leaf[k]), []).append(k)
        over = list(self.over)
        for leaf, classes in waiting.items():
            # All victims are gone first: read backwards, that is where an order begins.
            self._move(over, leaf, classes, least, -1)
        moved = True
        while waiting and moved:
            moved = False
            for leaf, classes in list(waiting.items()):
                if self._has_turn(over, leaf, classes):
                    self._move(over, leaf, classes, least, 1)
                    del waiting[leaf]
                    moved = True
        return next(iter(waiting), None)

    def _move(
        self, over: list[int], leaf: int, classes: Sequence[int], least: IntArray, sign: int
    ) -> None:
        for g in self._affected[leaf]:
            held = self.held[self.guarantees[g].type]
            over[g] += sign * sum(int(held[k]) * int(least[k]) for k in classes)

    def _has_turn(self, over: Sequence[int], leaf: int, classes: Sequence[int]) -> bool:
        watched = self.watched[leaf] or ()
        return any(
            over[g] + max(int(self.held[self.guarantees[g].type][k]) for k in classes) > 0
            for g in watched
        )

    def rows(self, classes: IntArray) -> Iterator[tuple[str, Row]]:
        """Yield rows that hold for every legal set among some classes.

        For a set W of guarantees, of all leaves that watch nothing outside W one is put back
        first: all their victims but that one are gone then, and it finds one of W exceeded.
        """
        present = np.unique(self.leaf[classes]).tolist()
        leaves = [one for one in present if self.doubtful[one]]
        for wanted in sorted({self.watched[one] or () for one in leaves}):
            among = [one for one in leaves if set(self.watched[one] or ()) <= set(wanted)]
            mine = classes[np.isin(self.leaf[classes], among)]
            yield from self._first_back(wanted, mine)

    def _first_back(self, wanted: Sequence[int], classes: IntArray) -> Iterator[tuple[str, Row]]:
        below, limits = [], []
        for g in wanted:
            mine = classes[self._counted[g, self.leaf[classes]]]
            mine = mine[self.held[self.guarantees[g].type][mine] > 0]
            held = self.held[self.guarantees[g].type][mine]
            total = int((held * self.sizes[mine]).sum())
            limit = self.over[g] - 1
            if total <= limit + int(held.max(initial=0)):
                return  # whoever goes, this one is exceeded when the largest victim is back
            below.append(mine)
            limits.append((limit, total))
        if len(wanted) == 1:
            yield from self._stays_over(self.guarantees[wanted[0]], below[0], limits[0][0])
            return
        some: dict[str, int] = {}
        names = ", ".join(self.guarantees[g].name for g in wanted)
        for g, mine, (limit, total) in zip(wanted, below, limits, strict=True):
            # z = 1: all but the largest hold at most the limit; z = 0: at most what all hold.
            one = self.guarantees[g]
            held = self.held[one.type][mine]
            witness = f"{one.name} exceeded, of {names}"
            self.ranges[witness] = 0, 1
            some[witness] = 1
            most = limit + int(held.max(initial=0))
            yield f"YK-05 {witness}", Row(mine, -held, -total, {witness: most - total})
        nobody = classes[:0]
        yield f"YK-05 one of {names}", Row(nobody, nobody, 1, some)

    def _stays_over(self, g: Guarantee, mine: IntArray, limit: int) -> Iterator[tuple[str, Row]]:
        """Yield the rows of leaves that have a turn by one guarantee only.

        All victims but the first to be put back hold at most the limit.
        """
        held = self.held[g.type][mine]
        holders = Holders(mine, held, np.unique(held).tolist())
        yield from all_but_last(f"YK-05 {g.name}", g.name, holders, limit, self.ranges)
