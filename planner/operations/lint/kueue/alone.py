"""Examples of one ClusterQueue and one workload that waits, where nobody runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from planner.dump import kueue as objects
from planner.dump import listed
from planner.errors import LookupFailed
from planner.operations.lint.kueue.search import ASKS
from planner.operations.lint.kueue.world import NAMESPACE, NOON, Object, read_example
from planner.operations.lint.lint import Example
from planner.reference.kueue.chance import Crash
from planner.reference.kueue.decision import decide

JOB: Final = f"{NAMESPACE}/{ASKS}"
"""The workload that waits."""


def flavor_of(name: str, topology: str = "", labels: Mapping[str, str] | None = None) -> Object:
    """Return a ResourceFlavor, perhaps with a topology and the labels of its nodes."""
    return objects.resource_flavor(name, labels, topology, created=NOON)


def queue_alone(
    queue: str,
    flavor: Object,
    pods: Sequence[objects.PodSet],
    more: Sequence[Object] = (),
    quota: objects.Quota | None = None,
) -> Object:
    """Return a dump of a queue and a workload, with quota for just what the workload asks for.

    ``quota`` is that of each resource, if it is another one. Where ``more`` has a Cohort, the queue
    is in it.
    """
    needed = Counter[str]()
    for one in pods:
        needed.update({resource: n * one.count for resource, n in one.requests.items()})
    amounts = {name: quota or objects.Quota(amount) for name, amount in needed.items()}
    quotas = {flavor["metadata"]["name"]: amounts}
    cohort = next((one["metadata"]["name"] for one in more if one["kind"] == "Cohort"), "")
    return listed(
        [
            flavor,
            *more,
            objects.cluster_queue(queue, cohort, quotas, objects.Policies(), created=NOON),
            objects.local_queue(NAMESPACE, queue, queue, created=NOON),
            objects.workload(NAMESPACE, ASKS, queue, 0, pods, created=NOON),
        ]
    )


def unless_cured(found: Object, cured: Object, words: str) -> Example | None:
    """Return an example, if Kueue does not admit the workload in it, and would once cured."""
    if not admits(found) and admits(cured):
        shows = (f"{JOB} is not admitted, and nobody runs", f"with {words} it fits at once")
        return Example(state=found, pending=JOB, shows=shows)
    return None


def admits(dump: Object) -> bool:
    """Say whether Kueue admits the workload of a dump at once, with pods placed on nodes."""
    try:
        _, snapshot, preemptor = read_example(dump, JOB, placing=True)
        return decide(snapshot, preemptor).assignment.mode == "Fit"
    except (Crash, LookupFailed):  # the ClusterQueue may not be there
        return False
