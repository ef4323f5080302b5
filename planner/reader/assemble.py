"""Documents to one state: the clock, the priorities, the configuration."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from planner.errors import InputError, ParseError, SchemaError
from planner.reader.collect import Collection
from planner.reader.items import items_of
from planner.reader.parse import EXPECTED, Document
from planner.reader.priority import resolve_priorities
from planner.reader.quick import read_workload
from planner.reader.release import settle, signs_of
from planner.reader.show import Path, shown
from planner.reader.taken import clock_of, remark, taken_at
from planner.reader.unknown import Ignored, unknown_fields
from planner.state import Configuration, State, parse_time
from planner.state.base import TIMESTAMP
from planner.state.configuration import FairSharing, RequestsFrom
from planner.state.release import AUTO
from planner.state.workloads import Facts, Workloads

_FIELDS: Final = {
    "ClusterQueue": "cluster_queues",
    "Cohort": "cohorts",
    "LocalQueue": "local_queues",
    "ResourceFlavor": "resource_flavors",
    "Workload": "workloads",
    "WorkloadPriorityClass": "workload_priority_classes",
    "PriorityClass": "priority_classes",
    "AdmissionCheck": "admission_checks",
    "LimitRange": "limit_ranges",
    "RuntimeClass": "runtime_classes",
    "Namespace": "namespaces",
    "PodDisruptionBudget": "pod_disruption_budgets",
    "Event": "events",
    "DeviceClass": "device_classes",
    "ResourceClaimTemplate": "resource_claim_templates",
    "ResourceSlice": "resource_slices",
    "Topology": "topologies",
    "Node": "nodes",
    "Pod": "pods",
}
"""Kinds and where the state holds them."""
_OF_THE_CLUSTER: Final = ("Node", "Pod")
"""Kinds that every cluster has, with Kueue or without."""
_TIMELESS: Final = frozenset({"Configuration", "Deployment", "Event", *_OF_THE_CLUSTER})
"""Kinds that say how Kueue or the cluster runs, or ran, and nothing of when a decision is made."""


class Settings(NamedTuple):
    """What a state is called, and what the user says of it.

    The clock, the release of Kueue, and where the requests of pending workloads are taken from.
    """

    source: str
    digest: str
    now: datetime | str | None = None
    release: str = AUTO
    requests: RequestsFrom = "template"


def assemble(documents: Sequence[Document], settings: Settings, ignored: Ignored | None) -> State:
    """Make one state of all documents.

    Raises
    ------
    InputError
        If an object cannot be used, two of them contradict each other, or no clock is found.
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
        instances += body is not document
        if instances > 1:
            raise _several_instances(document.where)
        for item in items_of(body, path):
            collection.add(item)
    collection.finish()
    _check_any(collection, source)
    if ignored is not None:
        ignored.kinds.update(collection.ignored)
        ignored.fields.update(unknown_fields(collection.items))
    objects = collection.objects
    newest = _newest(objects)
    moment = given_moment(now) or clock or clock_of(taken, newest)
    if moment is None:
        raise _without_clock(source)
    workloads, notes = resolve_priorities(
        objects["Workload"], objects["WorkloadPriorityClass"], objects["PriorityClass"]
    )
    fields: dict[str, Any] = {field: tuple(objects[kind]) for kind, field in _FIELDS.items()}
    fields["workloads"] = Workloads(workloads, read_workload)
    fields["configuration_given"] = bool(objects["Configuration"])
    fields["other_kinds"] = dict(collection.ignored)
    odd = remark(taken, newest) if now is None and clock is None else []
    deployments = objects["Deployment"]
    signs = [*signs_of(deployments, collection.labelled)]
    configuration = next(iter(objects["Configuration"]), _assumed(objects))
    found = settle(given, recorded, signs, deployments, configuration)
    fields["configuration"] = found.configuration.counting(requests)
    remarks = (*_counted(collection.notes), *notes, *odd, *found.notes)
    # Every part is checked: to check the whole, pydantic would first make validators of all kinds.
    return State.model_construct(now=moment, digest=digest, source=source, notes=remarks, **fields)


