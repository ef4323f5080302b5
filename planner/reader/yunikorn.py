"""From queues.yaml and the core's state dump to a state of a YuniKorn cluster.

yunikorn_queues.py   queues.yaml in all its forms, and the queues of a dump
yunikorn_pods.py     who opted out, or is kept off nodes, from pods, PriorityClasses and taints
yunikorn_files.py    which documents belong together, and to which scheduler

An instance (``queues``, ``nodes``, ``applications``) and the full state dump of the core (the
same with ``config``) are read. Source: docs/semantics/yunikorn.md §2 and §14; yunikorn-core
be3bb487, webservice/dao and webservice/state_dump.go.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from planner.errors import InputError, SchemaError
from planner.quantity import MAX_INT64
from planner.reader.complaint import checked, checked_list
from planner.reader.items import Item, Kind
from planner.reader.parse import Document
from planner.reader.settings import Settings, given_moment, named
from planner.reader.show import first_of, place, shown
from planner.reader.unknown import Ignored, unknown_fields
from planner.reader.yunikorn_files import YuniKornFiles
from planner.reader.yunikorn_pods import OPT_OUT_UNKNOWN, read_pods, with_flags
from planner.reader.yunikorn_queues import (
    EXPECTED,
    DumpedQueue,
    as_config,
    changed,
    completed,
    in_force,
    other_amounts,
    read_dumped_queues,
    read_queues,
    refused,
    with_what_is_in_force,
    written_queues,
)
from planner.state import AUTO
from planner.state.clock import to_nanoseconds
from planner.state.yunikorn import (
    DEFAULT_PARTITION,
    Application,
    Claim,
    ClusterInfo,
    InstanceExtra,
    Node,
    Partition,
    PartitionConfig,
    PartitionNodes,
    QueuesConfig,
    YuniKornState,
    by_path,
)
from planner.state.yunikorn_release import release_of

CONFIG_DIFFERS: Final = (
    "queues.yaml beside the state dump differs from the configuration inside: the former is used"
)
PLACED_MEANWHILE: Final = "asks that got their node while the dump was taken are allocations only"
ORIGINATORS_UNKNOWN: Final = (
    "dumps of YuniKorn 1.5 and earlier do not say which allocations are the originators of their "
    "applications: none is taken for one"
)
UNDATED: Final = (
    "the dump does not say since when these are there, by which they are ordered and have work to "
    "lose: they count as made in 1970"
)
NODES_ABSENT: Final = (
    "allocations are on nodes that the dump does not have, and on which no room is looked for"
)
_RELEASE: Final = re.compile(r"v?[0-9]{1,4}\.[0-9]{1,4}(\.|-|$)", re.ASCII)

Json = Mapping[str, Any]


def read_yunikorn(
    files: YuniKornFiles, settings: Settings, ignored: Ignored | None
) -> YuniKornState:
    """Make one state of a dump or instance and the documents beside it.

    The clock, unless the user gives it, is that of the instance or the time of the dump; also where
    the user gives the same to the microsecond, as the time of a plan is.

    Raises ``InputError`` if a document or the clock cannot be used.
    """
    moment, clock = given_moment(settings.now), None
    dump = files.dump.value
    if moment is not None:
        clock = to_nanoseconds(moment)
        if abs(clock) > MAX_INT64:
            found = f'"{moment.isoformat()}" is too far away'
            raise InputError("now", found, "1678 to 2262").of_kind("option")
        own = dump.get("now", dump.get("timestamp")) if isinstance(dump, Mapping) else None
        # The file's own clock, cut to microseconds: ages that end within one would differ.
        if isinstance(own, int) and not isinstance(own, bool) and own - own % 1000 == clock:
            clock = own
    state = _state(files, clock, settings.release)
    if ignored is not None and isinstance(dump, Mapping):
        ignored.kinds.update(files.ignored)
        ignored.fields.update(unknown_fields(_items(dump, files)))
    return state.model_copy(update={"source": settings.source, "digest": settings.digest})


def read_yunikorn_objects(
    value: object, *, where: str, digest: str | None = None, now: int | None = None
) -> YuniKornState:
    """Read an instance or a full state dump that is parsed already.

    ``where`` names the value in messages; without a ``digest``, the SHA-256 of its canonical JSON
    text is the digest. ``now`` is in nanoseconds; without it, the clock is that of the instance or
    the time of the dump.

    Raises ``InputError`` if the value cannot be used.
    """
    known = named(value, where, digest)
    state = _state(YuniKornFiles(Document(where, value)), now)
    return state.model_copy(update={"digest": known.digest})


def _state(files: YuniKornFiles, now: int | None, release: str = AUTO) -> YuniKornState:
    where, value = files.dump.where, files.dump.value
    if not isinstance(value, Mapping):
        raise SchemaError(where, f"{shown(value)} is not an object", EXPECTED)
    clock = _clock(value, where) if now is None else now
    extra = checked(InstanceExtra, _extra(value, where), where, ("x",), "x")
    config, queues, notes = _config(value, where, files.queues)
    release = _release(value, where) if release == AUTO else release
    config = changed(config, extra, release_of(release))
    nodes = checked_list(PartitionNodes, value, "nodes", where, "partitionName")
    applications = checked_list(Application, value, "applications", where, "applicationID")
    applications, placed = _settled(one for one in applications if not one.is_over)
    pods = read_pods(value, where, files)
    said = any("x" in claim.model_fields_set for claim in _claims(applications))
    # A recorded instance is a whole cluster: the core itself had no such node.
    whole = "now" in value
    if pods.is_empty and not whole and not said:
        notes += (OPT_OUT_UNKNOWN,)
    if any(each.uuid for one in applications for each in one.allocations):
        notes += (ORIGINATORS_UNKNOWN,)
    notes += (f"{PLACED_MEANWHILE}: {placed}",) if placed else ()
    machines = [node for part in nodes for node in part.nodes_info]
    applications, remarks = with_flags(applications, pods, machines)
    names = [one.name for one in config.partitions]
    parts: dict[str, list[PartitionNodes]] = {name: [] for name in names}
    running: dict[str, list[Application]] = {name: [] for name in names}
    for i, part in enumerate(nodes):
        name = _partition_name(part.partition_name, names, place(where, ("nodes", i)))
        parts[name].append(part)
    for one in applications:
        at = f"{where}: application {shown(one.application_id)}"
        running[_partition_name(one.partition, names, at)].append(one)
    partitions = tuple(
        _partition(one, parts[one.name], running[one.name], where, whole=whole).model_copy(
            update={"queue_states": extra.queue_state, "usage": extra.usage}
        )
        for one in config.partitions
    )
    # That there is no room would be said of the other nodes.
    absent = [name for one in partitions for name in _absent(one.nodes, one.applications)]
    for what, names in ((NODES_ABSENT, absent), (UNDATED, [*_undated(applications)])):
        notes += (f"{what}: {first_of(names)}",) if names else ()
    paths = {path for one in partitions for path, _ in by_path(one.root)}
    for path in extra.queue_usage:
        if path not in paths:
            raise SchemaError(place(where, ("x", "queueUsage", path)), "there is no such queue")
    notes += other_amounts(queues, partitions)
    # Another queues.yaml than that of the dump is not in force.
    if files.queues is None or ("config" in value and CONFIG_DIFFERS not in notes):
        partitions = tuple(with_what_is_in_force(one, queues) for one in partitions)
    return YuniKornState(
        now=clock,
        digest="",
        source=where,
        release=release,
        notes=notes + remarks,
        partitions=partitions,
        objects=pods.objects,
        x=extra,
    )


def _clock(value: Json, where: str) -> int:
    """Return the clock of an instance, or the time of a dump."""
    name = "now" if "now" in value else "timestamp"
    clock = value.get(name)
    if clock is None:
        raise SchemaError(
            where,
            'has no clock: neither "now" nor "timestamp"',
            "nanoseconds since 1970",
            "give the time of the decision, such as now=2026-03-08T21:06:00Z",
        )
    if isinstance(clock, bool) or not isinstance(clock, int) or abs(clock) > MAX_INT64:
        found = f"{shown(clock)} is not a clock"
        raise SchemaError(place(where, (name,)), found, "nanoseconds since 1970")
    return clock


def _release(value: Json, where: str) -> str:
    """Return the release of the core, which is that of the first build that names one."""
    infos = checked_list(ClusterInfo, value, "clusterInfo", where, "clusterName")
    versions = (build.build_version for one in infos for build in one.builds)
    return next((one for one in versions if _RELEASE.match(one)), "")


def _extra(value: Json, where: str) -> object:
    """Return what stands under ``x``, with each queues.yaml in it read as the core does."""
    extra = value.get("x") or {}
    if not isinstance(extra, Mapping):
        return extra

    def queues(one: object, *path: str | int) -> object:
        return None if one is None else in_force(read_queues(one, place(where, ("x", *path))))[0]

    read = dict(extra)
    if "queuesBefore" in extra:
        read["queuesBefore"] = queues(extra["queuesBefore"], "queuesBefore")
    if isinstance(extra.get("steps"), list):
        read["steps"] = [
            {**one, "queues": queues(one.get("queues"), "steps", i, "queues")}
            if isinstance(one, Mapping)
            else one
            for i, one in enumerate(extra["steps"])
        ]
    return read


def _config(
    value: Json, where: str, beside: Item | None
) -> tuple[QueuesConfig, tuple[DumpedQueue, ...], tuple[str, ...]]:
    """Return the queues, the queue objects of a dump, and remarks on them.

    queues.yaml beside the dump goes first, then the one in the dump, then the dump's queue objects.
    """
    inside = "queues" if isinstance(value.get("queues"), Mapping | str) else ""
    inside = inside if value.get("config") is None else "config"
    own = read_queues(value[inside], f"{where}: {inside}") if inside else None
    objects, dumped = tuple[DumpedQueue, ...](), None
    if isinstance(value.get("queues"), list | tuple):
        objects = checked_list(DumpedQueue, value, "queues", where, "queuename")
        dumped = read_dumped_queues(objects, value, where)
    written = None if beside is None else written_queues(beside.value, beside.where)
    given = None if written is None else as_config(*written)
    config = given or own or dumped
    if config is None:
        raise SchemaError(where, "has no queues", EXPECTED)
    notes: list[str] = []
    if config is not dumped:
        config, remarks = in_force(config)
        notes += remarks
    if written is not None and given is not None:
        notes += refused(written[0], given)
    if given is not None and own is not None and given != own:
        notes.append(CONFIG_DIFFERS)
    return completed(config, dumped) if dumped else config, objects, tuple(notes)


def _settled(applications: Iterable[Application]) -> tuple[tuple[Application, ...], int]:
    """Leave out the asks that are allocations of their application, too, and count them.

    The core lists the asks of an application first (webservice/handlers.go, getApplicationDAO).
    """
    settled, placed = [], 0
    for one in applications:
        held = {each.allocation_key for each in one.allocations}
        asks = tuple(each for each in one.requests if each.allocation_key not in held)
        found = len(one.requests) - len(asks)
        placed += found
        settled.append(one.model_copy(update={"requests": asks}) if found else one)
    return tuple(settled), placed


def _absent(nodes: Iterable[Node], applications: Iterable[Application]) -> dict[str, None]:
    """Return the nodes on which allocations are, and which are not among ``nodes``."""
    there = {node.node_id for node in nodes}
    held = (each for one in applications for each in one.allocations)
    return dict.fromkeys(each.node_id for each in held if each.node_id not in there)


def _undated(applications: Iterable[Application]) -> Iterator[str]:
    """Yield the keys of allocations and asks that have no time."""
    for one in applications:
        yield from (each.allocation_key for each in one.allocations if not each.allocation_time)
        yield from (each.allocation_key for each in one.requests if not each.request_time)


def _claims(applications: Sequence[Application]) -> Iterator[Claim]:
    for one in applications:
        yield from one.allocations
        yield from one.requests


def _partition(
    config: PartitionConfig,
    parts: Sequence[PartitionNodes],
    applications: Sequence[Application],
    where: str,
    *,
    whole: bool,
) -> Partition:
    nodes = tuple(node for part in parts for node in part.nodes_info)
    _check_once((node.node_id for node in nodes), "node", where)
    _check_once((claim.allocation_key for claim in _claims(applications)), "allocationKey", where)
    root = config.queues[0]
    if config.limits and not root.limits:  # as the core does it
        root = root.model_copy(update={"limits": config.limits})
    absent: dict[str, None] = {}
    if not whole:
        there = {node.node_id for node in nodes}
        required = (ask.required_node for one in applications for ask in one.requests)
        absent = _absent(nodes, applications)
        absent |= dict.fromkeys(name for name in required if name and name not in there)
    return Partition(
        name=config.name,
        root=root,
        preemption=config.preemption,
        order=config.order,
        nodes=nodes,
        absent_nodes=tuple(absent),
        applications=tuple(applications),
    )


def _check_once(names: Iterator[str], what: str, where: str) -> None:
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise SchemaError(where, f"{what} {shown(twice)} stands twice", hint="keep one")


def _partition_name(written: str, names: Sequence[str], where: str) -> str:
    """Return the name of a partition without the cluster before it, such as ``[mycluster]``."""
    name = written.rpartition("]")[2]
    name = name or (DEFAULT_PARTITION if DEFAULT_PARTITION in names else names[0])
    if name not in names:
        known = ", ".join(names)
        raise SchemaError(where, f"partition {shown(name)} is not in the queues", f"one of {known}")
    return name


def _items(value: Json, files: YuniKornFiles) -> Iterator[tuple[Kind, Item]]:
    """Yield the objects that were read, to count the fields that were not."""
    for name, model in (("applications", Application), ("nodes", PartitionNodes)):
        kind = Kind(model.__name__, model, ())
        objects = enumerate(value.get(name) or ())
        yield from ((kind, Item(files.dump.where, (name, i), dict(one))) for i, one in objects)
    if files.queues is not None and "kind" not in files.queues.value:
        yield Kind("queues.yaml", QueuesConfig, ()), files.queues
