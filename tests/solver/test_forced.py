"""A class that every answer has members of is never left out by oversight."""

from __future__ import annotations

from planner.models.kueue.formulation import build_classes
from planner.models.kueue.laws import attempts, eligible, restricted_while_borrowing
from planner.objective.kueue import term_table
from planner.solver.deadline import Deadline
from planner.solver.kueue.rules import KueueRules
from planner.solver.search import Search
from tests.cluster import pending, problem_of, queue, running, state_of


def test_without_a_forced_class_there_is_no_answer() -> None:
    """Both workloads have to go for 3 of 3; looking only at one of them finds nothing."""
    state = state_of(
        queue("a", 3, within="LowerPriority"),
        running("one", "a", 1),
        running("two", "a", 2),
        pending("a", 3),
    )
    problem, snapshot, _ = problem_of(state)
    allowed = eligible(problem)
    restricted = restricted_while_borrowing(problem)
    search = Search(
        rules=KueueRules(
            problem=problem,
            table=term_table(problem, snapshot, allowed),
            attempts=attempts(problem, allowed),
            restricted=restricted,
            judge=lambda _: True,
            finds_places=lambda _: True,
        ),
        classes=build_classes(problem, allowed, restricted, []),
        deadline=Deadline(),
        active=[0, 1],
        lower={0: 1},
    )
    assert search.run_on([1]).outcome == "infeasible"
    assert search.run_on([0, 1]).outcome == "optimal"
    assert search.incumbent == [1, 1]
