"""The terms of a pending workload of Kueue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from planner.errors import LookupFailed
from planner.objective.annotation import Disruptions, read_disruption
from planner.objective.applied import KnownGroups
from planner.objective.sums import LookedUp, Losses, exact_sizes, places, ranks, separable_terms
from planner.objective.terms import PER_MILLE, Budget, TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.kueue.activity import Activity
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.holding import holding_of
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import NO_PARENT, QuotaTree
from planner.state.kueue import State
from planner.state.pods import PodDisruptionBudget
from planner.term import ACCELERATOR, unit_weight


def term_table(  # noqa: PLR0913, PLR0917 - what a decision depends on
    problem: Problem,
    snapshot: Snapshot,
    eligible: BoolArray,
    costs: Mapping[str, int] | None = None,
    ranked: BoolArray | None = None,
    asking: Collection[int] | None = None,
) -> TermTable:
    """Compute the terms of a problem.

    - ``problem``, ``snapshot``: The problem, and the snapshot it was built from (for what lies
      outside the problem's fr).
    - ``eligible``: (W,) the candidates.
    - ``costs``: Cost per ``namespace/name`` for the term ``cost``; a workload not named costs 1.
    - ``ranked``: (W,) among whose priorities ranks are counted; the candidates when absent.
    - ``asking``: The nodes that the preemptors are in; those of the one preemptor when absent.

    Raises ``LookupFailed`` if a cost is given for a workload that holds no quota. Raises
    ``SchemaError`` if an annotation has an unusable value. Raises ``UnsupportedError`` if a
    workload is too large to add its cost up exactly.
    """
    if costs is not None:
        held = {workload.key for group in snapshot.admitted.values() for workload in group}
        for name in costs:
            if name not in held:
                raise LookupFailed("costs", f"there is no workload {name} that holds quota")
    workloads, columns = problem.workloads, problem.workloads.columns
    rank, priorities = ranks(problem.priority, eligible if ranked is None else ranked)
    keys = LookedUp(len(workloads), lambda place: workloads[place].key)
    said = {
        place: read_disruption(workloads[place].remarks, snapshot.now, workloads[place].running_s)
        for place in np.flatnonzero(columns.noted).tolist()
    }
    disruptions = Disruptions(columns.running_s, said)
    weights = [unit_weight(fr.resource) for fr in snapshot.tree.frs]
    first, which = problem.workloads.alike
    # Once for each different holding: a large state has few of these, and many workloads.
    of_shape = [sum([weights[fr] * n for fr, n in one.usage.items()]) for one in first]
    sizes = exact_sizes(keys, of_shape, which)
    # They go whatever the plan: what they free is no reason to evict anybody, nor over-freed.
    going = problem.evicted & eligible
    needs = [0] * len(problem.frs)
    for fr in problem.contested:
        asked = problem.request[fr]
        short = max(0, asked - problem.available[fr]) if asked else 0
        needs[fr] = max(0, short - sum(problem.holding[going, fr].tolist()))
    borrowed, sharers = sharing(problem, snapshot, problem.path if asking is None else asking)
    # The queue, the cohorts above it and the namespace of each.
    groups_of = cache(lambda node, namespace: (*_above(problem, node), f"namespace/{namespace}"))
    place, evicted, priority = places(problem.order, eligible), problem.evicted, problem.priority
    losses = Losses(
        keys, sizes, columns.pods, disruptions, rank, place, priority, evicted, costs or {}
    )
    return TermTable(
        separable=separable_terms(losses),
        rank=rank,
        priority=problem.priority,
        priorities=priorities,
        queue=problem.queue,
        size=sizes,
        evicted=problem.evicted,
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
    namespaces = {one.namespace for one in state.workloads.entries}
    namespaces |= {queue.metadata.namespace for queue in state.local_queues}
    return {
        "queue": {queue.name for queue in state.cluster_queues},
        "cohort": Activity.of(state).parents.keys(),
        "namespace": namespaces,
    }


def _above(problem: Problem, queue: int) -> Iterator[str]:
    yield f"queue/{problem.names[queue]}"
    node = problem.parent[queue]
    while node != NO_PARENT:
        yield f"cohort/{problem.names[node]}"
        node = problem.parent[node]


def pod_budgets(workloads: Sequence[Admitted], snapshot: Snapshot) -> list[Budget]:
    """Return the budgets of a snapshot that cover any of some workloads.

    A budget covers the pods of its namespace whose labels match, of which a dump has what the
    podset templates say: labels that a controller adds to pods are not known. How many may go is
    what the cluster says (``status.disruptionsAllowed``). Where it says nothing it is worked out
    from ``maxUnavailable`` or ``minAvailable``, as if the pods of the admitted workloads were all
    that are covered and all of them healthy; shares are rounded up, as Kubernetes does.
    """
    found = []
    for budget in snapshot.budgets:
        covered = [_covered(budget, one, snapshot) for one in workloads]
        if not any(covered):
            continue
        # Shares are of all pods that are covered, also of those that nobody may evict here.
        held = (one for group in snapshot.admitted.values() for one in group)
        everywhere = sum(_covered(budget, one, snapshot) for one in held)
        found.append(Budget(_allowed(budget, everywhere), np.array(covered, dtype=np.int64)))
    return found


def _covered(budget: PodDisruptionBudget, one: Admitted, snapshot: Snapshot) -> int:
    selector = budget.spec.selector
    if selector is None or one.namespace != budget.metadata.namespace:
        return 0
    # Pods that are there, not those of the spec: reclaimed ones are gone, a reduced count never
    # was.
    running = holding_of(one.workload, snapshot.configuration).running
    return sum(
        running.get(pod_set.name, 0)
        for pod_set in one.workload.spec.pod_sets
        if selector.matches(pod_set.template.metadata.labels)
    )


def _allowed(budget: PodDisruptionBudget, pods: int) -> int:

    def share(number: int | str) -> int:
        if isinstance(number, int):
            return number
        return -(-int(number.removesuffix("%")) * pods // 100)

    spec, said = budget.spec, budget.status.disruptions_allowed
    if said is not None:
        return said
    if spec.max_unavailable is not None:
        return share(spec.max_unavailable)
    # Where neither is said, the disruption controller permits none.
    return 0 if spec.min_available is None else max(0, pods - share(spec.min_available))


_WHOLE_WEIGHT: Final = 10**9
"""Weights are in nano-units."""


def sharing(
    problem: Problem, snapshot: Snapshot, asking: Collection[int]
) -> tuple[list[int], Mapping[int, Sequence[int]]]:
    """Return what each node of a problem borrows: (N,), and the nodes that each queue takes from.

    A ClusterQueue borrows what it uses above its nominal quota, a cohort what it uses above the
    quota of its subtree. Where fair sharing is on, both are divided by the weight: who is entitled
    to twice as much counts as borrowing half as much, and to take from it weighs twice. A cohort
    shares with others what it borrows: its victims are taken from it only if the preemptor is in
    another one, and if it borrows at all; else they are taken from their queues alone.

    Everything counts that workloads hold quota for, whether contested or not, as in their sizes.
    ``asking`` are the nodes that the preemptors are in.
    """
    tree = snapshot.tree
    borrowed = [0] * len(problem.names)
    sharers: dict[int, Sequence[int]] = {}
    queues, first = np.unique(problem.queue, return_index=True)
    nodes = [problem.workloads[place].queue for place in first.tolist()]
    everything = None
    if problem.fair is not None:
        everything = sum(_size(snapshot.usage.amount[node], tree) for node in nodes)
    for node, queue in zip(nodes, queues.tolist(), strict=True):
        # Two numberings of one tree: the snapshot's, for amounts, and the problem's, for what is
        # returned.
        found, above, position = [queue], node, queue
        while position != NO_PARENT:
            borrowed[position] = _borrowed(snapshot, above, everything)
            if position != queue and borrowed[position] and position not in asking:
                found.append(position)
            above, position = tree.nodes[above].parent, problem.parent[position]
        sharers[queue] = found
    return borrowed, sharers


def _borrowed(snapshot: Snapshot, node: int, everything: int | None) -> int:
    """Return what a node uses above the quota of its subtree, by its weight, rounded down.

    Of weight 0, and close to it, it is a thousand times ``everything`` that anybody could take:
    more makes no difference of a per mille. Without that, weights do not count.
    """
    tree, usage = snapshot.tree, snapshot.usage.amount[node]
    own = tree.subtree[node]
    over = _size([max(0, used - own[fr]) for fr, used in enumerate(usage)], tree)
    if everything is None:
        return over
    most, weight = PER_MILLE * max(everything, ACCELERATOR), tree.nodes[node].weight_nano
    if not weight:
        return most if over else 0
    return min(over * _WHOLE_WEIGHT // weight, most)


def _size(amounts: Sequence[int], tree: QuotaTree) -> int:
    """Return the size of amounts of all flavor-resources, in 1/32000 accelerator."""
    return sum(unit_weight(fr.resource) * n for fr, n in zip(tree.frs, amounts, strict=True) if n)
