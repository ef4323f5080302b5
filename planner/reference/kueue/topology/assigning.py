"""Flavor assignment with placement: which podsets are placed where, and the mode after that.

Source: docs/semantics/kueue-topology.md §3, §6 and §9; kueue ff69552e
pkg/scheduler/flavorassigner/tas_flavorassigner.go, flavorassigner.go ``assignFlavors``,
pkg/scheduler/scheduler.go ``updateAssignmentForTAS``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from planner.laws.kueue import KT_PLACEMENT, KT_ROOM
from planner.quota.kueue.assignment import Assignment, Mode, PodSetFlavors
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import Occupancy, Taken
from planner.reference.kueue.chance import Chance
from planner.reference.laws import keeps
from planner.state.kueue_workload import PodSet
from planner.state.queues import ResourceGroup

if TYPE_CHECKING:
    # Most states place no pods on nodes: these modules are loaded only where pods are placed.
    from planner.reference.kueue.topology.ask import Ask
    from planner.reference.kueue.topology.find import Placement, Placer


@dataclass(slots=True)
class Settled:
    """An assignment after placement.

    ``placements`` are by podset, ``delayed`` the podsets that are placed in a later pass;
    ``against`` says per podset in Kueue's words why it fits on no nodes. ``unplaced`` are the
    podsets because of which it is NoFit, each with the flavor on whose nodes it finds no place,
    ``None`` where Kueue cannot even try. ``failed`` is Kueue's message on that.
    """

    pod_sets: list[PodSetFlavors]
    mode: Mode
    placements: Mapping[str, Placement] = field(default_factory=dict)
    delayed: frozenset[str] = frozenset()
    against: dict[str, str] = field(default_factory=dict)
    unplaced: dict[str, str | None] = field(default_factory=dict)
    failed: str = ""


class Placing:
    """Placement for one preemptor, on a copy of what is left on the nodes."""

    def __init__(self, snapshot: Snapshot, preemptor: Preemptor, chance: Chance) -> None:
        self._topologies = snapshot.topologies
        self._preemptor = preemptor
        self._queue = snapshot.queues[preemptor.queue]
        self._chance = chance
        self._snapshot = snapshot

    @cached_property
    def occupancy(self) -> Occupancy:
        """What is left on the nodes; searches change it, and restore it at their end."""
        return occupied(self._snapshot)

    @cached_property
    def placer(self) -> Placer:
        """The placer of the podsets on ``occupancy``."""
        from planner.reference.kueue.topology.find import Placer  # noqa: PLC0415 - as above

        return Placer(self._topologies, self.occupancy)

    @classmethod
    def of_preemptor(
        cls, snapshot: Snapshot, preemptor: Preemptor, chance: Chance
    ) -> Placing | None:
        """Return the placement of a preemptor; ``None`` where none of its podsets is placed."""
        topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
        pod_sets = preemptor.workload.spec.pod_sets
        if not topologies.looked_at or not any(topologies.is_placed(p, queue) for p in pod_sets):
            return None
        if topologies.missing(queue) and not topologies.leaves_it_to_workers(queue):
            return None  # only the dump lacks topologies: Kueue calls the queue active
        return cls(snapshot, preemptor, chance)

    def settle(
        self, pod_sets: Sequence[PodSetFlavors], mode: Mode, short: Collection[str]
    ) -> Settled:
        """Place the podsets of an assignment that quota does not forbid (§3.3).

        ``short`` names podsets on which Kueue has a message already.
        """
        if not self._topologies.on:
            return Settled(list(pod_sets), mode)
        asks, delayed, wrong = self._asked(pod_sets)
        settled = Settled(list(pod_sets), mode, delayed=frozenset(delayed))
        if wrong:
            name, text = next(iter(wrong.items()))
            settled.mode = "NoFit"
            settled.unplaced = dict.fromkeys(wrong)
            settled.failed = f"failed to assign flavors to pod set {name}: {text}"
            return settled
        if not asks:
            return settled
        if settled.mode == "Fit":
            found = self.placer.find(asks, explain=True)
            if found.fits:
                settled.placements = found.placements
                return settled
            # The podset that Kueue names: any podset that failed, at random (§3.3).
            name = self._chance.pick(list(found.against))
            settled.mode = "Preempt"
            settled.against[name] = found.against[name]
            self._turn(settled, [name], "Preempt")
        if settled.mode == "Preempt":
            found = self.placer.find(asks, empty=True, explain=True)
            # Every fr of placed podsets is contested from here on, also where it fits in quota:
            # holders of it may be on the nodes that are needed (§3.3).
            if found.fits:
                self._turn(settled, [ask.name for ask in asks], "Preempt")
                return settled
            name = self._chance.pick(list(found.against))
            settled.mode = "NoFit"
            # Kueue writes no message on this failure, and a reason only where it has one already.
            if name in short or name in settled.against:
                settled.unplaced[name] = next(one.flavor for one in asks if one.name == name)
            self._turn(settled, [name], "NoFit")
        return settled

    def _turn(self, settled: Settled, names: Iterable[str], mode: Mode) -> None:
        """Give all resources of podsets a mode; podsets of one group share resource entries."""
        group_of = {pods.name: pods.group for pods in self._preemptor.workload.spec.pod_sets}
        changed = {"mode": mode}
        for name in names:
            own = next(pods for pods in settled.pod_sets if pods.name == name).flavors.keys()
            for position, pods in enumerate(settled.pod_sets):
                if pods.name == name or (group_of[name] and group_of[pods.name] == group_of[name]):
                    flavors = {
                        resource: choice.model_copy(update=changed) if resource in own else choice
                        for resource, choice in pods.flavors.items()
                    }
                    settled.pod_sets[position] = pods.model_copy(update={"flavors": flavors})

    def _asked(
        self, pod_sets: Sequence[PodSetFlavors]
    ) -> tuple[list[Ask], set[str], dict[str, str]]:
        """Return what is asked of nodes, in the order of the spec, and what is not (§3.3).

        The podsets that are placed later, and those without a single flavor for it, and why.
        """
        workload, topologies = self._preemptor.workload, self._topologies
        done = {pods.name: pods for pods in pod_sets}
        asks: list[Ask] = []
        delayed: set[str] = set()
        wrong: dict[str, str] = {}
        # Where nodes of an earlier assignment failed, nothing is placed (§9).
        replaced = bool(workload.status.unhealthy_nodes)
        for spec in workload.spec.pod_sets:
            assigned = done.get(spec.name)
            if assigned is None or not assigned.count:
                continue
            if not topologies.is_placed(spec, self._queue):
                continue
            if topologies.leaves_it_to_workers(self._queue) and topologies.missing(self._queue):
                delayed.add(spec.name)
                continue
            named = {choice.flavor for choice in assigned.flavors.values()}
            flavors = named.intersection(topologies.flavors)
            if len(flavors) != 1:
                # The podsets behind it may still be delayed.
                wrong[spec.name] = self._why_not_one(flavors)
                continue
            flavor = flavors.pop()
            if topologies.is_delayed(self._queue, flavor):
                delayed.add(spec.name)
            elif not replaced:
                asks.append(self.ask(spec, assigned.count, flavor))
        return asks, delayed, wrong

    def _why_not_one(self, flavors: Collection[str]) -> str:
        """Say in Kueue's words why a podset has no single flavor that places pods."""
        if flavors:
            return f"more than one TAS flavor assigned: {', '.join(sorted(flavors))}"
        if self._topologies.flavors.keys().isdisjoint(self._queue.flavor_names):
            return "workload requires Topology, but there is no TAS cache information"
        return "no TAS flavor assigned"

    def ask(self, spec: PodSet, count: int, flavor: str) -> Ask:
        """Return what ``count`` pods of a podset ask of the nodes of a flavor."""
        from planner.reference.kueue.topology.ask import Ask, pod_of  # noqa: PLC0415 - as above

        workload = self._preemptor.workload
        pod, clash = pod_of(workload, spec)
        return Ask(
            name=spec.name,
            count=count,
            flavor=flavor,
            own=self._topologies.per_pod(spec.template.spec, workload.metadata.namespace),
            pod=pod,
            request=spec.topology_request,
            workload=workload.key,
            uid=workload.metadata.uid,
            clash=clash,
        )

    def test(self, assignment: Assignment) -> PlaceTest | None:
        """Return the test for each step of a search whether the podsets have a place."""
        return self._test(assignment) if self._topologies.on else None

    def _test(self, assignment: Assignment) -> PlaceTest | None:
        asks, _, wrong = self._asked(assignment.pod_sets)
        return PlaceTest(self, tuple(asks)) if asks and not wrong else None

    def final(self, assignment: Assignment, targets: Iterable[Admitted]) -> Mapping[str, Placement]:
        """Return the places of the podsets once the targets, if any, are removed (§6.1).

        Where not all have one, those that have keep it.
        """
        test = self._test(assignment)
        if test is None:
            return {}
        gone = list(targets)
        for workload in gone:
            test.take_out(workload)
        # Without targets Kueue keeps the places of an empty cluster: a reservation, not a promise.
        found = self.placer.find(test.asks, empty=not gone)
        for workload in gone:
            test.put_back(workload)
        return found.placements

    def moved_by(self, workload: Admitted) -> list[Taken]:
        """Return the places that a workload gives back when it is removed."""
        queue = self._snapshot.queues[workload.queue]
        return self._topologies.moved_by(workload.workload, queue)


