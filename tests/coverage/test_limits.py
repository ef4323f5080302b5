"""The README and the page on limits list what is exact and what is left out as the table has it."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.coverage.answer import as_markdown, in_short
from tests.conftest import ROOT

PAGE = ROOT / "docs/explanation/limits.md"
START = "<!-- features: written by tests/coverage/test_limits.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /features -->)", re.DOTALL)


@pytest.mark.parametrize(
    ("page", "made"),
    [(PAGE, as_markdown), (ROOT / "README.md", in_short)],
    ids=["limits", "README"],
)
def test_the_page_has_what_the_table_says(page: Path, made: Callable[[], str]) -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text = page.read_text("utf-8")
    listed = f"\n{made()}\n\n"
    if page == PAGE:
        listed = listed.replace("](docs/", "](../")
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        page.write_text(BLOCK.sub(lambda _: listed, text), "utf-8")
        text = page.read_text("utf-8")
    assert BLOCK.findall(text) == [listed]
