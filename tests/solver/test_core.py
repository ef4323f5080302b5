"""Looking at a core of the classes gives the same answer as at all of them; attempts in turn."""

import random
from collections.abc import Iterable, Sequence
from functools import cache

import pytest
from msgspec.structs import replace

import planner
from planner.errors import UnsupportedError
from planner.models.kueue.formulation import Columns
from planner.models.kueue.relaxation import relax
from planner.models.shared.builder import Builder, Linear
from planner.models.shared.classes import Relaxation
from planner.objective.profiles import Measure
from planner.plan.kueue import Plan
from planner.problem.kueue import Problem
from planner.reader import read
from planner.solver import engine, tie_break
from planner.solver import levels as core
from planner.solver.attempt import ATTEMPTS, Attempt, Outcome, Run, within
from planner.solver.deadline import Deadline
from planner.solver.engine import run
from planner.solver.kueue import rules
from planner.solver.proving import settle
from planner.solver.proving.certifier import SHORT
from planner.solver.search import RowOverClasses, Search
from planner.state.kueue import State
from tests.benchmarks.clusters import Form, cluster
from tests.cluster import (
    PENDING,
    Object,
    cohort,
    fair_sharing,
    pending,
    preempt,
    queue,
    running,
    state_of,
)
from tests.conftest import TEST_ALL


