"""Made-up and damaged input for every command; and the harness itself, which must see faults.

PLANNER_TEST_FUZZ says how many inputs (CONTRIBUTING.md has more on it), PLANNER_TEST_FUZZ_SEED
which ones.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from planner.cli.main import main
from tests.cli.running import UNHURRIED, environment
from tests.conftest import ROOT, recorded_root
from tests.fuzz import limits
from tests.fuzz.campaign import campaign
from tests.fuzz.case import ENDLESS, KINDS, PLUGIN, READ, Case, commands, make, makers
from tests.fuzz.judge import End, faults
from tests.fuzz.limits import Report, in_processes
from tests.fuzz.scene import FOCI
from tests.fuzz.seeds import Made, Stock, stock
from tests.fuzz.words import BEFORE, maker_of

# The processes that these tests make do nothing that threads of others could get in the way of.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

INPUTS = int(os.environ.get("PLANNER_TEST_FUZZ") or 60)
SEED = int(os.environ.get("PLANNER_TEST_FUZZ_SEED") or 0)


def test_an_answer_or_a_clean_error(tmp_path: Path) -> None:
    """In a process of its own, which has no threads when it makes others."""
    keep = tmp_path / "failed"
    root = recorded_root()
    more = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    more |= {"PLANNER_CONFORMANCE": str(root)} if root else {}
    words = ["--inputs", str(INPUTS), "--seed", str(SEED), "--keep", str(keep)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words],
        cwd=ROOT,
        env={k: v for k, v in environment(more).items() if k not in UNHURRIED},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()]
    counts = {row[0]: int(row[-1]) for row in rows if row and row[-1].isdecimal()}
    assert counts["all"] == INPUTS
    assert set(KINDS) - {PLUGIN} <= counts.keys()
    answered = next(int(row[1]) for row in rows if row and row[0] == "all")
    assert answered > INPUTS // 10, "most inputs must not end where they begin"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != READ])
def test_every_option_of_every_command_is_given_values(kind: str) -> None:
    found = {parameter.name for parameter, _ in makers(kind)}
    assert found == {parameter.name for parameter in commands()[kind].params}


def test_no_command_is_forgotten() -> None:
    listed = set(main.list_commands(click.Context(main)))
    assert listed >= ENDLESS
    assert set(commands()) == listed - ENDLESS | {PLUGIN}
    assert set(KINDS) == {*commands(), READ}


def test_an_option_without_values_is_noticed() -> None:
    assert maker_of("solve", click.Option(["--brand-new"])) is None
    assert maker_of("solve", click.Option(["--brand-new"], type=int)) is not None


@pytest.fixture(scope="module")
def seeds() -> Stock:
    """Give all seeds, with an answer that stands in for those that commands would make."""
    whole = stock()
    names = ("plan.json", "apart.json", "plans.json", "trees.jsonl", "audit.jsonl", "compare.jsonl")
    seed = next(one for one in whole.kueue if len(one.parts) == 1)
    return whole._replace(made=(Made(seed, dict.fromkeys(names, b'{"a": [1, "x"]}')),))


def test_a_number_is_all_it_takes(seeds: Stock) -> None:
    for number in range(100):
        assert make(seeds, 0, number) == make(seeds, 0, number)
    assert make(seeds, 0, 1) != make(seeds, 1, 1)


def test_every_kind_of_damage_is_made(seeds: Stock) -> None:
    cases = [make(seeds, 0, number) for number in range(600)]
    assert {case.focus for case in cases} == set(FOCI)
    assert {case.kind for case in cases} == set(KINDS)
    words = [word.partition("=")[0] for case in cases for word in case.words]
    beside = {"--costs", "--script", "--results", "--proof", "--set", "--workload", "--objective"}
    assert beside <= set(words)
    assert any("\udcff" in word for case in cases for word in case.words)


def a_case(**changes: Any) -> Case:
    """Return an input that is nothing special."""
    return Case(0, "laws", "options", ("--format=json",), {}, (), (), {}, b"")._replace(**changes)


def dies(case: Case) -> Report:
    """End the process as a fault of a library would."""
    if case.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return Report(case.number, 0, (), 0.0)


def hangs(case: Case) -> Report:
    """Work without end on one input."""
    while case.number == 1:
        pass
    return Report(case.number, 0, (), 0.0)


def takes_all_memory(case: Case) -> Report:
    """Take more memory than an input may."""
    found: tuple[str, ...] = ()
    try:
        taken = bytearray(2 * limits.MEMORY)
    except MemoryError:
        found = ("no memory",)
    else:
        del taken
    return Report(case.number, 0, found, 0.0)


@pytest.fixture
def three() -> Iterator[Case]:
    """Give three inputs."""
    return (a_case(number=number) for number in range(3))


def test_a_process_that_dies_is_seen_and_the_others_go_on(three: Iterator[Case]) -> None:
    reports = list(in_processes(three, dies))
    assert [report.number for report in reports] == [0, 1, 2]
    assert [report.faults for report in reports] == [(), ("the process died: SIGKILL",), ()]


def test_processor_time_is_bounded(three: Iterator[Case], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CPU_S", 0)
    reports = list(in_processes(three, hangs))
    assert [len(report.faults) for report in reports] == [0, 1, 0]
    assert "SIGXCPU" in reports[1].faults[0]


def test_memory_is_bounded(three: Iterator[Case]) -> None:
    assert {report.faults for report in in_processes(three, takes_all_memory)} == {("no memory",)}


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (End(70, b"", b"error: ValueError: x\n"), "exit code 70"),
        (End(1, b"", b"", "Traceback ..."), "raised"),
        (End(0, b"{", b""), "not JSON"),
        (End(0, b"{}", b""), "does not follow its schema"),
        (End(0, b'{"a": NaN}', b""), "NaN is no JSON"),
        (End(2, b"", b""), "0 errors on standard error"),
        (End(2, b"", b"error: a\nerror: b\n"), "2 errors on standard error"),
        (End(2, b"{}", b"error: a\n"), "exit code 2 with a result"),
        (End(2, b"", b"error: a\x1b[2J\n"), "control characters"),
        (End(2, b"", b"error: a\nTraceback (most recent\n"), "a bug of ours"),
        (End(2, b"", b"something else\n"), "no form of a message"),
        (End(2, b"", b"error: the system gives no more memory\n"), "more memory"),
        (End(0, b"", b"", native=b"from a library"), "behind Python's back"),
    ],
)
def test_faults_are_seen(tmp_path: Path, end: End, said: str) -> None:
    assert any(said in fault for fault in faults(a_case(), end, tmp_path)), said


def test_half_written_files_are_seen(tmp_path: Path) -> None:
    case = a_case(words=("--output=out",), files={"out": BEFORE})
    refused = End(2, b"", b"error: a\n")
    case.write(tmp_path)
    assert faults(case, refused, tmp_path) == []
    (tmp_path / "out").write_bytes(b"half")
    (tmp_path / ".out.tmp").touch()
    assert faults(case, refused, tmp_path) == [
        "left .out.tmp behind",
        "out was changed although nothing could be done",
    ]


def test_what_fails_is_kept(tmp_path: Path, seeds: Stock) -> None:
    def fails(case: Case) -> Report:
        return Report(case.number, 70, ("a fault",) if case.number == 1 else (), 0.0)

    list(campaign(range(3), 0, seeds, tmp_path, fails))
    *_, tally = campaign(range(3), 0, seeds, tmp_path, fails)  # it takes the place of the first
    [(report, folder)] = tally.failed
    assert (report.number, folder) == (1, tmp_path / "1")
    assert "python -m tests.fuzz --seed 0 --only 1\n" in (folder / "COMMAND").read_text()
    case = make(seeds, 0, 1)
    assert all((folder / name).read_bytes() == data for name, data in case.files.items())
    assert tally.total == 3
