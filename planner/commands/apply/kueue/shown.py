"""The commands that stand at the end of a plan: those of `carry.py`, for the objects of a state."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from planner.commands.apply.kueue.carry import Carrying
from planner.commands.apply.kueue.cluster import Cluster, Surprise
from planner.commands.apply.kueue.fresh import SAME, cannot_be_applied, is_what_kueue_does, remarks
from planner.commands.apply.kueue.ways import Evictions
from planner.kubectl.kueue_resource import WORKLOADS, LiveObject
from planner.plan.kueue import Plan
from planner.plan.record import Command, Commands
from planner.state.kueue import State
from planner.state.kueue_workload import Workload
from planner.state.queues import LocalQueue


class Dumped(Cluster):
    """The objects of a state, whose commands are shown, and none of them run."""

    def __init__(self, state: State, options: Sequence[str]) -> None:
        self._state, self._options = state, options

    @property
    def options(self) -> Sequence[str]:
        """The options that the state was read with, if kubectl read it."""
        return self._options

    def look_at(self, keys: Collection[str]) -> None:
        """Do nothing: all are at hand."""

    def find(self, resource: str, key: str) -> LiveObject | None:
        """Return an object of the state.

        Raises
        ------
        Surprise
            If it has no version that a command could test.
        """
        found: Workload | LocalQueue | None
        if resource == WORKLOADS:
            found = self._state.workloads.find(key)
        else:
            named = ((one.metadata, one) for one in self._state.local_queues)
            like = (one for it, one in named if f"{it.namespace}/{it.name}" == key)
            found = next(like, None)
        if found is None:
            return None
        if not found.metadata.resource_version:
            why = "no command could tell whether it has changed since: planner snapshot keeps it"
            raise Surprise(f"{key} has no resourceVersion in the dump, so that {why}")
        return LiveObject(found.model_dump(mode="json", by_alias=True))


def with_commands(state: State, plan: Plan, options: Sequence[str]) -> Plan:
    """Return a plan for a state with the commands that carry it out, or why there are none.

    ``options`` are those of kubectl that say which cluster it is.
    """
    reason = cannot_be_applied(plan, "eviction") or (SAME if is_what_kueue_does(plan) else "")
    found = Commands(reason=reason)
    if not reason:
        run = Carrying(plan, Evictions(plan, lambda: plan.now), Dumped(state, options))
        try:
            each = ((one.title, run.cluster.command(one)) for one in run.calls())
            steps = tuple(Command(title=title, command=command) for title, command in each)
            found = Commands(steps=steps, notes=tuple(remarks(plan, "eviction")))
        except Surprise as surprise:
            found = Commands(reason=str(surprise))
    return plan.model_copy(update={"commands": found})
