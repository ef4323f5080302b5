"""Where the recorded answers are absent nobody can take a run of the tests for the whole."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import FOR_EVER_S, ROOT, some

TESTS = """\
def test_against_recorded(conformance):
    assert conformance


def test_other():
    pass
"""


def environment(folder: Path | None) -> dict[str, str]:
    """Return the environment with the folder of recorded answers, or without."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    ours.pop("PLANNER_CONFORMANCE", None)
    ours["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # others take time
    return ours if folder is None else {**ours, "PLANNER_CONFORMANCE": str(folder)}


def last_line(project: Path, folder: Path | None, *options: str) -> str:
    """Run two tests with the conftest of the project, and return the last line that is said."""
    (project / "tests").mkdir(parents=True)
    for name in ("conftest.py", "told.py"):
        shutil.copy(ROOT / "tests" / name, project / "tests")
    (project / "tests" / "test_two.py").write_text(TESTS, encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", *options]
    done = subprocess.run(
        words, cwd=project, env=environment(folder), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


@pytest.mark.parametrize("options", some([("-n", "1"), ("-q",)], 2))
def test_the_last_line_says_so(tmp_path: Path, options: tuple[str, ...]) -> None:
    line = last_line(tmp_path / "project", None, *options)
    assert line.startswith("NOT TESTED against the real schedulers: no recorded answers")
    assert "skipped tests: 1;" in line
    assert "PLANNER_CONFORMANCE" in line


def test_nothing_is_said_where_they_are(tmp_path: Path) -> None:
    assert "2 passed" in last_line(tmp_path / "project", tmp_path)


def test_ci_fails_at_once_where_they_are_to_be_expected(tmp_path: Path) -> None:
    (tmp_path / "project" / ".ci").mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    run = shutil.copy(ROOT / ".ci" / "run", tmp_path / "project" / ".ci")
    done = subprocess.run(
        [run],
        env=environment(None),
        capture_output=True,
        text=True,
        check=False,
        timeout=FOR_EVER_S,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: no recorded answers")
