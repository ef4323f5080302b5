"""Room on the nodes in words: what pods ask for, which domains lack it, who else takes it.

Source: docs/semantics/kueue-topology.md §2.3, §3, §4.1 and §7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from planner.case.kueue import Case
from planner.plan.base import name_some
from planner.quantity import UNLIMITED, format_units, plural
from planner.quota.kueue.request import PODS
from planner.quota.kueue.topology import FlavorTree, Topologies, Values, is_of
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.topology.assigning import Placing
from planner.state.kueue import HOST

if TYPE_CHECKING:
    from planner.reference.kueue.topology.ask import Ask
    from planner.reference.kueue.topology.slots import LeafCounts, Wanted

MOST_NAMED: Final = 3
"""The most domains, or pods, that a sentence names."""


def slot_of(ask: Ask) -> str:
    """Return what one pod asks for, in words."""
    each = [f"{format_units(amount, name)} {name}" for name, amount in ask.own.items() if amount]
    *first, last = each or ["nothing but a place"]
    return f"{', '.join(first)} and {last}" if first else last


def unit_of(wanted: Wanted) -> tuple[str, str]:
    """Return the word for the place of one pod, or of a slice of them, and what it is."""
    size, slot = wanted.aim.size, slot_of(wanted.workers)
    return ("slice", f"{size} slots of {slot}") if size > 1 else ("slot", slot)


def kind_of(key: str) -> str:
    """Return what people call the domains of a level."""
    return "node" if key == HOST else key.rpartition("/")[2]


def called(tree: FlavorTree, values: Values) -> str:
    """Return what people call a domain; without values, the whole flavor.

    Racks of one label in several blocks are told apart by those above, as in ``rack b0/r0``.
    """
    if not values:
        return f"flavor {tree.flavor}"
    level, last = len(values) - 1, values[-1]
    key = tree.levels[level]
    alike = key != HOST and sum(other[-1] == last for other in tree.values[level]) > 1
    return f"{kind_of(key)} {'/'.join(values) if alike else last}"


class Beside:
    """The pods on the nodes of a flavor that Kueue did not place: no workloads, and no candidates.

    They matter in a domain that would have more slots without them.
    """

    def __init__(self, topologies: Topologies, tree: FlavorTree) -> None:
        self._tree: Final = tree
        self._pods: Final = list(topologies.beside(tree.flavor))

    def matter(self, wanted: Wanted, leaves: range, empty: int) -> tuple[str, ...]:
        """Return those that matter in a domain, which takes ``empty`` slices with only them there.

        ``wanted`` is for that domain alone, whose ``leaves`` are places in the tree of the flavor.
        """
        here = [(leaf, name, taken) for leaf, name, taken in self._pods if leaf in leaves]
        if not here:
            return ()
        rows = [list(self._tree.free[leaf]) for leaf in leaves]
        for leaf, _, taken in here:
            for resource, amount in taken.items():
                if (column := self._tree.column_of.get(resource)) is not None:
                    rows[leaf - leaves.start][column] += amount
        if wanted.held_in_all(wanted.counts(rows)) <= empty:
            return ()
        asked = {name for name, amount in wanted.workers.amounts.items() if amount and name != PODS}
        holding = [name for _, name, taken in here if any(taken.get(one) for one in asked)]
        return tuple(holding or [name for _, name, _ in here])


def who_else(names: Sequence[str]) -> str:
    """Return the words on pods that take room and are no workloads; empty if there are none."""
    if not names:
        return ""
    one = "holds room there and is no workload"
    are = one if len(names) == 1 else "hold room there and are no workloads"
    return f"; {name_some(names, MOST_NAMED)} {are} of Kueue's"


def out_of_use(topologies: Topologies, tree: FlavorTree, domain: Values = ()) -> str:
    """Return the words on nodes of a flavor, in a domain, that take no pods; empty if all do.

    Source: docs/semantics/kueue-topology.md §2.1.
    """
    flavor, levels = topologies.flavors[tree.flavor], tree.levels
    cordoned, unready = list[str](), list[str]()
    for node in topologies.nodes:
        labels = node.metadata.labels
        here = all(labels.get(key) == value for key, value in zip(levels, domain, strict=False))
        if here and not node.is_usable and is_of(node, flavor, levels):
            (cordoned if node.spec.unschedulable else unready).append(node.name)
    said = ""
    for names, why in ((cordoned, "cordoned (unschedulable)"), (unready, "not ready")):
        if len(names) == 1:
            said += f"; node {names[0]} is {why} and does not count"
        elif names:
            said += f"; nodes {name_some(names, MOST_NAMED)} are {why} and do not count"
    return said


def pods_alone(
    wanted: Wanted, rows: Sequence[Sequence[int]], has: Callable[[LeafCounts], int]
) -> str:
    """Return the words on nodes that have all but room for one pod more; empty if they lack more.

    ``rows`` are what is left on the leaves, ``has`` says how many slices have room by counts.
    """
    column = wanted.tree.column_of.get(PODS)
    if column is None:
        return ""
    endless = [[*row[:column], UNLIMITED, *row[column + 1 :]] for row in rows]
    enough = has(wanted.counts(endless)) >= wanted.slices
    return "; what is short is only the number of pods that a node takes" if enough else ""


def where_short(case: Case, gone: Iterable[int] = (), *, empty: bool = False) -> str:
    """Say which podsets lack room on the nodes of their flavors, and what the best domains have.

    The workloads at the positions ``gone`` have given their places back; ``empty`` means all that
    Kueue placed. Nothing is said where each podset, or group, has a place by itself, or quota alone
    decides.
    """
    if case.placement is None:
        return ""
    from planner.reference.kueue.topology.ask import Misfit, aim_of  # noqa: PLC0415
    from planner.reference.kueue.topology.find import groups_by_flavor, roles_in  # noqa: PLC0415
    from planner.reference.kueue.topology.slots import Wanted  # noqa: PLC0415

    placing = Placing.of_preemptor(case.snapshot, case.preemptor, Chance())
    test = None if placing is None else placing.test(case.assignment)
    if placing is None or test is None:
        return ""
    for position in gone:
        test.take_out(case.problem.workloads[position])
    topologies, said = case.snapshot.topologies, list[str]()
    for flavor, group in groups_by_flavor(test.asks):
        tree, roles = topologies.trees[flavor], roles_in(group)
        aim = aim_of(roles[0], tree)
        if not isinstance(aim, Misfit):
            wanted = Wanted.for_group(tree, aim, roles, topologies.flavors[flavor].spec.tolerations)
            rows = tree.free if empty else placing.occupancy.left[flavor]
            idle = out_of_use(topologies, tree)
            said += [f"{one}{idle}" for one in _lacking(wanted, rows, Beside(topologies, tree))]
    return "; ".join(said)


def _lacking(wanted: Wanted, rows: Sequence[Sequence[int]], beside: Beside) -> Iterator[str]:
    """Yield what a podset or group lacks where nothing but ``rows`` is left on the leaves."""
    tree, counts, (unit, what) = wanted.tree, wanted.counts(rows), unit_of(wanted)
    asks = f"{wanted.workers.name} needs {plural(wanted.slices, unit)} of {what}"
    everywhere = range(len(tree.nodes))
    if not wanted.is_required:
        held = wanted.held_in_all(counts)
        if held < wanted.slices:
            others = who_else(beside.matter(wanted, everywhere, held))
            others += pods_alone(wanted, rows, wanted.held_in_all)
            yield f"{asks}, and the nodes of flavor {tree.flavor} have room for {held}{others}"
        return
    level = wanted.aim.level
    held_in = wanted.held(counts)[level]
    if max(held_in, default=0) >= wanted.slices:
        return
    others = who_else(beside.matter(wanted, everywhere, sum(held_in)))
    others += pods_alone(wanted, rows, lambda counts: max(wanted.held(counts)[level], default=0))
    ranked = sorted(range(len(held_in)), key=lambda rank: (-held_in[rank], rank))
    has = [f"{called(tree, tree.values[level][rank])} has {held_in[rank]}" for rank in ranked]
    none = f"none of {len(has)} has room: {name_some(has, MOST_NAMED)}" if has else "there is none"
    where = f"one {kind_of(tree.levels[level])} of flavor {tree.flavor}"
    yield f"{asks} in {where}, and {none}{others}"
