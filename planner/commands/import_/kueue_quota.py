"""Who owns what: the capacity of a cluster at an instant, divided among its ClusterQueues.

The traces do not say. The cluster has what is used, by the utilisation; of each resource in each
flavor, in whole devices, cores and GiB,

    nominal quota = factor · usage + (capacity − Σ factor · usage) · share of the GPU-seconds

rounded down, so that nominal quotas add up to the capacity: some queues borrow, and what they
borrow is what others do not use. The share is that of the whole trace. Were the factors alone
more than the capacity, it is divided in proportion to them. Limits never make a state illegal:
a borrowing limit is at least what is borrowed, and a lending limit at least what is not used.

Source: the description of the traces (mapping to Kueue objects); the rest is decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import ClassVar

from msgspec import Struct

from planner.commands.import_.job import GPU, apportion, between, choose, draw, step
from planner.commands.import_.kueue_knobs import Setting
from planner.commands.import_.sample import Running
from planner.dump.kueue import Quota

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
    """Return what each ClusterQueue of the trace uses and owns; somebody holds quota."""
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


class Gang(Struct, frozen=True):
    """A pending workload: its queue, flavor and priority, and what it requests in all."""

    is_gang: ClassVar = True
    queue: str
    flavor: str
    priority: int
    requests: Mapping[str, int]


def draw_gang(ownership: Ownership, number: int, setting: Setting) -> Gang:
    """Draw a preemptor, that of a number among those of the instant.

    Its size is one of those that fit what some queue owns and does not use, in all resources,
    each as likely as the others; then its queue and flavor are one of those pairs. Where none
    fits, it is the smallest size, in the queue and flavor with the most unused GPUs: it has to
    borrow, or to preempt within its queue. For each GPU it requests what is used for each GPU of
    the flavor, rounded down to whole cores and GiB.
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
    """Return what a gang of some GPUs requests where so much is used."""
    each = {name: amount // used[GPU] // step(name) * step(name) for name, amount in used.items()}
    return {name: amount * gpus for name, amount in each.items() if amount}
