"""Text to documents: JSON or YAML by what it looks like."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from pydantic_core import from_json

from planner.errors import CUT_SHORT, ParseError
from planner.reader.bound import Budget
from planner.reader.quick import quick_document
from planner.reader.show import shown
from planner.reader.source import GZIP_MAGIC, STDIN, Text

_UNPACK_INTO_FOLDER: Final = "unpack it into a folder, and name the folder"
BOM: Final = b"\xef\xbb\xbf"
_UTF16_OR_32: Final = re.compile(
    rb"\xff\xfe|\xfe\xff|\x00\x00\xfe\xff|(?:[\t-~](?:\x00|\x00{3})|(?:\x00|\x00{3})[\t-~]){2}"
)
"""What begins with a mark of its order of bytes, or with two letters that are filled up."""
_PACKED: Final = (
    (re.compile(rb"PK\x03\x04"), "a zip archive", _UNPACK_INTO_FOLDER),
    (re.compile(rb".{257}ustar", re.DOTALL), "a tar archive", _UNPACK_INTO_FOLDER),
    (re.compile(GZIP_MAGIC), "packed with gzip twice", "gunzip unpacks it once"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "packed with bzip2", "bunzip2 unpacks it"),
    (re.compile(rb"\xfd7zXZ\x00"), "packed with xz", "unxz unpacks it"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "packed with zstd", "unzstd unpacks it"),
)
"""What packed files begin with, what they are, and what helps."""
_JSON_START: Final = re.compile(rb'[ \t\r\n]*(\{[ \t\r\n]*["}]|\[)')
_BLANK: Final = re.compile(rb"\s*\Z")
_BRACKET: Final = re.compile(rb"[ \t\r\n]*[\{\[]")
_LOOKED_AT: Final = 4096
_POSITION: Final = re.compile(r"(.*) at line (\d+) column (\d+)", re.DOTALL)
OF_STATES: Final = " where a cluster has no such kind, delete the file"
_FAILED: Final = (
    f"did the command that wrote it fail?{OF_STATES}",
    "did the command that writes to it fail?",
)
"""What may have happened to an empty file, and to empty standard input."""
_NO_SPACE: Final = re.compile(rb"[^ \t\r\n]")
_SMALLEST_PIECE: Final = 4096
_HINTS: Final = {
    "EOF while": CUT_SHORT,
    "key must be": "keys stand in double quotes",
    "trailing comma": "no comma follows the last item",
}
_MESSAGE: Final = re.compile(
    rb"^(?:Warning: |[Ee]rror: |Error from server|Unable to connect|The connection to the server"
    rb"|No resources found|Defaulted container |Flag --|[EFIW]\d{4} \d\d:)[^\r\n]*",
    re.MULTILINE,
)
"""A line that kubectl writes to standard error."""
_FENCE: Final = re.compile(rb"^[ \t>]*(?:```|~~~)[^\r\n]*", re.MULTILINE)
_COMMAND: Final = re.compile(
    rb"^(?![ \t]*#)(?:[^\r\n\"']{,80}[$#%>][ \t]+)?(?:kubectl|oc|curl)[ \t][^\r\n]*", re.MULTILINE
)
_AROUND: Final = (
    (_MESSAGE, "is a message, {}: leave out 2>&1, which puts messages into a dump"),
    (_FENCE, "is the fence of a code block, {}: write --- in place of such lines"),
    (_COMMAND, "is a command, {}: leave it out, only what it prints is read"),
)
"""Lines that are no part of any object, and what is said of the first."""
_FIRST_LINE: Final = re.compile(rb"\s*[^\s{\[#%\-][^\r\n]*")
_OBJECT: Final = re.compile(rb"^[{\[]", re.MULTILINE)
_SEPARATOR: Final = re.compile(rb"^---", re.MULTILINE)
_TEMPLATE: Final = re.compile(
    rb"\{\{-?\s*(?:[.$]|/\*|(?:if|else|end|range|with|include|template|define|block|toYaml|required"
    rb"|default|printf|quote|tpl|lookup|fail|list|dict|eq|ne|and|or|not)\b)"
)
"""What a Helm template begins an action with; other tools have braces in their texts, too."""
_RENDER: Final = "render it first: helm template prints the objects"
_QUOTED: Final = 80
EXPECTED: Final = "Kubernetes objects as JSON or YAML, as kubectl get -o json prints them"


class Document(NamedTuple):
    """One parsed document and how to name it in a message.

    A value that is ``used_up`` is used by its reader only: its lists may be emptied while they are
    read, so that their memory serves the objects made from them. Values of YAML are not: aliases
    share them. ``yaml`` is the text of YAML in which the document is number ``number``, from 0 on.
    """

    where: str
    value: object
    used_up: bool = False
    yaml: bytes = b""
    number: int = 0

    def as_written(self) -> object:
        """Return the value with numbers as the texts that are written: ``010`` is not 8."""
        if not self.yaml:
            return self.value
        from planner.reader.yaml_text import parse_yaml  # noqa: PLC0415 - as in _yaml

        return parse_yaml(self.yaml.decode(), self.where, as_written=True)[self.number]


def parse(text: Text, budget: Budget | None = None, *, quick: bool = False) -> list[Document]:
    """Parse a text into its documents; empty documents are left out.

    Text that starts with a bracket is tried as JSON first. If it is not JSON it may still be
    YAML, unless it looks like JSON and its name does not end in .yaml; what looks like JSON
    gets the JSON error. Several texts that are read together share a budget. With ``quick`` the
    items of a list may be left as text (quick.py).

    Raises ``ParseError`` if the text is neither JSON nor YAML, or has too many values.
    """
    data = text.data.removeprefix(BOM)
    refuse_binary(data, text.where)
    budget = budget or Budget()
    listed = quick_document(data, text.where, budget) if quick else None
    if listed is not None:
        return [Document(text.where, listed, used_up=True)]
    try:
        values, is_json = _values(data, text, budget)
    except ParseError as error:
        if error.kind == "input" and (action := _TEMPLATE.search(data)):
            raise _unrendered(data, action.start(), text.where) from None
        error.hint = _between(data) or error.hint
        raise
    if not is_json and b"kind" not in data and (hint := _between(data)):
        raise ParseError(
            text.where, "is no dump: did the command that wrote it fail?", EXPECTED, hint
        )
    action = None if is_json else _TEMPLATE.search(data)
    if action and any(map(_has_actions, values)):
        raise _unrendered(data, action.start(), text.where)
    documents = [
        Document(
            f"{text.where}: document {number + 1}" if len(values) > 1 else text.where,
            value,
            is_json,
            b"" if is_json else data,
            number,
        )
        for number, value in enumerate(values)
        if value is not None
    ]
    if not documents:
        raise ParseError(text.where, "is empty", EXPECTED, _FAILED[text.where == STDIN])
    return documents


def _unrendered(data: bytes, at: int, where: str) -> ParseError:
    """Return the error about a Helm template, which names the line of its first action."""
    line = data.count(b"\n", 0, at) + 1
    return ParseError(f"{where}: line {line}", "this is a Helm template", EXPECTED, _RENDER)


def _has_actions(value: object) -> bool:
    """Say whether a value is an object of a scheduler that is named, or quoted, by a template.

    Pods are left out: what their containers are told may be a template of somebody else.
    """
    if not isinstance(value, dict) or ".x-k8s.io/" not in str(value.get("apiVersion")):
        return False
    todo: list[object] = [value.get("spec")]
    metadata = value.get("metadata")
    todo.append(metadata.get("name") if isinstance(metadata, dict) else None)
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            todo += () if "containers" in one else one.values()
        elif isinstance(one, list):
            todo += one
        elif isinstance(one, str) and _TEMPLATE.search(one.encode(errors="replace")):
            return True
    return False


def refuse_binary(data: bytes, where: str, expected: str = EXPECTED) -> None:
    """Raise a `ParseError` if the bytes are no UTF-8 text, as far as their beginning shows."""
    for begins, packed, hint in _PACKED:
        if begins.match(data):
            raise ParseError(where, f"is {packed}", f"{expected}; gzip is fine", hint)
    if _UTF16_OR_32.match(data):
        raise ParseError(
            where,
            "is UTF-16 or UTF-32 text",
            "UTF-8 text",
            "PowerShell's > writes UTF-16: use ... | Out-File -Encoding utf8 FILE",
        )
    if b"\0" in data[:_LOOKED_AT]:
        raise ParseError(where, "is binary data", f"{expected}; gzip is fine")


def _values(data: bytes, text: Text, budget: Budget) -> tuple[list[object], bool]:
    """Return the values of all documents, and whether they are JSON."""
    if _BLANK.match(data):
        return [], True
    if not _BRACKET.match(data):
        return _yaml(_decode(data, text.where), text.where, budget), False
    left = budget.left
    try:
        return list(parse_json(data, text.where, budget)), True
    except ParseError as error:
        json_error = error
    # The values counted for JSON are free again for YAML, unless they were too many already.
    if budget.left >= 0:
        budget.left = left
    decoded = _decode(data, text.where)
    # No line of JSON begins with dashes: these stand between documents of YAML, or of both.
    looks_like_json = _JSON_START.match(data) is not None and not _SEPARATOR.search(data)
    if looks_like_json and not text.named_yaml:
        raise json_error
    try:
        return _yaml(decoded, text.where, budget), False
    except ParseError as yaml_error:
        raise (json_error if looks_like_json else yaml_error) from None


def _between(data: bytes) -> str:
    """Return the hint about a line that is no part of the objects around it; empty if none is."""
    lines = [(found, words) for one, words in _AROUND if (found := one.search(data))]
    if not lines and _OBJECT.search(data) and (first := _FIRST_LINE.match(data)):
        lines = [(first, _AROUND[0][1])]
    if not lines:
        return ""
    found, words = lines[0]
    line = found[0].strip().decode(errors="replace")
    said = line if len(line) <= _QUOTED else f"{line[: _QUOTED - 1]}…"
    number = data.count(b"\n", 0, found.end()) + 1
    return f"line {number} " + words.format(f'"{said}"')


def _yaml(text: str, where: str, budget: Budget) -> list[object]:
    # kubectl prints JSON for programs: the library for YAML is loaded only where there is YAML.
    from planner.reader.yaml_text import parse_yaml  # noqa: PLC0415

    return parse_yaml(text, where, budget)


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(
            f"{where}: line {line}",
            f"the byte 0x{data[error.start]:02x} is not UTF-8",
            "UTF-8 text",
        ) from None


def parse_json(data: bytes, where: str, budget: Budget | None = None) -> Iterator[object]:
    """Parse documents that follow each other, on lines of their own or not.

    Where a key stands twice in an object the last one counts, as for kubectl.

    Raises ``ParseError``, with line and column, if a document is not JSON, holds NaN or Infinity or
    a number of thousands of digits, is nested too deeply, or has too many values.
    """
    (budget or Budget()).take_json(data, where)
    # The parser reads one document at a time and takes whole strings of bytes only, so what
    # follows the first document is handed over in pieces that grow until a document fits.
    start, size = 0, len(data)
    while found := _NO_SPACE.search(data, start):
        value, end = _parse_one(data, found.start(), size, where)
        yield value
        size = max(_SMALLEST_PIECE, 2 * (end - found.start()))
        start = end


def refuse_twice(data: bytes, where: str, expected: str) -> None:
    """Raise a `ParseError` if a key stands twice in an object of a document of JSON.

    Readers take one of the two values or the other: what is to be trusted, or is written by hand,
    says each thing once.
    """

    def once(pairs: list[tuple[str, object]]) -> None:
        for name, count in Counter(name for name, _ in pairs).items():
            if count > 1:
                found = f"the key {shown(name)} stands {count} times in one object"
                raise ParseError(where, found, expected)

    json.loads(data, object_pairs_hook=once, parse_int=str)


def _parse_one(data: bytes, start: int, size: int, where: str) -> tuple[object, int]:
    """Parse the document at ``start``; also return where it ends."""
    while True:
        piece = data[start : start + size] if start or size < len(data) else data
        try:
            return from_json(piece, allow_inf_nan=False), start + len(piece)
        except ValueError as error:
            problem, offset = _position(piece, str(error))
        if problem == "trailing characters":
            return from_json(piece[:offset], allow_inf_nan=False), start + offset
        if start + size >= len(data):
            raise _not_json(data, start + offset, problem, where)
        size *= 4


def _position(piece: bytes, message: str) -> tuple[str, int]:
    """Split the parser's message into the problem and its offset in the piece."""
    match = _POSITION.fullmatch(message)
    if match is None:
        return message, 0
    line_start = 0
    for _ in range(int(match[2]) - 1):
        line_start = piece.find(b"\n", line_start) + 1
    return match[1], min(max(line_start + int(match[3]) - 1, 0), len(piece))


def _not_json(data: bytes, offset: int, problem: str, where: str) -> ParseError:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - data.rfind(b"\n", 0, offset)
    place = f"{where}: line {line} column {column}"
    if problem.startswith("recursion limit"):
        return ParseError(place, "objects and lists are nested more than 200 deep")
    hint = next((text for start, text in _HINTS.items() if problem.startswith(start)), "")
    if re.match(rb"-?(NaN|Infinity)", data[offset : offset + 9]) or problem == "invalid number":
        hint = hint or "JSON has no NaN, no Infinity and no numbers with leading zeros"
    return ParseError(place, f"is not JSON: {problem}", hint=hint)
