"""Nodes in whole cycles: who comes first takes them (docs/semantics/kueue-topology.md §6.2)."""

import pytest

from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.cycle.processing import Cycle
from planner.reference.kueue.cycle.run import run_cycle, schedule
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.state.kueue_topology import HOST
from tests.cluster import Object, configuration
from tests.reference.cycles import story
from tests.reference.topology.racks import (
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)

ONE_HOST: Object = {"required": HOST}


def waiting(name: str, count: int, priority: int = 5) -> list[Object]:
    """Return a queue of its own, and who waits in it for one node."""
    (workload,) = waits(pods("main", count, {"gpu": 1}, ONE_HOST), queue_name=name)
    workload["metadata"] |= {"name": name, "uid": name}
    workload["spec"]["priority"] = priority
    return [*room(name=name, cohort="all"), workload]


def cycled(*parts: list[Object]) -> Cycle:
    """Run a cycle on nodes."""
    return run_cycle(state_of(topology(), flavor(), *parts), placing=True)


def outcomes(cycle: Cycle) -> list[tuple[str, dict[str, int]]]:
    """Return what becomes of each entry, and where its pods go."""
    return [
        (
            entry.outcome,
            {}
            if entry.decision is None or not entry.decision.assigned.placements
            else dict(entry.decision.assigned.placements["main"].leaves),
        )
        for entry in cycle.entries
    ]


def test_who_finds_its_node_taken_gets_another_one() -> None:
    nodes = [*node("a", "r", gpu=2), *node("b", "r", gpu=3)]
    heads = [*waiting("first", 2, priority=9), *waiting("second", 2)]
    assert outcomes(cycled(nodes, heads)) == [("admitted", {"a": 2}), ("admitted", {"b": 2})]
    off = configuration(featureGates={"TASRecomputeAssignmentWithinSchedulingCycle": False})
    assert outcomes(cycled(nodes, heads, off)) == [("admitted", {"a": 2}), ("skipped", {"a": 2})]


def test_where_there_is_no_other_node_the_later_one_preempts_or_waits() -> None:
    nodes = node("a", "r", gpu=3)
    heads = [*waiting("first", 2, priority=9), *waiting("second", 2)]
    assert [what for what, _ in outcomes(cycled(nodes, heads))] == ["admitted", "noCandidates"]


def test_a_preemptor_occupies_its_future_nodes() -> None:
    """Trap 18: the victim still runs, and the free node is as good as taken."""
    nodes = [*node("a", "r", gpu=3), *node("b", "r", gpu=1)]
    heads = [*waiting("first", 3, priority=9), *waiting("second", 2)]
    victim = runs("v", {"gpu": 1}, {"a": 1}, queue_name="first")
    (first, _), (second, _) = outcomes(cycled(nodes, victim, heads))
    assert (first, second) == ("preempting", "noCandidates")
    heads[-1]["spec"]["podSets"][0]["count"] = 1
    (_, _), (second, where) = outcomes(cycled(nodes, victim, heads))
    assert (second, where) == ("admitted", {"b": 1})


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


@pytest.mark.parametrize(("on", "outcome"), [(True, "preempting v"), (False, "noFit")])
def test_without_the_gate_a_group_lends_no_flavors(on: bool, outcome: str) -> None:  # noqa: FBT001 - a gate
    """Then there are no flavors that place pods: the leader has none, and so does not fit.

    Kueue ff69552e pkg/scheduler/flavorassigner/flavorassigner.go ``resolvePodSetFlavors``,
    ``RepresentativeMode``.
    """
    gates = {"TopologyAwareScheduling": on}
    asked = {"unconstrained": True, "podSetGroupName": "g"}
    together = pods("leader", 1, {"cpu": 1}, asked), pods("workers", 2, {"gpu": 1}, asked)
    cycle = cycled(
        node("n", "r", cpu=4, gpu=4),
        room(4),
        runs("v", {"gpu": 1}, {"n": 4}),
        waits(*together),
        configuration(resources={"excludeResourcePrefixes": ["cpu"]}, featureGates=gates),
    )
    assert story(cycle) == [f"pending {outcome}"]
