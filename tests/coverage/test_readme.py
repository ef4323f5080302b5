"""The README lists what is exact and what is left out as the table of features has it."""

import os
import re

from planner.coverage.features import as_markdown
from tests.conftest import ROOT

README = ROOT / "README.md"
START = "<!-- features: written by tests/coverage/test_readme.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /features -->)", re.DOTALL)


def test_the_readme_has_the_table() -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text, table = README.read_text("utf-8"), f"\n{as_markdown()}\n\n"
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        README.write_text(BLOCK.sub(lambda _: table, text), "utf-8")
        text = README.read_text("utf-8")
    assert BLOCK.findall(text) == [table]
