"""The README and the page on limits list what is exact and what is left out as the table has it."""

import os
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest

from planner.coverage.answer import FEATURES
from planner.scheduler import scheduler_of
from tests.conftest import ROOT

PAGE = ROOT / "docs/explanation/limits.md"
START = "<!-- features: written by tests/coverage/test_limits.py -->\n"
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /features -->)", re.DOTALL)


def in_short() -> str:
    """Return the titles of the features that are left out, a line for each scheduler."""
    rows = []
    for features in FEATURES.of_all():
        mine = [one for one in features if one.standing == "left out"]
        if mine:
            titles = "; ".join(re.sub(r"^the ", "", one.title) for one in mine)
            rows.append(f"* **{scheduler_of(mine[0]).words.name}**: {titles}.")
    return "\n".join(rows)


def as_markdown() -> str:
    """Return the table of docs/explanation/limits.md: features, their standings and effects."""
    rows = ["| what decides | in an answer | what it changes |", "|---|---|---|"]
    for one in chain.from_iterable(FEATURES.of_all()):
        if one.standing != "harmless":
            page = one.source.partition(" ")[0]
            where = scheduler_of(one).words.name
            rows.append(f"| {where}: [{one.title}]({page}) | {one.standing} | {one.effect} |")
    return "\n".join(rows)


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
