"""Objects of Kueue to one state: the clock, the priorities, the configuration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Unpack

import numpy as np
from pydantic.alias_generators import to_snake

from planner.errors import InputError, SchemaError
from planner.garbage import without_garbage_collection
from planner.reader.items import BUILD, items_of
from planner.reader.kueue_collect import Collection
from planner.reader.kueue_release import GateRefused, settle, signs_of
from planner.reader.kueue_rows import read_workload
from planner.reader.parse import EXPECTED, Document
from planner.reader.settings import Said, Settings, given_moment, moment_of, named, remark, taken_at
from planner.reader.show import Path, first_of, plain, shown
from planner.reader.unknown import Ignored, unknown_fields
from planner.stage import going_on
from planner.state.kueue import Configuration, State, Workload, Workloads
from planner.state.kueue_columns import SOME
from planner.state.kueue_configuration import FairSharing
from planner.state.kueue_workload import NEVER
from planner.state.queues import PriorityClass

_BUILT_IN: Final = {
    ("PriorityClass", "system-cluster-critical"): 2_000_000_000,
    ("PriorityClass", "system-node-critical"): 2_000_001_000,
}
"""The classes that every Kubernetes cluster has (kubernetes pkg/apis/scheduling/types.go)."""
_OF_THE_CLUSTER: Final = ("Node", "Pod")
"""Kinds that every cluster has, with Kueue or without."""
_OF_KUEUE: Final = ("Configuration", "Deployment")
"""Kinds that say how Kueue runs: no field of the state is called after them."""
_TIMELESS: Final = frozenset({*_OF_KUEUE, "Event", *_OF_THE_CLUSTER})
"""Kinds about how Kueue or the cluster runs: their times do not say when a decision is made."""


def assemble(documents: Sequence[Document], settings: Settings, ignored: Ignored | None) -> State:
    """Make one state of all documents.

    Raises ``InputError`` if an object cannot be used, two objects contradict each other, or no
    clock is found.
    """
    source, digest, now, given, requests = settings
    collection = Collection(keep_items=ignored is not None)
    clock: datetime | None = None
    taken: datetime | None = None
    recorded = ""
    instances = 0
    for document in documents:
        body, path, its_clock, its_release = _unwrap(document)
        clock, recorded = clock or its_clock, recorded or its_release
        taken = taken or taken_at(body)
        # A recorded instance is a whole state: two of them are two clusters.
        instances += body is not document
        if instances > 1:
            raise SchemaError(
                document.where,
                "a second recorded instance stands here",
                "one state",
                "planner replay reads files of many instances",
            )
        for number, item in enumerate(items_of(body, path, collection.take)):
            collection.add(item)
            if number % SOME == 0:
                going_on()
    collection.finish()
    if ignored is not None:
        ignored.kinds.update(collection.ignored)
        ignored.fields.update(unknown_fields(collection.items))
    objects = collection.objects
    resolved, notes = resolve_priorities(
        objects["Workload"], objects["WorkloadPriorityClass"], objects["PriorityClass"]
    )
    workloads = Workloads((), collection.workloads.columns(), read_workload)
    if changed := {
        new.key: new
        for new, old in zip(resolved, objects["Workload"], strict=True)
        if new is not old
    }:
        workloads = workloads.edited(changed, lambda one: changed[one.key])
    _check_any(collection, workloads, source)
    newest = max(filter(None, (collection.newest, *_moments(objects))), default=None)
    # The newest timestamp comes last: the decision may be made long after it. But the time of the
    # snapshot serves only if it is not before that timestamp: ages would be negative.
    moment = given_moment(now) or clock or max(filter(None, (taken, newest)), default=None)
    if moment is None:
        if not workloads and not any(objects.values()):  # of nothing, a clock would be of no use
            hint = "kubectl get with -A lists the objects of all namespaces"
            raise InputError(source, "there are no objects in it", EXPECTED, hint)
        hint = "give the time of the decision, such as now=2026-03-08T21:06:00Z"
        raise InputError(source, "has no timestamp that could serve as the clock", hint=hint)
    fields: dict[str, Any] = {
        _field_of(kind): tuple(some) for kind, some in objects.items() if kind not in _OF_KUEUE
    }
    fields["workloads"] = workloads
    fields["configuration_given"] = bool(objects["Configuration"])
    fields["other_kinds"] = dict(collection.ignored)
    odd = remark(taken, newest) if now is None and clock is None else ()
    configuration, by_release = _by_release(collection, given, recorded, source)
    fields["configuration"] = configuration.counting(requests)
    counted = [f"{note} ({n} times)" if n > 1 else note for note, n in collection.notes.items()]
    fields["absent_queues"], on_absent = _absent_queues(objects, workloads)
    fields["whole"] = bool(instances)
    remarks = (*counted, *notes, *on_absent, *_undated(workloads), *odd, *by_release)
    # Every part is checked: to check the whole, pydantic would first make validators of all kinds.
    return State.model_construct(now=moment, digest=digest, source=source, notes=remarks, **fields)


def _by_release(
    collection: Collection, given: str, recorded: str, source: str
) -> tuple[Configuration, list[str]]:
    """Return the Configuration with the release that the dump is of, and remarks."""
    objects = collection.objects
    deployments = objects["Deployment"]
    signs = [*signs_of(deployments, collection.labelled)]
    configuration = next(iter(objects["Configuration"]), _assumed(objects))
    try:
        return settle(given, recorded, signs, deployments, configuration)
    except GateRefused as error:
        written = error.gate in configuration.feature_gates
        where = collection.where("Configuration", "featureGates") if written else ""
        raise error.at(where or f"{source}: arguments of Kueue's manager") from None


_UNDATED: Final = "the dump does not say since when these hold quota: they count as the oldest"


def _undated(workloads: Workloads) -> Iterator[str]:
    """Yield a note on workloads that hold quota since nobody knows when."""
    columns = workloads.columns
    found = np.flatnonzero(columns.holds_quota & (columns.reserved_s == NEVER.timestamp()))
    names = [workloads.keys[at] for at in found.tolist()]
    if names:
        yield f"{_UNDATED}: {first_of(names)}"


_HELD: Final = "in which workloads hold quota: neither what is used nor what is owned there counts"
_NAMED: Final = (
    "to which a LocalQueue leads, active by its condition: what is owned there does not count"
)


def _absent_queues(
    objects: Mapping[str, Sequence[Any]], workloads: Workloads
) -> tuple[tuple[str, ...], list[str]]:
    """Return the ClusterQueues that were not read, and are there, and notes on what shows them.

    Kueue keeps a ClusterQueue as long as somebody holds quota in it, and calls a LocalQueue active
    only where its ClusterQueue is there and active.

    Source: kueue ff69552e pkg/controller/core/clusterqueue_controller.go, Reconcile (finalizer),
    and localqueue_controller.go, Reconcile.
    """
    known, columns = {"", *(queue.name for queue in objects["ClusterQueue"])}, workloads.columns
    # By counts: `np.unique` would load masked arrays, a fortieth of the time of a small plan.
    used = np.flatnonzero(np.bincount(columns.admitted_by[columns.holds_quota])).tolist()
    held = {columns.queues[number] for number in used} - known
    active = (one for one in objects["LocalQueue"] if one.status.is_active)
    named = {one.spec.cluster_queue for one in active} - known
    notes = []
    for names, shown_by in ((held, _HELD), (named - held, _NAMED)):
        if names:
            some = first_of(sorted(names, key=plain))
            notes.append(f"the dump lacks ClusterQueue {some}, {shown_by}")
    return tuple(sorted(held | named)), notes


def _field_of(kind: str) -> str:
    """Return the field of a state that holds a kind: ``priority_classes`` for PriorityClass."""
    name = to_snake(kind)
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("ss") else f"{name}s"


def _assumed(objects: dict[str, list[Any]]) -> Configuration:
    """Return the Configuration to assume where none was read: the defaults, but for fair sharing.

    Kueue publishes shares under fair sharing only: it is taken to be on where a status has a share
    (rule E5 of docs/semantics/kueue-features.md §10).
    """
    shared = any(
        one.status.fair_sharing is not None
        for kind in ("ClusterQueue", "Cohort")
        for one in objects[kind]
    )
    return Configuration(fair_sharing=FairSharing()) if shared else Configuration.blank()


def _unwrap(document: Document) -> tuple[Document, Path, datetime | None, str]:
    """Take the objects, the clock and the release out of a recorded instance.

    Any other document is returned as it is.
    """
    value = document.value
    if not isinstance(value, dict) or "kind" in value or "state" not in value:
        return document, (), None, ""
    clock = value.get("now")
    moment = None if clock is None else moment_of(clock, f"{document.where}: now")
    body = Document(document.where, value["state"], document.used_up)
    release = value.get("release")
    return body, ("state",), moment, release if isinstance(release, str) else ""


def _check_any(collection: Collection, workloads: Workloads, source: str) -> None:
    own = any(some for kind, some in collection.objects.items() if kind not in _OF_THE_CLUSTER)
    others = collection.ignored + Counter(
        {kind: len(collection.objects[kind]) for kind in _OF_THE_CLUSTER}
    )
    if others and not own and not workloads:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.most_common(5))
        built = any(kind.startswith("Kustomization.") for kind in others)
        hint = BUILD if built else ""
        raise SchemaError(source, f"has no object of Kueue, only {kinds}", EXPECTED, hint)


def _moments(objects: dict[str, list[Any]]) -> Iterator[datetime | None]:
    """Yield the times when objects were created and changed."""
    for kind, checked in objects.items():
        for each in checked if kind not in _TIMELESS else ():
            yield each.metadata.creation_timestamp
            conditions = getattr(getattr(each, "status", None), "conditions", ())
            yield from (condition.last_transition_time for condition in conditions)


def resolve_priorities(
    workloads: Sequence[Workload],
    kueue_classes: Sequence[PriorityClass],
    pod_classes: Sequence[PriorityClass],
) -> tuple[list[Workload], list[str]]:
    """Give each workload without a priority the priority of the class it names; return remarks too.

    A class that was not read counts as priority 0, as it does for Kueue, and is remarked upon.
    Workloads without a class stay as they are.
    """
    values = dict(_BUILT_IN)
    values |= {("WorkloadPriorityClass", each.metadata.name): each.value for each in kueue_classes}
    values |= {("PriorityClass", each.metadata.name): each.value for each in pod_classes}
    missing: Counter[tuple[str, str]] = Counter()
    resolved: list[Workload] = []
    for workload in workloads:
        spec = workload.spec
        if spec.priority is None and spec.priority_class is not None:
            key = (spec.priority_class.kind, spec.priority_class.name)
            if key not in values:
                missing[key] += 1
            changed = spec.model_copy(update={"priority": values.get(key, 0)})
            resolved.append(workload.model_copy(update={"spec": changed}))
        else:
            resolved.append(workload)
    notes = [
        f"{kind} {shown(name)} was not read: priority 0 for "
        f"{'the workload that names it' if count == 1 else f'the {count} workloads that name it'}"
        for (kind, name), count in missing.items()
    ]
    return resolved, notes


def read_kueue_objects(
    value: object, *, where: str, digest: str | None = None, **said: Unpack[Said]
) -> State:
    """Read a JSON value that is known to be of Kueue, such as a recorded instance.

    Parameters and errors are those of `read_objects`.
    """
    with without_garbage_collection():
        return assemble([Document(where, value)], named(value, where, digest, **said), None)
