"""From a trace to who holds quota at an instant, and who owns what.

Two passes, one row in memory at a time. The first learns what all states share (`Outline`): who
uses how much in all, and when jobs arrive. The second draws the jobs of each instant (`sampled`): a
reservoir of bounded size each.

The traces do not say who owns what: the capacity of a cluster is divided among its ClusterQueues.
It has what is used, by the utilisation; of each resource in each flavor, in whole devices, cores
and GiB,

    nominal quota = factor · usage + (capacity − Σ factor · usage) · share of the GPU-seconds

rounded down, so that nominal quotas add up to the capacity: some queues borrow, and what they
borrow is what others do not use. The share is that of the whole trace. Were the factors alone
more than the capacity, it is divided in proportion to them. Limits never make a state illegal:
a borrowing limit is at least what is borrowed, and a lending limit at least what is not used.

Source: the description of the traces (mapping to Kueue objects); the rest is decided here.
"""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from planner.commands.import_.job import (
    GPU,
    Job,
    OnBad,
    Sampling,
    Setting,
    Trace,
    apportion,
    between,
    choose,
    draw,
    step,
    usable,
)
from planner.dump import Quota
from planner.errors import InputError

MOST_QUEUES: Final = 1000
MOST_AT_ONCE: Final = 200_000
"""How many jobs of how many instants are kept in one pass over the file."""


@dataclass(frozen=True, slots=True)
class Running:
    """A job that holds quota, and since how many seconds."""

    job: Job
    elapsed: int


@dataclass(slots=True)
class Outline:
    """What a whole trace says.

    Attributes
    ----------
    rows, jobs
        How many rows there are, and how many of them are jobs that ran.
    work
        GPU-seconds by queue and flavor.
    arrivals
        The start of some jobs, drawn at random, in the order of the draw.
    """

    rows: int = 0
    jobs: int = 0
    work: Counter[tuple[str, str]] = field(default_factory=Counter)
    arrivals: tuple[float, ...] = ()


class Reservoir:
    """The jobs with the largest keys, so many at most."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._heap: list[tuple[float, int, Job]] = []

    def offer(self, key: float, job: Job) -> None:
        """Keep a job if its key is large enough."""
        entry = (key, job.line, job)
        if len(self._heap) < self._size:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heappushpop(self._heap, entry)

    def jobs(self) -> list[Job]:
        """Return the jobs in the order of the file."""
        return sorted((job for _, _, job in self._heap), key=lambda job: job.line)

    def by_key(self) -> list[Job]:
        """Return the jobs, the largest key first."""
        return [job for _, _, job in sorted(self._heap, reverse=True)]


def read_jobs(
    trace: Trace, path: str, on_bad: OnBad | None, outline: Outline | None = None
) -> Iterator[Job]:
    """Yield the jobs of a file that ran, and count rows in an outline.

    ``on_bad`` is told of each row that cannot be used; without it the first is an error.

    Raises
    ------
    InputError
        If the file cannot be read, or a row cannot be used.
    """
    for job in usable(path, trace.columns, trace.job, on_bad):
        if outline is not None:
            outline.rows += 1
        if job is not None:
            yield job


def read_outline(
    trace: Trace, path: str, *, arrivals: int, seed: int, on_bad: OnBad | None = None
) -> Outline:
    """Read a whole trace once.

    Parameters
    ----------
    arrivals
        How many moments to draw: those at which so many jobs started, no job twice.

    Raises
    ------
    InputError
        If the file cannot be read, a row cannot be used, there are too many queues, or nothing
        in it ever ran.
    """
    outline = Outline()
    drawn = Reservoir(arrivals)
    for job in read_jobs(trace, path, on_bad, outline):
        outline.jobs += 1
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


def sampled(  # noqa: PLR0913 - each says something else
    trace: Trace,
    path: str,
    instants: Sequence[int],
    *,
    sampling: Sampling,
    workloads: int,
    seed: int,
) -> Iterator[list[Running]]:
    """Yield who holds quota at each instant, so many at most, in the order of the file.

    ``running`` are the jobs that the trace has running then, a uniform sample if there are more
    than ``workloads``. ``drawn`` are as many jobs of the whole trace, drawn without replacement
    by their duration, for an instant meets long jobs more often; each is at a uniform point of
    its run. Bad rows are passed over: the first pass has reported them.

    Sources: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006), for the
    draw in one pass; the traces' description for the mapping.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    at_once = max(1, MOST_AT_ONCE // workloads)
    for first in range(0, len(instants), at_once):
        some = instants[first : first + at_once]
        pools = [Reservoir(workloads) for _ in some]
        offer = _offer_running if sampling == "running" else _offer_drawn
        order = sorted(range(len(some)), key=lambda place: some[place])
        clocks = [some[place] for place in order]
        ordered = [pools[place] for place in order]
        for job in read_jobs(trace, path, lambda _: None):
            offer(job, clocks, ordered, seed)
        for instant, pool in zip(some, pools, strict=True):
            yield [Running(job, _elapsed(job, instant, sampling, seed)) for job in pool.jobs()]


