"""When victims leave, what they lose by it, and who hears of changes.

Kueue's cohort controller watches ClusterQueues: an update of the status of one makes it reconcile
every ancestor that is a Cohort *object*, and that lets all that is parked in the tree compete
again. A cohort that is only named has no object, and nothing is reconciled.

Source: kueue ff69552e pkg/controller/core/cohort_controller.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from planner.commands.simulate.script import Script, lost_seconds
from planner.objective.annotation import read_disruption
from planner.quota.snapshot import Admitted, Snapshot
from planner.state import State


class Leaving(NamedTuple):
    """How long victims keep their quota, in seconds: each at least 1.

    ``apart_s`` is by how much each victim of a decision takes longer than the one before, where
    the script says nothing of it.
    """

    eviction_s: int = 1
    apart_s: int = 0

    def seconds(self, script: Script, key: str, place: int = 0) -> int:
        """Return how long a victim keeps its quota; ``place`` counts those before it."""
        said = script.vacate_s(key)
        return self.eviction_s + place * self.apart_s if said is None else said


def told_of_changes(state: State, snapshot: Snapshot) -> frozenset[int]:
    """Return the ClusterQueues every status update of which wakes their whole tree."""
    objects = {cohort.name for cohort in state.cohorts}
    tree = snapshot.tree
    return frozenset(
        node
        for node in snapshot.queues
        if any(tree.nodes[each].name in objects for each in tree.ancestors(node))
    )


def lost_s(script: Script, one: Admitted, kept_s: int, ran_s: int, now: datetime) -> int:
    """Return the seconds of a run that an eviction loses, by its script and annotations."""
    lost = lost_seconds(kept_s, ran_s, script.checkpoint_s(one.key))
    if one.workload.metadata.annotations:
        lost = min(lost, read_disruption(one.workload, now).lost_s)
    return lost
