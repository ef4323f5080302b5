"""Progress is for terminals, and for work that takes longer than a second."""

import io
import sys

import pytest

from planner.cli.output import Progress


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        """Say yes."""
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give a clock that goes when it is told to."""
    now = [100.0]
    monkeypatch.setattr("planner.cli.output.time.monotonic", lambda: now[0])
    return now


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress() as shown:
        clock[0] += 0.9
        shown.update(0.5, "a")
    assert screen.getvalue() == ""


def test_long_work_shows_a_bar_and_wipes_it(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    with Progress() as shown:
        clock[0] += 1.1
        shown.update(0.5, "ns/evil\x1b[2J")
        shown.update(0.6, "too soon to draw again")
    drawn = screen.getvalue()
    assert drawn.startswith("\r\x1b[K[############............]  50% ns/evil\\x1b[2J")
    assert drawn.endswith("\r\x1b[K")
    assert "too soon" not in drawn


def test_nothing_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(sys, "stderr", log)
    with Progress() as shown:
        clock[0] += 5
        shown.update(0.5, "a")
    assert log.getvalue() == ""


def test_no_standard_error_at_all(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with Progress() as shown:
        clock[0] += 5
        shown.update(0.5, "a")
