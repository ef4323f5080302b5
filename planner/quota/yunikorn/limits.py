"""Limits of users and groups, and how many applications may run: what decides who has a turn.

The core keeps a tracker for each user and each group, with a row for each queue. The usage
endpoints print them; without these they are made from queues.yaml and the applications, which is
the same as long as the file did not change since the applications came.

Source: docs/semantics/yunikorn-features.md §18 and §19; yunikorn-core be3bb487, scheduler/ugm
and scheduler/objects/queue.go (canRunApp, incRunningApps, setAllocatingAccepted).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from planner.quota.yunikorn.resource import Amount, Resource, added_up, min_union, minus_known, plus
from planner.state.yunikorn import Application, Limit, Partition, QueueConfig, by_path
from planner.state.yunikorn_usage import Tracked

ACCEPTED: Final = "Accepted"
"""The state of an application that has not started."""
RUNNING: Final = "Running"
ANYBODY: Final = "*"
"""Whom a limit is for that is for no user, or no group, by name."""
QUEUE_IS_FULL: Final = "Maximum number of running applications reached the queue limit"
USER_IS_FULL: Final = "Maximum number of running applications reached the user/group limit"
USER_QUOTA: Final = "Not enough user quota"
"""What the core says where it passes over an application or an ask."""
_STARTING: Final = frozenset({"", "New", ACCEPTED})

Kind = Literal["users", "groups"]


@dataclass
class Row:
    """What a user or group has in a queue and below, and may have there; 0 is no limit."""

    most: Resource = field(default_factory=dict)
    most_applications: int = 0
    used: Resource = field(default_factory=dict)
    applications: set[str] = field(default_factory=set)


@dataclass
class Started:
    """How many applications run in a queue and below, and which were given something to start."""

    most: int
    running: int
    accepted: set[str]


def ancestry(path: str) -> list[str]:
    """Return the paths from a queue up to the root, such as ``root.a.b``, ``root.a`` and ``root``.

    Paths are in lower case.
    """
    names = path.lower().split(".")
    return [".".join(names[:n]) for n in range(len(names), 0, -1)]


class Limits:
    """What applications of a partition may have and may start; changed by what the core gives."""

    def __init__(self, partition: Partition) -> None:
        self._applications = {one.application_id: one for one in partition.applications}
        self._limits = dict(_limits_below(partition.root))
        self._rows: dict[tuple[Kind, str, str], Row] = {}
        self._groups: dict[str, str] = {}
        usage = partition.usage
        self._tracked: dict[Kind, dict[str, Tracked]] = {}
        if usage is not None:
            self._tracked["users"] = {one.user_name: one for one in usage.users}
            self._tracked["groups"] = {one.group_name: one for one in usage.groups}
        self._started = _started(partition)

    def group(self, application: Application) -> str:
        """Return the one group that an application counts for, or an empty text.

        Without groups it is none; else the first that a queue has a limit for, the leaf first, and
        ``*`` where a queue has that.
        """
        key = application.application_id
        if key not in self._groups:
            own = self._tracked["users"].get(application.user) if self._tracked else None
            told = own.groups.get(key) if own else None
            self._groups[key] = self._chosen(application) if told is None else told
        return self._groups[key]

    def configured(self, path: str) -> Iterator[tuple[str, Sequence[Limit]]]:
        """Yield the queues from a path up to the root that have limits, each with these."""
        for above in ancestry(path):
            if limits := self._limits.get(above):
                yield above, limits

    def _chosen(self, application: Application) -> str:
        if not application.groups:
            return ""
        for _, limits in self.configured(application.queue_name):
            configured = [group for one in limits for group in one.groups]
            named = (one for one in configured if one != ANYBODY and one in application.groups)
            found = next(named, ANYBODY if ANYBODY in configured else None)
            if found is not None:
                return found
        return ""

    def rows(self, application: Application) -> Iterator[tuple[str, Row]]:
        """Yield the rows that count for an application, each with its queue: the leaf first."""
        group = self.group(application)
        for path in ancestry(application.queue_name):
            yield path, self._row("users", application.user, path)
            if group:
                yield path, self._row("groups", group, path)

    def _row(self, kind: Kind, name: str, path: str) -> Row:
        key = (kind, name, path)
        if key not in self._rows:
            self._rows[key] = self._told(*key) if self._tracked else self._counted(*key)
        return self._rows[key]

    def _told(self, kind: Kind, name: str, path: str) -> Row:
        """Return a row of the usage endpoints; one that they lack has only the limit of ``*``."""
        tracked = self._tracked[kind].get(name)
        row = tracked.queues.by_path.get(path) if tracked and tracked.queues else None
        if row is None:
            limit = self._limit(kind, ANYBODY, path) if kind == "users" else None
            return _row_of(limit)
        said = set(row.running_applications)
        return Row(row.max_resources, row.max_applications, row.resource_usage, said)

    def _counted(self, kind: Kind, name: str, path: str) -> Row:
        limit = self._limit(kind, name, path)
        if limit is None and kind == "users":
            limit = self._limit(kind, ANYBODY, path)
        row = _row_of(limit)
        for one in self._having.get((kind, name, path), ()):
            row.applications.add(one.application_id)
            row.used = added_up((row.used, *(held.resource for held in one.allocations)))
        return row

    @cached_property
    def _having(self) -> dict[tuple[Kind, str, str], list[Application]]:
        """The applications that users and groups have in queues: they hold something, or did."""
        found = defaultdict[tuple[Kind, str, str], list[Application]](list)
        for one in self._applications.values():
            if one.allocations or one.application_state not in _STARTING:
                for path in ancestry(one.queue_name):
                    found["users", one.user, path].append(one)
                    found["groups", self.group(one), path].append(one)
        return found

    def _limit(self, kind: Kind, name: str, path: str) -> Limit | None:
        entries = self._limits.get(path, ())
        return next((one for one in entries if name in getattr(one, kind)), None)

    def headroom(self, application: Application) -> Amount:
        """Return what user and group may still have on the path; None where nothing limits them."""
        room: Amount = None
        for _, row in self.rows(application):
            if any(row.most.values()):
                room = min_union(room, minus_known(row.most, row.used))
        return room

    def full_queue(self, application: Application) -> str:
        """Return a queue that runs as many applications as it may, so that this cannot start."""
        for path in ancestry(application.queue_name):
            queue = self._started.get(path)
            if queue is None or not queue.most or application.application_id in queue.accepted:
                continue
            if queue.running + len(queue.accepted) + 1 > queue.most:
                return path
        return ""

    def full_row(self, application: Application) -> str:
        """Return a queue in which the user or group has as many applications as it may."""
        for path, row in self.rows(application):
            counted = application.application_id in row.applications
            if not counted and 0 < row.most_applications < len(row.applications) + 1:
                return path
        return ""

    def count(self, application: Application, amount: Resource) -> None:
        """Count an allocation that the core makes."""
        if application.user:
            for _, row in self.rows(application):
                row.used = plus(row.used, amount)
                row.applications.add(application.application_id)

    def accept(self, application: Application) -> None:
        """Count an application that was given something before it runs."""
        for queue in self._queues(application):
            queue.accepted.add(application.application_id)

    def start(self, application: Application) -> None:
        """Count an application that runs from now on."""
        for queue in self._queues(application):
            queue.accepted.discard(application.application_id)
            queue.running = min(queue.running + 1, queue.most or queue.running + 1)

    def _queues(self, application: Application) -> list[Started]:
        paths = ancestry(application.queue_name)
        return [self._started[path] for path in paths if path in self._started]


def _row_of(limit: Limit | None) -> Row:
    return Row() if limit is None else Row(limit.maxresources, limit.maxapplications)


def _limits_below(queue: QueueConfig, above: str = "") -> Iterator[tuple[str, Sequence[Limit]]]:
    """Yield the limits of a queue and of those below it, by path.

    The core looks for limits by the path in lower case, and keeps them by the path as it is
    written: where that has a capital, they never hold.
    """
    if queue.name == queue.name.lower():
        path = f"{above}{queue.name}"
        yield path, queue.limits
        for child in queue.queues:
            yield from _limits_below(child, f"{path}.")


def _started(partition: Partition) -> dict[str, Started]:
    """Return what runs in each queue, as its object says, or counted where there are no objects."""
    states = partition.queue_states
    if states:
        return {
            path: Started(one.max_running_apps, one.running_apps, {*one.allocating_accepted_apps})
            for path, one in states.items()
        }
    queues = {
        path: Started(queue.maxapplications, 0, set()) for path, queue in by_path(partition.root)
    }
    for one in partition.applications:
        for path in ancestry(one.queue_name) if one.queue_name.lower() in queues else ():
            if one.application_state == RUNNING:
                queues[path].running += 1
            elif one.application_state == ACCEPTED and one.allocations:
                queues[path].accepted.add(one.application_id)
    return queues
