"""Who waits: a gang in a queue that is under its nominal quota."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.commands.import_.draw import choose
from planner.commands.import_.job import GPU, step
from planner.commands.import_.quota import Ownership
from planner.commands.import_.setting import Setting


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
            if _fits(_requests(totals[flavor], size), ownership.unused(queue, flavor))
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


def _fits(requests: Mapping[str, int], unused: Mapping[str, int]) -> bool:
    return all(amount <= unused[resource] for resource, amount in requests.items())


def _requests(used: Mapping[str, int], gpus: int) -> dict[str, int]:
    """Return what a gang of some GPUs requests where so much is used."""
    each = {name: amount // used[GPU] // step(name) * step(name) for name, amount in used.items()}
    return {name: amount * gpus for name, amount in each.items() if amount}
