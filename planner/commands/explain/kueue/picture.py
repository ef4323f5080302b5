"""The nodes around a plan: slots that are taken, that it frees, and that the preemptor uses.

Source: docs/semantics/kueue-topology.md §4.1 and §6.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from planner.case.kueue_room import called, slot_of
from planner.plan.kueue import DomainSlots, NodesAround, Plan
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.placement import may_be_placed
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.reference.kueue.chance import Chance, PlacementCrash
from planner.reference.kueue.topology.assigning import Placing
from planner.state.kueue import State
from planner.state.kueue_release import NEWEST

if TYPE_CHECKING:
    from planner.reference.kueue.topology.ask import Ask

MOST_LISTED: Final = 200
"""The most domains of a picture; domains in which slots change come first."""


def with_nodes(state: State, plan: Plan) -> Plan:
    """Return a plan with the nodes around it, where a topology decides about its pods."""
    if state.release is not NEWEST or plan.by.replaces or not state.nodes:
        return plan
    if not may_be_placed(state, plan.preemptor):
        return plan
    snapshot = take_snapshot(state, plan.now, placing=True)
    preemptor = find_preemptor(state, snapshot, plan.preemptor)
    found = nodes_around(snapshot, preemptor, plan.assignment, plan.keys)
    return plan.model_copy(update={"nodes": found}) if found else plan


def nodes_around(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment, victims: Collection[str]
) -> tuple[NodesAround, ...]:
    """Return the nodes for each podset that is placed, with the victims evicted."""
    placing = Placing.of_preemptor(snapshot, preemptor, Chance())
    test = None if placing is None else placing.test(assignment)
    if placing is None or test is None:
        return ()
    for group in snapshot.admitted.values():
        for workload in group:
            if workload.key in victims:
                test.take_out(workload)
    try:
        found = placing.placer.find(test.asks)
    except PlacementCrash:
        return ()
    pictures = []
    for ask in test.asks:
        placement = found.placements.get(ask.name) if found.fits else None
        used = dict(placement.leaves) if placement else {}
        after = placing.occupancy.left[ask.flavor]
        pictures.append(_Picture(snapshot, ask, after, used).around(placed=found.fits))
    return tuple(pictures)


class _Sums(NamedTuple):
    """Slots of a domain: all, taken now, freed, used by the preemptor, and used of the freed."""

    slots: int
    taken: int
    freed: int
    used: int
    reused: int

    @property
    def changes(self) -> bool:
        return bool(self.freed or self.used)


class _Picture:
    """One flavor as the pods of one podset see it."""

    def __init__(
        self, snapshot: Snapshot, ask: Ask, after: Sequence[Sequence[int]], used: Mapping[str, int]
    ) -> None:
        from planner.reference.kueue.topology.slots import (  # noqa: PLC0415 - few states have any
            LeafCounts,
            Qualification,
        )

        topologies = snapshot.topologies
        self._ask = ask
        self._tree = tree = topologies.trees[ask.flavor]
        tolerations = topologies.flavors[ask.flavor].spec.tolerations
        qualified = Qualification(tree, ask.pod, tolerations).leaves
        rows = (tree.free, topologies.occupancy.left[ask.flavor], after)
        empty, now, then = (LeafCounts(tree, some, qualified, ask, None).pods for some in rows)
        leaves = []
        for leaf, (whole, free, later) in enumerate(zip(empty, now, then, strict=True)):
            own = used.get(tree.leaf_id(leaf), 0)
            leaves.append(_Sums(whole, whole - free, later - free, own, max(0, own - free)))
        self._sums = [leaves]
        for children in reversed(tree.children):
            below = self._sums[0]
            groups = [below[some.start : some.stop] for some in children]
            places = range(len(_Sums._fields))
            added = [_Sums(*(sum(one[i] for one in group) for i in places)) for group in groups]
            self._sums.insert(0, added)

    def around(self, *, placed: bool) -> NodesAround:
        """Return the picture as a record: of a large flavor what changes, and some of the rest."""
        places = [(n, rank) for n, some in enumerate(self._sums) for rank in range(len(some))]
        shown = set(places)
        if len(places) > MOST_LISTED:  # changed domains (as are all above them), then others
            changed = {(n, rank) for n, rank in places if self._sums[n][rank].changes}
            shown, above = set(sorted(changed)[:MOST_LISTED]), self._tree.parents
            for level, rank in places:
                if len(shown) >= MOST_LISTED:
                    break
                if level == 0 or (level - 1, above[level][rank]) in shown:
                    shown.add((level, rank))
        domains = tuple(self._domains(0, range(len(self._sums[0])), shown))
        return NodesAround(
            pod_set=self._ask.name,
            flavor=self._ask.flavor,
            slot=slot_of(self._ask),
            placed=placed,
            domains=domains,
            hidden=sum((0, rank) not in shown for rank in range(len(self._sums[0]))),
        )

    def _domains(
        self, level: int, ranks: range, shown: Collection[tuple[int, int]]
    ) -> Iterator[DomainSlots]:
        tree = self._tree
        for rank in ranks:
            if (level, rank) not in shown:
                continue
            below = tree.children[level][rank] if level < tree.depth else range(0)
            values, sums = tree.values[level][rank], self._sums[level][rank]
            yield DomainSlots(
                domain=values,
                name=called(tree, values),
                **sums._asdict(),
                hidden=sum((level + 1, one) not in shown for one in below),
            )
            yield from self._domains(level + 1, below, shown)
