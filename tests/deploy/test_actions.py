"""The action and the workflow: no secret, pinned by major version, and what they run works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli.lint import SEVERITIES
from planner.cli.option import NEVER
from tests.cli.running import environment
from tests.conftest import ROOT
from tests.page import blocks
from tests.test_distribution import project

Object = dict[str, Any]
ACTION: Object = yaml.safe_load((ROOT / "action.yml").read_text())
WORKFLOW: Object = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
GUIDE = ROOT / "docs/how-to/lint-in-ci.md"
PINNED = re.compile(r"actions/[a-z-]+@v\d+")
STEPS = [
    *ACTION["runs"]["steps"],
    *(step for job in WORKFLOW["jobs"].values() for step in job["steps"]),
]


def scripts() -> list[str]:
    return [step["run"] for step in STEPS if "run" in step]


def test_steps_are_pinned_or_scripts() -> None:
    for step in STEPS:
        assert set(step) <= {"name", "uses", "with", "run", "shell", "env", "if"}
        assert ("uses" in step) != ("run" in step)
        assert PINNED.fullmatch(step.get("uses", "actions/checkout@v1"))
    assert all(step.get("shell") == "bash" for step in ACTION["runs"]["steps"] if "run" in step)


def test_no_secret_and_no_right_to_write() -> None:
    for file in ("action.yml", ".github/workflows/release.yml"):
        assert not re.search(r"secrets\.|token|password|: write", (ROOT / file).read_text())
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert set(WORKFLOW) == {"name", True, "permissions", "jobs"}  # YAML 1.1 takes on for true


def test_no_script_has_an_expression_in_it() -> None:
    """What stands in ${{ }} is pasted into a script before a shell reads it."""
    assert not [script for script in scripts() if "${{" in script]


@pytest.mark.parametrize("script", scripts(), ids=range(len(scripts())))
def test_scripts_are_shell(script: str) -> None:
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)  # noqa: S607


def test_what_is_downloaded_was_uploaded() -> None:
    job = WORKFLOW["jobs"]["package"]
    uploaded = {s["with"]["name"] for s in job["steps"] if "upload" in s.get("uses", "")}
    assert uploaded == {"dist", "site"}
    plugin = WORKFLOW["jobs"]["plugin"]
    (down,) = (s["with"]["name"] for s in plugin["steps"] if "download" in s.get("uses", ""))
    assert down in uploaded
    assert plugin["needs"] == "package"
    commands = "\n".join(step.get("run", "") for step in job["steps"])
    assert all(each in commands for each in ("python -m build\n", "mkdocs build --strict\n"))


@pytest.mark.parametrize("tag", [f"v{project()['project']['version']}", "v9.9.9", ""])
def test_a_tag_that_is_another_version_is_refused(tag: str) -> None:
    (script,) = (one["run"] for one in STEPS if "if" in one)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=ROOT,
        env={"PATH": path, "GITHUB_REF_NAME": tag},
        check=False,
    )
    assert (done.returncode == 0) == (tag == f"v{project()['project']['version']}")


# The action.


def test_inputs_are_described_and_used() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    page = GUIDE.read_text()
    for name, each in ACTION["inputs"].items():
        assert set(each) == {"description", "default"}
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"`{each['default']}`" in row
    option = ACTION["inputs"]["fail-on"]
    assert all(word in option["description"] for word in (*SEVERITIES, NEVER))
    assert option["default"] in SEVERITIES


def checked(state: Path, folder: Path, fail_on: str) -> tuple[int, str]:
    """Run the step that checks; return its exit code, and the summary of the job."""
    (step,) = (one for one in ACTION["runs"]["steps"] if one.get("name") == "Check")
    program = folder / "temp" / "planner" / "bin" / "planner"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m planner "$@"\n')
    program.chmod(0o755)
    summary = folder / "summary"
    given = {"STATE": str(state), "FAIL_ON": fail_on, "KUEUE_RELEASE": "auto"}
    assert set(step["env"]) == set(given)
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail"],
        input=step["run"],
        env=environment(
            {**given, "RUNNER_TEMP": str(folder / "temp"), "GITHUB_STEP_SUMMARY": str(summary)}
        ),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stdout == summary.read_text()
    return done.returncode, done.stdout


def test_findings_fail_the_job_and_stand_in_its_summary(tmp_path: Path) -> None:
    (queues,) = (block for block in blocks(GUIDE, "yaml") if block.title == "quota/queues.yaml")
    state = tmp_path / "$(touch x) quota.yaml"
    state.write_text(queues.content)
    code, summary = checked(state, tmp_path, "warning")
    assert code == 1
    assert summary.startswith("## Findings on a configuration\n")
    assert "KL-01" in summary


def test_errors_are_no_findings(tmp_path: Path) -> None:
    assert checked(tmp_path / "nowhere", tmp_path, "never") == (2, "")


def test_the_guide_uses_the_action_as_it_is() -> None:
    (block,) = (one for one in blocks(GUIDE, "yaml") if one.title.endswith("quota.yml"))
    workflow = yaml.safe_load(block.content)
    (job,) = workflow["jobs"].values()
    checkout, lint = job["steps"]
    assert PINNED.fullmatch(checkout["uses"])
    assert lint["uses"] == f"OWNER/preemption-planner@v{project()['project']['version']}"
    assert set(lint["with"]) <= set(ACTION["inputs"])
