"""The queues of YuniKorn: queues.yaml in all its forms, and the queue objects of a state dump.

At the end stands what the core refuses in a queues.yaml that can be read.

Source: docs/semantics/yunikorn.md §2 and §14; yunikorn-core be3bb487,
common/configs/configvalidator.go and webservice/dao/queue_info.go.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, Field, model_validator

from planner.errors import AT_MOST, ParseError, SchemaError
from planner.quantity import plural
from planner.reader.bound import Budget
from planner.reader.complaint import checked, checked_list
from planner.reader.show import Path, place, plain, shown
from planner.reader.source import GZIP_MAGIC, gunzip, megabytes
from planner.reader.yaml_text import parse_yaml
from planner.reader.yunikorn_files import PACKED_KEY, QUEUES_KEY
from planner.state.base import Bool, Schema
from planner.state.yunikorn import (
    DEFAULT_PARTITION,
    DRAINING,
    MAX_COUNT,
    ROOT,
    InForce,
    InstanceExtra,
    NotNegative,
    Partition,
    PartitionConfig,
    PreemptionSwitches,
    QueueConfig,
    QueueResources,
    QueuesConfig,
    Resource,
    inherited,
)
from planner.state.yunikorn_release import NEWEST, V1_9, Release
from planner.state.yunikorn_usage import Names, QueueState, none_is_empty

_OF_DYNAMIC: Final = {
    "preemption.policy": "default",
    "preemption.delay": "30s",
    "application.unschedasks.backoff": "0",
    "application.unschedasks.backoff.delay": "30s",
    "application.sort.policy": "fifo",
    "application.sort.priority": "enabled",
    "quota.preemption.delay": "0s",
}
"""What holds in a queue that inherits nothing, made by the core or draining, but for that."""
EXPECTED: Final = "queues.yaml, its ConfigMap, or the full state dump of the core"
MOST_UNPACKED: Final = 8 * 2**20
"""Bytes of queues.yaml in a ConfigMap at most: packed, Kubernetes keeps no more than some 1 MiB."""
_PACKED: Final = f'gzip in base64, under "{PACKED_KEY}" in binaryData'

OTHER_AMOUNTS: Final = (
    "the core counts other amounts as allocated than its allocations in the dump add up to, which "
    "are used here"
)
ROOT_IGNORED: Final = "the core reads no resources of a queue that is named root"

_NAME: Final = re.compile(r"[a-zA-Z0-9_:#/@-]{1,64}")
_NAME_EXPECTED: Final = "at most 64 letters, digits and _ : # / @ -"

Json = Mapping[str, Any]
Properties = Mapping[str, str]


class DumpedQueue(InForce):
    """A queue object of a state dump; its properties are the effective ones."""

    queuename: str
    partition: str = ""
    is_leaf: Bool = False
    is_managed: Bool = True
    properties: dict[str, str] = Field(default_factory=dict)
    max_resource: NotNegative = Field(default_factory=dict)
    guaranteed_resource: NotNegative = Field(default_factory=dict)
    allocated_resource: Resource = Field(default_factory=dict)
    max_running_apps: int = Field(default=0, ge=0, le=MAX_COUNT)
    running_apps: int = 0
    allocating_accepted_apps: Names = ()
    status: str = ""
    children: Annotated[tuple[DumpedQueue, ...], BeforeValidator(none_is_empty)] = ()

    @model_validator(mode="before")
    @classmethod
    def _null_means_absent(cls, value: object) -> object:
        if not isinstance(value, dict):
            return value
        return {name: each for name, each in value.items() if each is not None}

    def config(self) -> QueueConfig:
        """Return the queue as in queues.yaml; its amounts are in the core's unit already."""
        inherits_nothing = not self.is_managed or self.status == DRAINING
        return QueueConfig(
            name=self.queuename.rpartition(".")[2],
            parent=not self.is_leaf,
            properties=_OF_DYNAMIC | self.properties if inherits_nothing else self.properties,
            resources=QueueResources.model_construct(
                guaranteed=self.guaranteed_resource, max=self.max_resource
            ),
            maxapplications=self.max_running_apps,
            managed=self.is_managed,
            queues=tuple(child.config() for child in self.children),
        )


