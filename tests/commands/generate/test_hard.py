"""Hard states: the scheduler evicts many where the proved optimum is one."""

import os

import pytest

import planner
from planner.commands.generate import generate
from planner.state.kueue import State
from planner.state.yunikorn import YuniKornState

SEEDS = range(20) if os.environ.get("PLANNER_TEST_ALL") else range(1, 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "preset",
    ["flat", "hierarchical", "fair", "fair-hierarchical", "many-flavors", "no-cohort", "small"],
)
def test_kueue_takes_the_sweep(preset: str, seed: int) -> None:
    state = generate(preset, seed, hard=100)
    assert isinstance(state, State)
    plan = planner.solve(state, objective="min-count")
    assert plan.greedy is not None
    sweep = {one.key for one in state.workloads if "-sweep-" in one.metadata.name}
    assert set(plan.greedy.keys) == sweep
    assert (plan.status, len(plan.victims)) == ("optimal", 1)
    assert len(sweep) > 1
    # The default objective is not worse off in anything, and takes one, too.
    assert len(planner.solve(state).victims) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sweep_is_as_large_as_what_is_lacking(seed: int) -> None:
    """Each of the sweep is needed: no needless victim is what makes Kueue's answer large."""
    state = generate("hard", seed)
    assert isinstance(state, State)
    plan = planner.greedy(state)
    (short,) = (one.shortfall for one in plan.demand if one.resource == "nvidia.com/gpu")
    assert len(plan.victims) == short


@pytest.mark.parametrize("seed", SEEDS)
def test_yunikorn_takes_the_newest(seed: int) -> None:
    """Six of one core on every node, and on every node one of six that would do."""
    state = generate("yunikorn-hard", seed)
    assert isinstance(state, YuniKornState)
    plan = planner.solve(state, objective="min-count")
    assert plan.greedy is not None
    assert len(plan.greedy.victims) == 6
    assert (plan.status, len(plan.victims)) == ("optimal", 1)


def test_a_share_is_hard() -> None:
    """Of states with 30 percent hard ones, some are and some are not; the others are unchanged."""
    found = []
    for seed in range(20):
        state, plain = generate("small", seed, hard=30), generate("small", seed)
        assert isinstance(state, State)
        assert isinstance(plain, State)
        is_hard = any("-sweep-" in one.metadata.name for one in state.workloads)
        assert is_hard or state == plain
        found.append(is_hard)
    assert 1 <= sum(found) <= 12
