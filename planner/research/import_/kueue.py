"""From a trace to states of Kueue: the objects that kubectl would print, one file an instant.

The traces have no quotas. The capacity of the cluster is its usage divided by the utilisation; of
each resource in each flavor, in whole devices, cores and GiB, a queue has

    nominal quota = factor · usage + (capacity − Σ factor · usage) · share of the GPU-seconds

rounded so that nominal quotas add up to the capacity: some queues borrow, and they borrow quota
that other queues do not use. The share is that of a queue in the whole trace. If the sum alone is
more than the capacity, this is divided in proportion to factor · usage. Limits never make a state
illegal: a borrowing limit is at least what is borrowed, and a lending limit what is not used.

Source: the description of the traces (mapping to Kueue objects); the rest is decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import ClassVar, Final

from msgspec import Struct

from planner.dump import kueue as dump
from planner.dump import rfc3339
from planner.dump.kueue import Quota
from planner.errors import InputError
from planner.objective.annotation import DEFAULT_RESTART_S, PREFIX
from planner.research.import_.kueue_knobs import Knobs
from planner.research.import_.sample import Outline, Running, following, sampled
from planner.research.import_.traces import (
    GPU,
    GPUS_PER_NODE,
    Job,
    Trace,
    apportion,
    between,
    choose,
    draw,
    step,
)


class Setting(Struct, frozen=True):
    """A trace at an instant, in seconds since 1970.

    ``work`` has the GPU-seconds of the whole trace by queue and flavor; each queue in it becomes a
    ClusterQueue.
    """

    trace: Trace
    work: Mapping[tuple[str, str], int]
    instant: int
    knobs: Knobs

    def names(self, purpose: str, *of: object) -> tuple[object, ...]:
        """Return the names of a draw for a purpose, for `planner.research.import_.traces.draw`."""
        return (self.knobs.seed, purpose, self.instant, *of)

    def workload(
        self,
        one: Job | Gang,
        name: str,
        created: datetime,
        annotations: Mapping[str, str] | None = None,
        admission: dump.Admission | None = None,
    ) -> dump.Object:
        """Return a workload; a gang has pods of 8 GPUs and one with the rest."""
        requests, nodes = one.requests, self.trace.node_labels(one.flavor)
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


Place = tuple[str, str]
"""A flavor and a resource."""


class Ownership(Struct, frozen=True):
    """Usage and quota of every queue by flavor and resource."""

    flavors: tuple[str, ...]
    usage: Mapping[str, Counter[Place]]
    quotas: Mapping[str, Mapping[str, Mapping[str, Quota]]]

    def unused(self, queue: str, flavor: str) -> dict[str, int]:
        """Return by resource how much of its nominal quota a queue does not use."""
        return {
            resource: quota.nominal - self.usage[queue][flavor, resource]
            for resource, quota in self.quotas[queue][flavor].items()
        }


def divide(running: Iterable[Running], setting: Setting) -> Ownership:
    """Return the usage and quotas of each ClusterQueue of the trace; at least one job has a GPU."""
    queues = sorted({queue for queue, _ in setting.work})
    usage: dict[str, Counter[Place]] = {queue: Counter() for queue in queues}
    for one in running:
        requests = one.job.requests.items()
        usage[one.job.queue].update({(one.job.flavor, name): n for name, n in requests})
    places = sorted({place for used in usage.values() for place in used})
    flavors = tuple(dict.fromkeys(flavor for flavor, _ in places))
    resources = sorted({resource for _, resource in places})
    nominal: dict[str, dict[str, dict[str, int]]] = {q: {f: {} for f in flavors} for q in queues}
    for flavor in flavors:
        for resource, capacity in _capacity(flavor, resources, usage, setting).items():
            used = {queue: usage[queue][flavor, resource] for queue in queues}
            for queue, part in _nominal((flavor, resource), used, capacity, setting).items():
                nominal[queue][flavor][resource] = part
    quotas = {queue: _limited(queue, nominal[queue], usage[queue], setting) for queue in queues}
    return Ownership(flavors, usage, quotas)


def _capacity(
    flavor: str, resources: Iterable[str], usage: Mapping[str, Counter[Place]], setting: Setting
) -> dict[str, int]:
    """Return how much the cluster has of each resource in a flavor, in whole steps, rounded up.

    Of cpu and memory it is at least what the nodes with these GPUs have, where the trace says that.
    """
    used = {name: sum(one[flavor, name] for one in usage.values()) for name in resources}
    utilisation = setting.knobs.utilisation
    full = {name: math.ceil(amount / utilisation) for name, amount in used.items()}
    beside = setting.trace.capacity(flavor, full.get(GPU, 0))
    most = {name: max(amount, beside.get(name, 0)) for name, amount in full.items()}
    return {name: -(-amount // step(name)) * step(name) for name, amount in most.items()}


def _nominal(
    place: Place, used: Mapping[str, int], capacity: int, setting: Setting
) -> dict[str, int]:
    """Return the nominal quota of each queue, in whole steps."""
    flavor, resource = place
    unit = step(resource)
    low, high = setting.knobs.factor
    base = [
        int(amount * between(low, high, *setting.names("factor", queue))) // unit
        for queue, amount in used.items()
    ]
    units = capacity // unit
    if sum(base) > units:
        parts = apportion(units, base)
    else:
        shares = [setting.work.get((queue, flavor), 0) for queue in used]
        rest = apportion(units - sum(base), shares)
        parts = [one + more for one, more in zip(base, rest, strict=True)]
    return {queue: part * unit for queue, part in zip(used, parts, strict=True)}


def _limited(
    queue: str, nominal: Mapping[str, Mapping[str, int]], usage: Counter[Place], setting: Setting
) -> dict[str, dict[str, Quota]]:
    """Return the quotas of a queue, with the limits that are drawn for it."""
    knobs = setting.knobs
    borrowing = draw(*setting.names("borrowing limit", queue)) < knobs.borrowing_limited
    lending = draw(*setting.names("lending limit", queue)) < knobs.lending_limited

    def quota(flavor: str, resource: str, amount: int) -> Quota:
        unused = amount - usage[flavor, resource]
        return Quota(
            amount,
            borrowing_limit=max(amount // 2, -unused) if borrowing else None,
            lending_limit=max(amount // 2, unused) if lending else None,
        )

    return {
        flavor: {resource: quota(flavor, resource, n) for resource, n in by_resource.items()}
        for flavor, by_resource in nominal.items()
    }


class Gang(Struct, frozen=True):
    """A pending workload: its queue, flavor and priority, and the requests of all its pods."""

    is_gang: ClassVar = True
    queue: str
    flavor: str
    priority: int
    requests: Mapping[str, int]


_PREEMPTOR: Final = "preemptor-{}"
"""The name of the gang with a number."""


def draw_gang(ownership: Ownership, number: int, setting: Setting) -> Gang:
    """Draw the preemptor with a number among the preemptors of the instant.

    Its size is drawn from the sizes that fit, in all resources, the unused nominal quota of some
    queue in some flavor; then its queue and flavor are drawn from the pairs in which this size
    fits. Where no size fits, it has the smallest, in the queue and flavor with the most unused
    GPUs: it has to borrow, or to preempt within its queue. For each GPU it requests the usage for
    each GPU of the flavor, rounded down to whole cores and GiB.
    """
    knobs, names = setting.knobs, setting.names("gang", number)
    used = sum(ownership.usage.values(), Counter[Place]())
    totals: dict[str, dict[str, int]] = {flavor: {} for flavor in ownership.flavors}
    for (flavor, resource), amount in sorted(used.items()):
        totals[flavor][resource] = amount
    pairs = [
        (queue, flavor)
        for queue in ownership.quotas
        for flavor in ownership.flavors
        if totals[flavor].get(GPU)
    ]
    fitting = {
        size: [
            (queue, flavor)
            for queue, flavor in pairs
            for unused in [ownership.unused(queue, flavor)]
            if all(n <= unused[name] for name, n in _requests(totals[flavor], size).items())
        ]
        for size in sorted(set(knobs.gangs))
    }
    sizes = [size for size, some in fitting.items() if some]
    if sizes:
        size = choose(sizes, *names, "size")
        queue, flavor = choose(fitting[size], *names, "queue")
    else:
        size = min(knobs.gangs)
        queue, flavor = max(pairs, key=lambda pair: ownership.unused(*pair)[GPU])
    priority = choose(knobs.preemptor_priorities, *names, "priority")
    return Gang(queue, flavor, priority, _requests(totals[flavor], size))


def _requests(used: Mapping[str, int], gpus: int) -> dict[str, int]:
    """Return the requests of a gang of ``gpus`` GPUs in a flavor with the usage ``used``."""
    each = {name: amount // used[GPU] // step(name) * step(name) for name, amount in used.items()}
    return {name: amount * gpus for name, amount in each.items() if amount}


ROOT: Final = "cluster"
GROUPS: Final = ("large", "medium", "small")
STRATEGIES: Final = ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
"""The strategies of fair sharing: Kueue's own default, written out."""

