"""One decision as a frame: the tree, the classes of candidates, and usage after removals."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.proof.box import Box, Numbers, Row, exact, numbered, sum_of_products
from planner.proof.kueue.places import Rooms
from planner.quantity import MAX_INT64, UNLIMITED
from planner.quota.classes import Classes, IntArray, by_value
from planner.quota.kueue.holders import Holders
from planner.quota.kueue.tree import Usage
from planner.verifier.kueue.fair_sharing import FairSetting
from planner.verifier.kueue.setting import Setting, Variant

_VARIANTS: Final = [*Variant]
_NOBODY: Final = np.zeros(0, dtype=np.int64)
_REMEMBERED: Final = 4
"""Usages kept: those at the two ends of a box are needed again and again."""


class Freed(NamedTuple):
    """What victims free at a node, by who they are.

    All that members of ``classes`` hold; and of what is freed at each node of ``passed``, at most
    what that node stores above.
    """

    classes: IntArray
    passed: Mapping[int, tuple[int, Freed]]

    @property
    def everybody(self) -> IntArray:
        """The classes whose members free anything."""
        if not self.passed:
            return self.classes
        below = (freed.everybody for _, freed in self.passed.values())
        return np.sort(np.concatenate([self.classes, *below]))


class Frame:
    """A decision of Kueue, over K classes of its candidates among W workloads.

    ``order`` is (W,): the rank of each workload in the candidate order; ``first`` is (K,): the
    first members of the classes. ``before`` is the usage before any removal, under fair sharing
    with the request counted.
    """

    def __init__(
        self, setting: Setting, workloads: Holders, order: IntArray, classes: Classes
    ) -> None:
        self.setting = setting
        self.workloads = workloads
        self.order = order
        self.classes = classes
        self.first = workloads.at(classes.first)
        self.fair = setting if isinstance(setting, FairSetting) else None
        self.tree = setting.snapshot.tree
        self.before = setting.snapshot.usage
        if self.fair is not None:
            # Fair sharing compares shares with the request counted (docs/semantics/kueue.md §6.3);
            # what must be freed is reckoned on the plain snapshot (inequalities.fit_rows).
            self.before = self.fair.with_request(self.before)
        self.queue: IntArray = self.first.columns.queue
        self.ranges: dict[str, tuple[int, int]] = {}
        self.whole: set[str] = set()
        self.rooms = Rooms(setting.floor, self.first, classes.sizes, self.ranges, self.whole)
        self.written: dict[bytes, Mapping[str, Row]] = {}
        self._over: dict[tuple[int, int], tuple[bytes, Mapping[str, Row]]] = {}
        self._held: dict[int, IntArray] = {}
        self._beneath: dict[int, Sequence[int]] = {}
        self._after: list[tuple[IntArray, Usage]] = []

    def choose(self, names: Collection[str]) -> None:
        """Enter quantities into ``ranges`` that are 0 or 1."""
        self.ranges.update(dict.fromkeys(names, (0, 1)))
        self.whole.update(names)

    @cached_property
    def _usages(self) -> tuple[IntArray, Sequence[Mapping[int, int]]]:
        """(K,) which of the different usages each class has, and the list of these usages."""
        some, kinds = self.first.alike
        numbers = numbered(tuple(sorted(one.usage.items())) for one in some)
        usages = dict(zip(numbers.tolist(), (one.usage for one in some), strict=True))
        return numbers[kinds], [*usages.values()]

    @cached_property
    def below(self) -> Mapping[int, IntArray]:
        """The classes at or below each node that has any."""
        found: dict[int, list[IntArray]] = {}
        for queue, classes in by_value(self.queue, np.arange(self.queue.size)).items():
            for node in self.tree.path(queue):
                found.setdefault(node, []).append(classes)
        return {node: np.sort(np.concatenate(parts)) for node, parts in found.items()}

    @cached_property
    def tops(self) -> tuple[int, ...]:
        """The nodes off the path just below it: each is compared with its sibling on the path."""
        sides = (self.setting.side(queue) for queue in sorted({*self.queue.tolist()}))
        return tuple(sorted({side[-1] for side in sides if side}))

    @cached_property
    def side_nodes(self) -> Sequence[int]:
        """The nodes off the path that have candidates."""
        return [node for node in self.below if node not in self.setting.path]

    def held(self, fr: int) -> IntArray:
        """(K,) what one member of each class holds of a flavor-resource."""
        if fr not in self._held:
            alike, usages = self._usages
            amounts = np.array([usage.get(fr, 0) for usage in usages], dtype=np.int64)
            self._held[fr] = amounts[alike]
        return self._held[fr]

    @property
    def shape(self) -> IntArray:
        """(K,) a number for each class, equal for classes that no law tells apart."""
        return self._shape

    @cached_property
    def _shape(self) -> IntArray:
        alike, usages = self._usages
        kinds = (self.queue * len(usages) + alike) * 2 + self.restricted
        if self.setting.floor.groups:
            marks = self.setting.floor.marks(self.first)
            return numbered(zip(kinds.tolist(), marks, strict=True))
        _, first, which = np.unique(kinds, return_index=True, return_inverse=True)
        # Numbered in order of classes: what is split first does not depend on numbers of queues.
        return np.argsort(np.argsort(first))[which]

    @cached_property
    def restricted(self) -> NDArray[np.bool_]:
        """(K,) whether no attempt with borrowing may take the members of a class."""
        if self.fair is not None:
            return np.zeros(self.queue.size, dtype=np.bool_)
        variant = variants(self.setting, self.first)
        held_back: NDArray[np.bool_] = variant == _VARIANTS.index(Variant.RECLAIM_WITHOUT_BORROWING)
        return held_back

    def name(self, node: int) -> str:
        """Return how a tree names a node."""
        kind = "queue" if self.tree.nodes[node].is_queue else "cohort"
        return f"{kind}/{self.tree.nodes[node].name}"

    def touched(self, box: Box) -> set[int]:
        """Return the nodes off the path that certainly have a victim at or below them."""
        queues = {*self.queue[box.least > 0].tolist()}
        certain = {node for queue in queues for node in self.setting.side(queue)}
        return certain | {node for node in box.touched if node not in self.setting.path}

    @cached_property
    def watched(self) -> Mapping[int, Sequence[int]]:
        """Per node off the path, the fr of which one must be over quota when a victim is removed.

        KQ-07 asks it of contested fr, FS-06 of fr with a quota. Usage never rises, so a fr that is
        not over now never is.
        """
        watched = {}
        for node in self.side_nodes:
            frs = self.setting.contested if self.fair is None else self.fair.shares.counted(node)
            used = self.before.amount[node]
            over = (fr for fr in sorted(frs) if used[fr] > self.setting.enough(node, fr))
            watched[node] = list(over) if self.setting.is_asked(node) else []
        return watched

    def counts_fully(self, node: int, fr: int) -> bool:
        """Say whether all that victims below a node hold is freed there, for any victims.

        A node below it that keeps quota for itself may take up a part.
        """
        return not any(self.tree.kept[n][fr] for n in self.strictly_below(node))

    def freed(self, node: int, fr: int, room: int, most: IntArray) -> Freed:
        """Return what at most ``most`` victims of each class free at a node, if at most ``room``.

        A child that stores s above what it keeps passes up min(what is freed at it, s). If at most
        ``room`` is freed at the node, and s is more, then the minimum is what is freed at the
        child; as it is where no victims hold more than s.
        """
        if self.counts_fully(node, fr):
            return Freed(self.below[node], {})
        classes, passed = [_NOBODY], dict[int, tuple[int, Freed]]()
        for child in self.tree.children[node]:
            kept, used = self.tree.kept[child][fr], self.before.amount[child][fr]
            if child not in self.below or (kept != 0 and (kept == UNLIMITED or used <= kept)):
                continue
            stored, below = used - kept, self.below[child]
            whole = kept == 0 or stored > room
            whole = whole or stored >= sum_of_products(self.held(fr)[below], most[below])
            here = self.freed(child, fr, room if whole else MAX_INT64, most)
            if whole:
                classes.append(here.classes)
                passed.update(here.passed)
            else:
                passed[child] = stored, here
        return Freed(np.sort(np.concatenate(classes)), passed)

    def strictly_below(self, node: int) -> Sequence[int]:
        """Return the nodes below a node that have candidates."""
        if node not in self._beneath:
            children = [child for child in self.tree.children[node] if child in self.below]
            self._beneath[node] = [n for c in children for n in (c, *self.strictly_below(c))]
        return self._beneath[node]

    def usage_after(self, counts: IntArray) -> Usage:
        """Return the usage without ``counts`` of each class; it is shared, so do not change it.

        Under fair sharing the request counts as used.
        """
        for known, usage in self._after:
            # By identity: a box is asked again with the same arrays, and to compare these takes
            # time.
            if known is counts:
                return usage
        if len(self._after) > _REMEMBERED:
            self._after.pop(0)
        self._after.append((counts, self.remove(counts, self.before)))
        return self._after[-1][1]

    def remove(self, counts: IntArray, before: Usage) -> Usage:
        """Return the usage ``before`` without ``counts`` members of each class."""
        usage, cells = before.copy(), self._cells
        held = cells.amounts * counts[cells.classes]
        sums = np.add.reduceat(held, cells.begins) if held.size else held
        gone: dict[int, dict[int, int]] = {}
        changed = sums.nonzero()[0]
        for cell, amount in zip(changed.tolist(), sums[changed].tolist(), strict=True):
            queue, fr = cells.where[cell]
            gone.setdefault(queue, {})[fr] = amount
        for queue, amounts in gone.items():
            usage.remove(queue, amounts)
        return usage

    @cached_property
    def _cells(self) -> _Cells:
        frs = sorted({fr for usage in self._usages[1] for fr in usage})
        amounts = np.array([self.held(fr) for fr in frs], dtype=np.int64)
        amounts = amounts.reshape(len(frs), self.queue.size)
        # No sum is larger than if each candidate held the largest amount.
        reach = int(np.abs(amounts).max(initial=0)) * int(self.classes.sizes.sum())
        rows, classes = amounts.nonzero()
        by_cell = np.argsort(self.queue[classes] * len(frs) + rows, kind="stable")
        rows, classes = rows[by_cell], classes[by_cell]
        cell = np.stack([self.queue[classes], rows])
        begins = np.flatnonzero(np.diff(cell, prepend=-1).any(axis=0))
        where = [(queue, frs[row]) for queue, row in cell[:, begins].T.tolist()]
        return _Cells(classes, exact(amounts[rows, classes], reach), begins, where)


def variants(setting: Setting, some: Holders) -> IntArray:
    """Return a number for the variant of each of some candidates: (C,)."""
    different, which = setting.variants(some)
    return np.array([_VARIANTS.index(one) for one in different], dtype=np.int64)[which]


class _Cells(NamedTuple):
    """What one member of each class holds, entry by entry, cell after cell.

    ``classes`` and ``amounts`` are those of each entry, ``begins`` is the first entry of each cell;
    ``where`` has the queue and the flavor-resource that make up each cell.
    """

    classes: IntArray
    amounts: Numbers
    begins: IntArray
    where: Sequence[tuple[int, int]]
