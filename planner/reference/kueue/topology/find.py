"""All podsets of a workload placed one after the other, now or in a cluster without Kueue's pods.

Source: docs/semantics/kueue-topology.md §3.4, §4, §5 and §6; kueue ff69552e
pkg/cache/scheduler/clusterqueue_snapshot.go ``FindTopologyAssignmentsForWorkload``,
tas_flavor_snapshot.go ``FindTopologyAssignmentsForFlavor``, ``notFitMessage``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.quota.kueue.request import add_to
from planner.quota.kueue.topology import (
    OVERLAPPING,
    FlavorTree,
    Occupancy,
    Taken,
    Topologies,
    Values,
)
from planner.reference.kueue.chance import PlacementCrash
from planner.reference.kueue.topology.ask import Ask, Misfit, aim_of
from planner.reference.kueue.topology.place import Chosen, Manners, Short, place_pods
from planner.reference.kueue.topology.slots import (
    Gauge,
    LeafCounts,
    Qualification,
    Wanted,
    columns,
    excluded,
    slots,
)


class Placement(NamedTuple):
    """Where the pods of a podset are placed: the domains in order, each with its pod count.

    ``own`` is what one pod asks for, ``amounts`` adds its one of ``pods``.
    """

    flavor: str
    levels: tuple[str, ...]
    domains: tuple[tuple[Values, int], ...]
    own: Mapping[str, int]
    amounts: Mapping[str, int]

    @property
    def leaves(self) -> tuple[tuple[str, int], ...]:
        """The ids of the leaves with their pod counts."""
        return tuple((",".join(values), count) for values, count in self.domains)

    @property
    def taken(self) -> list[Taken]:
        """What the pods take of the leaves."""
        return [
            Taken(self.flavor, leaf, {name: one * count for name, one in self.amounts.items()})
            for leaf, count in self.leaves
        ]


@dataclass(slots=True)
class Found:
    """The placements by podset, and for a podset without one the reason, in Kueue's words."""

    placements: dict[str, Placement] = field(default_factory=dict)
    against: dict[str, str] = field(default_factory=dict)

    @property
    def fits(self) -> bool:
        """Whether every podset has a place."""
        return not self.against


@dataclass(slots=True)
class _Standing:
    """The counts for a group of podsets on a tree; ``seen`` entries of the log are in them."""

    wanted: Wanted
    counts: LeafCounts
    gauge: Gauge
    seen: int


