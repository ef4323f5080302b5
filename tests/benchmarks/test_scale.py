"""How long optima take as clusters grow, and the scripts that measure more."""

import csv
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests.benchmarks.clusters import CPU, GPU, MEMORY, NOW, Form, cluster
from tests.benchmarks.scale import forms
from tests.benchmarks.watching import watched
from tests.conftest import ROOT, TEST_ALL, some

AT_NIGHT = pytest.mark.skipif(
    not TEST_ALL, reason="PLANNER_TEST_ALL is not set: nobody measures in an ordinary run"
)


def state_of(form: Form) -> State:
    return read_kueue_objects(cluster(form), where=form.name, now=f"{NOW:%Y-%m-%dT%H:%M:%SZ}")


@AT_NIGHT
def test_script_writes_tables_and_plots(tmp_path: Path) -> None:
    form = Form(100, queues=8)
    command = [sys.executable, "-m", "tests.benchmarks.scale", str(tmp_path)]
    command += ["--sizes", "100", "--engines", "planner", "process", "--only", f"^{form.name}$"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "scale.csv").open(encoding="utf-8") as file:
        rows = {row["engine"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"planner", "process"}
    assert {row["outcome"] for row in rows.values()} == {"optimal"}
    assert rows["planner"]["values"]
    assert all(float(row["wall_s"]) > 0 and int(row["peak_mib"]) > 30 for row in rows.values())
    table = (tmp_path / "scale.md").read_text("utf-8")
    assert f"| {form.name} | " in table
    assert {path.name for path in tmp_path.glob("*.svg")} == {"time.svg", "memory.svg"}


@AT_NIGHT
def test_stages_are_measured_and_drawn(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.benchmarks.stages", str(tmp_path)]
    command += ["--sizes", "200"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "stages.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["workloads"] for row in rows] == ["200"]
    stages = ("load", "read", "snapshot", "plan", "write")
    for row in rows:
        assert all(float(row[f"{name}_s"]) > 0 for name in (*stages, "whole", "json"))
        peaks = [float(row[f"{name}_mib"]) for name in stages]
        assert 30 < peaks[0] <= peaks[1] <= peaks[-1]
    assert (tmp_path / "growth.svg").read_text("utf-8").startswith("<?xml")


@pytest.mark.parametrize("form", some(forms([100, 1_000]), 3), ids=lambda form: form.name)
def test_clusters_are_what_their_form_says(form: Form) -> None:
    dump = cluster(form)
    assert dump == cluster(form)
    state = read_kueue_objects(dump, where=form.name, now=f"{NOW:%Y-%m-%dT%H:%M:%SZ}")
    assert len(state.workloads) == form.workloads + 1
    assert len(state.cluster_queues) == form.queues
    parents = {one.name: one.spec.parent_name for one in state.cohorts}
    above = {queue.spec.cohort_name for queue in state.cluster_queues}
    for _ in range(form.depth - 1):
        above = {parents[name] for name in above}
    assert above == {"c0-0"}
    used = {GPU: 0, MEMORY: 0, CPU: 0}
    shapes = set()
    for item in dump["items"]:
        if "admission" in item.get("status", {}):
            usage = item["status"]["admission"]["podSetAssignments"][0]["resourceUsage"]
            shapes.add(tuple(usage.values()))
            for resource, amount in usage.items():
                used[resource] += int(amount)
    rows = [
        row
        for item in dump["items"]
        if item["kind"] == "ClusterQueue"
        for row in item["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    ]
    for resource in (GPU, MEMORY):
        quota = sum(row["nominalQuota"] for row in rows if row["name"] == resource)
        assert 0.99 * used[resource] <= quota <= used[resource]
    assert (len(shapes) <= 40) == (form.shapes == "t-shirt")


MOST = 1000
"""Windows after which it would have told something on any machine."""


@AT_NIGHT
def test_a_watch_is_told_of_changes_and_measured() -> None:
    with closing(watched(Form(60, queues=4), 50.0, 0.3, MOST)) as windows:
        rows = []
        for row in windows:
            rows.append(row)
            if row["lines"] >= 2:
                break
    assert rows[-1]["lines"] >= 2
    assert rows[-1]["cpu_s"] > 0.1
    assert rows[-1]["peak_mib"] > 30
