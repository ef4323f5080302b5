"""Flavors chosen for least disruption, on clusters small enough to see the answer."""

from typing import Any

import pytest
from msgspec.structs import replace

import planner
from planner.errors import InputError
from planner.objective.profiles import PROFILES, Profile
from planner.objective.wishes import Wishes
from planner.plan.kueue import Plan
from planner.reference.kueue import permitted
from planner.state.kueue import State
from tests.flavored import GPU, Object, flavor, group, pending, podset, queue, running, state_of
from tests.told import told

FLAVORS = [flavor("h100"), flavor("a100")]
LEAST = "least-disruption"


def solve(state: State, objective: str | Profile = LEAST, time_limit: float | None = None) -> Plan:
    """Return the plan with the flavors chosen for least disruption; the verifier accepts it."""
    plan = planner.solve(state, objective=objective, time_limit=time_limit, flavors="optimal")
    assert planner.verify(state, plan).accepted
    return plan


def chosen(plan: Plan) -> dict[str, str]:
    """Return the flavor of each podset's GPUs."""
    return {pods.name: pods.flavors[GPU].flavor for pods in plan.assignment.pod_sets}


def two_small_or_one(priority_of_one: int = 0) -> list[list[Object]]:
    """Both flavors are full: of two workloads of 2 GPUs the one, of one of 4 the other."""
    return [
        *FLAVORS,
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("small-1", "q", "h100", 2),
        running("small-2", "q", "h100", 2),
        running("large", "q", "a100", 4, priority_of_one),
    ]


def test_one_victim_in_another_flavor_instead_of_two() -> None:
    """Both flavors need preemption in the own queue, so Kueue takes the one listed first."""
    plan = solve(state_of(*two_small_or_one(), pending("q", podset(4))))
    assert plan.status == "optimal"
    assert chosen(plan) == {"main": "a100"}
    assert plan.keys == ("ns/large",)
    assert plan.flavors is not None
    kueue = plan.flavors.kueue
    assert (plan.flavors.permitted, plan.flavors.examined, plan.flavors.complete) == (2, 2, True)
    assert kueue.assignment.pod_sets[0].flavors[GPU].flavor == "h100"
    assert set(kueue.victims) == {"ns/small-1", "ns/small-2"}
    assert (plan.terms["workloads"], kueue.terms["workloads"]) == (1, 2)
    assert plan.greedy is not None
    assert set(plan.greedy.keys) == {"ns/small-1", "ns/small-2"}
    assert "other flavors" in plan.explanation
    told(plan.explanation)


def test_nobody_in_another_flavor_instead_of_two() -> None:
    """Kueue stops at the first flavor in which it can preempt, and does not see the free one."""
    state = state_of(
        *FLAVORS,
        queue("q", group(h100=4, a100=4), within="LowerPriority", stops=True),
        running("small-1", "q", "h100", 2),
        running("small-2", "q", "h100", 2),
        pending("q", podset(4)),
    )
    plan = solve(state)
    assert (plan.status, chosen(plan), plan.victims) == ("optimal", {"main": "a100"}, ())
    assert plan.assignment.mode == "Fit"
    assert plan.flavors is not None
    assert plan.flavors.kueue.terms["workloads"] == 2


@pytest.mark.parametrize(("tolerates", "expected"), [("", "h100"), ("spot", "a100")])
def test_a_taint_forbids_a_flavor_unless_tolerated(tolerates: str, expected: str) -> None:
    _, _, *others = two_small_or_one()
    flavors = flavor("h100"), flavor("a100", taint="spot")
    plan = solve(state_of(*flavors, *others, pending("q", podset(4, tolerates=tolerates))))
    assert chosen(plan) == {"main": expected}
    assert plan.flavors is not None
    assert plan.flavors.permitted == (2 if tolerates else 1)


@pytest.mark.parametrize("together", ["", "gang"])
def test_podsets_of_one_group_get_one_flavor(together: str) -> None:
    """Two GPUs are free in each flavor: enough for one podset each, not for both in one."""
    state = state_of(
        *FLAVORS,
        queue("q", group(h100=4, a100=4), within="LowerPriority", stops=True),
        running("one", "q", "h100", 2),
        running("other", "q", "a100", 2),
        pending(
            "q", podset(2, "leader", together=together), podset(2, "workers", together=together)
        ),
    )
    plan = solve(state)
    if together:
        assert chosen(plan) == {"leader": "h100", "workers": "h100"}
        assert plan.keys == ("ns/one",)
    else:
        assert chosen(plan) == {"leader": "h100", "workers": "a100"}
        assert not plan.victims
        assert plan.flavors is not None
        assert plan.flavors.kueue.victims == ("ns/one",)
        # Leader and workers ask for the same: swapped, they are counted and not solved again.
        assert (plan.flavors.permitted, plan.flavors.distinct) == (4, 3)


