"""Linear programs and bounds of them: by hand, against every point, and in exact integers."""

import random
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from ortools.math_opt.parameters_pb2 import SolveParametersProto

from planner.models.shared.classes import Classes, Relaxation, Row
from planner.problem.array import IntArray
from planner.solver import bound, glop
from planner.solver import bound as linear_program
from planner.solver.attempt import ITERATIONS
from planner.solver.bound import Bound, best_single_row, lagrangian_bound, linear_programming_bound
from planner.solver.deadline import Deadline
from planner.solver.glop import Simplex, Solved


def classes_of(counts: list[int]) -> Classes:
    """Return classes with so many members, numbered through."""
    ends = np.cumsum(counts).tolist()
    members = [list(range(end - count, end)) for count, end in zip(counts, ends, strict=True)]
    return Classes(members, np.array([each[0] for each in members], dtype=np.int64))


def row(coefficients: list[int], bound: int, *slack: tuple[int, int]) -> Row:
    return Row.of("", np.array(coefficients, dtype=np.int64), bound, tuple(slack))


def either(first: list[int], second: list[int], most: int, total: int) -> list[Row]:
    """Return the rows of a choice: one of two sums stays at ``most``, where both could be total."""
    return [
        row([-c for c in first], -total, (0, most - total)),
        row([-c for c in second], -total, (1, most - total)),
        row([0] * len(first), 1, (0, 1), (1, 1)),
    ]


def test_a_choice_is_made_and_not_blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four of a or b go and four of c or d, for 1 or 3 each; only one of a and c may go past 1.

    So b or d costs 1 + 3 * 3 instead of 4. One program mixes the two: of 10 members half a
    choice permits 5.5, which is more than 4.
    """
    costs = np.array([1, 3, 1, 3], dtype=np.int64)
    cover = [row([1, 1, 0, 0], 4), row([0, 0, 1, 1], 4)]
    choice = either([1, 0, 0, 0], [0, 0, 1, 0], most=1, total=10)
    relaxation = Relaxation([*cover, *choice], 2, [(0, 1)])
    classes = classes_of([10] * 4)
    assert linear_programming_bound(relaxation, classes, costs, [], Deadline()).whole == 14
    monkeypatch.setattr(linear_program, "PROGRAMS", 1)
    assert linear_programming_bound(relaxation, classes, costs, [], Deadline()).whole == 8


def test_no_choice_is_made_after_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the program before the choice proved stands."""
    monkeypatch.setattr(Deadline, "passed", property(lambda _: True))
    costs = np.array([1, 3, 1, 3], dtype=np.int64)
    cover = [row([1, 1, 0, 0], 4), row([0, 0, 1, 1], 4)]
    choice = either([1, 0, 0, 0], [0, 0, 1, 0], most=1, total=10)
    relaxation = Relaxation([*cover, *choice], 2, [(0, 1)])
    bound = linear_programming_bound(relaxation, classes_of([10] * 4), costs, [], Deadline())
    assert bound.whole == 8


def test_what_is_impossible_costs_more_than_everything() -> None:
    """Six are needed and four permitted: no verdict in doubles says so, but a bound."""
    relaxation = Relaxation([row([1, 1], 6), row([-1, -1], -4)], 0)
    costs = np.array([5, 7], dtype=np.int64)
    bound = linear_programming_bound(relaxation, classes_of([5, 5]), costs, [], Deadline())
    assert bound.whole > 5 * 5 + 5 * 7


def test_a_branch_that_is_impossible_leaves_the_other_bound() -> None:
    """Seven of a or c must go, of c at most five: so not a but c stays at 1."""
    rows = [row([1, 0], 2), row([1, 1], 7), *either([1, 0], [0, 1], most=1, total=10)]
    relaxation = Relaxation(rows, 2, [(0, 1)])
    costs = np.array([4, 1], dtype=np.int64)
    bound = linear_programming_bound(relaxation, classes_of([10, 5]), costs, [], Deadline())
    assert bound.whole == 6 * 4 + 1


@pytest.mark.parametrize("seed", range(60))
def test_no_point_contradicts_a_bound(seed: int) -> None:
    """Neither its cost, nor what a class in it adds or saves."""
    chance = random.Random(seed)  # noqa: S311 - test data
    counts = [chance.randint(1, 3) for _ in range(5)]
    costs = np.array([chance.randint(0, 9) for _ in counts], dtype=np.int64)

    def some(low: int, high: int) -> list[int]:
        return [chance.randint(low, high) for _ in counts]

    sums = some(0, 4), some(0, 4)
    total = 1 + max(sum(c * n for c, n in zip(each, counts, strict=True)) for each in sums)
    most = chance.randint(0, total - 1)
    rows = [row(some(0, 5), chance.randint(1, 15)) for _ in range(2)]
    relaxation = Relaxation([*rows, *either(*sums, most, total)], 2, [(0, 1)])
    bound = linear_programming_bound(relaxation, classes_of(counts), costs, [], Deadline())
    for point in points(counts, rows, sums, most):
        check(bound, point, counts, costs)


