"""PodDisruptionBudgets as kubectl prints them, and what they permit; by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.errors import InputError
from planner.objective.profiles import Profile
from planner.state.kueue import State
from tests import kueue_state
from tests.cluster import NOW, PENDING, pending, queue, running, state_of
from tests.told import told
from tests.yunikorn.building import state_of as yunikorn_state_of
from tests.yunikorn.random_clusters import random_cluster

BUDGET: dict[str, Any] = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {
        "creationTimestamp": "2026-05-01T11:00:00Z",
        "generation": 1,
        "name": "keep",
        "namespace": "ns",
        "resourceVersion": "417",
        "uid": "4a7f5f3e-3a5b-4b53-a4fd-0c86dcd1f6d1",
    },
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "db"}}},
    "status": {
        "conditions": [
            {
                "lastTransitionTime": "2026-05-01T11:01:00Z",
                "message": "",
                "observedGeneration": 1,
                "reason": "SufficientPods",
                "status": "True",
                "type": "DisruptionAllowed",
            }
        ],
        "currentHealthy": 3,
        "desiredHealthy": 2,
        "disruptionsAllowed": 1,
        "expectedPods": 3,
        "observedGeneration": 1,
    },
}
KUBE = "kube-like"


def labelled(name: str, priority: int, app: str) -> dict[str, Any]:
    (item,) = running(name, "a", 1, priority)
    item["spec"]["podSets"][0]["template"]["metadata"] = {"labels": {"app": app}}
    return item


def cluster(*budgets: dict[str, Any]) -> State:
    """Two of five must go: three of a database with priority 1, two others with priority 2."""
    databases = [labelled(f"db-{number}", 1, "db") for number in range(3)]
    others = [labelled(f"web-{number}", 2, "web") for number in range(2)]
    parts = (queue("a", 5, within="LowerPriority"), databases, others, pending("a", 2, 9))
    return state_of(*parts, list(budgets))


def beyond(state: State, objective: str | Profile = KUBE) -> tuple[set[str], int]:
    plan = planner.solve(state, PENDING, objective)
    return {key[3:7] for key in plan.keys}, plan.terms["disruption_budgets"]


def test_budgets_come_before_priorities() -> None:
    """One of the database may go; for the second one of a higher priority goes instead."""
    plan = planner.solve(cluster(BUDGET), PENDING, KUBE)
    assert sorted(key[3:6] for key in plan.keys) == ["db-", "web"]
    assert plan.terms["disruption_budgets"] == 0
    assert plan.terms["priority_sum"] == 3 + 2 * 2**31
    assert plan.greedy is not None
    assert plan.greedy.terms["disruption_budgets"] == 1  # Kueue takes two of the database
    without = planner.solve(cluster(), PENDING, KUBE)
    assert sorted(key[3:6] for key in without.keys) == ["db-", "db-"]
    assert without.terms["disruption_budgets"] == 0


@pytest.mark.parametrize(
    ("spec", "excess"),
    [
        ({"minAvailable": 2}, 1),
        ({"minAvailable": "34%"}, 1),  # 1.02 of three, rounded up: two must stay
        ({"minAvailable": "33%"}, 0),
        ({"maxUnavailable": 2}, 0),
        ({"maxUnavailable": "33%"}, 1),  # 0.99, rounded up: one may go
        ({"maxUnavailable": "34%"}, 0),
        ({}, 2),
    ],
)
def test_without_a_status_it_is_worked_out(spec: dict[str, Any], excess: int) -> None:
    selector = {"selector": {"matchLabels": {"app": "db"}}}
    budget = {**BUDGET, "spec": {**spec, **selector}, "status": {}}
    fewest = Profile("low", "", (("priority_sum",),))
    assert beyond(cluster(budget), fewest)[1] == excess


def test_budgets_of_other_namespaces_and_without_selector_cover_nothing() -> None:
    other = {**BUDGET, "metadata": {"name": "keep", "namespace": "other"}}
    none = {**BUDGET, "spec": {"minAvailable": 3}}
    assert beyond(cluster(other, none))[1] == 0
    everything = {**BUDGET, "spec": {"selector": {}}, "status": {"disruptionsAllowed": 0}}
    assert beyond(cluster(everything))[1] == 2


def test_a_dump_as_kubectl_prints_it(tmp_path: Path) -> None:
    objects = [*cluster_objects(), BUDGET]
    path = tmp_path / "dump.json"
    path.write_text(
        json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8"
    )
    state = kueue_state.read(path, now=NOW)
    (budget,) = state.pod_disruption_budgets
    assert budget.status.disruptions_allowed == 1
    for bad in ({"minAvailable": "many"}, {"maxUnavailable": -1}, {"minAvailable": "101%"}):
        objects[-1] = {**BUDGET, "spec": bad}
        path.write_text(json.dumps({"kind": "List", "items": objects}), encoding="utf-8")
        with pytest.raises(InputError, match="PodDisruptionBudget"):
            planner.read(path, now=NOW)


def cluster_objects() -> list[dict[str, Any]]:
    return [labelled("db-0", 1, "db"), *queue("a", 1)]


def test_yunikorn_knows_no_budgets() -> None:
    state = yunikorn_state_of(random_cluster(0, plain=True))
    with pytest.raises(InputError) as caught:
        planner.solve(state, objective=KUBE)
    told(caught.value)
