"""The figures of speed on the pages are those that the benchmark measured."""

from __future__ import annotations

import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.benchmarks.one_plan import STAGES
from tests.benchmarks.stages import SIZES, drawn, read_rows, table
from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "explanation" / "speed"
START = "<!-- stages: written by tests/docs/test_speed.py -->\n"
PAGES = (ROOT / "README.md", FOLDER.with_suffix(".md"))
BLOCK = re.compile(rf"(?<={re.escape(START)}).*?(?=<!-- /stages -->)", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_table_is_what_was_measured(page: Path) -> None:
    """With PLANNER_UPDATE_PAGES=1 it is written anew."""
    text, measured = page.read_text("utf-8"), f"\n{table(read_rows(FOLDER / 'stages.csv'))}\n\n"
    if os.environ.get("PLANNER_UPDATE_PAGES"):
        page.write_text(BLOCK.sub(lambda _: measured, text), "utf-8")
        text = page.read_text("utf-8")
    assert BLOCK.findall(text) == [measured]


def test_the_picture_is_of_what_was_measured() -> None:
    """Its lines are drawn again; another release of the library may draw letters elsewhere."""

    def lines(svg: str) -> list[str]:
        return re.findall(r'<path d="([^"]*)" clip-path', svg)

    found = lines((FOLDER / "growth.svg").read_text("utf-8"))
    assert len(found) > len(STAGES)
    assert found == lines(drawn(read_rows(FOLDER / "stages.csv")))


def test_cost_grows_no_faster_than_the_number_of_workloads_by_much() -> None:
    rows = read_rows(FOLDER / "stages.csv")
    assert len(rows) > len(SIZES) // 2
    assert [int(one["workloads"]) for one in rows] == [*SIZES[: len(rows)]]
    for less, more in pairwise(rows):
        assert more["whole_s"] / less["whole_s"] < 1.3 * more["workloads"] / less["workloads"]
