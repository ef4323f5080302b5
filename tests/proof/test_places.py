"""Rows of places in proof trees, and trees of ties."""

import pytest

import planner
from planner.objective.profiles import PROFILES
from planner.plan.proof import ByRows, Narrowing, WholeSplit
from planner.proof.claims import TIES
from planner.solver.kueue.planning import Planning
from planner.solver.proving import grow
from planner.solver.start import Given, start
from tests import recorded
from tests.cluster import PENDING, Object
from tests.reference.topology.racks import (
    RACK,
    flavor,
    node,
    pods,
    room,
    runs,
    state_of,
    topology,
    waits,
)
from tests.told import told


def hosts(number: int) -> list[Object]:
    """Return so many nodes of one GPU in a rack."""
    return [part for n in range(number) for part in node(f"n{n}", "r", gpu=1)]


def test_a_second_slice_takes_all_of_its_pods(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of nine hosts is free: three more make a slice of four, and only four a second one.

    By the first slice alone, a third of a slice for each victim, six would do.
    """
    monkeypatch.setattr(grow, "READABLE", 100)  # one sum of all rows shows how strong they are
    running = [part for n in range(8) for part in runs(f"w{n}", {"gpu": 1}, {f"n{n}": 1})]
    asked = {"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 4}
    state = state_of(
        topology(), flavor(), hosts(9), running, room(), waits(pods("main", 8, {"gpu": 1}, asked))
    )
    plan = planner.solve(state, PENDING, "min-count", certify=True)
    assert plan.certificate is not None
    (tree,) = [tree for tree in plan.certificate.trees if tree.claim == "victims"]
    assert (len(plan.keys), [type(step) for step in tree.steps]) == (7, [ByRows])
    assert planner.check(state, plan).accepted


def half_a_slice() -> planner.State:
    """Return a state of two racks that lack two pods each for a slice of two."""
    nodes = [part for n in range(4) for part in node(f"n{n}", f"r{n // 2}", gpu=1)]
    running = [part for n in range(4) for part in runs(f"w{n}", {"gpu": 1}, {f"n{n}": 1})]
    asked = {"podSetSliceRequiredTopology": RACK, "podSetSliceSize": 2}
    wanted = waits(pods("main", 2, {"gpu": 1}, asked))
    return state_of(topology(), flavor(), nodes, running, room(), wanted)


COSTS = {"ns/w0": 1, "ns/w1": 9, "ns/w2": 5, "ns/w3": 6}


def test_no_part_of_a_slice_is_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a slice in each rack would cost 1 and 5, a whole one costs 10."""
    monkeypatch.setattr("planner.solver.proving.grow.WITHOUT_PROGRAM", 0)
    state = half_a_slice()
    plan = planner.solve(state, PENDING, "min-cost", COSTS, certify=True)
    assert sorted(plan.keys) == ["ns/w0", "ns/w1"]
    assert plan.certificate is not None
    (tree,) = [tree for tree in plan.certificate.trees if tree.claim == "cost"]
    (split,) = [step for step in tree.steps if isinstance(step, WholeSplit)]
    told(split.whole)
    assert split.most == 0
    assert planner.check(state, plan, costs=COSTS).accepted
    for forged in ("way 1 for main on n0", "more slices of main in r7"):
        steps = [
            one if one is not split else one.model_copy(update={"whole": forged})
            for one in tree.steps
        ]
        trees = [
            one if one is not tree else one.model_copy(update={"steps": tuple(steps)})
            for one in plan.certificate.trees
        ]
        certificate = plan.certificate.model_copy(update={"trees": tuple(trees)})
        other = plan.model_copy(update={"certificate": certificate})
        assert not planner.check(state, other, costs=COSTS).accepted, forged


def test_in_a_narrower_box_nothing_is_said_of_leaves_where_nobody_goes() -> None:
    """Whoever costs more than all that may be spent does not go: what its host takes is known."""
    running = [*runs("cheap", {"gpu": 1}, {"n0": 1}), *runs("dear", {"gpu": 1}, {"n1": 1})]
    wanted = waits(pods("main", 1, {"gpu": 1}, {"preferred": RACK}))
    state = state_of(topology(), flavor(), hosts(2), running, room(), wanted)
    planning = start(state, Given(PENDING, costs={"ns/cheap": 1, "ns/dear": 5}))
    assert isinstance(planning, Planning)
    claims = planning.claims(planning.set_objective(PROFILES["min-cost"]), ())
    question = claims.level((), ("cost",), 4)
    (box,) = question.parts(question.root, Narrowing(narrow={"better": 1}))
    assert box.most.tolist() == [1, 0] or box.most.tolist() == [0, 1]
    rows = " ".join(question.rows(box))
    assert "main on n0" in rows
    assert "main on n1" not in rows
    assert "main on n1" in " ".join(question.rows(question.root))


@pytest.mark.parametrize("objective", ["least-disruption", "min-count", "min-cost"])
def test_where_levels_are_certified_ties_are_too(objective: str) -> None:
    """Also where rows narrow the sets in question down to the answer alone."""
    compared = 0
    for line in recorded.lines("classical-hier", 26):
        if not recorded.asks_the_state(line):
            continue
        state, given = recorded.state_of(line), line.get("assignment")
        plan = planner.solve(state, line["pending"], objective, assignment=given)
        if plan.certificate is None or not plan.victims:
            continue
        compared += 1
        assert {level.proof for level in plan.certificate.levels} == {"certified"}
        assert plan.certificate.ties == "certified"
        assert not plan.certificate.corrected
    assert compared


def test_who_goes_for_certain_leaves_room_for_nobody_else() -> None:
    """A cap that is met rules all others out in one step: they are not split one by one."""
    plan = planner.solve(planner.read("instances/quickstart/cluster.json"))
    certificate = plan.certificate
    assert certificate is not None
    assert certificate.ties == "certified"
    [steps] = [tree.steps for tree in certificate.trees if tree.claim == TIES]
    rows = [row for step in steps if isinstance(step, Narrowing) for row in step.narrow]
    assert rows
    assert {*rows} == {"workloads <= 2"}
