"""The objective ``kueue-like``: the fewest victims of the highest priority, then of the next."""

from pathlib import Path

import pytest

import planner
from planner.errors import SchemaError
from planner.objective.profile_file import read_profile
from planner.objective.profiles import Profile
from planner.plan import AnyPlan
from planner.plan.kueue import Plan
from planner.plan.yunikorn import YuniKornPlan
from planner.state.kueue import State
from tests.cluster import PENDING, pending, queue, running, state_of
from tests.told import told
from tests.yunikorn.building import state_of as yunikorn_state_of
from tests.yunikorn.random_clusters import random_cluster

NAME = "kueue-like"


def levels_of(plan: AnyPlan) -> dict[str, int]:
    assert plan.certificate is not None
    return {level.term: level.value for level in plan.certificate.levels}


def certified(plan: AnyPlan) -> bool:
    assert plan.certificate is not None
    return all(level.proof == "certified" for level in plan.certificate.levels)


def high_or_mid() -> State:
    """Eight are needed: the high one with the mid one, or with all three low ones."""
    lows = [running(f"low-{number}", "q", 1, 1, minute=number) for number in range(3)]
    return state_of(
        queue("q", 11, within="LowerPriority"),
        running("high", "q", 5, 100, minute=1),
        running("mid", "q", 3, 50, minute=2),
        *lows,
        pending("q", 8, 1000),
    )


def test_one_of_a_higher_priority_weighs_more_than_many_of_a_lower() -> None:
    """By the sum of 2^rank the high one with the mid one would be less: 12 instead of 14."""
    state = high_or_mid()
    plan = planner.solve(state, PENDING, objective=NAME)
    assert set(plan.keys) == {"ns/high", "ns/low-0", "ns/low-1", "ns/low-2"}
    assert levels_of(plan) == {
        "victims@100": 1,
        "victims@50": 0,
        "victims@1": 3,
        "run_time": 4 * 3600 - 60 * (1 + 0 + 1 + 2),
        "workloads": 4,
        "victims": 4,
    }
    assert certified(plan)
    assert planner.check(state, plan).accepted
    other = planner.solve(
        state, PENDING, objective=Profile("sums", "", (("highest_priority",), ("priority_weight",)))
    )
    assert set(other.keys) == {"ns/high", "ns/mid"}


def test_ranks_above_the_twentieth_are_told_apart() -> None:
    """priority_weight weighs rank 21 as much as rank 25, which ran for less time."""
    small = [running(f"small-{rank}", "q", 1, rank) for rank in range(1, 21)]
    large = [running(f"large-{rank}", "q", 4, rank, minute=rank) for rank in range(21, 26)]
    state = state_of(queue("q", 40, within="LowerPriority"), *small, *large, pending("q", 24, 1000))
    plan = planner.solve(state, PENDING, objective=NAME)
    levels = levels_of(plan)
    assert list(levels)[:25] == [f"victims@{rank}" for rank in range(25, 0, -1)]
    assert [rank for rank in range(1, 26) if levels[f"victims@{rank}"]] == list(range(1, 22))
    assert certified(plan)
    assert planner.check(state, plan).accepted
    sums = Profile("sums", "", (("priority_weight",), ("run_time",)))
    assert "ns/large-25" in planner.solve(state, PENDING, objective=sums).keys


def test_workloads_of_a_priority_below_zero_and_those_on_their_way_out() -> None:
    """What is being evicted already is none of the victims that count."""
    state = state_of(
        queue("q", 3, within="LowerPriority"),
        running("going", "q", 1, 7, evicted=True),
        running("below", "q", 1, -5),
        running("zero", "q", 1, 0),
        pending("q", 2, 10),
    )
    plan = planner.solve(state, PENDING, objective=NAME)
    assert set(plan.keys) == {"ns/going", "ns/below"}
    levels = levels_of(plan)
    assert [levels[f"victims@{p}"] for p in (7, 0, -5)] == [0, 0, 1]
    assert isinstance(plan, Plan)
    assert [term for term in plan.terms if term.startswith("victims@")] == list(levels)[:3]
    assert not any("@" in term for victim in plan.victims for term in victim.costs)


