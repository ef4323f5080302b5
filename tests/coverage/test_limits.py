"""The page on limits lists what is exact and what is left out as the table has it."""

import os
import re

from planner.coverage import kueue_features, yunikorn
from planner.scheduler import scheduler_of
from tests.conftest import ROOT

PAGE = ROOT / "docs/explanation/limits.md"
START = "<!-- features: written by tests/coverage/test_limits.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /features -->)", re.DOTALL)


def as_markdown() -> str:
    """Return the table of docs/explanation/limits.md: features, their standings and effects."""
    rows = ["| what decides | in an answer | what it changes |", "|---|---|---|"]
    for one in (*kueue_features.FEATURES, *yunikorn.FEATURES):
        if one.standing != "harmless":
            page = one.source.partition(" ")[0]
            where = scheduler_of(one).words.name
            rows.append(f"| {where}: [{one.title}]({page}) | {one.standing} | {one.effect} |")
    return "\n".join(rows)


def test_the_page_has_what_the_table_says() -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text = PAGE.read_text("utf-8")
    listed = f"\n{as_markdown()}\n\n".replace("](docs/", "](../")
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        PAGE.write_text(BLOCK.sub(lambda _: listed, text), "utf-8")
        text = PAGE.read_text("utf-8")
    assert BLOCK.findall(text) == [listed]
