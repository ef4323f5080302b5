"""From a trace to states: the objects that kubectl would print, one file an instant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from planner.commands.import_.job import GPU, GPUS_PER_NODE, Job, Trace, between, choose, draw
from planner.commands.import_.kueue_knobs import Knobs, Setting
from planner.commands.import_.kueue_quota import Gang, Ownership, divide, draw_gang
from planner.commands.import_.sample import Outline, Running, following, sampled
from planner.dump.kueue import (
    Admission,
    Object,
    PodSet,
    cluster_queue,
    cohort,
    configuration,
    local_queue,
    resource_flavor,
    rfc3339,
    workload,
)
from planner.errors import InputError
from planner.objective.annotation import DEFAULT_RESTART_S, PREFIX

ROOT: Final = "cluster"
GROUPS: Final = ("large", "medium", "small")
STRATEGIES: Final = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
"""Of fair sharing: Kueue's own default, said out loud."""

CHECKPOINT_INTERVALS_S: Final = (600, 1800, 3600)
LOADING_S: Final = (30, 120)
"""Bounds of how long a checkpoint takes to load."""

_QUEUES_AGE: Final = timedelta(days=1)


def objects_of(
    running: Sequence[Running],
    ownership: Ownership,
    gangs: Sequence[Gang],
    setting: Setting,
    arrivals: Iterable[tuple[str, Job, int]] = (),
) -> list[Object]:
    """Return the objects of a state at the instant, when the gangs come; others come later.

    A queue and its namespace have the same name.
    """
    trace, knobs = setting.trace, setting.knobs
    now = datetime.fromtimestamp(setting.instant, UTC)
    oldest = max(one.elapsed for one in running)
    created = now - timedelta(seconds=oldest) - _QUEUES_AGE
    parents = _parents(ownership, setting)
    objects = [
        *([configuration(fairSharing={"preemptionStrategies": STRATEGIES})] if knobs.fair else ()),
        *(resource_flavor(f, trace.node_labels(f), created=created) for f in ownership.flavors),
        cohort(ROOT, created=created),
        *(cohort(name, ROOT, created=created) for name in GROUPS if name in parents.values()),
    ]
    for queue in ownership.queues:
        quotas = ownership.quotas[queue]
        parent = parents[queue]
        objects += [
            cluster_queue(queue, parent, quotas, knobs.policies, created=created),
            local_queue(queue, queue, queue, created=created),
        ]
    objects += [_held(one, now, setting) for one in running]
    objects += [
        workload(
            gang.queue,
            f"preemptor-{number}",
            gang.queue,
            gang.priority,
            _pod_sets(gang.requests, trace.node_labels(gang.flavor), is_gang=True),
            created=now,
        )
        for number, gang in enumerate(gangs, 1)
    ]
    objects += [
        workload(
            job.queue,
            name,
            job.queue,
            job.priority,
            _pod_sets(job.requests, trace.node_labels(job.flavor), is_gang=job.is_gang),
            created=now + timedelta(seconds=at_s),
            annotations=_run_seconds(job),
        )
        for name, job, at_s in arrivals
        if job.flavor in ownership.flavors  # of any other flavor nobody has quota
    ]
    return objects