class DumpedPartition(Schema):
    """A partition object of a state dump."""

    name: str
    preemption_enabled: Bool = True
    quota_preemption_enabled: Bool = False


def written_queues(value: object, where: str, budget: Budget | None = None) -> tuple[Json, str]:
    """Return queues.yaml as an object, and where it stands.

    It is made of a text, or of the ConfigMap ``yunikorn-configs``.

    A text may have as many values as the budget leaves.

    Raises ``InputError`` if the value is not queues.yaml.
    """
    if isinstance(value, str):
        # The core reads what is written as a number where it wants a text, such as a name.
        parsed = parse_yaml(value, where, budget, as_written=True)
        documents = [one for one in parsed if one is not None]
        if len(documents) != 1:
            raise SchemaError(where, f"has {len(documents)} documents, not one", EXPECTED)
        value = documents[0]
    if isinstance(value, Mapping) and value.get("kind") == "ConfigMap":
        return written_queues(*_in_config_map(value, where))
    if not isinstance(value, Mapping):
        raise SchemaError(where, f"{shown(value)} is not an object", EXPECTED)
    return value, where


def _in_config_map(value: Json, where: str) -> tuple[str, str, Budget | None]:
    """Return the text of queues.yaml in a ConfigMap, where it stands, and a budget if packed.

    Source: yunikorn-k8shim 23b6b47f pkg/conf/schedulerconf.go ``FlattenConfigMaps``: what is packed
    counts where both are there.
    """
    text, packed = (
        part.get(key) if isinstance(part, Mapping) else None
        for part, key in ((value.get("data"), QUEUES_KEY), (value.get("binaryData"), PACKED_KEY))
    )
    if isinstance(packed, str):
        where = f"{where}: {PACKED_KEY}"
        return _unpacked(packed, where), where, Budget(MOST_UNPACKED)
    if not isinstance(text, str):
        raise SchemaError(where, f'the ConfigMap has no "{QUEUES_KEY}"', EXPECTED)
    return text, f"{where}: {QUEUES_KEY}", None


