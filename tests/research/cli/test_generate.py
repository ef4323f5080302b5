"""``planner generate``: files, lines and folders that the other commands read."""

import json
import subprocess
from pathlib import Path

import pytest

import planner
from planner.research.generate import PRESETS, generate, knobs_of
from planner.research.generate.kueue.layout import KueueKnobs
from planner.research.generate.yunikorn import YuniKornKnobs
from planner.state.kueue import State
from tests.batch.runs import wait_for
from tests.cli.running import call, command, environment, refused
from tests.conftest import FOR_EVER_S
from tests.told import told

SMALL = ("generate", "small", "--seed", "3")


def test_standard_output_is_a_dump(tmp_path: Path) -> None:
    result = call(*SMALL)
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout)["kind"] == "List"
    solved = call("solve", "-", "--format", "json", stdin=result.stdout)
    assert solved.exit_code == 0
    assert json.loads(solved.stdout)["greedy"]["victims"]
    file = tmp_path / "cluster.json"
    told(call(*SMALL, "-o", file).stderr)
    assert file.read_text() == result.stdout


def test_what_is_ended_leaves_nothing_half_written(tmp_path: Path) -> None:
    """As a supervisor ends it: neither the file, nor what it was written to at first."""
    words = command("generate", "small", "--count", "1000000", "-o", tmp_path / "states.jsonl")
    child = subprocess.Popen(words, env=environment(), stderr=subprocess.PIPE)
    wait_for(lambda: any(tmp_path.iterdir()))
    child.terminate()
    _, said = child.communicate(timeout=FOR_EVER_S)
    assert (child.returncode, said.strip()) == (130, b"error: interrupted")
    assert not any(tmp_path.iterdir())


def test_yaml_is_the_same_state(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    assert call(*SMALL, "-o", file).exit_code == 0
    state, made = planner.read(file), generate("small", 3)
    assert isinstance(state, State)
    assert isinstance(made, State)
    assert state.workloads == made.workloads
    assert state.cluster_queues == made.cluster_queues
    assert state.now == made.now


@pytest.mark.parametrize(
    ("preset", "name"),
    [("small", "states"), ("yunikorn-small", "states.jsonl"), ("small", "states.jsonl.gz")],
)
def test_audit_reads_many(preset: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    assert call("generate", preset, "--count", "3", "-o", path).exit_code == 0
    result = call("audit", path, "--jobs", "1", "--format", "json", "--fail-on", "never")
    assert result.exit_code == 0, result.stderr
    value = json.loads(result.stdout)
    assert (value["summary"]["states"], len(value["cases"])) == (3, 3)
    assert value["failures"] == []


def test_a_state_of_many_is_the_one_of_its_seed(tmp_path: Path) -> None:
    assert call("generate", "small", "--count", "3", "-o", tmp_path / "all").exit_code == 0
    assert (tmp_path / "all" / "small-2.json").read_text() == call(
        "generate", "small", "--seed", "2"
    ).stdout


def test_every_knob_is_an_option() -> None:
    page = call("generate", "--help").stdout
    for record in (KueueKnobs, YuniKornKnobs):
        for entry in knobs_of(record):
            assert f"--{entry.name.replace('_', '-')}" in page
    assert all(f"  {name}  " in page for name in PRESETS)
    (line,) = call("generate", "small", "--workloads", "20", "--count", "1").stdout.splitlines()[
        -1:
    ]
    assert line == "]}"


def test_options_turn_knobs(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    assert (
        call(*SMALL, "--workloads", "20", "--last-tier", "100", "--fair", "-o", file).exit_code == 0
    )
    state = planner.read(file)
    assert isinstance(state, State)
    assert len(state.workloads) == 21
    assert state.configuration.fair_sharing_on


def test_a_folder_may_have_any_name_and_a_suffix_any_case(tmp_path: Path) -> None:
    """A folder that is there is meant; where there is none, .18 is no suffix of files."""
    (tmp_path / "there.csv").mkdir()
    for name in ("there.csv", "kueue-0.18"):
        assert call("generate", "flat", "-o", tmp_path / name).exit_code == 0
        assert [one.name for one in (tmp_path / name).iterdir()] == ["flat-0.json"]
    assert call("generate", "flat", "-o", tmp_path / "ONE.JSON").exit_code == 0
    assert (tmp_path / "ONE.JSON").read_bytes() == (
        tmp_path / "there.csv" / "flat-0.json"
    ).read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        ("flat", "--workloads", "0"),
        ("flat", "--fences", "3"),
        ("yunikorn", "--shapes", "kueue-baseline"),
        ("flat", "--cohorts", "9"),
        ("flat", "--seed", "-1"),
        ("nonesuch",),
        (),
        ("flat", "--count", "2", "-o", "two.json"),
        ("flat", "--count", "2", "-o", "TWO.JSON"),
        ("flat", "-o", "one.txt"),
        ("flat", "-o", "one.json.gz"),
    ],
)
def test_what_cannot_be_is_refused(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    said = refused("generate", *options)
    told(said)
    assert "Traceback" not in said
    assert list(tmp_path.iterdir()) == []
