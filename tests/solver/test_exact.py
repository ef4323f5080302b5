"""A point is a solution if every row of the model says so, in integers."""

from __future__ import annotations

from itertools import product

import pytest
from ortools.sat.python import cp_model

from planner.models.shared.builder import Builder, Linear, negation
from planner.solver.engine import Exact, satisfies


def test_every_kind_of_row_is_judged() -> None:
    builder = Builder()
    x, on = builder.new(0, 5), builder.new_bool()
    builder.add(Linear({x: 2}) <= 6, when=[on])
    part = builder.positive_part(Linear({x: 1}, -4))
    builder.any_of([on, negation(on)])
    (p,) = part.terms
    for point in product(range(-1, 7), range(-1, 3), range(-1, 3)):
        values = dict(zip((x, on, p), point, strict=True))
        within = 0 <= values[x] <= 5 and values[on] in {0, 1} and 0 <= values[p] <= 1
        low_enough = 2 * values[x] <= 6 or values[on] == 0
        expected = within and low_enough and values[p] == max(0, values[x] - 4)
        assert satisfies(builder.proto, point) == expected, point


def test_a_clause_binds_where_its_literals_hold() -> None:
    builder = Builder()
    a, b, on = builder.new_bool(), builder.new_bool(), builder.new_bool()
    builder.any_of([a, negation(b)], when=[on])
    for point in product((0, 1), repeat=3):
        assert satisfies(builder.proto, point) == (point != (0, 1, 1)), (a, b, on)


def test_numbers_beyond_doubles_are_added_up_exactly() -> None:
    model = cp_model.CpModel()
    x, y = model.new_bool_var(""), model.new_bool_var("")
    model.add((2**60 + 1) * x - 2**60 * y >= 1)
    assert satisfies(model.proto, [1, 1])
    assert not satisfies(model.proto, [0, 0])


def test_rows_added_later_are_read_too() -> None:
    builder = Builder()
    x = builder.new(0, 3)
    exact = Exact(builder.proto)
    assert exact.admits([3])
    builder.add(Linear({x: 1}) <= 2)
    assert not exact.admits([3])
    builder.new_bool()
    assert not exact.admits([2])  # no value for the new variable
    assert exact.admits([2, 0])


def test_other_rows_are_refused() -> None:
    model = cp_model.CpModel()
    model.add_all_different([model.new_int_var(0, 2, "") for _ in range(2)])
    with pytest.raises(NotImplementedError, match="all_diff"):
        satisfies(model.proto, [0, 1])
