"""What closes one part of a split leaves out further victims of the whole box at once."""

import pytest

import planner
from planner.solver.proving import grow, rounding
from tests.cluster import PENDING, preempt
from tests.solver.test_core import crowd

LEVEL = "lost_work+restart_cost"


def steps_of_level(seed: int) -> int:
    """Return how many steps the tree of the level takes; the plan with it is checked."""
    state = crowd(seed, 12)
    given = preempt(state)
    plan = planner.solve(state, PENDING, objective="least-disruption", assignment=given)
    assert plan.certificate is not None
    assert planner.check(state, plan, assignment=given).accepted
    trees = {tree.claim: tree for tree in plan.certificate.trees}
    return len(trees[LEVEL].steps)


def test_trees_are_shorter_by_what_closes_one_part(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = (1, 5)
    monkeypatch.setattr(grow, "WITHOUT_PROGRAM", 6)  # else such small trees hardly ask one
    monkeypatch.setattr(rounding, "MOST_NUMBERS", 0)  # rounded sums shorten either tree
    with_it = sum(map(steps_of_level, seeds))
    # No narrowing leaves out so many: all are split off one after the other.
    monkeypatch.setattr(grow, "MORE", 10**9)
    assert with_it < 0.8 * sum(map(steps_of_level, seeds))
