"""A Workload: its requests, its queue, and its usage."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import Field, StringConstraints, model_validator

from planner.state.base import (
    Amount,
    Bool,
    Condition,
    Count,
    Int32,
    Name,
    NamedObject,
    PositiveCount,
    Schema,
    Time,
    shared,
)
from planner.state.kueue_topology import PodSetUpdate, TopologyAssignment, UnhealthyNode
from planner.state.pods import PodTemplate, ResourceList
from planner.state.record import ANNOTATIONS, Remarks

API_GROUP: Final = "kueue.x-k8s.io"
MAIN_POD_SET: Final = "main"
"""The name of a podset without one."""
BOOST_ANNOTATION: Final = f"{API_GROUP}/priority-boost"
BOOST_GATE: Final = "PriorityBoost"
"""The feature gate without which boosts do not count."""
PREEMPTED: Final = "Preempted"
"""The reason of evictions that made room for another workload."""
PREVIOUSLY: Final = "Previously: "
"""How the message of a condition begins that a new admission has ended."""
REPLACEMENT_FOR: Final = f"{API_GROUP}/workload-slice-replacement-for"
"""The annotation that names the slice of an elastic workload that another slice replaces."""
SLICE_REPLACED: Final = "WorkloadSliceReplaced"
"""The reason of the condition Finished of a slice whose pods go on in the next one."""
DEFAULT_GRACE_S: Final = 30
"""Kubernetes' own default of terminationGracePeriodSeconds."""

_BOOST: Final = re.compile(r"[+-]?[0-9]{1,64}")
_FOR_WHOM: Final = re.compile(r"\(UID: (?P<uid>[^,\s]+)")
_GATED_BY: Final = f"{API_GROUP}/admission-gated-by"
_PARENT_LABEL: Final = f"{API_GROUP}/concurrent-admission-parent"
_PARENT_VERSION: Final = f"{API_GROUP}/v1beta2"
_ALLOWED_FLAVORS: Final = f"{API_GROUP}/workload-allowed-resource-flavors"
_NO_ROOM: Final = frozenset(
    {"WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor", "TopologyPlacementFailed"}
)
"""Kueue's reasons on a workload that was tried in vain; older releases say "Pending" of all."""
_FAILED: Final = ("couldn't assign flavors to pod set", "failed to assign flavors to pod set")
"""How Kueue's messages on such a workload begin, in every release."""
_TRIED_AGAIN: Final = (
    "Pending the preemption of",
    "no longer fits after processing another workload",
    "overlapping preemption targets",
)
"""What they say of a workload that is tried again in the next cycle all the same."""
NEVER_READY: Final = frozenset({"WaitForStart", "PodsReady"})
"""Reasons with which PodsReady is False as long as the pods were not ready since the admission.

Before 0.11 Kueue had one reason, and kept the condition True where pods that were ready fail.
"""


Told = tuple[str | None, str | None, datetime | None]
"""The status and the reason of a condition, and since when, if that is known."""


NEVER: Final = datetime.min.replace(tzinfo=UTC)
"""The value of a missing timestamp, which Kueue takes as the zero time."""


class Run(NamedTuple):
    """What the conditions of a workload tell of its reservation and of its run.

    ``reserved_s`` is since when its quota is reserved, in seconds since 1970, ``None`` if it is
    not: that of `NEVER` if the time is missing. ``started_at`` is since when its pods run, or may
    run: ``None`` if they do not, or no time is known.
    """

    reserved_s: float | None
    started_at: datetime | None


def run_of(told: Mapping[str, Told], *, checked: bool) -> Run:
    """Return what conditions tell of the run of a workload, by their types.

    ``checked`` says that it has admission checks.
    """
    reserved = told.get("QuotaReserved")
    if reserved is None or reserved[0] != "True":
        return Run(None, None)
    started_at = _start(reserved, told.get("Admitted"), told.get("PodsReady"), checked=checked)
    # Computed while the time is at hand: later it would be looked up all over memory.
    return Run((reserved[2] or NEVER).timestamp(), started_at)


