"""KQ-01: after all victims are gone, every requested flavor-resource is available."""

from __future__ import annotations

import pytest

from planner.assignment import Assignment
from planner.state import State
from tests.verifier.cases import (
    GPU,
    OWN,
    RECLAIM,
    assigned,
    broken,
    cluster,
    cohort,
    plan_of,
    policies,
    queue,
    running,
    verdicts,
    waiting,
)


def own_queue(asked: int = 4) -> State:
    return cluster(
        queue("mine", 6, preemption=policies(within="LowerPriority")),
        running("a", "mine", 2),
        running("b", "mine", 4),
        waiting("incoming", asked, priority=10),
    )


def test_exactly_enough_is_permitted() -> None:
    state = own_queue()
    assert not broken(state, plan_of(state, ("b", OWN)))


def test_too_little_is_forbidden() -> None:
    state = own_queue()
    plan = plan_of(state, ("a", OWN))
    assert broken(state, plan) == ["KQ-01"]
    assert verdicts(state, plan)["KQ-01"].detail == (
        "asks for 4 nvidia.com/gpu in flavor h200, 2 available to ClusterQueue mine"
    )


def test_more_victims_than_needed_are_legal() -> None:
    state = own_queue()
    assert not broken(state, plan_of(state, ("a", OWN), ("b", OWN)))


def borrower(limit: int | None, lending: int | None) -> State:
    return cluster(
        cohort("all"),
        queue("mine", 2, "all", borrowing=limit, preemption=policies(reclaim="Any")),
        queue("other", 4, "all", lending=lending),
        running("a", "other", 4),
        running("b", "other", 2),
        waiting("incoming", 2, priority=10),
    )


def test_a_borrowing_limit_counts() -> None:
    """Without victims 0 of 6 are free; the request is 4 of which 2 would be borrowed."""
    for limit, forbidden in ((None, []), (2, []), (1, ["KQ-01"])):
        state = cluster(
            cohort("all"),
            queue("mine", 2, "all", borrowing=limit),
            queue("other", 4, "all"),
            running("a", "other", 2),
            waiting("incoming", 4, priority=10),
        )
        plan = plan_of(state, borrowing=None, assignment=assigned("Fit"))
        assert broken(state, plan) == forbidden, limit


def test_a_lending_limit_counts() -> None:
    for lending, forbidden in ((None, []), (2, []), (1, ["KQ-01"])):
        state = cluster(
            cohort("all"),
            queue("mine", 2, "all"),
            queue("other", 4, "all", lending=lending),
            waiting("incoming", 4, priority=10),
        )
        plan = plan_of(state, borrowing=None, assignment=assigned("Fit"))
        assert broken(state, plan) == forbidden, lending


def test_victims_of_other_queues_free_what_they_borrow() -> None:
    state = borrower(None, None)
    assert not broken(state, plan_of(state, ("b", RECLAIM), borrowing=False))


def test_nothing_to_evict_still_has_to_fit() -> None:
    state = own_queue()
    plan = plan_of(state, borrowing=None, assignment=assigned("Fit"))
    assert broken(state, plan) == ["KQ-01"]


@pytest.mark.parametrize(
    "assignment",
    [
        {"mode": "Preempt", "podSets": []},
        {"mode": "Preempt", "podSets": [{"name": "main", "flavors": {}}]},
        {
            "mode": "Preempt",
            "podSets": [{"name": "else", "flavors": {GPU: {"flavor": "h200"}}}],
        },
        {
            "mode": "Preempt",
            "podSets": [{"name": "main", "count": 0, "flavors": {GPU: {"flavor": "h200"}}}],
        },
        {
            "mode": "NoFit",
            "podSets": [{"name": "main", "count": 1, "flavors": {GPU: {"flavor": "h200"}}}],
        },
    ],
    ids=["no podsets", "no flavors", "other podset", "no pods", "no fit"],
)
def test_an_assignment_that_forgets_the_request_is_forbidden(assignment: object) -> None:
    """Otherwise nothing would be asked for; here, all that is asked for would fit."""
    state = cluster(queue("mine", 6), waiting("incoming", 4))
    plan = plan_of(state, borrowing=None, assignment=Assignment.model_validate(assignment))
    assert broken(state, plan) == ["KQ-01"]


@pytest.mark.parametrize(
    ("strategy", "forbidden"), [("BlockUndeclared", ["KQ-01"]), ("IgnoreUndeclared", [])]
)
def test_resources_without_quota_may_be_ignored(strategy: str, forbidden: list[str]) -> None:
    incoming = waiting("incoming", 4)
    pods = incoming["spec"]["podSets"][0]["template"]["spec"]
    pods["containers"][0]["resources"]["requests"]["example.com/license"] = 1
    configuration = {"kind": "Configuration", "resources": {"quotaCheckStrategy": strategy}}
    state = cluster(
        queue("mine", 6),
        incoming,
        {"apiVersion": "config.kueue.x-k8s.io/v1beta2", **configuration},
    )
    plan = plan_of(state, borrowing=None, assignment=assigned("Fit"))
    assert broken(state, plan) == forbidden


@pytest.mark.parametrize(
    ("count", "least", "forbidden"),
    [(3, None, []), (2, None, ["KQ-01"]), (2, 2, []), (1, 2, ["KQ-01"]), (4, 2, ["KQ-01"])],
)
def test_only_partial_admission_reduces_the_count(
    count: int, least: int | None, forbidden: list[str]
) -> None:
    incoming = waiting("incoming", 1)
    incoming["spec"]["podSets"][0] |= {"count": 3, "minCount": least}
    state = cluster(queue("mine", 6), incoming)
    pods = {"name": "main", "count": count, "flavors": {GPU: {"flavor": "h200", "mode": "Fit"}}}
    assignment = Assignment.model_validate({"mode": "Fit", "podSets": [pods]})
    assert broken(state, plan_of(state, borrowing=None, assignment=assignment)) == forbidden


def test_a_flavor_nobody_has_quota_for_is_forbidden() -> None:
    state = own_queue()
    plan = plan_of(state, borrowing=None, assignment=assigned("Fit", flavor="unheard-of"))
    assert broken(state, plan) == ["KQ-01"]
