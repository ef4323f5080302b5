"""The Containerfile, and what pages say of installing."""

import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from tests.test_distribution import project, wheel_of


class Step(NamedTuple):
    """A line of a Containerfile, and the stage it stands in."""

    stage: str
    word: str
    rest: str


def steps() -> list[Step]:
    """Return the lines of the Containerfile, those of several joined; the last stage is ``""``."""
    text = (ROOT / "Containerfile").read_text()
    found, stage = [], ""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        word, _, rest = line.partition(" ")
        if not line or word == "#":
            continue
        if word == "FROM":
            rest, _, stage = rest.partition(" AS ")
        found.append(Step(stage, word, rest))
    return found


STEPS = steps()


def rest(word: str, stage: str = "") -> list[str]:
    return [one.rest for one in STEPS if (one.word, one.stage) == (word, stage)]


def test_one_slim_base_of_no_named_registry() -> None:
    bases = {one.rest for one in STEPS if one.word == "FROM"}
    (base,) = bases
    name, _, tag = base.partition(":")
    tag, _, digest = tag.partition("@sha256:")
    assert name == "python"
    assert re.fullmatch(r"[0-9a-f]{64}", digest), "a tag is another image next week"
    version = re.fullmatch(r"(3\.\d+)-slim-[a-z]+", tag)
    assert version is not None
    least = project()["project"]["requires-python"].removeprefix(">=")
    assert [int(part) for part in version[1].split(".")] >= [int(part) for part in least.split(".")]


def test_nothing_of_the_source_is_in_the_image() -> None:
    assert [one.stage for one in STEPS if one.word == "COPY"][:3] == ["built"] * 3
    wheels = "--from=built /wheels /wheels"
    assert rest("COPY", "installed") == [wheels, "constraints.txt /wheels/"]
    assert rest("COPY") == ["--from=installed /opt/planner /opt/planner"]


def test_the_wheel_comes_with_what_watch_needs() -> None:
    (install,) = rest("RUN", "installed")
    (extra,) = re.findall(r"\[(\w+)\]", install)
    assert extra in project()["project"]["optional-dependencies"]
    chosen = f'--constraint /wheels/constraints.txt "$(echo /wheels/*.whl)[{extra}]"'
    assert install.endswith(f"pip install --no-cache-dir {chosen}")
    (wheel,) = rest("RUN", "built")
    assert wheel.startswith("PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt ")


def test_it_runs_as_nobody_and_writes_to_tmp_only() -> None:
    (user,) = rest("USER")
    assert re.fullmatch(r"([1-9]\d+):\1", user), "Kubernetes can tell a number from root"
    (variables,) = rest("ENV")
    assert "HOME=/tmp" in variables.split()
    assert rest("WORKDIR") == ["/tmp"]  # noqa: S108
    assert rest("ENTRYPOINT") == ['["planner"]']
    assert [one.word for one in STEPS].index("USER") < len(STEPS) - 1


def test_no_secret_and_no_address() -> None:
    text = (ROOT / "Containerfile").read_text()
    assert not re.search(r"https?://|\bARG\b|token|password|--(extra-)?index", text, re.IGNORECASE)


def test_the_wheel_builds_from_what_is_copied(tmp_path: Path) -> None:
    for copied in rest("COPY", "built"):
        *names, target = copied.split()
        for name in names:
            if (ROOT / name).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / name, tmp_path / "source" / target, ignore=ignored)
            else:
                (tmp_path / "source").mkdir(exist_ok=True)
                shutil.copy(ROOT / name, tmp_path / "source" / target)
    made = wheel_of(tmp_path / "source", tmp_path / "wheels")
    assert made.name == f"preemption_planner-{project()['project']['version']}-py3-none-any.whl"


PAGES = sorted([ROOT / "README.md", ROOT / "RELEASING.md", *(ROOT / "docs").rglob("*.md")])
INSTALLED = re.compile(r"pip install (?:--quiet )?'?(?P<what>[\w.-]+)(?:\[(?P<extra>\w+)\])?")
NAME = project()["project"]["name"]
EXTRAS = project()["project"]["optional-dependencies"]


def installs(page: Path) -> list[re.Match[str]]:
    return list(INSTALLED.finditer(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [p for p in PAGES if installs(p)], ids=lambda page: page.stem)
def test_what_is_installed_is_there(page: Path) -> None:
    for one in installs(page):
        assert one["extra"] is None or one["extra"] in EXTRAS, one[0]
    if any(one["what"] == NAME for one in installs(page)):
        text = " ".join(page.read_text(encoding="utf-8").split())
        assert "published" in text or "package index" in text
        assert "checkout" in text or page.name == "RELEASING.md"


def test_both_are_told_where_people_begin() -> None:
    for name in ("README.md", "docs/tutorial/first-plan.md"):
        assert {one["what"] for one in installs(ROOT / name)} >= {NAME, "."}


def test_release_notes_and_changelog_are_of_this_version() -> None:
    version = project()["project"]["version"]
    notes = (ROOT / "RELEASING.md").read_text(encoding="utf-8")
    assert f"Preemption planner {version}\n" in notes
    assert f"pip install {NAME}=={version}" in notes
    assert f"git tag --annotate v{version} " in notes
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)[0] == version