def boost_of(text: str | None) -> int:
    """Return the boost of an annotation: 0 if it is no 32-bit decimal integer."""
    boost = int(text) if text is not None and _BOOST.fullmatch(text) else 0
    return boost if -(2**31) <= boost < 2**31 else 0


def _start(
    reserved: Told, admitted: Told | None, ready: Told | None, *, checked: bool
) -> datetime | None:
    """Return since when the pods of a workload with quota run, or may run.

    Without checks Kueue admits it as it reserves its quota: a missing Admitted then says nothing.

    Source: docs/design/objectives.md §2; kueue ff69552e pkg/controller/jobframework/reconciler.go
    ``generatePodsReadyCondition``.
    """
    if admitted is None and not checked:
        admitted = reserved
    if admitted is None or admitted[0] != "True":
        return None
    since = admitted[2] or reserved[2]
    if ready is None:
        return since
    status, reason, changed = ready
    if status == "True":  # a condition older than the admission is of the run before it
        return max(since, changed) if since and changed else since or changed
    was_not = changed is not None and since is not None and changed <= since
    return None if status == "False" and (reason in NEVER_READY or was_not) else since


def preemptor_uid(message: str) -> str:
    """Return the UID of a victim's preemptor, by Kueue's message; empty if that names none.

    Source: docs/semantics/kueue-features.md §10 (rule E26).
    """
    whom = _FOR_WHOM.search(message)
    return whom["uid"] if whom else ""


class LastPreemption(NamedTuple):
    """The last time that a workload was preempted, by the condition that tells of it.

    ``uid`` is the preemptor's. ``at`` is when it was evicted: ``None`` once it is admitted again,
    for then only that moment is told, ``back``. (Requeued keeps the time of the first eviction.)
    ``times`` is how often it was preempted so far, 0 where Kueue does not count.
    """

    uid: str
    at: datetime | None
    back: datetime | None
    times: int

    def is_another(self, before: Self | None) -> bool:
        """Say whether it is another one than that of the same workload some time before."""
        if before is None or (self.uid, self.times) != (before.uid, before.times):
            return True
        was_told = before.back is None and self.back is not None
        return not was_told and (self.at, self.back) != (before.at, before.back)


def remarks_of(
    key: str,
    annotations: Mapping[str, str],
    evictions: Iterable[tuple[str, int]],
    graces: Iterable[int | None],
) -> Remarks | None:
    """Return the remarks on a workload; ``None`` if there are none.

    ``evictions`` are reasons, each with a count; ``graces`` the seconds that the pods of each
    podset have to stop. Kueue counts evictions by reason, and for each reason by cause.
    """
    ours = {name: text for name, text in annotations.items() if name.startswith(ANNOTATIONS)}
    preemptions = sum([count for reason, count in evictions if reason == PREEMPTED])
    if not ours and not preemptions:
        return None
    shortest = min((DEFAULT_GRACE_S if one is None else one for one in graces), default=None)
    return Remarks(key, ours, preemptions, DEFAULT_GRACE_S if shortest is None else shortest)


class SliceConstraint(Schema):
    """A level on which slices of a podset are to stand together."""

    topology: str
    size: Int32


class TopologyRequest(Schema):
    """Where the pods of a podset are to stand; podsets of one group share their flavors."""

    pod_set_group_name: str = ""
    required: str | None = None
    preferred: str | None = None
    unconstrained: Bool | None = None
    slice_required: str | None = Field(default=None, alias="podSetSliceRequiredTopology")
    slice_size: Int32 | None = Field(default=None, alias="podSetSliceSize")
    constraints: tuple[SliceConstraint, ...] = Field(
        default=(), alias="podsetSliceRequiredTopologyConstraints"
    )
    pod_index_label: str | None = None
    sub_group_index_label: str | None = None
    sub_group_count: Int32 | None = None

    @property
    def is_explicit(self) -> bool:
        """Whether it asks for a placement, not only for a group; ``unconstrained: false`` does.

        Source: docs/semantics/kueue-topology.md §1.
        """
        levels = self.required, self.preferred, self.slice_required
        others = self.unconstrained, self.slice_size
        return any(one is not None for one in (*levels, *others)) or bool(self.constraints)


