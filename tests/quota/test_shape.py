"""What is told once for all that hold the same is what each of them holds."""

from typing import Any

from hypothesis import given

from planner.quantity import MAX_INT64
from planner.quota.kueue.holding import holding_of
from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.quota.kueue.tree import Usage
from planner.state.kueue import State
from tests.cluster import queue, running, state_of
from tests.random_trees import Instance, instances


def check(state: State, snapshot: Snapshot) -> None:
    """Compare a snapshot with what follows from each workload alone."""
    usage = Usage(snapshot.tree)
    for node, holders in snapshot.admitted.items():
        for holder in holders:
            held = holding_of(holder.workload, state.configuration)
            alone = {snapshot.fr_index[fr]: amount for fr, amount in held.amounts.items()}
            named = {snapshot.fr_index[fr] for fr in held.named}
            assert (holder.usage, holder.names, holder.pods) == (alone, named, held.pods)
            usage.add(node, alone)
    assert snapshot.usage.amount == usage.amount


@given(instances())
def test_random_states(instance: Instance) -> None:
    check(instance.state, instance.snapshot)


def changed(name: str, **status: Any) -> list[dict[str, Any]]:
    """Return a running workload of 6 units in two pods, with parts of its status replaced."""
    (workload,) = running(name, "a", 6)
    workload["spec"]["podSets"][0]["count"] = 2
    workload["status"]["admission"]["podSetAssignments"][0]["count"] = 2
    workload["status"] |= status
    return [workload]


def test_pods_that_are_done_make_a_shape_of_their_own() -> None:
    done = [{"name": "main", "count": 1}]
    state = state_of(queue("a", 20), changed("w"), changed("x", reclaimablePods=done), changed("y"))
    snapshot = take_snapshot(state)
    check(state, snapshot)
    gpu = snapshot.fr("default", "gpu")
    held = [(one.usage[gpu], one.pods) for one in snapshot.admitted[0]]
    assert held == [(6, 2), (3, 1), (6, 2)]
    first, _, last = snapshot.admitted[0]
    assert first.usage is last.usage


def test_usage_of_many_saturates_as_one_by_one() -> None:
    state = state_of(queue("a", 20), *(running(name, "a", MAX_INT64 // 2) for name in "uvw"))
    snapshot = take_snapshot(state)
    check(state, snapshot)
    assert snapshot.usage.amount[0][snapshot.fr("default", "gpu")] == MAX_INT64
