"""Two other ways to the optimum: dynamic programmes for flat cohorts, and integer programs."""

import random
from functools import cache
from itertools import product

import pytest
from ortools.sat.python import cp_model

import planner
from planner.models.shared.builder import Builder, Linear, negation
from planner.plan.kueue import Plan
from planner.research.rivals.mathopt import translate
from planner.solver.deadline import Deadline
from planner.solver.engine import satisfies, value_of
from tests.cluster import PENDING, preempt
from tests.conftest import FOR_EVER_S, TEST_ALL
from tests.second_engine.engines import ENGINES, Found
from tests.second_engine.flat import FlatCase, Held, random_case

SMALL = range(1500 if TEST_ALL else 16)
LARGE = range(12) if TEST_ALL else (0,)


def solved(case: FlatCase, objective: str, time_limit: float | None = None) -> Plan:
    state = case.state()
    costs = {f"ns/{one.name}": one.cost for one in case.held}
    flavors = preempt(state)
    return planner.solve(
        state, PENDING, objective, costs, assignment=flavors, time_limit=time_limit
    )


def least_of(case: FlatCase) -> dict[tuple[str, str], int | None]:
    """Return the least value of the term of two objectives."""
    fewest, cheapest = case.least(lambda _: 1), case.least(lambda one: one.cost)
    return {("min-count", "victims"): fewest, ("min-cost", "cost"): cheapest}


def test_small_cases() -> None:
    answers = 0
    for seed in SMALL:
        case = random_case(seed, 2 + seed % 30)
        for (objective, term), least in least_of(case).items():
            plan = solved(case, objective)
            assert plan.status == ("infeasible" if least is None else "optimal"), seed
            if least is not None:
                assert plan.terms[term] == least, seed
                answers += 1
    assert answers > len(SMALL) // 2


@pytest.mark.parametrize("seed", LARGE)
def test_large_cases(seed: int) -> None:
    """Among many of equal cost the choice of one may take longer; the value is proved first."""
    case = random_case(seed, 2_500, share=60)
    for (objective, term), least in least_of(case).items():
        plan = solved(case, objective, time_limit=FOR_EVER_S)
        if least is None:
            assert plan.status == "infeasible"
        else:
            assert plan.certificate is not None
            level = plan.certificate.levels[0]
            assert (level.term, level.value, level.bound) == (term, least, least)


def case_of(nominal: list[int], held: list[Held], request: int) -> FlatCase:
    return FlatCase(
        nominal,
        held,
        request,
        priority=10,
        within="LowerPriority",
        reclaim="Any",
        borrow="LowerPriority",
        threshold=None,
        limit=None,
    )


def test_only_the_last_victim_may_end_below_the_quota() -> None:
    """Queue 1 is 3 over its quota: 2 and then 4 may go, 4 and then 2 may not, 2 + 2 + 4 neither."""
    held = [Held(name, 1, gpus, 0, 1) for name, gpus in (("a", 4), ("b", 2), ("c", 2), ("d", 1))]
    nominal = [12, 6]
    assert case_of(nominal, held, 12).least(lambda _: 1) == 1  # 4, of which 3 are needed
    assert case_of(nominal, held, 14).least(lambda _: 1) == 2  # 2 + 4: 5 are needed
    assert case_of([16, 6], held, 19).least(lambda _: 1) == 2  # 6 are needed
    assert case_of([16, 6], held, 20).least(lambda _: 1) is None  # 7: 2 + 1 + 4, but 3 is too much


SEEDS = range(300 if TEST_ALL else 24)


def random_model(seed: int) -> Builder:
    """Build rows of every kind over three integers and three literals, with an objective."""
    chance = random.Random(seed)  # noqa: S311 - test data
    builder = Builder()
    integers = [builder.new(low := chance.randint(-2, 1), low + 2) for _ in range(3)]
    literals = [builder.new_bool() for _ in range(3)]

    def linear() -> Linear:
        terms = {v: chance.randint(-3, 3) for v in chance.sample(integers + literals, 3)}
        return Linear(terms, chance.randint(-2, 2))

    def some() -> list[int]:
        chosen = chance.sample(literals, chance.randint(0, 2))
        return [one if chance.random() < 0.5 else negation(one) for one in chosen]

    part = builder.positive_part(linear())
    for _ in range(chance.randint(1, 4)):
        inside = linear() + chance.randint(-2, 2) * part
        state = chance.choice([Linear.__le__, Linear.__ge__])
        builder.add(state(inside, chance.randint(-3, 3)), when=some())
    builder.add(Linear({integers[0]: 1, literals[0]: 2}).equals(chance.randint(-1, 3)), when=some())
    builder.any_of([*some(), chance.choice(literals)], when=some())
    builder.minimize(linear() + part)
    return builder


@cache
def least(seed: int) -> int | None:
    """Return the least objective over all points of a model; None if none is a solution."""
    proto = random_model(seed).proto
    objective = proto.objective
    ranges = [range(v.domain[0], v.domain[1] + 1) for v in proto.variables]
    return min(
        (
            value_of(objective.vars, objective.coeffs, point)
            for point in product(*ranges)
            if satisfies(proto, point)
        ),
        default=None,
    )


@pytest.mark.parametrize("name", ENGINES)
def test_engine_finds_the_least_of_all_points(name: str) -> None:
    impossible = 0
    for seed in SEEDS:
        builder = random_model(seed)
        expected = least(seed)
        found = ENGINES[name].minimise(cp_model.CpModel(builder.proto), Deadline())
        if expected is None:
            impossible += 1
            assert found == Found("infeasible"), seed
            continue
        objective = builder.proto.objective
        assert found.outcome == "optimal", seed
        assert satisfies(builder.proto, found.solution), seed
        assert value_of(objective.vars, objective.coeffs, found.solution) == expected, seed
        assert found.bound == expected, seed
    assert 0 < impossible < len(SEEDS) // 2


def test_other_rows_are_refused() -> None:
    model = cp_model.CpModel()
    model.add_all_different([model.new_int_var(0, 2, "") for _ in range(2)])
    with pytest.raises(NotImplementedError, match="all_diff"):
        translate(model.proto)
