"""Runs: what two of them share byte for byte, how one goes on, and what it is summed up to."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from planner.batch import Settings
from planner.cli.output import LINE
from planner.research.bench import Bench, Chosen, bench, run
from planner.research.bench.record import Row
from planner.research.bench.summary import FACTORS, profiles, standings
from planner.research.rivals.table import RIVALS
from tests.cli.running import call, refused
from tests.research.bench.suites import FOLDER, LITTLE, SUITE, part
from tests.told import told

CASES = ("classical-small-1", "elastic-1", "yunikorn-small-2")
FEW = ("greedy", "restarts", "search")
ASKED = ("--quick", "--jobs", "1", *(word for name in FEW for word in ("--rival", name)))
ONE = ("--rival", "greedy", "--case", "elastic-1")
CLOCKS = ("cpu_seconds", "prepare_seconds")


@pytest.fixture(autouse=True, scope="module")
def _little() -> Iterator[None]:
    """Let who draws be done in little time."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(run, "QUICK", LITTLE)
        yield


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a suite of three small cases."""
    return part(tmp_path_factory.mktemp("suite"), CASES)


def timeless(text: str) -> list[str]:
    """Return the lines of a results file without times."""
    lines = []
    for line in text.splitlines():
        value = json.loads(line)
        for row in (value.get("result") or {}).get("rows", ()):
            for clock in CLOCKS:
                row.pop(clock)
        lines.append(json.dumps(value))
    return lines


def ran(*words: str | Path, code: int = 0) -> Any:
    """Run the command, and return what it prints as JSON."""
    result = call("bench", *words, "--format", "json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


class Run(NamedTuple):
    """What a whole run of the suite leaves: a line for each answer, a table, and what it prints."""

    results: Path
    table: Path
    printed: Any


@pytest.fixture(scope="module")
def whole(suite: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Give a run that nobody disturbs."""
    folder = tmp_path_factory.mktemp("whole")
    results, table = folder / "rows.jsonl", folder / "rows.csv"
    return Run(results, table, ran(suite, *ASKED, "--results", results, "--table", table))


def test_two_runs_differ_in_their_times_alone(suite: Path, tmp_path: Path, whole: Run) -> None:
    again = tmp_path / "again.jsonl"
    rows = ran(suite, *ASKED, "--results", again)["rows"]
    one, other = (timeless(file.read_text(encoding="utf-8")) for file in (whole.results, again))
    assert one == other
    assert len(one) == 1 + len(CASES) * len(FEW)
    assert [row["digest"] for row in whole.printed["rows"]] == [row["digest"] for row in rows]


def test_a_run_that_was_stopped_goes_on(suite: Path, tmp_path: Path, whole: Run) -> None:
    torn, text = tmp_path / "torn.jsonl", whole.results.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    # It was killed in the middle of its fifth row.
    torn.write_text("".join(lines[:5]) + lines[5][:40], encoding="utf-8")
    ran(suite, *ASKED, "--results", torn, "--resume")
    again = torn.read_text(encoding="utf-8")
    assert timeless(again) == timeless(text)
    # What was there already is kept as it was, times too.
    assert again.startswith("".join(lines[:5]))


