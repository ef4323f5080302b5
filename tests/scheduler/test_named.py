"""Who names a scheduler: its own folders and modules, the registry and the face; nobody else.

Only code counts: names, imports, and texts that are no docstrings.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMES = re.compile("yunikorn|kueue", re.IGNORECASE)
OWN = ("kueue", "yunikorn", "kep83", "strict")
"""How the folder or module of a scheduler, or of a rule set of its own, begins."""
REGISTRY = ROOT / "planner" / "scheduler"
FACE = ROOT / "planner" / "__init__.py"
"""It lists what is public, of each scheduler, too."""

RULES = {ROOT / "planner" / "rules.py", *(ROOT / "planner").glob("*/wing.py")}
"""What a rule set of Kueue is, and where wings list theirs."""
LISTS = {ROOT / "planner" / "operations" / name for name in ("schemas.py", "report/answers.py")}
"""Where a wing lists its answers, those about one scheduler among them."""


def shared() -> Iterator[Path]:
    """List the files of the product that are no scheduler's own."""
    for path in sorted(
        file for room in ("planner", "models") for file in (ROOT / room).rglob("*.py")
    ):
        parts = path.relative_to(ROOT).parts
        general = path not in {FACE, *RULES, *LISTS} and not path.is_relative_to(REGISTRY)
        if general and not any(part.startswith(OWN) for part in parts):
            yield path


def docstrings(tree: ast.Module) -> set[ast.expr]:
    """Return the texts that only explain: those that stand as statements."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def words(tree: ast.Module) -> Iterator[str]:
    """List what code is made of: identifiers, imported modules, and texts."""
    explaining = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node not in explaining:
                yield node.value
            continue
        for field in ("id", "attr", "name", "asname", "arg", "module"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield value


KINDS = re.compile("(YuniKorn|Any|Joint|Strict)?(State|Plan|Planning)")
"""How the states, plans and plannings of schedulers are called."""


def tells_apart(text: str) -> list[int]:
    """Return the lines that ask whose state or plan something is."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [
        call.lineno
        for call in calls
        if ast.unparse(call.func) in {"isinstance", "issubclass"}
        and any(
            isinstance(node, ast.Name | ast.Attribute) and KINDS.fullmatch(ast.unparse(node))
            for node in ast.walk(call.args[1])
        )
    ]


def names_one(text: str) -> bool:
    """Say whether code names a scheduler."""
    return any(NAMES.search(word) for word in words(ast.parse(text)))


def test_nobody_else_names_a_scheduler() -> None:
    found = [str(path.relative_to(ROOT)) for path in shared() if names_one(path.read_text("utf-8"))]
    assert not found, "ask scheduler_of(...), and its words"


def test_nobody_else_asks_whose_it_is() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in shared()
        for line in tells_apart(path.read_text("utf-8"))
    ]
    assert not found, "ask scheduler_of(...)"


def test_what_counts() -> None:
    assert tells_apart("if isinstance(plan, Plan | YuniKornPlan): ...") == [1]
    assert tells_apart("if isinstance(own, (Planning, int)): ...") == [1]
    assert not tells_apart("if isinstance(profile, Profile): ...")
    assert names_one("from planner.problem.kueue import build")
    assert names_one("x = 'Kueue itself'")
    assert names_one("def f(yunikorn_plan): ...")
    assert names_one("if isinstance(plan, YuniKornPlan): ...")
    assert not names_one('"""Kueue."""\nx = 1  # of YuniKorn\n\n\ndef f():\n    """Kueue\'s."""\n')