def crowd(seed: int, each: int = 20, more: Iterable[Object] = ()) -> State:
    """Return six queues of two departments with workloads of random shape, and more objects."""
    chance = random.Random(seed)  # noqa: S311 - test data
    parts: list[Object] = [*cohort("org"), *cohort("left", "org"), *cohort("right", "org")]
    amounts: dict[str, int] = {}
    for number in range(6):
        name = f"q{number}"
        amounts[name] = 0
        for i in range(each):
            gpus = chance.choice([1, 1, 2, 4, 8])
            cores = chance.randint(1, 12)
            amounts[name] += gpus
            parts += running(
                f"{name}-{i}",
                name,
                {"gpu": gpus, "cpu": cores},
                chance.choice([0, 0, 5, 20]),
                minute=chance.randint(0, 50),
            )
    for number, name in enumerate(amounts):
        nominal = {"gpu": amounts[name] * 2 // 3, "cpu": 9 * each // 2}
        lending = {"gpu": 4} if number == 4 else None
        parts += queue(
            name,
            nominal,
            "left" if number < 3 else "right",
            within="LowerPriority",
            reclaim=chance.choice(["Any", "LowerPriority"]),
            borrow="LowerPriority",
            lending=lending,
        )
    parts += pending("q0", {"gpu": chance.randint(6, 24), "cpu": chance.randint(4, 40)})
    return state_of(parts, more)


def outcome(plan: Plan) -> tuple[object, ...]:
    """Return what must not depend on the way to the answer."""
    levels = plan.certificate.levels if plan.certificate else ()
    return plan.status, plan.keys, [(level.term, level.value) for level in levels]


@pytest.mark.parametrize("profile", ["no-regret", "min-count", "min-lost-work", "min-cost"])
@pytest.mark.parametrize(
    ("seed", "fair"),
    # Of the crowd that shares fairly, the first is the slowest by far.
    [(seed, fair) for seed in (range(4) if TEST_ALL else (1, 3)) for fair in (False, True)],
)
def test_a_small_core_finds_the_same_plan(
    seed: int, profile: str, monkeypatch: pytest.MonkeyPatch, *, fair: bool
) -> None:
    # Shares make the search much harder: fewer workloads for them.
    state = crowd(seed, 6, fair_sharing()) if fair else crowd(seed, 20 if TEST_ALL else 12)

    def solved() -> Plan:
        given = preempt(state)
        return planner.solve(state, PENDING, profile, assignment=given, certify=False)

    whole = solved()
    monkeypatch.setattr(core, "CORE", 8)
    small = solved()
    assert outcome(small) == outcome(whole)
    assert whole.status in {"optimal", "infeasible"} or whole.certificate.claimed  # type: ignore[union-attr]


@cache
def crowded(seed: int, *, fair: bool) -> tuple[State, Plan]:
    """Return a crowd and its plan, as it is always found."""
    # The proof trees of the third are the largest.
    each = 14 if seed == 3 and not TEST_ALL else 20
    state = crowd(seed, each, fair_sharing()) if fair else crowd(seed, 10)
    return state, planner.solve(state, PENDING, assignment=preempt(state))


@pytest.mark.parametrize("seed", [1, 3, 7] if TEST_ALL else [7])
def test_a_hundred_workloads_of_all_shapes_share_fairly(seed: int) -> None:
    """Shares tie everything together: no part of the workloads answers for the rest."""
    _, plan = crowded(seed, fair=True)
    assert plan.status == "optimal"
    assert len(plan.victims) > 30


@pytest.mark.parametrize("profile", ["no-regret", "min-count"])
@pytest.mark.parametrize("fair", [False, True])
def test_a_thorough_attempt_finds_the_same_plan(
    profile: str, monkeypatch: pytest.MonkeyPatch, *, fair: bool
) -> None:
    """Where no quick one, without presolve, is made."""
    state = crowd(3, 6, fair_sharing()) if fair else crowd(3, 12)
    quick = planner.solve(state, PENDING, objective=profile, assignment=preempt(state))

    def patient(
        builder: Builder,
        objective: Linear | None,
        deadline: Deadline,
        hint: Sequence[int] | None = None,
        attempts: Sequence[Attempt] = ATTEMPTS,
    ) -> Run:
        thorough = [each for each in attempts if each.thorough] or ATTEMPTS[-1:]
        return run(builder, objective, deadline, hint, thorough)

    monkeypatch.setattr(engine, "run", patient)
    thorough = planner.solve(state, PENDING, objective=profile, assignment=preempt(state))
    assert outcome(thorough) == outcome(quick)
    assert quick.status == "optimal"


@pytest.mark.parametrize("seed", range(6) if TEST_ALL else (1, 3, 5))
def test_many_victims_are_settled_at_once_as_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of victims alone leaves many answers equal."""
    state = crowd(seed, 12)
    at_once = planner.solve(state, PENDING, objective="min-cost", assignment=preempt(state))
    settle = tie_break.next_step
    monkeypatch.setattr(tie_break, "next_step", lambda a, b, _: settle(a, b, 1))
    one_by_one = planner.solve(state, PENDING, objective="min-cost", assignment=preempt(state))
    assert outcome(at_once) == outcome(one_by_one)
    assert len(at_once.victims) > 2


@cache
def small_crowd(*, fair: bool) -> tuple[State, Plan]:
    """Return a small crowd and its plan, as it is found the first time."""
    state = crowd(11, 6, fair_sharing() if fair else ())
    return state, planner.solve(state, PENDING, assignment=preempt(state))


@pytest.mark.parametrize("fair", [False, True])
def test_the_same_state_has_the_same_answer_every_time(*, fair: bool) -> None:
    state, first = small_crowd(fair=fair)
    for _ in range(2 if TEST_ALL else 1):
        assert planner.solve(state, PENDING, assignment=preempt(state)).keys == first.keys
    assert first.victims


@pytest.mark.parametrize("fair", [False, True])
def test_the_answer_does_not_depend_on_the_order_of_the_objects(*, fair: bool) -> None:
    state, plan = small_crowd(fair=fair)
    turned = state.model_copy(update={"workloads": tuple(reversed(state.workloads))})
    assert outcome(planner.solve(turned, PENDING, assignment=preempt(state))) == outcome(plan)


def test_rows_name_only_whom_they_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class stands in the rows of its queue and of the cohorts above, however many queues."""
    entries: list[float] = []

    def noted(problem: Problem, columns: Columns) -> Relaxation:
        found = relax(problem, columns)
        entries.append(sum(row.classes.size for row in found.rows) / len(columns))
        return found

    monkeypatch.setattr(rules, "relax", noted)
    monkeypatch.setattr(core, "CORE", 5)
    planner.solve(read(cluster(Form(400, queues=40))))
    assert entries
    # Two levels of cohorts and a queue, on both sides of the tree, each with two resources.
    assert max(entries) <= 2 * 3 * 2


def test_a_large_question_may_ask_a_few_large_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that a few programs over everything close is not given up because these are large."""
    effort = replace(SHORT, entries=10)
    monkeypatch.setitem(settle.EFFORTS, None, effort)
    certificate = planner.solve(read(cluster(Form(1500)))).certificate
    assert certificate is not None
    assert {level.proof for level in certificate.levels} == {"certified"}


NOTHING = Attempt(thorough=False, effort=0.0)
LAST = ATTEMPTS[-1]


def small() -> tuple[Builder, Linear]:
    """Return a model and its objective: at least 3 of two, the second at twice the cost."""
    builder = Builder()
    a, b = builder.new(0, 2), builder.new(0, 2)
    builder.add(Linear({a: 1, b: 1}) >= 3)
    return builder, Linear({a: 1, b: 2})


def test_the_first_attempt_that_settles_it_is_the_last() -> None:
    builder, cost = small()
    found = run(builder, cost, Deadline())
    assert (found.outcome, found.bound, found.attempt) == ("optimal", 4, ATTEMPTS[0])


@pytest.mark.parametrize(
    ("ends", "fits"),
    [
        # The solver adds up how far from 0, in both directions, the values can be.
        ([(0, 2**62 - 1), (0, 2**62 - 1)], True),
        ([(0, 2**62 - 1), (0, 2**62 - 1), (0, 1)], False),
        ([(-(2**61), 2**61), (-(2**61), 2**61 - 2)], True),
        ([(-(2**61), 2**61), (-(2**61), 2**61 - 1)], False),
        ([(2**61, 2**61)] * 3, True),
        ([(2**61, 2**61)] * 5, False),
    ],
)
def test_values_that_the_solver_cannot_add_up_are_refused(
    ends: Sequence[tuple[int, int]], *, fits: bool
) -> None:
    builder = Builder()
    for least, most in ends:
        builder.new(least, most)
    if fits:
        assert run(builder, None, Deadline()).outcome == "optimal"
    else:
        with pytest.raises(UnsupportedError, match="variables leave 64 bits together"):
            run(builder, None, Deadline())


def test_what_is_not_settled_is_tried_again() -> None:
    builder, cost = small()
    assert run(builder, cost, Deadline(), attempts=[NOTHING]).outcome == "unknown"
    found = run(builder, cost, Deadline(), attempts=[NOTHING, LAST])
    assert (found.outcome, found.attempt) == ("optimal", LAST)


def test_within_an_effort() -> None:
    assert within(0.1) == list(ATTEMPTS[:3])
    assert within(0.1, ATTEMPTS[4:]) == ATTEMPTS[4:5]  # never nothing


@pytest.mark.parametrize("led", [False, True])
@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("seed", [3, 7])
def test_either_way_to_another_answer_finds_the_same_plan(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, fair: bool, led: bool
) -> None:
    """Among equals any answer will do, or a measure leads."""
    state, expected = crowded(seed, fair=fair)
    asked, either = 0, tie_break.try_once

    def one_way(
        search: Search, rows: Sequence[RowOverClasses], guide: Measure | None, attempt: Attempt
    ) -> Outcome:
        nonlocal asked
        if guide is None and led and tie_break.guide_of(search):
            return "unknown"
        asked += 1
        return either(search, rows, guide if led else None, attempt)

    monkeypatch.setattr(tie_break, "try_once", one_way)
    found = planner.solve(state, PENDING, assignment=preempt(state), certify=False)
    assert outcome(found)[1:] == outcome(expected)[1:]
    assert asked
    assert expected.status == "optimal"
