"""Explanations of recorded instances."""

from __future__ import annotations

from planner.assignment import parse_assignment
from planner.explanation.inquiry import Case, Inquiry
from planner.objective.profiles import Profile
from planner.solver.engine import Deadline
from tests.solver.truth import Truth


def inquire(truth: Truth, profile: Profile) -> Inquiry:
    """Return an inquiry into a recorded instance, with the flavors that were recorded."""
    given = None if truth.given is None else parse_assignment(truth.given)
    return Inquiry(truth.state, Case(truth.pending, profile, assignment=given), Deadline())
