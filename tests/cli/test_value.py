"""Seconds and durations on the command line."""

import click
import pytest

from planner.cli.value import Number, Whole, seconds
from tests.told import told

DURATIONS = [
    ("90", 90),
    ("90s", 90),
    ("1.5m", 90),
    ("2H", 7200),
    (" 2 d ", 172_800),
    ("1w", 604_800),
]


@pytest.mark.parametrize(("text", "expected"), DURATIONS)
def test_durations(text: str, expected: int) -> None:
    assert seconds(text) == expected
    assert Whole(0, of="seconds").convert(text, None, None) == expected
    assert Number(0, 1e6, of="seconds").convert(text, None, None) == expected


def test_parts_of_a_second() -> None:
    assert seconds("250ms") == seconds("0.25") == seconds("0.25s") == 0.25
    assert Whole(0, of="seconds").convert("2000ms", None, None) == 2
    with pytest.raises(click.BadParameter) as caught:
        Whole(0, of="seconds").convert("250ms", None, None)
    told(caught.value)


def test_bounds_are_of_seconds() -> None:
    assert Number(1, 3600, of="seconds").convert("60m", None, None) == 3600
    with pytest.raises(click.BadParameter) as caught:
        Number(1, 3600, of="seconds").convert("61m", None, None)
    told(caught.value)


@pytest.mark.parametrize("text", ["s", "5x", "1h30m", "-5s", "1e3s", "5 m s", "none s", "٣s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        seconds(text)
    told(caught.value)


def test_what_is_not_a_time_has_no_unit() -> None:
    with pytest.raises(click.BadParameter) as caught:
        Whole(1).convert("5s", None, None)
    told(caught.value)
