"""The laws of placement, one check each.

Source: docs/semantics/kueue-topology.md §4 to §8.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.laws import Register
from planner.laws.kueue_topology import KT_PLACEMENT, KT_ROOM
from planner.plan import PodSetPlaces, Verdict
from planner.quota.kueue.placing import Group, Pods
from planner.quota.kueue.snapshot import Admitted, Snapshot
from planner.quota.kueue.topology import OVERLAPPING
from planner.verifier.kueue_topology.leaves import Nodes, Slots, has_room, slices_at_most, taken
from planner.verifier.kueue_topology.placement import Leaves, find
from planner.verifier.wording import judge, say_some

Check = Callable[["Floor", Sequence[Admitted], Sequence[PodSetPlaces]], Verdict]

CHECKS: Final[Register[Check]] = Register()
"""The check of every law, by the law's id."""


@dataclass(frozen=True)
class Floor:
    """What has to be placed on the nodes of a snapshot; nothing where there are no groups."""

    snapshot: Snapshot
    groups: tuple[Group, ...]

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes, with what is known of them."""
        return Nodes(self.snapshot)

    def without_room(self, victims: Collection[Admitted]) -> list[Group]:
        """Return the groups for which there is no room, each taken by itself."""
        given = self.nodes.given_back(victims)
        lacking = []
        for group in self.groups:
            slots = self.nodes.slots(group, given.get(group.flavor, {}), {})
            if not has_room(self.nodes.tree(group.flavor), group, slots):
                lacking.append(group)
        return lacking

    def marks(self, workloads: Iterable[Admitted]) -> Iterator[Hashable]:
        """Yield what each gives back on the nodes of all groups: equal for those alike."""
        return map(self._mark, workloads) if self.groups else (None for _ in workloads)

    def _mark(self, workload: Admitted) -> Hashable:
        given = self.nodes.given_back([workload])
        return tuple(
            (flavor, leaf, name, amount)
            for flavor in sorted(given.keys() & {group.flavor for group in self.groups})
            for leaf, row in sorted(given[flavor].items())
            for name, amount in sorted(row.items())
        )

    def node_of(self, flavor: str, leaf: int) -> tuple[str, str]:
        """Return what node a leaf is: that of other flavors, too, where these overlap."""
        tree = self.nodes.tree(flavor)
        shared = tree.ends_in_host and self.snapshot.configuration.gate(OVERLAPPING)
        return "" if shared else flavor, tree.leaf_id(leaf)

    def placed(self, victims: Collection[Admitted]) -> dict[str, Leaves] | str:
        """Return where Kueue places every podset, or the group that finds no place."""
        return find(self.nodes, self.groups, victims)

    def admits(self, victims: Collection[Admitted]) -> bool:
        """Say whether nothing forbids victims: at will that is room for each group by itself."""
        if self.snapshot.topologies.at_will:
            return not self.without_room(victims)
        return self.finds(victims)

    def finds(self, victims: Collection[Admitted]) -> bool:
        """Say whether Kueue finds a place for all groups; of one alone that is whether it has room.

        Source: docs/semantics/kueue-topology.md §7 and §8.
        """
        if self.without_room(victims):
            return False
        # Of one group the closed form is exact; of several, the places of the first decide what is
        # left for the second, and only the replay tells (docs/semantics/kueue-topology.md §7 and
        # §8).
        return len(self.groups) <= 1 or not isinstance(self.placed(victims), str)


def faults_of(
    floor: Floor, victims: Sequence[Admitted], places: Sequence[PodSetPlaces]
) -> Iterator[str]:
    """Say what is wrong with places that a plan names for all its podsets."""
    put: dict[tuple[str, str], dict[str, int]] = {}
    for group in floor.groups:
        tree = floor.nodes.tree(group.flavor)
        rows = [_row(floor, group, pods, places, put) for pods in group.members]
        # The rows say where pods are, in place of where they could be: the same sums then judge
        # them.
        lead = rows[1] if group.leader else rows[0]
        if not has_room(tree, group, Slots(rows[0], rows[0], lead)):
            yield f"the places of podset {group.name} are not room enough for it"
    given = floor.nodes.given_back(victims)
    for group in floor.groups:
        tree, back = floor.nodes.tree(group.flavor), given.get(group.flavor, {})
        asked = {name for pods in group.members for name in pods.amounts}
        for leaf in range(len(tree.values[-1])):
            there = put.get(floor.node_of(group.flavor, leaf), {})
            for name in sorted(asked & there.keys()):
                left = floor.nodes.left(group.flavor, leaf, name)
                # A leaf that is over-committed has no room, but it does not make others impossible.
                if there[name] > max(0, left + back.get(leaf, {}).get(name, 0)):
                    yield f"{tree.leaf_id(leaf)} has not enough {name} for what is put there"


def _row(
    floor: Floor,
    group: Group,
    pods: Pods,
    places: Sequence[PodSetPlaces],
    put: dict[tuple[str, str], dict[str, int]],
) -> list[int]:
    """Return how many pods of a podset are on each leaf that may take them; ``put`` adds up."""
    # The workers' selectors count for their leader, too: Kueue does not look at the leader's (§4).
    tree, suited = floor.nodes.tree(group.flavor), floor.nodes.suited_to(group.workers)
    row = [0] * len(tree.values[-1])
    for place in (one for each in places if each.name == pods.name for one in each.domains):
        leaf = tree.leaf_of.get(",".join(place.values))
        if leaf is not None and suited[leaf] and place.count > 0:
            row[leaf] += place.count
            on = put.setdefault(floor.node_of(group.flavor, leaf), {})
            for name, amount in taken(pods, place.count).items():
                on[name] = on.get(name, 0) + amount
    return row


@CHECKS.of(KT_ROOM)
def room(floor: Floor, victims: Sequence[Admitted], places: Sequence[PodSetPlaces] = ()) -> Verdict:
    """KT-01: each group has room on the nodes by itself, in closed form.

    Of several the places that a plan names are judged, too: each node holds what they put there,
    and what a group has there is room enough. Where none are named, KT-02 judges Kueue's own.

    The slots of all leaves, with what victims take there given back, are added up level by level:
    whole slices at their level, one domain that holds all where one is required; with a leader,
    some leaf takes it and the rest still has room. Source: docs/semantics/kueue-topology.md §7.
    """
    findings = []
    given = floor.nodes.given_back(victims)
    for group in floor.without_room(victims):
        tree = floor.nodes.tree(group.flavor)
        slots = floor.nodes.slots(group, given.get(group.flavor, {}), {})
        most = slices_at_most(tree, group, slots)
        unit = "slices" if group.aim and group.aim.size > 1 else "pods"
        where = " in one domain" if group.aim and group.aim.required else ""
        beside = ", and its leader" if group.leader else ""
        findings.append(
            f"podset {group.name} needs room for {group.slices} {unit}{beside} on the nodes of "
            f"flavor {group.flavor}: there is room for {most}{where}"
        )
    if not findings and places and len(floor.groups) > 1:
        findings += faults_of(floor, victims, places)
    names = say_some([group.name for group in floor.groups])
    return judge(KT_ROOM, findings, f"room for {names}" if names else "nothing is placed")


@CHECKS.of(KT_PLACEMENT)
def placement(
    floor: Floor, victims: Sequence[Admitted], places: Sequence[PodSetPlaces] = ()
) -> Verdict:
    """KT-02: Kueue's own placement, replayed with the victims gone, finds a place for every podset.

    Source: docs/semantics/kueue-topology.md §4 and §5.
    """
    del places  # who says where pods go does not matter: it is Kueue who puts them there
    placed = floor.placed(victims)
    if isinstance(placed, str):
        wrong = f"podset {placed} finds no place on the nodes once those before it have theirs"
        return judge(KT_PLACEMENT, [wrong], "")
    pods = sum(count for leaves in placed.values() for _, count in leaves)
    leaves = {leaf for some in placed.values() for leaf, _ in some}
    return judge(KT_PLACEMENT, [], f"{pods} pods on {len(leaves)} leaves")
