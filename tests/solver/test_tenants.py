"""Namespaces touched (D8t), and shares of cohorts by weight (D9), beside enumeration."""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace

import pytest

from planner.commands.check.plan import check
from planner.objective.profiles import Profile
from planner.reader.kueue import read_kueue_objects
from tests.conftest import TEST_ALL
from tests.oracle.random_states import NOW, RandomState, random_state
from tests.oracle.random_states import PENDING as ASKED
from tests.solver.oracle_difference import enumerated
from tests.solver.ways import solve

STATES = 1000 if TEST_ALL else 48


def scattered(seed: int) -> RandomState:
    """Return a random state whose admitted workloads are in several namespaces."""
    state, chance = random_state(seed), random.Random(f"tenants/{seed}")  # noqa: S311 - test data
    objects = deepcopy(state.objects)
    for item in objects:
        if item["kind"] == "Workload" and "admission" in item.get("status", {}):
            item["metadata"]["namespace"] = chance.choice(["team", "red", "blue"])
    return replace(state, objects=objects, costs={})


@pytest.mark.parametrize(
    ("profile", "order"),
    [
        (Profile("mine", "", (("D8t",), ("D2",), ("D4",))), "D8t D2 D4"),
        (Profile("mine", "", (("D4",),), caps=(("D8t",),)), "D4"),
        (Profile("mine", "", (("D9",), ("D8t",), ("D4",))), "D9 D8t D4"),
    ],
)
def test_tenants_and_shares_are_what_enumeration_says(profile: Profile, order: str) -> None:
    compared = several = certified = 0
    for seed in range(STATES):
        state = scattered(seed)
        read = read_kueue_objects(state.objects, where=f"seed {seed}", now=NOW)
        plan = solve(read, ASKED, profile, assignment=state.assignment)
        sets = enumerated(state, plan)
        if sets is None or not plan.keys:
            continue
        greedy = sets.legal.mask(frozenset(plan.greedy.keys)) if plan.greedy else 0
        best = sets.best("", greedy or None, order, "D8t" if profile.caps else "")
        assert best is not None
        assert list(plan.keys) == sets.legal.keys(best.victims), seed
        assert plan.terms["D8t"] == sets.known[best.victims]["D8t"], seed
        compared += 1
        several += plan.terms["D8t"] > 1
        assert plan.certificate is not None
        trees = [level.proof for level in plan.certificate.levels]
        if {*trees} == {"certified"} and plan.certificate.ties == "certified":
            certified += 1
            assert check(read, plan, profile).accepted, seed
    assert compared > 18
    assert several > 3
    assert certified > compared // 2
