"""What a plan says of the nodes around it, held against what leaves take of its pods.

Source: docs/semantics/kueue-topology.md §4.1 and §6.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from planner.plan.kueue import NodesAround, Plan
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placement import LEFT_OUT
from planner.quota.kueue.placing import Group
from planner.verifier.kueue_topology.judge import Floor
from planner.verifier.kueue_topology.leaves import domains_of, fitting
from planner.verifier.wording import compare, once_each

_COUNTS: Final[Sequence[str]] = ("slots", "taken", "freed", "used", "reused")
_TAKEN: Final = _COUNTS.index("used")
"""From here on the counts are of slots that the preemptor takes."""


def not_compared(floor: Floor, plan: Plan) -> Sequence[str]:
    """Return the fields of what a plan says of the nodes that nothing here is compared with.

    They are all of them in a plan that does not see to places, for which no topology is looked at;
    and which slots the preemptor takes where preferences for nodes decide, which are not replayed.
    """
    if not plan.nodes or plan.placement is None:
        return ("nodes",) if plan.nodes else ()
    preferred = any(map(floor.snapshot.configuration.gate, LEFT_OUT))
    return [f"nodes.domains.{name}" for name in _COUNTS[_TAKEN:]] if preferred else ()


def around_faults(floor: Floor, victims: Collection[Admitted], plan: Plan) -> Iterator[str]:
    """Compare the slots of domains, now and with the victims gone, where a plan says them.

    Each podset is seen alone, also one that is placed with its leader. What is left out
    `not_compared` names.
    """
    left_out = not_compared(floor, plan)
    stated = () if "nodes" in left_out else plan.nodes
    groups = {
        one.name: Group(one, None, group.aim) for group in floor.groups for one in group.members
    }
    yield from once_each("nodes", [one.pod_set for one in stated], groups)
    placed = floor.placed(victims) if stated and floor.groups else {}
    is_placed = not isinstance(placed, str)
    counts = _COUNTS[:_TAKEN] if left_out and is_placed else _COUNTS
    if plan.places and plan.placement is None:
        yield "places: the plan does not see to any"
    for i, one in enumerate(stated):
        group, where = groups.get(one.pod_set), f"nodes[{i}]"
        if group is None:
            yield f"{where}.pod_set {one.pod_set} has to have no place on nodes"
            continue
        yield from compare(f"{where}.flavor", one.flavor, group.flavor)
        yield from compare(f"{where}.placed", one.placed, is_placed)
        used = dict(placed.get(one.pod_set, ())) if not isinstance(placed, str) else {}
        if one.flavor == group.flavor:
            counted = _rows(floor, group, victims, used)
            rows: list[Mapping[str, int]] = [
                dict(zip(counts, row, strict=False)) for row in counted
            ]
            yield from _domain_faults(floor, group, where, one, rows)


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
