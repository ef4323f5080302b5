"""Which victims come back before the preemptor, so that they were evicted for nothing.

Once all victims are gone they wait again, and the preemptor still does. In the cycle that follows
Kueue looks at heads that stay within nominal quota before those that borrow: a preemptor that
borrows can be overtaken by a victim, and finds no room. Nobody else is looked at, and the clock
stands still. The gate PrioritizePreemptorWorkloads, off by default, puts the preemptor first.

Source: docs/semantics/kueue.md §7; kueue ff69552e pkg/scheduler/scheduler.go
``makeClassicalIterator`` and pkg/cache/queue/cluster_queue.go ``preemptorWorkload``.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.aftermath import evicted, snapshot_without
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import Pending, Waiting, open_queues
from planner.state.kueue import State


def overtaking(
    state: State, snapshot: Snapshot, preemptor: Preemptor, victims: Iterable[tuple[Admitted, str]]
) -> tuple[str, ...]:
    """Return the victims that are admitted again in a cycle in which the preemptor is not.

    Each stands with its reason code. Empty if the preemptor is admitted, or nobody is.
    """
    going = list(victims)
    settings = snapshot.configuration.model_copy(update={"wait_for_pods_ready": None})
    left = snapshot_without(snapshot, [victim for victim, _ in going])
    left = replace(left, configuration=settings)
    behind = open_queues(state, snapshot)
    waiting = [evicted(victim, reason, snapshot.now) for victim, reason in going]
    queues = dict[int, Waiting]()
    for one in (preemptor.workload, *waiting):
        node = behind.get((one.metadata.namespace, one.spec.queue_name))
        if node is not None:
            strict = snapshot.queues[node].spec.queueing_strategy == "StrictFIFO"
            queues.setdefault(node, Waiting(strict)).put(Pending(state, left, one, node))
    if preemptor.queue in queues:
        queues[preemptor.queue].preemptor = preemptor.key
    ran = schedule(state, left, queues).entries
    admitted = [entry.preemptor.key for entry in ran if entry.outcome == "admitted"]
    return () if preemptor.key in admitted else tuple(admitted)
