"""CSV, Parquet and DataFrame hold the same rows."""

import csv
import io
import sys
from typing import Any

import pandas as pd
import pytest
from pandas.api.typing import NAType

import planner
from planner.commands.compare import Comparison, compare
from planner.commands.compare.table import Cell, frame, kinds, parquet, values
from planner.errors import InputError
from planner.report.compare import csv_text
from tests.commands.compare.clusters import nothing_of_its_own, one_would_do
from tests.conftest import YUNIKORN


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """Return rows of both schedulers, with plans and without, one outside the rules."""
    states = {
        "one": one_would_do(),
        "none": nothing_of_its_own(),
        "=yunikorn": planner.read(YUNIKORN),
    }
    return compare(states, ["greedy", "kueue-fair", "optimum:min-count"])


def test_a_row_in_numbers(comparison: Comparison) -> None:
    rows = [dict(zip(kinds(comparison), row, strict=True)) for row in values(comparison)]
    assert len(rows) == len(comparison.rows) == 9
    first, fair, best = rows[:3]
    assert (first["state"], first["algorithm"], first["victims"], first["D2"]) == (
        "one",
        "greedy",
        4,
        4,
    )
    assert (first["level"], first["bound"], first["proved"]) == (None, None, None)
    assert (best["level"], best["value"], best["bound"], best["proved"]) == ("count", 1, 1, True)
    assert str(best["levels"]).startswith("count=1>=1 D2=1>=1 ")
    assert fair["rules"] == "kueue-fair"
    own, outside, _ = rows[3:6]
    assert (own["victims"], own["D2"], own["status"]) == (None, None, "infeasible")
    assert (outside["outside_rules"], outside["own_flavors"]) == ("KQ-06", False)
    assert rows[7]["status"] == "skipped"
    assert rows[7]["seconds"] is None


def test_csv_reads_back(comparison: Comparison) -> None:
    head, *body = csv.reader(io.StringIO(csv_text(comparison)))
    assert tuple(head) == tuple(kinds(comparison))
    for line, row in zip(body, values(comparison), strict=True):
        assert line == [written(value) for value in row]


def written(value: Cell) -> str:
    """Return how a value stands in the file."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value.replace("\n", "\\x0a").replace("=yunikorn", "'=yunikorn", 1)
    return "" if value is None else repr(value)


def test_a_name_is_no_formula(comparison: Comparison) -> None:
    assert "\n'=yunikorn," in csv_text(comparison)


def test_frame_and_parquet_read_back(comparison: Comparison) -> None:
    table = frame(comparison)
    again = pd.read_parquet(io.BytesIO(parquet(comparison)))
    assert tuple(table.columns) == tuple(again.columns) == tuple(kinds(comparison))
    for found in (table, again):
        read = [tuple(map(known, row)) for row in found.itertuples(index=False, name=None)]
        assert read == list(values(comparison))


def known(value: Any) -> Any:
    """Return a value of pandas as one of Python."""
    return None if isinstance(value, NAType) else value


def test_no_rows() -> None:
    nobody = compare({})
    assert len(frame(nobody)) == 0
    assert len(pd.read_parquet(io.BytesIO(parquet(nobody)))) == 0
    assert csv_text(nobody).count("\n") == 1


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_a_missing_package(
    comparison: Comparison, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=f"{package} is not installed") as caught:
        parquet(comparison)
    assert caught.value.hint == "pip install matplotlib pandas pyarrow"


def test_a_number_beyond_64_bits(comparison: Comparison) -> None:
    """Such amounts are nonsense, but a dump may hold them."""
    first = comparison.rows[0].model_copy(update={"terms": {"D7": 2**70}})
    large = comparison.model_copy(update={"rows": (first,)})
    assert str(2**70) in csv_text(large)
    with pytest.raises(InputError, match="D7: a number is beyond 64 bits"):
        parquet(large)
