"""Pareto fronts equal those of all recorded legal sets, and every point is proved."""

from __future__ import annotations

from itertools import islice

import pytest

import planner
from planner.errors import SchemaError
from planner.objective.profile_file import parse_front
from planner.objective.profiles import Measure
from planner.plan import Front
from planner.solver.pareto import sweep
from tests.cluster import pending, queue, running, state_of
from tests.conftest import ROOT
from tests.solver.truth import truths, value_of

Point = tuple[int, int]
PAIRS = ("D2,D4", "D4,D2", "D1,D2", "D2,D1", "D7,D4+D5", "D8,D3")


def best_of(points: set[Point]) -> tuple[Point, ...]:
    """Return the points that no other is at least as good as in both."""
    return tuple(
        sorted(
            p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)
        )
    )


def values(front: Front) -> tuple[Point, ...]:
    return tuple(point.values for point in front.points)


@pytest.mark.parametrize(
    ("name", "fair"),
    [
        ("small-classical-flat", False),
        ("small-classical-hier", False),
        ("small-flavors", False),
        ("small-fair-flat", True),
    ],
)
@pytest.mark.parametrize("pair", PAIRS)
def test_front_is_that_of_all_legal_sets(name: str, pair: str, *, fair: bool) -> None:
    first, second = parse_front(f"pareto:{pair}")
    compared = 0
    for truth in islice((t for t in truths(name, 5, fair=fair) if t.legal), 12):
        compared += 1
        front = sweep(truth.solve, first, second)
        terms = truth.measured().terms
        points = {(value_of(t, first), value_of(t, second)) for t in terms.values()}
        plans = [point.plan for point in front.points]
        assert values(front) == best_of(points), truth.id
        assert front.status == "optimal"
        assert {plan.status for plan in plans} == {"optimal"}
        assert all(frozenset(plan.keys) in truth.legal for plan in plans), truth.id
        assert {plan.objective for plan in plans} == {f"pareto:{pair}"}
    assert compared


def trade(most_points: int) -> Front:
    """One workload of 4 gpus that ran long, or two of 2 that ran for less, or four of 1."""
    state = state_of(
        queue("a", 12, within="LowerPriority"),
        running("big", "a", 4, minute=10),
        [item for i in range(2) for item in running(f"half-{i}", "a", 2, minute=40)],
        [item for i in range(4) for item in running(f"small-{i}", "a", 1, minute=55)],
        pending("a", 4),
    )
    return sweep(lambda p: planner.solve(state, objective=p), ("D2",), ("D4",), most_points)


def test_less_work_lost_for_more_evictions() -> None:
    """One of 4 gpus lost 3000 s; two of 2 lost 1200 s; one of 2 and two of 1; four of 1, 300 s."""
    front = trade(20)
    assert values(front) == ((1, 12_000), (2, 4_800), (3, 3_000), (4, 1_200))
    assert front.status == "optimal"
    assert front.explanation.startswith("4 points; proved that no other plan is better")


def test_a_sweep_that_ends_early_says_so() -> None:
    front = trade(2)
    assert values(front) == ((1, 12_000), (2, 4_800))
    assert (front.status, front.complete) == ("feasible", False)
    assert front.explanation == "the first 2 points; there may be more"


def test_no_plan_is_an_empty_front() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    front = sweep(lambda p: planner.solve(state, objective=p), ("D2",), ("D4",))
    assert front.points == ()
    assert (front.status, front.complete) == ("infeasible", True)
    assert front.greedy.place == "none"


def test_yunikorn_has_fronts_too() -> None:
    state = planner.read(ROOT / "instances" / "yunikorn" / "quickstart")
    front = sweep(lambda p: planner.solve(state, objective=p), ("D4",), ("D2",))
    assert front.complete
    assert values(front) == best_of(set(values(front)))
    assert all(planner.verify(state, point.plan).accepted for point in front.points)


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("pareto:D2,D4", (("D2",), ("D4",))),
        ("pareto:D4+D5, D8", (("D4", "D5"), ("D8",))),
    ],
)
def test_measures_of_a_front(text: str, measures: tuple[Measure, Measure]) -> None:
    assert parse_front(text) == measures


@pytest.mark.parametrize(
    "text", ["D2,D4", "pareto:", "pareto:D2", "pareto:D2,D2", "pareto:D2,D4,D8", "pareto:D2,x"]
)
def test_other_fronts_are_refused(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_front(text)
    assert caught.value.where == "objective"
