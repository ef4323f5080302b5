"""Findings about Kueue's victims under documented precedence; planning with pods put at will."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from planner.commands.audit.instance import Instance
from planner.commands.audit.record import Precedence
from planner.objective.profiles import PROFILES
from planner.plan.kueue import Plan
from planner.solver.deadline import Deadline
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, solve, start
from planner.wing import rule_sets

FEW: Final = 12
"""The most candidates with which documented precedence is judged."""


def at_will(asked: Planning, instance: Instance, given: Given) -> Planning | None:
    """Prepare planning with pods put wherever there is room; ``None`` where nothing differs.

    A single podset, or group, for which there is room is always placed by Kueue itself, too.

    Source: docs/semantics/kueue-topology.md §7 and §8.2.
    """
    if asked.placement is None or len(asked.floor.groups) <= 1:
        return None
    planning = start(instance.state, replace(given, placement="any"))
    return planning if isinstance(planning, Planning) else None


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
    decided = fewer or plan.status in {"optimal", "infeasible"}
    return Precedence(
        smallest=False, fewer=fewer if decided else None, victims=plan.keys if found else ()
    )
