"""Where a topology decides about pods: what each domain lacks, and whose eviction opens it.

Source: docs/semantics/kueue-topology.md §3, §6 and §7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, permutations
from operator import itemgetter
from typing import Final, Literal

from planner.case.kueue import Case, with_topologies
from planner.case.kueue_room import (
    Beside,
    called,
    out_of_use,
    pods_alone,
    slot_of,
    unit_of,
    who_else,
)
from planner.commands.explain.kueue.picture import nodes_around
from planner.commands.explain.kueue.record import DomainRoom, FlavorRoom, OnNodes, Opening, Together
from planner.commands.explain.kueue.smallest import Movable, least_evictions, smallest_set
from planner.plan.base import name_some
from planner.plan.kueue import Place, Plan, PodSetPlaces
from planner.problem.kueue import Problem
from planner.quantity import plural
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.topology import FlavorTree, Values
from planner.reference.kueue.chance import Chance, Crash
from planner.reference.kueue.decision import candidates_of
from planner.reference.kueue.topology.ask import Misfit, aim_of
from planner.reference.kueue.topology.assigning import Placing
from planner.reference.kueue.topology.find import groups_by_flavor, roles_in
from planner.reference.kueue.topology.slots import Wanted
from planner.solver.deadline import Deadline
from planner.state.kueue_release import NEWEST
from planner.state.kueue_workload import PodSet

MOST_SEARCHED: Final = 40
"""The most domains for which victim sets are searched: those that the fewest evictions may open."""
MOST_NAMED: Final = 10
"""The most domains, or victims, that an answer names."""
MOST_ORDERED: Final = 3
"""The most podsets or groups for which all orders are tried."""


def on_nodes(case: Case, plan: Plan, deadline: Deadline) -> OnNodes | None:
    """Return whether the preemptor's pods have a place; ``None`` where no topology decides."""
    known = with_topologies(case)
    if known is None:
        return None
    if case.state.release is not NEWEST:
        text = f"what Kueue {case.state.release.name} does with topologies is not known"
        return OnNodes(unknown=text)
    placing, why = known
    if why:
        return OnNodes(unknown=why)
    try:
        decision = placing.decision
    except Crash as error:
        return OnNodes(unknown=str(error))
    rooms = _Rooms(placing, case.problem, plan.places or (), deadline)
    victims = tuple(target.workload.key for target in decision.targets)
    flavors = tuple(rooms.of_all_flavors())
    return OnNodes(
        mode=decision.assignment.mode,
        victims=victims,
        message=decision.assigned.message,
        flavors=flavors,
        together=rooms.together(flavors),
        around=nodes_around(placing.snapshot, case.preemptor, decision.assignment, victims),
    )


def in_short(nodes: OnNodes, *, of_empty: bool) -> str:
    """Return the sentences on nodes that end an answer; empty where there is room.

    ``of_empty`` says whether to tell of domains that would lack room if nobody ran.
    """
    if nodes.unknown:
        return (
            ". This is by quota alone: whether there is room on the nodes is not known: "
            f"{nodes.unknown}"
        )
    assigned = [one for one in nodes.flavors if one.assigned and one.closest]
    # Podsets of one shape lack the same: it is said once.
    short: dict[tuple[str, str], list[str]] = {}
    for one in assigned:
        nearest = one.closest[0]
        if nearest.lacks and (of_empty or nearest.whoever is not None):
            flavor = f" of flavor {one.flavor}" if nearest.domain else ""
            short.setdefault((flavor, nearest.text), []).extend(one.pod_sets)
    said = ""
    for (flavor, text), names in short.items():
        whose = f"for {' and '.join(names)}, " if len(assigned) > 1 else ""
        said += f". On the nodes{flavor}, {whose}{text}"
    if nodes.together is not None and (nodes.together.when == "now" or not short):
        said += f". On the nodes, {nodes.together.text}"
    return said


_When = Literal["now", "candidates", "empty"]


