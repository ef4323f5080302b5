"""Who may import whom, what must stay unloaded, and how long files and functions may grow.

A room is a module or folder directly under ``planner``. Every import counts, also those inside
functions and those for type checkers only.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import planner
from tests.conftest import OF_WINGS

ROOT = Path(__file__).resolve().parents[1]
STAND_IN = ROOT / "planner" / "models" / "__init__.py"
FACE = "planner"  # planner/__init__.py, the public API, as a room of its own

# A room may import itself and the rooms named here.
MAY_IMPORT: dict[str, frozenset[str]] = {
    room: frozenset(others.split())
    for room, others in {
        "errors": "",
        "quantity": "errors",
        "garbage": "",
        "stage": "",
        "wing": "errors rules",
        "laws": "scheduler",
        "rules": "laws state",
        "term": "scheduler",
        "state": "errors quantity",
        "reader": "stage errors garbage quantity scheduler state",
        "dump": "stage errors quantity",
        "quota": "errors garbage quantity scheduler state",
        "scheduler": "errors wing",  # besides what its attributes return, see `arrows`
        "reference": "errors laws quantity state quota",
        "problem": "errors quantity state quota",
        "objective": "errors term problem quota scheduler state",
        "models": "errors term quantity laws problem quota objective state",
        "plan": "errors term laws rules wing quantity quota scheduler state",
        "verb": "errors objective plan state",
        "coverage": "errors quantity state quota plan scheduler",
        "verifier": "errors laws rules wing quantity state quota plan objective",
        "proof": "errors term laws quantity state quota objective plan verifier",
        "case": "errors laws plan problem quantity quota reference rules scheduler state verifier"
        " wing",
        "solver": "case stage errors term garbage quantity laws state quota reference problem"
        " objective models plan verifier proof scheduler rules wing",
        "commands/check": "case verb coverage stage errors garbage term laws quantity state quota"
        " reference problem objective plan verifier proof scheduler rules wing",
        "commands/whatif": "errors quantity state reader quota plan scheduler",
        "commands/boost": "stage errors quantity state quota reference plan solver",
        "commands/replay": "coverage errors scheduler state reader quota reference plan",
        "batch": "stage errors garbage",
        "commands": "",
        "commands/joint": "case errors models objective plan problem proof quantity quota reference"
        " solver stage state verifier",
        "commands/front": "errors objective plan scheduler term",
        "commands/audit": "verb coverage errors term batch objective plan reader"
        " commands/study solver state scheduler wing",
        "commands/study": "batch commands/replay errors plan reader scheduler solver state wing",
        "commands/compare": "coverage errors term commands/study batch objective plan"
        " quota reader scheduler solver state verifier wing",
        "commands/explain": "case coverage errors term quantity laws state quota reference"
        " problem objective models plan solver commands/whatif scheduler",
        "report": "coverage errors term plan quantity laws state quota wing"
        " commands/whatif commands/boost commands/audit commands/study commands/check"
        " commands/explain commands/compare commands/replay scheduler",
        "api": "garbage coverage errors quantity laws commands/check state reader quota reference"
        " verb problem objective models plan verifier solver commands/replay commands/explain"
        " commands/front commands/whatif report scheduler",
        "kueue_verbs": "api commands/boost commands/joint commands/whatif stage coverage errors"
        " objective plan verb quota scheduler solver state",
        "cli": "stage planner coverage dump errors scheduler term quantity laws state reader quota"
        " reference problem objective models plan verifier solver wing"
        " commands/replay report batch commands/audit commands/study commands/whatif"
        " commands/boost commands/explain commands/check api commands/compare kueue_verbs",
        "__main__": "cli",
        FACE: "errors state commands/check reader plan commands/audit api kueue_verbs"
        " commands/boost commands/explain commands/whatif objective report",
    }.items()
}
"""The rooms of the core, which know no wing."""

WINGS: dict[str, frozenset[str]] = {"research": frozenset(), "operations": frozenset({"research"})}
"""Wings may import all of the core, and the wings named here."""

# Each of the three answers the same question; they keep one another honest.
INDEPENDENT = ("reference", "models", "verifier")

ORTOOLS_ROOMS = {"models", "research", "solver"}
DYNAMIC_IMPORT_ROOMS = {FACE, "wing", "operations"}  # they load on first use

LINES_PER_FILE = 600
LINES_PER_FUNCTION = 80


class Source(NamedTuple):
    """One source file and the room it belongs to."""

    path: Path
    room: str
    tree: ast.Module


def room_at(parts: Sequence[str]) -> str:
    """Name the room at a path below planner: every command has one of its own."""
    first = parts[0].removesuffix(".py")
    if first == "__init__":
        return FACE
    inside = first == "commands" and list(parts[1:2]) not in ([], ["__init__.py"])
    return f"commands/{parts[1]}" if inside else first


@cache
def sources() -> tuple[Source, ...]:
    """Parse every file of the product; the stand-in for models/ has no room."""
    planner_files = [p for p in sorted((ROOT / "planner").rglob("*.py")) if p != STAND_IN]
    rooms = {p: room_at(p.relative_to(ROOT / "planner").parts) for p in planner_files}
    rooms |= dict.fromkeys(sorted((ROOT / "models").rglob("*.py")), "models")
    return tuple(
        Source(path.relative_to(ROOT), room, ast.parse(path.read_bytes()))
        for path, room in rooms.items()
    )


def imported_modules(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """List what is imported, with its line; ``from a import b`` gives ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: a relative import hides its room"
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def arrows(source: Source) -> Iterator[tuple[int, str]]:
    """List what a file imports, as `imported_modules` does.

    The attributes of a scheduler import what they return, of all rooms, once they are asked for it,
    and name its types: whoever asks for one depends on that, and not on all the others.
    """
    nodes = source.tree.body if source.room == "scheduler" else [source.tree]
    for node in nodes:
        if not (
            source.room == "scheduler" and isinstance(node, ast.ClassDef | ast.FunctionDef | ast.If)
        ):
            yield from imported_modules(node)


