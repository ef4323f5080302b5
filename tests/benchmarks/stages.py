"""Where the time of a plan goes, from 10,000 workloads to 1,000,000.

``python -m tests.benchmarks.stages FOLDER`` makes a cluster of each size. One process reads it,
takes the snapshot, plans and writes the plan as JSON; one is ``planner solve`` as a whole; and one
does no more than ``json.load`` of the same file. All times are seconds of the processor; memory is
what a process had at most, at the end of each stage. FOLDER gets stages.csv and growth.svg; the
documentation shows those of ``docs/explanation/speed``, and ``PLANNER_UPDATE_PAGES=1 pytest
tests/docs/test_speed.py`` writes the table into the pages.
"""

import argparse
import csv
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.clusters import Form, cluster
from tests.benchmarks.one_plan import STAGES, Times
from tests.conftest import ROOT

SIZES = (10_000, 50_000, 100_000, 200_000, 1_000_000)
WORKLOADS_IN_A_QUEUE = 100
_SOLVE = "from planner.cli.main import run; run()"
_ONLY_JSON = "import json, sys; json.load(open(sys.argv[1], encoding='utf-8'))"


def in_processes(file: Path) -> Times:
    """Measure a file, and what the standard library takes for its text alone."""
    command = [sys.executable, "-m", "tests.benchmarks.one_plan", str(file)]
    # As where it is installed: modules are compiled once.
    ours = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    ours["PLANNER_MAX_SIZE"] = "4Gi"
    done = subprocess.run(command, cwd=ROOT, env=ours, capture_output=True, check=True)
    found: Times = json.loads(done.stdout)
    found["whole_s"] = _cpu_s([sys.executable, "-c", _SOLVE, "solve", str(file)], ours)
    found["json_s"] = _cpu_s([sys.executable, "-c", _ONLY_JSON, str(file)], ours)
    return found


def _cpu_s(command: Sequence[str], environment: dict[str, str]) -> float:
    """Run a command, and return the seconds of the processor that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    quiet = subprocess.DEVNULL
    subprocess.run(command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(size: int, folder: Path) -> Times:
    """Make a cluster of a size, and measure it."""
    form = Form(size, queues=size // WORKLOADS_IN_A_QUEUE)
    file = folder / f"{form.name}.json"
    with file.open("w", encoding="utf-8") as stream:
        json.dump(cluster(form), stream)
    found = in_processes(file)
    file.unlink()
    return {"workloads": size, **found}


def table(rows: Iterable[Times]) -> str:
    """Return the rows as a table in Markdown."""
    head = ["workloads", *STAGES, "whole", "`json.load`", "ratio", "MiB read", "MiB at most"]
    lines = [head, ["--:"] * len(head)]
    for one in rows:
        times = [f"{one[f'{name}_s']:.2f}" for name in (*STAGES, "whole", "json")]
        ratio = f"{one['whole_s'] / one['json_s']:.2f}"
        peaks = [f"{one[f'{name}_mib']:,.0f}" for name in ("read", STAGES[-1])]
        lines.append([f"{one['workloads']:,.0f}", *times, ratio, *peaks])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def read_rows(file: Path) -> list[Times]:
    """Return the rows of a stages.csv."""
    with file.open(encoding="utf-8", newline="") as text:
        return [{name: float(value) for name, value in one.items()} for one in csv.DictReader(text)]


def write(rows: Sequence[Times], folder: Path) -> None:
    """Write the rows as CSV, and draw how they grow."""
    with (folder / "stages.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(rows[0])
        writer.writerows([f"{value:g}" for value in one.values()] for one in rows)
    # As the file has them: the picture can be drawn again from it.
    (folder / "growth.svg").write_text(drawn(read_rows(folder / "stages.csv")), encoding="utf-8")


def drawn(rows: Sequence[Times]) -> str:
    """Return the picture of rows: seconds and memory by stage, both axes logarithmic."""
    from matplotlib import rc_context  # noqa: PLC0415 - it takes as long as a plan
    from matplotlib.figure import Figure  # noqa: PLC0415

    sizes = [one["workloads"] for one in rows]
    styles = {"whole": ("whole process", 2.5, "-"), "json": ("json.load alone", 1.5, "--")}
    text = io.StringIO()
    with rc_context({"svg.hashsalt": "stages", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 4.2), layout="constrained")
        times, memory = figure.subplots(1, 2)
        for name in (*STAGES, "whole", "json"):
            label, width, style = styles.get(name, (name, 1.0, "-"))
            values = [max(one[f"{name}_s"], 1e-3) for one in rows]
            times.plot(sizes, values, style, linewidth=width, marker="o", ms=3, label=label)
        for name in STAGES:
            values = [one[f"{name}_mib"] for one in rows]
            memory.plot(sizes, values, linewidth=1.0, marker="o", ms=3, label=f"after {name}")
        for panel, unit in ((times, "processor time in seconds"), (memory, "most memory in MiB")):
            panel.set(xscale="log", yscale="log", xlabel="workloads", ylabel=unit)
            panel.grid(visible=True, which="major", alpha=0.3)
            panel.legend(fontsize=8)
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def main() -> None:
    """Measure every size; the first one is planned for once before, so that all is compiled."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="WORKLOADS")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        row(given.sizes[0], Path(folder))
        for size in given.sizes:
            rows.append(row(size, Path(folder)))
            sys.stdout.write(f"{rows[-1]}\n")
            sys.stdout.flush()
            write(rows, given.folder)


if __name__ == "__main__":
    main()
