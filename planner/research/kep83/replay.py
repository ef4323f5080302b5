"""A case by KEP-83's rules: its decision, its problem."""

from __future__ import annotations

from planner.problem.kueue import Problem
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.decision import Decision
from planner.research.kep83.options import parse_rules
from planner.research.kep83.problem import build_kep83, compared_costs
from planner.research.kep83.reference import decide_kep83


def decide(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment | None, rules: str
) -> Decision:
    """Return what the algorithm does, under given flavors or those that it assigns."""
    options = parse_rules(rules)
    cost = compared_costs(snapshot, options)
    return decide_kep83(snapshot, preemptor, options, assignment, cost)


def problem(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment, rules: str
) -> Problem:
    """Return the problem, in whose order are the candidates of the KEP."""
    options = parse_rules(rules)
    cost = compared_costs(snapshot, options)
    return build_kep83(snapshot, preemptor, assignment, options, cost).base
