"""The laws of placement, one check each, and Kueue's own placement of one group and of all in turn.

Balanced placement and preferred node affinity are left out: they change where several
podsets find room, and a plan for these says that it did not look at topology.

Source: docs/semantics/kueue-topology.md §4 to §8.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from msgspec import Struct

from planner.laws import Register
from planner.laws.kueue import KT_PLACEMENT, KT_ROOM
from planner.plan import Verdict
from planner.plan.kueue import Place, PodSetPlaces
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Aim, Group
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.topology import OVERLAPPING, FlavorTree
from planner.verifier.kueue_topology.leaves import Nodes, Slots, add_to, has_room, slices_at_most
from planner.verifier.wording import judge, once_each, say_some

MIXED: Final = "TASProfileMixed"

Leaves = Sequence[tuple[int, int]]
"""Pairs of a leaf and the number of pods that it gets."""


@dataclass(slots=True, eq=False)
class _Domain:
    """A domain: its numbers are first what it can take, then what it is given."""

    place: int
    below: Sequence[_Domain] = ()
    pods: int = 0
    pods_beside: int = 0
    slices: int = 0
    slices_beside: int = 0
    lead: int = 0

    def takes(self, *, slices: bool, beside: bool) -> int:
        if slices:
            return self.slices_beside if beside else self.slices
        return self.pods_beside if beside else self.pods

    def cut(self, size: int) -> None:
        self.slices, self.slices_beside = self.pods // size, self.pods_beside // size


class _Placing:
    """One run of Kueue's placement, for one group."""

    def __init__(self, tree: FlavorTree, aim: Aim, group: Group, *, mixed: bool) -> None:
        self.tree, self.aim = tree, aim
        # Unconstrained pods go where least is free, to keep large domains whole (§5.3).
        self.best_fit = not (aim.spread and mixed)
        self.sign = -1 if self.best_fit else 1
        self.count = group.workers.count
        self.leaders = 0 if group.leader is None else 1

    def leaves_for(self, slots: Slots) -> tuple[Leaves, Leaves] | None:
        levels = self._domains(slots)
        if not levels[self.aim.level]:
            return None
        chosen = self._choose(levels, self.aim.level)
        if chosen is None:
            return None
        level, domains = chosen
        # Sorted by place means by level values: the tree has that order (§5.6).
        leaves = sorted(self._spread(level, domains), key=lambda leaf: leaf.place)
        return (
            [(leaf.place, leaf.pods) for leaf in leaves if leaf.pods > 0],
            [(leaf.place, leaf.lead) for leaf in leaves if leaf.lead > 0],
        )

    def _domains(self, slots: Slots) -> list[list[_Domain]]:
        """Return the domains of every level with what they can take, from the leaves up."""
        demands = zip(slots.pods, slots.beside, slots.lead, strict=True)
        row = [
            _Domain(place, (), pods, beside, lead=lead)
            for place, (pods, beside, lead) in enumerate(demands)
        ]
        if self.aim.slice_level == self.tree.depth:
            for leaf in row:
                leaf.cut(self.aim.size)
        levels = [row]
        for level in range(self.tree.depth - 1, -1, -1):
            row = [
                _Domain(place, [levels[0][child] for child in below])
                for place, below in enumerate(self.tree.children[level])
            ]
            for domain in row:
                self._add_up(domain, self.aim.layers.get(level + 1, 1))
                if level == self.aim.slice_level:
                    domain.cut(self.aim.size)
            levels.insert(0, row)
        return levels

    def _add_up(self, domain: _Domain, layer: int) -> None:
        # Inner layers are whole as well: a remainder below a child is lost further up (§5.2).
        whole = [child.pods // layer * layer for child in domain.below]
        beside = [child.pods_beside // layer * layer for child in domain.below]
        domain.pods = sum(whole)
        domain.slices = sum(child.slices for child in domain.below)
        domain.lead = max((child.lead for child in domain.below), default=0)
        # The leader goes into the child where it costs least, of those that can take it.
        may = [i for i, child in enumerate(domain.below) if child.lead or not self.leaders]
        if may:
            domain.pods_beside = domain.pods - min(whole[i] - beside[i] for i in may)
            domain.slices_beside = domain.slices - min(
                domain.below[i].slices - domain.below[i].slices_beside for i in may
            )

    def _order(self, domains: Iterable[_Domain]) -> list[_Domain]:
        return sorted(domains, key=lambda d: (self.sign * d.slices, d.pods, d.place))

    @staticmethod
    def _best(some: Sequence[_Domain], need: int, leaders: int, *, slices: bool) -> _Domain:
        """Return the first of the smallest domains that are enough; ``some[0]`` if none is."""
        beside = leaders > 0
        enough = [
            d for d in some if d.lead >= leaders and d.takes(slices=slices, beside=beside) >= need
        ]
        return min(enough, key=lambda d: d.takes(slices=slices, beside=beside), default=some[0])

    def _choose(
        self, levels: Sequence[Sequence[_Domain]], level: int
    ) -> tuple[int, list[_Domain]] | None:
        """Return a level, with one domain that takes all pods or several; ``None`` without."""
        need, leaders = self.count // self.aim.size, self.leaders
        domains = sorted(
            levels[level],
            key=lambda d: (-d.lead, self.sign * d.slices_beside, d.pods_beside, d.place),
        )
        for one in () if self.best_fit else domains:
            if one.lead >= leaders and one.takes(slices=True, beside=leaders > 0) >= need:
                return level, [one]
        top = domains[0]
        if top.slices_beside >= need and top.lead >= leaders:
            if self.best_fit:
                top = self._best(domains, need, leaders, slices=True)
            return level, [top]
        if self.aim.required:
            return None
        # A preferred level without such a domain gives way to the level above, up to the top.
        if self.aim.is_preferred and level > 0:
            return self._choose(levels, level - 1)
        several = self._several(domains, need)
        return None if several is None else (level, several)

    def _several(self, domains: Sequence[_Domain], need: int) -> list[_Domain] | None:
        row = self._leader_first(domains, self.count, self.leaders, self.aim.size, slices=True)
        rest, leaders, chosen, i = need, self.leaders, list[_Domain](), 0
        while leaders > 0 and i < len(row) and row[i].lead > 0:
            one = row[i]
            if self.best_fit and one.slices_beside >= rest:
                one = self._best(row[i:], rest, leaders, slices=True)
            chosen.append(one)
            leaders -= one.lead
            rest -= one.slices_beside
            i += 1
        if leaders > 0:
            return None
        row = self._order(row[i:])
        for j, first in enumerate(row):
            if rest <= 0:
                break
            one = first
            if self.best_fit and one.slices >= rest:
                one = self._best(row[j:], rest, 0, slices=True)
            chosen.append(one)
            rest -= one.slices
        return None if rest > 0 else chosen

    @staticmethod
    def _leader_first(
        domains: Sequence[_Domain], count: int, leaders: int, size: int, *, slices: bool
    ) -> list[_Domain]:
        """Move a domain to the front that takes the leader and leaves room enough for the pods."""
        row = list(domains)
        if leaders and len(row) > 1:
            have = sum(d.takes(slices=slices, beside=False) for d in row)
            need = count // size if slices else count
            for d in row:
                less = d.takes(slices=slices, beside=False) - d.takes(slices=slices, beside=True)
                if d.lead >= leaders and have - less >= need:
                    row.remove(d)
                    return [d, *row]
        return row

    def _spread(self, level: int, chosen: Sequence[_Domain]) -> list[_Domain]:
        """Give the pods of the chosen domains to the leaves below; return these leaves."""
        aim, depth = self.aim, self.tree.depth
        fit = self._take(chosen, self.count, self.leaders, aim.size, slices=True)
        while level < min(depth, aim.slice_level):
            below = self._order(child for d in fit for child in d.below)
            fit = self._take(below, self.count, self.leaders, aim.size, slices=True)
            level += 1
        while level < depth:
            size = aim.size if level < aim.slice_level else aim.layers.get(level + 1, 1)
            given: list[_Domain] = []
            for d in fit:
                children = self._order(d.below)
                # After sorting: the order is by the old slices, the taking by the new ones (§5.5).
                if size > 1:
                    for child in children:
                        child.cut(size)
                given += self._take(children, d.pods, d.lead, size, slices=size > 1)
            fit = given
            level += 1
        return fit

    def _take(
        self, domains: Sequence[_Domain], count: int, leaders: int, size: int, *, slices: bool
    ) -> list[_Domain]:
        row = self._leader_first(domains, count, leaders, size, slices=slices)
        rest, each = (count // size, size) if slices else (count, 1)
        out: list[_Domain] = []
        for i, first in enumerate(row):
            d, beside = first, leaders > 0
            enough = d.takes(slices=slices, beside=beside) >= rest and d.lead >= leaders
            if self.best_fit and enough:
                d = self._best(row[i:], rest, leaders, slices=slices)
            here = d.takes(slices=slices, beside=beside)
            done = here >= rest and d.lead >= leaders
            lead = leaders if done else min(d.lead, leaders)
            # A domain may take all pods that are left but not the leader: then the amount is cut,
            # and the next domain has the leader alone.
            here = rest if done else min(here, rest) if beside else here
            d.lead = lead
            d.pods = here * each
            if slices:
                d.slices = d.slices_beside = here
            leaders -= lead
            rest -= here
            out.append(d)
            if done:
                return out
        # Never reached: the chosen domains hold enough (docs/semantics/kueue-topology.md §7).
        return []


Check = Callable[["Floor", Sequence[Admitted], Sequence[PodSetPlaces]], Verdict]

CHECKS: Final[Register[Check]] = Register()
"""The check of every law, by the law's id."""


class Floor(Struct, frozen=True, dict=True):
    """The groups of podsets that have to be placed on the nodes of a snapshot, if any."""

    snapshot: Snapshot
    groups: tuple[Group, ...]

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes of the snapshot, with what was worked out about them."""
        return Nodes(self.snapshot)

    def without_room(self, victims: Collection[Admitted]) -> Iterator[tuple[Group, Slots]]:
        """Yield the groups without room, each by itself, and what leaves take with victims gone."""
        given, nodes = self.nodes.given_back(victims), self.nodes
        for one in self.groups:
            slots = nodes.slots(one, given.get(one.flavor, {}), {})
            if not has_room(nodes.tree(one.flavor), one, slots):
                yield one, slots

    def marks(self, workloads: Iterable[Admitted]) -> Iterator[Hashable]:
        """Yield what each workload gives back on nodes: equal if two give back the same."""
        flavors = sorted({group.flavor for group in self.groups})
        for workload in workloads:
            given = self.nodes.given_back([workload]) if flavors else {}
            yield tuple(
                (flavor, leaf, name, amount)
                for flavor in flavors
                for leaf, row in sorted(given.get(flavor, {}).items())
                for name, amount in sorted(row.items())
            )

    def owner_of(self, flavor: str) -> str:
        """Return the flavor as the owner of its leaves, or "" where it shares hosts with others.

        Flavors of the same hosts see what podsets take there under any of them; other trees have
        leaves of their own, though ids may be the same.
        """
        gate, tree = self.snapshot.configuration.gate, self.nodes.tree(flavor)
        return "" if tree.ends_in_host and gate(OVERLAPPING) else flavor

    def placed(self, victims: Collection[Admitted]) -> dict[str, Leaves] | str:
        """Place all groups in turn, as Kueue does; return the leaves of every podset, by its name.

        If a group finds no place, return the name of the first such group.
        """
        mixed, nodes = self.snapshot.configuration.gate(MIXED), self.nodes
        given = nodes.given_back(victims)
        by_owner: dict[str, dict[str, dict[str, int]]] = {}
        found: dict[str, Leaves] = {}
        for group in self.groups:
            tree = nodes.tree(group.flavor)
            assumed = by_owner.setdefault(self.owner_of(group.flavor), {})
            slots = nodes.slots(group, given.get(group.flavor, {}), assumed)
            placed = None
            if group.aim is not None:
                placed = _Placing(tree, group.aim, group, mixed=mixed).leaves_for(slots)
            if placed is None:
                return group.name
            for pods, leaves in zip(group.members, placed, strict=False):
                found[pods.name] = leaves
                for leaf, count in leaves:
                    add_to(assumed.setdefault(tree.leaf_id(leaf), {}), pods.amounts, count)
        return found

    def said(self, placed: Mapping[str, Leaves]) -> Iterator[PodSetPlaces]:
        """Yield the places of all podsets as plans say them."""
        for group in self.groups:
            tree = self.nodes.tree(group.flavor)
            # Where the lowest level is hosts, the name of the host is enough.
            named = slice(-1, None) if tree.ends_in_host else slice(None)
            for pods in group.members:
                domains = tuple(
                    Place(values=tree.values[-1][leaf][named], count=count)
                    for leaf, count in sorted(placed[pods.name])
                )
                levels = tree.levels[named]
                yield PodSetPlaces(
                    name=pods.name, flavor=pods.flavor, levels=levels, domains=domains
                )

    def finds(self, victims: Collection[Admitted]) -> bool:
        """Say whether Kueue finds a place for all groups: for one alone, whether it has room.

        Source: docs/semantics/kueue-topology.md §7 and §8.
        """
        if any(self.without_room(victims)):
            return False
        # Of one group the closed form is exact; of several, the places of the first decide what is
        # left for the second, and only the replay tells.
        return len(self.groups) <= 1 or not isinstance(self.placed(victims), str)


@CHECKS.of(KT_ROOM)
def room(floor: Floor, victims: Sequence[Admitted], _: Sequence[PodSetPlaces] = ()) -> Verdict:
    """KT-01: each group has room on the nodes by itself, in closed form.

    The slots of all leaves, with what victims take there given back, are added up level by level:
    whole slices at their level, one domain that holds all where one is required; with a leader,
    some leaf takes it and the rest still has room. Source: docs/semantics/kueue-topology.md §7.
    """
    findings = []
    for group, slots in floor.without_room(victims):
        most = slices_at_most(floor.nodes.tree(group.flavor), group, slots)
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
def placement(
    floor: Floor, victims: Sequence[Admitted], places: Sequence[PodSetPlaces] = ()
) -> Verdict:
    """KT-02: Kueue's own placement, replayed with the victims gone, finds a place for every podset.

    The places that a plan names, if it names any, are those.
    Source: docs/semantics/kueue-topology.md §4 and §5.
    """
    placed = floor.placed(victims)
    if isinstance(placed, str):
        wrong = f"podset {placed} finds no place on the nodes once those before it have theirs"
        return judge(KT_PLACEMENT, [wrong], "")
    pods = sum(count for leaves in placed.values() for _, count in leaves)
    leaves = {leaf for some in placed.values() for leaf, _ in some}
    findings = _misplaced(floor, placed, places) if places else ()
    return judge(KT_PLACEMENT, [*findings], f"{pods} pods on {len(leaves)} leaves")


def _misplaced(
    floor: Floor, placed: Mapping[str, Leaves], places: Sequence[PodSetPlaces]
) -> Iterator[str]:
    """Say of which podsets a plan names other places than those where Kueue puts the pods."""

    def plain(one: PodSetPlaces) -> object:
        return one.flavor, one.levels, sorted((at.values, at.count) for at in one.domains)

    yield from once_each("places", [f"podset {one.name}" for one in places], ())
    known = {one.name: plain(one) for one in floor.said(placed)}
    said = {one.name: plain(one) for one in places}
    for name in sorted(known.keys() | said.keys()):
        if known.get(name) != said.get(name):
            yield f"the places of podset {name} are not those where Kueue puts its pods"
