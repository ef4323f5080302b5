"""From queues.yaml and the core's state dump to a state of a YuniKorn cluster.

Three forms are read: an instance (``queues``, ``nodes``, ``applications``), the full state dump
of the core (the same with ``config``), and queues.yaml, also inside its ConfigMap. Source:
yunikorn-semantics.md, sections 2 and 14; yunikorn-core be3bb487, webservice/dao.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from planner.errors import SchemaError
from planner.reader.assemble import canonical_digest
from planner.reader.complaint import schema_error
from planner.reader.items import Item
from planner.reader.show import Path, place, shown
from planner.reader.yaml_text import parse_yaml
from planner.state.base import Schema
from planner.state.yunikorn import (
    ROOT,
    VCORE,
    Application,
    InstanceExtra,
    Partition,
    PartitionConfig,
    PartitionNodes,
    PreemptionSwitches,
    QueueConfig,
    QueueResources,
    QueuesConfig,
    YuniKornState,
)

QUEUES_KEY: Final = "queues.yaml"
DEFAULT_PARTITION: Final = "default"
OPT_OUT_UNKNOWN: Final = (
    "the state dump does not say which pods opted out of preemption or may not preempt others: "
    "all are taken to allow both, unless x.allowPreemptSelf and x.allowPreemptOther say otherwise"
)
EXPECTED: Final = "queues.yaml, its ConfigMap, or the full state dump of the core"

Json = Mapping[str, Any]
Kind = TypeVar("Kind", bound=Schema)


def is_yunikorn(value: object) -> bool:
    """Say whether a JSON value is of YuniKorn: a state dump, an instance or queues.yaml."""
    if not isinstance(value, Mapping):
        return False
    data = value.get("data")
    if value.get("kind") == "ConfigMap":
        return isinstance(data, Mapping) and QUEUES_KEY in data
    names = {str(name).lower() for name in value}
    return "kind" not in names and ("partitions" in names or {"applications", "nodes"} <= names)


def read_queues(value: object, where: str) -> QueuesConfig:
    """Read queues.yaml: as text, as a value, or inside the ConfigMap ``yunikorn-configs``.

    Raises
    ------
    InputError
        If it is not queues.yaml.
    """
    if isinstance(value, str):
        documents = [one for one in parse_yaml(value, where) if one is not None]
        if len(documents) != 1:
            raise SchemaError(where, f"has {len(documents)} documents, not one", EXPECTED)
        value = documents[0]
    if isinstance(value, Mapping) and value.get("kind") == "ConfigMap":
        text = (value.get("data") or {}).get(QUEUES_KEY)
        if not isinstance(text, str):
            raise SchemaError(where, f'the ConfigMap has no "{QUEUES_KEY}"', EXPECTED)
        return read_queues(text, f"{where}: {QUEUES_KEY}")
    return _checked(QueuesConfig, value, where, ())


def read_yunikorn_objects(
    value: object,
    *,
    where: str,
    digest: str | None = None,
    now: int | None = None,
    queues: object = None,
) -> YuniKornState:
    """Read an instance or a full state dump that is parsed already.

    Parameters
    ----------
    value
        What ``json.load`` returns.
    where
        What to call it in messages.
    digest
        The SHA-256 that names it; without it, that of its canonical JSON text.
    now
        The clock in nanoseconds; without it, that of the instance or the time of the dump.
    queues
        queues.yaml in any of its forms; without it, that of the instance or the dump.

    Raises
    ------
    InputError
        If it cannot be used.
    """
    if not isinstance(value, Mapping):
        raise SchemaError(where, f"{shown(value)} is not an object", EXPECTED)
    clock = now if now is not None else value.get("now", value.get("timestamp"))
    if not isinstance(clock, int) or isinstance(clock, bool):
        raise SchemaError(where, 'has no clock: neither "now" nor "timestamp"', "nanoseconds")
    config = _config(value, where, queues)
    nodes = _list_of(PartitionNodes, value, "nodes", where)
    applications = _list_of(Application, value, "applications", where)
    names = [one.name for one in config.partitions]
    return YuniKornState(
        now=clock,
        digest=canonical_digest(value, where) if digest is None else digest,
        source=where,
        notes=_notes(value, applications),
        partitions=tuple(
            Partition(
                name=one.name,
                root=_completed(_root(one), _dumped_root(value, one.name)),
                preemption=one.preemption,
                nodes=tuple(
                    node
                    for part in nodes
                    if _partition_name(part.partition_name, names) == one.name
                    for node in part.nodes_info
                ),
                applications=tuple(
                    application
                    for application in applications
                    if _partition_name(application.partition, names) == one.name
                ),
            )
            for one in config.partitions
        ),
        x=_checked(InstanceExtra, value.get("x") or {}, where, ("x",)),
    )


def _notes(value: Json, applications: Sequence[Application]) -> tuple[str, ...]:
    """Say what a dump without the extra keys cannot tell."""
    claims = (claim for one in applications for claim in (*one.allocations, *one.requests))
    if "config" in value and not any(claim.model_fields_set & {"x"} for claim in claims):
        return (OPT_OUT_UNKNOWN,)
    return ()


def _config(value: Json, where: str, queues: object) -> QueuesConfig:
    """Return queues.yaml: the one given, else that of the dump, else of the instance."""
    if queues is not None:
        return read_queues(queues, where)
    for name in ("config", "queues"):
        if isinstance(value.get(name), Mapping | str):
            return read_queues(value[name], f"{where}: {name}")
    if isinstance(value.get("queues"), Sequence):
        return _config_of_dump(value, where)
    raise SchemaError(where, "has no queues", EXPECTED)


def _config_of_dump(value: Json, where: str) -> QueuesConfig:
    """Make a configuration from the queue objects of a dump that has no ``config``."""
    switches = {
        str(one.get("name")): PreemptionSwitches.model_validate(
            {
                "enabled": bool(one.get("preemptionEnabled", True)),
                "quotapreemptionenabled": bool(one.get("quotaPreemptionEnabled", False)),
            }
        )
        for one in value.get("partitions") or ()
        if isinstance(one, Mapping)
    }
    names = list(switches) or [DEFAULT_PARTITION]
    roots = {name: _dumped_root(value, name) for name in names}
    partitions = tuple(
        PartitionConfig(
            name=name, queues=(root,), preemption=switches.get(name, PreemptionSwitches())
        )
        for name, root in roots.items()
        if root is not None
    )
    if not partitions:
        raise SchemaError(where, "has no queues", EXPECTED)
    return QueuesConfig(partitions=partitions)


def _root(partition: PartitionConfig) -> QueueConfig:
    """Return the root; where it is not written, the core puts one above the queues."""
    queues = partition.queues
    if len(queues) == 1 and queues[0].name.lower() == ROOT:
        return queues[0]
    return QueueConfig(name=ROOT, parent=True, queues=queues)


def _dumped_root(value: Json, partition: str) -> QueueConfig | None:
    """Return the root among the queue objects of a dump, None if there is none."""
    queues = value.get("queues")
    for queue in queues if isinstance(queues, Sequence) else ():
        if isinstance(queue, Mapping) and queue.get("partition") in {partition, None, ""}:
            return _dumped(queue)
    return None


def _dumped(queue: Json) -> QueueConfig:
    """Read a queue object of the dump, whose properties are the effective ones."""
    return QueueConfig(
        name=str(queue.get("queuename", "")).rpartition(".")[2],
        parent=not queue.get("isLeaf", False),
        properties=queue.get("properties") or {},
        resources=QueueResources.model_validate(
            {
                "max": _written(queue.get("maxResource") or {}),
                "guaranteed": _written(queue.get("guaranteedResource") or {}),
            }
        ),
        queues=tuple(_dumped(child) for child in queue.get("children") or ()),
    )


def _written(amounts: Json) -> dict[str, str]:
    """Write amounts of the core's unit as queues.yaml would."""
    return {t: f"{value}m" if t == VCORE else str(value) for t, value in amounts.items()}


