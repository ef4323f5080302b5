"""The command line as a call and as a process, and a small cluster to try it on."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from planner.cli.main import main
from tests.cluster import Object, cohort, dump_of, pending, queue, running
from tests.conftest import FOR_EVER_S, ROOT
from tests.published import validator

BIG = "ns/big"
SMALL = tuple(f"ns/small-{i}" for i in range(1, 5))


UNHURRIED = {"PLANNER_TIME_LIMIT": str(FOR_EVER_S)}
"""What is proved in the time that commands have by themselves may take longer where the machine is
busy with much else."""

ONE_PROCESS = {"PLANNER_AUDIT_JOBS": "1", "PLANNER_COMPARE_JOBS": "1"}
"""What does the work of many states here, unless ``--jobs`` asks for processes: to start one takes
longer than most of what is asked."""


def call(*args: str | Path, env: Mapping[str, str | None] | None = None, stdin: str = "") -> Result:
    """Run the command line inside this process; standard output and error stay apart."""
    # Whoever runs the tests may have set a width.
    usual = {
        "COLUMNS": None,
        **UNHURRIED,
        **({} if "--cluster" in args else ONE_PROCESS),
        **(env or {}),
    }
    return CliRunner().invoke(main, [str(arg) for arg in args], input=stdin, env=usual)


def refused(*args: str | Path, **how: Any) -> str:
    """Return what is said where a command cannot use what it is given, and prints nothing else."""
    result = call(*args, **how)
    assert (result.exit_code, result.stdout) == (2, ""), result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


def answer(schema: str, *args: str | Path, code: int = 0, **how: Any) -> Any:
    """Return what a command prints as JSON, which obeys its schema."""
    result = call(*args, "--format", "json", **how)
    assert result.exit_code == code, result.stderr
    return valid(schema, result.stdout)


def valid(schema: str, text: str) -> Any:
    """Return a value in JSON that obeys a schema."""
    value = json.loads(text)
    validator(schema).validate(value)
    return value


def process(
    *args: str | Path, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run the command line as a process of its own."""
    usual = {"capture_output": True, "text": True, "timeout": FOR_EVER_S}
    return subprocess.run(command(*args), env=environment(env), check=False, **{**usual, **options})


def command(*args: str | Path) -> list[str]:
    """Return the words that run the command line in a new interpreter."""
    return [sys.executable, "-m", "planner", *map(str, args)]


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment without what would change the output, and with time and some more."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name not in {"COLUMNS", "NO_COLOR"} and not name.startswith("PLANNER_")
    }
    return {**ours, "PYTHONPATH": str(ROOT), "TERM": "xterm", **UNHURRIED, **(more or {})}


def cluster(*more: Iterable[Object], asks: int = 4) -> Object:
    """Return a cluster in which one workload should go and Kueue evicts four.

    Queue ``lender`` owns 8 GPUs, of which ``borrower`` uses all: one old workload holds 4 and
    four newer ones hold 1 each. Kueue takes the newest first. ``ns/pending`` wants 4 back; the
    old workload has just written a checkpoint.
    """
    checkpoint = {"preemption-planner.io/last-checkpoint": "2026-05-01T12:59:59Z"}
    return dump_of(
        cohort("all"),
        queue("lender", 8, "all", reclaim="Any"),
        queue("borrower", 0, "all"),
        running("big", "borrower", 4, minute=1, annotations=checkpoint),
        *(running(f"small-{i}", "borrower", 1, minute=10 + i) for i in range(1, 5)),
        pending("lender", asks),
        *more,
    )


def another_pending(name: str, queue_name: str = "lender", amount: int = 1) -> list[Object]:
    """Return one more workload that waits."""
    (workload,) = pending(queue_name, amount)
    return [{**workload, "metadata": {**workload["metadata"], "name": name, "uid": name}}]


def write(folder: Path, value: object, name: str = "cluster.json") -> Path:
    """Write a value as a JSON file."""
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return path
