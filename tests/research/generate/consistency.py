"""What must hold in every generated state, written from the objects and the rules of quota."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from planner.objective.annotation import PREFIX
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.state import parse_time
from planner.state.kueue import State
from planner.state.yunikorn import QueueConfig, Resource, YuniKornState
from tests.kueue_state import reserved_at


def complaints(state: State, *, overfull: bool = False) -> list[str]:
    """Say what is wrong with a state of Kueue; nothing should be."""
    return [
        *state.notes,
        *take_snapshot(state).notes,
        *_names(state),
        *_times(state),
        *([] if overfull else _quotas(take_snapshot(state))),
    ]


def _names(state: State) -> Iterator[str]:
    """Everything that is named is there, and every name but once."""
    queues = {one.name: one for one in state.cluster_queues}
    flavors = {one.name for one in state.resource_flavors}
    local = {(one.metadata.namespace, one.metadata.name): one for one in state.local_queues}
    cohorts = {one.name for one in state.cohorts}
    named = [one.spec.cohort_name for one in state.cluster_queues]
    named += [one.spec.parent_name for one in state.cohorts]
    yield from (f"no cohort {name}" for name in named if name and name not in cohorts)
    keys = Counter(one.key for one in state.workloads)
    yield from (f"{key} stands twice" for key, times in keys.items() if times > 1)
    for workload in state.workloads:
        at = local.get((workload.metadata.namespace, workload.spec.queue_name))
        if at is None or at.spec.cluster_queue not in queues:
            yield f"{workload.key} waits nowhere"
        elif workload.status.admission:
            admission = workload.status.admission
            if admission.cluster_queue != at.spec.cluster_queue:
                yield f"{workload.key} was admitted elsewhere"
            (assigned,) = admission.pod_set_assignments
            yield from (f"no flavor {name}" for name in {*assigned.flavors.values()} - flavors)


def _times(state: State) -> Iterator[str]:
    """Created, then admitted, then saved or evicted, then now."""
    for workload in state.workloads:
        created, reserved = workload.metadata.creation_timestamp, reserved_at(workload)
        assert created is not None
        begun = [created, reserved] if workload.holds_quota and reserved else [created]
        saved = workload.metadata.annotations.get(f"{PREFIX}last-checkpoint")
        then = [parse_time(saved)] if saved else []
        evicted = workload.condition("Evicted")
        if evicted is not None and evicted.last_transition_time is not None:
            then.append(evicted.last_transition_time)
        for line in ([*begun, *after, state.now] for after in ([], *([one] for one in then))):
            if line != sorted(line):
                yield f"{workload.key} has no possible past: {line}"


def _quotas(snapshot: Snapshot) -> Iterator[str]:
    """No tree uses more than it has, nobody borrows beyond a limit, nothing lies idle behind one.

    docs/semantics/kueue.md §3: usage of a cohort, lending and borrowing limits.
    """
    tree, amount = snapshot.tree, snapshot.usage.amount
    for place, node in enumerate(tree.nodes):
        for fr, quota in node.quotas.items():
            used, has = amount[place][fr], tree.subtree[place][fr]
            if quota.borrowing_limit is not None and used > has + quota.borrowing_limit:
                yield f"{node.name} borrows {used - has} of {tree.frs[fr]}"
            if quota.lending_limit is not None and quota.lending_limit > quota.nominal:
                yield f"{node.name} would lend more than it has"
            if quota.nominal < 0:
                yield f"{node.name} has a quota below 0"
        if node.parent < 0:
            over = [fr for fr, has in enumerate(tree.subtree[place]) if amount[place][fr] > has]
            yield from (f"{node.name} is too full of {tree.frs[fr]}" for fr in over)


def yunikorn_complaints(state: YuniKornState) -> list[str]:
    """Say what is wrong with a state of YuniKorn; nothing should be."""
    (partition,) = state.partitions
    room: dict[str, Resource] = {node.node_id: dict(node.capacity) for node in partition.nodes}
    found = list(state.notes)
    used: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for app in partition.applications:
        for one in app.allocations:
            for resource, amount in one.resource.items():
                room[one.node_id][resource] -= amount
                used[app.queue_name][resource] += amount
            if not one.request_time <= one.allocation_time <= state.now:
                found.append(f"{one.allocation_key} has no possible past")
    found += [
        f"{node.node_id} does not add up"
        for node in partition.nodes
        if node.available != room[node.node_id] or min(room[node.node_id].values()) < 0
    ]
    leaves = dict(_leaves(partition.root, ""))
    found += [f"no queue {name}" for name in used if name not in leaves]
    for name, queue in leaves.items():
        most = queue.resources.max
        found += [f"{name} exceeds its maximum" for r in most if used[name][r] > most[r]]
    found += [
        f"more {resource} is guaranteed than there is"
        for resource in ("vcore", "memory")
        if sum(queue.resources.guaranteed[resource] for queue in leaves.values())
        > sum(node.capacity[resource] for node in partition.nodes)
    ]
    return found


def _leaves(queue: QueueConfig, above: str) -> Iterator[tuple[str, QueueConfig]]:
    path = f"{above}{queue.name}"
    if not queue.queues:
        yield path, queue
    for child in queue.queues:
        yield from _leaves(child, f"{path}.")
