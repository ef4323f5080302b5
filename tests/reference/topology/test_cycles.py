"""Nodes in whole cycles: who comes first takes them (docs/semantics/kueue-topology.md §6.2)."""

from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.run import schedule
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.state.kueue_topology import HOST
from tests.cluster import configuration
from tests.reference.topology.racks import flavor, node, pods, room, state_of, topology, waits


def test_the_walk_of_a_group_goes_on_behind_a_leader_without_quota() -> None:
    """What the group lends its leader counts as tried for it, too: the next cycle goes on there.

    By quota the first flavor fits, and its node is too small; kueue ff69552e
    pkg/scheduler/flavorassigner/flavorassigner.go ``append``, ``findFlavorForPodSets``.
    """
    pools = [
        *(one for name in "ab" for one in flavor(name, nodeLabels={"pool": name})),
        *node("small", "r", labels={"pool": "a"}, cpu=4, gpu=1),
        *node("large", "s", labels={"pool": "b"}, cpu=4, gpu=4),
    ]
    (there, local) = room()
    (group,) = there["spec"]["resourceGroups"]
    group["flavors"] = [{**group["flavors"][0], "name": name} for name in "ab"]
    asked = {"required": HOST, "podSetGroupName": "g"}
    together = pods("leader", 1, {"cpu": 1}, asked), pods("workers", 2, {"gpu": 1}, asked)
    no_quota = configuration(resources={"excludeResourcePrefixes": ["cpu"]})
    state = state_of([*topology(), *pools, there, local], no_quota, waits(*together))
    snapshot = take_snapshot(state, placing=True)
    queues = waiting_queues(state, snapshot)
    entries = [
        entry.outcome
        for number in range(2)
        for entry in schedule(state, snapshot, queues, cycle=number).entries
    ]
    assert entries == ["noFit", "admitted"]
