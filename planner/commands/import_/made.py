"""From the file of a trace to states."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planner.commands.import_.job import Trace
from planner.commands.import_.knobs import Knobs
from planner.commands.import_.objects import objects_of
from planner.commands.import_.preemptor import draw_gang
from planner.commands.import_.quota import divide
from planner.commands.import_.sample import Outline, Running, sampled
from planner.commands.import_.setting import Setting
from planner.dump import Object
from planner.errors import InputError


@dataclass(frozen=True, slots=True)
class Imported:
    """A state of a trace.

    Attributes
    ----------
    instant
        In seconds since 1970.
    objects
        Those of Kueue; none where nobody holds a GPU, for there is nothing to divide then.
    """

    instant: int
    objects: list[Object]


def instants_of(outline: Outline) -> tuple[int, ...]:
    """Return the moments that were drawn, in whole seconds, no moment twice."""
    return tuple(dict.fromkeys(math.floor(arrival) for arrival in outline.arrivals))


def import_states(
    trace: Trace, path: str, outline: Outline, instants: Sequence[int], knobs: Knobs
) -> Iterator[Imported]:
    """Yield the state of each instant.

    The same file, instants and knobs give the same states, whatever other instants there are.

    Parameters
    ----------
    path
        The CSV file, also with gzip.
    outline
        What `read_outline` returned of the same file.
    instants
        In seconds since 1970, whole, as those of `instants_of`.

    Raises
    ------
    InputError
        If the file cannot be read, or two workloads of a state have the same name.
    """
    samples = sampled(
        trace,
        path,
        instants,
        sampling=knobs.sampling or trace.usual_sampling,
        workloads=knobs.workloads,
        seed=knobs.seed,
    )
    for instant, running in zip(instants, samples, strict=True):
        _check_names(path, running)
        yield Imported(instant, _objects(running, Setting(trace, outline.work, instant, knobs)))


def _objects(running: Sequence[Running], setting: Setting) -> list[Object]:
    if not any(one.job.gpus for one in running):
        return []
    ownership = divide(running, setting)
    numbers = range(1, setting.knobs.preemptors + 1)
    gangs = [draw_gang(ownership, number, setting) for number in numbers]
    return objects_of(running, ownership, gangs, setting)


def _check_names(path: str, running: Sequence[Running]) -> None:
    lines: dict[tuple[str, str], int] = {}
    for one in running:
        before = lines.setdefault((one.job.queue, one.job.name), one.job.line)
        if before != one.job.line:
            where = f"{path}: line {one.job.line}, column name"
            raise InputError(where, f"{one.job.name} is the name in line {before}, too")
