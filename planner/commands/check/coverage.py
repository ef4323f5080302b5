"""What a plan leaves out of its state, which it has to say: else its status means too much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from planner.coverage.answer import covering, uncovered
from planner.laws import Law
from planner.plan import AnyPlan, Verdict
from planner.state import AnyState
from planner.verifier.wording import judge

COVERAGE: Final = Law(
    "CT-09",
    "check_coverage",
    "the plan says what it leaves out of the state",
    "Every feature of the state that may decide about the preemptor, and is not modelled, is named "
    "in the coverage of the plan.",
    "docs/explanation/limits.md",
)


def check_coverage(state: AnyState, plan: AnyPlan) -> Iterator[Verdict]:
    """CT-09: yield a verdict for each feature that a plan leaves out of a state without a word."""
    named = {one.feature for one in plan.coverage}
    for one in uncovered(covering(state), plan):
        if one.feature not in named:
            wrong = f"the plan does not say that it leaves out {one.title}: {one.evidence}"
            yield judge(COVERAGE, [wrong], "")
