"""Explanations of recorded instances."""

from functools import lru_cache

from planner.commands.explain.kueue.inquiry import KueueInquiry
from planner.objective.profiles import PROFILES
from planner.solver.deadline import Deadline
from planner.solver.start import Given
from tests.solver.truth import Truth


@lru_cache(maxsize=256)
def inquire(truth: Truth, objective: str) -> KueueInquiry:
    """Return an inquiry into a recorded instance, with the flavors that were recorded.

    Whatever is asked of it leaves it as it was: tests of a file share it.
    """
    given = Given(truth.pending, truth.given)
    return KueueInquiry(truth.state, given, PROFILES[objective], Deadline())
