"""Room on the nodes, as constraints: pods per leaf, whole slices, one domain where one is required.

Victims count only through what they give back on leaves. For one podset, or one group of workers
and their leader, Kueue finds a place if and only if there is room; for several groups, room for
all of them together is only necessary, and Kueue's own placement is replayed on each answer.

Source: docs/semantics/kueue-topology.md §7 and §8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from planner.models.shared.builder import ZERO, Builder, Linear, total, variable
from planner.problem.kueue_places import Leaf, Places, Room

if TYPE_CHECKING:
    from planner.models.kueue.formulation import Formulation


def room(formulation: Formulation) -> None:
    """KT-01: there is room on the nodes for every podset, for all of them together.

    With y(g, x) pods of group g on leaf x, and l(g, x) in 0..1 its leader:

        sum over g of R_g[r] * y(g, x) + RL_g[r] * l(g, x) <= left(x, r) + given back(x, r)
        size * q(D) <= sum of y below D            for every domain D at the level of slices
        sum of q below d >= slices                 for one d at the required level, or at the root

    The first row binds only where a pod is placed on x. With layers of slices, the pods below a
    domain come in whole multiples.

    Source: docs/semantics/kueue-topology.md §7.
    """
    places = formulation.problem.places
    if places is not None:
        _Rooms(formulation, places).state()


@dataclass
class _Standing:
    """The variables of one group: pods, and whether the leader is there, by leaf."""

    room: Room
    pods: dict[int, int] = field(default_factory=dict)
    leader: dict[int, int] = field(default_factory=dict)

    def terms(self, leaf: int, resource: str) -> dict[int, int]:
        """Return how much of a resource one unit of each variable takes on a leaf, by variable."""
        parts = ((self.pods, self.room.workers), (self.leader, self.room.leader or ()))
        asked = ((there.get(leaf), dict(amounts).get(resource, 0)) for there, amounts in parts)
        return {index: amount for index, amount in asked if index is not None and amount}


class _Rooms:
    """The room of all groups of one formulation."""

    def __init__(self, formulation: Formulation, places: Places) -> None:
        self.builder: Builder = formulation.builder
        self.places = places
        # What victims give back, per leaf on which there are candidates.
        found: dict[Leaf, dict[str, dict[int, int]]] = {}
        kinds = places.kind[formulation.classes.first].tolist() if len(formulation.classes) else ()
        for index, kind in zip(formulation.take, kinds, strict=True):
            for leaf, amounts in places.gives[kind].items():
                row = found.setdefault(leaf, {})
                for name, amount in amounts:
                    row.setdefault(name, {})[index] = amount
        self.given = {
            leaf: {name: Linear(terms) for name, terms in row.items()}
            for leaf, row in found.items()
        }

    def state(self) -> None:
        """State the rows of all groups, and those of every node, which groups may share."""
        standing = list(map(self._standing, self.places.rooms))
        for one in standing:
            self._state_need(one)
        # The leaves of each node, one per flavor, in the order in which flavors are served.
        nodes: dict[int, list[Leaf]] = {}
        for leaf, number in self.places.sharing.items():
            nodes.setdefault(number, []).append(leaf)
        for leaves in nodes.values():
            self._state_node(leaves, standing)

    def _most(self, leaf: Leaf, amounts: Iterable[tuple[str, int]]) -> int:
        """Return how many pods of some amounts fit on a leaf once all candidates are gone."""
        left, given = self.places.left[leaf], self.given.get(leaf, {})
        times = (
            (left[name] + self.builder.bounds(given.get(name, ZERO))[1]) // amount
            for name, amount in amounts
        )
        return max(0, min(times))

    def _standing(self, room: Room) -> _Standing:
        found, builder = _Standing(room), self.builder
        for leaf in room.leaves if room.aim else ():
            at = Leaf(room.flavor, leaf)
            most = self._most(at, room.workers)
            if most:
                least = most if self._is_certain(at) else 0
                # A leaf never gets more than all pods together.
                most = min(most, room.slices * room.aim.size) if room.aim else most
                found.pods[leaf] = builder.new(min(least, most), most)
            if room.leader is not None and self._most(at, room.leader):
                found.leader[leaf] = builder.new_bool()
        return found

    def _is_certain(self, leaf: Leaf) -> bool:
        """Say whether room on a leaf depends on no victim and no other group: then it is filled.

        Beside a leader, who may be on any leaf, no leaf is certain.
        """
        rooms = self.places.rooms
        return len(rooms) == 1 and rooms[0].leader is None and leaf not in self.given

    def _state_need(self, standing: _Standing) -> None:
        """State that enough slices are in one domain, or in all of them, with the leader."""
        builder, room = self.builder, standing.room
        if room.aim is None or not self.places.trees[room.flavor].values[room.aim.level]:
            builder.any_of([])
            return
        if room.aim.required:
            self._state_one_domain(standing, room.aim.level)
        else:
            slices = (each for _, each in self._slices(standing, 0))
            builder.add(sum(slices, start=ZERO) >= room.slices)
        if room.leader is not None:
            builder.add(Linear(dict.fromkeys(standing.leader.values(), 1)).equals(1))

    def _state_one_domain(self, standing: _Standing, level: int) -> None:
        builder, room = self.builder, standing.room
        tree, chosen = self.places.trees[room.flavor], []
        leaders: dict[int, list[int]] = {}
        for leaf, index in standing.leader.items():
            leaders.setdefault(tree.over(leaf, tree.depth, level), []).append(index)
        for domain, slices in self._slices(standing, level):
            if builder.bounds(slices)[1] >= room.slices:
                chosen.append(builder.new_bool())
                here = variable(chosen[-1])
                builder.add(slices >= room.slices * here)
                if room.leader is not None:
                    mine = leaders.get(domain, ())
                    builder.add(Linear(dict.fromkeys(mine, 1)) >= here)
        builder.any_of(chosen)

    def _slices(self, standing: _Standing, level: int) -> Iterator[tuple[int, Linear]]:
        """Yield, per domain of a level that may have slices, the number of slices in it."""
        room, aim = standing.room, standing.room.aim
        if aim is None:
            return
        above = self.places.trees[room.flavor].parents
        here = {leaf: variable(index) for leaf, index in standing.pods.items()}
        for at in range(len(above) - 1, level - 1, -1):
            if at > aim.slice_level:
                here = {d: self._whole(each, aim.layers.get(at, 1)) for d, each in here.items()}
            elif at == aim.slice_level:
                here = {d: self._whole(each, aim.size, 1) for d, each in here.items()}
            if at > level:
                parts: dict[int, list[Linear]] = {}
                for domain, each in here.items():
                    parts.setdefault(above[at][domain], []).append(each)
                here = {over: total(each) for over, each in parts.items()}
        if not room.slices:
            here = {domain: here.get(domain, ZERO) for domain in range(len(above[level]))}
        yield from here.items()

    def _whole(self, pods: Linear, size: int, worth: int | None = None) -> Linear:
        """Return pods in whole multiples of a size; each counts ``worth``, by default the size."""
        if size <= 1:
            return pods
        low, high = self.builder.bounds(pods)
        number = self.builder.new(low // size, high // size)
        # Bounded on one side: fewer whole multiples may be counted than there are, never more.
        self.builder.add(pods >= size * variable(number))
        return (worth or size) * variable(number)

    def _state_node(self, leaves: Sequence[Leaf], standing: Sequence[_Standing]) -> None:
        """State that the pods on a node fit in what is left there, as each flavor counts that.

        For a flavor the pods of those served before it count, too.
        """
        for leaf in leaves:
            if self._is_certain(leaf):
                continue
            own = [one for one in standing if one.room.flavor == leaf.flavor]
            seen = {other.flavor: other.leaf for other in leaves if other.flavor <= leaf.flavor}
            for name, left in self.places.left[leaf].items():
                mine = dict(chain(*(one.terms(leaf.leaf, name).items() for one in own)))
                if not mine:
                    continue
                beside = (one for one in standing if one.room.flavor in seen)
                terms = (one.terms(seen[one.room.flavor], name).items() for one in beside)
                all_of = dict(chain(*terms))
                given = self.given.get(leaf, {}).get(name, ZERO)
                fits = Linear(all_of) - given <= left
                # A leaf that is over-committed, or that pods of other flavors may fill up, must not
                # make the model infeasible: the row binds only where something is placed.
                if left >= 0 and len(all_of) == len(mine):
                    self.builder.add(fits)
                    continue
                taken = self.builder.new_bool()
                for index in mine:
                    most = self.builder.upper[index] * variable(taken)
                    self.builder.add(variable(index) <= most)
                self.builder.add(fits, when=[taken])
