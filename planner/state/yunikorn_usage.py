"""What the core says of applications that run, and of what users and groups have.

The queue objects of a state dump say the former, the usage endpoints the latter.

Source: docs/semantics/yunikorn-features.md §18 and §19; yunikorn-core be3bb487,
webservice/dao.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from planner.state.base import Int64, KubernetesObject


def none_is_empty(value: object) -> object:
    """Return a list, or an empty one for ``null``."""
    return () if value is None else value


def _table(value: object) -> object:
    return {} if value is None else value


Names = Annotated[tuple[str, ...], BeforeValidator(none_is_empty)]
Amounts = Annotated[dict[str, Int64], BeforeValidator(_table)]
"""Amounts in the core's units."""


class QueueState(KubernetesObject):
    """What a queue object says of the applications that run, or were given something to start."""

    status: str = ""
    max_running_apps: int = 0
    running_apps: int = 0
    allocating_accepted_apps: Names = ()


class TrackedQueue(KubernetesObject):
    """A queue in the usage of a user or a group, with the limits in force."""

    queue_path: str
    resource_usage: Amounts = Field(default_factory=dict)
    max_resources: Amounts = Field(default_factory=dict)
    max_applications: int = 0
    running_applications: Names = ()
    children: Annotated[tuple[TrackedQueue, ...], BeforeValidator(none_is_empty)] = ()

    @property
    def by_path(self) -> dict[str, TrackedQueue]:
        """The queue and all below it."""
        below = (child.by_path for child in self.children)
        return {self.queue_path: self} | {path: one for each in below for path, one in each.items()}


class Tracked(KubernetesObject):
    """A user or a group of the usage endpoints; ``groups`` of a user are by application."""

    user_name: str = ""
    group_name: str = ""
    groups: Annotated[dict[str, str], BeforeValidator(_table)] = Field(default_factory=dict)
    queues: TrackedQueue | None = None


class Usage(KubernetesObject):
    """What ``/ws/v1/partition/P/usage/users`` and ``/groups`` print."""

    users: Annotated[tuple[Tracked, ...], BeforeValidator(none_is_empty)] = ()
    groups: Annotated[tuple[Tracked, ...], BeforeValidator(none_is_empty)] = ()
