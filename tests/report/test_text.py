"""Names made harmless, and values as people read them."""

import shlex
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.errors import LONGEST_LINE
from planner.quantity import MAX_INT64, MIN_INT64, plural
from planner.report.text import (
    LONGEST_NAME,
    age,
    cells,
    clean,
    clean_lines,
    decimal,
    hours,
    message,
    moment,
    short,
    thousandths,
    word,
)
from planner.report.yunikorn.plan import yunikorn_amount
from planner.state.yunikorn import format_yunikorn_quantity, parse_yunikorn_quantity
from tests.told import told


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ("team-a/train-llm", "team-a/train-llm"),
        ("équipe/modèle-漢字", "équipe/modèle-漢字"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("bell\x07 back\x08", "bell\\x07 back\\x08"),
        ("two\r\nlines", "two\\x0d\\x0alines"),
        ("\x9b2J", "\\x9b2J"),
        ("abc\u202efdp.exe", "abc\\u202efdp.exe"),
        ("zero\u200bwidth", "zero\\u200bwidth"),
        ("line\u2028end", "line\\u2028end"),
        ("lone \ud800", "lone \\ud800"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
    ],
)
def test_what_a_terminal_obeys_becomes_an_escape(found: str, shown: str) -> None:
    assert clean(found) == shown


@given(st.text())
def test_no_text_keeps_a_control_character(text: str) -> None:
    assert clean(text).isprintable()
    assert word(text).isprintable()
    assert all(line.isprintable() for line in clean_lines(text).split("\n"))


@given(st.text())
def test_a_word_is_one_word_for_a_shell(text: str) -> None:
    assert len(word(text).split()) == 1
    assert len(shlex.split(f"victim {word(text)}")) == 2


def test_lines_of_a_message_stay_lines() -> None:
    assert clean_lines("first\n  hint: \x1b[2J") == "first\n  hint: \\x1b[2J"


def test_a_message_keeps_both_ends_of_a_line_that_nobody_reads_whole() -> None:
    assert message("short\x1b\n  hint: x") == "short\\x1b\n  hint: x"
    first, hint = message(f"{'n' * 300_000} waits for {'q' * 100}\n  hint: x").split("\n")
    assert (len(first), hint) == (LONGEST_LINE, "  hint: x")
    assert first.startswith("nnn")
    assert first.endswith(f"n waits for {'q' * 100}")
    assert len(message("\x1b" * LONGEST_LINE)) == LONGEST_LINE


def test_no_name_in_a_message_makes_a_message_of_its_own() -> None:
    told(message("--plot a\nerror: b: no"))


def test_a_name_no_cluster_would_accept_is_cut() -> None:
    assert short("n" * 317) == "n" * 317
    assert len(short("n" * 10_000)) == LONGEST_NAME


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m"),
        (3599, "59m"),
        (3600, "1h"),
        (7500, "2h5m"),
        (86_399, "23h59m"),
        (86_400, "1d"),
        (90_000, "1d1h"),
        (86_400 * 400 + 120, "400d"),
    ],
)
def test_age_has_two_units_at_most(seconds: int, shown: str) -> None:
    assert age(seconds) == shown


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0.00"), (0.001, "<0.01"), (1.005, "1.00"), (1234.5, "1,234.50")]
)
def test_decimals_never_round_something_to_nothing(value: float, shown: str) -> None:
    assert decimal(value) == shown


def test_hours_of_accelerator_seconds() -> None:
    assert hours(32_880) == "9.13"


def test_moments_are_utc() -> None:
    noon = datetime(2026, 3, 8, 12, tzinfo=UTC)
    assert moment(noon) == "2026-03-08T12:00:00Z"
    assert moment(noon.astimezone(timezone(timedelta(hours=2)))) == "2026-03-08T12:00:00Z"


def test_plural() -> None:
    assert [plural(n, "victim") for n in (0, 1, 1200)] == ["0 victims", "1 victim", "1,200 victims"]


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0"),
        (250, "250"),
        (1000 / 3, "333.333"),
        (1e6, "1,000,000"),
        (1e-9, "<0.001"),
        (float("inf"), "inf"),
    ],
)
def test_shares_in_thousandths(share: float, shown: str) -> None:
    assert thousandths(share) == shown


@pytest.mark.parametrize(
    ("units", "resource", "quantity", "amount"),
    [
        (64_000, "vcore", "64", "64"),
        (1500, "vcore", "1500m", "1.5"),
        (1001, "vcore", "1001m", "1.001"),
        (500, "vcore", "500m", "500m"),
        (0, "vcore", "0", "0"),
        (-2500, "vcore", "-2500m", "-2.5"),
        (MAX_INT64, "vcore", "9223372036854775807m", "9223372036854775.807"),
        (16 * 2**30, "memory", "16Gi", "16Gi"),
        (16 * 10**9, "memory", "16G", "16G"),
        (3 * 2**29, "memory", "1536Mi", "1536Mi"),
        (1_000_001, "memory", "1000001", "1000001"),
        (0, "memory", "0", "0"),
        (-(2**30), "memory", "-1Gi", "-1Gi"),
        (2**21, "hugepages-2Mi", "2Mi", "2Mi"),
        (5000, "nvidia.com/gpu", "5000", "5000"),
        (MAX_INT64, "pods", "9223372036854775807", "9223372036854775807"),
    ],
)
def test_amounts_of_yunikorn(units: int, resource: str, quantity: str, amount: str) -> None:
    assert format_yunikorn_quantity(units, resource) == quantity
    assert yunikorn_amount(units, resource) == amount


@given(st.integers(0, MAX_INT64), st.sampled_from(["vcore", "memory", "pods", "hugepages-1Gi"]))
def test_queues_yaml_reads_a_quantity_back(units: int, resource: str) -> None:
    assert parse_yunikorn_quantity(format_yunikorn_quantity(units, resource), resource) == units


@given(st.integers(MIN_INT64, MAX_INT64))
def test_no_digit_of_an_amount_is_lost(units: int) -> None:
    amount = yunikorn_amount(units, "vcore")
    milli = Decimal(amount[:-1]) if amount.endswith("m") else Decimal(amount) * 1000
    assert milli == units


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("漢字", 4), ("e\u0301", 1), ("é→", 2)])
def test_columns_of_a_terminal(text: str, columns: int) -> None:
    assert cells(text) == columns