@dataclass
class _Rooms:
    """The room that the flavors of a queue have for the pods of a pending workload."""

    case: Case
    problem: Problem
    places: Sequence[PodSetPlaces]
    deadline: Deadline
    _known: dict[str, tuple[Mapping[int, list[int]], list[Movable]]] = field(default_factory=dict)
    _beside: dict[str, Beside] = field(default_factory=dict)

    def of_all_flavors(self) -> Iterator[FlavorRoom]:
        """Yield the room in each flavor; the flavors that Kueue assigned come first."""
        placing = Placing.of_preemptor(self.case.snapshot, self.case.preemptor, Chance())
        if placing is None:
            return
        topologies = self.case.snapshot.topologies
        assigned = {
            pods.name: ({choice.flavor for choice in pods.flavors.values()}, pods.count)
            for pods in self.case.decision.assignment.pod_sets
        }
        listed = self.case.snapshot.queues[self.case.preemptor.queue].flavor_names
        flavors = [name for name in listed if name in topologies.trees]
        for is_assigned in (True, False):
            for name in flavors:
                pod_sets = self._podsets(assigned, name, is_assigned=is_assigned)
                asks = [placing.ask(pods, count, name) for pods, count in pod_sets]
                tree, spec = topologies.trees[name], topologies.flavors[name].spec
                for _, group in groups_by_flavor(asks):
                    workers, leader = roles = roles_in(group)
                    aim = aim_of(workers, tree)
                    if isinstance(aim, Misfit):
                        continue
                    wanted = Wanted.for_group(tree, aim, roles, spec.tolerations)
                    yield FlavorRoom(
                        pod_sets=tuple(ask.name for ask in (workers, leader) if ask),
                        flavor=name,
                        assigned=is_assigned,
                        topology=tree.topology,
                        level=tree.levels[aim.level],
                        manner=aim.manner.value,
                        slot=slot_of(workers),
                        size=aim.size,
                        wanted=wanted.slices,
                        domains=len(tree.values[aim.level]),
                        closest=tuple(self._closest(wanted)),
                    )

    def together(self, rooms: Sequence[FlavorRoom]) -> Together | None:
        """Return how placing all podsets fails where each by itself has a place; else ``None``.

        The reason why Kueue gives up is looked at first: an empty cluster where it says NoFit, and
        all candidates evicted where it finds no victims. Then the nodes as they are, without the
        workloads whose eviction opens a place for each podset by itself: ``rooms`` has them.
        """
        mode = self.case.decision.assignment.mode
        if mode == "Fit":
            return None
        if mode == "NoFit":
            return self._placed_together("empty")
        found = None
        if not self.case.decision.targets:
            found = self._placed_together("candidates", self._candidates)
        nearest = (one.closest[0].candidates for one in rooms if one.assigned and one.closest)
        gone = {key for one in nearest if one is not None for key in one.victims or ()}
        return found or self._placed_together("now", gone)

    def _placed_together(self, when: _When, gone: Collection[str] = ()) -> Together | None:
        placing = Placing.of_preemptor(self.case.snapshot, self.case.preemptor, Chance())
        test = None if placing is None else placing.test(self.case.decision.assignment)
        if placing is None or test is None:
            return None
        for one in self._in_order if gone else ():
            if one.key in gone:
                test.take_out(one)
        groups = [group for _, group in groups_by_flavor(test.asks)]
        find = partial(placing.placer.find, empty=when == "empty")
        found = find(test.asks, explain=True)
        if found.fits or not all(find(group).fits for group in groups):
            return None
        orders = permutations(groups) if len(groups) <= MOST_ORDERED else ()
        others = ([ask for group in order for ask in group] for order in orders)
        better = next((asks for asks in others if find(asks).fits), ())
        together = Together(
            when=when,
            without=tuple(sorted(gone)) if when == "now" else (),
            places=tuple(
                PodSetPlaces(
                    name=name,
                    flavor=one.flavor,
                    levels=one.levels,
                    domains=tuple(Place(values=values, count=n) for values, n in one.domains),
                )
                for name, one in found.placements.items()
            ),
            lacking=tuple(found.against),
            order=tuple(ask.name for ask in better),
            message="; ".join(dict.fromkeys(filter(None, found.against.values()))),
            text="",
        )
        return together.model_copy(update={"text": _one_after_the_other(together)})

    def _podsets(
        self, assigned: Mapping[str, tuple[set[str], int | None]], flavor: str, *, is_assigned: bool
    ) -> Iterator[tuple[PodSet, int]]:
        """Yield the podsets that Kueue assigned a flavor, or else might have, with pod counts."""
        snapshot, preemptor = self.case.snapshot, self.case.preemptor
        topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
        if topologies.is_delayed(queue, flavor):
            return
        covered = {
            resource
            for group in queue.spec.resource_groups
            if any(one.name == flavor for one in group.flavors)
            for resource in group.covered_resources
        }
        for request in preemptor.pod_sets:
            pods = request.pod_set
            if not topologies.is_placed(pods, queue) or covered.isdisjoint(request.totals):
                continue
            names, count = assigned.get(pods.name, (set(), None))
            if (flavor in names) == is_assigned:
                yield pods, request.count if count is None or not is_assigned else count

    def _closest(self, wanted: Wanted) -> list[DomainRoom]:
        """Return the room of the whole flavor where that decides, and of the closest domains."""
        tree, level = wanted.tree, wanted.aim.level
        left = self.case.snapshot.topologies.occupancy.left[tree.flavor]
        now, empty = wanted.counts(left), wanted.counts(tree.free)
        found, used = [], self._used(wanted)
        if not wanted.is_required:
            holds, most = wanted.held_in_all(now), wanted.held_in_all(empty)
            found.append(self._domain(wanted, (), range(len(tree.nodes)), (holds, most)))
        if wanted.aim.manner.value == "unconstrained":
            return found
        held = zip(wanted.held(now)[level], wanted.held(empty)[level], strict=True)
        ranked = []
        for rank, (holds, most) in enumerate(held):
            alone, leaves = wanted.below(level, rank)
            rows = left[leaves.start : leaves.stop]
            least = least_evictions(alone, rows, self._running(tree, leaves))
            never = most < wanted.slices or least is None
            values = tree.values[level][rank]
            domain = alone, values, leaves, (holds, most)
            ranked.append(((values not in used, never, least or 0, -holds, rank), domain))
        ranked.sort(key=itemgetter(0))
        nearest = [
            self._domain(*domain, used=domain[1] in used) for _, domain in ranked[:MOST_SEARCHED]
        ]
        nearest.sort(key=_nearness)
        return found + nearest[:MOST_NAMED]

    def _used(self, wanted: Wanted) -> set[Values]:
        """Return the domains, at the level that counts, in which the plan puts the pods."""
        tree, asks = wanted.tree, (wanted.workers, wanted.leader)
        names = {ask.name for ask in asks if ask is not None}
        own = (one for one in self.places if one.name in names and one.flavor == tree.flavor)
        used = set()
        for place in chain.from_iterable(one.domains for one in own):
            leaf = tree.leaf_of[",".join(place.values)]
            used.add(tree.values[-1][leaf][: wanted.aim.level + 1])
        return used

    def _domain(
        self,
        wanted: Wanted,
        values: Values,
        leaves: range,
        room: tuple[int, int],
        *,
        used: bool = False,
    ) -> DomainRoom:
        """Return what a domain lacks, and whose eviction opens it; ``wanted`` is for it alone.

        ``room`` is how many slices it holds now, and how many if nobody ran.
        """
        holds, empty = room
        lacks = max(0, wanted.slices - holds)
        found: dict[str, Opening] = {}
        topologies = self.case.snapshot.topologies
        rows = topologies.occupancy.left[wanted.tree.flavor][leaves.start : leaves.stop]
        if lacks and empty >= wanted.slices:
            running = self._running(wanted.tree, leaves)
            opening = smallest_set(self.problem, wanted, rows, running, self.deadline)
            found["whoever"] = opening
            if opening.victims is None or not self._candidates.keys() >= {*opening.victims}:
                some = [one for one in running if one.key in self._candidates]
                opening = smallest_set(self.problem, wanted, rows, some, self.deadline)
            found["candidates"] = opening
        domain = DomainRoom(
            domain=values,
            name=called(topologies.trees[wanted.tree.flavor], values),
            holds=holds,
            empty=empty,
            lacks=lacks,
            used=used,
            others=self._others(wanted, leaves, empty) if lacks else (),
            text="",
            **found,
        )
        idle = out_of_use(topologies, wanted.tree, values) if lacks else ""
        idle += pods_alone(wanted, rows, wanted.held_in_all) if lacks else ""
        text = f"{_in_words(wanted, domain, self._leaving)}{idle}"
        return domain.model_copy(update={"text": text})

    def _others(self, wanted: Wanted, leaves: range, empty: int) -> tuple[str, ...]:
        """Return the pods that Kueue did not place, where a domain would have more without them."""
        topologies, flavor = self.case.snapshot.topologies, wanted.tree.flavor
        if flavor not in self._beside:
            self._beside[flavor] = Beside(topologies, topologies.trees[flavor])
        return self._beside[flavor].matter(wanted, leaves, empty)

    @cached_property
    def _candidates(self) -> Mapping[str, Admitted]:
        """Kueue's candidates by their keys, in its order."""
        found = candidates_of(self.case.snapshot, self.case.preemptor, self.case.decision)
        return {one.key: one for one in found}

    @cached_property
    def _leaving(self) -> frozenset[str]:
        """Those that are being evicted or deleted already."""
        return frozenset(one.key for one in self._in_order if one.leaving)

    @cached_property
    def _in_order(self) -> Sequence[Admitted]:
        """All that run: Kueue's candidates, who goes anyway, the rest by priority, newest first."""
        running = chain.from_iterable(self.case.snapshot.admitted.values())
        others = [one for one in running if one.key not in self._candidates]
        others.sort(key=lambda one: (not one.leaving, one.priority, -one.reserved_s, one.key))
        return [*self._candidates.values(), *others]

    def _running(self, tree: FlavorTree, leaves: range) -> list[Movable]:
        """Return the workloads whose eviction frees something on leaves: candidates first."""
        on_leaf, running = self._by_leaf(tree)
        found = []
        for place in sorted({place for leaf in leaves for place in on_leaf.get(leaf, ())}):
            key, freed = running[place]
            here = {leaf - leaves.start: freed[leaf] for leaf in freed if leaf in leaves}
            found.append(Movable(key, here))
        return found

    def _by_leaf(self, tree: FlavorTree) -> tuple[Mapping[int, list[int]], list[Movable]]:
        """Return who is on each leaf, as places in a list, and that list of what each one frees."""
        if tree.flavor not in self._known:
            topologies, running = self.case.snapshot.topologies, list[Movable]()
            on_leaf: dict[int, list[int]] = {}
            for one in self._in_order:
                freed: dict[int, Counter[str]] = {}
                for some in topologies.moved_by(one.workload, self.case.snapshot.queues[one.queue]):
                    if some.flavor == tree.flavor and some.leaf in tree.leaf_of:
                        known = {n: m for n, m in some.amounts.items() if n in tree.column_of}
                        freed.setdefault(tree.leaf_of[some.leaf], Counter()).update(known)
                for leaf in freed:
                    on_leaf.setdefault(leaf, []).append(len(running))
                if freed:
                    running.append(Movable(one.key, freed))
            self._known[tree.flavor] = on_leaf, running
        return self._known[tree.flavor]


