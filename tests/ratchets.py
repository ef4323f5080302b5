"""What the house weighs, in numbers that may only fall; ``python -m tests.ratchets`` writes them.

A line of code is one without docstring, comment, import or blank. Names are counted by their
spelling alone, in all of the product.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, TypeGuard

from tests.test_architecture import (
    ROOT,
    Source,
    arrows,
    imported_modules,
    lines_after_docstring,
    sources,
)

TABLE: Final = ROOT / "tests" / "ratchets.txt"
TRUSTED: Final = ("reader", "state", "quota", "verifier", "proof", "commands/check")
"""The rooms in which a fault can make ``planner.check`` accept what is false."""
ENTRANCES: Final = (
    *("planner.solver.start", "planner.coverage.answer", "planner.commands.check.plan"),
)
"""Where ``planner.solve`` and ``planner.check`` begin."""
ASKED: Final = frozenset(
    ["laws", "read_documents", "plan", "planning", "coverage_of", "verify_plan", "checker"]
)
"""The attributes of schedulers that the two ask for."""
WINGS: Final = ("planner/research/", "planner/operations/")
SIDE_QUESTIONS: Final = {
    "D11": r"\bD11\b|CASCADE|UNSTABLE|[\"`]unstable[\"`]",
    "KEP-83": r"(?i)kep.?83",
    "strict": r"(?i:documented precedence)|ST-0\d|\bSTRICT\b|StrictPlanning|kueue_strict"
    r"|\.strict\b|\"strict\"",
}
"""What of the core is to know none of, each by how its files are told."""
RECORDS: Final = frozenset({"dataclass", "NamedTuple", "Struct", "BaseModel", "define", "frozen"})
MANY_PARAMETERS, MANY_FILES, SHORT = 6, 10, 8

Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(node: ast.expr) -> str:
    """Return the last name of a base or decorator, whatever it is called or subscripted with."""
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def records(classes: Iterable[ast.ClassDef]) -> int:
    """Count the classes that are records, by a decorator or by what they derive from."""
    made_of = [
        (one.name, {*map(name_of, one.bases), *map(name_of, one.decorator_list)}) for one in classes
    ]
    known: set[str] = set(RECORDS)
    while more := {name for name, parts in made_of if parts & known} - known:
        known |= more
    return sum(bool(parts & known) for _, parts in made_of)


def is_text(node: ast.AST) -> TypeGuard[ast.Expr]:
    """Say whether a node is a docstring, or a text that stands where one would."""
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def is_any(annotation: ast.expr | None) -> bool:
    """Say whether an annotation is ``Any`` alone."""
    return isinstance(annotation, ast.Name) and annotation.id == "Any"


def parameters(node: Function) -> list[ast.arg]:
    """Return the parameters that a caller gives by name or place."""
    found = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [one for one in found if one.arg not in {"self", "cls"}]


def closure() -> list[Source]:
    """Return the files that `ENTRANCES` import, and those `ASKED` of schedulers, with packages."""
    modules = {
        re.sub("^models", "planner.models", ".".join(one.path.with_suffix("").parts)): one
        for one in sources()
    }
    modules = {name.removesuffix(".__init__"): one for name, one in modules.items()}
    ahead = [*ENTRANCES]
    assert modules.keys() >= {*ahead}
    for node in (
        node for one in sources() if one.room == "scheduler" for node in ast.walk(one.tree)
    ):
        if isinstance(node, ast.FunctionDef) and node.name in ASKED:
            ahead += [module for _, module in imported_modules(node)]
    found = dict[str, Source]()
    while ahead:
        name = ahead.pop()
        while name not in modules and "." in name:  # a name in a module, or another's package
            name = name.rpartition(".")[0]
        if name in modules and name not in {"planner", *found}:
            found[name] = modules[name]
            ahead += [name.rpartition(".")[0]]
            ahead += [module for _, module in arrows(modules[name])]
    return list(found.values())


def measured() -> dict[str, int]:  # noqa: C901 - one pass over all files
    """Return today's numbers, by what they count."""
    code, knowing = dict[Source, int](), Counter[str]()
    named, called, bridges = Counter[str](), Counter[str](), 0
    functions, classes = list[tuple[Path, Function]](), list[ast.ClassDef]()
    for source in sources():
        no_code = set[int]()
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Import | ast.ImportFrom) or is_text(node):
                no_code.update(range(node.lineno, (node.end_lineno or 0) + 1))
            elif isinstance(node, ast.Name | ast.Attribute):
                named[name_of(node)] += 1
            elif isinstance(node, ast.Call):
                called[name_of(node.func)] += 1
            elif isinstance(node, ast.ClassDef):
                classes.append(node)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                functions.append((source.path, node))
                bridges += is_any(node.returns)
            elif isinstance(node, ast.arg | ast.AnnAssign):
                bridges += is_any(node.annotation)
        text = (ROOT / source.path).read_text("utf-8")
        rows = (row.strip() for n, row in enumerate(text.splitlines(), 1) if n not in no_code)
        code[source] = sum(bool(row) and not row.startswith("#") for row in rows)
        if not str(source.path).startswith(WINGS):
            knowing.update(name for name, told in SIDE_QUESTIONS.items() if re.search(told, text))
    rooms = Counter[str]()
    for source, lines in code.items():
        rooms[source.room] += lines
    assert rooms.keys() >= {*TRUSTED}
    files, reached = defaultdict[str, set[Path]](set), closure()
    for path, one in functions:
        files[one.name].add(path)
    defined = Counter(one.name for _, one in functions)
    once = [one for _, one in functions if defined[one.name] == named[one.name] == 1]
    return {
        **{f"code lines of {room}": rooms[room] for room in sorted(rooms)},
        "code lines that solve and check reach": sum(map(code.__getitem__, reached)),
        "modules that solve and check reach": len(reached),
        "code lines that check trusts": sum(rooms[room] for room in TRUSTED),
        "record types": records(classes),
        "functions used once": len(once),
        f"private helpers called once and under {SHORT} lines": sum(
            one.name.startswith("_")
            and not one.name.startswith("__")  # Python calls those
            and called[one.name] == 1
            and not one.decorator_list
            and lines_after_docstring(one) < SHORT
            for one in once
        ),
        f"functions with {MANY_PARAMETERS} or more parameters": sum(
            len(parameters(one)) >= MANY_PARAMETERS for _, one in functions
        ),
        "values of type Any": bridges,
        f"public names of functions in {MANY_FILES} or more files": sum(
            len(paths) >= MANY_FILES and not name.startswith("_") for name, paths in files.items()
        ),
        **{f"files of the core that know {name}": knowing[name] for name in SIDE_QUESTIONS},
    }


def written(numbers: Mapping[str, int]) -> str:
    """Return the text of the table: a line for each number."""
    return "".join(f"{number:>6}  {name}\n" for name, number in numbers.items())


def table() -> dict[str, int]:
    """Return the numbers of the table; of two that a merge has left there, the lower."""
    found = dict[str, int]()
    for number, name in re.findall(r"(?m)^ *(\d+)  (.+)$", TABLE.read_text("utf-8")):
        found[name] = min(int(number), found.get(name, int(number)))
    return found


def main() -> None:
    """Write the table anew, and print what is not as it was."""
    before, today = table(), measured()
    TABLE.write_text(written(today), "utf-8")
    for name in dict.fromkeys((*today, *before)):
        old, new = before.get(name, 0), today.get(name, 0)
        if old != new:
            word = "ROSE" if new > old else "fell"
            sys.stdout.write(f"{word} from {old:,} to {new:,}: {name}\n")


if __name__ == "__main__":
    main()
