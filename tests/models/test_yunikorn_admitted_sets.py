"""The model admits exactly the victim sets that the real core's primitives accept, node by node."""

from __future__ import annotations

import os

import numpy as np
import pytest

from planner.models.yunikorn.candidates import eligible
from planner.models.yunikorn.relaxation import node_rows
from planner.problem.yunikorn import YuniKornProblem
from tests.yunikorn.admitted import NodeSets, admitted, choices, every_allocation_apart, problem_of
from tests.yunikorn.legality import FIELDS, SMALL, candidates_of, last_tier_of, sets_of
from tests.yunikorn.recorded import Line, lines

EVERY = 1 if os.environ.get("PLANNER_TEST_ALL") else 8
"""A good sample by default; all lines with PLANNER_TEST_ALL set."""


def recorded_problem(line: Line) -> tuple[YuniKornProblem, tuple[str, ...]]:
    """Return the problem of a line, and the law that its lists leave out if the ask breaks it."""
    problem = problem_of(line, line["ask"]["allocationKey"])
    return problem, () if problem.may_preempt else ("YK-11",)


@pytest.mark.parametrize("rules", FIELDS)
@pytest.mark.parametrize("name", SMALL)
def test_admitted_sets_equal_recorded_sets(name: str, rules: str) -> None:
    compared = 0
    for line in lines(name, EVERY):
        problem, without = recorded_problem(line)
        expected = sets_of(line, rules)
        assert admitted(problem, rules, without=without) == expected, line["id"]
        compared += sum(len(sets) for sets in expected.values())
    assert compared >= 10


@pytest.mark.parametrize("name", SMALL)
def test_opted_out_and_originators_are_spared_if_asked(name: str) -> None:
    spared = 0
    for line in lines(name, EVERY):
        problem, without = recorded_problem(line)
        expected: NodeSets = {}
        for node, sets in sets_of(line, "yunikorn-code").items():
            expected[node] = {each for each in sets if not each & last_tier_of(line)}
            spared += len(sets) - len(expected[node])
        found = admitted(problem, "yunikorn-code", spare_last_tier=True, without=without)
        assert found == expected, line["id"]
    assert spared >= 10


@pytest.mark.parametrize("name", SMALL)
def test_eligible_allocations_are_recorded_candidates(name: str) -> None:
    """What the core drops later, at the first turn of a queue, the model drops at once."""
    for line in lines(name, EVERY):
        problem, without = recorded_problem(line)
        keys = [allocation.allocation_key for allocation in problem.allocations]
        allowed = {keys[a] for a in np.flatnonzero(eligible(problem, without)).tolist()}
        assert allowed <= set(candidates_of(line)), line["id"]
        with_more = eligible(problem, (*without, "YK-05"))
        loose = {keys[a] for a in np.flatnonzero(with_more).tolist()}
        assert set(candidates_of(line)) <= loose, line["id"]


@pytest.mark.parametrize("rules", FIELDS)
@pytest.mark.parametrize("name", SMALL)
def test_rows_of_a_node_hold_for_every_legal_set(name: str, rules: str) -> None:
    binding = 0
    for line in lines(name, EVERY):
        problem, without = recorded_problem(line)
        classes = every_allocation_apart(problem, without)
        rows = node_rows(problem, classes, rules)
        assert {problem.nodes[node] for node in rows} == sets_of(line, rules).keys()
        for node, taken in choices(problem, classes, rules, without=without):
            counts = np.array(taken)[rows[node].classes]
            assert counts.sum() == sum(taken), line["id"]
            for row in (*rows[node].cover, *rows[node].caps):
                value = int(row.coefficients @ counts)
                assert value >= row.bound, (line["id"], row.name)
                binding += value == row.bound
    assert binding >= 10
