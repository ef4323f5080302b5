"""Quota for pods: Kueue's search does not look at them, the cycle that would evict does.

docs/semantics/kueue-features.md §5.
"""

from collections.abc import Iterable
from typing import Any

import planner
from planner.plan.kueue import Plan
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.solver.kueue.start import start
from planner.solver.start import Given
from tests.cluster import PENDING, Object, pending, queue, running, state_of
from tests.reference.cycles import ran, story
from tests.told import told


def of_pods(parts: Iterable[Object], count: int) -> list[Object]:
    """Return a workload of some pods, each of which asks for what the one asked for."""
    (workload,) = parts
    (pods,) = workload["spec"]["podSets"]
    spec = {**workload["spec"], "podSets": [{**pods, "count": count}]}
    return [{**workload, "spec": spec}]


NEW = of_pods(pending("a", 0), 4)


def cluster(pods: int, *victims: list[Object], **policies: Any) -> list[list[Object]]:
    """Return a queue with a quota of pods, and who holds some of it."""
    policies = {"within": "LowerPriority", **policies}
    return [queue("a", {"gpu": 8, "pods": pods}, **policies), *victims, NEW]


def holds(name: str, pods: int, minute: int = 0) -> list[Object]:
    return running(name, "a", {"gpu": 0, "pods": pods}, minute=minute)


TWO = cluster(4, holds("x", 2), holds("y", 2, 1))


def solved(parts: Iterable[Iterable[Object]]) -> tuple[Plan, Plan]:
    plan: Plan = planner.solve(state_of(*parts), PENDING)
    assert plan.greedy is not None
    return plan, plan.greedy


def test_the_search_ends_with_the_first_victim() -> None:
    state = state_of(*TWO)
    snapshot = take_snapshot(state)
    decision = decide(snapshot, find_preemptor(state, snapshot, PENDING))
    assert [target.workload.key for target in decision.search.targets] == ["ns/y"]
    assert story(ran(*TWO)) == ["pending skipped y"]


def test_the_plan_frees_enough_pods_where_kueue_waits_for_ever() -> None:
    plan, greedy = solved(TWO)
    assert (plan.status, set(plan.keys)) == ("optimal", {"ns/x", "ns/y"})
    assert greedy.keys == ("ns/y",)
    assert [law.split()[0] for law in greedy.outside_rules] == ["KQ-01"]
    assert plan.held_back is not None
    assert (plan.held_back.why, plan.held_back) == ("tooFewPods", greedy.held_back)
    told(plan.notes[-1])
    assert {one.resource: one.requested for one in plan.demand}["pods"] == 4
    # That one victim never frees enough, so that caps had to be dropped, is shown by trees.
    found = planner.check(state_of(*TWO), plan)
    assert all(one.holds for one in found.verdicts)
    assert all(one.certified for one in found.claims)
    assert any(one.claim.startswith("cap of ") for one in found.claims)


def test_enough_pods_are_no_obstacle() -> None:
    plan, greedy = solved(cluster(4, holds("x", 4)))
    assert plan.keys == greedy.keys == ("ns/x",)
    assert (greedy.outside_rules, plan.held_back) == ((), None)


def test_nobody_can_free_enough() -> None:
    plan, greedy = solved(cluster(4, holds("x", 2), running("high", "a", {"pods": 2}, 99)))
    assert (plan.status, greedy.keys) == ("infeasible", ("ns/x",))


def test_pods_that_are_free_need_no_victim() -> None:
    plan, _ = solved(cluster(8, holds("x", 4)))
    assert (plan.status, plan.keys) == ("optimal", ())


def test_the_request_of_the_search_has_no_pods() -> None:
    problem = start(state_of(*TWO), Given(pending=PENDING)).problem
    by_name = {fr.resource: n for fr, n in zip(problem.frs, problem.request, strict=True)}
    searched = {fr.resource: n for fr, n in zip(problem.frs, problem.searched, strict=True)}
    assert (by_name["pods"], searched["pods"]) == (4, 0)