class PlaceTest(NamedTuple):
    """The test whether podsets have a place on nodes as a search has left them so far."""

    placing: Placing
    asks: tuple[Ask, ...]

    @keeps(KT_ROOM, KT_PLACEMENT)
    def fits(self) -> bool:
        """Say whether all podsets have a place at this moment."""
        return self.placing.placer.fits(self.asks)

    def take_out(self, workload: Admitted) -> None:
        """Let a workload give back its places."""
        self.placing.occupancy.give_back(self.placing.moved_by(workload))

    def put_back(self, workload: Admitted) -> None:
        """Let a workload have its places again."""
        self.placing.occupancy.take(self.placing.moved_by(workload))


def occupied(snapshot: Snapshot) -> Occupancy:
    """Return a copy of what is left on the nodes; outside a cycle no podset is ``scored`` yet."""
    if snapshot.placed is not None:
        return snapshot.placed.copy()
    return snapshot.topologies.occupancy.afresh()


def why_unsuited(
    snapshot: Snapshot, preemptor: Preemptor, pods: PodSet, flavor: str, covering: ResourceGroup
) -> str:
    """Say why placement keeps a podset from a flavor, in Kueue's words; empty if it does not.

    Source: docs/semantics/kueue-topology.md §3.1.
    """
    topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
    if not topologies.on:
        return ""
    request = pods.topology_request
    if request is None or not request.is_explicit:
        if flavor not in topologies.flavors or topologies.is_placing_only(queue):
            return ""
        return f'Flavor "{flavor}" supports only TopologyAwareScheduling'
    if flavor in topologies.flavors:
        from planner.reference.kueue.topology.ask import has_levels  # noqa: PLC0415 - as above

        topology = topologies.topologies.get(topologies.flavors[flavor].spec.topology_name)
        # Only the dump lacks a topology: Kueue calls the queue active.
        lacks = topology is not None and not has_levels(request, topology.levels)
        return f'Flavor "{flavor}" does not contain the requested level' if lacks else ""
    named = topologies.per_pod(pods.template.spec, preemptor.workload.metadata.namespace)
    asked = not named.keys().isdisjoint(covering.covered_resources)
    return f'Flavor "{flavor}" does not support TopologyAwareScheduling' if asked else ""
