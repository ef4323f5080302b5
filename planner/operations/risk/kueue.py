"""The workloads of Kueue that run, and their shapes submitted once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from planner.commands.whatif.kueue_hypothetical import fresh, with_workloads
from planner.operations.risk.measure import Hypothetical, Running, frequent_first, unused
from planner.quota.kueue.holding import effective_priorities, effective_priority
from planner.state.kueue import State, Workload

_NAMES: Final = {"__all__": {"name"}}
_NO_SHAPE: Final[Any] = {
    "name": True,
    "template": {
        "spec": {"containers": _NAMES, "init_containers": _NAMES, "termination_grace_s": True}
    },
}
"""Fields of a podset that decide nothing about where it fits."""


def running(state: State) -> Iterator[Running]:
    """Yield every workload that holds quota, in the order of the dump."""
    columns = state.workloads.columns
    priorities = effective_priorities(columns, state.configuration).tolist()
    for at in np.flatnonzero(columns.holds_quota).tolist():
        key, queue = columns.key[at], columns.queues[int(columns.admitted_by[at])]
        yield Running(key, key, queue, priorities[at])


def submitted_again(state: State) -> tuple[State, list[Hypothetical]]:
    """Submit every distinct workload that holds quota once more."""

    def shape(one: Workload) -> object:
        pods = tuple(each.model_dump_json(exclude=_NO_SHAPE) for each in one.spec.pod_sets)
        priority = effective_priority(one, state.configuration)
        return one.metadata.namespace, one.spec.queue_name, priority, pods

    running = (workload for workload in state.workloads if workload.holds_quota)
    used = {*state.workloads.keys}
    made: list[Workload] = []
    again = []
    for like, alike in frequent_first((shape(one), one) for one in running):
        key = unused(like.key, used)
        namespace, _, name = key.partition("/")
        made.append(fresh(state, like, namespace, like.spec.queue_name, name))
        again.append(Hypothetical(key, like.key, like.key, alike))
    return with_workloads(state, made), again
