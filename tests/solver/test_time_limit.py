"""However little time there is: an honest answer, and never an exception."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

import planner
from planner.errors import InputError
from planner.models.shared.builder import Builder, Linear
from planner.plan.kueue import Cascade, Plan
from planner.solver import deadline, engine, levels
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.solver.kueue import aftermath
from planner.solver.kueue.aftermath import cascade
from planner.solver.kueue.stability import NOT_KNOWN
from planner.solver.proving.grow import Effort, Grown
from planner.solver.search import Run
from planner.state.kueue import State
from tests.cluster import PENDING, Object, fair_sharing, pending, preempt, queue, running, state_of
from tests.conftest import TEST_ALL, recorded_root
from tests.solver.test_core import crowd
from tests.solver.truth import Truth, truths

FAIR = fair_sharing()
EVERY = 12 if TEST_ALL or recorded_root() is None else 72


def contradictions(hasty: Plan, patient: Plan) -> list[str]:
    """Return what a hasty answer claims that the patient one refutes."""
    wrong = []
    if hasty.status == "infeasible" and patient.status != "infeasible":
        wrong.append("there are answers")
    if hasty.status == "optimal" and hasty.keys != patient.keys:
        wrong.append("it is not the best")
    if hasty.status in {"infeasible", "unknown"} and hasty.victims:
        wrong.append("it names victims without calling them an answer")
    if hasty.certificate and patient.certificate and patient.status == "optimal":
        first = zip(hasty.certificate.levels[:1], patient.certificate.levels[:1], strict=False)
        wrong += [
            f"{ours.term} is {best.value}, not from {ours.bound} to {ours.value}"
            for ours, best in first
            if not ours.bound <= best.value <= ours.value
        ]
    return wrong


@pytest.mark.parametrize("profile", ["no-regret", "min-count", "min-cost"])
@pytest.mark.parametrize("more", [[], FAIR])
def test_without_time_a_crowd_gets_kueues_own_answer_or_none(
    more: list[Object], profile: str
) -> None:
    for seed in range(3):
        state = crowd(seed, 6, more)
        plan = planner.solve(
            state, PENDING, objective=profile, assignment=preempt(state), time_limit=0
        )
        assert plan.greedy is not None
        lawful = plan.greedy.victims and not plan.greedy.outside_rules
        assert plan.status == ("feasible" if lawful else "unknown")
        if lawful:
            assert sorted(plan.keys) == sorted(plan.greedy.keys)
            assert planner.verify(state, plan).accepted


patient = lru_cache(maxsize=256)(partial(Truth.solve, objective="no-regret"))
"""Gives the plan of a recorded line as it is found with time enough, once for all limits."""


@pytest.mark.parametrize("name", ["small-fair-flat", "small-fair-hier", "small-classical-hier"])
@pytest.mark.parametrize("seconds", [0, 0.002])
def test_recorded_lines_get_honest_answers(name: str, seconds: float) -> None:
    hurried = 0
    for truth in truths(name, EVERY, fair="fair" in name):
        plan = truth.solve("no-regret", time_limit=seconds)
        hurried += plan.status in {"feasible", "unknown"}
        assert not contradictions(plan, patient(truth)), truth.id
        check_victims(truth, plan)
    assert hurried or seconds


def check_victims(truth: Truth, plan: Plan) -> None:
    if plan.victims:
        assert frozenset(plan.keys) in truth.legal, truth.id


def test_a_level_that_was_given_up_may_still_improve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workloads stay at the scheduler's own; their weight, which cannot fall alone, goes along."""
    state = crowd(3, 12)
    given_up: list[Linear | None] = []

    def hasty(
        builder: Builder,
        objective: Linear | None,
        deadline: Deadline,
        hint: Mapping[int, int] | None = None,
        effort: float = inf,
    ) -> Run:
        if hint is not None and not given_up:
            given_up.append(objective)
            return Run("unknown")
        return run_engine(builder, objective, deadline, hint, effort)

    monkeypatch.setattr(engine, "run_engine", hasty)
    monkeypatch.setattr(levels, "grow", lambda *_: Grown())  # no tree tells either
    plan = planner.solve(state, PENDING, assignment=preempt(state))
    assert plan.certificate is not None
    assert plan.greedy is not None
    found = {level.term: level for level in plan.certificate.levels}
    assert given_up
    assert plan.status == "feasible"
    assert found["workloads"].proof is None
    assert found["workloads"].bound < found["workloads"].value < plan.greedy.terms["workloads"]
    assert found["workloads"].value == plan.terms["workloads"]


