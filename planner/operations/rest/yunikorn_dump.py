"""Everything the planner reads of a YuniKorn cluster, as one state dump.

Only the fields that the reader reads are kept: all else is bookkeeping, or may be secret. A state
read from a trimmed dump is the same.

Source: yunikorn-core be3bb487, webservice/routes.go, webservice/handlers.go and
webservice/state_dump.go; the state dump stands at /debug since YuniKorn 1.7, and before that at
/ws/v1, which a proxy for YuniKorn's web pages still serves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct
from pydantic import BaseModel

from planner.dump import as_json
from planner.errors import InputError, ParseError
from planner.garbage import without_garbage_collection
from planner.operations.rest.call import Reply, Service
from planner.reader.bound import Budget
from planner.reader.parse import parse_json
from planner.reader.show import shown
from planner.reader.unknown import known_part
from planner.reader.yunikorn_queues import DumpedPartition, DumpedQueue
from planner.state.clock import present, to_nanoseconds
from planner.state.yunikorn import (
    NAMESPACE_TAG,
    POD_NAME_TAG,
    REQUIRED_NODE_TAG,
    Application,
    ClusterInfo,
    PartitionNodes,
)
from planner.state.yunikorn_pods import ALLOW_PREEMPTION, PodPriorityClass, ShimNode, ShimPod
from planner.state.yunikorn_usage import Usage

STATE_DUMPS: Final = ("/debug/fullstatedump", "/ws/v1/fullstatedump")
PUT_TOGETHER: Final = (
    "the service gives no full state dump: the state is put together from what it says of "
    "partitions, queues, nodes and applications, one after the other, at the time of this machine"
)
NO_USAGE: Final = (
    "the service does not say what users and groups have: which limits hold is taken from "
    "queues.yaml, which may have changed since applications came"
)
OPEN: Final = (
    "`kubectl port-forward -n yunikorn service/yunikorn-service 9080:9080` lets "
    "http://localhost:9080 reach the core"
)
_LISTS: Final[Mapping[str, type[BaseModel]]] = {
    "partitions": DumpedPartition,
    "queues": DumpedQueue,
    "nodes": PartitionNodes,
    "applications": Application,
    "clusterInfo": ClusterInfo,
}
_TAGS: Final = frozenset({NAMESPACE_TAG, POD_NAME_TAG, REQUIRED_NODE_TAG})
_NAMES: Final = frozenset({"name", "namespace", "uid", "annotations"})
_OF_PODS: Final = _NAMES | {"labels"}
_SHIM: Final[Mapping[str, type[BaseModel]]] = {
    "nodes": ShimNode,
    "pods": ShimPod,
    "priorityClasses": PodPriorityClass,
}
"""The models of the shim's cache, whose entries are flat."""
Json = dict[str, Any]


