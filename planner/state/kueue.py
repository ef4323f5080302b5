"""A state of Kueue: its objects, with the API server's defaults applied."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from planner.errors import SchemaError, UnsupportedError
from planner.state.kueue_configuration import Configuration, ConfigurationOfState
from planner.state.kueue_release import Release
from planner.state.kueue_topology import HOST, Node, Pod, Topology
from planner.state.kueue_workload import API_GROUP, Workload
from planner.state.kueue_workloads import Changes, Workloads
from planner.state.pods import (
    DeviceClass,
    Event,
    PodDisruptionBudget,
    ResourceClaimTemplate,
    ResourceSlice,
)
from planner.state.queues import (
    AdmissionCheck,
    ClusterQueue,
    Cohort,
    LimitRange,
    LocalQueue,
    Namespace,
    PriorityClass,
    ResourceFlavor,
    RuntimeClass,
)
from planner.state.record import AnyState

__all__ = [
    "API_GROUP",
    "HOST",
    "Changes",
    "ClusterQueue",
    "Configuration",
    "LimitRange",
    "LocalQueue",
    "Node",
    "Pod",
    "ResourceFlavor",
    "RuntimeClass",
    "State",
    "Topology",
    "Workload",
    "Workloads",
    "of_kueue",
]


class State(AnyState):
    """Everything that was read, kind by kind in the order of the dump.

    Every priority class is already resolved: a workload has its number; the classes are kept for
    workloads that are made up later. ``now`` is the clock of the decision, unless the caller gives
    another; ``digest`` names the input (SHA-256 of its bytes); ``notes`` are the reader's remarks
    about things it tolerated. Without a Configuration among what was read, ``configuration_given``
    is False and the defaults hold; ``other_kinds`` counts the objects, by kind and group, that
    are not read, and ``absent_queues`` names ClusterQueues that Kueue has and a dump lacks. A
    recorded state is ``whole``: Kueue itself had nothing else. What ClusterQueues say of their
    workloads is ``outdated`` once these have changed. The Configuration knows the release of Kueue,
    and so its rules.
    """

    now: datetime
    digest: str
    source: str
    notes: tuple[str, ...] = ()
    cluster_queues: tuple[ClusterQueue, ...] = ()
    cohorts: tuple[Cohort, ...] = ()
    local_queues: tuple[LocalQueue, ...] = ()
    resource_flavors: tuple[ResourceFlavor, ...] = ()
    workloads: Workloads = Field(default_factory=Workloads)
    workload_priority_classes: tuple[PriorityClass, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    admission_checks: tuple[AdmissionCheck, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    pod_disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    events: tuple[Event, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
    resource_claim_templates: tuple[ResourceClaimTemplate, ...] = ()
    resource_slices: tuple[ResourceSlice, ...] = ()
    configuration: ConfigurationOfState = Field(default=Configuration.blank())
    configuration_given: bool = True
    other_kinds: dict[str, int] = Field(default_factory=dict)
    absent_queues: tuple[str, ...] = ()
    whole: bool = False
    outdated: bool = False
    topologies: tuple[Topology, ...] = ()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()

    def apply(self, changes: Changes, now: datetime | None = None) -> State:
        """Return the state after changes, at a later clock if that is given.

        What did not change is shared with this state and not looked at again. The digest of the new
        state is made from that of this state, the clock, and the changes.

        Raises
        ------
        InputError
            If a changed or deleted workload is not in the state, or a new one already is; or if
            the changes or the clock are none.
        """
        if not isinstance(changes, Changes):
            found = f"{type(changes).__name__} cannot be used"
            raise SchemaError("changes", found, "planner.Changes(added=..., changed=..., gone=...)")
        changes.refuse_others()
        moment = self.now if now is None else now
        if not isinstance(moment, datetime) or moment.tzinfo is None:
            raise SchemaError("now", f"{moment!r} cannot be used", "a datetime with tzinfo")
        new = (
            text
            for some in (changes.changed, changes.added)
            for text in Workloads.of_objects(some).texts
        )
        parts = [self.digest, moment.isoformat(), *sorted(changes.gone), *new]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        workloads = self.workloads.apply(changes)
        update = {"now": moment, "digest": digest, "workloads": workloads, "outdated": True}
        return self.model_copy(update=update)

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        return "kueue"

    @property
    def pending(self) -> tuple[str, ...]:
        """The workloads that wait in a queue as namespace/name, in the order of the dump.

        Those are not among them whose queue the state lacks: Kueue does not look at them. Where
        that is so of all, it is the dump that lacks queues, and all are named.
        """
        columns = self.workloads.columns
        queued = columns.is_pending & ~self._without_queue
        return tuple(columns.key[queued if queued.any() else columns.is_pending].tolist())

    @property
    def without_queue(self) -> tuple[str, ...]:
        """The pending workloads whose LocalQueue, or its ClusterQueue, the state lacks."""
        return tuple(self.workloads.columns.key[self._without_queue].tolist())

    @property
    def _without_queue(self) -> NDArray[np.bool_]:
        queues = {one.name for one in self.cluster_queues}
        known = {
            (one.metadata.namespace, one.name)
            for one in self.local_queues
            if one.spec.cluster_queue in queues
        }
        columns = self.workloads.columns
        lacking = np.array([one not in known for one in columns.local_queues], dtype=np.bool_)
        return columns.is_pending & lacking[columns.local_queue]

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with some fields changed; workloads may be given in any sequence."""
        changed = dict(update or {})
        if "workloads" in changed and not isinstance(changed["workloads"], Workloads):
            changed["workloads"] = Workloads(changed["workloads"])
        return super().model_copy(update=changed, deep=deep)

    @property
    def release(self) -> Release:
        """The release of Kueue whose rules hold."""
        return self.configuration.release

    @property
    def topology_of(self) -> Mapping[str, str]:
        """The Topology that each ResourceFlavor names, without those that name none."""
        named = ((one.name, one.spec.topology_name) for one in self.resource_flavors)
        return {flavor: topology for flavor, topology in named if topology}


def of_kueue(state: AnyState) -> State:
    """Return a state as one of Kueue, for a feature that no other scheduler has.

    Raises ``UnsupportedError`` if it is a state of YuniKorn.
    """
    if not isinstance(state, State):
        raise UnsupportedError(state.source, "is a state of YuniKorn", "a state of Kueue")
    return state
