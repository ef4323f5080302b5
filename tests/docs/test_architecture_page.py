"""Every file and folder that docs/architecture.md names is there."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`([a-z0-9_./]+(?:\.py|/))`")
PLACES = sorted({one[1] for one in PLACE.finditer(PAGE)})
TREE = PAGE.partition("```text\n")[2].partition("```")[0]


def is_there(place: str) -> bool:
    return any((ROOT / base / place).exists() for base in (".", "planner"))


@pytest.mark.parametrize("place", PLACES)
def test_what_the_page_names_is_there(place: str) -> None:
    assert is_there(place)


def test_a_place_that_is_not_there_is_found() -> None:
    assert len(PLACES) > 20
    assert not is_there("solver/nowhere.py")


def test_the_tree_names_every_room() -> None:
    rooms = {path.parent.name for path in (ROOT / "planner").glob("*/__init__.py")}
    named = set(re.findall(r"([a-z0-9_]+)/", TREE)) | {"models"}
    assert rooms <= named
