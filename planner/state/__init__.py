"""The frozen schema of what was read.

``State`` is Kueue's objects with the API server's defaults applied, ``YuniKornState`` queues.yaml
and the state dump of YuniKorn's core.

base.py               scalars as Kubernetes means them, and the base model
bounded.py            bounds on the errors in a value
sharing.py            equal values become one object
clock.py              nanoseconds and dates
kueue.py              a state that must be of Kueue
queues.py             where quota lives: ClusterQueues, Cohorts, LocalQueues, flavors
kueue_workload.py     a Workload: what it asks for, where it waits, what it holds
kueue_workloads.py    those of a state: most are kept as a few facts
pods.py               what matters of pod templates, PodDisruptionBudgets, Events, Kueue's manager;
                      what claims to devices refer to
kueue_configuration.py  Kueue's Configuration
kueue_release.py      which rules a release of Kueue has
kueue_topology.py     topologies, nodes, and the pods that hold them
kep83.py              the options of KEP-83's rules
yunikorn.py           a cluster of YuniKorn, with its quantities and what Kubernetes knows of pods
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from pydantic import Field

from planner.state.base import TIMESTAMP, Schema, parse_time
from planner.state.kueue_configuration import Configuration, RequestsFrom
from planner.state.kueue_release import AUTO, Release
from planner.state.kueue_topology import (
    HOST,
    PLACED,
    ExistingPodSpec,
    Node,
    Pod,
    PodContainer,
    Topology,
)
from planner.state.kueue_workload import (
    ANNOTATIONS,
    API_GROUP,
    BOOST_ANNOTATION,
    MAIN_POD_SET,
    Remarks,
    Workload,
    WorkloadSpec,
    remarks_of,
)
from planner.state.kueue_workloads import Changes, Facts, Held, Layout, Workloads
from planner.state.pods import (
    Deployment,
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

if TYPE_CHECKING:
    from planner.state.yunikorn import YuniKornState

__all__ = [
    "ANNOTATIONS",
    "API_GROUP",
    "AUTO",
    "BOOST_ANNOTATION",
    "HOST",
    "MAIN_POD_SET",
    "PLACED",
    "TIMESTAMP",
    "AdmissionCheck",
    "AnyState",
    "Changes",
    "ClusterQueue",
    "Cohort",
    "Configuration",
    "Deployment",
    "DeviceClass",
    "Event",
    "ExistingPodSpec",
    "Facts",
    "Held",
    "Layout",
    "LimitRange",
    "LocalQueue",
    "Namespace",
    "Node",
    "Pod",
    "PodContainer",
    "PodDisruptionBudget",
    "PriorityClass",
    "Remarks",
    "RequestsFrom",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceSlice",
    "RuntimeClass",
    "State",
    "Topology",
    "Workload",
    "WorkloadSpec",
    "Workloads",
    "YuniKornState",
    "parse_time",
    "remarks_of",
]


class State(Schema):
    """Everything that was read, kind by kind in the order of the dump.

    Every priority class is already resolved: a workload has its number; the classes are kept for
    workloads that are made up later. ``now`` is the clock of the decision, unless the caller gives
    another; ``digest`` names the input (SHA-256 of its bytes); ``notes`` are the reader's remarks
    about things it tolerated. Without a Configuration among what was read, ``configuration_given``
    is False and the defaults hold; ``other_kinds`` counts the objects, by kind and group, that
    are not read. The Configuration knows the release of Kueue, and so its rules.
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
    configuration: Configuration = Field(default=Configuration.blank())
    configuration_given: bool = True
    other_kinds: dict[str, int] = Field(default_factory=dict)
    topologies: tuple[Topology, ...] = ()
    nodes: tuple[Node, ...] = ()
    pods: tuple[Pod, ...] = ()

    def apply(self, changes: Changes, now: datetime | None = None) -> State:
        """Return the state after changes, at a later clock if that is given.

        What did not change is shared with this one and not looked at again. The digest names the
        new state by that of this one and the changes.

        Raises
        ------
        InputError
            If a workload that changes or goes is not there, or a new one is there already.
        """
        moment = self.now if now is None else now
        parts = [self.digest, moment.isoformat(), *changes.texts]
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
        workloads = self.workloads.apply(changes)
        return self.model_copy(update={"now": moment, "digest": digest, "workloads": workloads})

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        return "kueue"

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


if TYPE_CHECKING:
    AnyState = State | YuniKornState
    """What a reading gives: the state of a cluster of either scheduler."""
else:

    def __getattr__(name: str) -> object:
        """Load the state of YuniKorn when it is asked for: a plan of Kueue needs none of it."""
        if name not in {"AnyState", "YuniKornState"}:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        from planner.state.yunikorn import YuniKornState  # noqa: PLC0415 - see above

        globals().update(YuniKornState=YuniKornState, AnyState=State | YuniKornState)
        return globals()[name]
