"""What is shipped: the built wheel and sdist are looked into, not the source tree."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from planner.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[1]


MAN = "planner.1"
BACKEND = "import sys; from setuptools import build_meta; build_meta.{}(*sys.argv[1:])"
"""What ``python -m build`` runs after it has asked what that needs, offline."""
PYTHONS = ("3.11", "3.12", "3.13")
"""What the workflow tests."""


def project() -> dict[str, Any]:
    """Read pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


class Distribution(NamedTuple):
    """The two archives, each as {path: content}; those of the sdist without its top folder."""

    wheel_file: Path
    wheel: dict[str, bytes]
    sdist: dict[str, bytes]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    """Build the sdist from a copy of the tree, and the wheel from that sdist, offline."""
    copy = tmp_path_factory.mktemp("build") / "copy"
    ignored = shutil.ignore_patterns(
        ".git", ".*_cache", ".hypothesis", ".venv", "__pycache__", "*.egg-info", "build", "dist"
    )
    shutil.copytree(ROOT, copy, symlinks=True, ignore=ignored)
    # As the workflow of releases does.
    (copy / MAN).write_text(run(sys.executable, "docs/generator/man.py", cwd=copy), "utf-8")
    run(sys.executable, "-c", BACKEND.format("build_sdist"), "out", cwd=copy)
    (sdist_file,) = (copy / "out").glob("*.tar.gz")
    with tarfile.open(sdist_file) as archive:
        archive.extractall(copy / "sdist", filter="data")
    (source,) = (copy / "sdist").iterdir()
    wheel_file = wheel_of(source, copy / "out")
    with zipfile.ZipFile(wheel_file) as archive:
        wheel = {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(sdist_file) as archive:
        files = ((m.name, archive.extractfile(m)) for m in archive.getmembers() if m.isfile())
        sdist = {name.partition("/")[2]: file.read() for name, file in files if file}
    return Distribution(wheel_file, wheel, sdist)


def wheel_of(source: Path, folder: Path) -> Path:
    """Build the wheel of a source tree into a folder, as frontends do."""
    folder.mkdir(exist_ok=True)
    run(sys.executable, "-c", BACKEND.format("build_wheel"), str(folder), cwd=source)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def installed(built: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel into a folder of its own: it has no code that an installer would run."""
    target = tmp_path_factory.mktemp("installed")
    shutil.unpack_archive(built.wheel_file, target, "zip")
    return target


def run(*command: str, cwd: Path, path: Path | None = None) -> str:
    """Run a command in a folder and return its output, which a failure shows in full."""
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def folders_with_init(top: Path, name: str) -> set[str]:
    """Name every package at or below a folder that is imported as `name`."""
    inits = [path.parent.relative_to(top) for path in top.rglob("__init__.py")]
    return {".".join((name, *folder.parts)) for folder in inits}


def test_list_of_packages_is_complete() -> None:
    found = folders_with_init(ROOT / "planner", "planner")
    found |= folders_with_init(ROOT / "models", "planner.models")
    assert set(project()["tool"]["setuptools"]["packages"]) == found


def test_wheel_is_the_product_and_nothing_else(built: Distribution) -> None:
    version = project()["project"]["version"]
    tops = {name.partition("/")[0] for name in built.wheel}
    stem = f"preemption_planner-{version}"
    assert tops == {"planner", f"{stem}.dist-info", f"{stem}.data"}
    assert [n for n in built.wheel if ".data/" in n] == [f"{stem}.data/data/share/man/man1/{MAN}"]
    assert "planner/py.typed" in built.wheel
    others = {n for n in built.wheel if n.startswith("planner/") and not n.endswith(".py")}
    html = ("blocks.html.j2", "page.css", "page.html.j2")
    pages = {f"planner/report/html/{name}" for name in html}
    pages |= {f"planner/operations/serve/work.{kind}" for kind in ("css", "html", "js")}
    texts = {"lint/kinds.toml", "steer/kueue/manifests.yaml"}
    texts = {f"planner/operations/{name}" for name in texts}
    assert others == {"planner/py.typed", *texts, *pages}


def test_the_man_page_has_all_that_help_says(built: Distribution) -> None:
    page = built.sdist[MAN].decode()
    plain = page.replace(r"\-", "-").replace(r"\&", "").replace(r"\e", "\\")
    sections = {text.partition("\n")[0]: text for text in plain.split("\n.SH ")}
    assert len(sections) == 3 + len(COMMANDS)  # before these the head, NAME, and the program's own
    for command in ["", *COMMANDS]:
        words = [*command.split(), "--help"]
        said = CliRunner().invoke(main, words, prog_name="planner").stdout
        section = sections[f"PLANNER {command.upper()}".strip()]
        assert "".join(said.split()) in "".join(section.split())


def test_wheel_carries_every_source_file(built: Distribution) -> None:
    expected = {
        f"{name}/{path.relative_to(ROOT / folder).as_posix()}": path.read_bytes()
        for folder, name in (("planner", "planner"), ("models", "planner/models"))
        for path in (ROOT / folder).rglob("*.py")
        if path != ROOT / "planner/models/__init__.py"
    }
    assert {n: built.wheel[n] for n in built.wheel if n.endswith(".py")} == expected


def test_sdist_has_models_where_the_checkout_has_them(built: Distribution) -> None:
    for name in ("models/__init__.py", "planner/models/__init__.py", "planner/py.typed"):
        assert built.sdist[name] == (ROOT / name).read_bytes()
    assert {"LICENSE", "README.md", "CHANGELOG.md", "tests/conftest.py"} <= built.sdist.keys()
    assert "planner/models/kueue/__init__.py" not in built.sdist


def test_models_init_holds_a_docstring_only() -> None:
    """A checkout runs the stand-in in its place, so code in it would run in wheels only."""
    code = compile((ROOT / "models/__init__.py").read_bytes(), "models", "exec")
    assert set(code.co_names) == {"__doc__"}


def test_installed_wheel_works_from_anywhere(installed: Path, tmp_path: Path) -> None:
    """It has its models, its version and its pages, and its commands can be started."""
    code = (
        "import planner, planner.models.kueue as k; from planner.report.plan import render;"
        "from importlib.metadata import distribution;"
        "scripts = distribution('preemption-planner').entry_points;"
        "print(planner.__file__, k.__file__, planner.__version__);"
        "print(*(one.name for one in scripts if callable(one.load())));"
        "print(render([], 'html', alone=False))"
    )
    said = run(sys.executable, "-c", code, cwd=tmp_path, path=installed)
    found, commands, page = said.split("\n", 2)
    version = project()["project"]["version"]
    files = [installed / "planner" / name / "__init__.py" for name in ("", "models/kueue")]
    assert found.split() == [*map(str, files), version]
    assert page.startswith("<!DOCTYPE")
    assert not (installed / "models").exists()
    assert {*commands.split()} == {*project()["project"]["scripts"]}


def required() -> set[Requirement]:
    """Return all that is required to build, to run, and by the extras."""
    pyproject = project()
    own = pyproject["project"]
    extras = own["optional-dependencies"].values()
    texts = [*own["dependencies"], *(one for extra in extras for one in extra)]
    texts += pyproject["build-system"]["requires"]
    return {one for one in map(Requirement, texts) if one.name != own["name"]}


CONSTRAINTS = [
    Requirement(line)
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("python", PYTHONS)
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_constraints_have_one_version_of_all_that_is_required(python: str, platform: str) -> None:
    """CONTRIBUTING.md says how they are made anew, once a dependency changes."""
    versions = {"python_version": python, "python_full_version": f"{python}.0"}
    here: dict[str, Any] = {**default_environment()}
    environment = here | versions | {"sys_platform": platform}
    chosen: dict[str, str] = {}
    for one in CONSTRAINTS:
        if one.marker is None or one.marker.evaluate(environment):
            (version,) = one.specifier
            assert version.operator == "=="
            assert chosen.setdefault(canonicalize_name(one.name), version.version) == (
                version.version
            )
    for one in required():
        assert one.specifier.contains(chosen[canonicalize_name(one.name)]), one


def test_constraints_name_no_place_to_fetch_from() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links", text)
    assert all(one.url is None for one in CONSTRAINTS)
    assert "constraints.txt" in (ROOT / "MANIFEST.in").read_text(encoding="utf-8")
