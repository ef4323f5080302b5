"""YAML text to plain values, the way Kubernetes reads YAML.

Values are built from the parser's events without recursion: libyaml's own tree builder can be
made to overflow the stack, and aliases can make a small file stand for billions of values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, Protocol

import yaml

from planner.errors import CUT_SHORT, ParseError
from planner.reader.bound import Budget
from planner.reader.show import shown
from planner.state.yaml_number import BEGINS, yaml_number

DEEPEST: Final = 200
NESTED: Final = f"mappings and lists are nested more than {DEEPEST} deep"
_TOO_DEEP: Final = "exceeded maximum nesting depth"
"""libyaml's error, from 0.2.6 on, for a thousand brackets: it looks ahead before we can count."""
_SEPARATED: Final = "between what several commands print as YAML stands a line of ---"
MOST_ALIASED: Final = 1_000_000
"""How many values aliases may add to those that are written out."""

_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE: Final = "tag:yaml.org,2002:"
_PLAIN_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "null": (type(None),),
}
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE: Final = frozenset(
    {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}
)
_BOOLS: Final = frozenset({"true", "True", "TRUE", "false", "False", "FALSE"})
"""What is true or false in every version of YAML."""
_NOT_NUMBERS: Final = re.compile(r"[+-]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_EXACT: Final = 2.0**53
_COUNTED: Final = 4096
"""How many values are counted against the budget at once."""


class _NoKey:
    """Stands where a mapping waits for its next key."""


_NO_KEY: Final = _NoKey()
_MERGE: Final = _NoKey()


class _Frame:
    """A list or mapping under construction."""

    __slots__ = ("anchor", "key", "merged", "size", "value")

    def __init__(self, value: list[object] | dict[str, object], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | _NoKey = _NO_KEY
        self.merged: list[dict[str, object]] = []
        self.size = 1


def parse_yaml(
    text: str, where: str, budget: Budget | None = None, *, as_written: bool = False
) -> list[object]:
    """Parse every document of a YAML text; an empty document is ``None``.

    Scalars mean what they mean to Kubernetes (YAML 1.1 without timestamps and base 60), keys
    are strings, and a key stands only once in a mapping. With ``as_written`` a number, and a word
    such as ``yes`` or ``off``, stays the text that is written; true, false and null stay values.

    Raises ``ParseError``, with line and column, if the text is not YAML or more than Kubernetes
    objects need.
    """
    budget = budget or Budget()
    documents: list[object] = []
    builder, made = _Builder(where, as_written=as_written), 0
    try:
        events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                builder = _Builder(where, as_written=as_written)
            elif isinstance(event, yaml.DocumentEndEvent):
                documents.append(builder.root)
            elif isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                builder.add(event)
                made += 1
                if made % _COUNTED == 0:
                    budget.take(_COUNTED, _at(where, event.start_mark))
        budget.take(made % _COUNTED, where)
    except yaml.YAMLError as error:
        raise _not_yaml(error, text, where) from None
    except (ValueError, OverflowError, RecursionError) as error:  # escapes beyond Unicode
        raise ParseError(where, f"is not YAML: {error}") from None
    return documents


_HARD_SPACE: Final = "\u00a0"


def _not_yaml(error: yaml.YAMLError, text: str, where: str) -> ParseError:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "not readable"
    if problem == _TOO_DEEP:
        return ParseError(_at(where, mark), NESTED)
    lines = text.split("\n", mark.line + 1)[: mark.line + 1] if mark else []
    hint = _slip(lines, mark.column, problem) if mark and len(lines) > mark.line else ""
    if mark and mark.index >= len(text) and not text.endswith("\n"):
        hint = hint or CUT_SHORT
    return ParseError(_at(where, mark), f"is not YAML: {problem}", hint=hint)


def _slip(lines: Sequence[str], column: int, problem: str) -> str:
    """Return the hint about what people do to YAML that they copy; empty if it is none of that.

    The last of the lines is the one in which the problem was found.
    """
    if lines[-1][column:].startswith("\t"):
        return "YAML is indented with spaces, not with tabs"
    odd = next((number for number, one in enumerate(lines, 1) if _HARD_SPACE in one), 0)
    if odd:
        return f"line {odd} has a space of a web page (U+00A0), which is none to YAML"
    if not problem.startswith("mapping values"):
        return ""
    before = lines[-2] if len(lines) > 1 else lines[-1]
    if _indent(before) < _indent(lines[-1]) and not before.rstrip().endswith(":"):
        return "all keys of an object begin in one column: has a line lost its spaces?"
    return 'a text with ": " in it stands in quotes'


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


class _Mark(Protocol):
    """A place in a text, of either kind that PyYAML has; both count from 0."""

    line: int
    column: int


def _at(where: str, mark: _Mark | None) -> str:
    if mark is None:
        return where
    return f"{where}: line {mark.line + 1} column {mark.column + 1}"


class _Builder:
    """Builds the value of one document, event by event."""

    def __init__(self, where: str, *, as_written: bool) -> None:
        self.where = where
        self.as_written = as_written
        self.root: object = None
        self.frames: list[_Frame] = []
        self.anchors: dict[str | None, tuple[object, int]] = {}
        self.aliased = 0

    def add(self, event: yaml.NodeEvent | yaml.CollectionEndEvent) -> None:
        """Take the next event of the document."""
        if isinstance(event, yaml.ScalarEvent):
            value = self._scalar(event)
            if event.anchor is not None:
                self.anchors[event.anchor] = (value, 1)
            self._place(value, 1, event)
        elif isinstance(event, yaml.CollectionStartEvent):
            self._open(event)
        elif isinstance(event, yaml.CollectionEndEvent):
            frame = self.frames.pop()
            if isinstance(frame.value, dict) and frame.merged:
                # Where several mappings are merged, the first one counts.
                whole: dict[str, object] = {}
                for each in (*reversed(frame.merged), frame.value):
                    whole.update(each)
                frame.value = whole
            if frame.anchor is not None:
                self.anchors[frame.anchor] = (frame.value, frame.size)
            self._place(frame.value, frame.size, event)
        elif event.anchor not in self.anchors:
            found = f"*{event.anchor} refers to nothing that is complete before it"
            raise self._error(event, found)
        else:
            value, size = self.anchors[event.anchor]
            self.aliased += size
            if self.aliased > MOST_ALIASED:
                raise self._error(event, f"aliases stand for more than {MOST_ALIASED} values")
            self._place(value, size, event)

    def _error(
        self, event: yaml.Event, found: str, expected: str = "", hint: str = ""
    ) -> ParseError:
        return ParseError(_at(self.where, event.start_mark), found, expected, hint)

    def _open(self, event: yaml.CollectionStartEvent) -> None:
        kind = "seq" if isinstance(event, yaml.SequenceStartEvent) else "map"
        if event.tag not in {None, "!", _CORE + kind}:
            raise self._tag_error(event)
        if len(self.frames) == DEEPEST:
            raise self._error(event, NESTED)
        self.frames.append(_Frame([] if kind == "seq" else {}, event.anchor))
        if event.anchor is not None:
            # No alias may refer to a value that is not complete: the value would contain itself.
            self.anchors.pop(event.anchor, None)

    def _place(self, value: object, size: int, event: yaml.Event) -> None:
        """Put a finished value where it belongs: the root, a list, a key, or a key's value."""
        if not self.frames:
            self.root = value
            return
        frame = self.frames[-1]
        frame.size += size
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is _NO_KEY:
            frame.key = self._key(value, frame, event)
        elif frame.key is _MERGE:
            mappings: list[Any] = value if isinstance(value, list) else [value]
            if not all(isinstance(mapping, dict) for mapping in mappings):
                raise self._error(event, "<< merges something else than mappings")
            frame.merged.extend(mappings)
            frame.key = _NO_KEY
        elif isinstance(frame.key, str):
            frame.value[frame.key] = value
            frame.key = _NO_KEY

    def _key(self, value: object, frame: _Frame, event: yaml.Event) -> str | _NoKey:
        if not isinstance(value, str):
            raise self._error(
                event, f"the key {shown(value)} is not a string", hint="put the key in quotes"
            )
        if value == "<<" and isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
            return _MERGE
        if value in frame.value:
            found = f"the key {shown(value)} stands twice in one mapping"
            hint = _SEPARATED if len(self.frames) == 1 and value == "apiVersion" else ""
            raise self._error(event, found, hint=hint)
        return value

    def _scalar(self, event: yaml.ScalarEvent) -> object:
        text = event.value
        if event.tag is None:
            value = resolve(text) if event.implicit[0] else text
            if self.as_written and value is not None and text not in _BOOLS:
                value = text
        elif event.tag in {"!", _CORE + "str"}:
            value = text
        else:
            value = resolve(text)
            kinds = _PLAIN_KINDS.get(event.tag.removeprefix(_CORE))
            if kinds is None or type(value) not in kinds:
                raise self._tag_error(event)
        if isinstance(value, float) and not math.isfinite(value):
            raise self._error(event, f"{text} is not a number JSON knows")
        if isinstance(value, str) and not value.isascii():
            value.encode()  # the pure Python parser lets lone surrogates through
        return value

    def _tag_error(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent) -> ParseError:
        tag = str(event.tag).replace(_CORE, "!!", 1)[:60]
        return self._error(event, f"the tag {tag} means nothing here", "plain YAML without tags")


@lru_cache(maxsize=65536)
def resolve(text: str) -> object:
    """Return what a plain scalar means: null, a bool, a number, or the text itself."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    # Most scalars are words: they are not held against what numbers look like.
    return _number(text) if text[0] in BEGINS else text


def _number(text: str) -> object:
    if _NOT_NUMBERS.fullmatch(text):
        return float(text.replace(".", ""))
    value = yaml_number(text)
    if isinstance(value, int):
        return value
    if value is None or math.isinf(value):
        return text
    # Kubernetes turns YAML into JSON first, which writes 1.0 and 08 as 1 and 8.
    return int(value) if value.is_integer() and abs(value) < _EXACT else value