class Placer:
    """Places podsets on what is left at the moment; of ``occupancy`` only ``scored`` is changed."""

    def __init__(self, topologies: Topologies, occupancy: Occupancy) -> None:
        self.topologies = topologies
        self.occupancy = occupancy
        gate = topologies.configuration.gate
        self._manners = Manners(gate("TASProfileMixed"), gate("TASBalancedPlacement"))
        self._shares_nodes = gate(OVERLAPPING)
        self._scores = gate("TASRespectNodeAffinityPreferred")
        self._forgets_scores = gate("TASCacheNodeMatchResults")
        self._standings: dict[tuple[object, ...], _Standing] = {}
        self._qualifications: dict[tuple[str, int], tuple[Ask, Qualification]] = {}

    def fits(self, asks: Sequence[Ask]) -> bool:
        """Say whether all podsets have a place.

        A single podset need not be placed for that: the procedure finds a place if there is room at
        all (§7). Of several podsets each needs room, but the first takes its place without regard
        for the others.
        """
        if self._scores or self._manners.balanced:
            return self.find(asks).fits
        for flavor, group in groups_by_flavor(asks):
            workers, leader = roles_in(group)
            standing = self._standing(self.occupancy.trees[flavor], workers, leader, empty=False)
            if isinstance(standing, Misfit) or not standing.gauge.may_fit:
                return False
        return len(asks) <= 1 or self.find(asks).fits

    def find(self, asks: Sequence[Ask], *, empty: bool = False, explain: bool = False) -> Found:
        """Place podsets, given in the order of the spec, in Kueue's order.

        ``empty`` says that all pods that Kueue placed are ignored, ``explain`` that the result has
        to say why podsets have no place.
        """
        found = Found()
        shared: dict[str, dict[str, int]] = {}
        own: dict[str, dict[str, dict[str, int]]] = {}
        failed: set[str] = set()
        for flavor, group in groups_by_flavor(asks):
            if flavor in failed:
                continue
            tree = self.occupancy.trees[flavor]
            with_others = self._shares_nodes and tree.ends_in_host
            assumed = shared if with_others else own.setdefault(flavor, {})
            workers, leader = roles_in(group)
            standing = self._standing(tree, workers, leader, empty=empty)
            chosen = (
                standing
                if isinstance(standing, Misfit)
                else self._placed(standing, assumed, empty=empty, explain=explain)
            )
            if isinstance(chosen, Misfit):
                # The rest of this flavor is left out, but later flavors are still tried (§4).
                found.against |= {ask.name: chosen.text for ask in group}
                failed.add(flavor)
                continue
            if len(group) > 2:  # noqa: PLR2004 - workers and their leader
                raise PlacementCrash(
                    workers.workload,
                    f"Kueue crashes here: group {workers.group} has {len(group)} podsets, and only "
                    "two of them get a place, the workers and their leader",
                    "groups of two podsets",
                )
            in_hosts, leaves = tree.ends_in_host, tree.values[-1]
            for ask in group:
                some = chosen.leaders if ask is leader else chosen.workers
                placement = Placement(
                    flavor=tree.flavor,
                    levels=tree.levels[-1:] if in_hosts else tree.levels,
                    domains=tuple(
                        (leaves[leaf][-1:] if in_hosts else leaves[leaf], count)
                        for leaf, count in some
                    ),
                    own=ask.own,
                    amounts=ask.amounts,
                )
                found.placements[ask.name] = placement
                for _, leaf_id, amounts in placement.taken:
                    add_to(assumed.setdefault(leaf_id, {}), amounts)
        return found

    def _placed(
        self,
        standing: _Standing,
        assumed: Mapping[str, Mapping[str, int]],
        *,
        empty: bool,
        explain: bool,
    ) -> Chosen | Misfit:
        wanted = standing.wanted
        tree, workers = wanted.tree, wanted.workers
        # The scores of the leaves; for a workload with a UID they count only once (§10).
        scores, key = None, (workers.uid, workers.name, tree.flavor)
        forgotten = self._forgets_scores and workers.uid and key in self.occupancy.scored
        if self._scores and not forgotten:
            self.occupancy.scored.add(key)
            scores = self._qualification(tree, workers).scores()
        counts = standing.counts.without(assumed)
        # The gauge's "no" is certain; but Kueue's reason is found by its own steps only.
        if not (explain or standing.gauge.may_fit):
            return Misfit("")
        try:
            chosen = place_pods(wanted, counts, self._manners, scores)
        except ZeroDivisionError:
            raise PlacementCrash(
                workers.workload,
                f"Kueue crashes here: podset {workers.name} has fewer pods than one slice, and "
                "balanced placement divides by their number of slices",
                "the gate TASBalancedPlacement off, or a smaller slice",
            ) from None
        if not isinstance(chosen, Short):
            return chosen
        if not explain:
            return Misfit("")
        rows = tree.free if empty else self.occupancy.left[tree.flavor]
        against = self._qualification(tree, workers).against
        return Misfit(not_enough(wanted, chosen, excluded(wanted, rows, against, assumed)))

    def _standing(
        self, tree: FlavorTree, workers: Ask, leader: Ask | None, *, empty: bool
    ) -> _Standing | Misfit:
        """Return the counts of a group, brought up to date for the leaves that changed."""
        key = tree.flavor, workers.name, workers.count, leader and leader.name, empty
        known = self._standings.get(key)
        log = self.occupancy.log[tree.flavor]
        if known is None:
            aim = aim_of(workers, tree)
            if self._scores and not workers.pod.has_valid_preferences:
                aim = Misfit("invalid preferred node affinity terms")
            if isinstance(aim, Misfit):
                return aim
            rows = tree.free if empty else self.occupancy.left[tree.flavor]
            qualified = self._qualification(tree, workers).leaves
            wanted = Wanted(tree, aim, workers, leader, qualified)
            counts = wanted.counts(rows)
            known = _Standing(wanted, counts, Gauge(wanted, counts), len(log))
            self._standings[key] = known
        elif not empty and known.seen < len(log):
            for leaf in dict.fromkeys(log[known.seen :]):
                known.counts.refresh(leaf)
                known.gauge.refresh(leaf)
            known.seen = len(log)
        return known

    def _qualification(self, tree: FlavorTree, ask: Ask) -> Qualification:
        key = tree.flavor, id(ask.pod)
        if key not in self._qualifications:
            tolerations = self.topologies.flavors[tree.flavor].spec.tolerations
            self._qualifications[key] = ask, Qualification(tree, ask.pod, tolerations)
        return self._qualifications[key][1]