def points(
    counts: list[int], rows: list[Row], sums: tuple[list[int], list[int]], most: int
) -> Iterator[tuple[int, ...]]:
    """Yield what keeps all rows, and one of two sums at most so large."""
    for point in product(*(range(count + 1) for count in counts)):
        covered = all(one.value(np.array(point)) >= one.bound for one in rows)
        if covered and min(int(np.dot(each, point)) for each in sums) <= most:
            yield point


def check(bound: Bound, point: tuple[int, ...], counts: list[int], costs: IntArray) -> None:
    cost = int(costs @ point)
    assert cost * bound.denominator >= bound.value
    for taken, count, reduced in zip(point, counts, bound.reduced, strict=True):
        deviates = taken * reduced if reduced > 0 else (taken - count) * reduced
        assert deviates <= bound.room(cost)


PRICE = 1000.0


def value(solved: Solved, costs: list[float]) -> float | None:
    return None if solved.solution is None else float(np.dot(costs, solved.solution))


@pytest.mark.parametrize("seed", range(20))
def test_a_branch_is_what_a_new_program_finds(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    costs = [float(chance.randint(1, 9)) for _ in range(6)]
    most = [float(chance.randint(1, 4)) for _ in costs]
    rows = [row([chance.randint(0, 3) for _ in costs], chance.randint(1, 14)) for _ in range(3)]
    warm, solvable = Simplex(costs, most, rows, PRICE), 0
    for _ in range(8):
        bounds = []
        for upper in most:
            low, high = sorted((chance.uniform(0, upper), chance.uniform(0, upper)))
            bounds.append((low, upper) if chance.random() < 0.7 else (low, high))
        cold = Simplex(costs, most, rows, PRICE)
        for program in (warm, cold):
            for column, (low, high) in enumerate(bounds):
                program.bound(column, low, high)
        again, anew = warm.solve(), cold.solve()
        assert again.impossible == anew.impossible
        assert value(again, costs) == pytest.approx(value(anew, costs))
        solvable += again.solution is not None
    assert solvable or seed not in {0, 1, 2}


def test_by_hand() -> None:
    """Three of a and b, a at 2 and b at 5, of a at most two: 2 + 2 + 5. A unit more costs 5."""
    program = Simplex([2.0, 5.0], [2.0, 9.0], [row([1, 1], 3)], PRICE)
    solved = program.solve()
    assert solved.solution is not None
    assert solved.duals is not None
    assert solved.solution.tolist() == pytest.approx([2, 1])
    assert solved.duals.tolist() == pytest.approx([5])


def test_a_witness_stands_after_the_other_columns() -> None:
    """What costs 1 and four times the witness are at least 4."""
    program = Simplex([1.0, 0.0], [9.0, 1.0], [row([1], 4, (0, 4))], PRICE, 1)
    assert value(program.solve(), [1.0, 0.0]) == pytest.approx(0)
    program.bound(1, 0.0, 0.0)
    assert value(program.solve(), [1.0, 0.0]) == pytest.approx(4)


def test_rows_are_missed_at_a_price_only_if_they_may() -> None:
    """Five are needed of four; the row may be missed by units of its largest coefficient."""
    program = Simplex([1.0], [4.0], [row([2], 10)], PRICE)
    assert program.solve().impossible
    program.allow_misses(missed=True)
    missed = program.solve()
    assert not missed.impossible
    assert missed.duals is not None
    assert missed.duals.tolist() == pytest.approx([PRICE / 2])
    program.allow_misses(missed=False)
    assert program.solve().impossible


WIDE = 40
"""Columns of a program that takes more than one iteration."""


def wide() -> tuple[list[int], list[int], list[Row]]:
    """Return costs, the most of each column, and rows: of each column some are needed."""
    chance = random.Random(1)  # noqa: S311 - test data
    costs = [chance.randint(1, 99) for _ in range(WIDE)]
    rows = [row([chance.randint(0, 9) for _ in costs], 200) for _ in range(5)]
    return costs, [3] * WIDE, rows


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[SolveParametersProto]:
    """Return the parameters of the linear programs that are solved from now on."""
    seen: list[SolveParametersProto] = []
    limited = glop._limited  # noqa: SLF001 - watched

    def watched(size: int, seconds: float | None) -> SolveParametersProto:
        seen.append(limited(size, seconds))
        return seen[-1]

    monkeypatch.setattr(glop, "_limited", watched)
    return seen


@pytest.fixture
def _one_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stop each linear program after its first iteration."""
    parameters = SolveParametersProto(iteration_limit=1)
    monkeypatch.setattr(glop, "_limited", lambda _size, _seconds: parameters)


@pytest.mark.parametrize("seconds", [None, 3600.0])
def test_every_program_has_a_limit(
    given: list[SolveParametersProto], seconds: float | None
) -> None:
    """Of iterations, always, by its rows and columns (of which one says what a row is missed by).

    And of time, where there is one.
    """
    costs, most, rows = wide()
    assert (
        Simplex([*map(float, costs)], [*map(float, most)], rows, PRICE).solve(seconds).solution
        is not None
    )
    (limits,) = given
    assert limits.iteration_limit == ITERATIONS * (WIDE + 2 * len(rows))
    assert limits.HasField("time_limit") == (seconds is not None)


@pytest.mark.usefixtures("_one_iteration")
def test_a_program_that_is_stopped_claims_no_optimum() -> None:
    """Nor that there is none."""
    costs, most, rows = wide()
    stopped = Simplex([*map(float, costs)], [*map(float, most)], rows, PRICE).solve()
    assert stopped.solution is None
    assert not stopped.impossible


def test_what_is_proved_by_a_stopped_program_holds(request: pytest.FixtureRequest) -> None:
    """It is below what the whole program proves, and no more than nothing after the time."""
    costs, most, rows = wide()

    def bound(deadline: Deadline) -> int:
        relaxation, counts = Relaxation(rows, 0), classes_of(most)
        array = np.array(costs, dtype=np.int64)
        return linear_programming_bound(relaxation, counts, array, [], deadline).whole

    whole = bound(Deadline())
    assert bound(Deadline(0.0)) == 0
    request.getfixturevalue("_one_iteration")
    assert 0 < bound(Deadline()) < whole


def bound_row(coefficients: list[int], least: int, *slack: tuple[int, int]) -> Row:
    return Row.of("", np.array(coefficients, dtype=np.int64), least, tuple(slack))


@pytest.mark.parametrize("seed", range(30))
def test_arrays_say_what_python_s_numbers_say(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    size = chance.randint(1, 8)
    costs = np.array([chance.randint(0, 10**6) for _ in range(size)], dtype=np.int64)
    counts = [chance.randint(1, 5) for _ in range(size)]
    rows = [
        bound_row([chance.randint(-9, 9) for _ in range(size)], chance.randint(-20, 40), (0, -3))
    ]
    rows += [bound_row([0] * size, 1, (0, 1), (1, 1))]
    multipliers = [chance.randint(-5, 10**9), chance.choice([0, 10**30])]
    denominator = 10 ** chance.choice([0, 3, 12, 15])
    given = rows, multipliers, costs, counts
    by_arrays = lagrangian_bound(*given, denominator=denominator, chosen={1})
    monkeypatch.setattr(bound, "_INT64", -1)
    assert by_arrays == lagrangian_bound(*given, denominator=denominator, chosen={1})


def test_beyond_64_bits() -> None:
    """Each of 5 * 2^70 units is worth 2, and a member costs just what its units are worth."""
    costs = np.array([2**62 - 2], dtype=np.int64)
    found = lagrangian_bound([bound_row([2**61 - 1], 5 * 2**70)], [2], costs, [2], denominator=1)
    assert (found.value, found.reduced) == (5 * 2**71, [0])


def test_one_row_by_hand() -> None:
    """Of 7 units: two for 1, three for 3, and the last two of four for 8 make 1 + 3 + 4."""
    costs = np.array([8, 1, 3, 9], dtype=np.int64)
    found, position = best_single_row(
        [bound_row([1, 1, 1, 1], 2), bound_row([4, 2, 3, 0], 7)], costs, [1, 1, 1, 1]
    )
    assert (found.whole, position) == (8, 1)
    assert found.multipliers == (2,)
    assert found.denominator == 1
    assert found.reduced == [0, -3, -3, 9]


def test_what_all_together_do_not_cover_is_bounded_all_the_same() -> None:
    found, position = best_single_row(
        [bound_row([2, 1], 9)], np.array([4, 3], dtype=np.int64), [1, 2]
    )
    assert (found.whole, position) == (4 + 6 + 3 * (9 - 4), 0)


@pytest.mark.parametrize("seed", range(40))
def test_no_cover_costs_less(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - test data
    counts = [chance.randint(1, 3) for _ in range(4)]
    costs = np.array([chance.randint(0, 9) for _ in counts], dtype=np.int64)
    rows = [
        bound_row([chance.randint(0, 5) for _ in counts], chance.randint(1, 9)) for _ in range(2)
    ]
    found, _ = best_single_row(rows, costs, counts)
    for point in product(*(range(count + 1) for count in counts)):
        if all(one.value(np.array(point)) >= one.bound for one in rows):
            assert int(costs @ point) >= found.whole
