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
from tests.conftest import YUNIKORN
from tests.solver.truth import Truth

FILES = ("small-classical-flat", "small-classical-hier", "small-fair-flat")
STEP = 32
PROFILES_TESTED = (
    PROFILES["milestones"],
    PROFILES["weighted"],
    PROFILES["fewest-pods"],
    PROFILES["fair"],
    Profile("even", "no queue before another", levels=(("D9",), ("D4",))),
    Profile("patient", "protected run time first", levels=(("early",), ("D9",), ("D2",))),
    Profile("repeat", "repeat victims first", levels=(("D10",), ("D2p",), ("D12",))),
    Profile("order", "the head of the order", levels=(("D12",),)),
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
            costly += plan.terms["D6"] > 0
            early += plan.terms["early"] > 0
    assert compared >= 5
    assert costly
    assert early


@pytest.mark.parametrize(
    "rates", [{"D2": 600, "D4": 1}, {"D8": 3, "D2p": 2, "D6": 1}, {"D9": 1, "D1": 100, "D2": 50}]
)
@pytest.mark.parametrize("name", FILES)
def test_declared_rates_are_minimised_over_all_legal_sets(name: str, rates: dict[str, int]) -> None:
    profile = Profile("mine", "", (("rated",), ("D2",)), rates=rates)
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
    ("profile", "message"),
    [
        (Profile("mine", "", (("D2",),), rates={"D2": 1}), "mine: it has rates, but minimises no"),
        (Profile("mine", "", (("rated",),)), 'mine: "rated" has no rates'),
        (Profile("mine", "", (("D2",),), (("rated",),)), 'mine: "rated" has no rates'),
        (
            Profile("mine", "", (("rated",),), rates={"D6": 1}),
            r"mine: D6 \(milestone cost\) cannot",
        ),
    ],
)
def test_rates_and_what_counts_them_belong_together(profile: Profile, message: str) -> None:
    state = planner.read(YUNIKORN)
    with pytest.raises(InputError, match=message):
        planner.solve(state, state.pending[0], objective=profile)


def test_rates_for_yunikorn() -> None:
    state = planner.read(YUNIKORN)
    profile = Profile("mine", "", (("rated",),), rates={"D2": 600, "D8": 1, "D4": 2})
    plan = planner.solve(state, state.pending[0], objective=profile)
    terms = plan.terms
    assert plan.status == "optimal"
    assert terms["rated"] == 600 * terms["D2"] + terms["D8"] + 2 * terms["D4"]


def test_yunikorn_has_no_milestones_and_says_so() -> None:
    state = planner.read(YUNIKORN)
    pending = state.pending[0]
    with pytest.raises(UnsupportedError, match=r"objective milestones: D6 \(milestone cost\)"):
        planner.solve(state, pending, objective="milestones")
    for name in ("fewest-pods", "weighted", "kueue-like", "exact-fit", "fewest-tenants", "fair"):
        assert planner.solve(state, pending, objective=name).status == "optimal"
