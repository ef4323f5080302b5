"""Flavors chosen for least disruption: that no others are better is proved, or not claimed."""

import pytest

import planner
from planner.objective.profiles import Profile
from planner.plan import Certificate
from planner.plan.kueue import Plan
from planner.solver.deadline import Deadline
from planner.solver.finder import Answer
from planner.solver.kueue import flavors
from planner.solver.kueue.flavors import candidates_under, choices_of, proved_no_better
from planner.solver.kueue.planning import Planning
from planner.solver.proving.grow import Grown
from planner.solver.start import Given, start
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
    monkeypatch.setattr(flavors, "grow", lambda *_: Grown())


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


def test_an_engine_that_errs_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It claims that nothing is better in the second flavor, where one goes instead of two."""
    monkeypatch.setattr(flavors, "solve_below", lambda *_: Answer("infeasible", ()))
    plan = solve(two_flavors())
    assert (plan.status, chosen(plan)) == ("feasible", {"main": "h100"})
    told(plan.explanation)


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


def test_better_or_not_at_every_level() -> None:
    """In flavor a100 one workload of 4 GPUs goes: workloads is 1 and priority_weight is 2."""
    planning = start(two_flavors(), Given("ns/pending"))
    assert isinstance(planning, Planning)
    choices = choices_of(planning.case)
    ranked = candidates_under(planning, choices)
    (other,) = choices.others  # a100
    planning = planning.with_flavors(other, ranked)
    profile = Profile("mine", "", (("workloads",), ("priority_weight",)))
    planning.set_objective(profile)
    for values, expected in (
        ([1, 2, 1], True),
        ([1, 3, 1], False),
        ([2, 0, 1], False),
        ([1, 1, 9], True),
        ([0, 9, 9], True),
    ):
        claims = planning.claims(profile, ())
        assert proved_no_better(claims, profile, values, Deadline()) == expected, values
    nothing = planning.claims(profile, [(("priority_weight",), 1)])
    assert proved_no_better(nothing, profile, None, Deadline())
    assert not proved_no_better(planning.claims(profile, ()), profile, None, Deadline())
