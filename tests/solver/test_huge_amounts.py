"""Amounts near the end of 64 bits, whose sums leave them: small states against enumeration.

Every status, level and canonical answer is the oracle's, and every plan passes its own check. The
states of ``huge`` once ended in "feasible" and "unknown". ``PLANNER_FUZZ=N`` looks at N states.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import planner
from planner.objective.profiles import PROFILES
from planner.reader.kueue import read_kueue_objects
from tests.conftest import ROOT, TEST_ALL
from tests.oracle.objectives import LEVELS
from tests.oracle.random_states import NOW, PENDING, RandomState, StateDraw
from tests.oracle.random_workloads import Object
from tests.solver.oracle_difference import REFUSED, compare, differences, enumerated
from tests.solver.test_oracle_yunikorn import difference, random_value
from tests.yunikorn.building import state_of

HERE = Path(__file__).parent / "huge"
REPORTS = ROOT.parent / "shared" / "reports" / "check"
STATES = int(os.environ.get("PLANNER_FUZZ") or (2000 if TEST_ALL else 8))
CHUNK = 12
CHUNKS = [range(start, start + CHUNK) for start in range(0, STATES, CHUNK)]
NAMES = [f"seeds-{chunk.start}-to-{chunk.stop - 1}" for chunk in CHUNKS]


class HugeDraw(StateDraw):
    """A random state whose units are from 2^52 to 2^59: ten workloads hold up to 2^63 together.

    In every second state only resources that no work is counted in are so large; elsewhere costs
    leave 64 bits, too.
    """

    def _unit(self, resource: str) -> int:
        if self.seed % 2 and resource in {"cpu", "nvidia.com/gpu"}:
            return super()._unit(resource)
        near: int = self.one_of(0, 0, 1, -1, self.chance.randint(0, 1 << 50))
        return (1 << self.chance.randint(52, 58)) + near


def huge_state(seed: int) -> RandomState:
    """Return the state of a seed."""
    return HugeDraw(seed).state()


@pytest.mark.parametrize("seeds", CHUNKS, ids=NAMES)
def test_every_objective_gives_what_enumeration_gives(seeds: range) -> None:
    found = []
    for seed in seeds:
        asked = list(LEVELS) if TEST_ALL else list(LEVELS)[seed % 4 :: 4]
        found += differences(huge_state(seed), asked)
    refused = [said for said in found if said.startswith(REFUSED)]
    assert len(refused) <= 1, refused
    wrong = [said for said in found if said not in refused]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("seeds", CHUNKS)
def test_check_accepts_the_plans(seeds: range) -> None:
    for seed in seeds:
        drawn, objective = huge_state(seed), list(PROFILES)[seed % len(PROFILES)]
        state = read_kueue_objects(drawn.objects, where=f"seed {seed}", now=NOW)
        costs = {key: cost << 58 for key, cost in drawn.costs.items()}
        given: dict[str, Any] = {"costs": costs} if objective == "min-cost" else {}
        plan = planner.solve(state, PENDING, objective=objective, **given)
        assert plan.status in {"optimal", "infeasible"}, (seed, objective, plan.status)
        check = planner.check(state, plan, **given)
        assert check.accepted, (seed, objective, check)


@pytest.mark.parametrize("seeds", CHUNKS)
def test_costs_beyond_64_bits_are_added_up_exactly(seeds: range) -> None:
    """Costs of 2^62 and one more or less: doubles and 64 bits would both tell other sums."""
    found = []
    for seed in seeds:
        drawn = huge_state(seed)
        costs = {key: (1 << 62) + cost - 4 for key, cost in drawn.costs.items()}
        found += differences(
            RandomState(seed, drawn.objects, drawn.assignment, costs), ["min-cost"]
        )
    assert not found, "\n".join(found)


def cases() -> Iterator[tuple[str, list[Object], dict[str, str]]]:
    """Yield states that were not decided, with who is pending and the clock."""
    asked = {"pending": "ns/new", "now": "2026-05-21T00:00:00Z"}
    for file in sorted(HERE.glob("*.json")):
        yield file.stem, json.loads(file.read_text("utf-8"))["items"], asked
    for folder in sorted(REPORTS.glob("notproved-*")):
        said = json.loads((folder / "expected.json").read_text("utf-8"))
        yield folder.name, json.loads((folder / "state.json").read_text("utf-8"))["items"], said


@pytest.mark.parametrize("objective", LEVELS)
def test_what_was_not_decided_is(objective: str) -> None:
    for name, objects, asked in cases():
        state = read_kueue_objects(objects, where=name, now=asked["now"])
        plan = planner.solve(state, asked["pending"], objective=objective)
        drawn = RandomState(0, objects, None, {})
        sets = enumerated(drawn, plan, asked["pending"], asked["now"])
        assert [*compare(plan, sets, objective)] == [], name
        assert planner.check(state, plan).accepted, name


@pytest.mark.parametrize("start", range(0, STATES, CHUNK))
def test_the_written_laws_of_yunikorn_hold_for_huge_amounts(start: int) -> None:
    """36 units of 2^57 are more than 2^62."""
    wrong = []
    for seed in range(start, start + CHUNK):
        value = random_value(seed, unit=2**57 + seed)
        said = difference(value)
        wrong += [f"seed {seed}: {said}"] if said else []
        state = state_of(value)
        plan = planner.solve(state, "ask", objective="exact-fit", rules="written")
        assert plan.status in {"optimal", "infeasible"}, seed
        assert planner.check(state, plan, rules="written").accepted, seed
    assert not wrong, "\n".join(wrong)
