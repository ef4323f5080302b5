"""Nodes in whole cycles: who comes first takes them (docs/semantics/kueue-topology.md §6.2)."""

from planner.reference.kueue.cycle.record import Cycle
from planner.reference.kueue.cycle.run import run_cycle
from planner.state.kueue_topology import HOST
from tests.cluster import Object, configuration
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