def _assumed(objects: dict[str, list[Any]]) -> Configuration:
    """Return what holds where nothing was read of the Configuration: defaults, as far as known.

    Kueue publishes shares under fair sharing only, so that it is on where there are any (rule E5
    of docs/semantics/kueue-features.md §10).
    """
    shared = any(
        one.status.fair_sharing is not None
        for kind in ("ClusterQueue", "Cohort")
        for one in objects[kind]
    )
    return Configuration(fairSharing=FairSharing()) if shared else Configuration.blank()


def _unwrap(document: Document) -> tuple[Document, Path, datetime | None, str]:
    """Take the objects, the clock and the release out of a recorded instance.

    All else is left as it is.
    """
    value = document.value
    if not isinstance(value, dict) or "kind" in value or "state" not in value:
        return document, (), None, ""
    clock = value.get("now")
    moment = None if clock is None else _moment(clock, f"{document.where}: now")
    body = Document(document.where, value["state"], document.used_up)
    release = value.get("release")
    return body, ("state",), moment, release if isinstance(release, str) else ""


def _several_instances(where: str) -> SchemaError:
    return SchemaError(
        where,
        "a second recorded instance stands here",
        "one state",
        "planner replay reads files of many instances",
    )


def _moment(clock: object, where: str) -> datetime:
    try:
        if isinstance(clock, str):
            return parse_time(clock)
        if isinstance(clock, datetime) and clock.tzinfo is not None:
            return clock.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    found = str(clock) if isinstance(clock, datetime) else shown(clock)
    raise InputError(where, f"{found} is not a timestamp", f"{TIMESTAMP}, with a time zone")


def given_moment(now: datetime | str | None) -> datetime | None:
    """Return the clock that the user gave as a time in UTC, None if there is none.

    Raises
    ------
    InputError
        If it is no timestamp.
    """
    return None if now is None else _moment(now, "--now")


def _newest(objects: dict[str, list[Any]]) -> datetime | None:
    newest = None
    for kind, checked in objects.items():
        for each in checked if kind not in _TIMELESS else ():
            if isinstance(each, Facts):
                if each.newest is not None and (newest is None or each.newest > newest):
                    newest = each.newest
                continue
            moments = [each.metadata.creation_timestamp]
            conditions = getattr(getattr(each, "status", None), "conditions", ())
            moments += [condition.last_transition_time for condition in conditions]
            for moment in moments:
                if moment is not None and (newest is None or moment > newest):
                    newest = moment
    return newest


def _check_any(collection: Collection, source: str) -> None:
    own = any(some for kind, some in collection.objects.items() if kind not in _OF_THE_CLUSTER)
    others = collection.ignored + Counter(
        {kind: len(collection.objects[kind]) for kind in _OF_THE_CLUSTER}
    )
    if others and not own:
        kinds = ", ".join(f"{count} {kind}" for kind, count in others.most_common(5))
        raise SchemaError(source, f"has no object of Kueue, only {kinds}", EXPECTED)


def _without_clock(source: str) -> InputError:
    return InputError(
        source,
        "has no timestamp that could serve as the clock",
        hint="give the time of the decision with --now, such as --now 2026-03-08T21:06:00Z",
    )


def _counted(notes: Counter[str]) -> list[str]:
    return [f"{note} ({count} times)" if count > 1 else note for note, count in notes.items()]


def canonical_digest(value: object, where: str) -> str:
    """Return the SHA-256 of a JSON value, written without spaces and with sorted keys.

    Raises
    ------
    ParseError
        If it is no JSON value.
    """
    try:
        text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ParseError(where, f"is not a JSON value: {error}") from None
    return hashlib.sha256(text.encode()).hexdigest()
