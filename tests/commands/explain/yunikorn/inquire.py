"""Explanations of recorded and of hand-made clusters."""

from typing import Any

import planner
from planner.commands.explain.yunikorn.inquiry import YuniKornInquiry
from planner.commands.explain.yunikorn.record import YuniKornExplanation
from planner.objective.profiles import Profile
from planner.solver.deadline import Deadline
from planner.solver.start import Given
from tests.solver.yunikorn_truth import YuniKornTruth
from tests.yunikorn.building import state_of


def inquire(truth: YuniKornTruth, profile: Profile) -> YuniKornInquiry:
    """Return an inquiry into a recorded line."""
    given = Given(truth.ask, rules=truth.laws)
    return YuniKornInquiry(truth.state, given, profile, None, Deadline())


def explained(
    value: dict[str, Any], victim: str | None = None, objective: str = "no-regret", limit: int = 10
) -> YuniKornExplanation:
    """Explain the ask ``ask`` of a hand-made cluster."""
    return planner.explain(state_of(value), "ask", victim, objective, limit=limit)
