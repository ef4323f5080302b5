"""The action and the workflows: no secret, pinned by commit, and what they run works."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.cli.option import NEVER
from planner.operations.cli.lint import SEVERITIES
from tests.cli.running import environment
from tests.conftest import ROOT, some
from tests.page import blocks
from tests.test_distribution import PYTHONS, project

Object = dict[str, Any]
ACTION: Object = yaml.safe_load((ROOT / "action.yml").read_text())
FILES = sorted((ROOT / ".github/workflows").iterdir())
WORKFLOWS: dict[str, Object] = {one.stem: yaml.safe_load(one.read_text()) for one in FILES}
WORKFLOW = WORKFLOWS["release"]
GUIDE = ROOT / "docs/how-to/lint-in-ci.md"
PINNED = re.compile(r"(actions/[a-z-]+|github/codeql-action/upload-sarif)@[0-9a-f]{40}")
JOBS = [job for workflow in WORKFLOWS.values() for job in workflow["jobs"].values()]
STEPS = [*ACTION["runs"]["steps"], *(step for job in JOBS for step in job["steps"])]


def scripts() -> list[str]:
    return [step["run"] for step in STEPS if "run" in step]


def test_steps_are_pinned_or_scripts() -> None:
    for step in STEPS:
        assert set(step) <= {"name", "uses", "with", "run", "shell", "env", "if", "id"}
        assert ("uses" in step) != ("run" in step)
        assert "run" in step or PINNED.fullmatch(step["uses"])
    assert all(step.get("shell") == "bash" for step in ACTION["runs"]["steps"] if "run" in step)


def test_a_commit_is_one_version_of_an_action() -> None:
    """Beside each commit stands the version that it is, the same everywhere."""
    files = (*FILES, ROOT / "action.yml", GUIDE)
    used = [
        one.groups()
        for file in files
        for one in re.finditer(
            r"uses: ((?:actions|github)/\S+)@(\S+)( # v[\d.]+)?$", file.read_text(), re.MULTILINE
        )
    ]
    assert all(version for *_, version in used)
    assert len(set(used)) == len({name for name, *_ in used})


def test_no_secret_and_no_right_to_write() -> None:
    for file in (*FILES, ROOT / "action.yml"):
        assert not re.search(r"secrets\.|token|password|: write", file.read_text())
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
        # YAML 1.1 takes on for true.
        assert set(workflow) - {"env"} == {"name", True, "permissions", "jobs"}


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
    (script,) = (one["run"] for one in WORKFLOW["jobs"]["package"]["steps"] if "if" in one)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=ROOT,
        env={"PATH": path, "GITHUB_REF_NAME": tag},
        check=False,
    )
    assert (done.returncode == 0) == (tag == f"v{project()['project']['version']}")


# The tests.


def test_every_python_is_tested_with_the_constraints_and_with_the_newest() -> None:
    job = WORKFLOWS["tests"]["jobs"]["tests"]
    assert job["strategy"]["matrix"] == {
        "python": list(PYTHONS),
        "versions": ["constraints.txt", "newest"],
    }
    installed = {one["if"]: one["run"] for one in job["steps"] if "if" in one}
    assert len(installed) == 2
    for condition, run in installed.items():
        assert ("'constraints.txt'" in condition) == ("--constraint constraints.txt" in run)


def test_what_is_installed_is_looked_up_every_night() -> None:
    nightly = WORKFLOWS["tests"]["jobs"]["nightly"]
    begins: Any = {str(key): value for key, value in WORKFLOWS["tests"].items()}["True"]
    assert begins["schedule"]
    (audit,) = (one["run"] for one in nightly["steps"] if "pip-audit" in one.get("run", ""))
    assert "--requirement constraints.txt" in audit


def test_what_is_released_is_built_with_the_constraints() -> None:
    variables = ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT")
    assert WORKFLOW["env"] == dict.fromkeys(variables, "constraints.txt")
    (install,) = (one["run"] for one in ACTION["runs"]["steps"] if "install" in one.get("run", ""))
    assert '--constraint "$GITHUB_ACTION_PATH/constraints.txt"' in install


# The action.


def test_inputs_are_described_and_used() -> None:
    assert ACTION["runs"]["using"] == "composite"
    used = set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", (ROOT / "action.yml").read_text()))
    assert used == set(ACTION["inputs"])
    page = GUIDE.read_text()
    for name, each in ACTION["inputs"].items():
        assert set(each) == {"description", "default"}
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert f"| `{each['default']}`" in row or not each["default"]
    option = ACTION["inputs"]["fail-on"]
    assert all(word in option["description"] for word in (*SEVERITIES, NEVER))
    assert option["default"] in SEVERITIES


def checked(
    state: Path, folder: Path, fail_on: str, code_scanning: str = "false", ignore: str = ""
) -> tuple[int, str]:
    """Run the step that checks; return its exit code, and the summary of the job."""
    (step,) = (one for one in ACTION["runs"]["steps"] if one.get("name") == "Check")
    program = folder / "temp" / "planner" / "bin" / "planner"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m planner "$@"\n')
    program.chmod(0o755)
    summary = folder / "summary"
    given = {
        "STATE": str(state),
        "FAIL_ON": fail_on,
        "KUEUE_RELEASE": "auto",
        "CODE_SCANNING": code_scanning,
        "PLANNER_LINT_IGNORE": ignore,
        "PLANNER_LINT_BASELINE": "",
    }
    assert set(step["env"]) == set(given)
    files = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(folder / "output")}
    done = subprocess.run(
        [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail"],
        input=step["run"],
        env=environment({**given, **files, "RUNNER_TEMP": str(folder / "temp")}),
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.stdout == (summary.read_text() if summary.exists() else "")
    return done.returncode, done.stdout


def test_findings_that_are_ignored_fail_no_job(tmp_path: Path) -> None:
    (queues,) = (block for block in blocks(GUIDE, "yaml") if block.title == "quota/queues.yaml")
    state = tmp_path / "quota.yaml"
    state.write_text(queues.content)
    code, summary = checked(state, tmp_path, "note", ignore="KL-10 KL-01")
    assert code == 0
    assert "KL-01 (option)" in summary


def test_findings_fail_the_job_and_stand_in_its_summary_and_in_sarif(tmp_path: Path) -> None:
    (queues,) = (block for block in blocks(GUIDE, "yaml") if block.title == "quota/queues.yaml")
    state = tmp_path / "$(touch x) quota.yaml"
    state.write_text(queues.content)
    code, summary = checked(state, tmp_path, "warning", code_scanning="true")
    assert code == 1
    assert summary.startswith("## Findings on a configuration\n")
    assert "KL-01" in summary
    step = ACTION["runs"]["steps"][-1]
    assert step["if"].startswith("always() && ")
    assert (tmp_path / "output").read_text() == "sarif=written\n"
    file = step["with"]["sarif_file"].replace("${{ runner.temp }}", str(tmp_path / "temp"))
    assert [one["ruleId"] for one in json.loads(Path(file).read_text())["runs"][0]["results"]]


@pytest.mark.parametrize("code_scanning", some(["true", "false"], 2))
def test_errors_are_no_findings(tmp_path: Path, code_scanning: str) -> None:
    assert checked(tmp_path / "nowhere", tmp_path, "never", code_scanning) == (2, "")
    assert not (tmp_path / "output").exists()


def test_the_guide_uses_the_action_as_it_is() -> None:
    (block,) = (one for one in blocks(GUIDE, "yaml") if one.title.endswith("quota.yml"))
    workflow = yaml.safe_load(block.content)
    (job,) = workflow["jobs"].values()
    checkout, lint = job["steps"]
    assert PINNED.fullmatch(checkout["uses"])
    assert lint["uses"] == f"OWNER/preemption-planner@v{project()['project']['version']}"
    assert set(lint["with"]) <= set(ACTION["inputs"])
