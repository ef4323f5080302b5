"""However little effort each question gets: never worse than the scheduler's own plan.

Questions are given up at random, as a time limit gives them up: with what was known before, or
with a solution that nobody proved best.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import inf
from typing import Final

import pytest

from planner.models.shared.builder import Builder, Linear
from planner.objective.profiles import PROFILES, Measure, Profile
from planner.solver import answer as comparison
from planner.solver import engine, levels
from planner.solver.deadline import Deadline, Trees
from planner.solver.engine import run_engine
from planner.solver.finder import Answer, find_within, solve_levels
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import prepare, settled
from planner.solver.levels import BRIEF, SHORT, THOROUGH
from planner.solver.proving.grow import Effort, Grown
from planner.solver.search import Outcome, Run, Search
from planner.solver.start import Given, solve, start
from planner.solver.yunikorn.planning import YuniKornPlanning
from planner.solver.yunikorn.start import prepare_ask, settled_ask
from planner.state import AnyState
from planner.state.kueue import State
from tests import cluster
from tests.cluster import PENDING, cohort, fair_sharing, pending, preempt, queue, running
from tests.conftest import TEST_ALL
from tests.solver.test_core import crowd
from tests.told import told
from tests.yunikorn.building import state_of
from tests.yunikorn.random_clusters import random_cluster

MANY: Final = 10 if TEST_ALL else 1
OBJECTIVES: Final = ("no-regret", "least-disruption", "min-count", "fewest-tenants", "weighted")


class Cut:
    """Runs models, or gives up: what is cut is drawn anew for each plan."""

    def __init__(self) -> None:
        self.chance = random.Random(0)  # noqa: S311 - test data
        self.cut = 0

    def __call__(
        self,
        builder: Builder,
        objective: Linear | None,
        deadline: Deadline,
        hint: Mapping[int, int] | None = None,
        effort: float = inf,
    ) -> Run:
        """Run a model with as much effort as it likes, or little, or none."""
        kind = self.chance.choice(["any", "any", "none", "whole"])
        if kind == "whole":
            return run_engine(builder, objective, deadline, hint, effort)
        self.cut += 1
        if kind == "none":
            return Run("unknown")
        # Some solution, as an attempt cut short leaves it.
        found = run_engine(builder, None, deadline, effort=effort)
        return Run("feasible", found.solution) if found.solution else Run("unknown")


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> Cut:
    made = Cut()
    monkeypatch.setattr(engine, "run_engine", made)
    return made


def crowds() -> Iterator[tuple[AnyState, Given]]:
    for seed in range(60 * MANY):
        state = crowd(seed, 6) if seed % 2 else crowd(seed, 4, fair_sharing())
        yield state, Given(PENDING, preempt(state))


def asks() -> Iterator[tuple[AnyState, Given]]:
    for seed in range(200 * MANY):
        yield state_of(random_cluster(seed, plain=seed % 2 == 0, twins=seed % 3 == 0)), Given("ask")


def searched(state: AnyState, given: Given, profile: Profile) -> tuple[Search, Answer, bool] | None:
    """Search a question, and say whether it started from the scheduler's own plan."""
    planning = start(state, given)
    planning.set_objective(profile)
    if isinstance(planning, Planning):
        if settled(planning):
            return None
        greedy = planning.greedy_plan()
        found_some, within = bool(greedy.victims), not greedy.outside_rules
        found = prepare(planning, profile, Deadline(), greedy)
    else:
        assert isinstance(planning, YuniKornPlanning)
        if settled_ask(planning):
            return None
        own = planning.greedy_plan()
        ready = prepare_ask(planning, profile, Deadline(), own)
        found_some, found, within = bool(own.victims), ready.search, ready.within
    return found, solve_levels(found, profile.levels), found_some and within


