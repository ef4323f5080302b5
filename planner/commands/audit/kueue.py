"""Findings about Kueue's victims under documented precedence."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from planner.commands.audit.record import Precedence
from planner.commands.study.instance import Instance
from planner.objective.profiles import PROFILES
from planner.plan.kueue import Plan
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, solve, start
from planner.wing import rule_sets

FEW: Final = 12
"""The most candidates with which documented precedence is judged."""


def precedence(
    asked: Planning, instance: Instance, given: Given, time_limit: float | None, smallest: Plan
) -> Precedence | None:
    """Say whether fewer victims can keep documented precedence; ``smallest`` has the fewest of all.

    Its laws are those that a rule set adds to Kueue's own. ``None`` without one, and with more than
    `FEW` candidates: too many sets break precedence to cut each off.
    """
    added = next((one.name for one in rule_sets() if not one.replaces), None)
    if added is None or int(asked.eligible.sum()) > FEW:
        return None
    planning = start(instance.state, replace(given, rules=added))
    if not isinstance(planning, Planning):
        return None
    if planning.is_lawful(planning.positions(smallest.keys)):
        return Precedence(smallest=True, fewer=True, victims=smallest.keys)
    plan = solve(planning, PROFILES["min-count"], Deadline.after(time_limit))
    found = plan.status in {"optimal", "feasible"}
    fewer = found and len(plan.keys) < len(asked.greedy_plan().keys)
    # No tree knows precedence: the solver's word has to do.
    claimed = plan.certificate is not None and plan.certificate.claimed
    decided = fewer or claimed or plan.status in {"optimal", "infeasible"}
    return Precedence(
        smallest=False, fewer=fewer if decided else None, victims=plan.keys if found else ()
    )