def room_of(module: str) -> str | None:
    """Name the room of an imported module, None for other people's packages."""
    first, _, rest = module.partition(".")
    if first == "models":
        return "the top-level name `models`, which no installation has"
    if first != "planner":
        return None
    room = room_at(rest.split("."))
    return room if room in MAY_IMPORT | WINGS else FACE


@cache
def room_imports() -> dict[str, set[str]]:
    """Say for every room which others it does import."""
    found: dict[str, set[str]] = {}
    for source in sources():
        rooms = (room_of(module) for _, module in arrows(source))
        found.setdefault(source.room, set()).update(r for r in rooms if r and r != source.room)
    return found


def reached_from(rooms: set[str]) -> set[str]:
    """Return rooms with all that they import, and what those import, and so on."""
    imports, reached, ahead = room_imports(), set[str](), rooms
    while ahead:
        reached |= ahead
        ahead = set().union(*(imports.get(room, set()) for room in ahead)) - reached
    return reached


def test_every_room_has_a_row() -> None:
    assert {source.room for source in sources()} <= MAY_IMPORT.keys() | WINGS.keys()


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_room_imports_only_what_it_may(room: str) -> None:
    forbidden = [
        f"{source.path}:{line}: imports {module}"
        for source in sources()
        if source.room == room
        for line, module in arrows(source)
        if room_of(module) not in {None, room, *MAY_IMPORT[room]}
    ]
    assert not forbidden, f"{room} may import {sorted(MAY_IMPORT[room])}"


@pytest.mark.parametrize("wing", WINGS)
def test_only_wings_that_may_import_a_wing(wing: str) -> None:
    """Nor may the core name its modules in texts, by which they could be loaded."""
    name = re.compile(rf"\bplanner\.{wing}\b")
    found = {
        f"{source.path}:{node.lineno}"
        for source in sources()
        if source.room != wing and wing not in WINGS.get(source.room, ())
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.Constant) and name.search(str(node.value)))
        or (isinstance(node, ast.alias) and name.match(node.name))
        or (isinstance(node, ast.ImportFrom) and name.match(f"{node.module}."))
    }
    assert not found


def test_tests_of_the_core_import_no_wing() -> None:
    """Not even while they run: the tests of the core pass without any."""
    tests = ROOT / "tests"
    of_wings = {tests / name for name in OF_WINGS}
    wings = tuple(f"{package}.{wing}." for package in ("planner", "tests") for wing in WINGS)
    found = [
        f"{path.relative_to(ROOT)}:{line}: imports {module}"
        for path in sorted(tests.rglob("*.py"))
        if of_wings.isdisjoint((path, *path.parents))
        for line, module in imported_modules(ast.parse(path.read_bytes()))
        if f"{module}.".startswith(wings)
    ]
    assert not found


@pytest.mark.parametrize("room", INDEPENDENT)
def test_reference_models_and_verifier_never_meet(room: str) -> None:
    """Also not through a third room: their agreement is only evidence while none uses another."""
    met = reached_from({room}).intersection(INDEPENDENT) - {room}
    assert not met, f"INDEPENDENCE LOST: {room} depends on {sorted(met)}"


ASKED_BY_NAME = {"coverage_of", "checker", "verify_plan", "planning", "explainer", "editing"}
"""Attributes of a scheduler behind which there are rooms that these three may not use."""


def test_what_is_independent_asks_no_scheduler() -> None:
    """What its attributes import is in no table: who asks for one depends on it all the same."""
    rooms = reached_from({*INDEPENDENT}) - {"scheduler"}
    found = [
        f"{source.path}:{node.lineno} {node.attr}"
        for source in sources()
        if source.room in rooms
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr in ASKED_BY_NAME
    ]
    assert not found


