"""What is done to workloads so that Kueue evicts the planned victims, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from planner.commands.apply.kueue.cluster import Call, Cluster, Surprise, annotate, evict
from planner.commands.apply.record import Way
from planner.commands.boost.kueue.find import WorkloadBoost
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.plan.kueue import Plan
from planner.state.kueue_workload import BOOST_ANNOTATION

BOOSTED: Final = "preemption-planner.io/boosted-for"
"""The annotation of a workload whose boost is for a plan: which, and what the boost was before."""


class Treatment:
    """One way to have a plan carried out: what is done to each of some workloads.

    ``keys`` are those that are changed, as namespace/name, in order.
    """

    way: Way
    keys: tuple[str, ...]

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that changes a workload, or ``None`` if it is as it should be already.

        Raises
        ------
        Surprise
            If it is no longer what it was when the plan was made.
        """
        raise NotImplementedError

    def restore(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that takes the change back once the preemptor is in, if one does."""
        del cluster, key
        return None


class Evictions(Treatment):
    """Every victim is said to be evicted, for the preemptor's sake, while nobody else may preempt.

    Those that are being evicted anyway are left alone. Kueue takes such workloads first and counts
    what they free; the controller of its kind stops the job and queues it again, and Kueue itself
    takes the condition back when it admits the victim again (docs/design/applying.md §3).
    """

    way: Way = "eviction"

    def __init__(self, plan: Plan, clock: Callable[[], datetime]) -> None:
        self._queues = {one.workload: one.cluster_queue for one in plan.victims if not one.evicted}
        self.keys = tuple(self._queues)
        self._message = f"Evicted to make room for {plan.preemptor}, as planned"
        self._clock = clock

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that says that it is evicted."""
        found = cluster.need(WORKLOADS, key)
        if found.is_true("Evicted"):
            if found.condition("Evicted").get("message") == self._message:
                return None  # by an earlier run, or a call whose answer was lost
            raise Surprise(f"{key} is being evicted by somebody else")
        if not found.holds_quota:
            raise Surprise(f"{key} holds no quota any more")
        if found.at("status", "admission", "clusterQueue") != self._queues[key]:
            raise Surprise(f"{key} does not run in ClusterQueue {self._queues[key]} any more")
        return evict(found, self._message, self._clock())


class BoostedPriorities(Treatment):
    """The priorities change a little, so that Kueue's own algorithm chooses the planned victims.

    A boost stays until it is taken away, and counts in every later preemption: an annotation beside
    it says what it was before, so that also another run can take it back.
    """

    way: Way = "boosts"

    def __init__(self, boosts: Iterable[WorkloadBoost], digest: str) -> None:
        self._boosts = {one.workload: str(one.boost) for one in boosts}
        self.keys = tuple(self._boosts)
        self._digest = digest

    def change(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that sets the boost, and notes what it was before."""
        found = cluster.need(WORKLOADS, key)
        if BOOSTED in found.annotations:
            if mark_of(found, BOOSTED).get("plan") == self._digest:
                return None
            undo = "planner apply --undo takes that back"
            raise Surprise(f"{key} is boosted for another plan: {undo}")
        boost = self._boosts[key]
        note = json.dumps({"plan": self._digest, "before": found.annotations.get(BOOST_ANNOTATION)})
        values: Mapping[str, str | None] = {BOOST_ANNOTATION: boost, BOOSTED: note}
        return annotate(found, values, f"boost the priority of {key} by {boost}")

    def restore(self, cluster: Cluster, key: str) -> Call | None:
        """Return the call that gives it the boost back that it had."""
        return unboost(cluster, key, self._digest)


def unboost(cluster: Cluster, key: str, digest: str) -> Call | None:
    """Return the call that takes the boost for a plan back, as the note beside it says."""
    found = cluster.find(WORKLOADS, key)
    note = {} if found is None else mark_of(found, BOOSTED)
    if found is None or note.get("plan") != digest:
        return None
    before = note.get("before")
    values = {BOOST_ANNOTATION: before if isinstance(before, str) else None, BOOSTED: None}
    return annotate(found, values, f"take the boost of {key} back")


def mark_of(item: LiveObject, mark: str) -> dict[str, Any]:
    """Return what an annotation of ours says; empty if it is not there, or says something else."""
    try:
        value = json.loads(item.annotations.get(mark, ""))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
