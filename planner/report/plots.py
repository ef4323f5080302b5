"""Drawings: what all have in common, and algorithms beside each other.

The same data give the same file, byte for byte. Colours are those of Okabe and Ito, which
colour-blind people can tell apart; shapes say once more what colours say.
"""

from __future__ import annotations

import io
import math
import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from planner.commands.compare import Comparison
from planner.commands.compare.measure import pairs as paired
from planner.commands.compare.measure import scored
from planner.commands.compare.record import SCORED, Measure
from planner.commands.compare.table import need
from planner.report.compare import work_of
from planner.report.text import SECONDS_PER_HOUR, clean

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import RcKeyType

BLUE: Final = "#0072B2"
GREY: Final = "#6E6E6E"
RED: Final = "#D55E00"
YELLOW: Final = "#E69F00"

LONGEST_NAME: Final = 40
"""Characters of a name that are drawn."""

_STYLE: Final[Mapping[RcKeyType, Any]] = {
    "axes.edgecolor": "#8A8A8A",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 120,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#E3E3E3",
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "preemption-planner",  # ids of an SVG are random without it
    "text.parse_math": False,  # a name may hold dollars
}
_METADATA: Final[Mapping[str, Mapping[str, None]]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def drawn_name(text: str) -> str:
    """Return a name made harmless, and cut where it is too long to be drawn."""
    text = clean(text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


@contextmanager
def look() -> Iterator[None]:
    """Draw in the style of all drawings; matplotlib must be installed."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    with rc_context(dict(_STYLE)), warnings.catch_warnings():
        # Letters that the font does not have are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def file_of(figure: Figure, style: str) -> bytes:
    """Return a drawing as a file of style ``svg`` or ``png``: of the same drawing the same bytes.

    The layout comes out of a solver whose last digits differ from run to run; so it is rounded.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(part, 4) for part in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
    file = io.BytesIO()
    figure.savefig(file, format=style, metadata=dict(_METADATA[style]))
    return file.getvalue()


LESS: Final = BLUE
EQUAL: Final = GREY
MORE: Final = RED
PALETTE: Final = ("#000000", LESS, MORE, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS: Final = "osD^vPX*<>"
SHORTEST_S: Final = 1e-6
"""Shorter times count as this, because a logarithm has no zero."""

_SPOT: Final = 10
"""The area of a point that stands for one case, in square points."""

_LARGE: Final = 1e5

_ACROSS: Final = 3
_PANEL: Final = 3.4
"""Panels in a line, and inches that each is wide and high."""


class Scale(NamedTuple):
    """How a measure is drawn.

    ``label`` is its name with its unit, ``unit`` what one unit of it is. Axes are linear up to
    ``linear`` and logarithmic from there, with ``ticks``. ``ranges`` are the farther ends of the
    ranges in which gaps are counted; ``whole`` says that all gaps are whole numbers.
    """

    label: str
    unit: float
    linear: float
    ticks: tuple[float, ...]
    ranges: tuple[float, ...]
    whole: bool = False


_POWERS: Final = tuple(10.0**power for power in range(-1, 9))
_STEPS: Final = tuple(step * power for power in _POWERS[2:] for step in (1, 2, 5))
_SCALES_OF: Final[Mapping[str, Scale]] = {
    "victims": Scale("victims", 1, 10, (0, 1, 2, 5, *_STEPS), (1, 2, 3, 4, 5, 9, 19), whole=True),
    "lost_work": Scale(
        "lost work with restarts", SECONDS_PER_HOUR, 0.1, (0, *_POWERS), (0.1, 1, 10, 100)
    ),
    "ratio": Scale("evicted / requested", 1, 1, (0, *_POWERS[1:]), (0.25, 0.5, 1, 2, 5)),
}


class Side(NamedTuple):
    """Cases in which an algorithm has less, as much, or more than the first: name and look."""

    name: str
    color: str
    marker: str
    holds: Callable[[float], bool]
    """Whether a gap, the first algorithm's measure minus the other's, is on this side."""


SIDES: Final = (
    Side("less", LESS, "o", lambda gap: gap > 0),
    Side("as much", EQUAL, "s", lambda gap: gap == 0),
    Side("more", MORE, "^", lambda gap: gap < 0),
)


class Pair(NamedTuple):
    """One case: a measure of the first algorithm, and of another."""

    first: float
    other: float


def draw_comparison(comparison: Comparison, style: str = "svg") -> dict[str, bytes]:
    """Return the drawings as files by name; ``style`` is ``svg`` or ``png``.

    Raises ``InputError`` if matplotlib is not installed.
    """
    need("plots", "matplotlib")
    with look():
        figures: dict[str, Figure] = {}
        if len(comparison.algorithms) > 1:
            figures["victims"] = _scatters(comparison, "victims")
            figures["lost-work"] = _scatters(comparison, "lost_work")
            figures["gaps"] = _gaps(comparison)
        if any(row.seconds is not None for row in comparison.rows):
            figures["time"] = _time(comparison)
        return {f"{name}.{style}": file_of(figure, style) for name, figure in figures.items()}


def scale_of(comparison: Comparison, measure: Measure) -> Scale:
    """Return how a measure is drawn: work in hours of the devices of these states."""
    found = _SCALES_OF[measure]
    if measure != "lost_work":
        return found
    work = work_of(comparison)
    return found._replace(label=f"{found.label} ({work.hours})", unit=found.unit / work.each)


def pairs(comparison: Comparison, measure: Measure) -> dict[str, list[Pair]]:
    """Return the cases that are drawn, for each algorithm but the first."""
    first, *others = comparison.algorithms
    unit = scale_of(comparison, measure).unit
    return {
        name: [
            Pair(theirs / unit, ours / unit)
            for ours, theirs in scored(paired(comparison.rows, name, first), measure)
        ]
        for name in others
    }


def _new(lines: int, across: int) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    size = (max(1.6, across) * _PANEL, lines * _PANEL + 1.1)
    figure = Figure(figsize=size, layout="constrained")
    return figure, list(figure.subplots(lines, across, squeeze=False).flat)


def _scatters(comparison: Comparison, measure: Measure) -> Figure:
    found, first = pairs(comparison, measure), comparison.algorithms[0]
    scale = scale_of(comparison, measure)
    across = min(_ACROSS, len(found))
    figure, panels = _new(math.ceil(len(found) / across), across)
    title = f"{scale.label[0].upper()}{scale.label[1:]}"
    figure.suptitle(f"{title}\nof every case: less is below the line")
    for panel in panels[len(found) :]:
        panel.remove()
    largest = max((max(pair) for points in found.values() for pair in points), default=0.0)
    for panel, (name, points) in zip(panels, found.items(), strict=False):
        _against_line(panel, points, 1.15 * (largest or 1.0), scale)
        panel.set_title(drawn_name(name), loc="left")
        panel.set_xlabel(f"{scale.label}\n{drawn_name(first)}")
        panel.set_ylabel(scale.label)
    return figure


def _against_line(panel: Axes, points: Sequence[Pair], end: float, scale: Scale) -> None:
    """Draw cases as points; the more cases lie on one spot, the larger its point is."""
    panel.plot([0, end], [0, end], color=EQUAL, linewidth=0.8, zorder=1)
    for order, side in enumerate(SIDES):
        counts = Counter(pair for pair in points if side.holds(pair.first - pair.other))
        panel.scatter(
            [pair.first for pair in counts],
            [pair.other for pair in counts],
            s=[_SPOT * (1 + math.log2(count)) for count in counts.values()],
            color=side.color,
            marker=side.marker,
            alpha=0.75,
            linewidths=0,
            label=f"{side.name}: {counts.total():,}",
            zorder=2 + order,
        )
    panel.set_xscale("symlog", linthresh=scale.linear)
    panel.set_yscale("symlog", linthresh=scale.linear)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_ticks([tick for tick in scale.ticks if tick <= end])
        axis.set_ticks([], minor=True)
        axis.set_major_formatter(_plain)
    margin = 0.08 * min(end, scale.linear)
    panel.set(xlim=(-margin, end), ylim=(-margin, end), aspect="equal")
    legend = panel.legend(loc="upper left", fontsize=8, handletextpad=0.1, borderpad=0)
    for handle in legend.legend_handles:
        if handle is not None:
            handle.set(sizes=[2 * _SPOT])


def _plain(value: float, _: float) -> str:
    return f"{value:,g}" if value < _LARGE else f"{value:,.0f}"


def _gaps(comparison: Comparison) -> Figure:
    """Draw a line of panels for each algorithm: how often it has how much less or more."""
    first, *others = comparison.algorithms
    figure, panels = _new(len(others), len(SCORED))
    figure.suptitle(f"How much more {drawn_name(first)} has than the other algorithm")
    ahead = iter(panels)
    measured = []
    for measure in SCORED:
        found, scale = pairs(comparison, measure), scale_of(comparison, measure)
        # From the first range in which any gap lies to the last, and 0 for no gap.
        places = {-1, 1}.union(*(_places(scale.ranges, points) for points in found.values()))
        measured.append((found, scale, range(min(places), max(places) + 1)))
    for name in others:
        for found, scale, used in measured:
            panel = next(ahead)
            _bars(panel, found[name], used, scale)
            panel.set_title(drawn_name(name), loc="left")
            panel.set_xlabel(f"{scale.label}:\n{drawn_name(first)} more by")
            panel.set_ylabel("cases")
    return figure


def _places(ranges: Sequence[float], points: Iterable[Pair]) -> Counter[int]:
    """Count gaps by range: 0 for none, then 1, 2, ... upwards and -1, -2, ... downwards."""
    counts: Counter[int] = Counter()
    for pair in points:
        gap = pair.first - pair.other
        place = bisect_left(ranges, abs(gap)) + 1 if gap else 0
        counts[place if gap > 0 else -place] += 1
    return counts


def _range_name(scale: Scale, place: int) -> str:
    """Return the name of a range: its farther end, or that it has none."""
    sign, index = ("-" if place < 0 else ""), abs(place) - 1
    if index < 0:
        return "0"
    if index == len(scale.ranges):
        return f"{'<' if sign else '>'} {sign}{scale.ranges[-1]:g}"
    nearer, farther = (0, *scale.ranges)[index : index + 2]
    one_number = scale.whole and farther - nearer == 1
    return f"{'' if one_number else '≥ ' if sign else '≤ '}{sign}{farther:g}"


def _bars(panel: Axes, points: Sequence[Pair], used: Sequence[int], scale: Scale) -> None:
    """Draw how many cases have a gap in each range; a text counts the cases without a gap."""
    counts = _places(scale.ranges, points)
    for side in SIDES:
        places = [place for place in used if place and side.holds(place)]
        heights = [counts[place] for place in places]
        bars = panel.bar(places, heights, color=side.color, width=0.85)
        panel.bar_label(bars, [f"{count:,}" if count else "" for count in heights], fontsize=7)
    panel.axvline(0, color=EQUAL, linewidth=0.8)
    panel.text(
        0.02,
        0.97,
        f"as much in {counts[0]:,} of {counts.total():,}",
        transform=panel.transAxes,
        color=EQUAL,
        fontsize=8,
        va="top",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    panel.set_xticks(used, [_range_name(scale, place) for place in used])
    panel.tick_params("x", labelrotation=90, labelsize=7.5)
    panel.grid(visible=False, axis="x")
    panel.set_ylim(0, 1.25 * max(1, *(counts[place] for place in used if place)))
    panel.locator_params(axis="y", integer=True, nbins=5)


def _time(comparison: Comparison) -> Figure:
    """Draw how long every answer took, and the medians of ranges of sizes.

    A range goes from one power of 2 to the next.
    """
    figure, (panel,) = _new(1, 1)
    figure.set_size_inches(2.6 * _PANEL, 1.5 * _PANEL)
    figure.suptitle("Time of every answer; lines are medians")
    by_name: dict[str, list[tuple[int, float]]] = {name: [] for name in comparison.algorithms}
    for row in comparison.rows:
        if row.seconds is not None:
            by_name[row.algorithm].append((max(1, row.running), max(row.seconds, SHORTEST_S)))
    for number, (name, points) in enumerate(by_name.items()):
        if not points:
            continue
        color, marker = PALETTE[number % len(PALETTE)], MARKERS[number % len(MARKERS)]
        sizes, seconds = [size for size, _ in points], [taken for _, taken in points]
        panel.scatter(
            sizes,
            seconds,
            s=8,
            alpha=0.15,
            linewidths=0,
            color=color,
            marker=marker,
            rasterized=True,  # a hundred thousand shapes would make a file that nobody can open
        )
        groups = groupby(sorted(points), lambda point: point[0].bit_length())
        medians = [tuple(map(median, zip(*group, strict=True))) for _, group in groups]
        across, up = zip(*medians, strict=True)
        panel.plot(across, up, color=color, marker=marker, markersize=5, label=drawn_name(name))
    panel.set(xscale="log", yscale="log", ylabel="time from the state to the verified answer (s)")
    panel.xaxis.set_major_formatter(_plain)
    panel.yaxis.set_major_formatter(_plain)
    panel.set_xlabel("running workloads or allocations in the tree of the preemptor")
    figure.legend(loc="outside right upper")
    return figure
