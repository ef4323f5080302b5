"""Rows say what was asked, however large their coefficients: split, folded, and in units.

A model is the same, row by row, whatever the order in which Python iterates over sets. Engines
answer by the order of rows: of equal optima another one comes first, and a relaxation is rounded to
something else. So what is promised to be the same twice depends on that order.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Final

import pytest

from planner.errors import UnsupportedError
from planner.models.shared.builder import Builder, Guarded, Linear, negation
from planner.solver.deadline import Deadline
from planner.solver.engine import run_engine
from tests.conftest import TEST_ALL
from tests.exact import Exact, complete

SEEDS: Final = range(400 if TEST_ALL else 40)

State = Callable[[Builder, Sequence[int]], Callable[[Sequence[int]], bool]]
"""Adds a row over some variables, and returns what it says of a point."""


def free_points(builder: Builder, some: Sequence[int]) -> Iterator[tuple[int, ...]]:
    yield from product(*(range(builder.lower[v], builder.upper[v] + 1) for v in some))


def admitted(builder: Builder, some: Sequence[int]) -> set[tuple[int, ...]]:
    """Return the values of the first variables in all solutions, found by trying all points."""
    exact, every = Exact(builder.proto), range(len(builder.lower))
    return {point[: len(some)] for point in free_points(builder, every) if exact.admits(point)}


def random_row(chance: random.Random, digits: int) -> State:
    """Return a row whose coefficients have up to so many bits; two of them are often close."""

    def coefficient() -> int:
        size = chance.choice([digits, digits, digits // 2, 3])
        return chance.choice([-1, 1]) * chance.getrandbits(size)

    coefficients = [coefficient() for _ in range(3)]
    if chance.random() < 0.5:
        coefficients[1] = -coefficients[0] + chance.randint(-2, 2)
    constant = chance.choice([0, coefficient()])
    # The bound is near a value that is attained, where a mistake of 1 shows.
    near = sum(c * chance.randint(0, 2) for c in coefficients) + constant
    bound = near + chance.choice([-1, 0, 0, 1])
    kind = chance.choice(["least", "most", "equal"])
    enforced = chance.choice([(), (1,), (0,), (1, 0)])

    def state(builder: Builder, some: Sequence[int]) -> Callable[[Sequence[int]], bool]:
        literals = some[3:]
        when = [v if e else negation(v) for v, e in zip(literals, enforced, strict=False)]
        linear = Linear(dict(zip(some, coefficients, strict=False)), constant)
        stated = {"least": linear >= bound, "most": linear <= bound, "equal": linear.equals(bound)}
        builder.add(stated[kind], when)

        def holds(point: Sequence[int]) -> bool:
            if any(point[3 + i] != e for i, e in enumerate(enforced)):
                return True
            value = constant + sum(c * x for c, x in zip(coefficients, point, strict=False))
            return {"least": value >= bound, "most": value <= bound, "equal": value == bound}[kind]

        return holds

    return state


def new_variables(builder: Builder, chance: random.Random) -> list[int]:
    """Return three integers, of which some have one value, and two literals."""
    integers = [
        builder.new(low := chance.randint(-1, 1), low + chance.randint(0, 2)) for _ in "abc"
    ]
    return [*integers, builder.new_bool(), builder.new_bool()]


@pytest.mark.parametrize("digits", [8, 31, 32, 40, 59])
def test_a_row_admits_just_what_it_says(digits: int) -> None:
    split = 0
    for seed in SEEDS:
        chance = random.Random(f"{digits}/{seed}")  # noqa: S311 - test data
        builder = Builder()
        some = new_variables(builder, chance)
        holds = random_row(chance, digits)(builder, some)
        split += len(builder.lower) > len(some)
        expected = {point for point in free_points(builder, some) if holds(point)}
        assert admitted(builder, some) == expected, seed
        for row in builder.proto.constraints:
            assert max(map(abs, row.linear.coeffs), default=0) < 2**31
    assert bool(split) == (digits > 31)


@pytest.mark.parametrize("digits", [62, 70, 130])
def test_numbers_beyond_64_bits_are_split_twice(digits: int) -> None:
    for seed in SEEDS[::4]:
        chance = random.Random(f"{digits}/{seed}")  # noqa: S311 - test data
        builder = Builder()
        some = new_variables(builder, chance)
        holds = random_row(chance, digits)(builder, some)
        for point in free_points(builder, some):
            assert (complete(builder, some, point) is not None) == holds(point), (seed, point)


@pytest.mark.parametrize("digits", [8, 33, 59])
def test_a_positive_part_is_one(digits: int) -> None:
    for seed in SEEDS:
        chance = random.Random(f"{digits}/{seed}")  # noqa: S311 - test data
        builder = Builder()
        some = new_variables(builder, chance)[:3]
        coefficients = [chance.choice([-1, 1]) * chance.getrandbits(digits) for _ in some]
        linear = Linear(dict(zip(some, coefficients, strict=True)), -coefficients[0])
        part = builder.positive_part(linear)
        for point in free_points(builder, some):
            solution = complete(builder, some, point)
            assert solution is not None, (seed, point)
            assert part.value(solution) == max(0, linear.value(solution)), (seed, point)


def test_a_guard_guards_a_split_row_and_no_positive_part() -> None:
    builder = Builder()
    x, y, on = builder.new(0, 3), builder.new(0, 3), builder.new_bool()
    long = 2**40 + 1
    guarded = Guarded(builder, on)
    guarded.add(Linear({x: long, y: long + 1}) >= 3 * long + 1)
    part = guarded.positive_part(Linear({x: long, y: -long - 2}, 1))
    for a, b in product(range(4), repeat=2):
        enough = a * long + b * (long + 1) >= 3 * long + 1
        assert (complete(builder, [x, y, on], [a, b, 1]) is not None) == enough
        off = complete(builder, [x, y, on], [a, b, 0])
        assert off is not None
        assert part.value(off) == max(0, a * long - b * (long + 2) + 1)


def test_a_copy_begins_with_the_rows_and_goes_on_by_itself() -> None:
    builder = Builder()
    x, y = builder.new(0, 2), builder.new(0, 2)
    builder.add(Linear({x: 1, y: 1}) >= 3)
    before = admitted(builder, [x, y])
    twin = builder.copy()
    assert admitted(twin, [x, y]) == before == {(1, 2), (2, 1), (2, 2)}
    twin.add(Linear({x: 1}) <= 1)
    twin.new_bool()
    assert admitted(twin, [x, y]) == {(1, 2)}
    assert admitted(builder, [x, y]) == before
    assert len(builder.lower) == len(builder.upper) == len(builder.proto.variables) == 2


def test_equal_expressions_share_one_positive_part() -> None:
    builder = Builder()
    x, y, on = builder.new(0, 3), builder.new(0, 3), builder.new_bool()
    part = builder.positive_part(Linear({x: 1, y: -1}))
    variables, rows = len(builder.lower), len(builder.proto.constraints)
    assert builder.positive_part(Linear({y: -1, x: 1})) == part
    assert Guarded(builder, on).positive_part(Linear({x: 1, y: -1})) == part
    twin = builder.copy()
    assert twin.positive_part(Linear({x: 1, y: -1})) == part
    assert (len(twin.lower), len(twin.proto.constraints)) == (variables, rows)
    other = twin.positive_part(Linear({x: 1, y: -1}, 1))
    assert other != part
    for a, b, guard in product(range(4), range(4), range(2)):
        solution = complete(twin, [x, y, on], [a, b, guard])
        assert solution is not None
        assert (part.value(solution), other.value(solution)) == (max(0, a - b), max(0, a - b + 1))
    # What was made in the copy alone is no variable of the first model.
    assert (len(builder.lower), len(builder.proto.constraints)) == (variables, rows)
    again = builder.positive_part(Linear({x: 1, y: -1}, 1))
    assert len(builder.lower) == variables + 2  # the part, and whether it is positive
    assert complete(builder, [x, y], [3, 1]) is not None
    assert again.terms.keys() <= set(range(len(builder.lower)))


def test_the_same_everywhere_is_no_part_of_a_row() -> None:
    """2**64 is more than the model can say, and what it cancels is, too."""
    builder = Builder()
    one, x = builder.new(1, 1), builder.new(0, 5)
    builder.add(Linear({one: 2**64, x: 3}, -(2**64)) >= 7)
    assert list(builder.proto.constraints[0].linear.vars) == [x]
    assert run_engine(builder, Linear({one: 2**64, x: 6}), Deadline()).bound == 2**64 + 18
    assert builder.positive_part(Linear({one: 2**64, x: 2}, -(2**64) - 4)).terms != {}


def test_an_objective_is_stated_in_its_unit() -> None:
    builder = Builder()
    x, y = builder.new(0, 9), builder.new(0, 9)
    builder.add(Linear({x: 1, y: 1}) >= 3)
    assert builder.minimize(Linear({x: 6, y: 4}, 1)) == (2, 1)
    assert list(builder.proto.objective.coeffs) == [3, 2]
    found = run_engine(builder, Linear({x: 6, y: 4}, 1), Deadline())
    assert (found.outcome, found.bound, list(found.solution)) == ("optimal", 13, [0, 3])


def test_no_multiple_of_the_unit_between_is_infeasible() -> None:
    builder = Builder()
    x = builder.new(0, 9)
    builder.add(Linear({x: 2}).equals(3))
    assert run_engine(builder, None, Deadline()).outcome == "infeasible"


def test_what_cannot_be_stated_is_refused() -> None:
    builder = Builder()
    x, y = builder.new(0, 2**40), builder.new(0, 2**40)
    with pytest.raises(UnsupportedError, match="64 bits"):
        builder.positive_part(Linear({x: 2**40 + 1, y: -1}, -1))
    with pytest.raises(UnsupportedError, match="64 bits"):
        builder.minimize(Linear({x: 2**40 + 1, y: 1}))
