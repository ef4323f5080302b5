"""Quantities: Kubernetes' own rules for the text, Kueue's for the integers."""

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planner.quantity import (
    MAX_INT64,
    MIN_INT64,
    NANO,
    UNLIMITED,
    QuantityError,
    format_briefly,
    format_units,
    is_milli,
    parse_quantity,
    to_quota,
    to_units,
    units_of,
)

MULTIPLIERS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
    "Ki": Fraction(2**10),
    "Mi": Fraction(2**20),
    "Gi": Fraction(2**30),
    "Ti": Fraction(2**40),
    "Pi": Fraction(2**50),
    "Ei": Fraction(2**60),
}


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0", 0),
        ("1", 10**9),
        ("+5", 5 * 10**9),
        ("-3", -3 * 10**9),
        (".5", 5 * 10**8),
        ("5.", 5 * 10**9),
        ("007", 7 * 10**9),
        ("100m", 10**8),
        ("2500u", 2_500_000),
        ("1n", 1),
        ("1k", 10**12),
        ("1M", 10**15),
        ("1E", 10**27),
        ("1Ki", 1024 * 10**9),
        ("1.5Gi", 3 * 2**29 * 10**9),
        ("0.5Ki", 512 * 10**9),
        ("1e3", 10**12),
        ("1E3", 10**12),
        ("1e+3", 10**12),
        ("1e-3", 10**6),
        ("12e6", 12 * 10**15),
    ],
)
def test_text_has_the_value_kubernetes_gives_it(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize(
    ("text", "nano"),
    [
        ("0.1n", 1),
        ("-0.1n", -1),
        ("1.0000000001", 10**9 + 1),
        ("1e-99", 1),
        ("0e-99", 0),
        ("1e-9999", 1),
    ],
)
def test_finer_than_nano_is_rounded_away_from_zero(text: str, nano: int) -> None:
    assert parse_quantity(text) == nano


@pytest.mark.parametrize("text", ["8Ei", "100Ei", "9223372036854775808Ki"])
def test_binary_amounts_are_capped_at_64_bits(text: str) -> None:
    assert parse_quantity(text) == MAX_INT64 * NANO
    assert parse_quantity(f"-{text}") == -MAX_INT64 * NANO


@pytest.mark.parametrize("text", ["10E", "1e30", "1e999999999"])
def test_decimal_amounts_beyond_64_bits_saturate_only_as_units(text: str) -> None:
    assert parse_quantity(text) > MAX_INT64 * NANO
    assert to_units(parse_quantity(text), "memory") == MAX_INT64
    assert units_of(text, "memory") == MAX_INT64


@pytest.mark.parametrize(
    "text",
    [
        *("", ".", "+", "-", "Gi", "m", "1 Gi", " 1", "1 ", "1\n", "1.5Gib", "1GiB", "1K", "1ki"),
        *(
            "1mi",
            "1g",
            "1,5",
            "0x10",
            "1e",
            "1e1.5",
            "--1",
            "+-1",
            "1.2.3",
            "1_000",
            "\u0661",
            "NaN",
        ),
        *("inf", "-inf", "true", "1" * 65),
    ],
)
def test_other_text_is_no_quantity(text: str) -> None:
    with pytest.raises(QuantityError):
        parse_quantity(text)


@given(
    st.integers(0, 10**20),
    st.text("0123456789", max_size=12),
    st.sampled_from(sorted(MULTIPLIERS)),
    st.sampled_from(["", "+", "-"]),
)
def test_equals_exact_fractions(whole: int, digits: str, suffix: str, sign: str) -> None:
    exact = (Fraction(whole) + Fraction(int(digits or "0"), 10 ** len(digits))) * 10**9
    nano = ceil(exact * MULTIPLIERS[suffix])
    if suffix.endswith("i"):
        nano = min(nano, MAX_INT64 * NANO)
    text = f"{sign}{whole}.{digits}{suffix}"
    assert parse_quantity(text) == (-nano if sign == "-" else nano)


@given(st.text(max_size=80))
def test_any_text_is_a_quantity_or_an_error(text: str) -> None:
    try:
        assert isinstance(parse_quantity(text), int)
    except QuantityError as error:
        assert str(error) == text  # noqa: PT017 - both outcomes are right


@pytest.mark.parametrize(
    ("text", "resource", "units"),
    [
        ("2500u", "cpu", 3),
        ("-2500u", "cpu", -3),
        ("1", "cpu", 1000),
        ("100m", "memory", 1),
        ("0.5", "memory", 1),
        ("-100m", "memory", -1),
        ("2500u", "requests.cpu", 1),
        ("1", "CPU", 1),
        ("8", "nvidia.com/gpu", 8),
        ("9P", "cpu", 9 * 10**18),
        ("10P", "cpu", MAX_INT64),
        ("-10P", "cpu", MIN_INT64),
        ("9E", "memory", 9 * 10**18),
        ("10E", "memory", MAX_INT64),
        ("-10E", "memory", MIN_INT64),
        ("9223372036854775807", "pods", MAX_INT64),
        ("-9223372036854775808", "pods", MIN_INT64),
        ("-9223372036854775809", "pods", MIN_INT64),
    ],
)
def test_units_are_rounded_away_from_zero_and_clamped(text: str, resource: str, units: int) -> None:
    assert to_units(parse_quantity(text), resource) == units
    assert units_of(text, resource) == units


def test_only_the_exact_name_cpu_is_counted_in_milli() -> None:
    assert is_milli("cpu")
    assert not any(map(is_milli, ["requests.cpu", "CPU", "cpu ", "example.com/cpu", ""]))


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("1E", "cpu"),
        ("10P", "cpu"),
        ("9223372036854775", "cpu"),
        ("8Ei", "memory"),
        ("10E", "memory"),
        ("9223372036854775807", "memory"),
        ("9223372036854775807", "nvidia.com/gpu"),
        ("1e30", "memory"),
    ],
)
def test_a_quota_too_large_to_count_is_unlimited(text: str, resource: str) -> None:
    assert to_quota(parse_quantity(text), resource) == UNLIMITED == MAX_INT64


