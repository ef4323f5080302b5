"""Edits of a state of YuniKorn, written as ``OBJECT.FIELD=VALUE``, and what they could set.

============================================= =================================================
``queue/PATH.guaranteed.RESOURCE``            a quantity as in queues.yaml, or ``none``
``queue/PATH.max.RESOURCE``                   likewise
``queue/PATH.preemption.policy``              default, fence, disabled
``queue/PATH.preemption.delay``               a duration such as 30s or 1m30s
``queue/PATH.priority.policy``                default, fence
``queue/PATH.priority.offset``                a whole number
``partition/NAME.preemption.enabled``         true or false
``application/ID.priority``                   a whole number, for all its asks and allocations
``ask/KEY.priority``, ``allocation/KEY.priority``  a whole number
``ask/KEY.allowPreemptOther``                 true or false: whether it may preempt others
``allocation/KEY.allowPreemptSelf``           true or false: whether it agrees to be preempted
``allocation/KEY.originator``                 true or false: whether it started its application
============================================= =================================================

PATH is that of a queue from root, such as ``root.team-a``; KEY an allocation key, or the
namespace/name of a pod. A resource that is ``none`` is absent, which is not the same as 0. Only
what the dump has can be edited. Source: docs/semantics/yunikorn.md §2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, TypeVar

from planner.commands.whatif.edit import (
    ABSENT,
    Editable,
    Place,
    Settable,
    Setting,
    Waiting,
    replaced,
)
from planner.quota.yunikorn import properties
from planner.state.clock import parse_duration
from planner.state.yunikorn import (
    ROOT,
    Allocation,
    Application,
    Ask,
    Partition,
    QueueConfig,
    Resource,
    YuniKornState,
    format_yunikorn_quantity,
    parse_yunikorn_quantity,
    paths_of,
)

EXAMPLE: Final = "queue/root.team-a.guaranteed.memory=64Gi"
KINDS: Final = ("queue", "partition", "application", "ask", "allocation")
LIMITS: Final = ("guaranteed", "max")
_QUEUE_FIELDS: Final = (
    *(f"{limit}.RESOURCE" for limit in LIMITS),
    properties.PREEMPTION_POLICY,
    properties.PREEMPTION_DELAY,
    properties.PRIORITY_POLICY,
    properties.PRIORITY_OFFSET,
)
POLICIES: Final = {
    properties.PREEMPTION_POLICY: (properties.DEFAULT, properties.FENCE, properties.DISABLED),
    properties.PRIORITY_POLICY: (properties.DEFAULT, properties.FENCE),
}
_ASK_FIELDS: Final[Mapping[str, Place]] = {
    "priority": ((), "priority"),
    "allowPreemptOther": (("x",), "allowPreemptOther"),
}
_ALLOCATION_FIELDS: Final[Mapping[str, Place]] = {
    "priority": ((), "priority"),
    "allowPreemptSelf": (("x",), "allowPreemptSelf"),
    "originator": ((), "originator"),
}
_QUANTITY: Final = "a quantity as in queues.yaml, such as 64 or 16Gi, for vcore also 1500m; or none"

_OFFSET: Final = re.compile(r"[+-]?[0-9]{1,10}")

_FIELD_START: Final = re.compile(r"\.(guaranteed|max|preemption|priority)\.")

AnyClaim = TypeVar("AnyClaim", Ask, Allocation)


def edited(state: YuniKornState, setting: Setting) -> YuniKornState:
    """Return the state with one value set.

    Raises
    ------
    SchemaError
        If the setting names what is not in the state, or gives a value that cannot be.
    """
    kind, _, rest = setting.target.partition("/")
    match kind:
        case "queue":
            return _edit_queue(state, rest, setting)
        case "partition":
            names = [one.name for one in state.partitions]
            name, path = _split(names, rest, "partition", setting)
            return _in_partitions(state, lambda one: _partition(one, name, path, setting))
        case "application":
            names = [app.application_id for one in state.partitions for app in one.applications]
            name, path = _split(names, rest, "application", setting)
            return _in_applications(state, lambda one: _application(one, name, path, setting))
        case "ask" | "allocation":
            return _edit_claim(state, kind, rest, setting)
    found = f'a state of YuniKorn has no kind "{kind}" to edit'
    raise setting.refused(found, f"one of {', '.join(KINDS)}")


def _split(names: Sequence[str], rest: str, what: str, setting: Setting) -> tuple[str, str]:
    """Split a text into the name of something that is there, and a field; names may hold points."""
    fitting = [name for name in names if rest.startswith(f"{name}.")]
    if not fitting:
        raise setting.unknown(what, rest.rpartition(".")[0] or rest, names)
    name = max(fitting, key=len)
    return name, rest.removeprefix(f"{name}.")


def _in_partitions(state: YuniKornState, change: Callable[[Partition], Partition]) -> YuniKornState:
    return state.model_copy(update={"partitions": tuple(map(change, state.partitions))})


def _in_applications(
    state: YuniKornState, change: Callable[[Application], Application]
) -> YuniKornState:
    def changed(partition: Partition) -> Partition:
        applications = tuple(map(change, partition.applications))
        return partition.model_copy(update={"applications": applications})

    return _in_partitions(state, changed)


def _partition(partition: Partition, name: str, path: str, setting: Setting) -> Partition:
    if path != "preemption.enabled":
        raise setting.unknown("field of a partition", path, ["preemption.enabled"])
    if partition.name != name:
        return partition
    return replaced(partition, ("preemption",), "enabled", setting, f"partition {name}")


def _application(application: Application, name: str, path: str, setting: Setting) -> Application:
    if path != "priority":
        raise setting.unknown("field of an application", path, ["priority"])
    if application.application_id != name:
        return application

    def changed(claim: AnyClaim) -> AnyClaim:
        return replaced(claim, (), "priority", setting, f"application {name}")

    allocations = tuple(map(changed, application.allocations))
    requests = tuple(map(changed, application.requests))
    return application.model_copy(update={"allocations": allocations, "requests": requests})


def _edit_claim(state: YuniKornState, kind: str, rest: str, setting: Setting) -> YuniKornState:
    """Set a field of an ask or allocation, found by its key or its pod."""
    names = [
        name
        for partition in state.partitions
        for one in partition.applications
        for claim in (one.requests if kind == "ask" else one.allocations)
        for name in (claim.allocation_key, claim.pod)
    ]
    name, path = _split([name for name in names if name], rest, kind, setting)
    fields = _ASK_FIELDS if kind == "ask" else _ALLOCATION_FIELDS
    if path not in fields:
        raise setting.unknown(f"field of an {kind}", path, list(fields))
    steps, field = fields[path]

    def changed(claim: AnyClaim) -> AnyClaim:
        if name not in {claim.allocation_key, claim.pod}:
            return claim
        return replaced(claim, steps, field, setting, f"{kind} {name}")

    def application(one: Application) -> Application:
        if kind == "ask":
            return one.model_copy(update={"requests": tuple(map(changed, one.requests))})
        return one.model_copy(update={"allocations": tuple(map(changed, one.allocations))})

    return _in_applications(state, application)


def _edit_queue(state: YuniKornState, rest: str, setting: Setting) -> YuniKornState:
    """Set a field of the queue whose path the text begins with, in the partition that has it."""
    known = [path for partition in state.partitions for path in paths_of(partition.root)]
    lower = rest.lower()
    fitting = [path for path in known if lower.startswith(f"{path}.")]
    if not fitting:
        raise setting.unknown("queue", lower, known)
    longest_first = sorted(set(fitting), key=len, reverse=True)
    # A queue may be called like a field: root.max.max.vcore is the max of root.max.
    path = next((one for one in longest_first if _is_field(rest[len(one) + 1 :])), longest_first[0])
    field = rest[len(path) + 1 :]
    if not _is_field(field):
        meant = lower[: start.start()] if (start := _FIELD_START.search(lower)) else path
        if meant not in known:
            raise setting.unknown("queue", meant, known)
        raise setting.unknown(f"field of queue {path}", field, _QUEUE_FIELDS)
    if known.count(path) > 1:
        names = ", ".join(one.name for one in state.partitions if path in paths_of(one.root))
        raise setting.refused(f"queue {path} is in several partitions: {names}", "one of its kind")
    if path == ROOT and field.partition(".")[0] in LIMITS:
        raise setting.refused("root has no quota of its own", "its nodes are what it has")

    def changed(partition: Partition) -> Partition:
        root = _changed_queue(partition.root, path.split("."), field, setting)
        return partition.model_copy(update={"root": root})

    return _in_partitions(state, changed)


def _is_field(path: str) -> bool:
    limit, _, resource = path.partition(".")
    return path in _QUEUE_FIELDS or (limit in LIMITS and bool(resource))


def _changed_queue(
    queue: QueueConfig, steps: Sequence[str], field: str, setting: Setting
) -> QueueConfig:
    """Set a field of the queue that the steps lead to, the first of which is this queue."""
    if queue.name.lower() != steps[0]:
        return queue
    if len(steps) > 1:
        children = tuple(_changed_queue(one, steps[1:], field, setting) for one in queue.queues)
        return queue.model_copy(update={"queues": children})
    limit, _, resource = field.partition(".")
    if limit in LIMITS:
        amounts = _amounts(getattr(queue.resources, limit), resource, setting)
        resources = queue.resources.model_copy(update={limit: amounts})
        return queue.model_copy(update={"resources": resources})
    properties = {**queue.properties, field: _property(field, setting)}
    return queue.model_copy(update={"properties": properties})


def _amounts(amounts: Resource, resource: str, setting: Setting) -> Resource:
    others = {name: amount for name, amount in amounts.items() if name != resource}
    if setting.value == ABSENT:
        return others
    amount = parse_yunikorn_quantity(setting.value, resource)
    if amount is None:
        raise setting.refused(f'"{setting.value}" is not a quantity of YuniKorn', _QUANTITY)
    return {**others, resource: amount}


def _property(field: str, setting: Setting) -> str:
    """Return the value of a property; the core would ignore what it cannot read."""
    value = setting.value
    if field in POLICIES:
        if value not in POLICIES[field]:
            found = f'"{value}" is not a policy it can have'
            raise setting.refused(found, f"one of {', '.join(POLICIES[field])}")
    elif field == properties.PREEMPTION_DELAY:
        if (parse_duration(value) or 0) <= 0:
            raise setting.refused(f'"{value}" is not a delay', "a duration such as 30s or 1m30s")
    elif not _OFFSET.fullmatch(value) or not -(2**31) <= int(value) < 2**31:
        raise setting.refused(f'"{value}" is not an offset', "a whole number of 32 bits")
    return value


PROPERTIES: Final = (
    properties.PREEMPTION_POLICY,
    properties.PREEMPTION_DELAY,
    properties.PRIORITY_POLICY,
    properties.PRIORITY_OFFSET,
)
GROUP: Final = "Preemption and priority"


def waiting(state: YuniKornState, pending: Collection[str]) -> Iterator[Waiting]:
    """Yield the pending asks, each with the queue of its application."""
    wanted = set(pending)
    for partition in state.partitions:
        for application, ask in partition.asks:
            if ask.allocation_key in wanted:
                yield Waiting(
                    key=ask.allocation_key,
                    name=ask.pod or ask.allocation_key,
                    queue=application.queue_name,
                    priority=ask.priority,
                )


def queues(state: YuniKornState) -> Iterator[Editable]:
    """Yield the queues, parents first; one that is in several partitions cannot be edited."""
    found = [one for partition in state.partitions for one in _below(partition.root, "")]
    paths = [path for path, _ in found]
    for path, queue in found:
        if paths.count(path) == 1:
            values = (*_limits(path, queue), *_properties(path, queue))
            yield Editable(kind="Queue", name=path, settings=values)


def workloads(state: YuniKornState) -> Iterator[Editable]:
    """Yield the asks, then the allocations."""
    applications = [one for partition in state.partitions for one in partition.applications]
    for application in applications:
        yield from (_claim("Ask", one) for one in application.requests)
    for application in applications:
        yield from (_claim("Allocation", one) for one in application.allocations)


def _claim(kind: str, claim: Ask | Allocation) -> Editable:
    target = f"{kind.lower()}/{claim.allocation_key}.priority"
    value = str(claim.priority)
    priority = Settable(target=target, group="", label="Priority", value=value)
    return Editable(kind=kind, name=claim.pod or claim.allocation_key, settings=(priority,))


def _below(queue: QueueConfig, above: str) -> Iterator[tuple[str, QueueConfig]]:
    path = f"{above}{queue.name.lower()}"
    yield path, queue
    for child in queue.queues:
        yield from _below(child, f"{path}.")


def _limits(path: str, queue: QueueConfig) -> Iterator[Settable]:
    if path == ROOT:
        return
    known = {limit: getattr(queue.resources, limit) for limit in LIMITS}
    for resource in dict.fromkeys(name for amounts in known.values() for name in amounts):
        for limit, amounts in known.items():
            units = amounts.get(resource)
            yield Settable(
                target=f"queue/{path}.{limit}.{resource}",
                group=resource,
                label=limit.capitalize(),
                value=ABSENT if units is None else format_yunikorn_quantity(units, resource),
            )


def _properties(path: str, queue: QueueConfig) -> Iterator[Settable]:
    for name in PROPERTIES:
        yield Settable(
            target=f"queue/{path}.{name}",
            group=GROUP,
            label=name,
            value=queue.properties.get(name, ""),
            choices=POLICIES.get(name, ()),
        )