def test_a_tree_that_is_in_vain_leaves_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given = list[float]()

    def in_vain(question: object, until: Deadline, effort: Effort, *_: object) -> Grown:
        del question
        left = until.left()
        assert left is not None
        if effort is not levels.GLANCE:  # which only bounds a level, at the end
            given.append(left)
        return Grown()

    monkeypatch.setattr(levels, "grow", in_vain)
    planner.solve(crowd(0, 6, FAIR), PENDING, objective="min-lost-work", time_limit=1000)
    assert given
    assert max(given) <= 1000 * levels.GROWING


def test_what_needs_no_search_is_proved_without_time() -> None:
    """It fits as it is; or it fits in no flavor."""
    state = state_of(queue("a", 4), running("r", "a", 1), pending("a", 3))
    plan = planner.solve(state, PENDING, time_limit=0)
    assert (plan.status, plan.victims) == ("optimal", ())
    state = state_of(queue("a", 4), running("r", "a", 1), pending("a", 5))
    assert planner.solve(state, PENDING, time_limit=0).status == "infeasible"


def test_a_limit_that_is_no_number_of_seconds_is_refused() -> None:
    state = state_of(queue("a", 4), pending("a", 3))
    for limit in (-1.0, float("nan")):
        with pytest.raises(InputError, match="time_limit"):
            planner.solve(state, PENDING, time_limit=limit)


LIMIT = 3
VICTIMS = 8


@dataclass
class Clock:
    """A clock that only replayed decisions move on, each by a second."""

    now: int = 0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()

    def slow(*args: Any) -> Cascade | None:
        clock.now += 1
        return cascade(*args)

    monkeypatch.setattr(aftermath, "cascade", slow)
    monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


@pytest.fixture
def state() -> State:
    """Return a full queue whose victims, pending again, are above one who holds next to nothing."""
    parts = [*queue("a", 2 * VICTIMS, within="LowerPriority")]
    for number in range(VICTIMS):
        parts += running(f"v{number}", "a", 1, priority=number + 1)
        parts += running(f"w{number}", "a", 1, priority=VICTIMS + 1)
    parts += running("least", "a", 0)
    return state_of([*parts, *pending("a", VICTIMS, priority=99)])


def solve(state: State, limit: float | None = LIMIT, **asked: Any) -> Plan:
    asked |= {"time_limit": limit, "certify": False}
    plan = planner.solve(state, PENDING, **asked)
    assert isinstance(plan, Plan)
    return plan


def test_without_a_limit_everybody_is_asked(state: State, clock: Clock) -> None:
    plan = solve(state, None, stability=True)
    assert plan.stability is not None
    assert clock.now > LIMIT
    assert NOT_KNOWN not in plan.notes


def test_what_was_not_found_out_is_not_said(state: State, clock: Clock) -> None:
    plan = solve(state, stability=True)
    assert clock.now == LIMIT
    assert plan.stability is None
    assert "unstable" not in plan.terms
    assert NOT_KNOWN in plan.notes
    assert plan.victims


def test_what_nobody_knows_to_be_stable_is_no_answer(state: State, clock: Clock) -> None:
    plan = solve(state, stable=True)
    assert clock.now == LIMIT
    assert (plan.status, plan.victims) == ("unknown", ())
    assert NOT_KNOWN in plan.explanation
    assert plan.greedy is not None


def test_an_objective_that_counts_it_gives_the_best_known(state: State, clock: Clock) -> None:
    plan = solve(state, objective="stable")
    assert clock.now == LIMIT
    assert plan.status == "feasible"
    assert plan.victims
    assert "unstable" not in plan.terms
    assert planner.verify(state, plan).accepted


def test_an_explanation_ends_too(state: State, clock: Clock) -> None:
    victim = solve(state).victims[0].workload
    explanation = planner.explain(state, PENDING, victim, objective="stable", time_limit=LIMIT)
    assert clock.now == LIMIT
    assert explanation.alternative is not None
    assert explanation.alternative.status == "unknown"
