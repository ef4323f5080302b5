"""What a plan says of the nodes around it, held against what leaves take of its pods.

Source: docs/semantics/kueue-topology.md §4.1 and §6.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from planner.plan.kueue import NodesAround, Plan
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placing import Group
from planner.verifier.kueue_topology.judge import Floor
from planner.verifier.kueue_topology.leaves import domains_of, fitting
from planner.verifier.wording import compare

_COUNTS: Final[Sequence[str]] = ("slots", "taken", "freed", "used", "reused")


def around_faults(floor: Floor, victims: Collection[Admitted], plan: Plan) -> Iterator[str]:
    """Compare the slots of domains, now and with the victims gone, where a plan says them.

    Podsets that share their places with a leader are left out, and all of a plan that does not see
    to places. Which slots the preemptor takes is compared where it names Kueue's own places: it
    does not where preferences for nodes decide, which are not replayed here.
    """
    stated = () if plan.placement is None else plan.nodes
    groups = {group.workers.name: group for group in floor.groups if group.leader is None}
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
        elif floor.groups and all(group.leader is None for group in floor.groups):
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
    listed = [one.domain for one in stated.domains]

    def unlisted(domain: tuple[str, ...], count: int) -> int:
        return count - sum(one[:-1] == domain for one in listed)

    yield from compare(f"{where}.hidden", stated.hidden, unlisted((), len(tree.values[0])))
    owners = [domains_of(tree, level) for level in range(tree.depth + 1)]
    for i, one in enumerate(stated.domains):
        at, level = f"{where}.domains[{i}]", len(one.domain) - 1
        known = list(tree.values[level]) if 0 <= level <= tree.depth else []
        if one.domain not in known or listed.count(one.domain) > 1:
            yield f"{at}.domain {'/'.join(one.domain)} is none of {group.flavor}, or stands twice"
            continue
        place = known.index(one.domain)
        leaves = [row for row, owner in zip(rows, owners[level], strict=True) if owner == place]
        for name in rows[0]:
            fact = sum(row[name] for row in leaves)
            yield from compare(f"{at}.{name}", getattr(one, name), fact)
        count = below[level][place] if level < tree.depth else 0
        yield from compare(f"{at}.hidden", one.hidden, unlisted(one.domain, count))
