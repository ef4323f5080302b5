"""Explanations of recorded instances."""

from planner.commands.explain.kueue.inquiry import KueueInquiry
from planner.objective.profiles import Profile
from planner.solver.deadline import Deadline
from planner.solver.start import Given
from tests.solver.truth import Truth


def inquire(truth: Truth, profile: Profile) -> KueueInquiry:
    """Return an inquiry into a recorded instance, with the flavors that were recorded."""
    given = Given(truth.pending, truth.given)
    return KueueInquiry(truth.state, given, profile, None, Deadline())
