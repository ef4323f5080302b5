"""Flavors chosen for least disruption: that no others are better is proved, or not claimed."""

import pytest

import planner
from planner.objective.profiles import Profile
from planner.plan import Certificate
from planner.plan.kueue import Plan
from planner.solver.answer import Capped
from planner.solver.deadline import Deadline
from planner.solver.kueue import flavors
from planner.solver.kueue.planning import Planning
from planner.solver.kueue.solve import solve_planning
from planner.state.kueue import State
from tests.flavored import flavor, group, pending, podset, queue, running, state_of
from tests.solver.test_flavors_by_hand import LEAST, chosen, two_small_or_one
from tests.told import told


def two_flavors() -> State:
    return state_of(*two_small_or_one(), pending("q", podset(4)))


def solve(state: State, *, certify: bool | None = None) -> Plan:
    return planner.solve(state, objective=LEAST, flavors="optimal", certify=certify)


def certificate_of(plan: Plan) -> Certificate:
    assert plan.certificate is not None
    return plan.certificate


def proofs(plan: Plan) -> set[tuple[bool, str | None]]:
    """Return what levels rest on, those of value 0 apart."""
    return {(level.value > 0, level.proof) for level in certificate_of(plan).levels}


def say_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no trees under other flavors be found."""

    def without(
        planning: Planning, profile: Profile, deadline: Deadline, capped: Capped | None = None
    ) -> Plan:
        planning.certify = None if capped is None else False
        return solve_planning(planning, profile, deadline, capped)

    monkeypatch.setattr(flavors, "solve_planning", without)


def test_trees_close_other_flavors() -> None:
    plan = solve(two_flavors())
    assert (plan.status, chosen(plan)) == ("optimal", {"main": "a100"})
    assert proofs(plan) == {(True, "certified"), (False, "certified")}
    assert certificate_of(plan).ties is None


def test_without_trees_nothing_is_proved() -> None:
    plan = solve(two_flavors(), certify=False)
    assert (plan.status, proofs(plan)) == ("feasible", {(True, None), (False, "certified")})


def test_the_only_flavors_there_are_are_certified() -> None:
    state = state_of(
        flavor("h100"),
        queue("q", group(h100=4), within="LowerPriority"),
        running("one", "q", "h100", 4),
        pending("q", podset(4)),
    )
    plan = solve(state)
    assert (plan.status, proofs(plan)) == ("optimal", {(True, "certified"), (False, "certified")})
    assert certificate_of(plan).ties == "certified"


def test_the_solver_alone_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    state = state_of(
        *(flavor("h100"), flavor("a100")),
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("one", "q", "h100", 4),
        running("two", "q", "a100", 3),
        running("three", "q", "a100", 1),
        pending("q", podset(4)),
    )
    assert solve(state).status == "optimal"
    say_nothing(monkeypatch)
    plan = solve(state)
    assert (plan.status, chosen(plan)) == ("feasible", {"main": "h100"})
    told(plan.explanation)
    assert proofs(plan) == {(True, None), (False, "certified")}


def full() -> State:
    """Nobody may go in either flavor: what runs is of a higher priority."""
    return state_of(
        flavor("h100"),
        flavor("a100"),
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("one", "q", "h100", 3, 90),
        running("low", "q", "h100", 1),
        running("other", "q", "a100", 3, 90),
        running("least", "q", "a100", 1),
        pending("q", podset(4)),
    )


def test_no_plan_in_any_flavors_is_proved_too() -> None:
    assert solve(full()).status == "infeasible"
    assert solve(full(), certify=False).status == "unknown"
