"""The options of KEP-83: as text, as a record, and where they cannot be used."""

from typing import Any

import pytest

import planner
from planner.errors import InputError, SchemaError, UnsupportedError
from planner.research.kep83.options import Kep83, parse_rules
from planner.state.kueue import State
from planner.state.queues import Preemption
from tests.cluster import PENDING, fair_sharing, pending, queue, running, state_of
from tests.conftest import YUNIKORN
from tests.told import told


def borrowed(*more: list[dict[str, object]]) -> State:
    """Queue b borrows what queue a wants back."""
    return state_of(
        queue("a", 2, "org", reclaim="Any"),
        queue("b", 1, "org"),
        running("b1", "b", 1),
        running("b2", "b", 2, minute=5),
        pending("a", 2),
        *more,
    )


def test_defaults_are_those_of_the_text() -> None:
    """ClusterQueue API changes: both policies Never; Alternatives: the order when it is empty."""
    options = Kep83()
    assert options.within_cohort(Preemption()) == "Never"
    assert options.within_cluster_queue(Preemption()) == "Never"
    assert options.criteria == Kep83(order=()).criteria == ("ByLowestPriority", "ByLowestRuntime")
    assert (options.wait, options.borrows) == (0, False)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("kep83", Kep83()),
        ("kep83:wait=300", Kep83(wait=300)),
        ("kep83:cohort=ReclaimFromAny,queue=Never", Kep83(cohort="ReclaimFromAny", queue="Never")),
        (
            "kep83:order=ByLongestRuntime+ByLowestPriority",
            Kep83(order=("ByLongestRuntime", "ByLowestPriority")),
        ),
    ],
)
def test_text_and_back(text: str, options: Kep83) -> None:
    assert parse_rules(text) == options
    assert options.text == text
    assert Kep83.model_validate_json(options.model_dump_json()) == options


def test_both_names_of_the_text_for_one_policy() -> None:
    assert parse_rules("kep83:cohort=ReclaimAny") == parse_rules("kep83:cohort=ReclaimFromAny")


def test_the_default_order_said_is_the_default_order() -> None:
    assert parse_rules("kep83:order=ByLowestPriority+ByLowestRuntime").text == "kep83"


@pytest.mark.parametrize(
    "text",
    [
        "kep84",
        "",
        "kep83:",
        "kep83:wait",
        "kep83:speed=1",
        "kep83:wait=1,wait=2",
        "kep83:wait=-1",
        "kep83:wait=soon",
        "kep83:cohort=Any",
        "kep83:queue=ReclaimFromAny",
        "kep83:order=ByName+ByLowestPriority",
    ],
)
def test_what_cannot_be_used(text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        planner.greedy(borrowed(), PENDING, rules=text)
    told(caught.value)


def test_what_is_no_text() -> None:
    wrong: Any = {"wait": 5}
    with pytest.raises(SchemaError) as caught:
        planner.solve(borrowed(), PENDING, rules=wrong)
    told(caught.value)


def test_options_stand_in_the_plan_as_text() -> None:
    plan = planner.solve(borrowed(), PENDING, rules="kep83:wait=0,order=ByLongestRuntime")
    assert plan.keys == ("ns/b2",)
    assert (plan.rules, plan.rule_options) == ("kep83", "kep83:order=ByLongestRuntime")
    assert not planner.solve(borrowed(), PENDING).rule_options


def test_fair_sharing_is_not_looked_at() -> None:
    """Kueue would compare shares here; the verifier judges the plan in the state as it is."""
    state = borrowed(fair_sharing())
    plan = planner.solve(state, PENDING, rules="kep83")
    assert (plan.rules, plan.shares) == ("kep83", ())
    assert plan.keys == planner.solve(borrowed(), PENDING, rules="kep83").keys
    assert planner.verify(state, plan).accepted


def test_front_by_these_rules() -> None:
    front = planner.front(borrowed(), PENDING, "workloads", "lost_work", rules="kep83")
    assert [point.plan.rules for point in front.points] == ["kep83"]


def test_what_is_for_kueue_alone() -> None:
    state = borrowed()
    with pytest.raises(InputError) as caught:
        planner.solve(state, PENDING, rules="kep83", flavors="optimal")
    told(caught.value)
    with pytest.raises(InputError) as caught:
        planner.solve(state, PENDING, rules="kep83", stability=True)
    told(caught.value)
    with pytest.raises(InputError) as caught:
        planner.solve(state, PENDING, rules="kep83", stable=True)
    told(caught.value)
    with pytest.raises(UnsupportedError, match="unstable"):
        planner.solve(state, PENDING, "stable", rules="kep83")


def test_yunikorn_has_no_rules_to_choose() -> None:
    with pytest.raises(InputError) as caught:
        planner.greedy(planner.read(YUNIKORN), rules="kep83")
    told(caught.value)
