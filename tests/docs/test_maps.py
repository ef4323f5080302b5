"""Maps of rooms and of the tree: all that is there, and nothing else.

A map names modules by their files (``tree.py``) and rooms within by their folders (``kueue/``).
Modules that are a command each need no name there: the tables of commands have them.
Every room of the product and of the site's generator has one. A folder of tests may have one, of
its helpers: test files speak for themselves.
"""

import ast
import re
from pathlib import Path

import pytest

from tests import wings
from tests.conftest import ROOT

ROOMS = sorted(
    file.parent
    for folder in ("planner", "models", "docs/generator")
    for file in (ROOT / folder).rglob("__init__.py")
    if file.parent != ROOT / "planner" / "models"  # the stand-in, which is models/ itself
)
COMMANDS = {
    file
    for file in (ROOT / "planner").glob("**/cli/*.py")
    if "\ndef command(" in file.read_text("utf-8")
}
HELPERS = sorted(file.parent for file in (ROOT / "tests").rglob("__init__.py"))

NAMED = re.compile(r"(?<![\w./`*-])(?:[\w*]+\.(?:py|j2|css)|[a-z]\w*/)(?!\w)")
ENTRY = re.compile(r"^[\w*]+(?:\.(?:py|j2|css)|/)", re.MULTILINE)


def map_of(room: Path) -> str:
    """Return the lines of a docstring from the first entry of its map on; nothing without one."""
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_bytes())) or ""
    first = ENTRY.search(text)
    return text[first.start() :] if first else ""


def modules(room: Path) -> set[str]:
    """Return the modules and rooms in a folder, as a map names them."""
    files = {file.name for file in room.glob("*.py") if file not in COMMANDS} - {"__init__.py"}
    return files | {f"{inner.parent.name}/" for inner in room.glob("*/__init__.py")}


def unknown(text: str, room: Path) -> list[str]:
    """Return what a map names and the folder does not have, but for wings that are away."""
    names = [name for name in NAMED.findall(text) if not wings.away(name)]
    return [name for name in names if not any(room.glob(name.rstrip("/")))]


def unnamed(text: str, there: set[str]) -> set[str]:
    """Return what is there and a map does not name."""
    return there - set(NAMED.findall(text))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT)))
def test_map_of_a_room_is_complete_and_true(room: Path) -> None:
    text = map_of(room)
    assert text or not modules(room), "no map"
    assert unknown(text, room) == []
    assert unnamed(text, modules(room)) == set()


@pytest.mark.parametrize("folder", HELPERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_map_of_test_helpers_is_complete_and_true(folder: Path) -> None:
    text = map_of(folder)
    assert unknown(text, folder) == []
    helpers = {name for name in modules(folder) if not name.startswith(("test_", "conftest"))}
    assert not text or unnamed(text, helpers) == set()


def test_made_up_maps_are_found_wrong(tmp_path: Path) -> None:
    (tmp_path / "tree.py").touch()
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").touch()
    (tmp_path / "__init__.py").write_text('"""A room.\n\ntree.py  trees\ninner/   more\n"""\n')
    text = map_of(tmp_path)
    assert text == "tree.py  trees\ninner/   more"
    assert unknown(text, tmp_path) == []
    assert unnamed(text, modules(tmp_path)) == set()
    assert unknown(f"{text}\nbush.py  bushes\nouter/  less", tmp_path) == ["bush.py", "outer/"]
    assert unnamed("tree.py  trees", modules(tmp_path)) == {"inner/"}
    assert unnamed("inner/  more", modules(tmp_path)) == {"tree.py"}


PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PLACE = re.compile(r"`([a-z0-9_./]+(?:\.py|/))`")
PLACES = sorted({one[1] for one in PLACE.finditer(PAGE) if not wings.away(one[1])})
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
