"""Measure how time and memory grow: ``python -m tests.benchmarks.scale FOLDER``.

Clusters of all sizes and forms are planned for by the planner. Each measurement is a
process of its own. The references run against the times recorded from Kueue itself, where those
are. How rivals do is measured by ``planner bench``.

FOLDER gets scale.csv, references.csv, scale.md, and plots as SVG files.
"""

import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from tests.benchmarks.clusters import NOW, Form, cluster
from tests.benchmarks.tables import Row, write_all
from tests.cluster import PENDING
from tests.conftest import ROOT, recorded_root

SIZES = (100, 1_000, 10_000, 50_000, 100_000)
ENGINES = ("planner", "process", "reference")
"""What is measured: the library, the command from dump to JSON, and the references."""

_GRACE = 60
"""Seconds that a process has beyond its limit, for reading and for what it cannot interrupt."""


@dataclass(frozen=True, slots=True)
class Question:
    """A file with a pending workload, where it comes from, and Kueue's own times if known."""

    name: str
    workloads: int
    file: Path
    form: Form | None = None
    kueue: dict[str, float] | None = None


def forms(sizes: Sequence[int]) -> Iterator[Form]:
    """Yield every size in three forms, and one of the sizes in many."""
    for size in sizes:
        usual = Form(size, queues={100: 8, 50_000: 1_000}.get(size, 20))
        yield usual
        yield replace(usual, shapes="distinct")
        if size >= 1_000:
            yield replace(usual, victims=250)
    middle = Form(sizes[len(sizes) // 2])
    for depth in (1, 3, 4):
        yield replace(middle, depth=depth)
    for queues in (200, 1_000):
        yield replace(middle, queues=queues)
    yield replace(middle, fair=True)


def generated(sizes: Sequence[int], only: re.Pattern[str], folder: Path) -> Iterator[Question]:
    """Write the questions of all forms that are asked for."""
    for form in forms(sizes):
        if not only.search(form.name):
            continue
        file = folder / f"{form.name}.json"
        content = {"now": f"{NOW:%Y-%m-%dT%H:%M:%SZ}", "pending": PENDING, "state": cluster(form)}
        file.write_text(json.dumps(content), encoding="utf-8")
        yield Question(form.name, form.workloads, file, form)


def recorded(only: re.Pattern[str], folder: Path) -> Iterator[Question]:
    """Write the recorded questions, none where the answers of the real scheduler are not there."""
    root = recorded_root()
    for packed in sorted((root / "kueue" / "scale").glob("*.json.gz")) if root else ():
        if not only.search(packed.name):
            continue
        line = json.loads(gzip.decompress(packed.read_bytes()))
        expected = line["expect"]
        file = folder / packed.name.removesuffix(".gz")
        content = {name: line[name] for name in ("now", "pending", "state")}
        content["assignment"] = expected["assignment"]
        file.write_text(json.dumps(content), encoding="utf-8")
        kueue = {
            "targets_ms": expected["getTargetsNanos"] / 1e6,
            "decision_ms": expected["getAssignmentsNanos"] / 1e6,
        }
        workloads = int(packed.name.split("-")[2])
        yield Question(file.stem, workloads, file, kueue=kueue)


def measure(question: Question, engine: str, limit: float) -> Row:
    """Let an engine answer a question in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.measure", engine, str(question.file)]
    return _run(question, engine, [*command, "--limit", str(limit)], limit)


def whole_process(question: Question, limit: float, folder: Path) -> Row:
    """Let the command line answer it, from the dump of the state to the JSON of the plan."""
    content = json.loads(question.file.read_bytes())
    dump = folder / "dump.json"
    dump.write_text(json.dumps(content["state"]), encoding="utf-8")
    command = [sys.executable, "-m", "planner", "solve", str(dump)]
    command += ["--pending", content["pending"], "--now", content["now"]]
    command += ["--format", "json", "--time-limit", str(limit)]
    row = _run(question, "process", command, limit)
    plan = row.answer
    answer = {**plan, "victims": len(plan["victims"])} if "victims" in plan else plan
    return replace(row, outcome=str(plan.get("status", row.outcome)), answer=answer)


def _run(question: Question, engine: str, command: Sequence[str], limit: float) -> Row:
    """Run a command; its time and memory are those that the kernel counted."""
    with tempfile.TemporaryFile() as output:
        began, peak = time.monotonic(), 0.0
        child = subprocess.Popen(command, cwd=ROOT, stdout=output, env=_environment())
        while True:
            peak = max(peak, _peak_mib(child.pid))
            pid, code, used = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > 2 * limit + _GRACE:
                child.kill()
            time.sleep(0.005)
        wall = time.monotonic() - began
        child.returncode = os.waitstatus_to_exitcode(code)
        output.seek(0)
        text = output.read()
    answer: dict[str, Any] = json.loads(text) if text else {"outcome": "killed"}
    return Row(
        name=question.name,
        workloads=question.workloads,
        engine=engine,
        outcome=str(answer.get("outcome", "")),
        wall_s=answer.get("wall_s", wall),
        cpu_s=answer.get("cpu_s", used.ru_utime + used.ru_stime),
        peak_mib=peak,
        answer=answer,
        form=question.form,
        kueue=question.kueue,
    )


def _peak_mib(pid: int) -> float:
    """Return the most memory that a process has had so far; 0 when it is over.

    What the kernel returns at the end would count this process, too, from which it was forked.
    """
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def all_rows(given: argparse.Namespace, folder: Path) -> Iterator[Row]:
    """Measure everything that was asked for."""
    only = re.compile(given.only)
    for question in chain(generated(given.sizes, only, folder), recorded(only, folder)):
        for engine in given.engines:
            if engine == "process":
                yield whole_process(question, given.limit, folder)
            elif engine != "reference" or question.kueue is not None:
                yield measure(question, engine, given.limit)


def main() -> None:
    """Measure, print every row as it comes, and write the tables and plots."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="WORKLOADS")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS")
    parser.add_argument("--only", default="", metavar="REGEX", help="measure only names like this")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for row in all_rows(given, Path(folder)):
                rows.append(row)
                sys.stdout.write(row.line() + "\n")
                sys.stdout.flush()
        finally:  # what was measured before an interrupt is kept
            write_all(rows, given.folder)


if __name__ == "__main__":
    main()