def _parents(ownership: Ownership, setting: Setting) -> dict[str, str]:
    """Return the cohort of each queue: the thirds by work in all, the largest first."""
    if setting.knobs.levels == 1:
        return dict.fromkeys(ownership.queues, ROOT)
    total = dict.fromkeys(ownership.queues, 0)
    for (queue, _), amount in setting.work.items():
        total[queue] += amount
    by_size = sorted(total, key=lambda queue: (-total[queue], queue))
    third = math.ceil(len(by_size) / len(GROUPS))
    return {queue: GROUPS[place // third] for place, queue in enumerate(by_size)}


def _held(one: Running, now: datetime, setting: Setting) -> Object:
    """Return a workload that holds quota since it was created."""
    job = one.job
    since = now - timedelta(seconds=one.elapsed)
    nodes = setting.trace.node_labels(job.flavor)
    return workload(
        job.queue,
        job.name,
        job.queue,
        job.priority,
        _pod_sets(job.requests, nodes, is_gang=job.is_gang),
        created=since,
        admission=Admission(job.queue, dict.fromkeys(job.requests, job.flavor), since),
        annotations={
            **_annotations(one, now, setting),
            **(_run_seconds(job) if setting.knobs.follow_s else {}),
        },
    )


def _run_seconds(job: Job) -> dict[str, str]:
    return {f"{PREFIX}run-seconds": str(max(1, math.ceil(job.duration)))}


def _pod_sets(
    requests: Mapping[str, int], nodes: Mapping[str, str], *, is_gang: bool
) -> tuple[PodSet, ...]:
    """Return pods of 8 GPUs, and one with what is left, each with its part of the rest."""
    gpus = requests.get(GPU, 0)
    if not is_gang or gpus <= GPUS_PER_NODE:
        return (PodSet(1, requests, node_selector=nodes),)
    count, left = divmod(gpus, GPUS_PER_NODE)

    def part(devices: int) -> dict[str, int]:
        return {resource: amount * devices // gpus for resource, amount in requests.items()}

    pods = PodSet(count, part(GPUS_PER_NODE), node_selector=nodes)
    return (pods, PodSet(1, part(left), "rest", nodes)) if left else (pods,)


def _annotations(one: Running, now: datetime, setting: Setting) -> dict[str, str]:
    """Return what a training job says: its last checkpoint, and how long a restart takes.

    Checkpoints come in an interval that is drawn; the last one was at a uniform moment of it. A
    job that has not run for so long has none yet, and one that has loads it when it restarts.
    """
    job = one.job
    names = setting.names("checkpoint", job.line)
    writes = job.is_training and job.gpus and draw(*names) < setting.knobs.checkpointing
    interval = choose(CHECKPOINT_INTERVALS_S, *names, "interval")
    age = int(interval * draw(*names, "age"))
    if not writes or age > one.elapsed:
        return {}
    restart = DEFAULT_RESTART_S + int(between(*LOADING_S, *names, "loading"))
    return {
        f"{PREFIX}last-checkpoint": rfc3339(now - timedelta(seconds=age)),
        f"{PREFIX}restart-seconds": str(restart),
    }


class Imported(Struct, frozen=True):
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
        lines: dict[tuple[str, str], int] = {}
        for one in running:
            before = lines.setdefault((one.job.queue, one.job.name), one.job.line)
            if before != one.job.line:
                where = f"{path}: line {one.job.line}, column name"
                raise InputError(where, f"{one.job.name} is the name in line {before}, too")
        if not any(one.job.gpus for one in running):
            yield Imported(instant, [])
            continue
        setting = Setting(trace, outline.work, instant, knobs)
        arrivals = _arrivals(path, len(running) / max(1.0, outline.seconds), setting)
        ownership = divide(running, setting)
        numbers = range(1, knobs.preemptors + 1)
        gangs = [draw_gang(ownership, number, setting) for number in numbers]
        yield Imported(instant, objects_of(running, ownership, gangs, setting, arrivals))


def _arrivals(path: str, often: float, setting: Setting) -> Iterable[tuple[str, Job, int]]:
    """Return who comes later; ``often`` is how often a job has to come to keep as many running.

    Where the trace itself has too few running, jobs arrive as fast as so many would end: by
    Little's law each job of the trace so many times a second as run, by the seconds of all.
    """
    trace, knobs = setting.trace, setting.knobs
    if not knobs.follow_s:
        return ()
    drawn = (knobs.sampling or trace.usual_sampling) == "drawn"
    rate = often if drawn else 0.0
    return following(trace, path, setting.instant, knobs.follow_s, rate, knobs.seed)
