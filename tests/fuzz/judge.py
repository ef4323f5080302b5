"""What an input may end with: an answer or one clean error, never 70, and nothing half-written."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from planner.cli.exit_code import BAD_INPUT, MEANINGS, OUR_BUG
from planner.cli.schemas import SCHEMAS
from planner.errors import NO_MEMORY
from tests.fuzz.case import PLUGIN, READ, Case
from tests.fuzz.hostile import MARKUP
from tests.fuzz.octets import TRAP
from tests.fuzz.words import BEFORE
from tests.published import validator

ALLOWED: Final = MEANINGS.keys() - {OUR_BUG}
PLANS: Final = ("plan", "plans", "front", "fronts", "joint")
SCHEMA_OF: Final = {
    "solve": PLANS,
    PLUGIN: PLANS,
    "explain": ("explanation", "message"),
    "whatif": ("whatif", "settings"),
    "audit": ("audit",),
    "compare": ("comparison",),
    "simulate": ("simulation",),
    "replay": ("replay", "live"),
    "apply": ("applied",),
    "steer": ("steer",),
    "watch": ("watch",),
}
"""Of which schemas the JSON of a command must follow one; others have one of their own name."""

IN_PART: Final = frozenset({"audit", "bench", "compare", "solve", "steer", "watch", PLUGIN})
"""Commands that answer for several, and print what they can where one of these fails."""

LONGEST_LINE: Final = 1500
_OURS: Final = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception|Interrupt|Warning)): |Traceback")
_KINDS: Final = (
    *("error", "warning", "note", "ignored", "snapshot", "import", "generate", "stopped"),
    "apply",
    "steer",
    "watch",
)
_LINE: Final = re.compile(rf"(?:{'|'.join(_KINDS)}): |  |\d+ pending: ")
_HELP: Final = re.compile(r"^Usage: ")


class End(NamedTuple):
    """How an input ended."""

    code: int
    stdout: bytes
    stderr: bytes
    raised: str = ""
    native: bytes = b""
    """What was written to the file descriptor of standard output behind Python's back."""


def faults(case: Case, end: End, folder: Path) -> list[str]:
    """Say everything that is wrong with how an input ended."""
    found = [*_code(end), *_messages(case, end), *_files(case, end, folder)]
    if case.kind != READ:
        found += _result(case, end, folder)
    return found


def _code(end: End) -> Iterator[str]:
    if end.raised:
        yield f"raised {end.raised}"
    elif end.code not in ALLOWED:
        yield f"exit code {end.code}: {_short(end.stderr)}"
    if end.native:
        yield f"wrote to standard output behind Python's back: {_short(end.native)}"


def _messages(case: Case, end: End) -> Iterator[str]:
    try:
        said = end.stderr.decode("utf-8")
    except UnicodeDecodeError:
        yield f"standard error is not UTF-8: {_short(end.stderr)}"
        return
    yield from _printable("standard error", said)
    if NO_MEMORY in said:
        yield "took more memory than an input may"
    match = _OURS.search(said + end.stdout.decode("utf-8", "replace"))
    if match and end.code in ALLOWED:
        yield f"a bug of ours in the output: {match[0]}"
    lines = said.splitlines()
    odd = [line for line in lines if not _LINE.match(line)]
    if odd and end.code in ALLOWED:
        yield f"no form of a message: {ascii(odd[0])[:300]}"
    given = (*case.words, *case.environment.values())
    longest = LONGEST_LINE + max(map(len, given), default=0)  # usage errors quote what is given
    if long := next((line for line in lines if len(line) > longest), None):
        yield f"a line of {len(long)} characters on standard error: {long[:100]}"
    errors = sum(line.startswith("error: ") for line in lines)
    alone = case.kind not in IN_PART
    printed = end.stdout or any(word.startswith("--output=") for word in case.words)
    if end.code == BAD_INPUT and errors != 1 and (alone or (not errors and not printed)):
        yield f"exit code 2 with {errors} errors on standard error"
    if end.code != BAD_INPUT and errors and alone:
        yield f"an error with exit code {end.code}: {_short(end.stderr)}"


def _printable(what: str, text: str) -> Iterator[str]:
    if not text.replace("\n", "").isprintable():
        yield f"{what} holds control characters: {ascii(text)[:300]}"


def _result(case: Case, end: End, folder: Path) -> Iterator[str]:
    printed = end.stdout
    if _HELP.match(printed.decode("utf-8", "replace")):
        return
    if end.code == BAD_INPUT and printed and case.kind not in {*IN_PART, "generate", "import"}:
        yield f"exit code 2 with a result: {_short(printed)}"
    target = folder / case.output if case.output else None
    if target is not None and target.is_file() and case.kind not in {"generate", "import"}:
        if (data := target.read_bytes()) != BEFORE:
            if printed:
                yield "a result on standard output, and in a file, too"
            printed = data
        elif end.code != BAD_INPUT:
            yield "the file was not written"
    if printed:
        yield from _form(case, printed)


def _form(case: Case, printed: bytes) -> Iterator[str]:
    """Look at the form of a result."""
    try:
        text = printed.decode("utf-8")
    except UnicodeDecodeError:
        yield f"the result is not UTF-8: {_short(printed)}"
        return
    style = case.style
    if case.kind == "schema":
        return
    if style == "jsonl":
        for row in text.splitlines():
            yield from _json(case, row)
    elif case.kind == "snapshot" or style == "json":
        yield from _json(case, text)
    elif style == "html":
        if MARKUP in text:
            yield "a name from the dump is part of the page as it stands"
    elif case.kind not in {"generate", "import"} and style in {"plain", "table", "markdown"}:
        yield from _printable("the result", text)


def _json(case: Case, text: str) -> Iterator[str]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        yield f"the result is not JSON: {error}: {text[:200]!r}"
        return
    if case.kind == "snapshot":
        return
    names = SCHEMA_OF.get(case.kind, (case.kind,))
    complaints = {name: _complaint(name, value) for name in names}
    if all(complaints.values()):
        # Of several schemas the one that the value gets furthest in says most.
        yield f"the result does not follow its schema: {max(complaints.values(), key=len)}"


def _refuse(constant: str) -> Any:
    message = f"{constant} is no JSON"
    raise ValueError(message)


def warm_up() -> None:
    """Make all validators, before processes share them."""
    for name in SCHEMAS:
        validator(name)


def _complaint(name: str, value: Any) -> str:
    error = next(iter(validator(name).iter_errors(value)), None)
    return "" if error is None else f"{name}: {error.json_path}: {error.message[:200]}"


def _files(case: Case, end: End, folder: Path) -> Iterator[str]:
    """Look for what nobody asked for: halves of files, and what a trap leaves."""
    if (folder / TRAP).exists():
        yield "ran what a tag of YAML said"
    for path in folder.rglob(".*"):
        yield f"left {path.relative_to(folder)} behind"
    for path in folder.rglob("*.svg"):
        data = path.read_bytes()
        if data == BEFORE:
            continue
        try:
            ET.fromstring(data)  # noqa: S314 - we drew it
        except ET.ParseError as error:
            yield f"{path.name} is no whole picture: {error}"
    refused = end.code == BAD_INPUT and case.kind not in IN_PART
    for name in (name for name, data in case.files.items() if refused and data == BEFORE):
        path = folder / name
        if not path.exists() or path.read_bytes() != BEFORE:
            yield f"{name} was changed although nothing could be done"


def _short(data: bytes) -> str:
    return ascii(data[-400:].decode("utf-8", "replace"))
