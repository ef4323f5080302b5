"""The terms of a pending workload of Kueue."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from planner.errors import LookupFailed
from planner.objective.annotation import Disruptions, read_disruption
from planner.objective.applied import KnownGroups
from planner.objective.kueue_budget import pod_budgets
from planner.objective.kueue_sharing import sharing
from planner.objective.sums import Losses, exact_sizes, places, ranks, separable_terms
from planner.objective.terms import TermTable
from planner.problem.array import BoolArray
from planner.problem.kueue import Problem
from planner.quota.kueue.activity import Activity
from planner.quota.kueue.snapshot import Snapshot
from planner.quota.kueue.tree import NO_PARENT
from planner.state.kueue import State
from planner.term import unit_weight


def term_table(  # noqa: PLR0913, PLR0917 - what a decision depends on
    problem: Problem,
    snapshot: Snapshot,
    eligible: BoolArray,
    costs: Mapping[str, int] | None = None,
    ranked: BoolArray | None = None,
    asking: Collection[int] | None = None,
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

    asking
        The nodes that the preemptors are in; those of the one preemptor when absent.

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
    columns = problem.workloads.columns
    rank, priorities = ranks(problem.priority, eligible if ranked is None else ranked)
    keys, running_s = columns["key"], columns["running_s"]
    said = {
        place: read_disruption(remarks, snapshot.now, running_s[place])
        for place, remarks in enumerate(columns["remarks"])
        if remarks is not None
    }
    disruptions = Disruptions(np.array(running_s, dtype=np.int64), said)
    weights = [unit_weight(fr.resource) for fr in snapshot.tree.frs]
    first, which = problem.workloads.alike
    # Once for each different holding: a large state has few of these, and many workloads.
    of_shape = [sum([weights[fr] * n for fr, n in one.usage.items()]) for one in first]
    sizes = exact_sizes(keys, of_shape, which)
    borrowed, sharers = sharing(problem, snapshot, problem.path if asking is None else asking)
    found: dict[tuple[int, str], tuple[str, ...]] = {}
    groups = []
    namespaces = problem.workloads.columns["namespace"]
    for place in zip(problem.queue.tolist(), namespaces, strict=True):
        if place not in found:
            node, namespace = place
            found[place] = (*_above(problem, node), f"namespace/{namespace}")
        groups.append(found[place])
    return TermTable(
        separable=separable_terms(
            Losses(
                keys,
                sizes,
                columns["pods"],
                disruptions,
                rank,
                places(problem.order, eligible),
                problem.priority,
                problem.evicted,
                costs or {},
            )
        ),
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
        needs=[_needs(problem, eligible)],
        alternative=lambda _: 0,
        disruptions=disruptions,
        groups=groups,
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


def _needs(problem: Problem, eligible: BoolArray) -> list[int]:
    # They go whatever the plan: what they free is no reason to evict anybody, nor over-freed.
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
