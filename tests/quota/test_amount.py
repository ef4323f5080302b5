"""Saturating amounts with the sentinel Unlimited: docs/semantics/kueue.md §1.

And amounts that wrap around, of older releases: docs/semantics/kueue-releases.md §2.1, 14.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.quantity import MAX_INT64, MIN_INT64, UNLIMITED, parse_quantity, to_wrapped_units
from planner.quota.kueue.amount import (
    SATURATING,
    SATURATING_BUT_REQUESTS,
    WRAPPING,
    WRAPPING_BUT_WANTED,
    Arithmetic,
    arithmetic_of,
    divide,
    multiply,
    saturating_add,
    subtract,
)
from planner.state.kueue_release import find_release

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
    assert saturating_add(a, b) == total


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
    assert saturating_add(a, b) == saturating_add(b, a)
    for result in (saturating_add(a, b), subtract(a, b)):
        assert MIN_INT64 <= result <= MAX_INT64


@given(FINITE, FINITE)
def test_finite_amounts_are_exact_unless_they_leave_64_bits(a: int, b: int) -> None:
    assert saturating_add(a, b) == min(max(a + b, MIN_INT64), MAX_INT64)
    assert subtract(a, b) == min(max(a - b, MIN_INT64), MAX_INT64)


@given(AMOUNTS)
def test_zero_changes_nothing_and_everything_minus_itself_is_zero(a: int) -> None:
    assert saturating_add(a, 0) == a
    assert subtract(a, 0) == a
    assert subtract(a, a) == 0


@given(AMOUNTS, AMOUNTS, AMOUNTS)
def test_sums_never_fall_when_an_amount_grows(a: int, b: int, more: int) -> None:
    assert saturating_add(a, max(b, more)) >= saturating_add(a, min(b, more))


@pytest.mark.parametrize(
    ("a", "b", "total", "difference"),
    [
        (2, 3, 5, -1),
        (MAX_INT64, 1, MIN_INT64, MAX_INT64 - 1),
        (MAX_INT64, MAX_INT64, -2, 0),
        (MIN_INT64, 1, MIN_INT64 + 1, MAX_INT64),
        (0, MIN_INT64, MIN_INT64, MIN_INT64),  # 0 less the least is the least again
        (5, MAX_INT64, MIN_INT64 + 4, 6 - 2**63),
    ],
)
def test_amounts_of_older_releases_wrap_around(a: int, b: int, total: int, difference: int) -> None:
    assert (WRAPPING.add(a, b), WRAPPING.subtract(a, b)) == (total, difference)


@given(AMOUNTS, AMOUNTS)
def test_what_wrapped_around_is_undone_by_the_opposite(a: int, b: int) -> None:
    assert WRAPPING.subtract(WRAPPING.add(a, b), b) == a
    assert MIN_INT64 <= WRAPPING.multiply(a, b) <= MAX_INT64
    assert (WRAPPING.multiply(a, b) - a * b) % 2**64 == 0


@pytest.mark.parametrize(
    ("release", "arithmetic"),
    [
        ("0.15.8", WRAPPING),
        ("0.16.7", WRAPPING),
        ("0.16.8", WRAPPING_BUT_WANTED),
        ("0.17.2", WRAPPING),
        ("0.17.3", WRAPPING_BUT_WANTED),
        ("0.17.8", WRAPPING_BUT_WANTED),
        ("0.18.0", SATURATING_BUT_REQUESTS),
        ("0.18.4", SATURATING_BUT_REQUESTS),
        ("0.18.5", SATURATING),
        ("0.19.0", SATURATING_BUT_REQUESTS),
        ("0.19.1", SATURATING),
        ("main", SATURATING),
    ],
)
def test_each_release_has_its_arithmetic(release: str, arithmetic: Arithmetic) -> None:
    assert arithmetic_of(find_release(release).rules) is arithmetic


def test_what_podsets_want_together_may_saturate_while_the_rest_wraps() -> None:
    assert WRAPPING.add_wanted(MAX_INT64, 2) == MIN_INT64 + 1
    assert WRAPPING_BUT_WANTED.add_wanted(MAX_INT64, 2) == MAX_INT64
    assert WRAPPING_BUT_WANTED.add_wanted(MAX_INT64, -2) == MAX_INT64 - 2  # it is not Unlimited
    assert WRAPPING_BUT_WANTED.add(MAX_INT64, 2) == MIN_INT64 + 1
    assert SATURATING.add_wanted(MAX_INT64, -2) == UNLIMITED


@pytest.mark.parametrize(
    ("text", "resource", "units"),
    [
        ("1E", "cpu", 0),
        ("10P", "cpu", 0),
        ("9P", "cpu", 9 * 10**18),
        ("9223372036854775", "cpu", 9223372036854775000),
        ("12345678901234567", "cpu", -6101065172474984616),
        ("14636698788954115200m", "cpu", -3810045284755436416),  # 20 digits
        ("8Ei", "cpu", -1000),  # capped at 2^63 - 1 cores first
        ("10E", "nvidia.com/gpu", 0),
        ("16E", "memory", 0),
        ("9E", "memory", 9 * 10**18),
        ("8Ei", "memory", MAX_INT64),
        ("9223372036854775807", "nvidia.com/gpu", MAX_INT64),
        ("9223372036854775808", "nvidia.com/gpu", MIN_INT64),  # 19 digits
        ("12345678901234567k", "memory", -6101065172474984616),
        ("1500m", "memory", 2),
        ("-1E", "cpu", 0),
    ],
)
def test_quantities_as_older_releases_read_them(text: str, resource: str, units: int) -> None:
    assert to_wrapped_units(parse_quantity(text), resource) == units


@pytest.mark.parametrize(
    ("a", "count", "quotient"), [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (0, 5, 0)]
)
def test_quotients_go_towards_zero(a: int, count: int, quotient: int) -> None:
    assert divide(a, count) == quotient


@pytest.mark.parametrize(
    ("quantity", "resource", "units"),
    [
        ("10E", "memory", 0),
        ("12345678901234567890", "memory", 12345678901234567890 - 2**64),
        ("10P", "cpu", MAX_INT64),
        ("4Gi", "memory", 2**32),
    ],
)
def test_requests_that_are_not_clamped(quantity: str, resource: str, units: int) -> None:
    """Kueue v0.18.4 pkg/resources/requests.go ``ResourceValue``: only cpu is clamped there."""
    nano = parse_quantity(quantity)
    assert SATURATING_BUT_REQUESTS.units(nano, resource) == units
    assert SATURATING_BUT_REQUESTS.quota(nano, resource) == SATURATING.quota(nano, resource)
