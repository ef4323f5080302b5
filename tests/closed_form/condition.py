"""The closed form, as docs/explanation/closed-form.md states it: nothing is done step by step.

A set is a bit mask over the workloads of the tree.
"""

from collections.abc import Callable, Iterator
from functools import cache

from tests.closed_form.fairness import Fairness
from tests.closed_form.tree import Tree, Usage

Left = Callable[[int], Usage]
"""Usage without a set."""


def classical(tree: Tree) -> set[int]:
    """Return the sets that satisfy the last-victim condition of classical preemption."""
    left = cache(tree.usage_without)

    def over(node: int, gone: int) -> bool:
        return any(left(gone)[node][fr] > tree.quota[node][fr] for fr in tree.contested)

    return {victims for victims in _sets(tree) if all(_last_victims(tree, victims, over).values())}


def kep83(tree: Tree) -> set[int]:
    """Return the sets that satisfy the last-victim condition of KEP-83."""
    left = cache(tree.usage_without)

    def at_min(node: int, gone: int) -> bool:
        used, least = left(gone)[node], tree.nominal[node]
        asked = node in {workload.queue for workload in tree.workloads}
        return not asked or any(used[fr] >= least[fr] for fr in tree.contested)

    return {
        victims for victims in _sets(tree) if all(_last_victims(tree, victims, at_min).values())
    }


def fair(rules: Fairness) -> set[int]:
    """Return the sets that satisfy the last-victim conditions of fair sharing."""
    tree = rules.tree

    @cache
    def left(gone: int) -> Usage:
        return tree.usage_without(gone, rules.request)

    def borrows(node: int, gone: int) -> bool:
        return rules.borrows(left(gone), node)

    def is_fair(node: int, victims: int, last: int) -> bool:
        if tree.parent[node] not in tree.path:
            return True
        theirs, mine = rules.sides_at(node)
        return rules.permits(
            rules.share(left(victims), mine),
            rules.share(left(victims & ~last), theirs),
            lambda: rules.share(left(victims), theirs),
        )

    return {
        victims
        for victims in _sets(tree)
        if all(
            any(is_fair(node, victims, last) for last in able)
            for node, able in _last_victims(tree, victims, borrows).items()
        )
    }


def _sets(tree: Tree) -> Iterator[int]:
    return iter(range(1 << len(tree.workloads)))


def _last_victims(
    tree: Tree, victims: int, passes: Callable[[int, int], bool]
) -> dict[int, list[int]]:
    """Return can(n) for every touched side node: who passes from its queue up to n as the last."""
    able: dict[int, list[int]] = {}
    for position, workload in enumerate(tree.workloads):
        one = 1 << position
        if not victims & one:
            continue
        still = True
        for node in tree.sides[workload.queue]:
            still = still and passes(node, victims & ~one)
            able.setdefault(node, []).extend([one] if still else [])
    return able
