"""A simulation drawn: who ran and who waited over time, and how often somebody was evicted.

Where there are few workloads, each has a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from planner.commands.compare.table import need
from planner.commands.simulate.record import Event, Fate, Simulation
from planner.report.plotting import BLUE, RED, YELLOW, drawn_name, file_of, look
from planner.scheduler import scheduler_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES: Final = 60
_SCALES: Final = ((3 * 86_400, 86_400, "days"), (3 * 3_600, 3_600, "hours"), (600, 60, "minutes"))

Phase = Literal["waiting", "running", "leaving"]
COLORS: Final[Mapping[Phase, str]] = {"waiting": YELLOW, "running": BLUE, "leaving": RED}


class Span(NamedTuple):
    """What a workload did, from one second to another."""

    start_s: int
    end_s: int
    phase: Phase


def draw(answer: Simulation, style: str = "svg") -> bytes:
    """Return the drawing as a file; ``style`` is ``svg`` or ``png``.

    Raises
    ------
    InputError
        If matplotlib is not installed.
    """
    need("plot", "matplotlib")
    with look():
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

        rows = answer.workloads if len(answer.workloads) <= MOST_LINES else ()
        heights = [2.4, 1.6, *([0.6 + 0.22 * len(rows)] if rows else [])]
        figure = Figure(figsize=(9, sum(heights) + 0.8), layout="constrained")
        grid = {"height_ratios": heights}
        panels = list(
            figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=grid).flat
        )
        unit, name = _unit(answer.duration_s)
        figure.suptitle(f"{scheduler_of(answer).words.name}, victims by {answer.decider}")
        _draw_counts(panels[0], answer, unit)
        _draw_evictions(panels[1], answer, unit)
        if rows:
            _draw_lines(panels[2], answer, rows, unit)
        panels[-1].set_xlabel(f"{name} since the start")
        panels[-1].set_xlim(0, max(1, answer.duration_s) / unit)
        return file_of(figure, style)


def spans(answer: Simulation, fate: Fate, events: Iterable[Event]) -> Iterator[Span]:
    """Yield what a workload did over time; ``events`` are its own."""
    own = list(events)
    phase = _first_phase(fate, own)
    start_s = 0
    for event in own:
        if phase is not None and event.at_s > start_s:
            yield Span(start_s, event.at_s, phase)
        start_s = event.at_s
        phase = _AFTER[event.kind]
    if phase is not None and answer.duration_s > start_s:
        yield Span(start_s, answer.duration_s, phase)


_AFTER: Final[Mapping[str, Phase | None]] = {
    "arrived": "waiting",
    "requeued": "waiting",
    "admitted": "running",
    "preempted": "leaving",
    "finished": None,
}


def _first_phase(fate: Fate, events: Sequence[Event]) -> Phase | None:
    """Return what a workload did at the start, ``None`` if it was not there."""
    if not events:
        found: dict[str, Phase] = {"pending": "waiting", "running": "running"}
        return found.get(fate.standing)
    before: dict[str, Phase] = {"admitted": "waiting", "requeued": "leaving"}
    kind = events[0].kind
    return None if kind == "arrived" else before.get(kind, "running")


def _by_workload(answer: Simulation) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {fate.workload: [] for fate in answer.workloads}
    for event in answer.timeline:
        found[event.workload].append(event)
    return found


def _unit(duration_s: int) -> tuple[int, str]:
    """Return how many seconds a unit of the axis has, and its name."""
    for least, seconds, name in _SCALES:
        if duration_s >= least:
            return seconds, name
    return 1, "seconds"


def _draw_counts(panel: Axes, answer: Simulation, unit: int) -> None:
    events = _by_workload(answer)
    changes: dict[Phase, dict[int, int]] = {phase: {0: 0} for phase in COLORS}
    for fate in answer.workloads:
        for span in spans(answer, fate, events[fate.workload]):
            steps = changes[span.phase]
            steps[span.start_s] = steps.get(span.start_s, 0) + 1
            steps[span.end_s] = steps.get(span.end_s, 0) - 1
    for phase, steps in changes.items():
        times = sorted(time for time in steps if time < answer.duration_s or time == 0)
        count, counts = 0, []
        for time in times:
            count += steps[time]
            counts.append(count)
        ends = [*(time / unit for time in times), answer.duration_s / unit]
        panel.step(ends, [*counts, counts[-1]], where="post", color=COLORS[phase], label=phase)
    panel.set_title(f"{scheduler_of(answer).words.noun}s", loc="left")
    panel.set_ylim(bottom=0)
    panel.legend(loc="lower right", bbox_to_anchor=(1, 1), fontsize=8, ncols=len(COLORS))
    panel.locator_params(axis="y", integer=True)


def _draw_evictions(panel: Axes, answer: Simulation, unit: int) -> None:
    times = [event.at_s / unit for event in answer.timeline if event.kind == "preempted"]
    ends = [0.0, *times, answer.duration_s / unit]
    counts = [*range(len(times) + 1), len(times)]
    panel.step(ends, counts, where="post", color=RED)
    for loop in answer.loops:
        panel.axvline(loop.first_s / unit, color=RED, linewidth=0.8, linestyle=":")
    title = "evictions so far" + (", and where loops begin" if answer.loops else "")
    panel.set_title(title, loc="left")
    panel.set_ylim(bottom=0)
    panel.locator_params(axis="y", integer=True)


def _draw_lines(panel: Axes, answer: Simulation, rows: Sequence[Fate], unit: int) -> None:
    events = _by_workload(answer)
    for place, fate in enumerate(rows):
        for span in spans(answer, fate, events[fate.workload]):
            length = (span.end_s - span.start_s) / unit
            panel.barh(
                place, length, left=span.start_s / unit, height=0.7, color=COLORS[span.phase]
            )
    panel.set_yticks(range(len(rows)), [drawn_name(fate.workload) for fate in rows], fontsize=7)
    panel.invert_yaxis()
    panel.grid(visible=False, axis="y")
