"""From a trace to the jobs that hold quota at an instant, in two passes, one row at a time.

The first pass finds what all states share (`Outline`): how much each queue uses in all, and when
jobs arrive. The second draws the jobs of each instant (`sampled`), in a reservoir of bounded size.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from msgspec import Struct

from planner.errors import InputError
from planner.research.import_.traces import Job, OnBad, Sampling, Trace, draw, usable

MOST_QUEUES: Final = 1000
MOST_AT_ONCE: Final = 200_000
"""The most jobs, of all instants together, that are kept in one pass over the file."""


class Running(Struct, frozen=True):
    """A job that holds quota, and since how many seconds."""

    job: Job
    elapsed: int


@dataclass(frozen=True)
class SampleKnobs:
    """Which jobs of a trace are drawn.

    Attributes
    ----------
    seed
        The seed of every draw.
    workloads
        How many workloads hold quota, at most.
    sampling
        ``running`` or ``drawn``, see `sampled`; by default the usual sampling of the trace.
    follow_s
        For how many seconds after the instant jobs arrive; running workloads then say how long
        they run, too. 0: no job arrives.
    """

    seed: int = 0
    workloads: int = 1000
    sampling: Sampling | None = None
    follow_s: int = 0


@dataclass(slots=True)
class Outline:
    """Numbers of a whole trace: how many rows there are, and how many of them are jobs that ran.

    ``seconds`` is how long all jobs run together, ``work`` GPU-seconds by queue and flavor.
    ``arrivals`` are the starts of some jobs, drawn at random, in the order of the draw.
    """

    rows: int = 0
    jobs: int = 0
    seconds: float = 0.0
    work: Counter[tuple[str, str]] = field(default_factory=Counter)
    arrivals: tuple[float, ...] = ()


class Reservoir:
    """The ``size`` jobs with the largest keys of all that are offered."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[tuple[float, int, Job]] = []

    def offer(self, key: float, job: Job) -> None:
        """Keep a job if its key is large enough."""
        keep = heapq.heappush if len(self._heap) < self._size else heapq.heappushpop
        keep(self._heap, (key, job.line, job))

    def jobs(self) -> list[Job]:
        """Return the jobs in the order of the file."""
        return sorted((job for _, _, job in self._heap), key=lambda job: job.line)

    def by_key(self) -> list[Job]:
        """Return the jobs, the largest key first."""
        return [job for _, _, job in sorted(self._heap, reverse=True)]


def read_outline(
    trace: Trace, path: str, *, arrivals: int, seed: int, on_bad: OnBad | None = None
) -> Outline:
    """Read a whole trace once, and draw the starts of ``arrivals`` jobs, of no job twice.

    Raises ``InputError`` if the file cannot be read, a row cannot be used, there are too many
    queues, or nothing in it ever ran.
    """
    outline = Outline()
    drawn = Reservoir(arrivals)
    for job in usable(path, trace.columns, trace.job, on_bad):
        outline.rows += 1
        if job is None:
            continue
        outline.jobs += 1
        outline.seconds += job.duration
        outline.work[job.queue, job.flavor] += int(job.gpus * job.duration)
        drawn.offer(draw(seed, "arrival", job.line), job)
        if len(outline.work) > MOST_QUEUES:
            found = f"there are more than {MOST_QUEUES} pairs of a queue and a flavor"
            raise InputError(f"{path}: line {job.line}", found, "a few virtual clusters")
    if not outline.jobs:
        found = f"none of its {outline.rows} rows is a job that ran" if outline.rows else "no row"
        raise InputError(path, found, "a trace with jobs")
    outline.arrivals = tuple(job.start for job in drawn.by_key())
    return outline


def jobs_again(trace: Trace, path: str) -> Iterator[Job]:
    """Yield the jobs of a file that ran; the first pass has reported the rows that are bad."""
    rows = usable(path, trace.columns, trace.job, lambda _: None)
    return (job for job in rows if job is not None)


def sampled(
    trace: Trace, path: str, instants: Sequence[int], knobs: SampleKnobs
) -> Iterator[list[Running]]:
    """Yield the jobs that hold quota at each instant, ``workloads`` at most, in the file's order.

    With ``running`` these are the jobs that run then in the trace, a uniform sample if there are
    more than ``workloads``. With ``drawn`` they are as many jobs of the whole trace, drawn without
    replacement by their duration, as an instant meets long jobs more often; each is at a uniform
    point of its run.

    Sources: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006), for the
    draw in one pass; the traces' description for the mapping. InputError if the file cannot be
    read.
    """
    workloads, seed, sampling = knobs.workloads, knobs.seed, knobs.sampling or trace.usual_sampling
    at_once = max(1, MOST_AT_ONCE // workloads)
    for begin in range(0, len(instants), at_once):
        some = instants[begin : begin + at_once]
        pools = [Reservoir(workloads) for _ in some]
        order = sorted(range(len(some)), key=some.__getitem__)
        clocks = [some[place] for place in order]
        ordered = [pools[place] for place in order]
        for job in jobs_again(trace, path):
            if sampling == "running":  # offered to the instants after its start, before its end
                first = bisect_right(clocks, job.start)
                for place in range(first, bisect_left(clocks, job.start + job.duration, first)):
                    ordered[place].offer(draw(seed, "running", clocks[place], job.line), job)
            elif job.duration > 0:  # offered to every instant, in proportion to its duration
                for clock, pool in zip(clocks, ordered, strict=True):
                    key = math.log(draw(seed, "drawn", clock, job.line)) / job.duration
                    pool.offer(key, job)
        for instant, pool in zip(some, pools, strict=True):
            held = []
            for job in pool.jobs():
                elapsed = instant - job.start
                if sampling == "drawn":
                    elapsed = job.duration * draw(seed, "elapsed", instant, job.line)
                held.append(Running(job, int(elapsed)))
            yield held


def following(
    trace: Trace, path: str, instant: int, rate: float, knobs: SampleKnobs
) -> Iterator[tuple[str, Job, int]]:
    """Yield the jobs that arrive within ``follow_s`` of an instant: a name, the job, the second.

    Without a ``rate`` these are the jobs that start then in the trace. With a rate, every job of
    the trace arrives ``rate`` times a second, at moments that are drawn; a job may come several
    times. InputError if the file cannot be read.
    """
    follow_s, seed = knobs.follow_s, knobs.seed
    for job in jobs_again(trace, path):
        if not rate:
            at_s = math.ceil(job.start - instant)
            if 0 < at_s <= follow_s:
                yield job.name, job, at_s
            continue
        # The expected number of its arrivals, rounded up or down by chance.
        times = int(rate * follow_s + draw(seed, "arrivals", instant, job.line))
        for number in range(1, times + 1):
            at_s = 1 + int(follow_s * draw(seed, "arrives", instant, job.line, number))
            yield f"{job.name}-again-{number}", job, at_s
