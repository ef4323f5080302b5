"""The way into planning, whichever the scheduler: a state and what the user fixed to a planning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, get_args, overload

from planner.assignment import Assignment, flavor_resources, parse_assignment, read_assignment
from planner.errors import InputError, SchemaError
from planner.garbage import without_garbage_collection
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.quota.preemptor import find_preemptor
from planner.quota.snapshot import take_snapshot
from planner.solver.engine import Deadline
from planner.solver.kep83.planning import Kep83Planning
from planner.solver.kueue.flavors import Flavors
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.solver.kueue.strict import STRICT, StrictPlanning
from planner.solver.pending import only_pending
from planner.solver.yunikorn.planning import YuniKornPlanning, pending_asks, plan_ask
from planner.solver.yunikorn.solve import solve_yunikorn
from planner.state import TIMESTAMP, AnyState, State, YuniKornState, parse_time
from planner.state.kep83 import Kep83, read_rules

AnyPlanning = Planning | YuniKornPlanning
AssignmentInput = Assignment | Mapping[str, Any]
RulesInput = Kep83 | str
"""Rules to plan by: options of KEP-83's, or text that holds them; or ``strict``, Kueue's own with
documented precedence."""


@dataclass(frozen=True, slots=True)
class Given:
    """What a user says of a plan besides its objective: all of it may be left out.

    ``pending`` is who wants in, ``assignment`` the flavors to use (Kueue), ``now`` the clock,
    ``laws`` the side to take where the written laws and the code differ (YuniKorn), ``rules``
    other rules than its own (Kueue), ``certify`` whether to wait for proof trees.
    """

    pending: str | None = None
    assignment: AssignmentInput | None = None
    now: datetime | str | None = None
    laws: str | None = None
    rules: RulesInput | None = None
    certify: bool | None = None


def pending_workloads(state: AnyState) -> tuple[str, ...]:
    """Return everything that waits in a queue, in the order of the dump.

    Workloads of Kueue as namespace/name, asks of YuniKorn by their allocation keys.
    """
    if isinstance(state, YuniKornState):
        return pending_asks(state)
    return tuple(workload.key for workload in state.workloads if workload.is_pending)


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
    if isinstance(state, YuniKornState):
        if given.assignment is not None:
            raise InputError("assignment", "YuniKorn knows no flavors", hint="leave it out")
        if given.rules is not None:
            raise InputError("rules", "YuniKorn has none to choose", hint="leave them out")
        asking = plan_ask(state, given.pending, given.laws, clock_of(given.now), costs)
        asking.certify = given.certify
        return asking
    if given.laws is not None:
        expected = "leave it out: only YuniKorn's written laws and code differ"
        raise InputError("laws", f'"{given.laws}" means nothing for Kueue', hint=expected)
    with without_garbage_collection():
        planning = _start_kueue(state, given, costs)
    planning.certify = given.certify
    return planning


def deadline_after(time_limit: float | None) -> Deadline:
    """Return the deadline of a time limit in seconds; none without one.

    Raises
    ------
    SchemaError
        If it is negative or no number.
    """
    if time_limit is not None and not time_limit >= 0:
        raise SchemaError("time_limit", f"{time_limit} cannot be used", "seconds, 0 or more")
    return Deadline.after(time_limit)


def clock_of(now: datetime | str | None) -> datetime | None:
    """Return the clock that is given as a time or as text.

    Raises
    ------
    SchemaError
        If the text is no RFC 3339 timestamp, or the time names no zone.
    """
    if isinstance(now, str):
        try:
            return parse_time(now)
        except ValueError:
            raise SchemaError("now", f"{now!r} is not a timestamp", TIMESTAMP) from None
    if now is not None and now.tzinfo is None:
        raise SchemaError("now", f"{now} names no time zone", "a datetime with tzinfo")
    return now


def _start_kueue(state: State, given: Given, costs: Mapping[str, int] | None) -> Planning:
    strict = given.rules == STRICT
    options = None if given.rules is None or strict else read_rules(given.rules)
    if options is not None:
        state = _without_fair_sharing(state)
    now = clock_of(given.now)
    flavors = None if given.assignment is None else parse_assignment(given.assignment)
    snapshot = take_snapshot(state, now, flavor_resources(flavors) if flavors else ())
    pending = [key for key, workload in snapshot.waiting.items() if workload.is_pending]
    wanted = given.pending or only_pending(state, pending)
    preemptor = find_preemptor(state, snapshot, wanted)
    fixed = None if flavors is None else read_assignment(flavors, preemptor)
    if options is not None:
        return Kep83Planning(state, snapshot, preemptor, options, costs, fixed)
    kind = StrictPlanning if strict else Planning
    return kind(state, snapshot, preemptor, costs, fixed)


def _without_fair_sharing(state: State) -> State:
    """Return the state as KEP-83 finds it: fair sharing came later."""
    configuration = state.configuration
    if not configuration.fair_sharing_on:
        return state
    edited = configuration.model_copy(update={"fair_sharing": None})
    return state.model_copy(update={"configuration": edited})


def solve(planning: AnyPlanning, profile: Profile, deadline: Deadline) -> AnyPlan:
    """Return the best legal plan under a profile, verified, with its certificate.

    Raises
    ------
    InputError
        If the state cannot tell a term of the profile.
    InternalError
        If the plan fails its verification.
    """
    if isinstance(planning, YuniKornPlanning):
        return solve_yunikorn(planning, profile, deadline)
    return solve_planning(planning, profile, deadline)


def check_flavors(state: AnyState, flavors: Flavors, assignment: AssignmentInput | None) -> None:
    """Refuse flavors to choose where there are none, or where they are fixed.

    Raises
    ------
    InputError
        If they cannot be chosen.
    """
    if flavors not in get_args(Flavors):
        raise SchemaError("flavors", f"{flavors!r} cannot be used", "kueue or optimal")
    if flavors == "kueue":
        return
    if isinstance(state, YuniKornState):
        raise InputError("flavors", "YuniKorn knows no flavors to choose", hint="leave it out")
    if assignment is not None:
        hint = "leave one of the two out"
        raise InputError("flavors", "the assignment has fixed the flavors already", hint=hint)


def check_rules(flavors: Flavors, *, stability: bool) -> None:
    """Refuse what Kueue alone can answer under rules that are not its own.

    Raises
    ------
    InputError
        If flavors are to be chosen, or stability is asked for.
    """
    if flavors != "kueue":
        raise InputError(
            "flavors", "flavors are chosen by Kueue's own rules only", hint="leave it out"
        )
    if stability:
        what = "what victims do next is for Kueue's own rules, not for others"
        raise InputError("stability", what, hint="leave it out")
