"""Documents as one HTML page, with bars and histograms as numbers for SVG."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from planner.quantity import UNLIMITED, plural
from planner.report.document import Document, Gauge, Gauges, Histogram, SlotRow, Slots
from planner.report.text import clean_lines, short

STYLE: Final = "page.css"
POLICY: Final = "default-src 'none'; style-src '{digest}'; base-uri 'none'; form-action 'none'"
"""What the page may load: nothing but its own style, known by its SHA-256."""


def page(documents: Sequence[Document], noun: str = "") -> str:
    """Return documents as a page, one after the other; ``noun`` is the word for one of them."""
    title = plural(len(documents), noun)
    if len(documents) == 1:
        title = f"{documents[0].kind}: {short(documents[0].title.text)}"
    template = _environment().get_template("page.html.j2")
    return template.render(
        title=title,
        documents=[document.on("page") for document in documents],
        policy=POLICY.format(digest=style_digest()),
        style=Markup(_style()),  # noqa: S704 - a file of this package
    )


@cache
def _environment() -> Environment:
    def harmless(value: object) -> object:
        if isinstance(value, Markup) or not isinstance(value, str):
            return value
        return clean_lines(value)

    environment = Environment(
        loader=PackageLoader("planner.report", "html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    drawn = {"bars": draw_gauges, "columns": draw_histogram, "slots": draw_slots}
    environment.filters |= {**drawn, "short": short, "breakable": breakable}
    return environment


def breakable(text: str) -> Markup:
    """Return a text whose lines may break behind its signs, not inside its words."""
    return Markup("<wbr>").join(re.split(r"(?<=[./=])", clean_lines(text)))


@cache
def _style() -> str:
    return files("planner.report.html").joinpath(STYLE).read_text("utf-8")


def style_digest() -> str:
    """Return the digest of the style, as a content security policy names it."""
    digest = hashlib.sha256(_style().encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


WIDTH: Final = 1000
"""How wide a bar may be in the units of its picture; pictures are stretched to the page."""

FAR: Final = 1.5
"""A limit beyond so many times the largest amount is stated in words, but not drawn."""

APART: Final = 4
"""Cohorts whose amounts are more than so many times those of queues have their own scale."""


OVER: Final = " over"
HEIGHT: Final = 120
COLUMN: Final = 52
GAP: Final = 14


class Part(Struct, frozen=True):
    """A piece of a bar: where it starts, how long it is, and the class that colours it."""

    x: float
    width: float
    style: str


class Bar(Struct, frozen=True):
    """One gauge as a picture: the pieces of its two bars, and where its marks stand.

    ``mark`` and ``limit`` are ``None`` if there is none to draw, ``kept`` is how far the part that
    does not count above reaches. ``said`` is the picture in words, ``figures`` the amounts and
    ``change`` their difference in short.
    """

    gauge: Gauge
    before: tuple[Part, ...]
    after: tuple[Part, ...]
    mark: float | None
    limit: float | None
    kept: float
    said: str
    figures: str
    change: str


class Bars(Struct, frozen=True):
    """Gauges as pictures, and notes on their scales.

    ``keys`` are the classes that occur, each with its meaning; ``changes`` says whether anything
    changes.
    """

    bars: tuple[Bar, ...]
    keys: tuple[tuple[str, str], ...]
    changes: bool
    notes: tuple[str, ...]


def draw_gauges(gauges: Gauges) -> Bars:
    """Lay out gauges on a common scale, cohorts on their own if they are far larger."""
    groups = {gauge.kind for gauge in gauges.gauges}
    tops = {kind: _top([g for g in gauges.gauges if g.kind == kind]) for kind in groups}
    low, high = min(tops.values(), default=1), max(tops.values(), default=1)
    if high <= APART * low:
        tops = dict.fromkeys(tops, high)
        notes: tuple[str, ...] = ()
    else:
        notes = (f"Bars of {max(tops, key=tops.__getitem__)}s have a scale of their own.",)
    bars = tuple(_bar(gauges, gauge, tops[gauge.kind]) for gauge in gauges.gauges)
    parts = [part for bar in bars for part in (*bar.before, *bar.after)]
    occur = {
        "before": True,
        "after": any(bar.gauge.after is not None for bar in bars),
        "over": any(part.style.endswith(OVER) for part in parts),
        "kept": any(bar.kept for bar in bars),
        "mark": any(bar.mark is not None for bar in bars),
        "limit": any(bar.limit is not None for bar in bars),
    }
    keys = tuple((key, getattr(gauges, key)) for key, is_there in occur.items() if is_there)
    return Bars(bars, keys, any(bar.change for bar in bars), notes)


def _top(gauges: Sequence[Gauge]) -> int:
    """Return the amount at the right end of a scale, at least 1."""
    amounts = {amount for one in gauges for amount in (one.before, one.after, one.mark) if amount}
    top = max({1, *amounts} - {UNLIMITED})
    limits = (one.limit for one in gauges if one.limit and one.limit != UNLIMITED)
    return max([top, *(limit for limit in limits if limit <= FAR * top)])


def _bar(gauges: Gauges, gauge: Gauge, top: int) -> Bar:
    def at(amount: int | None) -> float | None:
        known = amount is not None and amount <= top
        return round(max(0, amount or 0) / top * WIDTH, 1) if known else None

    def parts(amount: int | None, style: str) -> tuple[Part, ...]:
        if amount is None or amount <= 0:
            return ()
        end = min(amount, top) / top * WIDTH
        mark = at(gauge.mark)
        if not gauges.over or mark is None or mark >= end:
            return (Part(0, round(end, 1), style),)
        return (Part(0, mark, style), Part(mark, round(end - mark, 1), f"{style}{OVER}"))

    kept = round(min(gauge.kept, top) / top * WIDTH, 1)
    drawn = parts(gauge.before, "before"), parts(gauge.after, "after")
    # The bar in a sentence; its usage and the quota, such as ``26 → 18 of 16``; and the change.
    show = gauges.show
    said = [f"{show(gauge.before)} used {gauges.before}"]
    if gauge.after is not None:
        said.append(f"{show(gauge.after)} {gauges.after}")
    said.append(f"{gauges.mark} {'none' if gauge.mark is None else show(gauge.mark)}")
    if gauge.kept:
        said.append(f"{show(gauge.kept)} {gauges.kept}")
    if gauge.limit is not None:
        said.append(f"{gauges.limit} at {show(gauge.limit)}")
    used, change = show(gauge.before), ""
    if gauge.after is not None and (more := gauge.after - gauge.before):
        used += f" → {show(gauge.after)}"
        change = f"{'+' if more > 0 else '−'}{show(abs(more))}"  # noqa: RUF001 - a minus sign
    figures = used if gauge.mark is None else f"{used} of {show(gauge.mark)}"
    marks = at(gauge.mark), at(gauge.limit)
    return Bar(gauge, *drawn, *marks, kept, ", ".join(said), figures, change)


class SlotBar(Struct, frozen=True):
    """One domain as a picture: its pieces, how long it is, and the same in words."""

    row: SlotRow
    parts: tuple[Part, ...]
    width: float
    said: str


KINDS: Final = (
    ("stays", "stays taken"),
    ("used", "used by the preemptor"),
    ("freed", "freed"),
    ("free", "free"),
)
"""The states of a slot after the plan: its field, which is also its colour class; its meaning."""


def draw_slots(slots: Slots) -> tuple[SlotBar, ...]:
    """Lay out domains; those of one depth share a scale."""
    tops: dict[int, int] = {}
    for row in slots.rows:
        tops[row.depth] = max(tops.get(row.depth, 1), row.slots)
    bars = []
    for row in slots.rows:
        parts, at, top = [], 0, tops[row.depth]
        for style, _ in KINDS:
            if count := getattr(row, style):
                x = round(at / top * WIDTH, 1)
                parts.append(Part(x, round(count / top * WIDTH, 1), style))
            at += count
        said = ", ".join(f"{getattr(row, style):,} {words}" for style, words in KINDS)
        bars.append(SlotBar(row, tuple(parts), round(row.slots / top * WIDTH, 1), said))
    return tuple(bars)


class Box(Struct, frozen=True):
    """One column of a histogram."""

    x: float
    y: float
    height: float
    count: int
    style: str


class Columns(Struct, frozen=True):
    """A histogram as a picture; ``labels`` stand at the middle of their bins."""

    width: float
    height: float
    column: float
    boxes: tuple[Box, ...]
    labels: tuple[tuple[float, str], ...]
    said: str


def draw_histogram(histogram: Histogram) -> Columns:
    """Lay out a histogram; all its series share one scale."""
    series = histogram.series
    most = max([1, *(count for one in series for count in one.counts)])
    column = COLUMN / len(series) if len(series) > 1 else COLUMN
    step = column * len(series) + GAP
    boxes = []
    for place in range(len(histogram.bins)):
        for number, one in enumerate(series):
            count = one.counts[place]
            # Every count but 0 is visible: one case in a thousand is a thin line.
            height = max(2.0, count / most * HEIGHT) if count else 0.0
            x = GAP + place * step + number * column
            boxes.append(Box(x, HEIGHT - height, round(height, 1), count, f"series-{number}"))
    labels = tuple(
        (GAP + place * step + column * len(series) / 2, label)
        for place, label in enumerate(histogram.bins)
    )
    rows = []
    for one in series:
        pairs = zip(histogram.bins, one.counts, strict=True)
        rows.append(f"{one.title}: {', '.join(f'{label}: {count:,}' for label, count in pairs)}")
    width = GAP + len(histogram.bins) * step
    return Columns(width, HEIGHT, column, tuple(boxes), labels, "; ".join(rows))
