"""The terms of a pending workload of Kueue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from planner.errors import LookupFailed, did_you_mean
from planner.objective.annotation import Disruptions, LookedUp, read_disruption
from planner.objective.applied import KnownGroups
from planner.objective.sums import Losses, as_costs, places, ranks, separable_terms
from planner.objective.terms import PER_MILLE, Budget, TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.kueue.activity import Activity
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.holding import pod_set_holdings, running_of
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import NO_PARENT, QuotaTree
from planner.state.kueue import State
from planner.state.kueue_columns import held_of
from planner.state.pods import PodDisruptionBudget
from planner.term import ACCELERATOR, unit_weight


def term_table(
    problem: Problem,
    snapshot: Snapshot,
    eligible: BoolArray,
    costs: Mapping[str, int] | None = None,
    ranked: BoolArray | None = None,
) -> TermTable:
    """Compute the terms of a problem.

    - ``problem``, ``snapshot``: The problem, and the snapshot it was built from (for
      flavor-resources that the problem leaves out).
    - ``eligible``: (W,) the candidates.
    - ``costs``: Cost per ``namespace/name`` for the term ``cost``; a workload not named costs 1.
    - ``ranked``: (W,) whose priorities are ranked; those of the candidates when absent.

    Raises ``LookupFailed`` if a cost is given for a workload that holds no quota. Raises
    ``SchemaError`` if an annotation has an unusable value. Raises ``UnsupportedError`` if a
    workload is too large to add its cost up exactly.
    """
    if costs is not None:
        held = {key for holders in snapshot.admitted.values() for key in holders.keys}
        for name in costs:
            if name not in held:
                found = f"there is no workload {name} that holds quota"
                raise LookupFailed("costs", found, hint=did_you_mean(name, held))
    workloads, columns = problem.workloads, problem.workloads.columns
    rank, priorities = ranks(problem.priority, eligible if ranked is None else ranked)
    keys = LookedUp(len(workloads), lambda place: workloads[place].key)
    noted = np.flatnonzero(columns.noted)
    said = {
        place: read_disruption(workloads[place].remarks, snapshot.now, running_s)
        for place, running_s in zip(noted.tolist(), columns.running_s[noted].tolist(), strict=True)
    }
    disruptions = Disruptions(columns.running_s, said)
    weights = [unit_weight(fr.resource) for fr in snapshot.tree.frs]
    first, which = problem.workloads.alike
    # Once for each different usage: a large state has many workloads, but few different usages.
    of_shape = [sum([weights[fr] * n for fr, n in one.usage.items()]) for one in first]
    sizes = as_costs(of_shape)[which]
    # These are gone under every plan: what they free lowers the need, and is never over-freed.
    going = problem.leaving & eligible
    needs = [0] * len(problem.frs)
    for fr in problem.contested:
        asked = problem.request[fr]
        short = max(0, asked - problem.available[fr]) if asked else 0
        needs[fr] = max(0, short - sum(problem.holding[going, fr].tolist()))
    borrowed, sharers = sharing(problem, snapshot)
    # The queue of each workload, the cohorts above it and the namespace.
    groups_of = cache(lambda node, namespace: (*_above(problem, node), f"namespace/{namespace}"))
    place, leaving, priority = places(problem.order, eligible), problem.leaving, problem.priority
    losses = Losses(
        keys, sizes, columns.pods, disruptions, rank, place, priority, leaving, costs or {}
    )
    return TermTable(
        separable=separable_terms(losses),
        rank=rank,
        priority=problem.priority,
        priorities=priorities,
        queue=problem.queue,
        size=sizes,
        leaving=problem.leaving,
        holding=problem.holding,
        borrowed=borrowed,
        sharers=sharers,
        contested=problem.contested,
        weight=[unit_weight(fr.resource) for fr in problem.frs],
        needs=[needs],
        alternative=lambda _: 0,
        disruptions=disruptions,
        groups=LookedUp(
            len(keys), lambda w: groups_of(int(problem.queue[w]), workloads[w].namespace)
        ),
        budgets=pod_budgets(problem.workloads, snapshot),
    )


def known_groups(state: State) -> KnownGroups:
    """Return the groups of a state of Kueue that wishes may name."""
    # With a LocalQueue alone a namespace is known as well: it may have workloads tomorrow.
    namespaces = {namespace for namespace, _ in state.workloads.columns.local_queues}
    namespaces |= {queue.metadata.namespace for queue in state.local_queues}
    return {
        "queue": {queue.name for queue in state.cluster_queues},
        "cohort": Activity.in_state(state).parents.keys(),
        "namespace": namespaces,
    }


def _above(problem: Problem, queue: int) -> Iterator[str]:
    yield f"queue/{problem.names[queue]}"
    node = problem.parent[queue]
    while node != NO_PARENT:
        yield f"cohort/{problem.names[node]}"
        node = problem.parent[node]


def pod_budgets(workloads: Sequence[Admitted], snapshot: Snapshot) -> list[Budget]:
    """Return the PodDisruptionBudgets of a snapshot that cover any pod of the workloads given.

    A budget covers the pods of its namespace whose labels match. A dump has the labels of podset
    templates only: those that a controller adds to pods are not known. How many pods may be evicted
    is ``status.disruptionsAllowed``. Without that it is worked out from ``maxUnavailable`` or
    ``minAvailable``, as if the budget covered only pods of admitted workloads and all of these were
    healthy; percentages are rounded up, as Kubernetes does.
    """
    found = []
    for budget in snapshot.budgets:
        covered = [_covered(budget, one, snapshot) for one in workloads]
        if not any(covered):
            continue
        # Percentages are of all pods that are covered, also of workloads that are not given.
        held = (one for group in snapshot.admitted.values() for one in group)
        pods = sum(_covered(budget, one, snapshot) for one in held)
        spec, allowed = budget.spec, budget.status.disruptions_allowed
        if allowed is None and spec.max_unavailable is not None:
            allowed = _share(spec.max_unavailable, pods)
        elif allowed is None and spec.min_available is not None:
            allowed = max(0, pods - _share(spec.min_available, pods))
        # With none of these set, the disruption controller permits no eviction.
        found.append(Budget(allowed or 0, np.array(covered, dtype=np.int64)))
    return found


def _share(number: int | str, pods: int) -> int:
    return number if isinstance(number, int) else -(-int(number.removesuffix("%")) * pods // 100)


def _covered(budget: PodDisruptionBudget, one: Admitted, snapshot: Snapshot) -> int:
    selector = budget.spec.selector
    if selector is None or one.namespace != budget.metadata.namespace:
        return 0
    # Pods that exist, not those of the spec: reclaimed pods are gone, and those by which a count
    # was reduced never existed.
    held, configuration = held_of(one.workload), snapshot.configuration
    running = running_of(held, configuration, pod_set_holdings(held, configuration))
    return sum(
        running.get(pod_set.name, 0)
        for pod_set in one.workload.spec.pod_sets
        if selector.matches(pod_set.template.metadata.labels)
    )


_WHOLE_WEIGHT: Final = 10**9
"""Weights are in nano-units."""


def sharing(problem: Problem, snapshot: Snapshot) -> tuple[list[int], Mapping[int, Sequence[int]]]:
    """Return what each node of a problem borrows: (N,), and per queue the nodes that it counts for.

    A ClusterQueue borrows what it uses above its nominal quota, a cohort what it uses above the
    quota of its subtree. Where fair sharing is on, both are divided by the weight: a node entitled
    to twice as much counts as borrowing half as much, and its victims weigh twice. Victims below a
    cohort count for the cohort, too, if it borrows and no preemptor is below it; else they count
    for their queues alone.

    All flavor-resources count, whether contested or not, as in the sizes of workloads.
    """
    tree = snapshot.tree
    borrowed = [0] * len(problem.names)
    sharers: dict[int, Sequence[int]] = {}
    queues, first = np.unique(problem.queue, return_index=True)
    nodes = problem.workloads.columns.queue[first].tolist()
    everything = None
    if problem.fair is not None:
        everything = sum(_size(snapshot.usage.amount[node], tree) for node in nodes)
    for node, queue in zip(nodes, queues.tolist(), strict=True):
        # Two numberings of one tree: the snapshot's, for amounts, and the problem's, for what is
        # returned.
        found, above, position = [queue], node, queue
        while position != NO_PARENT:
            own = tree.subtree[above]
            used = enumerate(snapshot.usage.amount[above])
            over = _size([max(0, amount - own[fr]) for fr, amount in used], tree)
            borrowed[position] = _by_weight(snapshot, above, over, everything)
            # Whether a cohort borrows is asked before the division, which can round it to 0.
            if position != queue and over and position not in problem.path:
                found.append(position)
            above, position = tree.nodes[above].parent, problem.parent[position]
        sharers[queue] = found
    return borrowed, sharers


def _by_weight(snapshot: Snapshot, node: int, over: int, everything: int | None) -> int:
    """Return what a node borrows, divided by its weight, rounded down.

    It is at most a thousand times ``everything``, the size of all usage, which a weight of 0 or
    close to 0 reaches: more would not change a per mille. Without that, weights do not count.
    """
    if everything is None:
        return over
    most = PER_MILLE * max(everything, ACCELERATOR)
    weight = snapshot.tree.nodes[node].weight_nano
    if not weight:
        return most if over else 0
    return min(over * _WHOLE_WEIGHT // weight, most)


def _size(amounts: Sequence[int], tree: QuotaTree) -> int:
    """Return the size of amounts of all flavor-resources, in 1/32000 accelerator."""
    return sum(unit_weight(fr.resource) * n for fr, n in zip(tree.frs, amounts, strict=True) if n)
