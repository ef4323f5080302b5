"""Crowds of workloads of all shapes: the same answer each time, by whatever way it is found."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pytest
from msgspec.structs import replace

import planner
from planner.errors import UnsupportedError
from planner.models.shared.builder import Builder
from planner.objective.profiles import Measure
from planner.plan import AnyPlan
from planner.reader import read
from planner.solver import finder, levels
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from planner.solver.levels import SHORT
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
from tests.solver.ways import at_once
from tests.told import told


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


def outcome(plan: AnyPlan) -> tuple[object, ...]:
    """Return what must not depend on the way to the answer."""
    levels = plan.certificate.levels if plan.certificate else ()
    return plan.status, plan.keys, [(level.term, level.value) for level in levels]


@pytest.mark.parametrize("seed", [1, 3, 7] if TEST_ALL else [7])
def test_a_hundred_workloads_of_all_shapes_share_fairly(seed: int) -> None:
    """Shares tie everything together: no part of the workloads answers for the rest."""
    state = crowd(seed, 20, fair_sharing())
    plan = planner.solve(state, PENDING, assignment=preempt(state))
    assert plan.status == "optimal"
    assert len(plan.victims) > 30


@pytest.mark.parametrize("seed", range(6) if TEST_ALL else (5,))
def test_many_victims_are_settled_at_once_as_one_by_one(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of victims alone leaves many answers equal."""
    state = crowd(seed, 12)
    at_once = planner.solve(state, PENDING, objective="min-cost", assignment=preempt(state))
    step = finder.next_step
    monkeypatch.setattr(finder, "next_step", lambda a, b, c, _: step(a, b, c, 1))
    one_by_one = planner.solve(state, PENDING, objective="min-cost", assignment=preempt(state))
    assert outcome(at_once) == outcome(one_by_one)
    assert len(at_once.victims) > 2


@pytest.mark.parametrize("fair", [False, True])
def test_the_answer_does_not_depend_on_the_order_of_the_objects(*, fair: bool) -> None:
    state = crowd(11, 6 if TEST_ALL or not fair else 4, fair_sharing() if fair else ())
    turned = state.model_copy(update={"workloads": tuple(reversed(state.workloads))})
    plan, other = (
        planner.solve(one, PENDING, assignment=preempt(state)) for one in (state, turned)
    )
    assert outcome(plan) == outcome(other)


def test_a_large_question_may_ask_a_few_large_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree that a few programs over everything close is not given up because these are large."""
    effort = replace(SHORT, entries=10)
    monkeypatch.setitem(levels.EFFORTS, None, effort)
    certificate = planner.solve(read(cluster(Form(1500)))).certificate
    assert certificate is not None
    assert {level.proof for level in certificate.levels} == {"certified"}


@pytest.mark.parametrize("seed", [0, 2] if TEST_ALL else [0])
def test_where_the_solver_looks_first_changes_no_answer(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Near the least there may be no set, or the best, which a search of all would find, too."""
    state = read(cluster(Form(300, victims=20, seed=seed)))
    near, looked = levels.Settling.near_least, Counter[Measure]()

    def counted(settling: levels.Settling, measure: Measure) -> Iterator[int]:
        for most in near(settling, measure):
            looked[measure] += 1
            yield most

    monkeypatch.setattr(levels.Settling, "near_least", counted)
    with at_once():
        of_all = outcome(planner.solve(state))
        assert not looked  # as few are left of a small state at once
        monkeypatch.setattr(levels, "NEAR", 5)
        assert outcome(planner.solve(state)) == of_all
    assert looked


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
        assert run_engine(builder, None, Deadline()).outcome == "optimal"
    else:
        with pytest.raises(UnsupportedError) as caught:
            run_engine(builder, None, Deadline())
        told(caught.value)