def _one_after_the_other(found: Together) -> str:
    """Say which podsets are placed where, which then have no place, and which order helps."""
    scene = {"candidates": "with all candidates gone ", "empty": "with nobody there ", "now": ""}
    start = scene[found.when]
    if found.without:
        start = f"without {name_some(found.without, MOST_NAMED)} "
    placed = " and ".join(
        f"{pods.name} goes to "
        + name_some([f"{'/'.join(one.values)} ({one.count})" for one in pods.domains], MOST_NAMED)
        for pods in found.places
    )
    text = (
        f"{start}each podset has a place by itself, but not one after the other: first {placed}, "
        f"then {' and '.join(found.lacking)} has none"
    )
    order = ", ".join(found.order)
    return f"{text}; in the order {order} all would have one" if order else text


def _nearness(room: DomainRoom) -> tuple[bool, bool, bool, int, int, tuple[str, ...]]:
    """Return a sort key: domains of the plan, then with room, then the easiest to open."""
    by_rules, by_force = (
        None if one is None or one.victims is None else len(one.victims)
        for one in (room.candidates, room.whoever)
    )
    shut = bool(room.lacks) and by_force is None
    number = by_rules if by_rules is not None else by_force or 0
    outside = bool(room.lacks) and by_rules is None
    return not room.used, shut, outside, number, room.lacks, room.domain