def test_ranks_are_counted_among_the_candidates_of_all_flavors() -> None:
    """In each flavor alone its only candidate would have rank 1, and the first would win."""
    state = state_of(
        *FLAVORS,
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("important", "q", "h100", 4, 5),
        running("humble", "q", "a100", 4, 1),
        pending("q", podset(4)),
    )
    plan = solve(state)
    assert (chosen(plan), plan.keys) == ({"main": "a100"}, ("ns/humble",))
    assert plan.greedy is not None
    assert plan.flavors is not None
    scale = plan.terms, plan.greedy.terms, plan.flavors.kueue.terms
    assert [(terms["highest_priority"], terms["priority_weight"]) for terms in scale] == [
        (1, 2),
        (2, 4),
        (2, 4),
    ]


def test_caps_are_those_of_kueues_own_plan_under_its_own_flavors() -> None:
    """Two of lower priority instead of one: permitted, but no-regret promises at most one."""
    state = state_of(
        *FLAVORS,
        queue("q", group(h100=4, a100=4), within="LowerPriority"),
        running("important", "q", "h100", 4, 5),
        running("humble-1", "q", "a100", 2, 1),
        running("humble-2", "q", "a100", 2, 1),
        pending("q", podset(4)),
    )
    assert solve(state).keys == ("ns/humble-1", "ns/humble-2")
    plan = solve(state, "no-regret")
    assert (plan.status, plan.keys) == ("optimal", ("ns/important",))


@pytest.mark.parametrize(("priority", "dropped"), [(0, ""), (5, "highest victim priority")])
def test_caps_are_kept_where_some_flavors_can_keep_them(priority: int, dropped: str) -> None:
    """One eviction at most: Kueue's own flavors have no plan then, the others take one."""
    state = state_of(*two_small_or_one(priority), pending("q", podset(4)))
    objective = replace(PROFILES["no-regret"], name="one", wishes=Wishes(budget={"all": 1}))
    plan = solve(state, objective)
    assert (plan.status, plan.keys) == ("optimal", ("ns/large",))
    assert plan.flavors is not None
    assert plan.flavors.kueue.status == "infeasible"
    assert plan.flavors.examined == 2
    said = "outside the wishes of the objective, and no legal one within the caps"
    assert (said in plan.explanation) == bool(dropped)
    assert plan.explanation.endswith(f"matches its {dropped}" if dropped else "of flavors")


def test_a_plan_where_kueues_own_flavors_have_none() -> None:
    """The podsets in the order of Kueue's walk: the first takes what only the second can use."""
    flavors = flavor("h100"), flavor("a100", labels={"model": "a100"})
    pod_sets = podset(4, "any"), podset(4, "picky", selects={"model": "h100"})
    state = state_of(*flavors, queue("q", group(h100=4, a100=4)), pending("q", *pod_sets))
    assert planner.solve(state).status == "infeasible"
    plan = solve(state)
    assert (plan.status, chosen(plan)) == ("optimal", {"any": "a100", "picky": "h100"})
    assert plan.flavors is not None
    assert plan.flavors.kueue.status == "infeasible"
    assert plan.flavors.kueue.terms == {}


def test_infeasible_with_all_flavors() -> None:
    state = state_of(*two_small_or_one(20), pending("q", podset(4), priority=0))
    plan = solve(state)
    assert plan.status == "infeasible"
    told(plan.explanation)


def test_nothing_is_permitted() -> None:
    state = state_of(*two_small_or_one(), pending("q", podset(5)))
    plan = solve(state)
    assert plan.status == "infeasible"
    assert plan.flavors is not None
    assert (plan.flavors.permitted, plan.flavors.examined) == (0, 0)


def test_without_time_nothing_is_claimed() -> None:
    plan = solve(state_of(*two_small_or_one(), pending("q", podset(4))), time_limit=0)
    assert plan.status == "feasible"
    assert set(plan.keys) == {"ns/small-1", "ns/small-2"}
    assert plan.flavors is not None
    assert plan.flavors.examined == 1
    told(plan.explanation)
    assert plan.certificate is not None
    assert {level.bound for level in plan.certificate.levels} == {0}


def test_with_too_many_assignments_nothing_is_claimed_but_a_plan_without_victims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(permitted, "MOST", 1)
    plan = solve(state_of(*two_small_or_one(), pending("q", podset(4))))
    assert plan.status == "feasible"
    assert plan.flavors is not None
    assert not plan.flavors.complete
    told(plan.explanation)
    free = state_of(*FLAVORS, queue("q", group(h100=4, a100=4)), pending("q", podset(4)))
    assert solve(free).status == "optimal"


def test_flavors_and_a_fixed_assignment_exclude_each_other() -> None:
    state = state_of(*two_small_or_one(), pending("q", podset(4)))
    fixed = {"main": {GPU: {"flavor": "h100", "mode": "Preempt"}}}
    with pytest.raises(InputError) as caught:
        planner.solve(state, assignment=fixed, flavors="optimal")
    told(caught.value)
    wrong: Any = "best"
    with pytest.raises(InputError) as caught:
        planner.solve(state, flavors=wrong)
    told(caught.value)
