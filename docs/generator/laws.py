"""The laws as a page: statement and source from the registry, mathematics from the models.

The mathematics is the docstring of the function that states a law, or checks it where no model
states it. Functions are found by the ids at the beginning of their docstrings, and the steps of the
replay by what they say that they keep.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import planner.models
import planner.reference
import planner.research
import planner.verifier
from generator.citations import linked
from planner.laws import RULE_SETS, Law
from planner.reference.laws import KEPT
from planner.research.kep83 import laws as kep83
from planner.wing import rule_sets

PAGE = "reference/laws.md"
HEAD = """# Laws

A law is one rule of a scheduler, with a stable id: the same here, in plans and certificates, in
error texts, in the code and in its tests. Each is stated three times, independently: as constraints
of the [model](../explanation/engine.md), as a check by the verifier, which has no solver, and step
by step in the replay of the scheduler's own algorithm.

Sources name files of the schedulers at the commits that were read: Kueue ff69552e, YuniKorn core
be3bb487. Pages named are those of this site: what the schedulers do, and the theory.
"""
IDS = re.compile(r"\b(?:KQ|FS|KF|ST|YK|K83)-\d\d\b")


def page() -> str:
    """Return the page of all rule sets; a law of several is described once."""
    parts = [HEAD]
    described: set[str] = set()
    added = {rules.name: rules.laws for rules in rule_sets()}
    for name, laws in {**RULE_SETS, **added}.items():
        parts.append(f"## {name}")
        parts.append("\n".join(["| law | what |", "|---|---|", *map(_row, laws)]))
        if name == "kep83":
            parts.append(linked((kep83.__doc__ or "").partition("\n\n")[2], PAGE))
        for law in laws:
            if law.id not in described:
                parts.extend(_law(law))
                described.add(law.id)
    return "\n\n".join(parts) + "\n"


def _row(law: Law) -> str:
    return f"| [{law.id}](#{law.id.lower()}) | {law.title} |"


def _law(law: Law) -> Iterator[str]:
    yield f"### {law.id} {law.title} {{ #{law.id.lower()} }}"
    yield _safe(law.statement)
    for where, text in _mathematics().get(law.id, ()):
        yield f'!!! note "As stated in `{where}`"\n\n' + _indented(linked(text, PAGE))
    if law.id in _steps():
        yield f"Kept in the replay by {', '.join(f'`{step}`' for step in _steps()[law.id])}"
    for lacking, why in (
        ("model states", law.no_model),
        ("step of the replay keeps", law.no_reference),
    ):
        if why:
            yield f"No {lacking} it: {why}."
    if law.reasons:
        yield f"Reason code of its victims: {' or '.join(f'`{code}`' for code in law.reasons)}"
    yield f"Source: {linked(_safe(law.source), PAGE)}"


@cache
def _steps() -> dict[str, list[str]]:
    """Return per law the steps of the replay that keep it, as they are called."""
    for package in (planner.reference, planner.research):
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(found.name)
    return {
        law: [f"{step.__module__}.{step.__qualname__}" for step in steps]
        for law, steps in KEPT.items()
    }


@cache
def _mathematics() -> dict[str, list[tuple[str, str]]]:
    """Return per law where it is stated, and the docstring there."""
    found: dict[str, list[tuple[str, str]]] = {}
    for package, files in (
        (planner.models, "*.py"),
        (planner.verifier, "*.py"),
        (planner.research, "model.py"),
        (planner.research, "verifier.py"),
    ):
        here: dict[str, list[tuple[str, str]]] = {}
        folder = Path(package.__path__[0])
        for path in sorted(folder.rglob(files)):
            module = ".".join([package.__name__, *path.relative_to(folder).with_suffix("").parts])
            for name, text in _docstrings(ast.parse(path.read_text(encoding="utf-8"))):
                for law in IDS.findall(text.partition(":")[0]):
                    here.setdefault(law, []).append((f"{module}.{name}", text))
        found = here | found  # what a model states comes before what the verifier checks
    return found


def _docstrings(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield node.name, text


def _indented(text: str) -> str:
    """Return a docstring as the text of a box; the titles of its sections are no headings."""
    plain = re.sub(r"^(\w+)\n-+$", r"**\1**\n", text, flags=re.MULTILINE)
    return "\n".join(f"    {line}".rstrip() for line in plain.splitlines())


def _safe(text: str) -> str:
    """Return plain text for Markdown, which would take < and _ for its own."""
    return text.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