class PodSet(Schema):
    """Pods of one shape."""

    name: Name = MAIN_POD_SET
    count: Count = 1
    min_count: PositiveCount | None = None
    template: Annotated[PodTemplate, shared()] = PodTemplate.blank()
    topology_request: TopologyRequest | None = None

    @property
    def group(self) -> str:
        """The group of podsets that get the same flavors and are placed together, if it has one."""
        return self.topology_request.pod_set_group_name if self.topology_request else ""

    @property
    def asks_for_placement(self) -> bool:
        """Whether it asks for a placement on nodes itself (docs/semantics/kueue-topology.md §1)."""
        return self.topology_request is not None and self.topology_request.is_explicit


class PriorityClassRef(Schema):
    """The priority class a workload names (v1beta2)."""

    kind: str = "WorkloadPriorityClass"
    name: str = ""


class PreemptionGate(Schema):
    """A gate that keeps the workload from preempting; one without a position is closed."""

    name: str
    position: Literal["Open", "Closed"] = "Closed"


class WorkloadSpec(Schema):
    """What a workload asks for."""

    pod_sets: Annotated[tuple[PodSet, ...], shared()] = ()
    queue_name: str = ""
    priority: Int32 | None = None
    priority_class: PriorityClassRef | None = Field(default=None, alias="priorityClassRef")
    active: Bool = True
    preemption_gates: tuple[PreemptionGate, ...] = ()
    also_read: ClassVar[Mapping[str, Any]] = {
        "priorityClassName": Annotated[str, StringConstraints(max_length=253)],
        "priorityClassSource": str,
    }

    @model_validator(mode="before")
    @classmethod
    def _priority_class_of_v1beta1(cls, value: object) -> object:
        # v1beta1 has priorityClassName and priorityClassSource, a group with the kind's name.
        if isinstance(value, dict) and value.get("priorityClassName"):
            of_pods = value.get("priorityClassSource") == "scheduling.k8s.io/priorityclass"
            kind = "PriorityClass" if of_pods else "WorkloadPriorityClass"
            reference = {"kind": kind, "name": value["priorityClassName"]}
            # A reference in the form of v1beta2 goes first.
            return {"priorityClassRef": reference, **value}
        return value


class PodSetAssignment(Schema):
    """What an admitted podset holds: flavors, and the total usage of all its pods."""

    name: Name = MAIN_POD_SET
    flavors: dict[str, str] = Field(default_factory=dict)
    resource_usage: dict[str, Amount] = Field(default_factory=dict)
    count: Count | None = None
    topology: TopologyAssignment | None = Field(default=None, alias="topologyAssignment")
    delayed: str = Field(default="", alias="delayedTopologyRequest")


class Admission(Schema):
    """The ClusterQueue that admitted the workload, and what it holds there."""

    cluster_queue: str
    pod_set_assignments: Annotated[tuple[PodSetAssignment, ...], shared()] = ()


class ReclaimablePod(Schema):
    """Pods of a podset that are done and no longer need their quota."""

    name: str
    count: Count = 0


class Eviction(Schema):
    """How often the workload was evicted for a reason, and for a cause of that, if it has any."""

    reason: str = ""
    underlying_cause: str = ""
    count: Count = 0


class SchedulingStats(Schema):
    """The eviction counters of a workload."""

    evictions: tuple[Eviction, ...] = ()


class CheckState(Schema):
    """What an admission check says of the workload."""

    name: str
    state: str = "Pending"
    updates: tuple[PodSetUpdate, ...] = Field(default=(), alias="podSetUpdates")


class PodSetResources(Schema):
    """What Kueue itself counted for a podset, all pods together, when it last looked at it."""

    name: Name = MAIN_POD_SET
    resources: ResourceList = Field(default_factory=dict)


