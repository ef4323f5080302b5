"""What ``planner watch`` costs: ``python -m tests.benchmarks.watching --workloads 10000``.

A program named kubectl stands for a cluster in which workloads finish, are deleted, arrive and are
admitted, so many changes a second. The watch runs in a process of its own, and only what that
process uses is counted. A JSON object a window is written: the share of one core that it used in
the window, the processor time up to its end, and the most memory that there was.
"""

import argparse
import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.clusters import Form, cluster
from tests.stand_in import CONFIGURATION, MANAGER, RESOURCES

KUBECTL = """#!{python} -ES
import json, pathlib, sys, time

folder = pathlib.Path(__file__).resolve().parent
resource, watches = sys.argv[2], "--watch" in sys.argv
items = json.loads((folder / "objects.json").read_text()).get(resource, [])
named = [word for word in sys.argv[3:] if not word.startswith("-")]
if named:
    (one,) = [item for item in items if item["metadata"]["name"] == named[0]]
    sys.exit(print(json.dumps(one)))
whole = {{"apiVersion": "v1", "kind": "List", "metadata": {{}}, "items": items}}
if not watches:
    sys.exit(print(json.dumps(whole)))
print(json.dumps({{"type": "ADDED", "object": whole}}), flush=True)
begun, changes = time.monotonic(), 0


def tell(kind, item):
    global changes
    changes += 1
    item["metadata"]["resourceVersion"] = str(1000 + changes)
    time.sleep(max(0.0, begun + changes / {rate} - time.monotonic()))
    print(json.dumps({{"type": kind, "object": item}}), flush=True)


def stamped(item, **condition):
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    conditions = item["status"].setdefault("conditions", [])
    for one in conditions:
        one["lastTransitionTime"] = moment
    if condition:
        conditions.append({{**condition, "lastTransitionTime": moment}})
    return item


running = [item for item in items if item.get("status")]
for number in range(10 ** 9 if resource.startswith("workloads") else 0):
    old = running[number % len(running)]
    new = json.loads(json.dumps(old))
    new["metadata"] |= {{"name": "n%d" % number, "uid": "n%d" % number}}
    tell("MODIFIED", stamped(old, type="Finished", status="True", reason="JobFinished"))
    tell("DELETED", old)
    tell("ADDED", {{key: value for key, value in new.items() if key != "status"}})
    tell("MODIFIED", stamped(new))
    running[number % len(running)] = new
time.sleep(10 ** 9)
"""


def write_kubectl(folder: Path, form: Form, rate: float) -> None:
    """Write the program and its objects, with the versions that an API server gives."""
    by_resource: dict[str, list[dict[str, Any]]] = {}
    for item in copy.deepcopy([*cluster(form)["items"], CONFIGURATION, MANAGER]):
        item["metadata"] |= {"resourceVersion": "1"}
        item["metadata"].setdefault("uid", f"{item['kind']}-{item['metadata']['name']}")
        by_resource.setdefault(RESOURCES[item["kind"]], []).append(item)
    (folder / "objects.json").write_text(json.dumps(by_resource), encoding="utf-8")
    program = folder / "kubectl"
    program.write_text(KUBECTL.format(python=sys.executable, rate=rate), encoding="utf-8")
    program.chmod(0o755)


def used(process: int) -> tuple[float, float]:
    """Return the processor time of a process in seconds, without its children, and its MiB."""
    stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(") ")[2].split()
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmHWM:\s+([0-9]+) kB", status)
    ticks = int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK"), int(found[1]) / 1024 if found else 0.0


def watched(form: Form, rate: float, window_s: float, windows: int) -> Generator[Mapping[str, Any]]:
    """Watch a cluster, and yield what each window of time cost."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_kubectl(folder, form, rate)
        environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
        words = [str(Path(sys.executable).with_name("planner")), "watch", "--format", "jsonl"]
        out = (folder / "lines.jsonl").open("wb")
        with out, subprocess.Popen(words, env=environment, stdout=out) as process:
            before = 0.0
            try:
                for number in range(1, windows + 1):
                    time.sleep(window_s)
                    if process.poll() is not None:
                        message = f"the watch ended with exit code {process.returncode}"
                        raise RuntimeError(message)
                    cpu, peak = used(process.pid)
                    yield {
                        "until_s": number * window_s,
                        "share": round((cpu - before) / window_s, 3),
                        "cpu_s": round(cpu, 2),
                        "peak_mib": round(peak),
                        "lines": (folder / "lines.jsonl").read_bytes().count(b"\n"),
                    }
                    before = cpu
            finally:
                process.terminate()


def main() -> None:
    """Write a line for each window."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=int, default=10_000)
    parser.add_argument("--queues", type=int, default=100)
    parser.add_argument("--rate", type=float, default=10.0, help="changes a second")
    parser.add_argument("--window", type=float, default=30.0, help="seconds")
    parser.add_argument("--windows", type=int, default=6)
    asked = parser.parse_args()
    form = Form(asked.workloads, queues=asked.queues)
    for row in watched(form, asked.rate, asked.window, asked.windows):
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
