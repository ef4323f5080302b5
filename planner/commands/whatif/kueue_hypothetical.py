"""Hypothetical workloads: new pending workloads that Kueue would make of what users submit.

Source: kueue ff69552e, pkg/controller/jobframework/reconciler.go (ConstructWorkload,
ExtractPriority), pkg/controller/jobframework/defaults.go (the LocalQueue and the
WorkloadPriorityClass named ``default``) and pkg/util/priority/priority.go.

It reads a batch/v1 Job, a Pod, a PodTemplate, and a bare pod template, which is a pod without a
kind. Source: kueue ff69552e, pkg/controller/jobs/job/job_controller.go (PodSets, podsCount,
minPodsCount) and pkg/controller/jobs/pod/pod_controller.go.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from os import PathLike
from typing import Final

from pydantic import Field

from planner.errors import LookupFailed, SchemaError, UnsupportedError, did_you_mean
from planner.plan.base import name_some
from planner.reader.complaint import checked
from planner.reader.items import Item, items_of
from planner.reader.kueue import resolve_priorities
from planner.reader.parse import parse
from planner.reader.show import Path, path_text, place, plain, shown
from planner.reader.source import load
from planner.state.base import Count, KubernetesObject, Metadata, Schema, Time
from planner.state.kueue import API_GROUP, State, Workload
from planner.state.kueue_workload import PodSet, PriorityClassRef, WorkloadSpec
from planner.state.pods import Container, PodSpec, PodTemplate

MIN_PARALLELISM: Final = "kueue.x-k8s.io/job-min-parallelism"
POD_GROUP: Final = "kueue.x-k8s.io/pod-group-name"
POD_SET: Final = "main"
"""How Kueue calls the only podset of a Job or Pod."""
QUEUE: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS: Final = "kueue.x-k8s.io/priority-class"
"""The labels by which a Job or Pod names its LocalQueue and its WorkloadPriorityClass."""
DEFAULT: Final = "default"
"""The namespace, LocalQueue and WorkloadPriorityClass of an object that names none."""
MAX_BYTES: Final = 16 * 2**20


class ManifestMetadata(Schema):
    """The metadata of an object that may not exist yet, and so may have no name of its own."""

    name: str = Field(default="", max_length=253)
    generate_name: str = Field(default="", max_length=253)
    namespace: str = ""
    creation_timestamp: Time | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)

    @property
    def called(self) -> str:
        """A name for the object, made up if it has none."""
        return self.name or self.generate_name.rstrip("-") or "hypothetical"


class PodManifestSpec(PodSpec):
    """A pod as it is written, with the PriorityClass that it names."""

    containers: tuple[Container, ...] = Field(min_length=1)
    priority_class_name: str = ""


class PodManifest(KubernetesObject):
    """A Pod, or a pod template."""

    metadata: ManifestMetadata = ManifestMetadata()
    spec: PodManifestSpec


class PodTemplateManifest(KubernetesObject):
    """A PodTemplate object."""

    metadata: ManifestMetadata = ManifestMetadata()
    template: PodManifest


class JobSpec(Schema):
    """The pods of a Job."""

    parallelism: Count = 1
    completions: Count | None = None
    template: PodManifest

    @property
    def pods(self) -> int:
        """How many pods run at once: never more than have to complete."""
        if self.completions is None:
            return self.parallelism
        return min(self.parallelism, self.completions)


class JobManifest(KubernetesObject):
    """A Job of batch/v1."""

    metadata: ManifestMetadata = ManifestMetadata()
    spec: JobSpec


def _submitted(state: State, item: Item, local: tuple[str, str] | None) -> Workload:
    """Return what Kueue makes of a Job, a Pod, a PodTemplate or a bare pod template.

    Raises ``SchemaError`` if it is of another kind, or a field of it cannot be used;
    ``UnsupportedError`` if it is a pod of a group, whose other pods it does not show.
    """
    kind, version = item.value.get("kind"), item.value.get("apiVersion")
    prefix, counts = "pod", dict[str, int | None]()
    made: JobManifest | PodManifest | PodTemplateManifest
    match (version, kind):
        case ("batch/v1", "Job"):
            made = checked(JobManifest, item.value, item.root, item.path, "Job")
            prefix, labels, spec = "job", made.metadata.labels, made.spec.template.spec
            counts = {"count": made.spec.pods, "min_count": _least_pods(item, made)}
        case ("v1", "Pod") | (None, None):
            made = checked(PodManifest, item.value, item.root, item.path, "Pod")
            labels, spec = made.metadata.labels, made.spec
            if POD_GROUP in labels:
                raise UnsupportedError(
                    place(item.root, (*item.path, "metadata", "labels", POD_GROUP)),
                    "a pod of a group: Kueue makes one Workload of all its pods",
                    "that Workload, or a Job",
                )
        case ("v1", "PodTemplate"):
            made = checked(PodTemplateManifest, item.value, item.root, item.path, "PodTemplate")
            labels = {**made.template.metadata.labels, **made.metadata.labels}
            spec = made.template.spec
        case _:
            of = "without an apiVersion" if version is None else f"of {shown(version)}"
            raise SchemaError(
                item.where,
                f"{plain(str(kind))} {of} stands here",
                "a Workload of Kueue, a Job of batch/v1, a Pod, or a pod template",
                "kubectl get workload NAME -o yaml prints what Kueue makes of other kinds",
            )
    pod_set = PodSet(name=POD_SET, template=PodTemplate(spec=spec)).model_copy(update=counts)
    metadata = made.metadata
    namespace, queue = local or (metadata.namespace or DEFAULT, labels.get(QUEUE, ""))
    if not queue and any(
        (one.metadata.namespace, one.metadata.name) == (namespace, DEFAULT)
        for one in state.local_queues
    ):
        queue = DEFAULT
    return Workload(
        metadata=Metadata(
            name=f"{prefix}-{metadata.called}"[:253],
            namespace=namespace,
            creation_timestamp=metadata.creation_timestamp or state.now,
        ),
        spec=WorkloadSpec(
            pod_sets=(pod_set,),
            queue_name=queue,
            priorityClassRef=_priority_class(state, labels, spec.priority_class_name),
        ),
    )


def _least_pods(item: Item, job: JobManifest) -> int | None:
    """Return the fewest pods with which partial admission may start a Job, if it allows that."""
    text, count = job.metadata.annotations.get(MIN_PARALLELISM), job.spec.pods
    if text is None:
        return None
    least = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if not 1 <= least <= count:
        where = place(item.root, (*item.path, "metadata", "annotations", MIN_PARALLELISM))
        expected = f"a whole number in quotes, from 1 to the {count} pods of the Job"
        raise SchemaError(where, f"{shown(text)} cannot be used", expected)
    return least


def read_submissions(source: str | PathLike[str]) -> tuple[Item, ...]:
    """Read the objects of a file of manifests: any number of documents and lists.

    Raises ``InputError`` if it cannot be read, or holds something that is no object.
    """
    items: list[Item] = []
    for document in [one for text in load(source, MAX_BYTES).texts for one in parse(text)]:
        value = document.value
        known = isinstance(value, dict) and {"kind", "apiVersion"} & value.keys()
        if isinstance(value, dict) and not known and "spec" in value:
            items.append(Item(document.where, (), value))  # a bare pod template
        else:
            items += items_of(document)
    return tuple(items)


def add_workloads(
    state: State, items: Sequence[Item], queue: str | None = None
) -> tuple[State, tuple[str, ...]]:
    """Return the state with new pending workloads, and their keys as namespace/name.

    Each is what Kueue would make of the object if it were submitted now: its requests, counts,
    LocalQueue and priority. A Workload is taken as it is, but without its status. A workload
    without ``creationTimestamp`` is created at the clock of the state. The digest names the new
    state. ``queue`` is the LocalQueue to submit all workloads to, as ``namespace/name``, whatever
    the objects say.

    Raises ``InputError`` if an object cannot be used, names no LocalQueue or priority class that is
    in the state, or has the name of a workload that is there already.
    """
    local = None
    if queue is not None:
        namespace, _, name = queue.partition("/")
        if not (namespace and name):
            raise SchemaError("--queue", f"{shown(queue)} is no LocalQueue", "NAMESPACE/NAME")
        _check_queue(state, namespace, name, "--queue")
        local = namespace, name
    known = {*state.workloads.keys}
    made = []
    for item in items:
        workload = _workload(state, item, local)
        if workload.key in known:
            found = f"workload {workload.key} is there already"
            raise SchemaError(item.where, found, hint="give it another metadata.name")
        known.add(workload.key)
        made.append(workload)
    return with_workloads(state, made), tuple(workload.key for workload in made)


def with_workloads(state: State, more: Sequence[Workload]) -> State:
    """Return the state with more workloads, under a digest of its own."""
    named = "\n".join((state.digest, *(workload.model_dump_json() for workload in more)))
    digest = hashlib.sha256(named.encode()).hexdigest()
    return state.model_copy(update={"digest": digest, "workloads": state.workloads.plus(more)})


def without_workloads(state: State, keys: Collection[str]) -> State:
    """Return the state without some of its workloads, under a digest of its own.

    Raises ``LookupFailed`` if one of them is not there.
    """
    for key in keys:
        if state.workloads.find(key) is None:
            raise LookupFailed(state.source, f"there is no workload {shown(key)}")
    digest = hashlib.sha256("\n".join((state.digest, "without", *keys)).encode()).hexdigest()
    return state.model_copy(update={"digest": digest, "workloads": state.workloads.without(keys)})


def _check_queue(state: State, namespace: str, name: str, where: str) -> None:
    queues = [f"{one.metadata.namespace}/{one.metadata.name}" for one in state.local_queues]
    if (key := f"{namespace}/{name}") not in queues:
        raise LookupFailed(
            where,
            f"LocalQueue {shown(key)} is not in the dump",
            f"one of {name_some(queues, 10)}" if queues else "",
            did_you_mean(key, queues) or "--queue NAMESPACE/NAME names another",
        )


def _workload(state: State, item: Item, local: tuple[str, str] | None) -> Workload:
    version = item.value.get("apiVersion")
    if item.value.get("kind") == "Workload" and str(version).rpartition("/")[0] == API_GROUP:
        given = checked(Workload, item.value, item.root, item.path, "Workload")
        if not given.spec.pod_sets:
            where = place(item.root, (*item.path, "spec", "podSets"))
            raise SchemaError(where, "is missing or empty")
        namespace = given.metadata.namespace or DEFAULT
        workload = fresh(state, given, *(local or (namespace, given.spec.queue_name)))
        at: Path = ("spec", "queueName")
    else:
        workload = _submitted(state, item, local)
        at = ("metadata", "labels", QUEUE)
    if not workload.spec.queue_name:
        hint = "--queue NAMESPACE/NAME names one"
        raise SchemaError(item.where, "names no LocalQueue", f"one in {path_text(at)}", hint)
    if local is None:
        where = place(item.root, (*item.path, *at))
        _check_queue(state, workload.metadata.namespace, workload.spec.queue_name, where)
    # Kueue makes no workload of an unknown class.
    (resolved,), missing = resolve_priorities(
        [workload], state.workload_priority_classes, state.priority_classes
    )
    reference = workload.spec.priority_class
    if missing and reference is not None:
        of_kueue = reference.kind == "WorkloadPriorityClass"
        classes = state.workload_priority_classes if of_kueue else state.priority_classes
        known = [one.metadata.name for one in classes]
        add = f"add {_PLURALS.get(reference.kind, 'it')} to the kinds that kubectl get prints"
        raise LookupFailed(
            item.where,
            f"{reference.kind} {shown(reference.name)} is not in the dump",
            f"one of {name_some(known, 10)}" if known else "",
            did_you_mean(reference.name, known) or add,
        )
    return resolved


def fresh(state: State, like: Workload, namespace: str, queue: str, name: str = "") -> Workload:
    """Return a new pending workload with the spec of another, but not its status.

    ``namespace`` and ``queue`` are the LocalQueue that it waits in; its name is ``name``,
    or else that of the other. Without a time of creation it is created at the clock of the state.
    """
    metadata = Metadata(
        name=name or like.metadata.name,
        namespace=namespace,
        uid="" if name else like.metadata.uid,
        creation_timestamp=(None if name else like.metadata.creation_timestamp) or state.now,
        annotations=like.metadata.annotations,
    )
    # Not a copy: that would take along the values that the other has cached.
    spec = like.spec.model_copy(update={"queue_name": queue})
    return Workload(metadata=metadata, spec=spec)


def _priority_class(
    state: State, labels: Mapping[str, str], of_pods: str
) -> PriorityClassRef | None:
    """Return the class that gives the priority: the label's, the pods', the cluster's default."""
    name = labels.get(PRIORITY_CLASS)
    if not name and state.configuration.gate("WorkloadPriorityClassDefaulting"):
        classes = {one.metadata.name for one in state.workload_priority_classes}
        name = DEFAULT if DEFAULT in classes else None
    if name:
        return PriorityClassRef(kind="WorkloadPriorityClass", name=name)
    name = of_pods
    if not name:
        defaults = [one for one in state.priority_classes if one.global_default]
        lowest = min(defaults, key=lambda one: one.value, default=None)
        name = lowest.metadata.name if lowest else ""
    return PriorityClassRef(kind="PriorityClass", name=name) if name else None


_PLURALS: Final = {
    "WorkloadPriorityClass": "workloadpriorityclasses",
    "PriorityClass": "priorityclasses",
}
