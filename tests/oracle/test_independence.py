"""The oracle is evidence only while it shares nothing with what it judges."""

import ast
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = [
    *sorted(path for path in (TESTS / "oracle").glob("*.py") if "test_" not in path.name),
    *sorted((TESTS / "research").glob("*/oracle.py")),
]
LINES_PER_FILE = 400


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_oracle_imports_itself_and_the_standard_library_only(path: Path) -> None:
    foreign = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or "."]
        foreign += [
            name
            for name in names
            if not name.startswith("tests.oracle.")
            and name.partition(".")[0] not in sys.stdlib_module_names
        ]
        assert not (isinstance(node, ast.Name) and node.id in {"__import__", "exec", "eval"})
    assert not foreign
    assert "importlib" not in path.read_text("utf-8")


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_its_files_stay_readable(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LINES_PER_FILE
