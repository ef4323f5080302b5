"""Hypothetical workloads: new pending workloads that Kueue would make of what users submit.

Source: kueue ff69552e, pkg/controller/jobframework/reconciler.go (ConstructWorkload,
ExtractPriority), pkg/controller/jobframework/defaults.go (the LocalQueue and the
WorkloadPriorityClass named ``default``) and pkg/util/priority/priority.go.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from planner.commands.whatif.edit import ANY_NUMBER
from planner.commands.whatif.kueue_manifests import (
    PRIORITY_CLASS,
    QUEUE,
    makes_none,
    manifest_of,
    topology_request,
)
from planner.errors import LookupFailed, SchemaError, UnsupportedError, did_you_mean
from planner.plan.base import name_some
from planner.quantity import plural
from planner.reader.complaint import checked
from planner.reader.items import Item
from planner.reader.kueue import resolve_priorities
from planner.reader.show import Path, path_text, place, plain, shown
from planner.state.base import Metadata
from planner.state.kueue import API_GROUP, State, Workload
from planner.state.kueue_workload import PodSet, PriorityClassRef, WorkloadSpec
from planner.state.pods import PodTemplate

DEFAULT: Final = "default"
"""The namespace, LocalQueue and WorkloadPriorityClass of an object that names none."""
MOST_WORKLOADS: Final = 1000
"""The most replicas of one object that are workloads of their own."""


def _submitted(state: State, item: Item, local: tuple[str, str] | None) -> Iterator[Workload]:
    """Yield the workloads that Kueue makes of an object which is no Workload itself.

    Raises ``SchemaError`` if Kueue makes none of its kind, or a field of it cannot be used;
    ``UnsupportedError`` if other objects decide about its pods.
    """
    made = manifest_of(item)
    if made.workloads > MOST_WORKLOADS:
        found = f"makes {made.workloads:,} workloads, one of each replica"
        raise UnsupportedError(item.where, found, f"at most {MOST_WORKLOADS:,} replicas")
    metadata, classes = made.metadata, [one.template.spec.priority_class_name for one in made.pods]
    namespace, queue = local or (metadata.namespace or DEFAULT, made.labels.get(QUEUE, ""))
    if not queue and any(
        (one.metadata.namespace, one.metadata.name) == (namespace, DEFAULT)
        for one in state.local_queues
    ):
        queue = DEFAULT
    named = made.priority_class or next(filter(None, classes), "")
    placing = state.configuration.gate("TopologyAwareScheduling")
    pod_sets = [
        {
            "name": one.name.lower(),
            "count": one.count,
            "min_count": one.least,
            "template": PodTemplate(spec=one.template.spec),
            "topology_request": topology_request(one.template, item.where) if placing else None,
        }
        for one in made.pods
    ]
    spec = WorkloadSpec(
        pod_sets=tuple(checked(PodSet, one, item.where, (), "podset") for one in pod_sets),
        queue_name=queue,
        priorityClassRef=_priority_class(state, made.labels, named),
    )
    for number in range(made.workloads):
        which = f"-{number}" if made.workloads > 1 else ""
        name = f"{made.prefix}-{metadata.called}"[: 253 - len(which)] + which
        created = metadata.creation_timestamp or state.now
        yield Workload(
            metadata=Metadata(name=name, namespace=namespace, creation_timestamp=created), spec=spec
        )


def add_workloads(
    state: State, items: Sequence[Item], queue: str | None = None, most: int = ANY_NUMBER
) -> tuple[State, tuple[str, ...]]:
    """Return the state with new pending workloads, and their keys as namespace/name.

    Each is what Kueue would make of the object if it were submitted now: its requests, counts,
    LocalQueue and priority. A Workload is taken as it is, but without its status. A workload
    without ``creationTimestamp`` is created at the clock of the state. The digest names the new
    state. ``queue`` is the LocalQueue to submit all workloads to, as ``namespace/name``, whatever
    the objects say. Objects of which Kueue makes no workload, such as a ConfigMap, are left out
    beside others, with a note.

    Raises ``InputError`` if more than ``most`` of the objects are left, or one of them cannot be
    used, names no LocalQueue or priority class that is in the state, or has the name of a workload
    that is there already.
    """
    local, notes = None, [*state.notes]
    if queue is not None:
        namespace, _, name = queue.partition("/")
        if not (namespace and name):
            raise SchemaError("--queue", f"{shown(queue)} is no LocalQueue", "NAMESPACE/NAME")
        _check_queue(state, namespace, name, "--queue")
        local = namespace, name
    known = {*state.workloads.keys}
    made = []
    submitted = [item for item in items if not makes_none(item)] or items
    for count, item in enumerate(submitted):
        if count == most:
            found = "one workload more stands here"
            expected = f"at most {plural(most, 'workload')}"
            raise SchemaError(item.where, found, expected, "planner risk takes many")
        some = [*_workloads(state, item, local)]
        for workload in some:
            if workload.key in known:
                found = f"workload {workload.key} is there already"
                raise SchemaError(item.where, found, hint="give it another metadata.name")
            known.add(workload.key)
        made += some
        if len(some) > 1:
            kind, key = item.value.get("kind"), some[0].key
            notes.append(f"the {kind} makes {len(some)} workloads, each by itself: {key} is one")
    kinds = dict.fromkeys(plain(str(item.value["kind"])) for item in items if makes_none(item))
    if kinds:
        notes.append(f"left out, as Kueue makes no workload of it: {name_some([*kinds], 10)}")
    state = with_workloads(state, made)
    return state.model_copy(update={"notes": tuple(notes)}), tuple(one.key for one in made)


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


def _workloads(state: State, item: Item, local: tuple[str, str] | None) -> Sequence[Workload]:
    """Return the workloads of an object, with a LocalQueue and a priority that the state knows."""
    version = item.value.get("apiVersion")
    if item.value.get("kind") == "Workload" and str(version).rpartition("/")[0] == API_GROUP:
        given = checked(Workload, item.value, item.root, item.path, "Workload")
        if not given.spec.pod_sets:
            where = place(item.root, (*item.path, "spec", "podSets"))
            raise SchemaError(where, "is missing or empty")
        namespace = given.metadata.namespace or DEFAULT
        made = [fresh(state, given, *(local or (namespace, given.spec.queue_name)))]
        at: Path = ("spec", "queueName")
    else:
        made = [*_submitted(state, item, local)]
        at = ("metadata", "labels", QUEUE)
    if not made or not made[0].spec.pod_sets:
        raise SchemaError(item.where, "asks for no pods: Kueue makes no workload of it")
    namespace, spec = made[0].metadata.namespace, made[0].spec  # those of one object are equal
    if not spec.queue_name:
        hint = "--queue NAMESPACE/NAME names one"
        raise SchemaError(item.where, "names no LocalQueue", f"one in {path_text(at)}", hint)
    if local is None:
        _check_queue(state, namespace, spec.queue_name, place(item.root, (*item.path, *at)))
    # Kueue makes no workload of an unknown class.
    resolved, missing = resolve_priorities(
        made, state.workload_priority_classes, state.priority_classes
    )
    reference = spec.priority_class
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
