"""A drawing of a simulation over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Final, NamedTuple

from planner.commands.compare.table import need
from planner.report.plots import BLUE, RED, YELLOW, drawn_name, file_of, look
from planner.research.simulate.record import AFTER, Event, Fate, Kind, Phase, Simulation
from planner.scheduler import scheduler_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES: Final = 60
_SCALES: Final = ((3 * 86_400, 86_400, "days"), (3 * 3_600, 3_600, "hours"), (600, 60, "minutes"))

COLORS: Final[Mapping[Phase, tuple[str, str]]] = {
    "pending": ("waiting", YELLOW),
    "running": ("running", BLUE),
    "leaving": ("leaving", RED),
}
"""The phases that are drawn, each with its name there."""
_BEFORE: Final[Mapping[Kind, Phase]] = {
    "arrived": "to come",
    "admitted": "pending",
    "requeued": "leaving",
}
"""The phase of a workload before its first event, if it was not running."""


class Span(NamedTuple):
    """What a workload did, from one second to another."""

    start_s: int
    end_s: int
    phase: Phase


def draw_simulation(answer: Simulation, style: str = "svg") -> bytes:
    """Return the drawing as a file; ``style`` is ``svg`` or ``png``.

    Raises ``InputError`` if matplotlib is not installed.
    """
    need("plot", "matplotlib")
    with look():
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

        rows, left_out = chosen(answer)
        heights = [2.4, 1.6, *([0.6 + 0.22 * len(rows)] if rows else [])]
        figure = Figure(figsize=(9, sum(heights) + 0.8), layout="constrained")
        grid = {"height_ratios": heights}
        panels = list(
            figure.subplots(len(heights), 1, sharex=True, squeeze=False, gridspec_kw=grid).flat
        )
        reached = (scale[1:] for scale in _SCALES if answer.duration_s >= scale[0])
        unit, name = next(reached, (1, "seconds"))
        events = defaultdict[str, list[Event]](list)
        for event in answer.timeline:
            events[event.workload].append(event)
        found = {o.workload: [*spans(answer, o, events[o.workload])] for o in answer.workloads}
        figure.suptitle(f"{scheduler_of(answer).words.name}, victims by {answer.decider}")
        _draw_counts(panels[0], answer, found, unit)
        _draw_evictions(panels[1], answer, unit)
        if rows:
            _draw_lines(panels[2], answer, rows, found, unit)
        panels[-1].set_title(left_out, loc="right", fontsize=8)
        panels[-1].set_xlabel(f"{name} since the start")
        panels[-1].set_xlim(0, max(1, answer.duration_s) / unit)
        return file_of(figure, style)


def chosen(answer: Simulation) -> tuple[Sequence[Fate], str]:
    """Return the workloads that get a line each, the most troubled, and a text on the others."""
    every = answer.workloads
    if len(every) <= MOST_LINES:
        return every, ""
    troubled = [fate for fate in every if fate.evictions or fate.waiting_s]
    worst = sorted(troubled, key=lambda fate: (-fate.evictions, -fate.waiting_s))[:MOST_LINES]
    names = {fate.workload for fate in worst}
    said = [f"{len(every) - len(troubled):,} that were never evicted and never waited"]
    if len(troubled) > MOST_LINES:
        said.append(f"{len(troubled) - MOST_LINES:,} that were evicted less often or waited less")
    rows = [fate for fate in every if fate.workload in names]
    return rows, f"left out: {', and '.join(said)}"


def spans(answer: Simulation, fate: Fate, events: Iterable[Event]) -> Iterator[Span]:
    """Yield what a workload did over time; ``events`` are its own."""
    own, start_s = list(events), 0
    phase: Phase = _BEFORE.get(own[0].kind, "running") if own else fate.standing
    turns: list[tuple[int, Phase]] = [(one.at_s, AFTER[one.kind]) for one in own]
    for at_s, after in [*turns, (answer.duration_s, phase)]:
        if phase in COLORS and at_s > start_s:
            yield Span(start_s, at_s, phase)
        start_s, phase = at_s, after


def _draw_counts(
    panel: Axes, answer: Simulation, found: Mapping[str, list[Span]], unit: int
) -> None:
    changes: dict[Phase, Counter[int]] = {phase: Counter({0: 0}) for phase in COLORS}
    for span in chain.from_iterable(found.values()):
        changes[span.phase].update({span.start_s: 1, span.end_s: -1})
    for phase, steps in changes.items():
        times = sorted(time for time in steps if time < answer.duration_s or time == 0)
        counts = list(accumulate(steps[time] for time in times))
        ends = [*(time / unit for time in times), answer.duration_s / unit]
        name, color = COLORS[phase]
        panel.step(ends, [*counts, counts[-1]], where="post", color=color, label=name)
    _counted(panel, f"{scheduler_of(answer).words.noun}s")
    panel.legend(loc="lower right", bbox_to_anchor=(1, 1), fontsize=8, ncols=len(COLORS))


def _counted(panel: Axes, title: str) -> None:
    """Give a panel of counts its title, and whole numbers from 0 on."""
    panel.set_title(title, loc="left")
    panel.set_ylim(bottom=0)
    panel.locator_params(axis="y", integer=True)


def _draw_evictions(panel: Axes, answer: Simulation, unit: int) -> None:
    times = [event.at_s / unit for event in answer.timeline if event.kind == "preempted"]
    ends = [0.0, *times, answer.duration_s / unit]
    counts = [*range(len(times) + 1), len(times)]
    panel.step(ends, counts, where="post", color=RED)
    for loop in answer.loops:
        panel.axvline(loop.first_s / unit, color=RED, linewidth=0.8, linestyle=":")
    _counted(panel, "evictions so far" + (", and where loops begin" if answer.loops else ""))


def _draw_lines(
    panel: Axes,
    answer: Simulation,
    rows: Sequence[Fate],
    found: Mapping[str, list[Span]],
    unit: int,
) -> None:
    for place, fate in enumerate(rows):
        for span in found[fate.workload]:
            start, length = span.start_s / unit, (span.end_s - span.start_s) / unit
            panel.barh(place, length, left=start, height=0.7, color=COLORS[span.phase][1])
    names = [drawn_name(answer.called(fate.workload)) for fate in rows]
    panel.set_yticks(range(len(rows)), names, fontsize=7)
    panel.invert_yaxis()
    panel.grid(visible=False, axis="y")
