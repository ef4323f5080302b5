"""The laws of placement, one check each.

Source: docs/semantics/kueue-topology.md §4 to §8.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from planner.laws import KT_PLACEMENT, KT_ROOM, Register
from planner.plan import Verdict
from planner.quota.placing import Group
from planner.quota.snapshot import Admitted, Snapshot
from planner.verifier.topology.leaves import Nodes
from planner.verifier.topology.placement import Leaves, find
from planner.verifier.topology.room import has_room, slices_at_most
from planner.verifier.wording import judge, say_some

Check = Callable[["Floor", Sequence[Admitted]], Verdict]

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

    def mark(self, workload: Admitted) -> Hashable:
        """Return what a workload gives back on the nodes of all groups: equal for those alike."""
        if not self.groups:
            return None
        given = self.nodes.given_back([workload])
        return tuple(
            (flavor, leaf, name, amount)
            for flavor in sorted(given.keys() & {group.flavor for group in self.groups})
            for leaf, row in sorted(given[flavor].items())
            for name, amount in sorted(row.items())
        )

    def placed(self, victims: Collection[Admitted]) -> dict[str, Leaves] | str:
        """Return where Kueue places every podset, or the group that finds no place."""
        return find(self.nodes, self.groups, victims)

    def finds(self, victims: Collection[Admitted]) -> bool:
        """Say whether Kueue finds a place for all groups; of one alone that is whether it has room.

        Source: docs/semantics/kueue-topology.md §7 and §8.
        """
        if self.without_room(victims):
            return False
        return len(self.groups) <= 1 or not isinstance(self.placed(victims), str)


@CHECKS.of(KT_ROOM)
def room(floor: Floor, victims: Sequence[Admitted]) -> Verdict:
    """KT-01: each group has room on the nodes by itself, in closed form.

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
    names = say_some([group.name for group in floor.groups])
    return judge(KT_ROOM, findings, f"room for {names}" if names else "nothing is placed")


@CHECKS.of(KT_PLACEMENT)
def placement(floor: Floor, victims: Sequence[Admitted]) -> Verdict:
    """KT-02: Kueue's own placement, replayed with the victims gone, finds a place for every podset.

    Source: docs/semantics/kueue-topology.md §4 and §5.
    """
    placed = floor.placed(victims)
    if isinstance(placed, str):
        wrong = f"podset {placed} finds no place on the nodes once those before it have theirs"
        return judge(KT_PLACEMENT, [wrong], "")
    pods = sum(count for leaves in placed.values() for _, count in leaves)
    leaves = {leaf for some in placed.values() for leaf, _ in some}
    return judge(KT_PLACEMENT, [], f"{pods} pods on {len(leaves)} leaves")
