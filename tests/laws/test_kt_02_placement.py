"""KT-02: Kueue's own placement finds a place for every podset, one after the other."""

import planner
from planner.state.kueue_topology import HOST
from tests.cluster import PENDING, Object
from tests.laws.floors import Floor
from tests.laws.judges import sets
from tests.reference.topology.racks import (
    RACK,
    SMALL,
    best_fit,
    flavor,
    node,
    pods,
    room,
    runs,
    topology,
    waits,
)
from tests.solver.ways import at_once, by_the_solver
from tests.told import told


def racks(*waiting: Object) -> list[Object]:
    """Two racks of one node, of which only the second has what the second podset wants.

    docs/semantics/kueue-topology.md §8: w stays; v1 and v2 may go.
    """
    return [
        *topology(),
        *flavor(),
        *node("n1", "ra", cpu=4, gpu=0),
        *node("n2", "rb", cpu=5, gpu=3),
        *runs("w", {"cpu": 2}, {"n2": 1}, priority=10),
        *runs("v1", {"cpu": 2}, {"n1": 1}, minute=20),
        *runs("v2", {"cpu": 3}, {"n2": 1}, minute=10),
        *room({"cpu": 100_000, "gpu": 100}),
        *waits(*waiting),
    ]


FIRST = pods("a", 2, {"cpu": 1}, {"required": RACK})
SECOND = pods("b", 3, {"cpu": 1, "gpu": 1}, {"required": RACK})


def test_evicting_more_can_be_too_much() -> None:
    floor = Floor(racks(FIRST, SECOND))
    assert floor.admitted() == sets("v2", "v1 v2")
    assert floor.replayed() == floor.accepted() == sets("v2")
    assert floor.broken(floor.named("v1", "v2")) == ["KT-02"]
    told(floor.detail(floor.named("v1", "v2"), "KT-02"))
    told(floor.detail(floor.named("v2"), "KT-02"))


def test_the_other_way_round_both_will_do() -> None:
    floor = Floor(racks(SECOND, FIRST))
    legal = sets("v2", "v1 v2")
    assert floor.admitted() == floor.replayed() == floor.accepted() == legal


def test_a_plan_is_one_that_it_permits() -> None:
    """The model has room with the large one gone alone; Kueue needs all four to go."""
    floor = Floor(best_fit(*SMALL))
    assert sets("large") < floor.admitted()
    assert floor.replayed() == floor.accepted() == sets("large small1 small2 small5")
    for way in (at_once, by_the_solver):  # by trees, and by a search that cuts sets off
        with way():
            plan = planner.solve(floor.state, PENDING, "min-count")
        assert (plan.status, len(plan.keys)) == ("optimal", 4)


def test_what_is_in_no_node_has_no_place() -> None:
    floor = Floor(racks(FIRST, pods("b", 1, {"cpu": 1, "disk": 1}, {"required": HOST})))
    assert floor.planning.case.assignment.mode == "NoFit"


def test_a_required_rack_with_unconstrained_beside_it_is_filled_from_the_least() -> None:
    """§3.2 and §5.3: a has room for 1, c for 2, and b is last."""
    nodes = [*node("a", "r", gpu=1), *node("b", "r", gpu=3), *node("c", "r", gpu=2)]
    asked = {"required": RACK, "unconstrained": True}
    waiting = [*runs("v", {"gpu": 1}, {"b": 2}), *waits(pods("main", 5, {"gpu": 1}, asked))]
    state = Floor([*topology(), *flavor(), *nodes, *room(), *waiting]).state
    plan = planner.solve(state, PENDING, "min-count")
    (where,) = ({each.values: each.count for each in one.domains} for one in plan.places)
    assert (plan.keys, where) == (("ns/v",), {("a",): 1, ("b",): 2, ("c",): 2})
    assert planner.verify(state, plan).accepted


def test_places_that_a_plan_swaps_are_not_those_of_kueue() -> None:
    floor = Floor(racks(FIRST, SECOND))
    plan = planner.solve(floor.state, PENDING, "min-count")
    where = {one.name: {each.values: each.count for each in one.domains} for one in plan.places}
    assert where == {"a": {("n1",): 2}, "b": {("n2",): 3}}
    assert planner.verify(floor.state, plan).accepted
    swapped = tuple(
        one.model_copy(update={"domains": other.domains})
        for one, other in zip(plan.places, reversed(plan.places), strict=True)
    )
    forged = planner.verify(floor.state, plan.model_copy(update={"places": swapped}))
    assert [one.law for one in forged.verdicts if not one.holds] == ["KT-02"]
