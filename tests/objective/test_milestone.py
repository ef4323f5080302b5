"""Milestone costs on the line between two points, in exact integers."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.objective.annotation import milestone_cost, parse_milestones, parse_seconds

EXAMPLE = parse_milestones("0s:0, 1h:50,4h:10")


def test_points_are_read_in_seconds() -> None:
    assert EXAMPLE == ((0, 0), (3600, 50), (14_400, 10))


def test_the_example_of_the_kep_begins_at_nothing() -> None:
    """KEP-83: seconds 60, cost 100; seconds 600, cost 0; drawn from 0 at 0 on."""
    points = parse_milestones("60s:100,600s:0")
    assert points == ((0, 0), (60, 100), (600, 0))
    costs = [milestone_cost(points, seconds) for seconds in (0, 30, 60, 330, 600, 601)]
    assert costs == [0, 50, 100, 50, 0, 0]


@pytest.mark.parametrize(
    ("seconds", "cost"),
    [
        (0, 0),
        (1, 1),  # a seventy-second part, rounded up
        (72, 1),
        (73, 2),
        (1800, 25),
        (3600, 50),
        (3601, 50),  # falling: 49 and 269/270, rounded up
        (3870, 49),
        (9000, 30),
        (14_399, 11),
        (14_400, 10),
        (10**9, 10),
    ],
)
def test_cost_of_the_example(seconds: int, cost: int) -> None:
    assert milestone_cost(EXAMPLE, seconds) == cost


@given(
    st.dictionaries(st.integers(1, 99_999), st.integers(0, 10**9), max_size=5),
    st.integers(0, 10**9),
    st.integers(0, 200_000),
)
def test_cost_is_that_of_the_line_rounded_up(
    later: dict[int, int], first: int, seconds: int
) -> None:
    points = ((0, first), *sorted(later.items()))
    expected = Fraction(points[-1][1])
    for left, right in zip(points, points[1:], strict=False):  # noqa: RUF007 - as drawn
        if left[0] <= seconds < right[0]:
            share = Fraction(seconds - left[0], right[0] - left[0])
            expected = (1 - share) * left[1] + share * right[1]
    assert milestone_cost(points, seconds) == ceil(expected)


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("1h30m", 5400), ("0", 0)])
def test_durations(text: str, seconds: int) -> None:
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", "90", "-1s", "500ms", "1d", "soon"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="whole seconds"):
        parse_seconds(text)