def test_a_changed_level_or_value_is_refused() -> None:
    state = high_or_mid()
    plan = planner.solve(state, PENDING, objective=NAME)
    certificate = plan.certificate
    assert certificate is not None
    first, second, *rest = certificate.levels
    for levels in (
        (second, *rest),
        (second, first, *rest),
        (first.model_copy(update={"term": "victims@99"}), second, *rest),
        (first.model_copy(update={"term": "victims@0100"}), second, *rest),
        (first.model_copy(update={"value": 0, "bound": 0}), second, *rest),
    ):
        forged = certificate.model_copy(update={"levels": levels})
        assert not planner.check(state, plan.model_copy(update={"certificate": forged})).accepted


def test_adjusted_priorities_of_yunikorn() -> None:
    """The levels are those of the candidates' adjusted priorities, and count the victims."""
    found = offsets = 0
    for seed in range(60):
        state = yunikorn_state_of(random_cluster(seed, plain=False))
        plan = planner.solve(state, "ask", objective=NAME)
        if not plan.victims:
            continue
        assert isinstance(plan, YuniKornPlan)
        assert plan.status == "optimal"
        adjusted = [victim.adjusted_priority for victim in plan.victims]
        levels = levels_of(plan)
        each = {term: value for term, value in levels.items() if term.startswith("victims@")}
        assert each == {term: adjusted.count(int(term.partition("@")[2])) for term in each}
        assert sum(each.values()) == len(adjusted)
        assert certified(plan), seed
        assert planner.check(state, plan).accepted, seed
        found += 1
        offsets += adjusted != [victim.priority for victim in plan.victims]
    assert found
    assert offsets


def test_explanations_flavors_and_stability_know_the_levels() -> None:
    state = high_or_mid()
    why = planner.explain(state, PENDING, "ns/low-0", objective=NAME)
    assert why.alternative is not None
    differing = {one.term: (one.plan, one.other) for one in why.alternative.terms if one.level}
    assert differing["victims@50"] == (0, 1)
    told(why.answer)
    chosen = planner.solve(state, PENDING, objective=NAME, flavors="optimal")
    plain = planner.solve(state, PENDING, objective=NAME)
    assert chosen.keys == plain.keys
    assert planner.solve(state, PENDING, objective=NAME, stable=True).keys == plain.keys
    joint = planner.solve_joint(state, [PENDING], NAME)
    assert {gone.workload for step in joint.steps for gone in step.victims} == set(plain.keys)


def test_a_profile_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('levels = ["last_resort", "victims@each", "lost_work"]', encoding="utf-8")
    plan = planner.solve(high_or_mid(), PENDING, objective=str(path))
    assert list(levels_of(plan)) == [
        "last_resort",
        "victims@100",
        "victims@50",
        "victims@1",
        "lost_work",
        "victims",
    ]


@pytest.mark.parametrize(
    "text",
    [
        'levels = ["workloads+victims@each"]',
        'levels = ["workloads"]\ncaps = ["workloads+victims@each"]',
        'levels = ["rated"]\n[rates]\n"victims@each" = 2',
    ],
)
def test_a_family_is_no_number(tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match="victims@each"):
        read_profile(path)


@pytest.mark.parametrize(
    "profile",
    [
        Profile("mine", "", (("workloads", "victims@each"),)),
        Profile("mine", "", (("victims@each",),), (("workloads", "victims@each"),)),
        Profile("mine", "", (("rated",),), rates={"victims@each": 1}),
    ],
)
def test_a_family_is_no_number_in_python_either(profile: Profile) -> None:
    with pytest.raises(SchemaError) as caught:
        planner.solve(high_or_mid(), PENDING, objective=profile)
    told(caught.value)


def test_a_front_of_a_family_is_refused() -> None:
    with pytest.raises(SchemaError) as caught:
        planner.front(high_or_mid(), PENDING, "victims@each", "lost_work")
    told(caught.value)
