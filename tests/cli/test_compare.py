"""``planner compare``: formats, tables, plots, exit codes, results that a run goes on from."""

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cli.running import BIG, SMALL, answer, call, cluster, environment, refused, write
from tests.conftest import YUNIKORN
from tests.told import told

THREE = ("--algorithm", "greedy", "--algorithm", "kueue-fair", "--algorithm", "optimum:min-count")


def compared(*args: str | Path, code: int = 0) -> Any:
    """Return a comparison as JSON that obeys its schema."""
    return answer("comparison", "compare", *args, "--jobs", "1", code=code)


def test_by_default_the_scheduler_and_the_optimum(dump: Path) -> None:
    value = compared(dump)
    assert value["algorithms"] == ["greedy", "optimum:no-regret"]
    greedy, best = value["rows"]
    assert set(greedy["victims"]) == set(SMALL)
    assert best["victims"] == [BIG]
    assert value["summary"]["duels"][0]["scores"][0] == {
        "measure": "victims",
        "wins": 1,
        "ties": 0,
        "losses": 0,
        "mean_gap": 3.0,
    }


def test_several_states_of_both_schedulers(dump: Path) -> None:
    value = compared(dump, YUNIKORN, *THREE)
    assert [row["status"] for row in value["rows"]] == [
        "feasible",
        "feasible",
        "optimal",
        "feasible",
        "skipped",
        "optimal",
    ]
    assert {row["state"] for row in value["rows"]} == {str(dump), str(YUNIKORN)}


def test_tables_and_plots(dump: Path, tmp_path: Path) -> None:
    plots, flat, packed = tmp_path / "plots", tmp_path / "rows.csv", tmp_path / "rows.parquet"
    value = compared(dump, "--table", flat, "--plots", plots)
    rows = list(csv.DictReader(io.StringIO(flat.read_text("utf-8"))))
    assert [int(row["victims"]) for row in rows] == [len(row["victims"]) for row in value["rows"]]
    assert {path.name for path in plots.iterdir()} == {
        "victims.svg",
        "lost-work.svg",
        "gaps.svg",
        "time.svg",
    }
    compared(dump, "--table", packed, "--plots", plots, "--plot-format", "png")
    assert pd.read_parquet(packed)["victims"].tolist() == [4, 1]
    assert len(list(plots.iterdir())) == 8


def test_an_algorithm_that_fails_and_one_that_is_skipped(dump: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('levels = ["workloads"]\n[budget.queue]\nnowhere = 0\n')
    compared(dump, "--algorithm", "greedy", "--algorithm", "yunikorn")
    value = compared(dump, "--algorithm", "greedy", "--algorithm", f"optimum:{own}", code=2)
    assert value["summary"]["standings"][1]["failed"] == 1


def test_no_time_no_proof(dump: Path) -> None:
    assert compared(dump, "--time-limit", "0", code=4)["summary"]["standings"][1]["proved"] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--algorithm", "kueue-foul"], 'there is no algorithm "kueue-foul"'),
        (["--table", "rows.xlsx"], ".csv or .parquet"),
        (["--table", "nowhere/rows.csv"], "--table nowhere/rows.csv: there is no folder"),
        (["--plots", "nowhere/plots"], "--plots nowhere/plots: there is no folder"),
        (["--plots", "cluster.json"], "is not a folder"),
        (["--resume"], "--results"),
        (["--pending", "ns/pending", "--now", "noon"], "RFC 3339"),
    ],
)
def test_errors(dump: Path, options: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(dump.parent)
    assert said in refused("compare", dump.name, *options)


@pytest.mark.parametrize(
    ("option", "package"),
    [("--table", "pyarrow"), ("--table", "pandas"), ("--plots", "matplotlib")],
)
def test_a_missing_package_is_said_before_the_work(
    dump: Path, option: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    target = dump.parent / "rows.parquet"
    said = refused("compare", dump, option, target)
    told(said)
    assert not target.exists()


def test_plain_use_draws_nothing(dump: Path) -> None:
    """The solver itself loads pandas; matplotlib is for --plots alone."""
    code = (
        "import sys; from planner.cli.main import main\n"
        f"main(['compare', {str(dump)!r}, '--jobs', '1'], standalone_mode=False)\n"
        "print('matplotlib' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stderr == "False\n"


@pytest.mark.parametrize(
    "without",
    [
        lambda rows: rows[1:],
        lambda rows: [rows[0], *rows],
        lambda rows: [rows[0], {**rows[1], "terms": {}}],
    ],
    ids=["one less", "one twice", "no terms"],
)
def test_rows_on_file_that_are_no_answer_are_refused(
    tmp_path: Path, without: Callable[[list[Any]], list[Any]]
) -> None:
    state, results = write(tmp_path, cluster()), tmp_path / "rows"
    algorithms = ("--algorithm", "greedy", "--algorithm", "optimum:min-count")
    asked = ("compare", state, *algorithms, "--jobs", "1", "--results", results)
    assert call(*asked).exit_code == 0
    header, row = results.read_text().splitlines()
    value = json.loads(row)
    value["result"]["rows"] = without(value["result"]["rows"])
    results.write_text(f"{header}\n{json.dumps(value)}\n")
    told(" ".join(refused(*asked, "--resume").split()))


def test_a_name_on_the_terminal_is_harmless(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31mb"
    folder.mkdir()
    write(folder, cluster())
    for style in ("table", "plain", "csv", "markdown", "html"):
        assert "\x1b" not in call("compare", folder, "--format", style).stdout


def test_pods_and_cpu_hours_where_there_are_no_accelerators() -> None:
    asked = ("compare", YUNIKORN, "--jobs", "1")
    greedy, best = compared(YUNIKORN)["rows"]
    hours = [
        (one["terms"]["lost_work"] + one["terms"]["restart_cost"]) * 32 / 3600
        for one in (greedy, best)
    ]
    text = call(*asked, "--format", "table").stdout
    assert "serving/ranker-2" in text
    assert greedy["pending"] not in text
    assert all(f" {one:.2f} " in text for one in hours)
    assert "Lost work, CPU-hours" in text
    assert "accelerator-hours" not in text


def test_accelerator_hours_where_there_are_accelerators(dump: Path) -> None:
    text = call("compare", dump, YUNIKORN, "--jobs", "1", "--format", "table").stdout
    assert "Lost work, accelerator-hours" in text
    assert "CPU-hours" not in text