def _unpacked(text: str, where: str) -> str:
    """Return the text that was packed with gzip, and is written in base64, once or twice.

    Kubernetes writes all binary data in base64; up to 1.4, YuniKorn took what stands there for
    base64, too (yunikorn-k8shim 57f11dc3).
    """
    packed = _of_base64(text, where)
    if not packed.startswith(GZIP_MAGIC):
        packed = _of_base64(packed, where)
    if not packed.startswith(GZIP_MAGIC):
        raise ParseError(where, "is not packed with gzip", _PACKED)
    data = gunzip(packed, where, MOST_UNPACKED + 1)
    if len(data) > MOST_UNPACKED:
        found = f"unpacks to more than the {megabytes(MOST_UNPACKED)} {AT_MOST}"
        raise ParseError(where, found, hint="give queues.yaml as a file of its own").of_kind(
            "too large"
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ParseError(where, "does not unpack to UTF-8 text", EXPECTED) from None


def _of_base64(text: str | bytes, where: str) -> bytes:
    lines = text.encode(errors="replace") if isinstance(text, str) else text
    try:
        return b64decode(b"".join(lines.split()), validate=True)
    except ValueError:
        raise ParseError(where, "is not base64", _PACKED) from None


def read_queues(value: object, where: str) -> QueuesConfig:
    """Read queues.yaml: as text, as a value, or inside its ConfigMap; see `as_config`.

    Raises ``InputError`` if the value is not queues.yaml.
    """
    return as_config(*written_queues(value, where))


def as_config(written: Json, where: str) -> QueuesConfig:
    """Read queues.yaml.

    Every partition has exactly one root, as the core adds it where it is not written.

    Raises ``InputError`` if it cannot be used.
    """
    config = checked(QueuesConfig, written, where, (), QUEUES_KEY)
    partitions = tuple(
        one.model_copy(update={"name": _partition_name(one.name), "queues": (_root(one),)})
        for one in config.partitions
    )
    _check(partitions, where)
    return QueuesConfig(partitions=partitions)


def _with_roots(
    config: QueuesConfig, changed: Callable[[PartitionConfig, QueueConfig], QueueConfig]
) -> QueuesConfig:
    """Return queues.yaml with other root queues, each made of its partition and the root before."""
    return QueuesConfig(
        partitions=tuple(
            one.model_copy(update={"queues": (changed(one, one.queues[0]),)})
            for one in config.partitions
        )
    )


def in_force(config: QueuesConfig) -> tuple[QueuesConfig, tuple[str, ...]]:
    """Return queues.yaml without the resources that the core passes over, and remarks on them.

    It reads none of a queue with the name ``root``, wherever that stands. A queue with queues below
    it in the file is a parent; one without is none, even if queues that drain are below.

    Source: yunikorn-core be3bb487, scheduler/objects/queue.go (applyConf).
    """
    ignored: list[str] = []

    def read(queue: QueueConfig, path: str) -> QueueConfig:
        below = tuple(read(each, f"{path}.{each.name.lower()}") for each in queue.queues)
        is_parent = queue.parent or bool(below)
        update: dict[str, object] = {"queues": below, "parent": is_parent, "managed": True}
        if path.endswith(f".{ROOT}") and (queue.resources.guaranteed or queue.resources.max):
            ignored.append(f"{ROOT_IGNORED}: {path}")
            update["resources"] = QueueResources.blank()
        return queue.model_copy(update=update)

    return _with_roots(config, lambda _, root: read(root, ROOT)), tuple(ignored)


def read_dumped_queues(objects: Iterable[DumpedQueue], value: Json, where: str) -> QueuesConfig:
    """Make queues.yaml from the partitions and queue objects of a state dump.

    Raises ``InputError`` if there are no queues, or they cannot be used.
    """
    dumped = checked_list(DumpedPartition, value, "partitions", where, "name")
    switches = {
        one.name: PreemptionSwitches(
            enabled=one.preemption_enabled, quotapreemptionenabled=one.quota_preemption_enabled
        )
        for one in dumped
    }
    first = next(iter(switches), DEFAULT_PARTITION)
    partitions = tuple(
        PartitionConfig(
            name=one.partition or first,
            queues=(one.config().model_copy(update={"name": ROOT, "parent": True}),),
            preemption=switches.get(one.partition or first, PreemptionSwitches()),
        )
        for one in objects
    )
    _check(partitions, where)
    return QueuesConfig(partitions=partitions)


def with_what_is_in_force(partition: Partition, queues: Iterable[DumpedQueue]) -> Partition:
    """Return a partition with what a dump says that the core made of its queues, and what runs.

    Dumps before 1.7 do not say the former, and those that somebody trimmed not always the latter.
    """
    roots = [one for one in queues if one.partition == partition.name]
    each = {one.queuename.lower(): one for root in roots for one in _each(root)}
    said = {
        path: one for path, one in each.items() if "is_preemption_fence" in one.model_fields_set
    }
    update: dict[str, object] = {
        "in_force": {path: _part(InForce, one) for path, one in said.items()}
    }
    if any(root.status for root in roots):
        update["queue_states"] = {path: _part(QueueState, one) for path, one in each.items()}
    return partition.model_copy(update=update)


def _part(model: type[Schema], queue: DumpedQueue) -> Schema:
    return model.model_construct(**{name: getattr(queue, name) for name in model.model_fields})


def changed(config: QueuesConfig, x: InstanceExtra, release: Release) -> QueuesConfig:
    """Return queues.yaml as the core has it, which may have had another one before.

    Queues that left it drain, with what they had. Up to 1.8 a queue keeps what it inherited once,
    and takes up only properties of its own. In 1.9 it keeps what neither it nor its parent has any
    more.

    Source: docs/semantics/yunikorn-features.md §24 and §25.
    """
    if x.queues_before is None:
        return config
    states = x.queue_state
    olds = {one.name: one.queues[0] for one in x.queues_before.partitions}
    had = {name: dict(_effective(root, ROOT, {})) for name, root in olds.items()}

    def left(queue: QueueConfig, path: str, known: Mapping[str, Properties]) -> QueueConfig | None:
        below = [left(each, f"{path}.{each.name.lower()}", known) for each in queue.queues]
        queues = tuple(each for each in below if each is not None)
        if not (queues or (path in states and states[path].status == DRAINING)):
            return None
        # Limits go with the file; what is inherited stays, whatever the parent has by now.
        update = {"queues": queues, "properties": {**_OF_DYNAMIC, **known[path]}, "limits": ()}
        return queue.model_copy(update=update)

    roots = {name: left(root, ROOT, had[name]) for name, root in olds.items()}
    drains = tuple(
        PartitionConfig(name=name, queues=(root,)) for name, root in roots.items() if root
    )
    if release < NEWEST:
        anew = release >= V1_9
        config = _with_roots(
            config, lambda one, root: _kept(root, ROOT, {}, had.get(one.name, {}), anew=anew)
        )
    return completed(config, QueuesConfig(partitions=drains))


def _effective(
    queue: QueueConfig, path: str, above: Properties
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the effective properties of a queue and of those below it, by path."""
    effective = inherited(above, queue.properties)
    yield path, effective
    for child in queue.queues:
        yield from _effective(child, f"{path}.{child.name.lower()}", effective)


def _kept(
    queue: QueueConfig,
    path: str,
    above: Properties,
    had: Mapping[str, Properties],
    *,
    anew: bool,
) -> QueueConfig:
    """Return a queue with the properties that it had, and its own; a new one inherits ``above``.

    One that was there inherits only ``anew``. What it had its parent does not pass on.
    """
    own = queue.properties
    passed = inherited(above, own) if anew or path not in had else own
    mine = {**had.get(path, {}), **passed}
    queues = tuple(
        _kept(one, f"{path}.{one.name.lower()}", passed, had, anew=anew) for one in queue.queues
    )
    return queue.model_copy(update={"properties": _OF_DYNAMIC | mine, "queues": queues})


def other_amounts(
    queues: Iterable[DumpedQueue], partitions: Sequence[Partition]
) -> tuple[str, ...]:
    """Return a remark if the core counts other amounts than its allocations in a dump add up to.

    Its lists are made one after the other, and an allocation may come or go in between.
    """
    found = []
    for one in queues:
        partition = next((each for each in partitions if each.name == one.partition), None)
        if partition is None or not one.allocated_resource:
            continue  # the core leaves out what is empty, and so may whoever trims a dump
        sums = _sums(partition)
        for queue in _each(one):
            path = queue.queuename.lower()
            counted, listed = queue.allocated_resource, sums.get(path, {})
            types = sorted({*counted, *listed})
            differing = (t for t in types if counted.get(t, 0) != listed.get(t, 0))
            t = next(differing, None)
            if t is not None:
                found.append(f"{path} ({t} {counted.get(t, 0)}, not {listed.get(t, 0)})")
    if not found:
        return ()
    more = f" and in {plural(len(found) - 1, 'other queue')}" if len(found) > 1 else ""
    return (f"{OTHER_AMOUNTS}: in {found[-1]}{more}",)


def _sums(partition: Partition) -> Mapping[str, Mapping[str, int]]:
    """Return what the allocations below each queue add up to, by path."""
    sums: dict[str, dict[str, int]] = {}
    for application in partition.applications:
        path = application.queue_name.lower()
        for allocation in application.allocations:
            at = path
            while at:
                total = sums.setdefault(at, {})
                for resource, amount in allocation.resource.items():
                    total[resource] = total.get(resource, 0) + amount
                at = at.rpartition(".")[0]
    return sums


def _each(queue: DumpedQueue) -> Iterator[DumpedQueue]:
    yield queue
    for child in queue.children:
        yield from _each(child)


def completed(config: QueuesConfig, dumped: QueuesConfig) -> QueuesConfig:
    """Return queues.yaml with the queues that the core made itself, which only the dump has."""
    roots = {one.name: one.queues[0] for one in dumped.partitions}
    return _with_roots(config, lambda one, root: _completed(root, roots.get(one.name)))


def _completed(queue: QueueConfig, dumped: QueueConfig | None) -> QueueConfig:
    if dumped is None or not dumped.queues:
        return queue
    known = {each.name.lower(): each for each in queue.queues}
    found = {each.name.lower(): each for each in dumped.queues}
    queues = tuple(_completed(each, found.get(name)) for name, each in known.items())
    more = tuple(each for name, each in found.items() if name not in known)
    return queue.model_copy(update={"queues": queues + more})


def _partition_name(written: str) -> str:
    """Return the name of a partition: only the default one may be empty, or in any case."""
    return DEFAULT_PARTITION if written.lower() in {"", DEFAULT_PARTITION} else written


def _root(partition: PartitionConfig) -> QueueConfig:
    """Return the root queue; where it is not written, the core puts one above the queues."""
    queues = partition.queues
    if len(queues) == 1 and queues[0].name.lower() == ROOT:
        return queues[0].model_copy(update={"name": ROOT, "parent": True})
    return QueueConfig(name=ROOT, parent=True, queues=queues)


def _check(partitions: Sequence[PartitionConfig], where: str) -> None:
    """Refuse what the core refuses: a name twice, and a name that no queue can have."""
    if not partitions:
        raise SchemaError(where, "has no queues", EXPECTED)
    names: set[str] = set()
    for one in partitions:
        if one.name.lower() in names:
            raise SchemaError(where, f"partition {shown(one.name)} stands twice", hint="keep one")
        names.add(one.name.lower())
        _check_names(one.queues[0].queues, ROOT, where)


def _check_names(queues: Sequence[QueueConfig], above: str, where: str) -> None:
    names: set[str] = set()
    for queue in queues:
        name = queue.name.lower()
        if not _NAME.fullmatch(name):
            found = f"below {above}: {shown(queue.name)} is not the name of a queue"
            raise SchemaError(where, found, _NAME_EXPECTED)
        path = f"{above}.{name}"
        if name in names:
            raise SchemaError(where, f"queue {path} stands twice", hint="keep one")
        names.add(name)
        _check_names(queue.queues, path, where)


REFUSED: Final = "YuniKorn refuses such a queues.yaml"

_RESOURCES: Final[Mapping[str, Any]] = {"guaranteed": None, "max": None}
_TEMPLATE: Final = {"maxapplications": None, "properties": None, "resources": _RESOURCES}
_QUEUE: Final[dict[str, Any]] = {
    **_TEMPLATE,
    **dict.fromkeys(("name", "parent", "adminacl", "submitacl", "limits")),
    "childtemplate": _TEMPLATE,
}
_QUEUE["queues"] = _QUEUE
_PARTITION: Final = {
    **dict.fromkeys(("name", "placementrules", "limits", "nodesortpolicy", "usergroupresolver")),
    "queues": _QUEUE,
    "preemption": {"enabled": None, "quotapreemptionenabled": None},
}
_FIELDS: Final = {"partitions": _PARTITION, "checksum": None}
"""The fields of each object, with the fields of those below; None where no further one is known."""


def refused(value: Json, config: QueuesConfig) -> tuple[str, ...]:
    """Return a remark with the first reason for which the core refuses queues.yaml, if any.

    It then goes on with the one before. ``value`` is what was read into ``config``; limits, access
    and placement are not looked at. Source: docs/semantics/yunikorn.md §2; yunikorn-core be3bb487,
    common/configs/config.go (ParseAndValidateConfig: no field may be unknown) and
    configvalidator.go (Validate), and scheduler/partition.go (initialPartitionFromConfig).
    """
    reasons = (
        *_unknown(value, _FIELDS, ()),
        *(reason for one in config.partitions for reason in wrong_with(one.queues[0])),
        *_of_root(value),
    )
    return tuple(f"{REFUSED}: {reason}" for reason in reasons[:1])


def _unknown(value: object, known: Mapping[str, Any] | None, path: Path) -> Iterator[str]:
    if known is None:
        return
    if isinstance(value, Sequence) and not isinstance(value, str):
        for i, one in enumerate(value):
            yield from _unknown(one, known, (*path, i))
    elif isinstance(value, Mapping):
        for name, below in value.items():
            at, field = (*path, plain(str(name))), str(name).lower()
            if field in known:
                yield from _unknown(below, known[field], at)
            else:
                yield f"it knows no field {place('', at).removeprefix(': ')}"


def _of_root(value: Json) -> Iterator[str]:
    """Yield that a root is not in lower case: the core takes it for one, and cannot load it."""
    for partition in _member(value, "partitions") or ():
        names = [str(_member(one, "name")) for one in _member(partition, "queues") or ()]
        if len(names) == 1 and names[0] != ROOT and names[0].lower() == ROOT:
            yield f"the root has to be written {ROOT}, not {plain(names[0])}"


def _member(value: Json, name: str) -> Any:  # noqa: ANN401 - any JSON may stand there
    """Return a field of an object that was read, by its name in lower case."""
    return next((each for key, each in value.items() if str(key).lower() == name), None)


def wrong_with(root: QueueConfig) -> Iterator[str]:
    """Yield for what the core refuses the amounts and numbers of a tree."""
    if root.resources.guaranteed or root.resources.max:
        yield "the root may have no resources"
    reasons: list[str] = []
    _guaranteed(root, ROOT, {}, reasons)
    yield from reasons


def _guaranteed(queue: QueueConfig, path: str, most: Resource, reasons: list[str]) -> Resource:
    """Return what is guaranteed to a queue, or else to those below it, and note what is wrong.

    ``most`` is the maximum of the queues above it.
    """
    own, limit = queue.resources.guaranteed, queue.resources.max
    _compare(limit, most, f"max of {path}", "that of a queue above it", reasons)
    _compare(own, limit, f"guaranteed of {path}", "its max", reasons)
    limit = {**most, **{t: min(n, most.get(t, n)) for t, n in limit.items()}}
    below: dict[str, int] = {}
    for child in queue.queues:
        child_path = f"{path}.{child.name.lower()}"
        if queue.maxapplications and not 0 < child.maxapplications <= queue.maxapplications:
            reasons.append(f"maxapplications of {child_path} is not within that of {path}")
        for t, n in _guaranteed(child, child_path, limit, reasons).items():
            below[t] = below.get(t, 0) + n
    _compare(below, own, f"guaranteed below {path}", "its guaranteed", reasons)
    _compare(below, limit, f"guaranteed below {path}", "its max", reasons)
    return own if any(own.values()) else below


def _compare(small: Resource, large: Resource, what: str, than: str, reasons: list[str]) -> None:
    """Note if an amount is beyond another in a type that both have."""
    beyond = next((t for t, n in small.items() if t in large and n > large[t]), None)
    if beyond is not None:
        reasons.append(f"the {what} is more {beyond} than {than}")
