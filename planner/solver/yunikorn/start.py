"""What planning asks of YuniKorn: which asks wait, how one is prepared, and how it is solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planner.errors import InputError
from planner.laws import Spared
from planner.objective.profiles import Profile
from planner.plan import YuniKornPlan
from planner.solver.engine import Deadline
from planner.solver.given import Given, Wanted, clock_of
from planner.solver.yunikorn.planning import YuniKornPlanning, pending_asks, plan_ask
from planner.solver.yunikorn.solve import solve_yunikorn as solve
from planner.state import YuniKornState

__all__ = ["answer", "check", "is_outside", "pending", "solve", "start"]


def pending(state: YuniKornState) -> tuple[str, ...]:
    """Return the keys of all asks that have no allocation yet, in the order of the dump."""
    return pending_asks(state)


def check(given: Given, wanted: Wanted) -> None:
    """Refuse what means something to other schedulers only.

    Raises
    ------
    InputError
        If it is asked for.
    """
    if wanted.flavors != "kueue":
        raise InputError("flavors", "YuniKorn knows no flavors to choose", hint="leave it out")
    if given.assignment is not None:
        raise InputError("assignment", "YuniKorn knows no flavors", hint="leave it out")
    if given.rules is not None:
        raise InputError("rules", "YuniKorn has none to choose", hint="leave them out")
    if wanted.stability or wanted.stable:
        asked = "stability" if wanted.stability else "stable"
        raise InputError(asked, "only Kueue's victims queue again", hint="leave it out")


def start(state: YuniKornState, given: Given, costs: Mapping[str, int] | None) -> YuniKornPlanning:
    """Make an ask ready for planning.

    Raises
    ------
    InputError
        If it cannot be planned for, or something given means nothing here.
    """
    check(given, Wanted())
    planning = plan_ask(state, given.pending, given.laws, clock_of(given.now), costs)
    planning.certify = given.certify
    return planning


def answer(
    planning: YuniKornPlanning, profile: Profile, deadline: Deadline, wanted: Wanted
) -> YuniKornPlan:
    """Return the best legal plan; nothing else is known of an ask."""
    del wanted
    return solve(planning, profile, deadline)


def is_outside(greedy: YuniKornPlan, plans: Sequence[YuniKornPlan], terms: Sequence[str]) -> bool:
    """Say whether the core's own plan breaks a law, or takes whom some best plan spares.

    Plans have pods that opted out, or originators where last-tier victims are counted, only if
    none can do without (law 1), which the core does not heed.
    """
    if greedy.outside_rules:
        return True
    spare: tuple[Spared, ...] = ("opted-out", "last-tier") if "D0" in terms else ("opted-out",)
    return any(
        not greedy.spares(each) and any(plan.spares(each) for plan in plans) for each in spare
    )
