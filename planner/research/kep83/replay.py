"""A case by KEP-83's rules: its decision, its problem."""

from __future__ import annotations

from planner.case.kueue import Case
from planner.reference.kueue.decision import Decision
from planner.research.kep83.options import parse_rules
from planner.research.kep83.problem import Kep83Problem, build_kep83, compared_costs
from planner.research.kep83.reference import decide_kep83


def decide(case: Case) -> Decision:
    """Return what the algorithm does, under given flavors or those that it assigns."""
    options = parse_rules(case.options)
    cost = compared_costs(case.snapshot, options)
    return decide_kep83(case.snapshot, case.preemptor, options, case.fixed, cost)


def problem_of(case: Case) -> Kep83Problem:
    """Return the problem, in whose order are the candidates of the KEP."""
    options = parse_rules(case.options)
    cost = compared_costs(case.snapshot, options)
    return build_kep83(case.snapshot, case.preemptor, case.assignment, options, cost)
