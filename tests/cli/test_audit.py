"""``planner audit``: findings, formats, exit codes, results that a run goes on from."""

import csv
import gzip
import io
import json
import re
import signal
import subprocess
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from planner.errors import InternalError
from tests.batch.runs import wait_for
from tests.cli.running import (
    BIG,
    SMALL,
    answer,
    call,
    cluster,
    command,
    environment,
    refused,
    valid,
    write,
)
from tests.cluster import dump_of, pending, queue, running
from tests.conftest import FOR_EVER_S, ROOT, YUNIKORN
from tests.told import told

RECORDED = ROOT / "instances" / "recorded"


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    """Return a cluster in which nobody needs to go."""
    return write(tmp_path, dump_of(queue("alone", 4), pending("alone", 3)), "clean.json")


def audited(*args: str | Path, code: int = 1) -> Any:
    """Return an audit as JSON that obeys its schema."""
    return answer("audit", "audit", *args, "--jobs", "1", code=code)


def test_finding(dump: Path) -> None:
    value = audited(dump)
    assert value["objectives"] == ["no-regret"]
    (case,) = value["cases"]
    assert set(case["victims"]) == set(SMALL)
    assert case["judgements"][0]["victims"] == [BIG]
    assert (case["smallest"], case["fewest"]) == (False, 1)
    assert case["findings"] == ["disruption"]
    assert value["summary"]["findings"] == {"disruption": 1}


@pytest.fixture
def dearer(tmp_path: Path) -> Path:
    """Return a cluster in which one victim would do that loses more than Kueue's four."""
    value = cluster()
    for one in value["items"]:
        one["metadata"].pop("annotations", None)
    return write(tmp_path, value, "dearer.json")


def test_fewer_victims_that_lose_more_are_told_and_no_alarm(dearer: Path) -> None:
    value = audited(dearer, code=0)
    (case,) = value["cases"]
    assert (case["findings"], case["fewest"], len(case["victims"])) == ([], 1, 4)
    summary = value["summary"]
    assert (summary["fewer"], summary["clean"], summary["findings"]) == (1, 1, {})
    (verdicts,) = summary["verdicts"]
    assert (verdicts["objective"], verdicts["best"], verdicts["not_best"]) == ("no-regret", 1, 0)
    for style in ("table", "markdown", "html"):
        result = call("audit", dearer, "--format", style)
        assert result.exit_code == 0
        assert "fewer victims would do in the only case, at whatever cost" in result.stdout
        assert "min-count" not in result.stdout
        assert "100% not best" not in " ".join(re.sub("<[^>]*>", " ", result.stdout).split())


def test_clean(clean: Path) -> None:
    value = audited(clean, code=0)
    assert value["summary"]["clean"] == 1
    told(call("audit", clean, "--format", "table").stdout)


@pytest.mark.parametrize(
    ("fatal", "code"),
    [(["disruption"], 1), (["redundant"], 0), (["redundant", "disruption"], 1), (["never"], 0)],
)
def test_fail_on(dump: Path, fatal: list[str], code: int) -> None:
    audited(dump, *(word for one in fatal for word in ("--fail-on", one)), code=code)


def test_never_goes_alone(dump: Path) -> None:
    assert "never" in refused("audit", dump, "--fail-on", "never", "--fail-on", "rules")


def test_csv(dump: Path) -> None:
    result = call("audit", dump, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["objective"] for row in rows] == ["no-regret"]
    assert rows[0]["fewest"] == "1"
    assert (rows[0]["victims"], rows[0]["optimum_victims"]) == ("4", "1")
    assert (rows[0]["greedy_workloads"], rows[0]["optimum_workloads"]) == ("4", "1")


def test_several_states_and_objectives(dump: Path, clean: Path) -> None:
    asked = ["--objective", "min-lost-work", "--objective", "least-disruption"]
    value = audited(dump, clean, YUNIKORN, *asked)
    assert value["objectives"] == ["min-lost-work", "least-disruption"]
    assert value["summary"]["states"] == 3
    states = {case["state"] for case in value["cases"]}
    assert states == {str(dump), str(clean), str(YUNIKORN)}


