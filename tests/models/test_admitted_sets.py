"""The model admits exactly the recorded legal victim sets, attempt by attempt."""

from __future__ import annotations

import pytest

from planner.problem.kueue import build_problem
from planner.quota.kueue.assignment import read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from tests import recorded
from tests.admitted import admitted
from tests.conftest import TEST_ALL
from tests.solver.truth import frees_pods

FILES = (
    "small-classical-flat",
    "small-classical-nocohort",
    "small-classical-hier",
    "small-flavors",
    "small-edge",
)
EVERY = 1 if TEST_ALL else 12
"""A good sample by default; all lines with PLANNER_TEST_ALL set."""


@pytest.mark.parametrize("name", FILES)
def test_admitted_sets_equal_recorded_sets(name: str) -> None:
    compared = 0
    enumerated = [line for line in recorded.lines(name) if "exhaustive" in line["expect"]]
    for line in enumerated[:: EVERY if len(enumerated) >= 10 * EVERY else 1]:
        exhaustive = line["expect"]["exhaustive"]
        state = recorded.state_of(line)
        if state.configuration.fair_sharing_on:
            continue
        compared += 1
        assignment = recorded.assignment_of(line)
        snapshot = take_snapshot(state)
        preemptor = find_preemptor(state, snapshot, line["pending"])
        problem = build_problem(snapshot, preemptor, read_assignment(assignment, preemptor))
        keys = [candidate["workload"] for candidate in exhaustive["candidates"]]
        recorded_sets = {
            attempt["borrowing"]: {
                frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1)
                for mask in attempt["legal"]
            }
            for attempt in exhaustive["attempts"]
        }
        free = frees_pods(line, state)
        expected = {borrowing: {*filter(free, sets)} for borrowing, sets in recorded_sets.items()}
        assert admitted(problem) == expected, line["id"]
    assert compared >= 10
