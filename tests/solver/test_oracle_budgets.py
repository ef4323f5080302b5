"""``kube-like``, and PodDisruptionBudgets as a level, a cap and a rate, beside enumeration."""

import random
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from planner.commands.check.plan import check
from planner.objective.profiles import PROFILES, Profile
from planner.reader.kueue import read_kueue_objects
from tests.conftest import TEST_ALL
from tests.oracle.random_states import NOW, PENDING, RandomState, random_state
from tests.solver.oracle_difference import differences, enumerated
from tests.solver.ways import solve

STATES = 1000 if TEST_ALL else 24
LABELS: list[dict[str, str]] = [{}, {"app": "a"}, {"app": "b"}, {"app": "a", "tier": "x"}]
SELECTORS: list[dict[str, Any] | None] = [
    None,
    {},
    {"matchLabels": {"app": "a"}},
    {"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]},
    {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
]
SPECS: list[dict[str, Any]] = [
    {"minAvailable": 1},
    {"minAvailable": "60%"},
    {"maxUnavailable": 1},
    {"maxUnavailable": "35%"},
    {"maxUnavailable": 0},
    {},
]


def budgeted(seed: int) -> RandomState:
    """Return a random state whose podsets have labels, with some PodDisruptionBudgets."""
    state, chance = random_state(seed), random.Random(f"budgets/{seed}")  # noqa: S311 - test data
    objects = deepcopy(state.objects)
    for item in objects:
        if item["kind"] == "Workload":
            for pod_set in item["spec"]["podSets"]:
                pod_set["template"]["metadata"] = {"labels": chance.choice(LABELS)}
    for number in range(chance.randint(1, 3)):
        spec, selector = dict(chance.choice(SPECS)), chance.choice(SELECTORS)
        if selector is not None:
            spec["selector"] = selector
        status = {"disruptionsAllowed": chance.randint(0, 3)} if chance.random() < 0.4 else {}
        name = {"name": f"budget-{number}", "namespace": chance.choice(["team", "team", "other"])}
        budget = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
        objects.append({**budget, "metadata": name, "spec": spec, "status": status})
    return replace(state, objects=objects)


def test_kube_like_and_every_term_are_what_enumeration_says() -> None:
    found = [said for seed in range(STATES) for said in differences(budgeted(seed), ["kube-like"])]
    wrong = [said for said in found if not said.startswith("refused")]
    assert not wrong, "\n".join(wrong)
    assert len(found) <= STATES // 10


@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (Profile("mine", "", (("lost_work",),), caps=(("disruption_budgets",),)), "lost_work"),
        (
            Profile("mine", "", (("disruption_budgets", "pods"), ("lost_work",))),
            "disruption_budgets+pods lost_work",
        ),
    ],
)
def test_budgets_as_caps_and_in_sums(profile: Profile, order: str) -> None:
    compared = beyond = 0
    for seed in range(0, STATES, 2):
        state = budgeted(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        plan = solve(read, PENDING, profile, assignment=state.assignment)
        sets = enumerated(state, plan)
        if sets is None or not plan.keys:
            continue
        greedy = sets.legal.mask(frozenset(plan.greedy.keys)) if plan.greedy else 0
        best = sets.best("", greedy or None, order, "disruption_budgets" if profile.caps else "")
        assert best is not None
        assert list(plan.keys) == sets.legal.keys(best.victims), seed
        compared += 1
        beyond += plan.terms["disruption_budgets"] > 0
    assert compared > (10 if TEST_ALL else 6)
    assert beyond > (2 if TEST_ALL else 0)


def test_trees_certify_budgets() -> None:
    certified = 0
    for seed in range(STATES):
        state = budgeted(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        plan = solve(read, PENDING, "kube-like", assignment=state.assignment)
        if plan.certificate is None or not plan.victims or not plan.terms["disruption_budgets"]:
            continue
        assert plan.certificate.levels[0].term == "disruption_budgets"
        if plan.certificate.levels[0].proof == "certified":
            certified += 1
            first = check(read, plan, PROFILES["kube-like"], assignment=state.assignment).claims
            assert all(claim.certified for claim in first if claim.claim == "disruption_budgets")
    assert certified > (3 if TEST_ALL else 1)
