"""The terms of a pending workload of Kueue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planner.errors import LookupFailed
from planner.objective.adoption import KnownGroups
from planner.objective.annotation import read_disruption
from planner.objective.terms import (
    TermTable,
    exact_sizes,
    places,
    ranks,
    separable_terms,
    unit_weight,
)
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.activity import Activity
from planner.quota.request import counts_after_reclaim
from planner.quota.snapshot import Admitted, Snapshot
from planner.quota.tree import NO_PARENT
from planner.state import State


def term_table(
    problem: Problem,
    snapshot: Snapshot,
    eligible: BoolArray,
    costs: Mapping[str, int] | None = None,
    ranked: BoolArray | None = None,
) -> TermTable:
    """Compute the terms of a problem.

    Parameters
    ----------
    problem, snapshot
        The problem, and the snapshot it was built from (for what lies outside the problem's fr).
    eligible
        (W,) the candidates.
    costs
        Cost per ``namespace/name`` for the term ``cost``; a workload not named costs 1.
    ranked
        (W,) among whose priorities ranks are counted; the candidates when absent.

    Raises
    ------
    LookupFailed
        If a cost is given for a workload that holds no quota.
    SchemaError
        If an annotation has an unusable value.
    UnsupportedError
        If a workload is too large to add its cost up exactly.
    """
    if costs is not None:
        _refuse_unknown(costs, snapshot)
    disruptions = [read_disruption(w.workload, snapshot.now) for w in problem.workloads]
    rank = ranks(problem.priority, eligible if ranked is None else ranked)
    keys = [workload.key for workload in problem.workloads]
    weights = [unit_weight(fr.resource) for fr in snapshot.tree.frs]
    sizes = [
        sum(weights[fr] * amount for fr, amount in workload.usage.items())
        for workload in problem.workloads
    ]
    return TermTable(
        separable=separable_terms(
            keys,
            sizes,
            [_pods(workload, snapshot) for workload in problem.workloads],
            disruptions,
            rank,
            places(problem.order, eligible),
            problem.evicted,
            costs or {},
        ),
        rank=rank,
        queue=problem.queue,
        size=exact_sizes(keys, sizes),
        evicted=problem.evicted,
        holding=problem.holding,
        borrowed=_borrowed(problem, snapshot),
        contested=problem.contested,
        weight=[unit_weight(fr.resource) for fr in problem.frs],
        needs=[_needs(problem, eligible)],
        alternative=lambda _: 0,
        disruptions=disruptions,
        groups=_groups(problem),
    )


def known_groups(state: State) -> KnownGroups:
    """Return the groups of a state of Kueue that wishes may name."""
    owners = [workload.metadata for workload in state.workloads]
    owners += [queue.metadata for queue in state.local_queues]
    return {
        "queue": {queue.name for queue in state.cluster_queues},
        "cohort": Activity.of(state).parents.keys(),
        "namespace": {metadata.namespace for metadata in owners},
    }


def _groups(problem: Problem) -> list[tuple[str, ...]]:
    """Return the queue, the cohorts above it and the namespace of each workload: (W,)."""
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    groups = []
    for node, workload in zip(problem.queue.tolist(), problem.workloads, strict=True):
        namespace = workload.workload.metadata.namespace
        place = node, namespace
        if place not in found:
            found[place] = (*_above(problem, node), f"namespace/{namespace}")
        groups.append(found[place])
    return groups


def _above(problem: Problem, queue: int) -> Iterator[str]:
    yield f"queue/{problem.names[queue]}"
    node = problem.parent[queue]
    while node != NO_PARENT:
        yield f"cohort/{problem.names[node]}"
        node = problem.parent[node]


def _borrowed(problem: Problem, snapshot: Snapshot) -> list[int]:
    """Return what each ClusterQueue uses above its nominal quota now, flavor by flavor: (N,).

    Everything counts that its workloads hold quota for, whether contested or not, as in their
    sizes.
    """
    tree, usage = snapshot.tree, snapshot.usage.amount
    borrowed = [0] * len(problem.names)
    queues = {w.queue: int(q) for w, q in zip(problem.workloads, problem.queue, strict=True)}
    for node, position in queues.items():
        borrowed[position] = sum(
            unit_weight(fr.resource) * max(0, usage[node][i] - tree.nominal(node, i))
            for i, fr in enumerate(tree.frs)
        )
    return borrowed


def _pods(workload: Admitted, snapshot: Snapshot) -> int:
    """Count the pods that still run: those admitted, without what is reclaimable."""
    left = counts_after_reclaim(workload.workload, snapshot.configuration)
    admission = workload.workload.status.admission
    admitted = admission.pod_set_assignments if admission else ()
    held = {pods.name: pods.count for pods in admitted if pods.count is not None}
    return sum(min(count, held.get(name, count)) for name, count in left.items())


def _needs(problem: Problem, eligible: BoolArray) -> list[int]:
    going = problem.evicted & eligible
    needs = [0] * len(problem.frs)
    for fr in problem.contested:
        asked = problem.request[fr]
        short = max(0, asked - problem.available[fr]) if asked else 0
        needs[fr] = max(0, short - sum(problem.holding[going, fr].tolist()))
    return needs


def _refuse_unknown(costs: Mapping[str, int], snapshot: Snapshot) -> None:
    known = {workload.key for group in snapshot.admitted.values() for workload in group}
    for name in costs:
        if name not in known:
            raise LookupFailed("costs", f"there is no workload {name} that holds quota")