class RequeueState(Schema):
    """Until when the workload stays out of its queue after an eviction."""

    requeue_at: Time = None


class WorkloadStatus(Schema):
    """What the workload holds and what happened to it."""

    admission: Annotated[Admission | None, shared()] = None
    conditions: tuple[Condition, ...] = ()
    reclaimable_pods: tuple[ReclaimablePod, ...] = ()
    scheduling_stats: SchedulingStats = SchedulingStats.blank()
    admission_checks: tuple[CheckState, ...] = ()
    preemption_gates: tuple[PreemptionGate, ...] = ()
    requeue_state: RequeueState | None = None
    resource_requests: Annotated[tuple[PodSetResources, ...], shared()] = ()
    unhealthy_nodes: tuple[UnhealthyNode, ...] = ()


class Workload(NamedObject):
    """A Workload."""

    spec: WorkloadSpec = WorkloadSpec.blank()
    status: WorkloadStatus = WorkloadStatus.blank()

    @property
    def namespace(self) -> str:
        """The namespace it is in."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """Its UID."""
        return self.metadata.uid

    @property
    def queue_name(self) -> str:
        """The name of the LocalQueue it was sent to."""
        return self.spec.queue_name

    @property
    def priority(self) -> int:
        """Its own priority, 0 without one."""
        return self.spec.priority or 0

    @property
    def boost(self) -> int:
        """What is added to the priority where the gate PriorityBoost is on."""
        return boost_of(self.metadata.annotations.get(BOOST_ANNOTATION))

    @property
    def run(self) -> Run:
        """What its conditions tell of its reservation and of its run."""
        told = {  # of two of a type the first counts
            one.type: (one.status, one.reason, one.last_transition_time)
            for one in reversed(self.status.conditions)
        }
        return run_of(told, checked=bool(self.status.admission_checks))

    @property
    def remarks(self) -> Remarks | None:
        """Its remarks, which count in the cost of its eviction; ``None`` without any."""
        metadata, evictions = self.metadata, self.status.scheduling_stats.evictions
        if not metadata.annotations and not evictions:
            return None
        return remarks_of(
            self.key,
            metadata.annotations,
            [(one.reason, one.count) for one in evictions],
            [pods.template.spec.termination_grace_s for pods in self.spec.pod_sets],
        )

    def condition(self, kind: str) -> Condition | None:
        """Return the condition of a type, if there is one."""
        for item in self.status.conditions:
            if item.type == kind:
                return item
        return None

    def is_true(self, kind: str) -> bool:
        """Whether the condition of a type is there and True."""
        for item in self.status.conditions:  # noqa: SIM110 - asked of everybody, thrice as fast
            if item.type == kind and item.is_true:
                return True
        return False

    @property
    def last_preemption(self) -> LastPreemption | None:
        """Its last preemption, also if it is admitted again; ``None`` if nothing names one."""
        said = self.condition("Preempted")
        uid = preemptor_uid(said.message) if said is not None else ""
        if said is None or not uid or not (said.is_true or said.message.startswith(PREVIOUSLY)):
            return None
        moment, remarks = said.last_transition_time, self.remarks
        at, back = (moment, None) if said.is_true else (None, moment)
        return LastPreemption(uid, at, back, remarks.preemptions if remarks else 0)

    @property
    def has_closed_gate(self) -> bool:
        """Whether a gate keeps it from preempting: one without a position is closed."""
        positions = {gate.name: gate.position for gate in self.status.preemption_gates}
        gates = self.spec.preemption_gates
        return any(positions.get(gate.name, "Closed") == "Closed" for gate in gates)

    @property
    def gated_by(self) -> str:
        """The text of the annotation that keeps it out of the queues; empty without one."""
        return self.metadata.annotations.get(_GATED_BY, "")

    @property
    def was_tried(self) -> bool:
        """Whether Kueue tried it last and found no room for it, as its condition tells.

        A BestEffortFIFO queue parks it then, until something changes in its tree.
        """
        said = self.condition("QuotaReserved")
        if said is None or said.status != "False":
            return False
        if any(text in said.message for text in _TRIED_AGAIN):
            return False
        by_message = said.reason == "Pending" and said.message.startswith(_FAILED)
        return said.reason in _NO_ROOM or by_message

    @property
    def is_on_hold(self) -> bool:
        """Whether it is kept out of the queues: QuotaReserved is False with the reason OnHold."""
        reserved = self.condition("QuotaReserved")
        return reserved is not None and reserved.status == "False" and reserved.reason == "OnHold"

    @property
    def is_parent(self) -> bool:
        """Whether variants of it compete in its place (docs/semantics/kueue-features.md §7)."""
        return self.metadata.labels.get(_PARENT_LABEL) == "true"

    @property
    def parent_uid(self) -> str:
        """The UID of the workload of which it is a variant; empty if it is no variant."""
        for owner in self.metadata.owners:
            if owner.kind == "Workload" and owner.api_version == _PARENT_VERSION:
                return owner.uid
        return ""

    @property
    def replaces(self) -> str:
        """The key of the slice of its job that it replaced or is to replace; empty without one."""
        return self.metadata.annotations.get(REPLACEMENT_FOR, "")

    @property
    def is_replaced(self) -> bool:
        """Whether it is a slice of an elastic workload that is finished: the next one goes on."""
        finished = self.condition("Finished")
        return finished is not None and finished.is_true and finished.reason == SLICE_REPLACED

    @property
    def job_uid(self) -> str:
        """The UID of the job of an elastic workload; empty if it is not known."""
        return next((one.uid for one in self.metadata.owners if one.kind != "Workload"), "")

    @property
    def allowed_text(self) -> str | None:
        """The flavors that a variant may have, as written; ``None`` if it may have all."""
        return self.metadata.annotations.get(_ALLOWED_FLAVORS)

    @property
    def allowed_flavors(self) -> tuple[str, ...] | None:
        """The flavors that a variant may have, in order; ``None`` if it may have all."""
        text = self.allowed_text
        if text is None:
            return None
        return tuple(part.strip() for part in text.split(",")) if text.strip() else ()

    @property
    def admitted_by(self) -> str:
        """The ClusterQueue that admitted it, or nothing."""
        return self.status.admission.cluster_queue if self.status.admission else ""

    @property
    def assigned(self) -> tuple[PodSetAssignment, ...]:
        """What its podsets were assigned; nothing where it was not admitted."""
        return self.status.admission.pod_set_assignments if self.status.admission else ()

    @property
    def holds_quota(self) -> bool:
        """Whether it takes quota: reserved, not finished, not deactivated.

        Source: docs/semantics/kueue.md §2.
        """
        status, reserved = self.status, False
        if status.admission is None or not self.spec.active:
            return False
        for item in status.conditions:  # one loop for both: this is asked of every workload
            if item.status == "True":
                if item.type == "Finished":
                    return False
                reserved = reserved or item.type == "QuotaReserved"
        return reserved

    @property
    def is_leaving(self) -> bool:
        """Whether it goes whatever is decided: it is being evicted, or deleted."""
        return self.metadata.deletion_timestamp is not None or self.is_true("Evicted")

    @property
    def is_pending(self) -> bool:
        """Whether it waits in a queue: active, not finished, without quota."""
        if not self.spec.active:
            return False
        # Most workloads run: one condition says that they have their quota.
        holds = self.status.admission is not None and self.is_true("QuotaReserved")
        return not holds and not self.is_true("Finished")

    @property
    def needs_second_pass(self) -> bool:
        """Whether Kueue places its pods anew or later, although it holds quota.

        Source: docs/semantics/kueue-topology.md §9.
        """
        delayed = any(one.delayed == "Pending" for one in self.assigned)
        return self.holds_quota and (delayed or bool(self.status.unhealthy_nodes))
