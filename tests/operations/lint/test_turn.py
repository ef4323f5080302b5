"""Who never has a turn is told so by plans, explanations and lint alike."""

from collections import Counter

import planner
from planner.operations.lint.lint import lint
from planner.research.simulate.simulate import simulate
from tests.conftest import TEST_ALL
from tests.research.simulate.test_turn import drawn
from tests.told import told


def test_plans_explanations_and_lint_say_the_same() -> None:
    """Who never gets anything, by a simulation, is told so by all of them."""
    seen: Counter[str] = Counter()
    for state in map(drawn, range(10_000, 10_600) if TEST_ALL else range(10_030, 10_038)):
        ever = {one.by or one.workload for one in simulate(state).timeline}
        starving = {
            name.removeprefix("workload/")
            for found in lint(state).findings
            if found.code == "KL-19"
            for name in found.objects
        }
        for key in state.pending:
            plan = planner.solve(state, key, "min-count")
            assert plan.greedy is not None
            if plan.greedy.in_the_way:
                assert key not in ever
                assert {*plan.greedy.in_the_way} <= starving
                note = plan.greedy.explanation
                assert note in plan.notes
                if not seen["never"]:
                    told(note)
                assert note in planner.explain(state, key).answer
            seen["never" if plan.greedy.in_the_way else "other"] += 1
    assert seen["never"], seen
