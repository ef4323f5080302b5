"""What a small plan loads, builds and starts: as most of its time is that, only what it needs."""

import gc
import json
import subprocess
import sys
from functools import cache
from typing import Any

from tests.cli.running import call, environment
from tests.conftest import QUICKSTART

PLAN = f"""
import gc
import json
import os
import sys
from planner.cli.main import run

sys.argv[1:] = ["solve", {str(QUICKSTART)!r}]
try:
    run()
except SystemExit as end:
    assert end.code == 0
tasks = "/proc/self/task"
found = {{
    "loaded": [*sys.modules],
    "built": [
        model.__name__
        for module in [*sys.modules.values()]
        if module.__name__.startswith(("planner.plan", "planner.state"))
        for model in vars(module).values()
        if getattr(model, "__pydantic_complete__", False)
    ],
    "threads": len(os.listdir(tasks)) if os.path.isdir(tasks) else 1,
    "lazy": getattr(sys, "getdlopenflags", int)() == getattr(os, "RTLD_LAZY", 0),
    "threshold": gc.get_threshold()[0],
    "frozen": gc.get_freeze_count(),
}}
print(json.dumps(found), file=sys.stderr)
"""

UNUSED = {
    "jinja2",
    "ortools.sat",
    "pandas",
    "planner.plan.front",
    "planner.plan.yunikorn",
    "planner.reference.kueue.topology.ask",
    "planner.reference.kueue.topology.find",
    "planner.report.plans",
    "planner.solver.glop",
    "planner.solver.yunikorn",
    "planner.state.yunikorn",
    "tomllib",
}
"""What is another scheduler's, or for what this plan has not: several answers, nodes, an objective
from a file, a level without a tree."""


@cache
def after_a_plan() -> dict[str, Any]:
    """Return what is there in a process that has planned the quickstart."""
    variables = environment()
    variables.pop("OPENBLAS_NUM_THREADS", None)
    done = subprocess.run(
        [sys.executable, "-c", PLAN], env=variables, capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stderr.splitlines()[-1])
    return found


def test_a_plan_loads_nothing_that_it_does_not_need() -> None:
    loaded = after_a_plan()["loaded"]
    assert "planner.solver.kueue.solve" in loaded
    assert UNUSED.isdisjoint(loaded)


def test_a_plan_builds_validators_only_of_what_it_reads_and_writes() -> None:
    built = after_a_plan()["built"]
    assert {"ClusterQueue", "Plan"} <= {*built}
    # Made without one, or not there: a state is put together of objects that were checked.
    others = {"Deployment", "Event", "JointPlan", "Node", "Pod", "State"}
    assert others.isdisjoint(built)


def test_a_plan_leaves_no_thread() -> None:
    assert after_a_plan()["threads"] == 1


def test_libraries_are_bound_as_they_are_called() -> None:
    assert after_a_plan()["lazy"]


def test_only_a_program_sets_its_process_up() -> None:
    """Whoever calls a command from Python keeps the collector as it was."""
    usual, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert call("laws").exit_code == 0
    assert gc.get_threshold() == usual
    assert gc.get_freeze_count() <= frozen  # some may be gone
    assert (after_a_plan()["threshold"], after_a_plan()["frozen"] > 0) == (100_000, True)


def test_ctrl_c_while_modules_are_loaded_ends_without_a_traceback() -> None:
    code = """
import sys

class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == "planner.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Pressed())
from planner.__main__ import run
run()
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