class Dump(Struct, frozen=True):
    """A trimmed state dump, and remarks on how it was made."""

    value: Json
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The number of objects in each list."""
        nodes = (part.get("nodesInfo") or () for part in _objects(self.value.get("nodes")))
        names = ("partitions", "queues", "applications")
        plain = {name: len(_objects(self.value.get(name))) for name in names}
        return {**plain, "nodes": sum(map(len, nodes))}

    def text(self) -> str:
        """Return the dump as JSON, each object of a list on a line of its own."""
        return as_json(self.value)


def take_dump(service: Service) -> Dump:
    """Ask YuniKorn's core for its state.

    Where the full state dump cannot be had, as behind a proxy for YuniKorn's pages, the state is
    put together from the other answers of the service.

    Raises `InputError` if the service cannot be reached, answers with an error, or is none of
    YuniKorn.
    """
    with without_garbage_collection():
        for path in STATE_DUMPS:
            reply = service.get(path)
            if not _is_absent(reply):
                # The core leaves lists out that are empty, but always has a queue.
                where = f"{service.url}{path}"
                value = _object(reply, where)
                if not all(isinstance(value.get(name), list) for name in ("partitions", "queues")):
                    found = "answers with an object that is no state dump"
                    raise InputError(where, found, _CORE, OPEN)
                return _with_usage(service, Dump(_trimmed(value)))
        return _with_usage(service, Dump(_trimmed(_put_together(service)), (PUT_TOGETHER,)))


def _with_usage(service: Service, dump: Dump) -> Dump:
    """Ask what users and groups have, and which limits hold for them, where there are limits.

    One tracker counts for all partitions, so the first is asked.
    """
    names = [str(one.get("name")) for one in _objects(dump.value.get("partitions"))]
    if not (names and _has_limits(dump.value.get("config"))):
        return dump
    usage: Json = {}
    for kind in ("users", "groups"):
        path = f"/ws/v1/partition/{quote(names[0], safe='')}/usage/{kind}"
        reply = service.get(path)
        if _is_absent(reply):
            return Dump(dump.value, (*dump.notes, NO_USAGE))
        usage[kind] = _list(reply, f"{service.url}{path}")
    return Dump({**dump.value, "x": {"usage": known_part(Usage, usage)}}, dump.notes)


def _is_absent(reply: Reply) -> bool:
    """Say whether there is no such endpoint: not found, moved, forbidden, or a page instead."""
    moved = HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST
    kept = HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED
    is_page = reply.status == HTTPStatus.OK and reply.kind == "text/html"
    return moved or reply.status in kept or is_page


def _put_together(service: Service) -> Json:
    """Return the state dump, put together from the other endpoints of the service."""

    def object_at(path: str) -> Json:
        return _object(service.get(path), f"{service.url}{path}")

    def list_at(path: str) -> list[Json]:
        return _list(service.get(path), f"{service.url}{path}")

    partitions = list_at("/ws/v1/partitions")
    if not partitions or not all(isinstance(one.get("name"), str) for one in partitions):
        found = "answers with a partition without a name" if partitions else "has no partition"
        raise InputError(f"{service.url}/ws/v1/partitions", found, _CORE, OPEN)
    state: Json = {"timestamp": to_nanoseconds(present()), "partitions": partitions}
    state |= {"applications": [], "nodes": [], "queues": []}
    for one in partitions:
        name = one["name"]
        below = f"/ws/v1/partition/{quote(name, safe='')}"
        # As the core's own dump: a queue that is made meanwhile is there for its applications.
        state["applications"] += list_at(f"{below}/applications/active")
        nodes = list_at(f"{below}/nodes")
        state["nodes"].append({"partitionName": name, "nodesInfo": nodes})
        state["queues"].append(object_at(f"{below}/queues"))
    state["config"] = object_at("/ws/v1/config")
    state["clusterInfo"] = list_at("/ws/v1/clusters")
    return state


def _object(reply: Reply, where: str) -> Json:
    value = _parsed(reply, where)
    if not isinstance(value, dict):
        raise _stranger(where, value)
    return value


def _list(reply: Reply, where: str) -> list[Json]:
    value = _parsed(reply, where)
    listed = [] if value is None else value  # null is an empty list to Go
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise _stranger(where, value)
    return listed


def _parsed(reply: Reply, where: str) -> object:
    if reply.status != HTTPStatus.OK:
        # The error quotes the reason that the service gives, if any.
        try:
            said = next(parse_json(reply.data, where), None)
        except ParseError:
            said = None
        reason = said.get("description") if isinstance(said, dict) else None
        known = {one.value: one.phrase for one in HTTPStatus}
        found = f"answers {reply.status} {known.get(reply.status, '')}".strip()
        found += f": {shown(reason)}" if isinstance(reason, str) else ""
        raise InputError(where, found, _CORE, OPEN)
    try:
        documents = list(parse_json(reply.data, where, Budget(len(reply.data))))
    except ParseError as error:
        if reply.kind == "application/json":
            raise
        raise InputError(where, f"answers with {reply.kind}, not JSON", _CORE, OPEN) from error
    if len(documents) != 1:
        raise InputError(where, f"answers with {len(documents)} documents", _CORE, OPEN)
    return documents[0]


_CORE: Final = "the REST service of YuniKorn's core, 1.5 or later, or 1.0 with its state dump"


def _stranger(where: str, value: object) -> InputError:
    return InputError(where, f"answers {shown(value)}", _CORE, OPEN)


def _trimmed(state: Json) -> Json:
    """Return a state dump with only the fields that the reader reads."""
    kept: Json = {}
    for name, value in state.items():
        if name in _LISTS and isinstance(value, list):
            known = _LISTS[name]
            kept[name] = [known_part(known, one) if isinstance(one, dict) else one for one in value]
        elif name == "config" and isinstance(value, dict):  # without its field Extra
            kept[name] = {key: part for key, part in value.items() if key.lower() == "partitions"}
        elif name == "rmDiagnostics" and isinstance(value, dict):
            kept[name] = {"cache": _of_shim(value.get("cache"))}
        elif name == "timestamp" or name in _LISTS:  # the reader complains about what is no list
            kept[name] = value
    limited = _has_limits(kept.get("config"))
    for application in _objects(kept.get("applications")):
        if not limited:  # nothing depends on whose it is
            application.pop("user", None)
            application.pop("groups", None)
        for part in ("allocations", "requests"):
            for claim in _objects(application.get(part)):
                _keep_keys(claim, "allocationTags", _TAGS)
    return kept


def _entries(value: object) -> Iterator[tuple[str, Any]]:
    """Yield all that stands in objects at any depth of a value, with its name."""
    todo = [value]
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            yield from part.items()
            todo += part.values()
        elif isinstance(part, list):
            todo += part


def _has_limits(config: object) -> bool:
    """Say whether a queue or a partition of a configuration has limits of users and groups."""
    return any(name.lower() == "limits" and bool(each) for name, each in _entries(config))


def _of_shim(cache: object) -> object:
    """Return the shim's pods, PriorityClasses and nodes, trimmed to what the reader reads."""
    if not isinstance(cache, dict):
        return cache
    kept: Json = {}
    for part, model in _SHIM.items():
        entries = cache.get(part)
        if entries is not None:
            kept[part] = dict(entries) if isinstance(entries, dict) else entries
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            if isinstance(entry, dict):
                names = _OF_PODS if part == "pods" else _NAMES
                fields = {key: each for key, each in entry.items() if key in names}
                fields |= known_part(model, entry)
                _keep_keys(fields, "annotations", {ALLOW_PREEMPTION})
                kept[part][name] = fields
    pods = kept.get("pods")
    entries = _objects([*pods.values()]) if isinstance(pods, dict) else []
    named = {key for pod in entries for key in _named_labels(pod)}
    for pod in entries:
        _keep_keys(pod, "labels", named)
    return kept


def _named_labels(pod: Json) -> Iterator[str]:
    """Yield the keys of the labels at which a pod looks that keeps others apart from it."""
    for name, selector in _entries(pod):
        if name == "labelSelector" and isinstance(selector, dict):
            labels = selector.get("matchLabels")
            yield from labels if isinstance(labels, dict) else ()
            # The reader complains about a key that is no text.
            keys = (row.get("key") for row in _objects(selector.get("matchExpressions")))
            yield from (key for key in keys if isinstance(key, str))


def _keep_keys(owner: Json, name: str, keys: frozenset[str] | set[str]) -> None:
    """Drop all entries of a table of texts but those of the given keys."""
    table = owner.get(name)
    if isinstance(table, dict):
        owner[name] = {key: each for key, each in table.items() if key in keys}


def _objects(value: object) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
