"""The way into planning, whichever the scheduler: a state and what the user fixed to a planning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Protocol, overload

from planner.objective.profiles import Profile
from planner.objective.terms import TermTable
from planner.plan import AnyPlan
from planner.problem.array import BoolArray
from planner.scheduler import Part
from planner.solver.engine import Deadline
from planner.solver.given import Given, Wanted
from planner.solver.kueue.planning import Planning
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.state import AnyState, State, YuniKornState


class AnyPlanning(Protocol):
    """A preemptor that is ready for planning, whichever its scheduler."""

    table: TermTable

    @property
    def scheduler(self) -> str:
        """The id of the scheduler."""
        ...

    @property
    def eligible(self) -> BoolArray:
        """Whom no law excludes by itself: (W,) of all that run."""
        ...

    @property
    def preemptor_key(self) -> str:
        """The key of who wants in."""
        ...

    @property
    def keys(self) -> Sequence[str]:
        """The keys of all that run, by their positions."""
        ...

    def adopt(self, profile: Profile) -> Profile:
        """Let the terms count what an objective asks for; return its levels in this state."""
        ...

    def greedy_plan(self) -> AnyPlan:
        """Return what the scheduler itself would do, verified."""
        ...

    def greedy_positions(self) -> list[int]:
        """Return the scheduler's own victims as positions."""
        ...


class Planner(Protocol):
    """What planning asks of a scheduler."""

    def pending(self, state: AnyState) -> tuple[str, ...]:
        """Return everything that waits in a queue, in the order of the dump."""
        ...

    def check(self, given: Given, wanted: Wanted) -> None:
        """Refuse what this scheduler cannot be asked."""
        ...

    def start(self, state: AnyState, given: Given, costs: Mapping[str, int] | None) -> AnyPlanning:
        """Make a preemptor ready for planning."""
        ...

    def solve(self, planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
        """Return the best legal plan under a profile, verified."""
        ...

    def answer(
        self, planning: AnyPlanning, profile: Profile, deadline: Deadline, wanted: Wanted
    ) -> AnyPlan:
        """Return the best legal plan with all else that a user asks for, or sees unasked."""
        ...

    def is_outside(self, greedy: AnyPlan, plans: Sequence[AnyPlan], terms: Sequence[str]) -> bool:
        """Say whether the scheduler's own plan is none that the best plans are chosen from.

        ``terms`` are what they were chosen by.
        """
        ...


PLANNER: Final = Part[Planner]("planning")


def pending_workloads(state: AnyState) -> tuple[str, ...]:
    """Return everything that waits in a queue, in the order of the dump.

    Workloads of Kueue as namespace/name, asks of YuniKorn by their allocation keys.
    """
    return PLANNER.of(state).pending(state)


@overload
def start(state: State, given: Given, costs: Mapping[str, int] | None = ...) -> Planning: ...
@overload
def start(
    state: YuniKornState, given: Given, costs: Mapping[str, int] | None = ...
) -> YuniKornPlanning: ...
@overload
def start(state: AnyState, given: Given, costs: Mapping[str, int] | None = ...) -> AnyPlanning: ...
def start(state: AnyState, given: Given, costs: Mapping[str, int] | None = None) -> AnyPlanning:
    """Make a pending workload or ask ready for planning; ``costs`` are given per key.

    Raises
    ------
    InputError
        If it cannot be planned for, or something given means nothing there.
    """
    return PLANNER.of(state).start(state, given, costs)


def solve(planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises
    ------
    InputError
        If the state cannot tell a term of the profile.
    InternalError
        If the plan fails its verification.
    """
    return PLANNER.of(planning).solve(planning, profile, deadline)
