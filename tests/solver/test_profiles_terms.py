"""Profiles over terms that only annotations and counters tell: the least over all legal sets.

The recorded lines have neither, so they get them at random; no rule of Kueue looks at them.
"""

import random
from collections.abc import Iterator
from copy import deepcopy

import pytest

import planner
from planner.errors import InputError, UnsupportedError
from planner.objective.annotation import PREFIX
from planner.objective.profiles import PROFILES, Profile
from tests import recorded
from tests.conftest import TEST_ALL, YUNIKORN
from tests.solver.truth import Truth
from tests.told import told

FILES = ("small-classical-flat", "small-classical-hier", "small-fair-flat")
STEP = 32 if TEST_ALL else 192
PROFILES_TESTED = (
    PROFILES["milestones"],
    PROFILES["weighted"],
    PROFILES["fewest-pods"],
    PROFILES["fair"],
    Profile("even", "no queue before another", levels=(("unfairness",), ("lost_work",))),
    Profile(
        "patient",
        "protected run time first",
        levels=(("cut_short",), ("unfairness",), ("workloads",)),
    ),
    Profile(
        "repeat",
        "repeat victims first",
        levels=(("past_preemptions",), ("pods",), ("candidate_order",)),
    ),
    Profile("order", "the head of the order", levels=(("candidate_order",),)),
)


def annotated(line: recorded.Line) -> recorded.Line:
    """Return a recorded line whose workloads tell milestones, tiers and earlier preemptions."""
    chance = random.Random(line["id"])  # noqa: S311 - test data
    line = deepcopy(line)
    for item in line["state"]["items"]:
        if item["kind"] != "Workload" or "admission" not in item.get("status", {}):
            continue
        costs = [chance.randint(0, 30) for _ in range(3)]
        item["metadata"].setdefault("annotations", {}).update(
            {
                PREFIX + "milestones": f"0s:{costs[0]},10m:{costs[1]},5h:{costs[2]}",
                PREFIX + "tier": chance.choice(["normal", "normal", "last"]),
                PREFIX + "min-runtime-seconds": str(chance.choice([0, 3600, 10_000, 500_000])),
            }
        )
        count = chance.randint(0, 3)
        item["status"]["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": count}]}
    return line


def annotated_truths(name: str) -> Iterator[Truth]:
    for line in recorded.lines(name, STEP):
        if line["expect"].get("exhaustive") and recorded.asks_the_state(line):
            line = annotated(line)  # noqa: PLW2901 - the same line, telling more
            truth = Truth(line, recorded.state_of(line))
            if truth.legal:
                yield truth


@pytest.mark.parametrize("name", FILES)
def test_optimum_is_the_first_of_the_best_legal_sets(name: str) -> None:
    compared = costly = early = 0
    for truth in annotated_truths(name):
        measured = truth.measured()
        for profile in PROFILES_TESTED:
            compared += 1
            plan = truth.solve(profile)
            assert plan.greedy is not None
            assert plan.status == "optimal", truth.id
            assert frozenset(plan.keys) == measured.canonical(profile, plan.greedy), truth.id
            costly += plan.terms["milestone_cost"] > 0
            early += plan.terms["cut_short"] > 0
    assert compared >= 5
    assert costly
    assert early


@pytest.mark.parametrize(
    "rates",
    [
        {"workloads": 600, "lost_work": 1},
        {"queues": 3, "pods": 2, "milestone_cost": 1},
        {"unfairness": 1, "highest_priority": 100, "workloads": 50},
    ],
)
@pytest.mark.parametrize("name", FILES)
def test_declared_rates_are_minimised_over_all_legal_sets(name: str, rates: dict[str, int]) -> None:
    profile = Profile("mine", "", (("rated",), ("workloads",)), rates=rates)
    compared = 0
    for truth in annotated_truths(name):
        measured = truth.measured()
        for victims, terms in measured.terms.items():
            rated = sum(rate * terms[term] for term, rate in rates.items())
            measured.terms[victims] = {**terms, "rated": rated}
        plan = truth.solve(profile)
        compared += 1
        assert plan.status == "optimal", truth.id
        assert plan.greedy is not None
        assert plan.terms["rated"] == measured.terms[frozenset(plan.keys)]["rated"]
        assert frozenset(plan.keys) == measured.canonical(profile, plan.greedy), truth.id
    assert compared


@pytest.mark.parametrize(
    "profile",
    [
        Profile("mine", "", (("workloads",),), rates={"workloads": 1}),
        Profile("mine", "", (("rated",),)),
        Profile("mine", "", (("workloads",),), (("rated",),)),
        Profile("mine", "", (("rated",),), rates={"milestone_cost": 1}),
    ],
)
def test_rates_and_what_counts_them_belong_together(profile: Profile) -> None:
    state = planner.read(YUNIKORN)
    with pytest.raises(InputError) as caught:
        planner.solve(state, state.pending[0], objective=profile)
    told(caught.value)


def test_rates_for_yunikorn() -> None:
    state = planner.read(YUNIKORN)
    profile = Profile(
        "mine", "", (("rated",),), rates={"workloads": 600, "queues": 1, "lost_work": 2}
    )
    plan = planner.solve(state, state.pending[0], objective=profile)
    terms = plan.terms
    assert plan.status == "optimal"
    assert terms["rated"] == 600 * terms["workloads"] + terms["queues"] + 2 * terms["lost_work"]


def test_yunikorn_has_no_milestones_and_says_so() -> None:
    state = planner.read(YUNIKORN)
    pending = state.pending[0]
    with pytest.raises(UnsupportedError) as caught:
        planner.solve(state, pending, objective="milestones")
    told(caught.value)
    for name in ("fewest-pods", "weighted", "kueue-like", "exact-fit", "fewest-tenants", "fair"):
        assert planner.solve(state, pending, objective=name).status == "optimal"