PIECES = {"reference": "reference", "model": "models", "verifier": "verifier"}
"""The modules of a rule set in a wing, and the rooms that answer the same question."""
RULE_SETS = sorted(
    {path.parent for wing in WINGS for path in (ROOT / "planner" / wing).rglob("verifier.py")}
)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("folder", RULE_SETS, ids=lambda folder: folder.name)
def test_the_pieces_of_a_rule_set_never_meet(folder: Path, piece: str) -> None:
    """Also not through other modules of their wing, or through a room of the core."""
    others = {*PIECES.values()} - {PIECES[piece]}
    rooms, reached = set[str](), set[Path]()
    ahead = {folder / f"{piece}.py"} if (folder / f"{piece}.py").exists() else set()
    while ahead:
        reached |= ahead
        trees = (ast.parse(path.read_bytes()) for path in ahead)
        found = {name for tree in trees for _, name in imported_modules(tree)}
        rooms |= {room for name in found if (room := room_of(name))} - WINGS.keys()
        # ``from a import b`` may name a module b, or something in the module a.
        files = (ROOT.joinpath(*name.split(".")[:end]) for name in found for end in (None, -1))
        inside = {path.with_suffix(".py") for path in files if WINGS.keys() & {*path.parts}}
        ahead = {path for path in inside if path.exists()} - reached
    met = reached_from(rooms) & others
    assert not met, f"INDEPENDENCE LOST: {piece} of {folder.name} depends on {sorted(met)}"
    assert not {path.stem for path in reached} & (PIECES.keys() - {piece})


def test_table_itself_keeps_them_apart() -> None:
    for room in INDEPENDENT:
        assert not MAY_IMPORT[room].intersection(INDEPENDENT), f"INDEPENDENCE LOST: {room}"


def test_ortools_is_imported_in_its_rooms_only() -> None:
    found = {
        f"{source.path}:{line}"
        for source in sources()
        if source.room not in ORTOOLS_ROOMS
        for line, module in imported_modules(source.tree)
        if module.partition(".")[0] == "ortools"
    }
    assert not found


def test_no_room_hides_an_import_in_a_string() -> None:
    """What importlib loads escapes every rule of this file."""
    found = {
        f"{source.path}:{line}"
        for source in sources()
        if source.room not in DYNAMIC_IMPORT_ROOMS
        for line, module in imported_modules(source.tree)
        if module in {"importlib.importlib", "importlib", "importlib.import_module"}
    }
    assert not found


def loaded_after(code: str) -> set[str]:
    """Run code in a new interpreter and name the top-level packages loaded at its end."""
    report = "\nimport sys\nprint(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code + report], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_importing_planner_costs_nothing() -> None:
    heavy = {"click", "numpy", "ortools", "pandas", "pydantic", "rich", "scipy", "yaml"}
    assert not heavy & loaded_after("import planner")


def test_a_small_plan_waits_for_no_other_library() -> None:
    """The pretty face of CP-SAT loads pandas. Proofs may load MathOpt, which takes 50 ms."""
    code = "import planner\nassert planner.solve(planner.read('instances/quickstart')).victims"
    assert not {"pandas", "pyarrow", "rich", "scipy"} & loaded_after(code)


@pytest.mark.parametrize("name", planner.__all__)
def test_public_name_exists_and_is_listed(name: str) -> None:
    assert getattr(planner, name) is not None
    assert name in dir(planner)


def test_other_names_do_not_exist() -> None:
    with pytest.raises(AttributeError, match="nonesuch"):
        planner.nonesuch  # type: ignore[attr-defined] # noqa: B018


def test_no_room_takes_the_name_of_a_function() -> None:
    assert not MAY_IMPORT.keys() & set(planner.__all__)


def test_files_are_short() -> None:
    lengths = {s.path: len((ROOT / s.path).read_text("utf-8").splitlines()) for s in sources()}
    assert not {str(path): n for path, n in lengths.items() if n >= LINES_PER_FILE}


def lines_after_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the lines of a function from the first after its docstring on."""
    documented = len(node.body) > 1 and ast.get_docstring(node) is not None
    first = node.body[1] if documented else node.body[0]
    return (node.end_lineno or 0) - first.lineno + 1


def test_functions_are_short() -> None:
    """Counted from the first line after the docstring; a law's docstring may be long."""
    long = {}
    for source in sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = lines_after_docstring(node)
                if length >= LINES_PER_FUNCTION:
                    long[f"{source.path}:{node.lineno} {node.name}"] = length
    assert not long


def test_no_module_is_a_box_of_odds_and_ends() -> None:
    assert not [str(s.path) for s in sources() if s.path.stem in {"util", "utils"}]
