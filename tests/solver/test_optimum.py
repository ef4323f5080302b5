"""The optimum is the least over the recorded legal sets, and never worse than Kueue's answer."""

from __future__ import annotations

import os
import random

import pytest

import planner
from planner.objective.profiles import PROFILES
from tests import recorded

FILES = (
    "small-classical-flat",
    "small-classical-nocohort",
    "small-classical-hier",
    "small-flavors",
    "small-edge",
)
EVERY = 1 if os.environ.get("PLANNER_TEST_ALL") else 4
SEEDS = range(3)


@pytest.mark.parametrize("name", FILES)
def test_min_count_and_min_cost_equal_the_recorded_minimum(name: str) -> None:
    compared = 0
    for line in recorded.lines(name):
        exhaustive = line["expect"].get("exhaustive")
        state = recorded.state_of(line)
        if exhaustive is None or state.configuration.fair_sharing_on:
            continue
        compared += 1
        if compared % EVERY:
            continue
        keys = [candidate["workload"] for candidate in exhaustive["candidates"]]
        masks = {mask for attempt in exhaustive["attempts"] for mask in attempt["legal"]}
        legal = [[key for bit, key in enumerate(keys) if mask >> bit & 1] for mask in masks]
        given = line.get("assignment")

        plan = planner.solve(state, line["pending"], objective="min-count", assignment=given)
        assert plan.status == ("optimal" if legal else "infeasible"), line["id"]
        if legal:
            assert len(plan.victims) == min(map(len, legal)), line["id"]
        for seed in SEEDS:
            chance = random.Random(f"{line['id']}/{seed}")  # noqa: S311 - test data
            costs = {key: chance.randint(0, 9) for key in keys}
            plan = planner.solve(
                state, line["pending"], objective="min-cost", costs=costs, assignment=given
            )
            assert plan.status == ("optimal" if legal else "infeasible"), line["id"]
            if legal:
                least = min(sum(costs[key] for key in victims) for victims in legal)
                assert sum(costs[key] for key in plan.keys) == least, line["id"]
    assert compared >= 10


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_beats_or_equals_the_scheduler_in_its_own_terms(profile: str) -> None:
    compared = 0
    for number, line in enumerate(recorded.lines("classical-hier")):
        if number % 16:
            continue
        state = recorded.state_of(line)
        plan = planner.solve(
            state, line["pending"], objective=profile, assignment=line.get("assignment")
        )
        assert plan.greedy is not None
        if not plan.greedy.victims:
            continue
        compared += 1
        assert plan.status == "optimal"
        ours, theirs = plan.terms, plan.greedy.terms
        levels = PROFILES[profile].levels
        assert [sum(ours[t] for t in m) for m in levels] <= [
            sum(theirs[t] for t in m) for m in levels
        ]
        for cap in PROFILES[profile].caps:
            assert sum(ours[t] for t in cap) <= sum(theirs[t] for t in cap)
        assert planner.verify(state, plan).accepted
        assert planner.verify(state, plan.greedy).accepted
    assert compared >= 2
