"""What a plan says of the nodes around it, held against what leaves take of its pods.

Source: docs/semantics/kueue-topology.md §4.1 and §6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from planner.plan.kueue import NodesAround, Plan
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Group
from planner.verifier.kueue_topology.judge import Floor
from planner.verifier.kueue_topology.leaves import domains_of, fitting
from planner.verifier.wording import compare, once_each

_COUNTS: Final[Sequence[str]] = ("slots", "taken", "freed", "used", "reused")


def around_faults(floor: Floor, victims: Collection[Admitted], plan: Plan) -> Iterator[str]:
    """Compare the slots of domains, now and with the victims gone, where a plan says them.

    Each podset is seen alone, also one that is placed with its leader. All of a plan that does not
    see to places is left out. Which slots the preemptor takes is compared where it names Kueue's
    own places: it does not where preferences for nodes decide, which are not replayed here.
    """
    stated = () if plan.placement is None else plan.nodes
    groups = {
        one.name: Group(one, None, group.aim) for group in floor.groups for one in group.members
    }
    if floor.groups:
        yield from once_each("nodes", [one.pod_set for one in stated], groups)
    placed = floor.placed(victims) if stated and floor.groups else {}
    counts = _COUNTS if plan.places else _COUNTS[:3]
    is_placed = not isinstance(placed, str)
    for i, one in enumerate(stated):
        group, where = groups.get(one.pod_set), f"nodes[{i}]"
        if group is not None:
            yield from compare(f"{where}.flavor", one.flavor, group.flavor)
            if counts == _COUNTS:
                yield from compare(f"{where}.placed", one.placed, is_placed)
            used = dict(placed.get(one.pod_set, ())) if not isinstance(placed, str) else {}
            if one.flavor == group.flavor:
                counted = _rows(floor, group, victims, used)
                rows = [{name: row[at] for at, name in enumerate(counts)} for row in counted]
                yield from _domain_faults(floor, group, where, one, rows)
        elif floor.groups:
            yield f"{where}.pod_set {one.pod_set} has to have no place on nodes"


def _rows(
    floor: Floor, group: Group, victims: Collection[Admitted], used: dict[int, int]
) -> list[tuple[int, ...]]:
    """Return for each leaf the counts of `DomainSlots`, in its order."""
    nodes, wanted = floor.nodes, group.workers.amounts
    tree, given = nodes.tree(group.flavor), nodes.given_back(victims)
    now = nodes.slots(group, {}, {}).pods
    later = nodes.slots(group, given.get(group.flavor, {}), {}).pods
    rows = list[tuple[int, ...]]()
    for leaf, suited in enumerate(nodes.suited_to(group.workers)):
        columns = {name: tree.column_of.get(name) for name in wanted}
        empty = {name: 0 if at is None else tree.free[leaf][at] for name, at in columns.items()}
        whole, own = fitting(wanted, empty) if suited else 0, used.get(leaf, 0)
        reused = max(0, own - now[leaf])
        rows.append((whole, whole - now[leaf], later[leaf] - now[leaf], own, reused))
    return rows


def _domain_faults(
    floor: Floor, group: Group, where: str, stated: NodesAround, rows: Sequence[Mapping[str, int]]
) -> Iterator[str]:
    tree = floor.nodes.tree(group.flavor)
    below = [[*map(len, one)] for one in tree.children]
    listed = Counter(one.domain for one in stated.domains)
    inside = Counter(one.domain[:-1] for one in stated.domains)
    yield from compare(f"{where}.hidden", stated.hidden, len(tree.values[0]) - inside[()])
    places, facts = dict[tuple[str, ...], tuple[int, int]](), list[list[Counter[str]]]()
    for level, values in enumerate(tree.values):
        places |= {domain: (level, place) for place, domain in enumerate(values)}
        facts.append([Counter() for _ in values])
        for row, owner in zip(rows, domains_of(tree, level), strict=True):
            facts[level][owner].update(row)
    for i, one in enumerate(stated.domains):
        at = f"{where}.domains[{i}]"
        if one.domain not in places or listed[one.domain] > 1:
            yield f"{at}.domain {'/'.join(one.domain)} is none of {group.flavor}, or stands twice"
            continue
        level, place = places[one.domain]
        for name in rows[0]:
            yield from compare(f"{at}.{name}", getattr(one, name), facts[level][place][name])
        count = below[level][place] if level < tree.depth else 0
        yield from compare(f"{at}.hidden", one.hidden, count - inside[one.domain])
