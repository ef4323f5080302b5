"""Which laws of precedence a plan breaks."""

from planner.plan.kueue import Plan
from planner.research.strict.verifier import judge_strictly
from planner.state.kueue import State
from planner.verifier.kueue.plan import match_plan, verify_plan


def strictly_broken(state: State, plan: Plan) -> set[str]:
    """Return which laws of precedence a plan breaks that today's laws accept."""
    assert verify_plan(state, plan).accepted
    found = judge_strictly(match_plan(state, plan))
    laws = {verdict.law for verdict in found.verdicts if not verdict.holds}
    assert found.legal is not bool(laws)
    return laws