@pytest.mark.parametrize(
    ("text", "resource", "units"),
    [
        ("9P", "cpu", 9 * 10**18),
        ("9223372036854774", "cpu", 9_223_372_036_854_774_000),
        ("9223372036854774999m", "cpu", 9_223_372_036_854_774_999),
        ("1E", "memory", 10**18),
        ("9E", "memory", 9 * 10**18),
        ("7Ei", "memory", 7 * 2**60),
        ("9223372036854775806", "memory", MAX_INT64 - 1),
        ("0", "cpu", 0),
    ],
)
def test_a_quota_just_below_is_finite(text: str, resource: str, units: int) -> None:
    assert to_quota(parse_quantity(text), resource) == units < UNLIMITED


@given(st.integers(-(2**70), 2**70), st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]))
def test_units_never_leave_64_bits_and_never_round_towards_zero(nano: int, resource: str) -> None:
    units = to_units(nano, resource)
    step = 10**6 if resource == "cpu" else 10**9
    assert MIN_INT64 <= units <= MAX_INT64
    if MIN_INT64 < units < MAX_INT64:
        assert abs(units) * step >= abs(nano) > (abs(units) - 1) * step
        assert units * nano >= 0


@given(
    st.integers(MIN_INT64, MAX_INT64 - 1),
    st.sampled_from(["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "nvidia.com/gpu"]),
)
@example(MIN_INT64, "memory")
def test_what_is_written_reads_back_as_the_same_amount(units: int, resource: str) -> None:
    text = format_units(units, resource)
    assert to_units(parse_quantity(text), resource) == units
    assert units_of(text, resource) == units


@pytest.mark.parametrize(
    ("units", "resource", "text"),
    [
        (1500, "cpu", "1500m"),
        (2000, "cpu", "2"),
        (3 * 2**30, "memory", "3Gi"),
        (1536, "memory", "1536"),
        (3 * 2**10, "hugepages-2Mi", "3Ki"),
        (0, "memory", "0"),
        (8, "nvidia.com/gpu", "8"),
        (UNLIMITED, "cpu", "unlimited"),
    ],
)
def test_amounts_are_written_as_a_person_would(units: int, resource: str, text: str) -> None:
    assert format_units(units, resource) == text


@pytest.mark.parametrize(
    ("units", "resource", "text"),
    [
        (0, "cpu", "0"),
        (2500, "cpu", "2500m"),
        (12345, "cpu", "12.35"),
        (-2500, "cpu", "-2500m"),
        (1_100_000, "cpu", "1100"),
        (56_083_500, "cpu", "56.08k"),
        (40 << 30, "memory", "40Gi"),
        (11584 << 30, "memory", "11.31Ti"),
        (310_804_054 << 10, "memory", "296.4Gi"),
        (-(310_804_054 << 10), "memory", "-296.4Gi"),
        ((1 << 30) + 1, "memory", "1Gi"),
        (1023, "memory", "1023"),
        (99_999, "pods", "99999"),
        (1_234_567, "pods", "1.235M"),
        (UNLIMITED, "memory", "unlimited"),
    ],
)
def test_an_amount_as_a_person_says_it(units: int, resource: str, text: str) -> None:
    assert format_briefly(units, resource) == text
