"""An ask of YuniKorn, or a queue above its maximum, in a state: what the core decides for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from planner.plan.base import name_some
from planner.plan.yunikorn import OtherChoice, YuniKornHeldBack
from planner.problem.yunikorn import YuniKornProblem, build_yunikorn_problem
from planner.quota.yunikorn.cluster import Asking, Cluster
from planner.reference.yunikorn.decision import Decision, decide
from planner.reference.yunikorn.outlook import Course, Outlook, look_ahead
from planner.state.kept import Kept
from planner.state.yunikorn import YuniKornState

MOST_NAMED: Final = 10
"""Victims, or asks, that are named at most."""


class Case(Struct, frozen=True, dict=True):
    """One ask in one partition of a state; ``costs`` are those of evictions, where given."""

    state: YuniKornState
    cluster: Cluster
    asking: Asking
    costs: Mapping[str, int] | None = None

    @cached_property
    def decision(self) -> Decision:
        """What the core itself decides."""
        return decide(self.cluster, self.asking)

    @cached_property
    def problem(self) -> YuniKornProblem:
        """The decision in integers, with the allocations that may go."""
        return build_yunikorn_problem(self.cluster, self.asking)

    @cached_property
    def outlook(self) -> Outlook:
        """What the core's cycles make of its decision, where the state is small."""
        state, cluster, asking = self.state, self.cluster, self.asking
        asked = cluster.partition.name, asking.application.application_id, asking.ask.allocation_key
        return _LAST.recall(state, asked, lambda: look_ahead(state, cluster, asking, self.decision))

    @property
    def held_back(self) -> YuniKornHeldBack | None:
        """Why the core does not do for the ask what it decides for it alone, if that is known."""
        course = self.outlook.course
        if course is None:
            return None
        if course.outcome == "hangs":
            return YuniKornHeldBack(why="hangs", text=course.why)
        acts = "act" if course.before[1:] else "acts"
        before = f"{name_some(course.before, MOST_NAMED)} {acts} before it"
        text = f"{before}, and after that the core would {in_words(course)}"
        return YuniKornHeldBack(why="notFirst", text=text, asks=course.before)

    @property
    def may_also(self) -> OtherChoice | None:
        """What else the core may do for the ask, if it is known to leave its choice to chance."""
        other, race = self.outlook.chance, self.outlook.race
        if other is None:
            return None
        return OtherChoice(
            by="race" if race else "order",
            outcome=other.outcome,
            node=other.node,
            victims=other.victims,
            replaces=other.replaces,
        )


_LAST: Final = Kept[Outlook]()
"""The outlook that was found last, by partition, application and ask."""


def in_words(course: Course) -> str:
    """Say what the core does for an ask, as an infinitive."""
    on = f" on {course.node}" if course.node else ""
    return {
        "preempts": f"preempt {name_some(course.victims, MOST_NAMED) or 'nobody'}{on}",
        "allocated": f"allocate it{on}",
        "replaces": f"give it the place of placeholder {course.replaces}",
        "waits": "leave it waiting",
        "hangs": "lock itself",
        "panics": "end with a nil dereference",
    }[course.outcome]
