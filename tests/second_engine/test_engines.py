"""Models of every kind of row, solved by each engine, against all points."""

import random
from functools import cache
from itertools import product

import pytest
from ortools.sat.python import cp_model

from planner.models.shared.builder import Builder, Linear, negation
from planner.solver.deadline import Deadline
from tests.conftest import TEST_ALL
from tests.exact import Exact, value_of
from tests.second_engine.engine import Found
from tests.second_engine.engines import ENGINES

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
            if Exact(proto).admits(point)
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
        assert Exact(builder.proto).admits(found.solution), seed
        assert value_of(objective.vars, objective.coeffs, found.solution) == expected, seed
        assert found.bound == expected, seed
    assert 0 < impossible < len(SEEDS) // 2
