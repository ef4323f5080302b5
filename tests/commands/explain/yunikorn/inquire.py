"""Explanations of recorded and of hand-made clusters."""

from functools import lru_cache
from typing import Any

import planner
from planner.commands.explain.yunikorn.inquiry import YuniKornInquiry
from planner.commands.explain.yunikorn.record import YuniKornExplanation
from planner.objective.profiles import PROFILES
from planner.solver.deadline import Deadline
from planner.solver.start import Given
from tests.solver.yunikorn_truth import YuniKornTruth
from tests.yunikorn.building import state_of


@lru_cache(maxsize=256)
def inquire(truth: YuniKornTruth, objective: str) -> YuniKornInquiry:
    """Return an inquiry into a recorded line, which tests of a file share."""
    given = Given(truth.ask, rules=truth.laws)
    return YuniKornInquiry(truth.state, given, PROFILES[objective], Deadline())


def explained(
    value: dict[str, Any], victim: str | None = None, objective: str = "no-regret", limit: int = 10
) -> YuniKornExplanation:
    """Explain the ask ``ask`` of a hand-made cluster."""
    return planner.explain(state_of(value), "ask", victim, objective, limit=limit)