def _completed(root: QueueConfig, dumped: QueueConfig | None) -> QueueConfig:
    """Add the queues that the core has made itself, which are in the dump only."""
    if dumped is None or not dumped.queues:
        return root
    known = {queue.name.lower(): queue for queue in root.queues}
    found = {queue.name.lower(): queue for queue in dumped.queues}
    queues = tuple(_completed(queue, found.get(name)) for name, queue in known.items())
    more = tuple(queue for name, queue in found.items() if name not in known)
    return root.model_copy(update={"queues": queues + more})


def _partition_name(written: str, names: Sequence[str]) -> str:
    """Return the name of a partition without the cluster before it, such as ``[mycluster]``."""
    name = written.rpartition("]")[2]
    return name or (DEFAULT_PARTITION if DEFAULT_PARTITION in names else names[0])


def _list_of(kind: type[Kind], value: Json, name: str, where: str) -> tuple[Kind, ...]:
    items = value.get(name)
    if items is None:
        return ()
    if not isinstance(items, list | tuple):
        raise SchemaError(place(where, (name,)), f"{shown(items)} is not a list", EXPECTED)
    return tuple(_checked(kind, item, where, (name, i)) for i, item in enumerate(items))


def _checked(kind: type[Kind], value: object, where: str, path: Path) -> Kind:
    if not isinstance(value, Mapping):
        raise SchemaError(place(where, path), f"{shown(value)} is not an object", EXPECTED)
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        item = Item(where, path, dict(value))
        raise schema_error(item, kind.__name__, error, error.error_count()) from None