def test_a_run_of_another_suite_does_not_go_on(suite: Path, tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    ran(suite, *ONE, "--jobs", "1", "--results", results)
    other = part(tmp_path, CASES, version="2")
    said = refused("bench", other, *ONE, "--results", results, "--resume")
    told(said)


def test_a_run_under_other_limits_does_not_go_on(suite: Path, tmp_path: Path) -> None:
    results = tmp_path / "rows.jsonl"
    words = (suite, *ONE, "--results", results)
    ran(*words, "--state-time-limit", "1000")
    said = refused("bench", *words, "--state-time-limit", "2000", "--resume")
    told(said)


def test_a_case_that_is_not_in_the_quick_run_is_refused(tmp_path: Path) -> None:
    slow = next(case.name for case in SUITE.cases if not case.quick)
    file = part(tmp_path, (*CASES, slow))
    for more in ((), ("--case", CASES[0])):
        said = refused("bench", file, "--quick", "--jobs", "1", "--case", slow, *more)
        told(said)
        assert CASES[1] in said


def test_patterns_name_cases_and_rivals(tmp_path: Path) -> None:
    """In the order of the suite, once each, and only those of the quick run."""
    slow = next(case.name for case in SUITE.cases if not case.quick)
    file = part(tmp_path, (*CASES, slow))
    words = ("--case", "*1", "--case", "classical-*", "--rival", "gr*", "--rival", "search")
    result = call("bench", file, "--quick", "--jobs", "1", *words, "--format", "json")
    rows = json.loads(result.stdout)["rows"]
    chosen = [(case, rival) for case in CASES[:2] for rival in ("greedy", "search")]
    assert [*dict.fromkeys((row["case"], row["rival"]) for row in rows)] == chosen
    told(result.stderr)
    said = refused("bench", file, "--quick", "--case", f"{slow[:-1]}?")
    told(said)


def test_a_run_says_how_long_it_takes() -> None:
    """Before it begins: 658 answers of a third of a second each."""
    said: list[str] = []

    class BegunError(Exception):
        """Ends the run that has begun."""

    def notice(text: str) -> None:
        said.append(text)
        raise BegunError

    for quick in (True, False):
        with pytest.raises(BegunError):
            bench(FOLDER / "suite.json", Settings(), Chosen(quick), notice)
    told(said)


def test_a_run_that_is_stopped_says_what_is_kept(
    suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planner.research.bench.bench", stopped)
    rows = tmp_path / "rows.jsonl"
    kept = call("bench", suite, "--results", rows)
    assert kept.exit_code == 130
    told(kept.stderr)
    lost = call("bench", suite)
    told(lost.stderr)


def test_a_terminal_shows_how_many_answers_are_done(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[float, str]] = []
    monkeypatch.setattr(LINE, "update", lambda share, label: shown.append((share, label)))
    ran(suite, *ASKED, "--case", "elastic-1")
    assert [share for share, _ in shown] == pytest.approx([1 / 3, 2 / 3, 1])
    labels = [label.partition(" done, ")[0] for _, label in shown]
    assert labels == ["1 of 3", "2 of 3", "3 of 3"]


@pytest.mark.parametrize("option", ["-o", "--table"])
def test_no_file_of_a_run_is_written_twice(suite: Path, tmp_path: Path, option: str) -> None:
    rows = tmp_path / "rows.csv"
    said = refused("bench", suite, *ONE, "--jobs", "1", "--results", rows, option, rows)
    told(said)
    assert not rows.exists()


def test_the_suite_is_not_written_over(suite: Path) -> None:
    before = suite.read_bytes()
    result = call("bench", suite, *ONE, "--jobs", "1", "-o", suite)
    assert result.exit_code == 2
    assert suite.read_bytes() == before


def test_what_a_run_prints(suite: Path, whole: Run) -> None:
    bench = Bench.model_validate(whole.printed)
    assert bench.manifest.rivals == FEW
    assert bench.manifest.machine.versions.keys() >= {"ortools", "preemption-planner"}
    assert len(bench.rows) == len(CASES) * len(FEW) * len(bench.manifest.objectives)
    rows = list(csv.DictReader(io.StringIO(whole.table.read_text(encoding="utf-8"))))
    assert [row["digest"] for row in rows] == [row.digest for row in bench.rows]
    for style in ("table", "plain", "markdown", "html", "csv"):
        text = call("bench", suite, "--quick", "--jobs", "1", *ONE, "--format", style).stdout
        assert "greedy" in text


def test_parquet_has_the_same_rows(suite: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    table = tmp_path / "rows.parquet"
    value = ran(suite, "--jobs", "1", *ONE, "--table", table)
    frame = pandas.read_parquet(table)
    assert list(frame["digest"]) == [row["digest"] for row in value["rows"]]
    assert list(frame["cpu_seconds"]) == [row["cpu_seconds"] for row in value["rows"]]


@pytest.mark.parametrize(
    "words", [("--rival", "nobody"), ("--case", "nowhere"), ("--table", "rows.txt"), ("--resume",)]
)
def test_what_is_refused(suite: Path, words: tuple[str, ...]) -> None:
    told(refused("bench", suite, *words))


@pytest.mark.parametrize(
    ("file", "found"),
    [
        ("instances/quickstart/cluster.json", "is no suite: it has no cases"),
        ("instances/quickstart", "is a directory"),
        ("instances/none.json", "there is no such file or directory"),
        ("pyproject.toml", "is not JSON: Expecting value at line 1 column 2"),
    ],
)
def test_who_gives_states_is_told_what_a_suite_is_and_who_reads_states(
    file: str, found: str
) -> None:
    result = call("bench", file)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        f"error: {file}: {found}\n"
        "  expected the file of a suite, such as instances/bench/suite.json\n"
        "  hint: planner compare holds algorithms against one another on states of your own\n"
    )


def test_a_proof_that_is_refuted_is_a_finding(suite: Path, tmp_path: Path) -> None:
    """The record says that fewer victims would do than the fewest."""
    value = json.loads(suite.read_text(encoding="utf-8"))
    for case in value["cases"]:
        for best in case["optima"]:
            best["values"] = dict.fromkeys(best["values"], 0)
    false = tmp_path / "suite.json"
    false.write_text(json.dumps(value), encoding="utf-8")
    found = ran(false, "--jobs", "1", "--rival", "search", "--case", "classical-small-1", code=1)
    assert all(row["refuted"] and row["gap"] > 0 for row in found["rows"])
    assert not any(row["refutes"] for row in found["rows"])


@pytest.mark.parametrize("rival", ["search", "greedy"])
def test_an_answer_that_is_better_than_the_record_refutes_it(
    rival: str, suite: Path, tmp_path: Path
) -> None:
    """The record says that far more is lost than need be, or that there is no plan; both are wrong.

    The answer is judged by the verifier, and its proof, where it claims one, stands.
    """
    for status in ("optimal", "infeasible"):
        value = json.loads(suite.read_text(encoding="utf-8"))
        for case in value["cases"]:
            for best in case["optima"]:
                more = {term: least + 10**9 for term, least in best["values"].items()}
                best |= {"status": status, "values": more if status == "optimal" else {}}
        false = tmp_path / "suite.json"
        false.write_text(json.dumps(value), encoding="utf-8")
        asked = ("--jobs", "1", "--rival", rival, "--case", "classical-small-1")
        found = ran(false, *asked, code=1)
        assert found["rows"]
        for row in found["rows"]:
            assert row["legal"]
            assert row["proved"] == (rival == "search")
            assert (row["refutes"], row["refuted"], row["optimal"]) == (True, False, False)
            assert row["worse_at"] is None
            assert (row["gap"] is not None and row["gap"] < 0) == (status == "optimal")
        assert {one["refutes"] for one in found["standings"]} == {len(found["rows"])}
        page = call("bench", false, *asked, "--format", "markdown").stdout
        assert "| Refutes |" in page
        assert "which is wrong" in page


def test_a_record_of_another_objective_is_refused(suite: Path, tmp_path: Path) -> None:
    value = json.loads(suite.read_text(encoding="utf-8"))
    value["cases"][0]["optima"][0]["values"] = {"workloads": 1, "unfairness": 0}
    other = tmp_path / "suite.json"
    other.write_text(json.dumps(value), encoding="utf-8")
    found = ran(other, "--jobs", "1", "--rival", "greedy", "--case", CASES[0], code=2)
    assert [one["outcome"] for one in found["failures"]] == ["failed"]
    told(found["failures"][0]["detail"])


def row_of(rival: str, case: str, seconds: float, **changes: Any) -> Row:
    """Return an answer that is optimal, unless something else is said."""
    fields: dict[str, Any] = {
        "case": case,
        "kind": "classical",
        "scheduler": "kueue",
        "size": "small",
        "hard": False,
        "running": 9,
        "candidates": 9,
        "objective": "min-count",
        "rival": rival,
        "family": "rule",
        "status": "plan",
        "legal": True,
        "victims": 2,
        "fewest": 2,
        "digest": "",
        "optimal": True,
        "proved": False,
        "refuted": False,
        "judgements": 0,
        "late": False,
        "cpu_seconds": seconds,
        "prepare_seconds": 0.0,
    }
    return Row.model_validate(fields | changes)


ROWS = (
    row_of("quick", "a", 0.01),
    row_of("quick", "b", 0.5, victims=6, optimal=False),
    row_of("slow", "a", 0.05),
    row_of("slow", "b", 0.2),
)


def test_standings_by_hand() -> None:
    quick, slow = (one for one in standings(ROWS) if one.size == "all")
    assert (quick.optimal, quick.ratio, quick.worst) == (1, 2.0, 3.0)
    assert (slow.optimal, slow.ratio, slow.worst) == (2, 1.0, 1.0)
    assert (slow.cpu_median, slow.cpu_p90, slow.cpu_total) == (0.125, 0.2, 0.25)


def test_profiles_by_hand() -> None:
    """Of case b only ``slow`` is optimal: it is the fastest there; of a it takes five times."""
    quick, slow = profiles(ROWS)
    assert quick.shares == (0.5,) * len(FACTORS)
    assert dict(zip(FACTORS, slow.shares, strict=True))[2] == 0.5
    assert dict(zip(FACTORS, slow.shares, strict=True))[5] == 1.0


def test_every_rival_says_where_it_comes_from() -> None:
    for name, one in RIVALS.items():
        assert one.name == name
        assert one.title
        assert one.source


@pytest.mark.parametrize("text", ["", "[]", '{"cases": [{"name": 1}]}', '{"cases": []}'])
def test_a_file_that_is_no_suite(text: str, tmp_path: Path) -> None:
    (tmp_path / "suite.json").write_text(text, encoding="utf-8")
    told(refused("bench", tmp_path / "suite.json"))


@pytest.mark.parametrize("path", ["", "/dev/zero"])
def test_what_is_no_file_is_not_read_to_its_end(path: str) -> None:
    told(refused("bench", path))