def _in_words(wanted: Wanted, room: DomainRoom, leaving: Collection[str]) -> str:
    """Say what a domain lacks, and without whom it has room; ``leaving`` are who goes anyway."""
    unit, what = unit_of(wanted)
    others = who_else(room.others)
    if not room.lacks:
        return f"{room.name} has room: {plural(room.holds, unit)} of {what} for {wanted.slices}"
    text = f"{room.name} lacks {plural(room.lacks, unit)} of {what}"
    text += f": it has {room.holds} of {wanted.slices}"
    if room.whoever is None:
        nobody = "without all that Kueue placed" if room.others else "with nobody there"
        return f"{text}, and {room.empty} {nobody}{others}"
    if room.whoever.victims is None:
        return f"{text}, and no eviction helps{others}"
    if room.candidates is not None and room.candidates.victims is not None:
        return f"{text}; it has room without {_few(room.candidates, leaving)}{others}"
    few = _few(room.whoever, leaving)
    if all(one in leaving for one in room.whoever.victims):
        return f"{text}; it has room without {few}{others}"
    return f"{text}; it has room without {few}, which Kueue may not evict for this{others}"


def _few(opening: Opening, leaving: Collection[str]) -> str:
    """Name the victims of an opening; of many, the first ones and the number of the rest."""
    victims = opening.victims or ()
    shown = [
        f"{one} (which goes anyway)" if one in leaving else one for one in victims[:MOST_NAMED]
    ]
    named, beyond = ", ".join(shown), len(victims) - MOST_NAMED
    named += f" and {beyond:,} more" if beyond > 0 else ""
    return named if opening.proved else f"{named}, perhaps fewer"
