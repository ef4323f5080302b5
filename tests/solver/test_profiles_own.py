"""Any order of levels and caps that a user may write: the least over all legal sets."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest

from planner.objective.profile_file import read_profile
from planner.objective.profiles import Profile, measure_id
from tests.solver.truth import truths

MEASURES = ("D0", "D1", "D2", "D2p", "D3", "D4+D5", "D4", "D7", "D8", "D9", "D12", "time", "count")


def drawn(folder: Path, seed: str) -> Profile:
    """Write a random profile and read it."""
    chance = random.Random(seed)  # noqa: S311 - test data
    levels = chance.sample(MEASURES, chance.randint(1, 5))
    caps = chance.sample(MEASURES, chance.randint(0, 2))
    path = folder / "drawn.toml"
    path.write_text(f"levels = {levels}\ncaps = {caps}\n", encoding="utf-8")
    profile = read_profile(path)
    assert list(map(measure_id, profile.levels)) == levels
    return profile


@pytest.mark.parametrize(
    ("name", "fair"),
    [
        ("small-classical-flat", False),
        ("small-classical-hier", False),
        ("small-flavors", False),
        ("small-fair-flat", True),
        ("small-fair-hier", True),
    ],
)
def test_optimum_is_the_first_of_the_best_legal_sets(
    tmp_path: Path, name: str, *, fair: bool
) -> None:
    compared = 0
    for truth in islice((t for t in truths(name, 3, fair=fair) if t.legal), 30):
        profile = drawn(tmp_path, truth.id)
        plan = truth.solve(profile)
        compared += 1
        assert plan.objective == "drawn"
        assert plan.status == "optimal"
        assert plan.greedy is not None
        assert frozenset(plan.keys) == truth.measured().canonical(profile, plan.greedy), truth.id
    assert compared
