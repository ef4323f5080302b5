"""The way in: a state and a plan of the same scheduler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from planner.commands.check.record import Check
from planner.errors import InputError, SchemaError
from planner.objective.costs import checked_costs
from planner.objective.profile_file import find_profile
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.scheduler import Part
from planner.state import AnyState

CHECKER: Final = Part[Callable[[AnyState, AnyPlan, Profile, Mapping[str, int] | None], Check]](
    "checker"
)
"""What checks plans of a scheduler."""


def check(
    state: AnyState,
    plan: AnyPlan,
    objective: str | Profile | None = None,
    costs: Mapping[str, int] | None = None,
) -> Check:
    """Check a plan, made by anybody: its laws, its values, and the proof tree of every claim.

    No solver is asked, and none is loaded. ``check.accepted`` says that everything holds.

    Parameters
    ----------
    state
        What the plan was made for.
    plan
        The plan, with its certificate.
    objective
        The profile it was made under, as for ``planner.solve``; by default the one of the name
        that the plan gives.
    costs
        The costs it was made under, as for ``planner.solve``.

    Raises
    ------
    InputError
        If the plan is not for this state, or the objective is not the one that it names.
    UnsupportedError
        If its flavors were chosen for least disruption.
    """
    named = plan.objective if objective is None else objective
    profile = named if isinstance(named, Profile) else find_profile(named)
    if profile.name != plan.objective:
        expected = f"{plan.objective}, which the plan was made under"
        raise SchemaError("objective", f"it is {profile.name}", expected)
    if plan.scheduler != state.scheduler:
        raise InputError(state.source, f"the plan is one of {plan.scheduler}, the state is not")
    return CHECKER.of(state)(state, plan, profile, checked_costs(costs))