def test_a_state_that_cannot_be_read_is_a_failure(dump: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{\n" + json.dumps(cluster()) + "\n")
    value = audited(bad, dump)
    assert value["summary"]["cases"] == 2
    (failure,) = value["failures"]
    assert failure["state"] == f"{bad}: line 1"
    assert failure["outcome"] == "failed"
    assert audited(bad, "--fail-on", "never", code=2)["summary"]["failures"] == 1


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_failures_that_have_no_row_are_told_beside_it(tmp_path: Path, verb: str) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text("{\n[\n")
    result = call(verb, bad, "--jobs", "1", "--format", "csv")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 1
    told(result.stderr)


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_a_clock_for_states_that_have_none(tmp_path: Path, verb: str) -> None:
    dump = json.loads((YUNIKORN / "statedump.json").read_text("utf-8"))
    del dump["timestamp"]
    lines = tmp_path / "states.jsonl"
    lines.write_text(f"{json.dumps(dump)}\n")
    file = write(tmp_path, dump)
    words: list[str | Path] = [file, lines, "--jobs", "1", "--format", "json"]
    result = call(verb, *words, "--now", "2026-11-12T09:42:10Z")
    assert json.loads(result.stdout)["failures"] == []
    assert len(json.loads(call(verb, *words).stdout)["failures"]) == 2


def test_why_a_workload_is_not_judged_is_one_line(dump: Path) -> None:
    (failure,) = audited(dump, "--pending", "ns/nobody", code=2)["failures"]
    told(failure["detail"])
    assert "\n" not in failure["detail"]


@pytest.mark.parametrize("words", [("audit", "--results"), ("solve", "--proof")])
def test_a_file_beside_the_result_is_no_standard_output(
    words: tuple[str, str], dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--results -`` made a file of that name; and no two results go into one file."""
    monkeypatch.chdir(tmp_path)
    verb, option = words
    result = call(verb, dump, option, "-")
    assert (result.exit_code, result.stdout) == (2, "")
    told(result.stderr)
    told(refused(verb, dump, option, "rows", "-o", tmp_path / "rows"))
    assert [one.name for one in tmp_path.iterdir()] == [dump.name]


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_a_bug_of_ours_is_a_row_and_the_exit_code(
    verb: str, dump: Path, clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It counts more than a finding or bad input; all other states have their rows."""
    kind = import_module(f"planner.commands.{verb}").Question
    before = kind.answer

    def failing(question: Any, instance: Any) -> Any:
        if instance.name == str(dump):
            raise InternalError("the plan failed KQ-01")
        return before(question, instance)

    monkeypatch.setattr(kind, "answer", failing)
    bad = write(tmp_path, "no dump", "bad.json")
    other = write(tmp_path, cluster(), "other.json")
    result = call(verb, bad, dump, clean, other, "--format", "json")
    assert result.exit_code == 70
    value = valid("audit" if verb == "audit" else "comparison", result.stdout)
    assert [one["outcome"] for one in value["failures"]] == ["failed", "bug"]
    rows = value["cases"] if verb == "audit" else value["rows"]
    assert {row["state"] for row in rows} == {str(clean), str(other)}
    told(result.stderr)


@pytest.mark.parametrize("again", ["folder", "folder/cluster.json"])
def test_a_state_that_is_given_twice_is_refused_before_the_work(
    tmp_path: Path, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder", cluster())
    result = call("audit", "./folder", again, "--jobs", "1", "--results", "rows")
    assert (result.exit_code, "is there twice" in result.stderr) == (2, True)
    assert not (tmp_path / "rows").exists()


def test_time_limit_of_zero_is_no_proof(dump: Path) -> None:
    assert audited(dump, "--time-limit", "0", code=4)["summary"]["unproved"] == 1


def test_results_and_resume(tmp_path: Path) -> None:
    states = tmp_path / "states.jsonl"
    with gzip.open(RECORDED / "small-classical-flat.jsonl.gz") as file:
        states.write_bytes(b"".join(islice(file, 8)))
    results = tmp_path / "results.jsonl"
    first = call("audit", states, "--jobs", "1", "--results", results, "--format", "json")
    whole = results.read_bytes()
    assert "--resume" in refused("audit", states, "--jobs", "1", "--results", results)
    lines = whole.splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:3]) + lines[3][:40])
    resumed = call(
        "audit", states, "--jobs", "2", "--results", results, "--resume", "--format", "json"
    )
    assert results.read_bytes() == whole
    assert resumed.stdout == first.stdout
    other = call("audit", states, "--results", results, "--resume", "--objective", "min-cost")
    assert other.exit_code == 2


def test_a_state_that_is_gone_is_missed_before_any_work(tmp_path: Path) -> None:
    """The rows are kept, and none is added: the state may come back."""
    dumps, results = tmp_path / "dumps", tmp_path / "results"
    dumps.mkdir()
    lines = (RECORDED / "small-classical-flat.jsonl.gz").read_bytes()
    (dumps / "recorded.jsonl.gz").write_bytes(lines)
    for name in "ab":
        write(dumps, cluster(), f"{name}.json")
    options: list[str | Path] = [dumps, "--results", results, "--format", "plain"]
    first = call("audit", *options)
    rows = results.read_bytes()
    (dumps / "a.json").rename(dumps / "c.json")
    said = refused("audit", *options, "--resume")
    told(said)
    assert results.read_bytes() == rows
    (dumps / "c.json").rename(dumps / "a.json")
    assert call("audit", *options, "--resume").stdout == first.stdout


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_a_file_that_changed_is_asked_again(tmp_path: Path, verb: str) -> None:
    """A row is believed only while its state is what it was."""
    states = [write(tmp_path, cluster(), f"{name}.json") for name in "abc"]
    results = tmp_path / "results"
    options: list[str | Path] = [*states, "--jobs", "1", "--results", results, "--format", "plain"]
    call(verb, *options)
    unchanged = call(verb, *options, "--resume")
    assert unchanged.stderr == ""
    write(tmp_path, cluster(asks=2), "b.json")
    resumed = call(verb, *options, "--resume")
    said = f"{states[1]} has changed since {results} was written, and is asked for again"
    assert resumed.stderr == f"note: {said}\n"
    results.unlink()
    anew = call(verb, *options)
    assert without_times(resumed.stdout) == without_times(anew.stdout)
    assert without_times(resumed.stdout) != without_times(unchanged.stdout)


@pytest.mark.parametrize("verb", ["audit", "compare"])
@pytest.mark.parametrize("result", [{}, {"state": 1}, {"state": "a", "cases": 3, "rows": {"a": 1}}])
def test_a_row_that_somebody_changed_is_bad_input(
    tmp_path: Path, verb: str, result: dict[str, Any]
) -> None:
    state, rows = write(tmp_path, cluster()), tmp_path / "rows"
    options: list[str | Path] = [state, "--jobs", "1", "--results", rows]
    call(verb, *options)
    header, row = rows.read_text().splitlines()
    rows.write_text(f"{header}\n{json.dumps({**json.loads(row), 'result': result})}\n")
    said = refused(verb, *options, "--resume")
    assert said.startswith(f"error: {rows}: result")
    told(said)


@pytest.mark.parametrize(
    "change", [{"judgements": []}, {"gaps": {"x": 1}}], ids=["no judgement", "a gap of no term"]
)
def test_a_case_that_somebody_changed_is_bad_input(tmp_path: Path, change: dict[str, Any]) -> None:
    state, rows = write(tmp_path, cluster()), tmp_path / "rows"
    options: list[str | Path] = [state, "--jobs", "1", "--results", rows]
    call("audit", *options)
    header, row = rows.read_text().splitlines()
    value = json.loads(row)
    (case,) = value["result"]["rows"]
    (case if "judgements" in change else case["judgements"][0]).update(change)
    rows.write_text(f"{header}\n{json.dumps(value)}\n")
    told(refused("audit", *options, "--resume"))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.json.gz"])
@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_results_are_not_read_as_states(tmp_path: Path, verb: str, name: str) -> None:
    """Every row would be a state that gets a row, without end."""
    write(tmp_path, cluster())
    said = refused(verb, tmp_path, "--jobs", "1", "--results", tmp_path / name)
    told(said)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_no_file_is_written_twice(dump: Path, tmp_path: Path, verb: str) -> None:
    """Rows would be lost to the result after hours of work."""
    rows, link = tmp_path / "rows", tmp_path / "link.csv"
    options: list[str | Path] = [dump, "--jobs", "1", "--results", rows]
    call(verb, *options)
    before = rows.read_bytes()
    link.symlink_to(rows)
    files: dict[str, list[str | Path]] = {"-o": ["-o", rows]}
    if verb == "compare":
        files["--table"] = ["--table", link]
    for option, words in files.items():
        said = refused(verb, *options, "--resume", *words)
        assert said.startswith(f"error: {option} ")
        told(said)
        assert rows.read_bytes() == before


@pytest.mark.parametrize(
    "words", [("audit", "-o"), ("compare", "-o"), ("compare", "--table"), ("audit", "--results")]
)
def test_no_state_is_written_over(
    tmp_path: Path, words: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    verb, option = words
    name = "states.csv"
    state = write(tmp_path, cluster(), name)
    before = state.read_bytes()
    files = {"--results": "rows", option: name}
    given = (word for pair in files.items() for word in pair)
    said = refused(verb, state, "--jobs", "1", "--resume", *given)
    told(said)
    assert state.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("verb", "option"),
    [("audit", "--state-time-limit"), ("audit", "--max-size"), ("compare", "--state-memory-limit")],
)
def test_rows_under_other_limits_are_not_mixed(dump: Path, verb: str, option: str) -> None:
    """What is too much under one limit is an answer under another."""
    rows = dump.parent / "rows"
    options: list[str | Path] = [dump, "--results", rows]
    assert call(verb, *options, option, "10000000000").exit_code in {0, 1}
    before = rows.read_bytes()
    said = refused(verb, *options, "--resume", option, "20000000000")
    told(said)
    assert "20000000000" in said
    assert rows.read_bytes() == before


@pytest.mark.parametrize("verb", ["audit", "compare"])
def test_no_state_is_no_clean_bill(tmp_path: Path, verb: str) -> None:
    (tmp_path / "states.jsonl").write_text("\n")
    (tmp_path / "below").mkdir()
    for path in (tmp_path, tmp_path / "states.jsonl", tmp_path / "below"):
        rows = tmp_path / "rows"
        said = refused(verb, path, "--results", rows)
        told(said)
        assert not rows.exists()


def test_lines_are_bounded_as_dumps_are(tmp_path: Path) -> None:
    text = json.dumps(cluster())
    lines = tmp_path / "states.jsonl"
    lines.write_text(f"{text}\n{text}{' ' * 1000}\n{text}\n")
    bound = ["--max-size", str(len(text) + 100), "--fail-on", "never"]
    value = audited(lines, *bound, code=2)
    assert [case["state"] for case in value["cases"]] == [f"{lines}: line 1"]
    (failure,) = value["failures"]
    assert failure["state"] == f"{lines}: line 2"
    told(failure["detail"])


def test_one_damaged_dump_of_a_folder_is_a_failure(tmp_path: Path) -> None:
    """Once it is mended, it is asked for again."""
    whole = gzip.compress(json.dumps(cluster()).encode())
    for name, data in (("1", whole), ("2", whole[:-9]), ("3", whole)):
        (tmp_path / f"{name}.json.gz").write_bytes(data)
    rows = tmp_path / "rows"
    value = audited(tmp_path, "--fail-on", "never", "--results", rows, code=2)
    assert [case["state"] for case in value["cases"]] == [
        str(tmp_path / f"{name}.json.gz") for name in "13"
    ]
    (failure,) = value["failures"]
    assert failure["state"] == str(tmp_path / "2.json.gz")
    told(failure["detail"])
    (tmp_path / "2.json.gz").write_bytes(whole)
    again = audited(tmp_path, "--fail-on", "never", "--results", rows, "--resume", code=0)
    assert len(again["cases"]) == 3


def test_states_of_yunikorn_are_judged_one_by_one(tmp_path: Path) -> None:
    """Of a folder of state dumps, and of a file of one a line."""
    dump = json.loads((YUNIKORN / "statedump.json").read_text("utf-8"))
    later = {**dump, "timestamp": dump["timestamp"] + 60 * 10**9}
    (tmp_path / "day").mkdir()
    for name, one in (("1", dump), ("2", later)):
        write(tmp_path / "day", one, f"{name}.json")
    lines = tmp_path / "day.jsonl"
    lines.write_text(f"{json.dumps(dump)}\n{json.dumps(later)}\n")
    value = audited(tmp_path / "day", lines)
    assert value["summary"]["states"] == 4
    assert value["failures"] == []
    assert len(value["cases"]) == 4
    for one in value["cases"]:
        del one["state"]
    first, second, *others = value["cases"]
    assert others == [first, second]
    # A minute later the victims have a minute of work more to lose.
    assert first["terms"]["lost_work"] < second["terms"]["lost_work"]


def test_two_objectives_of_one_name_are_refused(dump: Path, tmp_path: Path) -> None:
    """Answers are told apart by these names; the same objective twice is one."""
    files = [tmp_path / folder / "gentle.toml" for folder in "ab"]
    for file, level in zip(files, ("workloads", "lost_work"), strict=True):
        file.parent.mkdir()
        file.write_text(f'levels = ["{level}"]')
    first, second = (("--objective", str(file)) for file in files)
    said = refused("audit", dump, "--jobs", "1", *first, *second)
    told(said)
    again = ("--objective", str(tmp_path / "b" / ".." / "a" / "gentle.toml"))
    assert audited(dump, *first, *again)["objectives"] == ["gentle"]


def without_times(text: str) -> str:
    """Leave out the seconds that a comparison took."""
    return re.sub(r"[0-9]+\.[0-9]+", "", text)


def test_resume_without_results(dump: Path) -> None:
    assert "--results" in refused("audit", dump, "--resume")


def test_state_time_limit(tmp_path: Path) -> None:
    """A state that takes too long is a row, never the end of the run."""
    parts = (queue("alone", 9_000), *(running(f"r{i}", "alone", i + 1) for i in range(3_000)))
    large = write(tmp_path, dump_of(*parts, pending("alone", 3)), "large.json")
    result = call("audit", large, "--state-time-limit", "0.01", "--format", "json")
    assert result.exit_code == 2
    (failure,) = json.loads(result.stdout)["failures"]
    assert failure["outcome"] == "timeout"
    assert failure["state"] == str(large)


def test_ctrl_c_says_how_to_go_on(tmp_path: Path) -> None:
    """It comes after three rows of many hundred."""
    states = sorted(RECORDED.glob("*.jsonl.gz"))
    results = tmp_path / "results.jsonl"
    words = command("audit", *states, "--jobs", "2", "--results", results)
    with subprocess.Popen(
        words, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as run:
        wait_for(lambda: results.exists() and results.read_bytes().count(b"\n") > 3)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=FOR_EVER_S)
    assert run.returncode == 130
    assert "--resume" in said
    assert "Traceback" not in said
    assert results.read_bytes().endswith(b"\n")
