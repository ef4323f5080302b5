"""What can be set in a state of YuniKorn, with the values it has: queues, asks, allocations."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from planner.commands.whatif.edit import ABSENT
from planner.commands.whatif.settings import Editable, Settable, Waiting
from planner.commands.whatif.yunikorn_edit import LIMITS, POLICIES
from planner.quota.yunikorn import properties
from planner.state.yunikorn import (
    ROOT,
    Allocation,
    Ask,
    QueueConfig,
    YuniKornState,
    format_yunikorn_quantity,
)

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
