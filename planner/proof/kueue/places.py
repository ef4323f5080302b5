"""Room on the nodes as inequalities: what victims must give back on leaves (KT-01).

The ways to make room for more pods on one leaf are listed: the smallest numbers of victims of each
class on it, and how many pods each way is worth. Each is a quantity from 0 to 1, and one way of a
leaf is used at most; of every class there are at least as many victims as the used ways ask for.

Where ways are too many, only the range of what a leaf takes is known, and trees split classes.
Layers of slices are left out: they only make room less.

Source: docs/semantics/kueue-topology.md §4.1 and §7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from planner.proof.box import Box, Numbers, Row, exact
from planner.quota.classes import IntArray, by_value
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Group
from planner.verifier.kueue_topology import Floor
from planner.verifier.kueue_topology.leaves import (
    MOST,
    Slots,
    domains_of,
    fitting,
    has_room,
    held_by,
)

Way = tuple[Mapping[int, int], int]
"""The numbers of victims by class, and how many pods or slices more they make room for."""

_NOBODY: Final = np.zeros(0, dtype=np.int64)
MOST_WAYS: Final = 128
"""Sets of victims on one leaf up to which all are looked at."""


class Given(Struct, frozen=True, dict=True):
    """What classes give back on the leaves of one flavor: a line for each class and leaf.

    ``amounts`` are by resource, each in the order of the lines.
    """

    leaves: IntArray
    classes: IntArray
    amounts: Mapping[str, IntArray]

    @cached_property
    def by_leaf(self) -> Mapping[int, IntArray]:
        """The lines of each leaf."""
        return by_value(self.leaves, np.arange(self.leaves.size))


class Rooms:
    """The rows of all groups of one decision, over K classes of its candidates."""

    def __init__(
        self,
        floor: Floor,
        first: Sequence[Admitted],
        sizes: IntArray,
        ranges: dict[str, tuple[int, int]],
        whole: set[str],
    ) -> None:
        """Make rows whose further quantities are entered into ``ranges``, and in ``whole`` as such.

        ``first`` and ``sizes`` are (K,): a member of each class, and how many it has.
        """
        self.floor = floor
        self.groups: Mapping[str, Group] = {group.name: group for group in floor.groups}
        self.first, self.sizes = first, sizes
        self._given: dict[str, Given] = {}
        self._now: dict[tuple[str, str], Numbers] = {}
        self.ranges = ranges
        self.whole = whole
        self._rows: dict[tuple[str, int], Sequence[tuple[str, Row]]] = {}

    def given(self, flavor: str) -> Given:
        """Return what a member of each class gives back on the leaves of a flavor."""
        if flavor not in self._given:
            lines = [
                (leaf, k, amounts)
                for k, one in enumerate(self.first)
                for leaf, amounts in self.floor.nodes.given_back([one]).get(flavor, {}).items()
            ]
            names = {name for _, _, amounts in lines for name in amounts}
            self._given[flavor] = Given(
                np.array([leaf for leaf, _, _ in lines], dtype=np.int64),
                np.array([k for _, k, _ in lines], dtype=np.int64),
                {
                    name: np.array([each.get(name, 0) for _, _, each in lines], dtype=np.int64)
                    for name in sorted(names)
                },
            )
        return self._given[flavor]

    def refusal(self, box: Box) -> str:
        """Say which group has no room in any set of a box; empty if each group may have room."""
        for name, group in self.groups.items():
            slots = self._slots(group, box.most)
            tree = self.floor.nodes.tree(group.flavor)
            domain = box.domain.get(name)
            if domain is not None:
                # Without the leader, which only takes room: a group that is refused so is refused
                # with it, too.
                if held_by(tree, group, slots.pods)[domain] < group.slices:
                    where = self._called(group, domain)
                    return f"{name} has no room in {where}, whoever goes"
            elif not has_room(tree, group, slots):
                return f"{name} has no room on the nodes, whoever goes"
        return ""

    def _slots(self, group: Group, counts: IntArray) -> Slots:
        """Return what leaves take with ``counts`` members of each class gone."""
        workers = group.workers.amounts
        leader = None if group.leader is None else group.leader.amounts
        left = {name: self._left(group, name, counts) for name in (*workers, *(leader or ()))}
        suited = np.array(self.floor.nodes.suited_to(group.workers), dtype=np.bool_)
        pods = _fitting(workers, left, suited)
        if leader is None:
            return Slots(pods, pods, [0] * len(pods))
        lead = [int(count > 0) for count in _fitting(leader, left, suited)]
        fewer = {name: left[name] - leader.get(name, 0) for name in workers}
        both = zip(lead, pods, _fitting(workers, fewer, suited), strict=True)
        return Slots(pods, [few if takes else most for takes, most, few in both], lead)

    def _left(self, group: Group, name: str, counts: IntArray) -> Numbers:
        """Return what leaves have left of a resource with ``counts`` of each class gone: (L,)."""
        given, nodes, flavor = self.given(group.flavor), self.floor.nodes, group.flavor
        if (flavor, name) not in self._now:
            before = [
                nodes.left(flavor, leaf, name) for leaf in range(len(nodes.tree(flavor).nodes))
            ]
            freed = given.amounts.get(name, np.zeros(0, dtype=np.int64)).tolist()
            reach = sum(map(abs, freed)) * int(self.sizes.max(initial=1))
            reach += max(map(abs, before), default=0)
            self._now[flavor, name] = exact(before, reach)
        left: Numbers = self._now[flavor, name].copy()
        if name in given.amounts and name in nodes.tree(flavor).column_of:
            freed = given.amounts[name].astype(left.dtype)
            np.add.at(left, given.leaves, freed * counts[given.classes])
        return left

    # Rows.

    def open_domains(self, name: str, box: Box) -> Sequence[int]:
        """Return the domains of the required level that may hold a group in some set of a box.

        Empty if the group requires no single domain.
        """
        group = self.groups[name]
        if group.aim is None or not group.aim.required:
            return ()
        tree = self.floor.nodes.tree(group.flavor)
        held = held_by(tree, group, self._slots(group, box.most).pods)
        return [domain for domain, most in enumerate(held) if most >= group.slices]

    def fixed_rows(self) -> Iterator[tuple[str, Row]]:
        """Yield the rows of groups that may lie in several domains: of room in all together."""
        for group in self.groups.values():
            # Which domain must hold all is a choice: its rows are for the parts of that split.
            if group.aim is not None and not group.aim.required:
                yield from self._rows_in(group, None)

    def rows(self, box: Box) -> Iterator[tuple[str, Row]]:
        """Yield the rows of groups whose domain is settled in a box."""
        for name, domain in box.domain.items():
            key = name, domain
            if key not in self._rows:
                self._rows[key] = [*self._rows_in(self.groups[name], domain)]
            yield from self._rows[key]

    def _rows_in(self, group: Group, domain: int | None) -> Iterator[tuple[str, Row]]:
        """Yield rows that bound slices in all, slices by pods on leaves, pods by what is freed.

        They are of one domain of the group's level, or of all of them.
        """
        aim = group.aim
        if aim is None:
            return
        tree = self.floor.nodes.tree(group.flavor)
        now = self._slots(group, np.zeros_like(self.sizes)).pods
        most = self._slots(group, self.sizes).pods
        inside = domains_of(tree, aim.level) if domain is not None else [0] * len(now)
        wanted = 0 if domain is None else domain
        more: dict[str, int] = {}
        certain = 0
        by_slice: dict[int, list[int]] = {}
        for leaf, of in enumerate(domains_of(tree, aim.slice_level)):
            # Leaves that take no pod even with all candidates gone need no rows.
            if inside[leaf] == wanted and most[leaf]:
                by_slice.setdefault(of, []).append(leaf)
        for of, leaves in by_slice.items():
            before = sum(now[leaf] for leaf in leaves)
            certain += before // aim.size
            # Where a slice has one leaf, ways to make room there are counted in slices at once.
            size = aim.size if len(leaves) == 1 else 1
            extra: dict[str, int] = {}
            for leaf in leaves:
                if most[leaf] // size > now[leaf] // size:
                    yield from self._leaf_rows(group, leaf, size, (now[leaf], most[leaf]), extra)
            if aim.size == size:
                more.update(extra)
                continue
            highest = sum(most[leaf] for leaf in leaves) // aim.size
            if highest > before // aim.size:
                slices = f"more slices of {group.name} in {self._called(group, of, slices=True)}"
                self.ranges[slices] = 0, highest - before // aim.size
                self.whole.add(slices)
                # The first further slice needs the pods that are missing for it, each later one all
                # its pods: with the lesser number for every slice, the row is weaker, but linear.
                missing = aim.size - before % aim.size
                yield slices, Row(_NOBODY, _NOBODY, 0, {**extra, slices: -missing})
                # Each further slice after the first needs all of its pods.
                if missing < aim.size:
                    further = {**extra, slices: -aim.size}
                    yield f"{slices} by all", Row(_NOBODY, _NOBODY, missing - aim.size, further)
                more[slices] = 1
        where = "" if domain is None else f" in {self._called(group, domain)}"
        yield f"room for {group.name}{where}", Row(_NOBODY, _NOBODY, group.slices - certain, more)

    def _leaf_rows(
        self, group: Group, leaf: int, size: int, ends: tuple[int, int], extra: dict[str, int]
    ) -> Iterator[tuple[str, Row]]:
        """Yield the rows of one leaf; ``extra`` gets its quantities, worth pods or slices.

        ``ends`` is what the leaf takes now, and with all candidates gone.
        """
        now, most = ends
        where = f"{group.name} on {self.floor.nodes.tree(group.flavor).leaf_id(leaf)}"
        ways = self._ways(group, leaf, size, now)
        if ways is None:  # too many to list: only the range is known
            pods = f"more pods of {where}"
            self.ranges[pods] = 0, min(most // size - now // size, MOST)
            extra[pods] = 1
            return
        by_class: dict[int, dict[str, int]] = {}
        names = [f"way {number} for {where}" for number, _ in enumerate(ways, start=1)]
        for name, (counts, worth) in zip(names, ways, strict=True):
            self.ranges[name] = 0, 1
            extra[name] = worth
            for k, count in counts.items():
                by_class.setdefault(k, {})[name] = -count
        for k, used in by_class.items():
            yield f"{self.first[k].key} for {where}", Row(np.array([k]), np.array([1]), 0, used)
        if len(names) > 1:
            yield f"one way for {where}", Row(_NOBODY, _NOBODY, -1, dict.fromkeys(names, -1))

    def _ways(self, group: Group, leaf: int, size: int, now: int) -> list[Way] | None:
        """Return the ways to make room for more on a leaf: victims by class, and their worth.

        No way has a smaller part worth as much; ``None`` where there are too many ways to list.
        """
        given = self.given(group.flavor)
        lines = given.by_leaf.get(leaf, ())
        classes = [int(given.classes[line]) for line in lines]
        wanted = {name: asked for name, asked in group.workers.amounts.items() if asked}
        sizes = self.sizes[classes].tolist()
        if prod(count + 1 for count in sizes) > MOST_WAYS:
            return None
        nodes = self.floor.nodes
        left = {name: nodes.left(group.flavor, leaf, name) for name in wanted}
        back = {
            name: [int(given.amounts[name][line]) for line in lines]
            for name in wanted
            if name in given.amounts
        }
        found: list[Way] = []
        # Smaller sets first, so that each is compared with all of its parts.
        every = product(*(range(count + 1) for count in sizes))
        for counts in sorted(every, key=lambda each: (sum(each), each)):
            caps = {
                name: left[name]
                + sum(n * a for n, a in zip(counts, back.get(name, ()), strict=False))
                for name in wanted
            }
            worth = fitting(wanted, caps) // size - now // size
            going = {k: count for k, count in zip(classes, counts, strict=True) if count}
            parts = (w for part, w in found if all(going.get(k, 0) >= n for k, n in part.items()))
            if worth > max(parts, default=0):
                found.append((going, worth))
        return found

    def _called(self, group: Group, domain: int, *, slices: bool = False) -> str:
        """Return what a domain of the required level, or of the level of slices, is called."""
        level = 0
        if group.aim is not None:
            level = group.aim.slice_level if slices else group.aim.level
        return ",".join(self.floor.nodes.tree(group.flavor).values[level][domain])


def _fitting(
    wanted: Mapping[str, int], left: Mapping[str, Numbers], suited: NDArray[np.bool_]
) -> list[int]:
    """Return how many times amounts fit into what each of some leaves has left: (L,)."""
    found: Numbers = np.where(suited, MOST, 0)
    for name, amount in wanted.items():
        if amount:
            found = np.minimum(found, np.maximum(left[name], 0) // amount)
    return [*map(int, found.tolist())]
