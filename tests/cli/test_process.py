"""The command line as users run it: streams, pipes, terminals, signals."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from planner.report.text import cells as cell_len
from tests.cli.running import (
    BIG,
    another_pending,
    call,
    cluster,
    command,
    environment,
    process,
    write,
)
from tests.conftest import FOR_EVER_S
from tests.told import told

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_terminal(*args: str | Path, env: dict[str, str] | None = None) -> str:
    """Run the command line with standard output on a terminal."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        command(*args),
        env=environment(env),
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs)
    output = b""
    while select.select([ours], [], [], FOR_EVER_S)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(ours)
    child.wait(FOR_EVER_S)
    return output.decode().replace("\r\n", "\n")


def test_exit_codes_and_streams(tmp_path: Path) -> None:
    state = write(tmp_path, cluster(asks=9))
    done = process("solve", state, "--format", "json")
    way_on = f"note: planner explain {state} --pending ns/pending says what is in the way\n"
    assert (done.returncode, done.stderr) == (3, way_on)
    assert json.loads(done.stdout)["status"] == "infeasible"


def test_a_terminal_gets_a_coloured_table_of_its_width(dump: Path) -> None:
    screen = on_terminal("solve", dump, env={"COLUMNS": "80"})
    assert "\x1b[1;32mPROVED OPTIMAL" in screen
    assert "─" in screen
    assert max(map(cell_len, ESCAPE.sub("", screen).split("\n"))) <= 80


def test_colors_can_be_refused(dump: Path) -> None:
    screen = on_terminal("solve", dump, env={"COLUMNS": "120", "NO_COLOR": "1"})
    assert "PROVED OPTIMAL" in screen
    assert "\x1b" not in screen


@pytest.mark.parametrize("columns", ["", "0", "-3", "many"])
def test_nonsense_columns_do_no_harm(dump: Path, columns: str) -> None:
    done = call("solve", dump, "--format", "table", env={"COLUMNS": columns})
    assert done.exit_code == 0
    assert BIG in done.stdout


def test_formats_are_the_same_on_a_terminal(dump: Path) -> None:
    screen = on_terminal("solve", dump, "--format", "json")
    assert json.loads(screen)["status"] == "optimal"


def test_closed_pipe_is_no_error(tmp_path: Path) -> None:
    many = [another_pending(f"w{i}") for i in range(8)]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        command("solve", write(tmp_path, cluster(*many)), "--all", "--format", "json"),
        env=environment(),
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=FOR_EVER_S,
        check=False,
    )
    os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_closed_streams(dump: Path) -> None:
    words = " ".join(f"'{word}'" for word in command("solve", dump))
    quiet = subprocess.run(
        ["/bin/sh", "-c", f"{words} 2>&-"], env=environment(), capture_output=True, check=False
    )
    assert quiet.returncode == 0
    assert quiet.stdout.startswith(b"preemptor")
    mute = subprocess.run(
        ["/bin/sh", "-c", f"{words} >&-"], env=environment(), capture_output=True, check=False
    )
    assert mute.returncode == 2
    assert mute.stderr.startswith(b"error: standard output: is closed")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_full_disk(dump: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = process("solve", dump, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2
    told(done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interruption(number: signal.Signals) -> None:
    child = subprocess.Popen(
        command("solve", "-"),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdin is not None
    # A pipe does not hold that much: once it is written, the child is reading, and wants more.
    child.stdin.write(b" " * 2**20)
    child.stdin.flush()
    child.send_signal(number)
    output, error = child.communicate(timeout=FOR_EVER_S)
    assert child.returncode == 130
    assert output == b""
    assert error.decode().strip() == "error: interrupted"


def test_a_supervisor_that_ends_a_plan_leaves_no_half_of_it(dump: Path, tmp_path: Path) -> None:
    """SIGTERM comes when the file is written, and not yet at its place."""
    plan = tmp_path / "plan.json"
    plan.write_text("as it was", "utf-8")
    code = f"""
import os, signal, sys
from planner.cli.main import run

sync = os.fsync
def ended(descriptor):
    os.kill(os.getpid(), signal.SIGTERM)
    return sync(descriptor)

os.fsync = ended
sys.argv[1:] = ["solve", {str(dump)!r}, "-o", {str(plan)!r}]
run()
"""
    words = [sys.executable, "-c", code]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("error: interrupted\n")
    told(plan.read_text("utf-8"))
    assert sorted(tmp_path.iterdir()) == sorted([dump, plan])


def test_names_in_any_script_and_any_encoding(tmp_path: Path) -> None:
    dump = cluster()
    dump["items"][-1]["metadata"]["name"] = "tâche-漢"
    path = write(tmp_path, dump)
    for encoding in ("ascii", "latin-1"):
        spoken = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
        done = process("solve", path, "--format", "table", env=spoken, encoding=encoding)
        assert done.returncode == 0
        assert "PROVED OPTIMAL" in done.stdout


def test_no_progress_in_a_log(dump: Path) -> None:
    assert call("solve", dump, "--all").stderr == "1 pending: 1 optimal\n"