@pytest.mark.parametrize("source", [crowds, asks])
def test_never_worse_than_the_schedulers_own(
    source: Callable[[], Iterator[tuple[AnyState, Given]]], cut: Cut
) -> None:
    compared = unproved = 0
    for number, (state, given) in enumerate(source()):
        profile = PROFILES[OBJECTIVES[number % len(OBJECTIVES)]]
        planning = start(state, given)
        planning.set_objective(profile)
        greedy = planning.greedy_plan()
        done = searched(state, given, profile)
        if done is None:
            continue
        found, answer, from_greedy = done
        unproved += answer.outcome == "feasible"
        if from_greedy:
            compared += 1
            terms = [sum(greedy.terms[term] for term in level) for level in profile.levels]
            assert values(found, profile.levels) <= terms, number
    assert cut.cut
    assert compared >= 15
    assert unproved >= 5


def values(done: Search, levels: Sequence[Measure]) -> list[int]:
    return [done.value(level, done.answer) for level in levels]


def test_a_cap_that_is_not_decided_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """All levels are proved, and the plan is not called optimal."""
    decide = find_within
    undecided = 0

    def given_up(trial: Search, measure: Measure, most: int) -> Outcome:
        nonlocal undecided
        undecided += 1
        return "unknown" if undecided == 1 else decide(trial, measure, most)

    monkeypatch.setattr(comparison, "find_within", given_up)
    state = crowd(3, 6)
    plan = solve(start(state, Given(PENDING, preempt(state))), PROFILES["no-regret"], Deadline())
    assert undecided
    assert plan.status == "feasible"
    told(plan.explanation)
    assert plan.certificate is not None
    assert {level.proof for level in plan.certificate.levels} == {"certified"}


def seventy_sizes() -> State:
    """Return a state whose lost work is hard to prove least: seventy sizes to add up."""
    draw = random.Random(12)  # noqa: S311 - it only has to be the same each time
    victims = [
        running(f"w{i}", "borrower", {"gpu": draw.randint(20, 90)}, minute=draw.randint(1, 50))
        for i in range(70)
    ]
    return cluster.state_of(
        cohort("all"),
        queue("lender", {"gpu": 5000}, "all", reclaim="Any"),
        queue("borrower", {"gpu": 0}, "all"),
        *victims,
        pending("lender", {"gpu": 4000}),
    )


def test_where_no_brief_tree_is_found_the_level_is_not_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tree of the lost work takes more steps than a brief one may."""
    brief = Effort(steps=20, entries=150_000, largest=20)
    for efforts in (levels.EFFORTS, levels.LATER):
        monkeypatch.setitem(efforts, "brief", brief)
    state = seventy_sizes()
    profile = PROFILES["min-lost-work"]
    longest, proofs, plans = [], [], []
    for certify in (None, "brief"):
        plan = solve(start(state, Given(certify=certify)), profile, Deadline())
        assert plan.certificate is not None
        longest.append(max(len(tree.steps) for tree in plan.certificate.trees))
        proofs.append({level.proof for level in plan.certificate.levels})
        plans.append((plan.status, plan.keys))
    assert longest[1] <= brief.steps < longest[0]
    assert proofs == [{"certified"}, {"certified", None}]
    assert [status for status, _ in plans] == ["optimal", "feasible"]
    assert plans[0][1] == plans[1][1]


@pytest.mark.parametrize(
    ("certify", "first", "later"),
    [(None, SHORT, BRIEF), ("brief", BRIEF, BRIEF), (True, THOROUGH, THOROUGH)],
)
def test_after_a_level_without_a_tree_only_short_ones_are_tried(
    monkeypatch: pytest.MonkeyPatch, certify: Trees, first: Effort, later: Effort
) -> None:
    """But for --certify, which tries each level with all that a tree may take."""
    asked: list[Effort] = []

    def nothing(*given: object) -> Grown:
        asked.extend(one for one in given if isinstance(one, Effort))
        return Grown()

    monkeypatch.setattr(levels, "grow", nothing)
    profile = PROFILES["no-regret"]
    plan = solve(start(seventy_sizes(), Given(certify=certify)), profile, Deadline())
    assert plan.status == "feasible"
    whole = [effort for effort in asked if effort != levels.GLANCE]
    assert len(whole) > 2
    assert whole == [first, *[later] * (len(whole) - 1)]