def still_fits(occupancy: Occupancy, placement: Placement) -> bool:
    """Say whether each domain of a placement, taken by itself, has room left (§6.2).

    What a pod takes of ``pods`` is not counted here.
    """
    if not placement.own:  # for Kueue no pod fits where nothing is asked for
        return not placement.leaves
    tree = occupancy.trees[placement.flavor]
    wanted = columns(tree, placement.own)
    for leaf_id, count in placement.leaves:
        leaf = tree.leaf_of.get(leaf_id)
        if leaf is None or slots(wanted, occupancy.left[placement.flavor][leaf]) < count:
            return False
    return True


def groups_by_flavor(asks: Sequence[Ask]) -> Iterator[tuple[str, list[Ask]]]:
    """Yield the groups of podsets, flavor by flavor by name, in order of first appearance.

    A podset without a group is a group of its own.
    """
    for flavor in sorted({ask.flavor for ask in asks}):
        groups: dict[str, list[Ask]] = {}
        for position, ask in enumerate(asks):
            if ask.flavor == flavor:
                groups.setdefault(ask.group or f"/{position}", []).append(ask)
        for group in groups.values():
            yield flavor, group


def roles_in(group: Sequence[Ask]) -> tuple[Ask, Ask | None]:
    """Return the workers and the leader: the workers are the podset with more pods."""
    if len(group) == 1:
        return group[0], None
    workers, leader = group[0], group[1]
    # With equal counts the workers come first in the spec (§4).
    return (leader, workers) if leader.count > workers.count else (workers, leader)


def not_enough(wanted: Wanted, short: Short, excluded: Counter[str]) -> str:
    """Return Kueue's message: how much of the request fits, and which nodes are left out."""
    tree, aim, count = wanted.tree, wanted.aim, wanted.workers.count
    unit = "slice(s)" if aim.size > 1 else "pod(s)"
    if short.layers:
        each = (
            f"{fits}/{count // one.size} slice(s) fit on level {one.topology}"
            for fits, one in zip(short.layers, aim.constraints, strict=True)
        )
        much = "; ".join(("doesn't allow to fit", *each))
    elif short.fits:
        much = f"allows to fit only {short.fits} out of {wanted.slices} {unit}"
    else:
        much = f"doesn't allow to fit any of {wanted.slices} {unit}"
    text = f'topology "{tree.topology}" {much}'
    if not excluded:
        return text
    counts = ", ".join(f"{why}: {nodes}" for why, nodes in sorted(excluded.items()))
    return f"{text}. Total nodes: {len(tree.nodes)}; excluded: {counts}"
