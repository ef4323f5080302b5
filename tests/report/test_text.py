"""Names made harmless, and values as people read them."""

import shlex
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.text import (
    LONGEST_NAME,
    age,
    clean,
    clean_lines,
    decimal,
    hours,
    moment,
    plural,
    short,
    thousandths,
    word,
)


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
