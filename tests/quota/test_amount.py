"""Saturating amounts with the sentinel Unlimited: docs/semantics/kueue.md §1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.quantity import MAX_INT64, MIN_INT64, UNLIMITED
from planner.quota.amount import add, multiply, subtract

AMOUNTS = st.one_of(
    st.integers(-10, 10),
    st.integers(MIN_INT64, MAX_INT64),
    st.sampled_from([MIN_INT64, MIN_INT64 + 1, MAX_INT64 - 1, UNLIMITED]),
)
FINITE = AMOUNTS.filter(lambda amount: amount != UNLIMITED)


@pytest.mark.parametrize(
    ("a", "b", "total"),
    [
        (2, 3, 5),
        (UNLIMITED, 1, UNLIMITED),
        (1, UNLIMITED, UNLIMITED),
        (UNLIMITED, UNLIMITED, UNLIMITED),
        (UNLIMITED, MIN_INT64, UNLIMITED),
        (MAX_INT64 - 1, 1, UNLIMITED),  # a sum that reaches the sentinel is Unlimited
        (MAX_INT64 - 1, 5, UNLIMITED),  # and so is one that saturates
        (MIN_INT64, -1, MIN_INT64),
    ],
)
def test_sums(a: int, b: int, total: int) -> None:
    assert add(a, b) == total


@pytest.mark.parametrize(
    ("a", "b", "difference"),
    [
        (2, 3, -1),
        (UNLIMITED, UNLIMITED, 0),
        (UNLIMITED, 5, UNLIMITED),
        (UNLIMITED, -5, UNLIMITED),
        (5, UNLIMITED, MIN_INT64),
        (MIN_INT64, UNLIMITED, MIN_INT64),
        (MIN_INT64, 1, MIN_INT64),
        (MAX_INT64 - 1, -5, MAX_INT64),
        (0, MIN_INT64, MAX_INT64),
    ],
)
def test_differences(a: int, b: int, difference: int) -> None:
    assert subtract(a, b) == difference


@pytest.mark.parametrize(
    ("a", "count", "product"),
    [
        (3, 4, 12),
        (2**62, 2, MAX_INT64),
        (MAX_INT64, 0, 0),
        (-(2**62), 4, MIN_INT64),
        (10**9, 2**31 - 1, 10**9 * (2**31 - 1)),
    ],
)
def test_products(a: int, count: int, product: int) -> None:
    assert multiply(a, count) == product


@given(AMOUNTS, AMOUNTS)
def test_results_stay_within_64_bits_and_sums_commute(a: int, b: int) -> None:
    assert add(a, b) == add(b, a)
    for result in (add(a, b), subtract(a, b)):
        assert MIN_INT64 <= result <= MAX_INT64


@given(FINITE, FINITE)
def test_finite_amounts_are_exact_unless_they_leave_64_bits(a: int, b: int) -> None:
    assert add(a, b) == min(max(a + b, MIN_INT64), MAX_INT64)
    assert subtract(a, b) == min(max(a - b, MIN_INT64), MAX_INT64)


@given(AMOUNTS)
def test_zero_changes_nothing_and_everything_minus_itself_is_zero(a: int) -> None:
    assert add(a, 0) == a
    assert subtract(a, 0) == a
    assert subtract(a, a) == 0


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_sums_never_fall_when_an_amount_grows(a: int, b: int, more: int) -> None:
    assert add(a, max(b, more)) >= add(a, min(b, more))