CHECKPOINT_INTERVALS_S: Final = (600, 1800, 3600)
LOADING_S: Final = (30, 120)
"""Bounds of how long a checkpoint takes to load."""


def objects_of(
    running: Sequence[Running],
    ownership: Ownership,
    gangs: Sequence[Gang],
    setting: Setting,
    arrivals: Iterable[tuple[str, Job, int]] = (),
) -> list[dump.Object]:
    """Return the objects of a state at the instant, when the gangs come; ``arrivals`` come later.

    A queue and its namespace have the same name.
    """
    trace, knobs = setting.trace, setting.knobs
    now = datetime.fromtimestamp(setting.instant, UTC)
    # Queues are a day older than all that runs in them.
    created = now - timedelta(days=1, seconds=max(one.elapsed for one in running))
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
        objects.append(setting.workload(job, job.name, since, says, admission))
    objects += [
        setting.workload(gang, _PREEMPTOR.format(number), now)
        for number, gang in enumerate(gangs, 1)
    ]
    objects += [
        setting.workload(job, name, now + timedelta(seconds=at_s), _run_seconds(job))
        for name, job, at_s in arrivals
    ]
    return objects


def _parents(ownership: Ownership, setting: Setting) -> dict[str, str]:
    """Return the cohort of each queue: one, or thirds of the queues by work, the largest first."""
    if setting.knobs.levels == 1:
        return dict.fromkeys(ownership.quotas, ROOT)
    total = dict.fromkeys(ownership.quotas, 0)
    for (queue, _), amount in setting.work.items():
        total[queue] += amount
    by_size = sorted(total, key=lambda queue: (-total[queue], queue))
    third = math.ceil(len(by_size) / len(GROUPS))
    return {queue: GROUPS[place // third] for place, queue in enumerate(by_size)}


def _run_seconds(job: Job) -> dict[str, str]:
    return {f"{PREFIX}run-seconds": str(max(1, math.ceil(job.duration)))}


def _checkpoint(one: Running, now: datetime, setting: Setting) -> dict[str, str]:
    """Return the annotations of a training job: its last checkpoint, and how long a restart takes.

    The interval of its checkpoints is drawn; the age of the last one is uniform within it. A job
    that has not run for so long has no checkpoint yet; any other loads it when it restarts.
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
    """A state of a trace at an instant, in seconds since 1970.

    ``objects`` are those of Kueue, none where no job holds a GPU: there is nothing to divide then.
    """

    instant: int
    objects: list[dump.Object]


def instants_of(outline: Outline) -> tuple[int, ...]:
    """Return the moments that were drawn, in whole seconds, no moment twice."""
    return tuple(dict.fromkeys(math.floor(arrival) for arrival in outline.arrivals))


def _check_names(
    path: str,
    gangs: Sequence[Gang],
    running: Iterable[Running],
    arrivals: Iterable[tuple[str, Job, int]],
) -> None:
    """Raise an InputError if two workloads of a queue have the same name."""
    names = {
        (gang.queue, _PREEMPTOR.format(number)): "of a preemptor"
        for number, gang in enumerate(gangs, 1)
    }
    jobs = ((one.job.name, one.job) for one in running)
    for name, job in chain(jobs, ((name, job) for name, job, _ in arrivals)):
        before = names.get((job.queue, name))
        if before is not None:
            where = f"{path}: line {job.line}, column name"
            raise InputError(where, f"{name} is the name {before}, too")
        names[job.queue, name] = f"in line {job.line}"


def import_states(
    trace: Trace, path: str, outline: Outline, instants: Sequence[int], knobs: Knobs
) -> Iterator[Imported]:
    """Yield the state of each instant.

    The same file, instant and knobs give the same state, whatever other instants there are.

    ``path`` is the CSV file, also with gzip, ``outline`` what `read_outline` returned of it;
    ``instants`` are whole seconds since 1970, as `instants_of` returns them.

    Raises ``InputError`` if the file cannot be read, or two workloads of a state have the same
    name.
    """
    sampling = knobs.sampling or trace.usual_sampling
    samples = sampled(trace, path, instants, knobs)
    for instant, running in zip(instants, samples, strict=True):
        if not any(one.job.gpus for one in running):
            yield Imported(instant, [])
            continue
        setting = Setting(trace, outline.work, instant, knobs)
        ownership = divide(running, setting)
        numbers = range(1, knobs.preemptors + 1)
        gangs = [draw_gang(ownership, number, setting) for number in numbers]
        arrivals: list[tuple[str, Job, int]] = []
        if knobs.follow_s:
            # Where the running jobs are drawn, jobs arrive as fast as these would end: by Little's
            # law each job of the trace arrives a second as often as ``often`` says.
            often = len(running) / max(1.0, outline.seconds)
            rate = often if sampling == "drawn" else 0.0
            coming = following(trace, path, instant, rate, knobs)
            # No queue has quota of any other flavor.
            arrivals = [one for one in coming if one[1].flavor in ownership.flavors]
        _check_names(path, gangs, running, arrivals)
        yield Imported(instant, objects_of(running, ownership, gangs, setting, arrivals))
