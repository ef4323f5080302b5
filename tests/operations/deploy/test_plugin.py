"""The kubectl plugin for krew: a manifest that krew takes, and what its archives start with.

Source: kubernetes-sigs/krew, internal/index/validation/validate.go and pkg/index/types.go.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner.operations.cli.kueue_plugin import PROGRAM
from tests.conftest import ROOT, some
from tests.test_distribution import project

Object = dict[str, Any]
FOLDER = ROOT / "deploy" / "krew"
MANIFEST: Object = yaml.safe_load((FOLDER / "preemption-plan.yaml").read_text())
LAUNCHER = FOLDER / "kubectl-preemption_plan"
VERSION = project()["project"]["version"]
WORKFLOW: Object = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())


def test_krew_takes_the_manifest() -> None:
    assert MANIFEST["apiVersion"] == "krew.googlecontainertools.github.com/v1alpha2"
    assert MANIFEST["kind"] == "Plugin"
    assert set(MANIFEST) == {"apiVersion", "kind", "metadata", "spec"}
    spec = MANIFEST["spec"]
    known = {"version", "shortDescription", "description", "caveats", "homepage", "platforms"}
    assert set(spec) <= known
    assert re.fullmatch(r"v\d+\.\d+\.\d+", spec["version"])
    assert 0 < len(spec["shortDescription"]) <= 50
    assert "\n" not in spec["shortDescription"]
    assert spec["platforms"]
    for platform in spec["platforms"]:
        assert set(platform) <= {"uri", "sha256", "selector", "files", "bin"}
        assert re.fullmatch(r"[a-f0-9]{64}", platform["sha256"])
        assert platform["bin"] == LAUNCHER.name
        assert set(platform["selector"]["matchLabels"]) == {"os", "arch"}


def test_names_and_version_are_those_of_the_project() -> None:
    """The plugin is found by the name of its program, with _ for the - in a word."""
    name = MANIFEST["metadata"]["name"]
    assert f"kubectl {name}" == PROGRAM
    assert (FOLDER / f"{name}.yaml").is_file()
    program = f"kubectl-{name.replace('-', '_')}"
    assert program in project()["project"]["scripts"]
    assert LAUNCHER.name == program
    assert MANIFEST["spec"]["version"] == f"v{VERSION}"


def platforms() -> list[str]:
    labels = [one["selector"]["matchLabels"] for one in MANIFEST["spec"]["platforms"]]
    return [f"{one['os']}-{one['arch']}" for one in labels]


def test_archives_are_those_that_the_workflow_makes() -> None:
    job = WORKFLOW["jobs"]["plugin"]
    made = [one["platform"] for one in job["strategy"]["matrix"]["include"]]
    assert sorted(made) == sorted(platforms())
    (packing,) = (one["run"] for one in job["steps"] if "tar -czf" in one.get("run", ""))
    assert f'archive="{LAUNCHER.name}-v$version-$PLATFORM.tar.gz"' in packing
    for platform, one in zip(platforms(), MANIFEST["spec"]["platforms"], strict=True):
        folder, _, file = one["uri"].rpartition("/")
        assert file == f"{LAUNCHER.name}-v{VERSION}-{platform}.tar.gz"
        assert folder.startswith("https://")
        assert folder.endswith(f"/v{VERSION}")


def test_the_python_is_the_one_that_the_archives_are_built_with() -> None:
    setup = (one for one in WORKFLOW["jobs"]["plugin"]["steps"] if "setup-python" in str(one))
    (version,) = (one["with"]["python-version"] for one in setup)
    assert f"command -v python{version})" in LAUNCHER.read_text()
    assert f"Python {version}" in MANIFEST["spec"]["caveats"]


def unpacked(folder: Path, python: str) -> Path:
    """Return the program as krew links it, its archive unpacked, and a python on PATH."""
    store = folder / "store" / "preemption-plan" / f"v{VERSION}"
    store.mkdir(parents=True)
    (store / LAUNCHER.name).write_bytes(LAUNCHER.read_bytes())
    (store / LAUNCHER.name).chmod(0o755)
    (store / "lib").mkdir()
    (store / "lib" / "planner").symlink_to(ROOT / "planner")
    (folder / "bin").mkdir()
    (folder / "bin" / LAUNCHER.name).symlink_to(store / LAUNCHER.name)
    if python:
        (folder / "bin" / "python3.12").write_text(f"#!/bin/sh\n{python}\n")
        (folder / "bin" / "python3.12").chmod(0o755)
    return folder / "bin" / LAUNCHER.name


def started(
    program: Path, *words: str, folder: Path | None = None, **more: str
) -> subprocess.CompletedProcess[str]:
    path = {"PATH": f"{program.parent}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    return subprocess.run(
        [str(program), *words],
        env={**path, **more},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_words_arrive_and_the_archive_comes_first(tmp_path: Path) -> None:
    shown = 'echo "$PYTHONPATH"; printf "%s\\n" "$@"'
    done = started(unpacked(tmp_path, shown), "-n", "a b", "--pending", "$x")
    lib = tmp_path / "store" / "preemption-plan" / f"v{VERSION}" / "lib"
    words = ["-P", "-m", "planner.operations.cli.kueue_plugin", "-n", "a b", "--pending", "$x"]
    assert done.stdout.splitlines() == [str(lib), *words]


def test_it_is_the_plugin(tmp_path: Path) -> None:
    program = unpacked(tmp_path, f'exec {sys.executable} "$@"')
    done = started(program, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Usage: {PROGRAM} ")


@pytest.mark.parametrize("path", some(["/nowhere:", "", "."], 3))
def test_nothing_is_imported_from_the_folder_in_which_it_is_called(
    tmp_path: Path, path: str
) -> None:
    """It may be anybody's: a repository that was cloned, or what was downloaded."""
    program = unpacked(tmp_path, f'exec {sys.executable} "$@"')
    folder = tmp_path / "folder"
    folder.mkdir()
    for module in ("planner", "click", "yaml", "json", "prometheus_client"):
        (folder / f"{module}.py").write_text("raise SystemExit('code of the folder ran')\n")
    done = started(program, "--help", folder=folder, PYTHONPATH=path)
    assert (done.returncode, done.stderr) == (0, "")


MODULE = re.compile(r"python[\d.]*\S*( +-\w)* +-m +[\w.]+", re.MULTILINE)


def test_no_launcher_imports_from_the_current_folder() -> None:
    """Where a module is run outside a checkout of ours, -P or -I keeps the folder out."""
    files = (LAUNCHER, ROOT / "Containerfile", ROOT / "action.yml")
    found = [one[0].split() for file in files for one in MODULE.finditer(file.read_text())]
    assert len(found) == 3
    assert all({"-P", "-I"} & set(words) for words in found)


def test_without_its_python_it_says_so(tmp_path: Path) -> None:
    program = unpacked(tmp_path, "")
    if any((Path(folder) / "python3.12").exists() for folder in ("/usr/bin", "/bin")):
        (program.parent / "python3.12").unlink(missing_ok=True)
        return
    done = started(program)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: python3.12 is not on PATH")
