"""Modes of flavors are facts of a state: those that Kueue finds, whoever names the flavors."""

from typing import Any

import pytest

import planner
from planner.errors import SchemaError
from planner.quota.kueue.assignment import Assignment, FlavorChoice
from planner.quota.kueue.modes import with_modes
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.state.kueue import State
from planner.verifier.kueue_topology import Floor
from tests import recorded
from tests.cluster import FLAVOR, PENDING, pending, queue, running, state_of
from tests.commands.check.test_places import random_state


def bare(assignment: Assignment) -> Assignment:
    """Return an assignment without any modes."""
    pod_sets = [
        pods.model_copy(
            update={"flavors": {n: FlavorChoice(flavor=c.flavor) for n, c in pods.flavors.items()}}
        )
        for pods in assignment.pod_sets
    ]
    return assignment.model_copy(update={"mode": "Fit", "pod_sets": tuple(pod_sets)})


def both(state: State, pending_key: str) -> tuple[Assignment, Assignment] | None:
    """Return Kueue's own assignment and the same flavors with modes; ``None`` if none fit."""
    snapshot = take_snapshot(state, placing=True)
    preemptor = find_preemptor(state, snapshot, pending_key)
    own = decide(snapshot, preemptor).assignment
    if own.mode == "NoFit" or len(own.pod_sets) < len(preemptor.pod_sets):
        return None
    found = with_modes(
        bare(own), preemptor, snapshot, lambda groups: Floor(snapshot, tuple(groups)).finds(())
    )
    return own, found


@pytest.mark.parametrize(
    "name", ["flavors", "small-flavors", "classical-hier", "fair-flat", "small-edge"]
)
def test_modes_are_those_that_kueue_finds(name: str) -> None:
    compared = 0
    for line in recorded.lines(name, step=20):
        pair = None
        if line.get("assignment") is None:
            pair = both(recorded.state_of(line), line["pending"])
        if pair is not None:
            compared += 1
            assert pair[0] == pair[1], line["id"]
    assert compared


def test_modes_where_pods_are_placed_on_nodes() -> None:
    """All that placed podsets ask for is contested where anything is short, quota or nodes."""
    seen = set()
    for seed in range(60):
        pair = both(random_state(seed), PENDING)
        if pair is not None:
            seen.add(pair[0].mode)
            assert pair[0] == pair[1], seed
    assert seen == {"Fit", "Preempt"}


def two_resources() -> State:
    """One queue: of GPUs 2 are short, of memory there is enough."""
    return state_of(
        queue("own", {"gpu": 4, "memory": 8}, within="LowerPriority"),
        running("low", "own", {"gpu": 4, "memory": 1}),
        pending("own", {"gpu": 2, "memory": 1}, 9),
    )


def flavors(**modes: str) -> dict[str, Any]:
    """Return the default flavor for both resources, with some modes."""
    known = {name: {"flavor": FLAVOR} for name in ("gpu", "memory")}
    given = {name: one | {"mode": modes[name]} for name, one in known.items() if name in modes}
    return {"main": known | given}


TRUE = {"gpu": "Preempt", "memory": "Fit"}


@pytest.mark.parametrize("modes", [{}, {"gpu": "Preempt"}, {"memory": "Fit"}, TRUE])
def test_modes_may_be_left_out(modes: dict[str, str]) -> None:
    state = two_resources()
    plan, own = planner.solve(state, assignment=flavors(**modes)), planner.solve(state)
    assert (plan.assignment, plan.keys, plan.terms) == (own.assignment, own.keys, own.terms)
    assert plan.keys == ("ns/low",)


@pytest.mark.parametrize("name", TRUE)
@pytest.mark.parametrize("mode", ["Fit", "Preempt", "NoFit"])
@pytest.mark.parametrize("verb", ["solve", "greedy", "explain", "front"])
def test_false_modes_are_refused(name: str, mode: str, verb: str) -> None:
    state = two_resources()
    if mode == TRUE[name]:
        getattr(planner, verb)(state, assignment=flavors(**{name: mode}))
        return
    with pytest.raises(SchemaError, match=rf'{name} of podset "main" is said to be {mode}'):
        getattr(planner, verb)(state, assignment=flavors(**{name: mode}))


def test_podsets_before_count_too() -> None:
    """Each of two podsets fits by itself, and the second not beside the first."""
    (waits,) = pending("own", 2, 9)
    (first,) = waits["spec"]["podSets"]
    waits["spec"]["podSets"] = [first, {**first, "name": "second"}]
    low = running("low", "own", 1)
    state = state_of(queue("own", 4, within="LowerPriority"), low, [waits])
    pair = both(state, PENDING)
    assert pair is not None
    assert [pods.flavors["gpu"].mode for pods in pair[1].pod_sets] == ["Fit", "Preempt"]
    assert pair[0] == pair[1]
