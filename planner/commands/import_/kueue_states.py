"""From a trace to states: the objects that kubectl would print, one file an instant."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from planner.commands.import_.job import GPU, GPUS_PER_NODE, Job, between, choose, draw
from planner.commands.import_.kueue_knobs import Knobs, Setting
from planner.commands.import_.kueue_quota import Gang, Ownership, divide, draw_gang
from planner.commands.import_.sample import Outline, Running, following, sampled
from planner.commands.import_.traces import Trace
from planner.dump import kueue as dump
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
) -> list[dump.Object]:
    """Return the objects of a state at the instant, when the gangs come; others come later.

    A queue and its namespace have the same name.
    """
    trace, knobs = setting.trace, setting.knobs
    now = datetime.fromtimestamp(setting.instant, UTC)
    oldest = max(one.elapsed for one in running)
    created = now - timedelta(seconds=oldest) - _QUEUES_AGE
    parents = _parents(ownership, setting)
    fair = dump.configuration(fairSharing={"preemptionStrategies": STRATEGIES})
    labels = {flavor: trace.node_labels(flavor) for flavor in ownership.flavors}
    objects = [
        *([fair] if knobs.fair else ()),
        *(dump.resource_flavor(name, own, created=created) for name, own in labels.items()),
        dump.cohort(ROOT, created=created),
        *(dump.cohort(name, ROOT, created=created) for name in GROUPS if name in parents.values()),
    ]
    for queue, quotas in ownership.quotas.items():
        objects += [
            dump.cluster_queue(queue, parents[queue], quotas, knobs.policies, created=created),
            dump.local_queue(queue, queue, queue, created=created),
        ]
    for one in running:
        job, since = one.job, now - timedelta(seconds=one.elapsed)
        admission = dump.Admission(job.queue, dict.fromkeys(job.requests, job.flavor), since)
        says = _checkpoint(one, now, setting) | (_run_seconds(job) if knobs.follow_s else {})
        objects.append(_workload(job, job.name, since, trace, says, admission))
    objects += [
        _workload(gang, f"preemptor-{number}", now, trace) for number, gang in enumerate(gangs, 1)
    ]
    objects += [
        _workload(job, name, now + timedelta(seconds=at_s), trace, _run_seconds(job))
        for name, job, at_s in arrivals
        if job.flavor in ownership.flavors  # of any other flavor nobody has quota
    ]
    return objects


def _parents(ownership: Ownership, setting: Setting) -> dict[str, str]:
    """Return the cohort of each queue: the thirds by work in all, the largest first."""
    if setting.knobs.levels == 1:
        return dict.fromkeys(ownership.quotas, ROOT)
    total = dict.fromkeys(ownership.quotas, 0)
    for (queue, _), amount in setting.work.items():
        total[queue] += amount
    by_size = sorted(total, key=lambda queue: (-total[queue], queue))
    third = math.ceil(len(by_size) / len(GROUPS))
    return {queue: GROUPS[place // third] for place, queue in enumerate(by_size)}


def _workload(  # noqa: PLR0913, PLR0917 - the fields that matter
    one: Job | Gang,
    name: str,
    created: datetime,
    trace: Trace,
    annotations: Mapping[str, str] | None = None,
    admission: dump.Admission | None = None,
) -> dump.Object:
    """Return a workload: pods of 8 GPUs, and one with what is left, each with its part of all."""
    requests, nodes = one.requests, trace.node_labels(one.flavor)
    gpus = requests.get(GPU, 0)

    def pods(count: int, devices: int, called: str = "main") -> dump.PodSet:
        part = {resource: amount * devices // gpus for resource, amount in requests.items()}
        return dump.PodSet(count, part, called, nodes)

    if one.is_gang and gpus > GPUS_PER_NODE:
        count, left = divmod(gpus, GPUS_PER_NODE)
        pod_sets = [pods(count, GPUS_PER_NODE)] + ([pods(1, left, "rest")] if left else [])
    else:
        pod_sets = [dump.PodSet(1, requests, node_selector=nodes)]
    return dump.workload(
        one.queue,
        name,
        one.queue,
        one.priority,
        pod_sets,
        created=created,
        admission=admission,
        annotations=annotations,
    )


def _run_seconds(job: Job) -> dict[str, str]:
    return {f"{PREFIX}run-seconds": str(max(1, math.ceil(job.duration)))}


def _checkpoint(one: Running, now: datetime, setting: Setting) -> dict[str, str]:
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
        f"{PREFIX}last-checkpoint": dump.rfc3339(now - timedelta(seconds=age)),
        f"{PREFIX}restart-seconds": str(restart),
    }


class Imported(Struct, frozen=True):
    """A state of a trace at an instant, in seconds since 1970.

    ``objects`` are those of Kueue; none where nobody holds a GPU: there is nothing to divide then.
    """

    instant: int
    objects: list[dump.Object]


def instants_of(outline: Outline) -> tuple[int, ...]:
    """Return the moments that were drawn, in whole seconds, no moment twice."""
    return tuple(dict.fromkeys(math.floor(arrival) for arrival in outline.arrivals))


def import_states(
    trace: Trace, path: str, outline: Outline, instants: Sequence[int], knobs: Knobs
) -> Iterator[Imported]:
    """Yield the state of each instant.

    The same file, instants and knobs give the same states, whatever other instants there are.

    ``path`` is the CSV file, also with gzip, ``outline`` what `read_outline` returned of it;
    ``instants`` are in seconds since 1970, whole, as those of `instants_of`.

    Raises
    ------
    InputError
        If the file cannot be read, or two workloads of a state have the same name.
    """
    sampling = knobs.sampling or trace.usual_sampling
    how = {"workloads": knobs.workloads, "seed": knobs.seed}
    samples = sampled(trace, path, instants, sampling=sampling, **how)
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
        arrivals: Iterable[tuple[str, Job, int]] = ()
        if knobs.follow_s:
            # Where the trace itself has too few running, jobs arrive as fast as so many would end:
            # by Little's law each job so many times a second as run, by the seconds of all.
            often = len(running) / max(1.0, outline.seconds)
            rate = often if sampling == "drawn" else 0.0
            arrivals = following(trace, path, instant, knobs.follow_s, rate, knobs.seed)
        ownership = divide(running, setting)
        numbers = range(1, knobs.preemptors + 1)
        gangs = [draw_gang(ownership, number, setting) for number in numbers]
        yield Imported(instant, objects_of(running, ownership, gangs, setting, arrivals))
