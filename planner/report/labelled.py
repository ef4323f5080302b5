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
from planner.report.style import Repeated, Said, Value, free, line
from planner.report.text import age, clean, decimal, moment, short, some_of

SHOWN: Final = dict[str, Callable[[Any], str]](
    {
        "s": age,
        "seconds": "{:,.3f}".format,
        "ratio": decimal,
        "boost": "{:+d}".format,
        "rank": str,
        "%": "{:.1%}".format,
        "times": lambda number: f"{number:,}" if number else NOTHING,
    }
)
"""How numbers of a unit are written."""
MAX_NAMES: Final = 12
KEYS: Final = frozenset({"key", "code"})
NAMES: Final = frozenset({"key", "name", "title"})
ONE_FACT: Final = frozenset({"list", "count"})
SENTENCES: Final = frozenset({"text", "answer", "caution", "steps"})


def _labelled(record: Record) -> Iterator[tuple[str, Label, Any]]:
    for field, info in type(record).model_fields.items():
        for label in info.metadata:
            if isinstance(label, Label):
                yield field, label, getattr(record, field)


def labelled_lines(record: Record, *of: Value) -> Iterator[str]:
    """Yield plain lines for every value of a record, behind what it is ``of``; totals come last."""
    for field, label, value in sorted(_labelled(record), key=lambda one: one[1].role == "totals"):
        yield from _lines(field, label, value, of)


def _lines(field: str, label: Label, value: object, of: Sequence[Value]) -> Iterator[str]:
    called = label.plain or field
    if isinstance(value, tuple) and label.role not in ONE_FACT:
        if label.unit:
            yield line(field, value)
        for number, one in enumerate(value, start=1):
            at = (*of, number) if label.role == "numbered" else of
            yield from _lines(label.plain or field.removesuffix("s"), label, one, at)
    elif isinstance(value, Mapping):
        yield from (line(called, *of, key, one) for key, one in value.items())
    elif isinstance(value, Record):
        yield from row_lines(called, value, *of)
    elif label.role == "command":
        yield clean(f"{value}")
    elif label.role == "answer" and not of and value:
        yield free(called, f"{value}")
    elif value not in (None, "") or label.absent:
        yield line(called, *of, _plain(label, value))


def row_lines(called: str, record: Record, *of: Value, **more: Value) -> Iterator[str]:
    """Yield the plain line of one of several records, then those for what it has several of.

    ``more`` are facts of the line that no field has.
    """
    keys, whose, facts = [*of], [*of], dict[str, Value]()
    parts = list[tuple[str, Label, Any]]()
    for field, label, value in _labelled(record):
        if label.role in KEYS:
            keys.append(_plain(label, value))
            if label.role == "key" or not whose:
                whose.append(keys[-1])
            continue
        if label.role == "counted":
            facts[field] = value  # of a list its length is written
        if (
            label.role not in ONE_FACT and isinstance(value, tuple | Record | Mapping)
        ) or label.role in {"answer", "command"}:
            parts.append((field, label, value))
        elif isinstance(value, Mapping):
            facts |= value
        elif value != "" or not label.role:  # words that nobody wrote are left out
            facts[label.plain or field] = _plain(label, value)
    facts |= more
    words_last = sorted(facts, key=lambda name: isinstance(facts[name], Said))
    yield line(called, *keys, **{name: facts[name] for name in words_last})
    for field, label, value in parts:
        if isinstance(value, Record) and not label.plain:
            yield from labelled_lines(value, *whose)
        else:
            yield from _lines(field, label, value, whose)


def _plain(label: Label, value: object) -> Value:
    if label.role in {"key", "list"} and isinstance(value, tuple):
        some = ("/" if label.role == "key" else ",").join(map(str, value)) or None
        value = Repeated(map(str, value)) if label.plain else some
    if value is None:
        return label.absent or None
    if label.role in SENTENCES:
        return Said(" ".join(f"{value}".split()))
    return moment(value) if isinstance(value, datetime) else cast("Value", value)


def labelled_cell(label: Label, value: object) -> Cell:
    """Return the value of a field as a cell."""
    if label.said:
        said, tone = label.said[value]
        return Cell(said, tone=tone)
    if value in (None, "") or (value == () and label.role != "count"):
        return NONE
    tone = label.tones.get(value, "")
    if isinstance(value, bool):
        return Cell("yes" if value else "no", tone=tone)
    if isinstance(value, int | float):
        return Cell(SHOWN.get(label.unit, "{:,}".format)(value), tone=tone)
    if isinstance(value, tuple):
        named = some_of([short(one) for one in value[:MAX_NAMES]], len(value))
        return Cell(f"{len(value):,}" if label.role == "count" else named)
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
        elif label.title and value not in (None, "", ()):
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
            number=label.role == "count"
            or any(type(getattr(one, field)) in {int, float} for one in records),
            folds=label.role in {*NAMES, *SENTENCES, "list"},
            rank=label.rank,
            below=columns[label.below].title if label.below else "",
        )

    for field, label, _ in _labelled(records[0]) if records else ():
        is_rare = label.unit == "times" and not any(getattr(one, field) for one in records)
        if label.title and not is_rare:
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
        if isinstance(value, Record):
            facts = doc.Facts(tuple(labelled_facts(value)))
            sections.append(Section(label.title, (facts,), heads=True))
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
