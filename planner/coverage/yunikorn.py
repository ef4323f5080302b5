"""What is not modelled in a state of YuniKorn, as far as it concerns an ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.coverage.answer import Covering, Feature
from planner.plan import Uncovered
from planner.state.yunikorn import Application, Ask, Partition, QueueConfig, YuniKornState

LIMITS: Final = Feature(
    "user-limits",
    "yunikorn",
    "limits of users and groups",
    "left out",
    "the core also refuses an ask, or a victim's place, by what users and groups may have",
    "docs/semantics/yunikorn.md §3",
)
PREDICATES: Final = Feature(
    "predicates",
    "yunikorn",
    "the shim's predicates",
    "left out",
    "selectors, affinities, ports and volumes decide, too, on which node the pod may run",
    "docs/semantics/yunikorn.md §8",
)
PLACEHOLDERS: Final = Feature(
    "placeholders",
    "yunikorn",
    "placeholders of gangs",
    "left out",
    "an ask of a gang takes the place of a placeholder of its group, and preempts nobody",
    "docs/semantics/yunikorn.md §3",
)
RUNNING: Final = Feature(
    "running-applications",
    "yunikorn",
    "limits on running applications",
    "left out",
    "the core passes over an application that may not start yet, and all its asks",
    "docs/semantics/yunikorn.md §3",
)

FEATURES: Final = (LIMITS, PREDICATES, PLACEHOLDERS, RUNNING)

ACCEPTED: Final = "Accepted"
"""The state of an application that has not started."""


class YuniKornCoverage(Covering):
    """The coverage of one state of YuniKorn, for all asks that wait in it."""

    def __init__(self, state: YuniKornState) -> None:
        self._asks = {
            ask.allocation_key: (partition, application, ask)
            for partition in state.partitions
            for application, ask in partition.asks
        }

    def unmodelled(self, pending: str) -> tuple[Uncovered, ...]:
        """Return what may decide about an ask, given by its key, and is not modelled."""
        there = self._asks.get(pending)
        return () if there is None else tuple(_of_ask(*there))

    def everything(self) -> tuple[Uncovered, ...]:
        """Return what is not modelled for any ask."""
        return tuple(dict.fromkeys(one for key in self._asks for one in self.unmodelled(key)))


def _of_ask(partition: Partition, application: Application, ask: Ask) -> Iterator[Uncovered]:
    path = list(_path(partition, application.queue_name))
    limited = [f"partition {partition.name}"] if partition.limits else []
    limited += [f"queue {name}" for name, queue in path if queue.limits]
    if limited:
        yield LIMITS.found(limited, f"{limited[0]} has limits")
    if ask.x.placement:
        fields = ", ".join(ask.x.placement)
        yield PREDICATES.found([f"pod {ask.pod or ask.allocation_key}"], f"it has {fields}")
    # The core waits for a placeholder of the group, and tries nothing else for the ask.
    group = "" if ask.placeholder else ask.task_group_name
    claims = (*application.allocations, *application.requests)
    held = [one for one in claims if group and one.placeholder and one.task_group_name == group]
    if held:
        found = f"{len(held)} placeholders of its group are left"
        yield PLACEHOLDERS.found([f"placeholder {one.allocation_key}" for one in held], found)
    if application.application_state == ACCEPTED and not application.allocations:
        full = [f"queue {name}" for name, queue in path if _is_full(partition, name, queue)]
        if full:
            found = f"{application.application_id} has not started, and {full[0]} is full"
            yield RUNNING.found(full, found)


def _is_full(partition: Partition, name: str, queue: QueueConfig) -> bool:
    """Say whether a queue runs as many applications as it may.

    One that is accepted counts from its first allocation on.
    """
    if not queue.maxapplications:
        return False
    inside = [
        one for one in partition.applications if f"{one.queue_name.lower()}.".startswith(f"{name}.")
    ]
    running = sum(
        one.application_state == "Running"
        or (one.application_state == ACCEPTED and bool(one.allocations))
        for one in inside
    )
    return running >= queue.maxapplications


def _path(partition: Partition, path: str) -> Iterator[tuple[str, QueueConfig]]:
    """Yield the queues on a path, the root first, each with its path."""
    queue: QueueConfig | None = partition.root
    names = path.lower().split(".")[1:]
    above = partition.root.name
    while queue is not None:
        yield above, queue
        following = names.pop(0) if names else None
        queue = next((one for one in queue.queues if one.name.lower() == following), None)
        above = f"{above}.{following}"
