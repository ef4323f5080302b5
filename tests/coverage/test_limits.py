"""The page on limits lists what is exact and what is left out as the table of features has it."""

import os
import re

from planner.coverage.features import as_markdown
from tests.conftest import ROOT

PAGE = ROOT / "docs/explanation/limits.md"
START = "<!-- features: written by tests/coverage/test_limits.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /features -->)", re.DOTALL)


def test_the_page_has_the_table() -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text = PAGE.read_text("utf-8")
    table = f"\n{as_markdown()}\n\n".replace("](docs/", "](../")
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        PAGE.write_text(BLOCK.sub(lambda _: table, text), "utf-8")
        text = PAGE.read_text("utf-8")
    assert BLOCK.findall(text) == [table]
