"""A result in the style that was asked for: JSON, plain lines, CSV, or its document.

Plain lines are made to be read by grep, awk and cut: one fact a line, whose first word says what
it is; records go on with ``key=value``. Names are escaped so that none holds a space or a quote;
texts for people stand in double quotes, or at the end of lines that hold nothing else.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from csv import writer
from typing import Any, Final, Protocol, TypedDict, TypeVar, Unpack

from pydantic import BaseModel

from planner.report.document import Document
from planner.report.text import clean, word

Answer = TypeVar("Answer")
Whole_contra = TypeVar("Whole_contra", bound=BaseModel, contravariant=True)
Whole = TypeVar("Whole", bound=BaseModel)
LABEL_WIDTH: Final = 16


class Said(str):
    """A text for people, which stands in double quotes."""

    __slots__ = ()


class Word(str):
    """A text that is one word already: spaces and quotes in it are escaped."""

    __slots__ = ()


class Repeated(tuple[str, ...]):
    """The values of a fact that a line has several times."""

    __slots__ = ()


Value = str | int | float | Sequence[object] | None
"""What a fact may be: of a list its length is written, and ``None`` is left out."""


def line(label: str, *values: Value, **facts: Value) -> str:
    """Return a plain line: its label, and the `words` of its values and facts."""
    return f"{label:<{LABEL_WIDTH}} {words(*values, **facts)}".rstrip()


def words(*values: Value, **facts: Value) -> str:
    """Return values, facts as ``key=value``, and texts for people at the end."""
    known = [value for value in values if value is not None]
    parts = [_plain(value) for value in known if not isinstance(value, Said)]
    for key, fact in facts.items():
        several = fact if isinstance(fact, Repeated) else (fact,) if fact is not None else ()
        parts += [f"{word(key)}={_plain(one)}" for one in several]
    parts += [_plain(value) for value in known if isinstance(value, Said)]
    return " ".join(parts)


def joined(*parts: str) -> Word:
    """Return parts of a name as one word with slashes."""
    return Word("/".join(map(word, parts)))


def free(label: str, text: str) -> str:
    """Return a plain line of nothing but a text for people, without quotes."""
    in_one_line = " ".join(map(clean, text.split("\n")))
    return f"{label:<{LABEL_WIDTH}} {in_one_line}".rstrip()


def each(label: str, keys: Iterable[Value], *before: Value) -> Iterator[str]:
    """Yield a plain line for each key, with the same values ``before`` each."""
    return (line(label, *before, key) for key in keys)


def fields(record: object, names: str) -> dict[str, Any]:
    """Return fields of a record by name; ``shown=field`` gives a field another name."""
    pairs = (name.partition("=") for name in names.split())
    return {shown: getattr(record, field or shown) for shown, _, field in pairs}


def field_lines(record: object, names: str) -> Iterator[str]:
    """Yield a plain line for each of some fields of a record."""
    return (line(name, value) for name, value in fields(record, names).items())


def _plain(value: Value) -> str:
    if isinstance(value, Said):
        return '"' + clean(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, Word):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str | int | float):
        return word(str(value))
    return str(len(value or ()))


def dump(record: BaseModel) -> str:
    """Return any output record as JSON in ASCII, so that no name can steer a terminal."""
    # Only pydantic's own text writes an infinite share as a string, which JSON can hold.
    value = json.loads(record.model_dump_json(by_alias=True))
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def csv_of(rows: Iterable[Iterable[object]]) -> str:
    """Return rows as CSV; names are never formulas of a spreadsheet."""

    def harmless(value: object) -> object:
        if isinstance(value, bool):
            return _plain(value)
        if not isinstance(value, str):
            return value
        text = clean(value)
        return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text

    file = io.StringIO()
    writer(file, lineterminator="\n").writerows(map(harmless, row) for row in rows)
    return file.getvalue()


class Look(TypedDict, total=False):
    """What a screen is like: how many columns, ``None`` for the usual, and if it has colours."""

    width: int | None
    color: bool


def rendered(
    style: str,
    whole: BaseModel,
    lines: Iterable[Iterable[str]],
    documents: Iterable[Document],
    noun: str = "",
    **look: Unpack[Look],
) -> str:
    """Return answers in a style: ``table``, ``plain``, ``json``, ``markdown`` or ``html``.

    ``whole`` is the record of all answers, for JSON; of the others, those of each answer are made
    only if the style needs them. ``noun`` is a page's word for one of several.
    """
    if style == "json":
        return dump(whole)
    if style == "plain":
        return "\n".join("".join(f"{text}\n" for text in some) for some in lines)
    if style == "html":
        # Loaded here and below only when needed: plain lines need none of these modules.
        from planner.report.html.page import page  # noqa: PLC0415

        return page([*documents], noun)
    if style == "markdown":
        from planner.report.markdown import text_of as markdown  # noqa: PLC0415

        return "\n---\n\n".join(map(markdown, documents))
    from planner.report.terminal import text_of  # noqa: PLC0415

    return text_of([*documents], **look)


class Renderer(Protocol[Whole_contra]):
    """Writes a result in a style."""

    def __call__(self, answer: Whole_contra, style: str, *, width: int, color: bool) -> str:
        """Return the result as ``table``, ``plain``, ``json``, ``markdown`` or ``html``."""
        ...


def renderer(
    lines: Callable[[Whole], Iterable[str]],
    document: Callable[[Whole], Document],
    csv: Callable[[Whole], str] | None = None,
) -> Renderer[Whole]:
    """Return the renderer of one kind of result in every style; with ``csv`` also as CSV."""

    def render(answer: Whole, style: str, *, width: int, color: bool) -> str:
        if csv is not None and style == "csv":
            return csv(answer)
        made = map(lines, [answer]), map(document, [answer])
        return rendered(style, answer, *made, width=width, color=color)

    return render
