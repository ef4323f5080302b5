"""Pareto fronts, and levels and caps that users write, equal those of all recorded legal sets."""

import random
from itertools import islice
from pathlib import Path

import pytest

import planner
from planner.cli.exit_code import exit_code
from planner.commands.front.sweep import sweep
from planner.errors import SchemaError
from planner.objective.profile_file import parse_front, read_profile
from planner.objective.profiles import Profile, measure_name
from planner.plan import AnyPlan
from planner.plan.front import Front
from planner.solver.yunikorn.planning import Laws
from tests.benchmarks.large import large
from tests.cluster import pending, queue, running, state_of
from tests.conftest import TEST_ALL, some
from tests.solver.truth import truths, value_of
from tests.solver.yunikorn_truth import LAWS
from tests.solver.yunikorn_truth import truths as yunikorn_truths
from tests.told import told
from tests.yunikorn.legality import SMALL

Point = tuple[int, int]
MOST = 8 if TEST_ALL else 2
"""Lines of a file that are asked for each front; of YuniKorn twice as many."""

PAIRS = (
    "workloads,lost_work",
    "lost_work,workloads",
    "highest_priority,workloads",
    "workloads,highest_priority",
    "excess_freed,lost_work+restart_cost",
    "queues,priority_weight",
)
FILES = (
    ("small-classical-flat", False),
    ("small-classical-hier", False),
    ("small-flavors", False),
    ("small-fair-flat", True),
)


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
    ("pair", "name", "fair"),
    some(((pair, *file) for pair in PAIRS for file in FILES), 5),
)
def test_front_is_that_of_all_legal_sets(name: str, pair: str, *, fair: bool) -> None:
    first, second = parse_front(f"pareto:{pair}")
    compared = 0
    for truth in islice((t for t in truths(name, 5, fair=fair) if t.legal), MOST):
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
        check_greedy(front, points)
    assert compared


def check_greedy(front: Front, points: set[Point]) -> None:
    """Compare where the scheduler's own plan is said to be with all legal points."""
    greedy = front.greedy
    beaten = [n for n, p in enumerate(best_of(points), 1) if dominates(p, greedy.values)]
    if greedy.place == "on":
        assert best_of(points)[greedy.points[0] - 1] == greedy.values
    elif greedy.place == "behind":
        assert list(greedy.points) == beaten
        assert beaten
    elif greedy.place == "outside":
        assert greedy.plan.outside_rules
    else:
        assert (greedy.place, greedy.plan.victims) == ("none", ())


def dominates(point: Point, other: Point) -> bool:
    return point != other and point[0] <= other[0] and point[1] <= other[1]


@pytest.mark.parametrize("laws", LAWS)
@pytest.mark.parametrize(
    "pair",
    [
        "workloads,lost_work",
        "lost_work,workloads",
        "highest_priority,unfairness",
        "last_resort,lost_work",
        "workloads,last_resort",
    ],
)
def test_front_of_yunikorn_is_that_of_all_legal_sets(pair: str, laws: Laws) -> None:
    """Where last-tier victims count, plans that can do without them are the only ones."""
    first, second = parse_front(f"pareto:{pair}")
    x, _, y = pair.partition(",")
    compared = 0
    for truth in (one for name in SMALL for one in yunikorn_truths(name, laws)):
        if not truth.is_searched or compared == 2 * MOST:
            continue
        front = planner.front(truth.state, truth.ask, x, y, rules=laws)
        measured = truth.measured()
        legal = measured.permitted((first, second))
        terms = [measured.terms[victims] for victims in legal]
        points = {(value_of(t, first), value_of(t, second)) for t in terms}
        assert values(front) == best_of(points), truth.id
        assert front.status == ("optimal" if points else "infeasible"), truth.id
        assert all(frozenset(point.plan.keys) in truth.legal for point in front.points), truth.id
        if front.greedy.place in {"on", "behind"}:
            check_greedy(front, points)
        elif front.greedy.place == "outside":
            assert frozenset(front.greedy.plan.keys) not in legal, truth.id
        compared += bool(points)
    assert compared or not SMALL


def test_an_answer_without_proof_or_plan_ends_the_sweep() -> None:
    """Of a sweep that time ends, the plan that was not proved is kept apart."""
    state = state_of(queue("a", 2, within="LowerPriority"), running("w", "a", 2), pending("a", 2))
    whole = sweep(lambda p: planner.solve(state, objective=p), ("workloads",), ("lost_work",))

    def ends_with(status: str, after: int) -> Front:
        answers = 0

        def solve(profile: Profile) -> AnyPlan:
            nonlocal answers
            answers += 1
            plan = planner.solve(state, objective=profile)
            return plan if answers <= after else plan.model_copy(update={"status": status})

        return sweep(solve, ("workloads",), ("lost_work",))

    assert whole.status == "optimal"
    found = ends_with("feasible", 0)
    assert (found.status, found.points, exit_code(found)) == ("feasible", (), 4)
    assert found.unproved is not None
    assert found.unproved.values == whole.points[0].values
    assert found.greedy.place == "open"
    found = ends_with("unknown", 0)
    assert (found.status, found.unproved, exit_code(found)) == ("unknown", None, 5)
    found = ends_with("unknown", 1)
    assert (found.status, len(found.points), exit_code(found)) == ("feasible", 1, 4)
    told(found.explanation)


