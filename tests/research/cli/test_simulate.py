"""``planner simulate``: formats, files, exit codes, and what is refused."""

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli import kueue_option
from planner.research.cli import simulate as room
from planner.research.simulate.script import MOST_S
from planner.research.simulate.simulate import CYCLES, EVICTION_S, STORM
from tests.cli.running import answer, call, process, refused, valid, write
from tests.cluster import dump_of, queue, running
from tests.conftest import FOR_EVER_S, some
from tests.reference.cycles import waits
from tests.research.simulate.test_loops import pair
from tests.test_regressions import ZOO
from tests.told import told

LOOP = ZOO / "kueue-14543-outside-the-strategies.yaml"
YUNIKORN = ZOO.parent / "yunikorn" / "quickstart"
WEEK = """\
run_seconds = 100

[[workload]]
name = "ns/low"
run_seconds = 3700
"""


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster in which one is evicted, and nothing goes round."""
    parts = (queue("a", 4, within="LowerPriority"), running("low", "a", 4))
    return write(tmp_path, dump_of(*parts, waits("high", "a", 2, 10)))


def test_json_and_the_timeline(dump: Path, tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    value = answer("simulation", "simulate", dump, "--timeline", file)
    events = [valid("event", line) for line in file.read_text("ascii").splitlines()]
    assert [(one["at_s"], one["kind"], one["workload"]) for one in events] == [
        (0, "preempted", "ns/low"),
        (30, "requeued", "ns/low"),
        (30, "admitted", "ns/high"),
    ]
    kept = [{k: v for k, v in one.items() if v is not None} for one in value["timeline"]]
    assert kept == events


def test_a_loop_is_a_finding(tmp_path: Path) -> None:
    (loop,) = answer("simulation", "simulate", LOOP, code=1)["loops"]
    assert loop["endless"] is True
    assert call("simulate", LOOP, "--fail-on", "storm").exit_code == 0
    assert call("simulate", LOOP, "--fail-on", "never").exit_code == 0
    assert call("simulate", LOOP, "--fail-on", "loop", "--fail-on", "storm").exit_code == 1
    file = write(tmp_path, dump_of(*pair()))
    assert call("simulate", file, "--eviction", "1").exit_code == 1


def test_table_and_plain_tell_the_story() -> None:
    sentence = "blue/wants-ten of blue preempts red/train of red (InCohortFairSharing)"
    table = call("simulate", LOOP, "--format", "table", env={"COLUMNS": "200"}).stdout
    told(table)
    plain = call("simulate", LOOP).stdout.splitlines()
    told([line for line in plain if line.startswith("loop ")])
    assert any(line.startswith("story") and sentence in line for line in plain)


def test_the_optimum_decides_instead() -> None:
    """The Cohort object wakes whom it sends away, so that all goes round with it, too."""
    result = call("simulate", LOOP, "--decider", "optimum")
    assert result.exit_code == 1
    told(result.stdout)
    assert " evictions=5 " in result.stdout


def test_time_is_over_for_the_optimum() -> None:
    result = call(
        "simulate", LOOP, "--decider", "optimum", "--time-limit", "0", "--fail-on", "never"
    )
    assert result.exit_code == 4


def test_a_script(dump: Path, tmp_path: Path) -> None:
    """Evicted at once, low begins anew at 131, a second after high has ended and made room."""
    script = tmp_path / "week.toml"
    script.write_text(WEEK, encoding="utf-8")
    result = call("simulate", dump, "--script", script)
    assert "took part" not in result.stderr
    plain = result.stdout
    told(plain)
    assert "endless_runs     0" in plain
    assert "Run times" not in call("simulate", dump, "--script", script, "--format", "table").stdout
    as_json = tmp_path / "week.json"
    rules = [{"name": "ns/low", "run_seconds": 3700}]
    as_json.write_text(json.dumps({"run_seconds": 100, "workload": rules}), encoding="utf-8")
    assert call("simulate", dump, "--script", as_json).stdout == plain
    valid("script", as_json.read_text("utf-8"))
    rules.append({"name": "ns/lwo", "run_seconds": 7})
    rules.append({"name": "ns/*", "checkpoint_seconds": 7})
    as_json.write_text(json.dumps({"workload": rules}), encoding="utf-8")
    said = call("simulate", dump, "--script", as_json).stderr
    told(said)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bad.toml", "run_seconds = "),
        ("bad.json", "{"),
        ("bad.toml", "run_second = 5"),
        ("bad.toml", "run_seconds = 0"),
        ("bad.json", "[]"),
        ("bad.toml", '[[arrival]]\nlike = "ns/nobody"'),
        ("bad.toml", '[[arrival]]\nlike = "ns/lo"'),
        ("bad.toml", '[[arrival]]\nlike = "ns/low"\ncount = 999999999'),
        ("bad.toml", '[[arrival]]\nlike = "ns/low"\ncount = 60000\n' * 2),
        ("bad.toml", f'[[arrival]]\nlike = "a"\ncount = 9\nevery_seconds = {2**30}'),
    ],
)
def test_bad_scripts(dump: Path, tmp_path: Path, name: str, text: str) -> None:
    script = tmp_path / name
    script.write_text(text, encoding="utf-8")
    told(refused("simulate", dump, "--script", script))


@pytest.mark.parametrize("state", [LOOP, YUNIKORN], ids=["kueue", "yunikorn"])
def test_a_long_name_in_a_script_is_cut_short(tmp_path: Path, state: Path) -> None:
    script = write(tmp_path, {"arrival": [{"like": "a/" + "x" * 100_000}]}, "script.json")
    said = refused("simulate", state, "--script", script)
    told(said)
    assert len(said) < 1000


@pytest.mark.parametrize(
    "wrong",
    [
        ("--decider", "yunikorn"),
        ("--script", "nowhere.toml"),
        ("--plot", "drawing.pdf"),
        ("--timeline", "nowhere/events.jsonl"),
        ("--timeline", "-"),
        ("--timeline", "one.json", "-o", "./one.json"),
        ("--timeline", "one.svg", "--plot", "one.svg"),
        ("--eviction", "0"),
        ("--until", str(2**31 + 1)),
        ("--laws", "code"),
        ("--fail-on", "never", "--fail-on", "loop"),
    ],
)
def test_bad_usage(dump: Path, wrong: tuple[str, ...]) -> None:
    result = call("simulate", dump, *wrong)
    assert result.exit_code == 2
    assert result.stdout == ""


@pytest.mark.parametrize("style", some(["svg", "png"], 2))
def test_a_drawing_is_the_same_twice(tmp_path: Path, style: str) -> None:
    pytest.importorskip("matplotlib")
    drawn = []
    for name in ("one", "two"):
        file = tmp_path / f"{name}.{style}"
        assert call("simulate", LOOP, "--plot", file).exit_code == 1
        drawn.append(file.read_bytes())
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 5_000


def test_yunikorn() -> None:
    value = answer("simulation", "simulate", YUNIKORN)
    assert (value["scheduler"], value["decider"]) == ("yunikorn", "yunikorn")
    assert value["totals"]["evictions"] == 2


def test_the_same_in_another_process() -> None:
    """Where strings have other hashes."""
    again = process("simulate", LOOP, "--format", "json", env={"PYTHONHASHSEED": "1"})
    assert call("simulate", LOOP, "--format", "json").stdout == again.stdout != ""


def test_the_greedy_needs_no_solver() -> None:
    code = (
        "import sys; from planner.reader import read\n"
        "from planner.research.simulate import simulate\n"
        f"simulate(read({str(LOOP)!r}))\n"
        "assert 'ortools' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=FOR_EVER_S)


def test_defaults_are_those_of_the_library() -> None:
    """They are written in both, because a help text must not load the library."""
    assert (room.CYCLES, kueue_option.EVICTION, room.STORM) == (CYCLES, EVICTION_S, STORM)
    assert room.MOST == MOST_S
    tree = ast.parse(inspect.getsource(room))
    assert not [
        node
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module == "planner.research.simulate"
    ]


def test_yunikorn_by_its_pods(tmp_path: Path) -> None:
    """Reports and scripts name pods; keys, which only the core knows, stay in the JSON."""
    script = tmp_path / "script.toml"
    script.write_text(
        '[[workload]]\nname = "serving/ranker-2"\nrun_seconds = 30\n\n'
        '[[arrival]]\nlike = "serving/ranker-2"\nat_seconds = 3600\n',
        encoding="utf-8",
    )
    asked = ("simulate", YUNIKORN, "--script", script, "--fail-on", "never")
    page = call(*asked, "--format", "table").stdout
    assert "30 2 finished serving/ranker-2" in " ".join(page.split())
    assert "serving/ranker-2-1" in page
    key = "bc018a5b-01eb-4d89-a462-6516dbfbb560"
    assert key not in page
    value = json.loads(call(*asked, "--format", "json").stdout)
    names = value["names"]
    assert (names[key], names[f"{key}-1"]) == ("serving/ranker-2", "serving/ranker-2-1")
    lines = call(*asked, "--format", "plain").stdout.splitlines()
    assert f"name             {key} serving/ranker-2" in lines