def _offer_running(job: Job, clocks: Sequence[int], pools: Sequence[Reservoir], seed: int) -> None:
    """Offer a job to the instants, given in their order, after its start and before its end."""
    first = bisect_right(clocks, job.start)
    for place in range(first, bisect_left(clocks, job.start + job.duration, first)):
        pools[place].offer(draw(seed, "running", clocks[place], job.line), job)


def _offer_drawn(job: Job, clocks: Sequence[int], pools: Sequence[Reservoir], seed: int) -> None:
    """Offer a job to every instant, in proportion to its duration."""
    if job.duration > 0:
        for clock, pool in zip(clocks, pools, strict=True):
            pool.offer(math.log(draw(seed, "drawn", clock, job.line)) / job.duration, job)


def _elapsed(job: Job, instant: int, sampling: Sampling, seed: int) -> int:
    """Return for how long a job has held quota, in whole seconds."""
    if sampling == "running":
        return int(instant - job.start)
    return int(job.duration * draw(seed, "elapsed", instant, job.line))


Place = tuple[str, str]
"""A flavor and a resource."""


@dataclass(frozen=True)
class Ownership:
    """Usage and quota of every queue by flavor and resource."""

    queues: tuple[str, ...]
    flavors: tuple[str, ...]
    usage: Mapping[str, Counter[Place]]
    quotas: Mapping[str, Mapping[str, Mapping[str, Quota]]]

    def unused(self, queue: str, flavor: str) -> dict[str, int]:
        """Return by resource how much of its nominal quota a queue does not use."""
        return {
            resource: quota.nominal - self.usage[queue][flavor, resource]
            for resource, quota in self.quotas[queue][flavor].items()
        }

    def total(self, flavor: str) -> dict[str, int]:
        """Return what all queues use of a flavor."""
        resources = self.quotas[self.queues[0]][flavor]
        return {
            resource: sum(usage[flavor, resource] for usage in self.usage.values())
            for resource in resources
        }


def divide(running: Iterable[Running], setting: Setting) -> Ownership:
    """Return what each ClusterQueue of the trace uses and owns; somebody holds quota."""
    queues = tuple(sorted({queue for queue, _ in setting.work}))
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
    return Ownership(queues, flavors, usage, quotas)


def _capacity(
    flavor: str, resources: Iterable[str], usage: Mapping[str, Counter[Place]], setting: Setting
) -> dict[str, int]:
    """Return what the cluster has of each resource in a flavor; GPUs come with what is beside.

    It is in whole steps, rounded up.
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


@dataclass(frozen=True, slots=True)
class Gang:
    """A pending workload: its queue, flavor and priority, and what it requests in all."""

    queue: str
    flavor: str
    priority: int
    requests: Mapping[str, int]


def draw_gang(ownership: Ownership, number: int, setting: Setting) -> Gang:
    """Draw a preemptor.

    Its size is one of those that fit what some queue owns and does not use, in all resources,
    each as likely as the others; then its queue and flavor are one of those pairs. Where none
    fits, it is the smallest size, in the queue and flavor with the most unused GPUs: it has to
    borrow, or to preempt within its queue. For each GPU it requests what is used for each GPU of
    the flavor, rounded down to whole cores and GiB.

    Parameters
    ----------
    number
        Which of the preemptors of the instant it is.
    """
    knobs, names = setting.knobs, setting.names("gang", number)
    totals = {flavor: ownership.total(flavor) for flavor in ownership.flavors}
    pairs = [
        (queue, flavor)
        for queue in ownership.queues
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
    """Return what a gang of some GPUs requests where so much is used."""
    each = {name: amount // used[GPU] // step(name) * step(name) for name, amount in used.items()}
    return {name: amount * gpus for name, amount in each.items() if amount}