def test_a_front_is_no_objective_of_one_plan() -> None:
    state = state_of(queue("a", 1), pending("a", 1))
    with pytest.raises(SchemaError) as caught:
        planner.solve(state, objective="pareto:workloads,lost_work")
    told(caught.value)
    assert "planner.front" in caught.value.hint
    for first, second in (
        ("workloads,priority_weight", "lost_work"),
        ("workloads", "workloads"),
        ("workloads", "pareto:lost_work"),
    ):
        with pytest.raises(SchemaError):
            planner.front(state, first=first, second=second)
    with pytest.raises(SchemaError, match="time_limit"):
        planner.front(state, time_limit=-1)


def trade(most_points: int) -> Front:
    """One workload of 4 gpus that ran long, or two of 2 that ran for less, or four of 1."""
    state = state_of(
        queue("a", 12, within="LowerPriority"),
        running("big", "a", 4, minute=10),
        [item for i in range(2) for item in running(f"half-{i}", "a", 2, minute=40)],
        [item for i in range(4) for item in running(f"small-{i}", "a", 1, minute=55)],
        pending("a", 4),
    )
    return sweep(
        lambda p: planner.solve(state, objective=p), ("workloads",), ("lost_work",), most_points
    )


def test_a_sweep_that_ends_early_says_so() -> None:
    front = trade(2)
    assert values(front) == ((1, 12_000), (2, 4_800))
    assert (front.status, front.complete) == ("feasible", False)
    told(front.explanation)


def test_no_plan_is_an_empty_front() -> None:
    state = state_of(queue("a", 1), running("w", "a", 1), pending("a", 1))
    front = sweep(lambda p: planner.solve(state, objective=p), ("workloads",), ("lost_work",))
    assert front.points == ()
    assert (front.status, front.complete) == ("infeasible", True)
    assert front.greedy.place == "none"


@pytest.mark.parametrize(
    "text",
    [
        "workloads,lost_work",
        "pareto:",
        "pareto:workloads",
        "pareto:workloads,workloads",
        "pareto:workloads,lost_work,queues",
        "pareto:workloads,x",
    ],
)
def test_other_fronts_are_refused(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        parse_front(text)
    assert caught.value.where == "objective"


MEASURES = (
    "last_resort",
    "highest_priority",
    "workloads",
    "pods",
    "priority_weight",
    "lost_work+restart_cost",
    "lost_work",
    "excess_freed",
    "queues",
    "unfairness",
    "candidate_order",
    "run_time",
    "victims",
)


def drawn(folder: Path, seed: str) -> Profile:
    """Write a random profile and read it."""
    chance = random.Random(seed)  # noqa: S311 - test data
    levels = chance.sample(MEASURES, chance.randint(1, 5))
    caps = chance.sample(MEASURES, chance.randint(0, 2))
    path = folder / "drawn.toml"
    path.write_text(f"levels = {levels}\ncaps = {caps}\n", encoding="utf-8")
    profile = read_profile(path)
    assert list(map(measure_name, profile.levels)) == levels
    return profile


@pytest.mark.parametrize(
    ("name", "fair"),
    [*FILES, ("small-fair-hier", True)],
)
def test_optimum_is_the_first_of_the_best_legal_sets(
    tmp_path: Path, name: str, *, fair: bool
) -> None:
    compared = 0
    for truth in islice((t for t in truths(name, 3, fair=fair) if t.legal), 30 if TEST_ALL else 4):
        profile = drawn(tmp_path, truth.id)
        plan = truth.solve(profile)
        compared += 1
        assert plan.objective == "drawn"
        assert plan.status == "optimal"
        assert plan.greedy is not None
        assert frozenset(plan.keys) == truth.measured().canonical(profile, plan.greedy), truth.id
    assert compared


@pytest.mark.parametrize("first", ["workloads", "highest_priority", "queues"])
def test_a_bounded_measure_tells_workloads_apart(first: str) -> None:
    """Of workloads that hold the same, those that lost less work keep to the bound on it."""
    front = planner.front(large(100, fair=True), first=first, second="lost_work+restart_cost")
    assert front.points
    assert front.status == "optimal"
