"""Progress is for terminals, and for work that takes longer than a second by a made-up clock."""

import io
import sys
from itertools import count

import pytest

import planner
from planner.cli.main import main
from planner.cli.output import LINE, say
from planner.stage import begin, going_on, progress_to
from tests.conftest import QUICKSTART
from tests.solver.ways import by_the_solver

WIPED = "\r\x1b[K"


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        """Say yes."""
        return True

    @property
    def lines(self) -> list[str]:
        """All that stood in its last line, one after the other."""
        return [line for line in self.getvalue().split(WIPED) if line]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Give a clock that goes when it is told to."""
    now = [100.0]
    monkeypatch.setattr(LINE, "clock", lambda: now[0])
    return now


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give a clock that goes on by a second with every look at it."""
    monkeypatch.setattr(LINE, "clock", map(float, count()).__next__)


def terminal(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Make standard error a terminal of 80 columns; pytest takes it back between its phases."""
    made = Screen()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    return made


def assert_in_order(screen: Screen, stages: list[str]) -> None:
    """Check that a terminal has shown some stages, one after the other."""
    rows = [line.partition("  ")[2] for line in screen.lines]
    places = [next(i for i, one in enumerate(rows) if one.startswith(said[:70])) for said in stages]
    assert places == sorted(places)


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    screen = terminal(monkeypatch)
    with LINE.shown(quiet=False):
        clock[0] += 0.9
        LINE.update(0.5, "a")
        begin("b")
    assert screen.getvalue() == ""


def test_long_work_shows_a_bar_and_wipes_it(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    screen = terminal(monkeypatch)
    with LINE.shown(quiet=False):
        clock[0] += 1.1
        LINE.update(0.5, "ns/evil\x1b[2J")
        LINE.update(0.6, "too soon to draw again")
    assert screen.lines == ["1 s  [############............]  50% ns/evil\\x1b[2J"]
    assert screen.getvalue().startswith(WIPED)
    assert screen.getvalue().endswith(WIPED)


def test_stages_stand_beside_the_share_and_begin_at_once(
    monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    screen = terminal(monkeypatch)
    with LINE.shown(quiet=False):
        begin("reading a.json")
        clock[0] += 2
        going_on()
        begin("level 1 of 8")
        LINE.update(0.5, "ns/a")
        begin("level 2 of 8")
    bar = "[############............]  50% ns/a"
    said = ["reading a.json", "level 1 of 8", f"{bar} - level 2 of 8"]
    assert screen.lines == [f"2 s  {one}" for one in said]


def test_a_long_line_is_cut(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    """One that is broken in two could not be wiped."""
    screen = terminal(monkeypatch)
    with LINE.shown(quiet=False):
        clock[0] += 2
        begin("x" * 200)
    assert [len(line) for line in screen.lines] == [79]


def test_messages_wipe_it(monkeypatch: pytest.MonkeyPatch, clock: list[float]) -> None:
    screen = terminal(monkeypatch)
    with LINE.shown(quiet=False):
        clock[0] += 2
        begin("preparing")
        say("note", "b")
        going_on()
        clock[0] += 1
        going_on()
    assert screen.lines == ["2 s  preparing", "note: b\n", "3 s  preparing"]


@pytest.mark.parametrize("how", ["a file", "quiet", "dumb", "closed"])
def test_nobody_is_told_where_nobody_looks(
    how: str, monkeypatch: pytest.MonkeyPatch, clock: list[float]
) -> None:
    screen = terminal(monkeypatch)
    if how == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    if how in {"a file", "closed"}:
        monkeypatch.setattr(sys, "stderr", io.StringIO() if how == "a file" else None)
    with LINE.shown(quiet=how == "quiet"):
        clock[0] += 5
        begin("a")
        LINE.update(0.5, "b")
    assert screen.getvalue() == ""
    assert not getattr(sys.stderr, "getvalue", str)()


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize(
    ("words", "stages"),
    [
        (("solve", QUICKSTART), [f"reading {QUICKSTART}", "preparing", "certifying"]),
        (("explain", QUICKSTART), ["preparing", "certifying"]),
        (("whatif", QUICKSTART, "--set", "configuration.fairSharing.enable=true"), ["certifying"]),
        (("boost", QUICKSTART), ["preparing", "trying boosts"]),
    ],
    ids=lambda value: str(value[0]),
)
def test_commands_say_what_they_are_at(
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    stages: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = terminal(monkeypatch)
    main([str(word) for word in words], standalone_mode=False)
    assert_in_order(screen, stages)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.usefixtures("slow", "capsys")
def test_each_level_is_told_where_the_solver_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    with by_the_solver():
        main(["solve", str(QUICKSTART)], standalone_mode=False)
    assert_in_order(screen, ["preparing", "level 1 of 8", "level 8 of 8"])


@pytest.mark.usefixtures("slow")
def test_quiet(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    screen = terminal(monkeypatch)
    main(["--quiet", "solve", str(QUICKSTART)], standalone_mode=False)
    assert capsys.readouterr().out
    assert WIPED not in screen.getvalue()


def test_library_says_nothing_unless_somebody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    stages: list[str | None] = []
    with progress_to(stages.append):
        planner.solve(planner.read(QUICKSTART))
    assert "certifying" in stages
    stages.clear()
    planner.solve(planner.read(QUICKSTART))
    assert not stages
    assert screen.getvalue() == ""
