"""Answers of the wing in the library: in every style and in notebooks; screens as stored."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.operations.lint import lint
from planner.operations.risk import Question, risk
from tests.browser import BROWSER
from tests.conftest import ROOT
from tests.report import test_golden, test_render

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("verb", [lint, risk])
def test_every_answer_is_written_in_every_style(verb: Any) -> None:
    test_render.is_written_everywhere(verb(test_render.STATE))


@cache
def answer(verb: str) -> Any:
    state = test_golden.state()
    return lint(state) if verb == "lint" else risk(state, Question(shapes="pending"))


@pytest.mark.parametrize(
    ("verb", "style"),
    [("lint", 80), ("lint", "plain"), ("risk", 80), ("risk", 200), ("risk", "plain")],
)
def test_screen_is_as_stored(verb: str, style: int | str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    how: Any = {"style": "plain"} if style == "plain" else {"width": style}
    screen = planner.render(answer(verb), **how)
    test_golden.fits_and_is_as_stored(screen, GOLDEN / f"{verb}-{style}.txt")


@pytest.mark.skipif(not BROWSER, reason="no chromium on PATH to lay pages out")
def test_the_page_is_no_wider_than_its_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    test_golden.fit_their_windows({"risk": planner.render(answer("risk"), "html")}, tmp_path)
