"""The optimum is the least over the recorded legal sets, and never worse than Kueue's answer."""

import pytest

import planner
from planner.objective.profiles import PROFILES
from tests import recorded
from tests.conftest import TEST_ALL, recorded_root
from tests.solver.truth import truths
from tests.solver.ways import solve

CLASSICAL = (
    "small-classical-flat",
    "small-classical-nocohort",
    "small-classical-hier",
    "small-flavors",
    "small-edge",
)
FAIR = ("small-fair-flat", "small-fair-hier", "small-flavors", "small-edge")
EVERY = 1 if TEST_ALL else 45
"""A good sample by default; all lines with PLANNER_TEST_ALL set."""

BOTH = {"small-flavors", "small-edge"}
"""Files whose lines are some with fair sharing, some without."""

SEEDS = range(3 if TEST_ALL else 1)
FILES = [(name, False) for name in CLASSICAL] + [(name, True) for name in FAIR]


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_min_count_and_min_cost_equal_the_recorded_minimum(name: str, *, fair: bool) -> None:
    compared = 0
    for truth in truths(name, EVERY, fair=fair):
        compared += 1
        expected = "optimal" if truth.legal else "infeasible"
        plan = truth.solve("min-count")
        assert plan.status == expected, truth.id
        if truth.legal:
            assert frozenset(plan.keys) in truth.legal, truth.id
            assert len(plan.victims) == min(map(len, truth.legal)), truth.id
        for seed in SEEDS:
            costs = truth.random_costs(seed)
            plan = truth.solve("min-cost", costs)
            assert plan.status == expected, truth.id
            if truth.legal:
                assert frozenset(plan.keys) in truth.legal, truth.id
                least = min(sum(costs[key] for key in victims) for victims in truth.legal)
                assert sum(costs[key] for key in plan.keys) == least, truth.id
    assert compared >= 3


@pytest.mark.parametrize(
    ("name", "fair", "profile"),
    [
        (*file, name)
        for place, file in enumerate(FILES)
        # What `unstable` makes of a set is asked in test_stable.py.
        for turn, name in enumerate(PROFILES)
        if not PROFILES[name].counts("unstable") and (TEST_ALL or (place + turn) % 11 == 0)
    ],
)
def test_among_equals_the_answer_is_the_first_in_the_schedulers_order(
    name: str, profile: str, *, fair: bool
) -> None:
    """Equal in every level, the smallest sorted tuple of candidate positions is the answer."""
    compared = 0
    for truth in truths(name, (1 if name in BOTH else 2) * EVERY, fair=fair):
        if not truth.legal:
            continue
        compared += 1
        plan = truth.solve(profile)
        assert plan.greedy is not None
        expected = truth.measured(PROFILES[profile]).canonical(PROFILES[profile], plan.greedy)
        assert frozenset(plan.keys) == expected, truth.id
    assert compared


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_beats_or_equals_the_scheduler_in_its_own_terms(profile: str) -> None:
    compared = 0
    # Few of the project's own copies, too: under `stable` one of them takes minutes.
    step = 160 if recorded_root() is None else 16 if TEST_ALL else 96
    for line in recorded.lines("classical-hier", step):
        if not recorded.asks_the_state(line):
            continue
        state = recorded.state_of(line)
        plan = solve(state, line["pending"], objective=profile, assignment=line.get("assignment"))
        assert plan.greedy is not None
        if not plan.greedy.victims:
            continue
        compared += 1
        assert plan.status == "optimal"
        ours, theirs = plan.terms, plan.greedy.terms
        assert plan.certificate is not None
        levels = [level.term.split("+") for level in plan.certificate.levels]
        assert levels
        assert [sum(ours[t] for t in m) for m in levels] <= [
            sum(theirs[t] for t in m) for m in levels
        ]
        for cap in PROFILES[profile].caps:
            assert sum(ours[t] for t in cap) <= sum(theirs[t] for t in cap)
        assert planner.verify(state, plan).accepted
        assert planner.verify(state, plan.greedy).accepted
    assert compared >= 2
