"""The figures of speed on the pages are those that the benchmark measured."""

from itertools import pairwise

from tests.benchmarks.one_plan import STAGES
from tests.benchmarks.stages import SIZES, drawn, read_rows, table
from tests.conftest import ROOT
from tests.docs.blocks import check_block, lines_of

FOLDER = ROOT / "docs" / "explanation" / "speed"
PAGE = FOLDER.with_suffix(".md")


def test_the_table_is_what_was_measured() -> None:
    measured = f"\n{table(read_rows(FOLDER / 'stages.csv'))}\n\n"
    check_block(PAGE, "stages", "tests/docs/test_speed.py", measured)


def test_the_picture_is_of_what_was_measured() -> None:
    """Its lines are drawn again."""
    found = lines_of((FOLDER / "growth.svg").read_text("utf-8"))
    assert len(found) > len(STAGES)
    assert found == lines_of(drawn(read_rows(FOLDER / "stages.csv")))


def test_cost_grows_no_faster_than_the_number_of_workloads_by_much() -> None:
    rows = read_rows(FOLDER / "stages.csv")
    assert len(rows) > len(SIZES) // 2
    assert [int(one["workloads"]) for one in rows] == [*SIZES[: len(rows)]]
    for less, more in pairwise(rows):
        assert more["whole_s"] / less["whole_s"] < 1.3 * more["workloads"] / less["workloads"]
