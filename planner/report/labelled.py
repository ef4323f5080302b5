"""Plain lines, tables and documents of a record, as the labels of its fields have them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from planner.plan import Record
from planner.plan.label import Label
from planner.quantity import plural
from planner.report import document as doc
from planner.report.document import NONE, NOTHING, Cell, Column, Fact, Section
from planner.report.style import Said, Value, free, line
from planner.report.text import age, clean, moment, short, some_of

SHOWN: Final[Mapping[str, Callable[[Any], str]]] = {
    "s": age,
    "boost": "{:+d}".format,
    "rank": str,
    "%": "{:.1%}".format,
    "times": lambda number: f"{number:,}" if number else NOTHING,
}
"""How numbers of a unit are written."""
MAX_NAMES: Final = 12
KEYS: Final = frozenset({"key", "code"})
NAMES: Final = frozenset({"key", "name", "title"})
SENTENCES: Final = frozenset({"text", "answer", "caution", "steps"})


def _labelled(record: Record) -> Iterator[tuple[str, Label, Any]]:
    for field, info in type(record).model_fields.items():
        for label in info.metadata:
            if isinstance(label, Label):
                yield field, label, getattr(record, field)


def labelled_lines(record: Record, *of: Value) -> Iterator[str]:
    """Yield plain lines for every value of a record, behind what it is ``of``."""
    for field, label, value in _labelled(record):
        yield from _lines(field, label, value, of)


def _lines(field: str, label: Label, value: object, of: Sequence[Value]) -> Iterator[str]:
    called = label.plain or field
    if isinstance(value, tuple):
        if label.unit:
            yield line(field, value)
        for one in value:
            yield from _lines(label.plain or field.removesuffix("s"), label, one, of)
    elif isinstance(value, Record):
        yield from row_lines(called, value, *of)
    elif label.role == "command":
        yield clean(f"{value}")
    elif label.role == "answer" and not of and value:
        yield free(called, f"{value}")
    elif value not in (None, ""):
        yield line(called, *of, _plain(label, value))


def row_lines(called: str, record: Record, *of: Value) -> Iterator[str]:
    """Yield the plain line of one of several records, then those for what it has several of."""
    keys, facts, more = [*of], dict[str, Value](), list[tuple[str, Label, object]]()
    for field, label, value in _labelled(record):
        if label.role in KEYS:
            keys.append(_plain(label, value))
        elif isinstance(value, tuple | Record) or label.role in {"answer", "command"}:
            more.append((field, label, value))
        elif value != "" or not label.role:  # words that nobody wrote are left out
            facts[label.plain or field] = _plain(label, value)
    words_last = sorted(facts, key=lambda name: isinstance(facts[name], Said))
    yield line(called, *keys, **{name: facts[name] for name in words_last})
    whose = keys[: len(of) + 1]
    for field, label, value in more:
        if isinstance(value, Record):
            yield from labelled_lines(value, *whose)
        else:
            yield from _lines(field, label, value, whose)


def _plain(label: Label, value: object) -> Value:
    if label.role in SENTENCES and value is not None:
        return Said(value)
    return moment(value) if isinstance(value, datetime) else cast("Value", value)


def labelled_cell(label: Label, value: object) -> Cell:
    """Return the value of a field as a cell."""
    if label.said:
        said, tone = label.said[value]
        return Cell(said, tone=tone)
    if value in (None, "", ()):
        return NONE
    tone = label.tones.get(value, "")
    if isinstance(value, bool):
        return Cell("yes" if value else "no", tone=tone)
    if isinstance(value, int | float):
        number: Any = value
        return Cell(SHOWN.get(label.unit, "{:,}".format)(number), tone=tone)
    if isinstance(value, tuple):
        return Cell(some_of([short(one) for one in value[:MAX_NAMES]], len(value)))
    text = moment(value) if isinstance(value, datetime) else str(value)
    return Cell(text, is_name=label.role in NAMES, tone=tone)


def labelled_facts(record: Record) -> Iterator[tuple[str, Cell]]:
    """Yield all that a record has, by title."""
    for _, label, value in _labelled(record):
        if isinstance(value, Record):
            yield from labelled_facts(value)
        elif label.role == "steps":
            for number, step in enumerate(value, start=1):
                yield "" if number > 1 else label.title, Cell(f"{number}. {step}")
        elif label.title and value:
            yield label.title, labelled_cell(label, value)


def labelled_table(
    caption: str,
    records: Sequence[Record],
    own: Mapping[str, Column[Any]] = {},
    notes: Iterable[str] = (),
    most: int = doc.MAX_ROWS,
) -> doc.Table:
    """Return a table of records; ``own`` are columns by hand, in the places of these fields."""
    columns = dict[str, Column[Any]]()

    def column(field: str, label: Label) -> Column[Any]:
        return Column(
            label.title,
            lambda one: labelled_cell(label, getattr(one, field)),
            plural(len(records), label.unit) if label.role == "key" and label.unit else "",
            number=any(type(getattr(one, field)) in {int, float} for one in records),
            folds=label.role in NAMES | SENTENCES,
            rank=label.rank,
            below=columns[label.below].title if label.below else "",
        )

    for field, label, _ in _labelled(records[0]) if records else ():
        if label.title:
            columns[field] = own.get(field) or column(field, label)
    return doc.table(caption, [*columns.values()], records, notes, most=most)


def labelled_document(
    kind: str, answer: Record, *more: Section, **own: Iterable[doc.Block]
) -> doc.Document:
    """Return a document with a section for every list, and facts at its head for all else.

    ``own`` has the blocks of some sections by hand, ``more`` are sections to come last.
    """
    head, sections = list[Fact](), list[Section]()
    for field, label, value in _labelled(answer):
        if value in (None, "", ()) or not (label.title or label.role == "answer"):
            continue
        if not isinstance(value, tuple):
            role = cast("doc.Role", label.role)
            head.append(Fact(label.title, labelled_cell(label, value), role))
            continue
        tone: doc.Tone = "warn" if label.role == "caution" else ""
        blocks: Iterable[doc.Block] = (doc.Paragraph(str(text), tone) for text in value)
        if field in own:
            blocks = own[field]
        elif isinstance(value[0], Record):
            blocks = [labelled_table(label.title, value)]
        elif label.role == "name":
            blocks = [doc.Names(field, value)]
        elif label.role == "command":
            blocks = [doc.Listing(tuple(map(clean, value)))]
        sections.append(Section(label.title, tuple(blocks)))
    return doc.Document(kind, tuple(head), (*sections, *more))
