"""The way into planning for any scheduler: from a state and what the user fixed to a planning."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from msgspec import Struct

from planner.errors import LOOP, InputError, SchemaError
from planner.objective.profiles import Profile
from planner.objective.terms import TermTable
from planner.plan import AnyPlan, Turn
from planner.plan.asked import AssignmentInput
from planner.plan.base import name_some
from planner.problem.array import BoolArray
from planner.scheduler import OWN, Flavors, scheduler_of
from planner.solver.deadline import Deadline, Trees
from planner.state import AnyState

if TYPE_CHECKING:
    from planner.proof.box import Box
    from planner.solver.proving.program import Suggestion
    from planner.solver.proving.split import ByCase


class Given(Struct, frozen=True):
    """What a user may fix or ask for besides an objective.

    ``pending`` names the preemptor, ``quota`` a queue above its lowered maximum in the place of one
    (YuniKorn), ``assignment`` the flavors to use (Kueue); ``now`` is the clock, ``rules`` are other
    rules than the scheduler's own, or the side to take where its written laws and its code differ;
    ``certify`` says whether to wait for proof trees, ``costs`` are those of evictions, by key. In a
    ``recorded`` decision the modes of the flavors are what Kueue was asked with; elsewhere they are
    facts of the state.

    Kueue's victims queue again: ``stability`` asks whether they would preempt (where that is cheap,
    if ``None``), ``stable`` for a plan after which none would.
    """

    pending: str | None = None
    assignment: AssignmentInput | None = None
    now: datetime | str | None = None
    rules: str | None = None
    certify: Trees = None
    quota: str | None = None
    costs: Mapping[str, int] | None = None
    flavors: Flavors = OWN
    stability: bool | None = None
    stable: bool = False
    recorded: bool = False


def deadline_after(time_limit: float | None) -> Deadline:
    """Return the deadline of a time limit in seconds; none without one.

    Raises `SchemaError` if it is negative or no number.
    """
    if time_limit is not None and not time_limit >= 0:
        raise SchemaError("time_limit", f"{time_limit} cannot be used", "seconds, 0 or more")
    if time_limit is not None and time_limit > sys.float_info.max:  # whole numbers have no end
        time_limit = math.inf
    return Deadline.after(time_limit)


_SHOWN = 10


def only_pending(
    state: AnyState,
    waiting: Sequence[str],
    called: Callable[[str], str] = str,
    idle: Callable[[], Collection[str]] = tuple,
    instead: str = "",
) -> str:
    """Return the only pending workload or ask; where there are several, say how each is called.

    Where there is none, say which ``idle`` ones do not wait though they could, and why, and which
    other commands may be meant, ``instead`` being one of the scheduler's own.

    Raises `InputError` if nothing is pending, or several are.
    """
    if len(waiting) == 1:
        return waiting[0]
    if not waiting:
        hint = f"{instead}planner lint STATE and planner risk STATE need nothing pending"
        why = name_some(idle(), _SHOWN) or "there is nothing to plan for"
        raise InputError(state.source, f"nothing is pending: {why}", hint=hint)
    raise InputError(
        state.source,
        f"{len(waiting)} are pending",
        f"one of them to be named: {name_some([called(one) for one in waiting], _SHOWN)}",
        f"pending=NAME plans for one, {LOOP} for each",
    )


class AnyPlanning(Protocol):
    """A preemptor that is ready for planning, whichever its scheduler.

    ``state`` is the one that it was made from; ``eligible`` is (W,), over all that run: whether no
    law excludes each of them by itself.
    """

    scheduler: str
    state: Any
    preemptor_key: str
    table: TermTable
    eligible: BoolArray

    @property
    def keys(self) -> Sequence[str]:
        """The keys of all that run, by their positions."""
        ...

    def set_objective(self, profile: Profile) -> Profile:
        """Let terms count what an objective asks for; return it with its levels in this state."""
        ...

    def greedy_plan(self) -> AnyPlan:
        """Return what the scheduler itself would do, verified."""
        ...

    @property
    def turn(self) -> Turn:
        """When the scheduler does that."""
        ...

    def greedy_positions(self) -> list[int]:
        """Return the scheduler's own victims as positions."""
        ...

    def broken_by(self, positions: Sequence[int]) -> tuple[str, ...]:
        """Return the laws that victims break, whoever chose them, in words."""
        ...


State_contra = TypeVar("State_contra", contravariant=True)
Plan_contra = TypeVar("Plan_contra", contravariant=True)
Planning_contra = TypeVar("Planning_contra", contravariant=True)
Rules_contra = TypeVar("Rules_contra", contravariant=True)


class Planner(Protocol[State_contra, Plan_contra, Planning_contra, Rules_contra]):
    """What planning asks of a scheduler."""

    def check(self, given: Given) -> None:
        """Refuse what a user cannot fix or ask for under this scheduler."""
        ...

    def start(self, state: State_contra, given: Given) -> AnyPlanning:
        """Make a preemptor ready for planning."""
        ...

    def solve(self, planning: Planning_contra, profile: Profile, deadline: Deadline) -> AnyPlan:
        """Return the best legal plan under a profile, verified."""
        ...

    def answer(
        self, planning: Planning_contra, profile: Profile, deadline: Deadline, given: Given
    ) -> AnyPlan:
        """Return the best legal plan with all else that a user asks for, or sees unasked."""
        ...

    def is_outside(
        self, greedy: Plan_contra, plans: Sequence[Plan_contra], terms: Sequence[str]
    ) -> bool:
        """Say whether the scheduler's own plan is not among those that best plans are chosen from.

        ``terms`` are the terms by which the best ``plans`` were chosen.
        """
        ...

    def lowered_quotas(self, state: State_contra) -> Sequence[str]:
        """Return the queues above their maximum in which it preempts for that, by their paths."""
        ...

    def cases(self, rules: Rules_contra, box: Box, found: Suggestion | None) -> ByCase:
        """Return how a box is split by cases, which make laws linear, or classes that break one."""
        ...


def start(state: AnyState, given: Given) -> AnyPlanning:
    """Make a pending workload or ask ready for planning.

    Raises `InputError` if it cannot be planned for, or its scheduler has no use for a given value.
    """
    return scheduler_of(state).planning.start(state, given)


def solve(planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises `InputError` if a term of the profile cannot be known from the state; `InternalError` if
    the plan fails its verification.
    """
    return scheduler_of(planning).planning.solve(planning, profile, deadline)
