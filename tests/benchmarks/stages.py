"""Where the time of a plan goes, from 10,000 workloads to 1,000,000.

``python -m tests.benchmarks.stages FOLDER`` makes a cluster of each size, lets a process of its own
read it, take the snapshot, plan and write the plan as JSON, and another one do no more than
``json.load`` of the same file. All times are seconds of the processor; memory is what a process had
at most. FOLDER gets stages.csv, stages.md and growth.svg, which the documentation shows.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.clusters import Form, cluster
from tests.conftest import ROOT

SIZES = (10_000, 50_000, 100_000, 200_000, 1_000_000)
WORKLOADS_IN_A_QUEUE = 100
STAGES = ("load", "read", "snapshot", "plan", "write")
"""Libraries; text to state; state to snapshot; model, search, proof and verification; JSON."""

_MAX_BYTES = 4 * 2**30
_ONLY_JSON = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"

Times = dict[str, float]


def measured(file: Path) -> Times:
    """Plan for a file in this process, and return how long each stage took."""
    found: Times = {}

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        began = time.process_time()
        yield
        found[name] = time.process_time() - began

    with stage("load"):
        import planner.solver.kueue.start  # noqa: PLC0415 - it is what is measured
        from planner.quota.snapshot import take_snapshot  # noqa: PLC0415
        from planner.reader import read  # noqa: PLC0415
        from planner.state import State  # noqa: PLC0415
    with stage("read"):
        state = read(file, max_bytes=_MAX_BYTES)
    if not isinstance(state, State):
        raise TypeError(file)
    with stage("snapshot"):
        take_snapshot(state)
    with stage("plan"):
        plan = planner.solve(state)
    with stage("write"):
        plan.model_dump_json()
    if plan.status != "optimal":
        raise ValueError(plan.status)
    return found


def in_processes(file: Path) -> Times:
    """Measure a file, and what the standard library takes for its text alone."""
    command = [sys.executable, "-m", "tests.benchmarks.stages", "--one", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    found: Times = json.loads(done.stdout)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", _ONLY_JSON, str(file)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found["json_s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return found


def row(size: int, folder: Path) -> Times:
    """Make a cluster of a size, and measure it."""
    form = Form(size, queues=size // WORKLOADS_IN_A_QUEUE)
    file = folder / f"{form.name}.json"
    with file.open("w", encoding="utf-8") as stream:
        json.dump(cluster(form), stream)
    found = in_processes(file)
    file.unlink()
    whole = sum(found[name] for name in STAGES)
    return {"workloads": size, **found, "whole_s": whole, "ratio": whole / found["json_s"]}


def write(rows: Sequence[Times], folder: Path) -> None:
    """Write the rows as CSV and as a table, and draw how they grow."""
    with (folder / "stages.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    head = ["workloads", *STAGES, "whole", "json.load", "ratio", "MiB"]
    lines = [head, ["--:"] * len(head)]
    for one in rows:
        stages = [f"{one[name]:.2f}" for name in STAGES]
        more = [f"{one['whole_s']:.2f}", f"{one['json_s']:.2f}", f"{one['ratio']:.2f}"]
        lines.append([f"{one['workloads']:,.0f}", *stages, *more, f"{one['peak_mib']:.0f}"])
    text = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    (folder / "stages.md").write_text(text + "\n", encoding="utf-8")
    _draw(rows, folder / "growth.svg")


def _draw(rows: Sequence[Times], path: Path) -> None:
    from matplotlib.figure import Figure  # noqa: PLC0415 - it takes as long as a plan

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    panel = figure.add_subplot()
    sizes = [one["workloads"] for one in rows]
    for name in (*STAGES, "whole_s", "json_s"):
        marked = {"whole_s": ("whole process", 2.5, "-"), "json_s": ("json.load alone", 1.5, "--")}
        label, width, style = marked.get(name, (name, 1.0, "-"))
        values = [max(one[name], 1e-3) for one in rows]
        panel.plot(sizes, values, style, linewidth=width, marker="o", markersize=3, label=label)
    panel.set(xscale="log", yscale="log", xlabel="workloads", ylabel="processor time in seconds")
    panel.grid(visible=True, which="major", alpha=0.3)
    panel.legend(fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Measure every size, or one file in this process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="WORKLOADS")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        found = measured(given.one)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        sys.stdout.write(json.dumps({**found, "peak_mib": peak}))
        return
    if given.folder is None:
        parser.error("FOLDER is missing")
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in given.sizes:
            rows.append(row(size, Path(folder)))
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
            write(rows, given.folder)


if __name__ == "__main__":
    main()
