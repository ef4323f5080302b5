"""What pages say of installing: true once the project is published, and what to do until then."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_distribution import project

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
