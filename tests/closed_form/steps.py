"""The scheduler's removal steps: one workload after the other, each tested at its moment.

docs/semantics/kueue.md §5.6 and §6.4 to §6.6. Usage is carried along step by step, and must not
depend on the way by which a set was reached.
"""

from collections.abc import Callable

from tests.closed_form.fairness import Fairness
from tests.closed_form.tree import Row, Tree, Usage, Workload

Takes = Callable[[Workload, Usage, Usage], bool]
"""Whether the scheduler takes a workload, given usage before and after its removal."""


def classical(tree: Tree) -> set[int]:
    """Return the sets, as bit masks, that can be reached under classical preemption."""

    def takes(workload: Workload, before: Usage, after: Usage) -> bool:
        del after
        return all(
            any(before[node][fr] > tree.quota[node][fr] for fr in tree.contested)
            for node in tree.sides[workload.queue]
        )

    return _reachable(tree, takes, None)


def kep83(tree: Tree) -> set[int]:
    """Return the sets that can be reached by KEP-83: only queues are asked, at their min or above.

    KEP-83, Preemption, step 4; planner/research/kep83/laws.py, K83-07.
    """

    def takes(workload: Workload, before: Usage, after: Usage) -> bool:
        del after
        queue = workload.queue
        used, least = before[queue], tree.nominal[queue]
        return queue == tree.own or any(used[fr] >= least[fr] for fr in tree.contested)

    return _reachable(tree, takes, None)


def fair(rules: Fairness) -> set[int]:
    """Return the sets that can be reached under fair sharing."""
    tree = rules.tree

    def takes(workload: Workload, before: Usage, after: Usage) -> bool:
        if workload.queue == tree.own:
            return True
        if not all(rules.borrows(before, node) for node in tree.sides[workload.queue]):
            return False
        theirs, mine = rules.sides_at(workload.queue)
        return rules.permits(
            rules.share(before, mine),
            rules.share(before, theirs),
            lambda: rules.share(after, theirs),
        )

    return _reachable(tree, takes, rules.request)


def _reachable(tree: Tree, takes: Takes, request: Row | None) -> set[int]:
    usage = [[0] * tree.width for _ in tree.parent]
    for node, row in enumerate(tree.base):
        tree.add(usage, node, row)
    for workload in tree.workloads:
        tree.add(usage, workload.queue, workload.holds)
    if request is not None:
        tree.add(usage, tree.own, request)
    found = {0: tuple(map(tuple, usage))}
    ahead = [0]
    while ahead:
        gone = ahead.pop()
        for position, workload in enumerate(tree.workloads):
            more = gone | 1 << position
            if more == gone:
                continue
            changed = [list(row) for row in found[gone]]
            tree.remove(changed, workload.queue, workload.holds)
            after = tuple(map(tuple, changed))
            if not takes(workload, found[gone], after):
                continue
            if more not in found:
                found[more] = after
                ahead.append(more)
            assert found[more] == after, "usage depends on the order of removals"
    return set(found)
