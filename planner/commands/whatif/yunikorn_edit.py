"""Edits of a state of YuniKorn, written as ``OBJECT.FIELD=VALUE``, and what they could set.

============================================= =================================================
``queue/PATH.guaranteed.RESOURCE``            a quantity as in queues.yaml, or ``none``
``queue/PATH.max.RESOURCE``                   likewise
``queue/PATH.preemption.policy``              default, fence, disabled
``queue/PATH.preemption.delay``               a duration such as 30s or 1m30s
``queue/PATH.priority.policy``                default, fence
``queue/PATH.priority.offset``                a whole number
``queue/PATH.maxapplications``                how many applications may run, 0 for any number
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
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from planner.commands.whatif.edit import (
    ABSENT,
    Editable,
    Place,
    Settable,
    Setting,
    Waiting,
    changed,
    replaced,
)
from planner.quota.yunikorn.queue import (
    FENCE,
    PREEMPTION_DELAY,
)
from planner.reader.yunikorn_queues import REFUSED, wrong_with
from planner.state.clock import parse_duration
from planner.state.yunikorn import (
    DEFAULT,
    DISABLED,
    PREEMPTION_POLICY,
    PRIORITY_OFFSET,
    PRIORITY_POLICY,
    ROOT,
    Application,
    QueueConfig,
    YuniKornState,
    by_path,
    format_yunikorn_quantity,
    parse_yunikorn_quantity,
)
from planner.state.yunikorn_usage import QueueState

EXAMPLE: Final = "queue/root.team-a.guaranteed.memory=64Gi"
KINDS: Final = ("queue", "partition", "application", "ask", "allocation")
LIMITS: Final = ("guaranteed", "max")
PROPERTIES: Final = (PREEMPTION_POLICY, PREEMPTION_DELAY, PRIORITY_POLICY, PRIORITY_OFFSET)
MAX_APPLICATIONS: Final = "maxapplications"
_QUEUE_FIELDS: Final = (
    *(f"{limit}.RESOURCE" for limit in LIMITS),
    *PROPERTIES,
    MAX_APPLICATIONS,
)
POLICIES: Final = {
    PREEMPTION_POLICY: (DEFAULT, FENCE, DISABLED),
    PRIORITY_POLICY: (DEFAULT, FENCE),
}
_CLAIMS: Final[Mapping[str, tuple[tuple[str, ...], Mapping[str, Place]]]] = {
    "application": (("allocations", "requests"), {"priority": ((), "priority")}),
    "ask": (
        ("requests",),
        {"priority": ((), "priority"), "allowPreemptOther": (("x",), "allowPreemptOther")},
    ),
    "allocation": (
        ("allocations",),
        {
            "priority": ((), "priority"),
            "allowPreemptSelf": (("x",), "allowPreemptSelf"),
            "originator": ((), "originator"),
        },
    ),
}
"""Of each kind where an application has its asks and allocations, and what can be set in them."""
_QUANTITY: Final = "a quantity as in queues.yaml, such as 64 or 16Gi, for vcore also 1500m; or none"

_OFFSET: Final = re.compile(r"[+-]?[0-9]{1,10}")

_FIELD_START: Final = re.compile(r"\.(guaranteed|max|preemption|priority)\.")

Steps = tuple[str | int, ...]
"""The way to a part of a state, as `changed` takes it."""


def edited(state: YuniKornState, setting: Setting) -> YuniKornState:
    """Return the state with one value set, as `Editing` says."""
    kind, _, rest = setting.target.partition("/")
    match kind:
        case "queue":
            after = _edit_queue(state, rest, setting)
            old, new = _refused(state), _refused(after)
            kept = [note for note in after.notes if note not in old - new]
            return after.model_copy(update={"notes": (*kept, *sorted(new - old))})
        case "partition":
            names = [one.name for one in state.partitions]
            name, path = setting.split("partition", rest, names, _named(rest))
            if path != "preemption.enabled":
                raise setting.unknown("field of a partition", path, ["preemption.enabled"])
            for place in [place for place, one in enumerate(names) if one == name]:
                part, subject = ("partitions", place, "preemption"), f"partition {name}"
                state = replaced(state, part, "enabled", setting, subject)
            return state
        case "application" | "ask" | "allocation":
            return _edit_claims(state, kind, rest, setting)
    found = f'a state of YuniKorn has no kind "{kind}" to edit'
    raise setting.refused(found, f"one of {', '.join(KINDS)}")


def _refused(state: YuniKornState) -> frozenset[str]:
    """Return in words for what the core refuses the queues of a state, if it does."""
    roots = (partition.root for partition in state.partitions)
    return frozenset(f"{REFUSED}: {reason}" for root in roots for reason in wrong_with(root))


def _named(rest: str) -> str:
    return rest.rpartition(".")[0] or rest


def _applications(state: YuniKornState) -> Iterator[tuple[Steps, Application]]:
    """Yield the steps to every application, and the application."""
    for p, partition in enumerate(state.partitions):
        for a, application in enumerate(partition.applications):
            yield ("partitions", p, "applications", a), application


def _edit_claims(state: YuniKornState, kind: str, rest: str, setting: Setting) -> YuniKornState:
    """Set a field of an ask or allocation, by its key or pod, or of all of an application."""
    parts, fields = _CLAIMS[kind]
    whole, applications = kind == "application", list(_applications(state))
    claims = [
        ((*steps, part, n), (one.application_id,) if whole else (claim.allocation_key, claim.pod))
        for steps, one in applications
        for part in parts
        for n, claim in enumerate(getattr(one, part))
    ]
    names = [one.application_id for _, one in applications]
    if not whole:
        names = [name for _, called in claims for name in called if name]
    name, path = setting.split(kind, rest, names, _named(rest))
    if path not in fields:
        raise setting.unknown(f"field of an {kind}", path, list(fields))
    inner, field = fields[path]
    for steps, called in claims:
        if name in called:
            state = replaced(state, (*steps, *inner), field, setting, f"{kind} {name}")
    return state


def every_queue(state: YuniKornState) -> Iterator[tuple[str, Steps, QueueConfig]]:
    """Yield the path of every queue, the steps to it, and the queue; parents first."""

    def below(
        queue: QueueConfig, above: str, steps: Steps
    ) -> Iterator[tuple[str, Steps, QueueConfig]]:
        path = f"{above}{queue.name.lower()}"
        yield path, steps, queue
        for place, child in enumerate(queue.queues):
            yield from below(child, f"{path}.", (*steps, "queues", place))

    for place, partition in enumerate(state.partitions):
        yield from below(partition.root, "", ("partitions", place, "root"))


def _edit_queue(state: YuniKornState, rest: str, setting: Setting) -> YuniKornState:
    """Set a field of the queue whose path the text begins with, in the partition that has it."""
    ways = [(path, steps) for path, steps, _ in every_queue(state)]
    known = [path for path, _ in ways]
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
        names = ", ".join(one.name for one in state.partitions if path in dict(by_path(one.root)))
        raise setting.refused(f"queue {path} is in several partitions: {names}", "one of its kind")
    limit, _, resource = field.partition(".")
    if path == ROOT and limit in LIMITS:
        raise setting.refused(
            "root has no quota of its own", "a queue below it", "the nodes are what root has"
        )
    queue = dict(ways)[path]
    if limit in LIMITS:
        amount = parse_yunikorn_quantity(setting.value, resource)
        if amount is None and setting.value != ABSENT:
            raise setting.refused(f'"{setting.value}" is not a quantity of YuniKorn', _QUANTITY)
        own = {} if amount is None else {resource: amount}
        return changed(
            state,
            (*queue, "resources", limit),
            lambda now: {name: units for name, units in now.items() if name != resource} | own,
        )
    if field == MAX_APPLICATIONS:
        return _with_applications(state, path, queue, setting)
    value = _property(field, setting)
    return changed(state, (*queue, "properties"), lambda known: {**known, field: value})


def _with_applications(
    state: YuniKornState, path: str, queue: Steps, setting: Setting
) -> YuniKornState:
    """Set how many applications may run in a queue; the dump tells it of the live queue, too."""
    state = replaced(state, queue, MAX_APPLICATIONS, setting, f"queue {path}")
    most = next(one.maxapplications for known, _, one in every_queue(state) if known == path)

    def told(live: Mapping[str, QueueState]) -> Mapping[str, QueueState]:
        return {
            name: one.model_copy(update={"max_running_apps": most}) if name == path else one
            for name, one in live.items()
        }

    return changed(state, (*queue[:2], "queue_states"), told)


def _is_field(path: str) -> bool:
    limit, _, resource = path.partition(".")
    return path in _QUEUE_FIELDS or (limit in LIMITS and bool(resource))


def _property(field: str, setting: Setting) -> str:
    """Return the value of a property, refusing a value that the core would ignore as unreadable."""
    value = setting.value
    if field in POLICIES:
        if value not in POLICIES[field]:
            found = f'"{value}" is not a policy it can have'
            raise setting.refused(found, f"one of {', '.join(POLICIES[field])}")
    elif field == PREEMPTION_DELAY:
        if (parse_duration(value) or 0) <= 0:
            raise setting.refused(f'"{value}" is not a delay', "a duration such as 30s or 1m30s")
    elif not _OFFSET.fullmatch(value) or not -(2**31) <= int(value) < 2**31:
        raise setting.refused(f'"{value}" is not an offset', "a whole number of 32 bits")
    return value


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
    """Yield the queues, parents first; a queue in several partitions cannot be edited."""
    found = list(every_queue(state))
    paths = [path for path, _, _ in found]
    for path, _, queue in found:
        if paths.count(path) == 1:
            rules = (
                Settable(
                    target=f"queue/{path}.{name}",
                    group="Preemption and priority",
                    label=name,
                    value=queue.properties.get(name, ""),
                    choices=POLICIES.get(name, ()),
                )
                for name in PROPERTIES
            )
            most = Settable(
                target=f"queue/{path}.{MAX_APPLICATIONS}",
                group="Applications",
                label="Most that run",
                value=str(queue.maxapplications),
            )
            values = (*_limits(path, queue), *rules, most)
            yield Editable(kind="Queue", name=path, settings=values)


def workloads(state: YuniKornState) -> Iterator[Editable]:
    """Yield the asks, then the allocations."""
    for kind, claims in (("Ask", "requests"), ("Allocation", "allocations")):
        for _, application in _applications(state):
            for one in getattr(application, claims):
                key = one.allocation_key
                yield Editable.of_priority(kind, key, one.pod or key, one.priority)


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
