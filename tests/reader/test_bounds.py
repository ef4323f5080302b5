"""What is made of an input is bounded, in processes of their own."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.errors import ParseError, SchemaError
from planner.objective.profile_file import read_profile
from planner.reader import read, read_objects
from planner.reader.bound import AT_LEAST, Budget
from planner.reader.source import MAX_BYTES
from planner.state.base import MOST_KEYS
from tests.cli.running import cluster, environment, refused, write
from tests.cluster import KUEUE
from tests.conftest import FOR_EVER_S, ROOT, TEST_ALL
from tests.told import told

MIB = 2**20
WITHIN = """\
import resource, sys
most = int(sys.argv[2])
import planner
from planner.objective.profile_file import read_profile
resource.setrlimit(resource.RLIMIT_AS, (most, most))
try:
    (read_profile if sys.argv[1].endswith(".toml") else planner.read)(sys.argv[1])
except planner.PlannerError as error:
    print(error)
status = dict(line.split(":") for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) * 1024)
"""


def said_within(path: Path, memory: int) -> tuple[str, int]:
    """Read a file in a process that gets so much memory; return the message, and the peak."""
    words = [sys.executable, "-c", WITHIN, str(path), str(memory)]
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=FOR_EVER_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    *lines, peak = done.stdout.splitlines()
    return "\n".join(lines), int(peak)


def workload(spec: object, **metadata: object) -> dict[str, Any]:
    """Return a workload with a spec that may be anything."""
    named = {"name": "w", "namespace": "n", **metadata}
    return {"apiVersion": KUEUE, "kind": "Workload", "metadata": named, "spec": spec}


@pytest.mark.parametrize("unit", ["{}", '{"a":[{}]}'] if TEST_ALL else ["{}"])
def test_a_small_file_that_stands_for_many_objects(tmp_path: Path, unit: str) -> None:
    """Within the bound on bytes it took gigabytes."""
    path = tmp_path / "bomb.json.gz"
    count = 66 * MIB // (len(unit) + 1)
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(b"[" + f"{unit},".encode() * count + b"{}]")
    message, peak = said_within(path, 2**31)
    assert message.startswith(f"{path}: has more than the {MAX_BYTES // 8:,} values that are read")
    assert "max_bytes=BYTES" in message
    assert peak < 700 * MIB


def test_the_files_of_a_folder_share_the_bound(tmp_path: Path) -> None:
    half = AT_LEAST // 3
    for name in ("a", "b"):
        (tmp_path / f"{name}.json").write_text("[" + "{}," * half + "{}]", encoding="ascii")
    with pytest.raises(ParseError) as caught:
        read(tmp_path, max_bytes=AT_LEAST * 3)
    told(caught.value)


def test_many_values_in_yaml(tmp_path: Path) -> None:
    path = tmp_path / "many.yaml"
    path.write_text("- \n" * (AT_LEAST + 5000), encoding="ascii")
    with pytest.raises(ParseError) as caught:
        read(path, max_bytes=len(path.read_bytes()))
    told(caught.value)


def test_what_stands_in_strings_is_no_value() -> None:
    text = json.dumps(["{[,:" * MIB, "\\" * MIB, '"{{{'])
    budget = Budget(0)
    budget.take_json(text.encode(), "here")
    assert AT_LEAST - 10 < budget.left < AT_LEAST


def test_more_than_there_is_memory_for(tmp_path: Path) -> None:
    """The parser would end the process, or hang, where memory ends."""
    path = tmp_path / "large.json"
    path.write_text("[" + '{"k":1.5},' * 3_000_000 + "{}]", encoding="ascii")
    message, peak = said_within(path, 700 * MIB)
    assert "needs memory of about" in message
    assert "are left" in message
    assert peak < 200 * MIB


@pytest.mark.parametrize(
    "value",
    [
        workload({"podSets": [1] * 300_000}),
        workload({}, labels=dict.fromkeys(map(str, range(100_000)), 1)),
    ],
    ids=["podSets", "labels"],
)
def test_hundreds_of_thousands_of_errors_are_one(tmp_path: Path, value: object) -> None:
    path = write(tmp_path, value)
    message, peak = said_within(path, 2**31)
    told(message)
    assert peak < 200 * MIB


def test_a_mapping_has_a_most() -> None:
    labels = dict.fromkeys(map(str, range(MOST_KEYS)), "x")
    read_objects(workload({}, labels=labels), where="here", now="2026-05-01T00:00:00Z")
    with pytest.raises(SchemaError) as caught:
        read_objects(workload({}, labels={**labels, "one": "x"}), where="here")
    told(caught.value)


def test_a_long_dotted_key_in_toml(tmp_path: Path) -> None:
    """Python's own parser takes memory by the square of its length."""
    path = tmp_path / "mine.toml"
    path.write_text(".".join("a" * 20_000) + " = 1", encoding="ascii")
    message, peak = said_within(path, 2**31)
    told(message)
    assert peak < 200 * MIB


@pytest.mark.parametrize(
    "text",
    [
        "levels = " + "[" * 100_000,
        "levels = " + "9" * 5000,
        "levels = 0x" + "f" * 50_000,
        "levels = [" + "7, " * 50_000 + "]",
        'levels = "' + "x" * 50_000 + '"',
    ],
)
def test_toml_that_nobody_writes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="ascii")
    said = refused("solve", write(tmp_path, cluster()), "--objective", path)
    told(said)
    assert len(said) < 500


def test_what_looks_deep_in_strings_and_comments_is_not(tmp_path: Path) -> None:
    dotted = ".".join("a" * 50)
    path = tmp_path / "mine.toml"
    path.write_text(
        f"levels = ['workloads'] # {dotted}\nsummary = '''{dotted} \"'''\n"
        f'[budget.namespace]\n"{dotted}" = 1 # "',
        encoding="ascii",
    )
    assert read_profile(path).summary == f'{dotted} "'


def test_no_memory_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("planner.reader.source.hashlib.sha256", full)
    said = refused("solve", write(tmp_path, cluster()))
    told(said)
