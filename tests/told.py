"""Texts that are compared with stored ones: ``pytest --update-goldens`` stores them anew.

A whole screen has a file of its own. All else that a test file is told, such as messages and the
words of explanations, is in ``golden/`` beside it, in a file of the same name with a section for
each test. What changes there is read in the diff before it is committed.
"""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UPDATE = "--update-goldens"
HEAD, NEXT = "=== ", "---"
TMP = re.compile(
    rf"{re.escape(tempfile.gettempdir())}/pytest-of-[^/\s]+/pytest-\d+/(popen-gw\d+/)?[\w.-]+"
)
"""The folder of a test."""

updating = False
_counted: Counter[str] = Counter()


def is_as_stored(text: str, file: Path) -> None:
    """Compare a text with a file, or store it anew."""
    if updating:
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def told(what: object) -> None:
    """Compare what the running test is told next: a text, several, or an error.

    The test's own folder is written ``TMP``, that of the project ``ROOT``.
    """
    node = os.environ["PYTEST_CURRENT_TEST"].removesuffix(" (call)")
    module, _, name = node.partition("::")
    text = _plain(what)
    place = _counted[node]
    _counted[node] += 1
    path = ROOT / module
    file = path.parent / "golden" / f"{path.stem}.txt"
    stored = _read(file)
    if updating:
        stored[name] = [*stored.get(name, [])[:place], text]
        there = path.read_text(encoding="utf-8")
        kept = (name for name in sorted(stored) if f"def {name.partition('[')[0]}(" in there)
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(_section(name, stored[name]) for name in kept), encoding="utf-8")
    assert text == (stored.get(name, []) + [f"nothing is stored: {UPDATE}"] * (place + 1))[place]


def _plain(what: object) -> str:
    many = isinstance(what, Iterable) and not isinstance(what, str)
    text = "\n".join(map(str, what)) if many else str(what)  # type: ignore[call-overload]
    text = TMP.sub("TMP", text).replace(str(ROOT), "ROOT")
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def _section(name: str, texts: Iterable[str]) -> str:
    told = ("\n".join(f"  {line}".rstrip() for line in text.split("\n")) for text in texts)
    return f"{HEAD}{name}\n" + f"\n{NEXT}\n".join(told) + "\n"


def _read(file: Path) -> dict[str, list[str]]:
    if not file.exists():
        return {}
    found: dict[str, list[str]] = {}
    for section in file.read_text(encoding="utf-8").removeprefix(HEAD).split(f"\n{HEAD}"):
        name, _, body = section.partition("\n")
        parts = body.removesuffix("\n").split(f"\n{NEXT}\n")
        found[name] = ["\n".join(line[2:] for line in part.split("\n")) for part in parts]
    return found
