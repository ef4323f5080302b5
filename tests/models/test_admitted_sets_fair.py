"""Under fair sharing, what the model admits and the verifier accepts is exactly what is legal.

The model compares shares in integers and is permissive at ties between different weights; the
verifier judges in doubles. So the model must never be too strict, and the verifier must refuse
what the model admits beyond the legal sets. Where all weights are the same there is nothing
beyond.
"""

from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from hypothesis import given

from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import Assignment, flavor_resources, read_assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.verifier.kueue.case import setting_of
from planner.verifier.kueue.fair_sharing import FairCase, fair_setting_of
from planner.verifier.kueue.plan import verify_case
from tests import recorded
from tests.admitted import admitted_fairly
from tests.conftest import TEST_ALL, examples, recorded_root
from tests.random_trees import Instance, fair_instances
from tests.solver.truth import frees_pods

FILES = ("small-fair-flat", "small-fair-hier", "small-edge", "small-flavors")
EVERY = 1 if TEST_ALL or recorded_root() is None else 20
"""A good sample by default; all lines with PLANNER_TEST_ALL set, or where they are few."""

Sets = set[frozenset[str]]


def judge_of(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment
) -> Callable[[frozenset[str]], bool]:
    """Return the verifier as a question about victims."""
    where = fair_setting_of(setting_of(snapshot, preemptor, assignment))
    held = {w.key: w for workloads in snapshot.admitted.values() for w in workloads}

    def accepts(keys: frozenset[str]) -> bool:
        victims = tuple(held[key] for key in sorted(keys))
        reasons = tuple(where.reason(victim) for victim in victims)
        return verify_case(FairCase(where, True, victims, reasons)).accepted  # noqa: FBT003

    return accepts


def weighs_all_the_same(problem: Problem) -> bool:
    """Say whether shares are compared without different weights."""
    return problem.fair is not None and len(set(problem.fair.weight_nano)) == 1


def fair_lines(name: str) -> Iterator[recorded.Line]:
    """Yield the lines with all legal sets recorded under fair sharing."""
    lines = (line for line in recorded.lines(name) if "exhaustive" in line["expect"])
    for line in islice(lines, 0, None, EVERY):
        if recorded.state_of(line).configuration.fair_sharing_on:
            yield line


def recorded_sets(line: recorded.Line) -> Sets:
    """Return the legal sets of a line, whose only attempt may borrow, but for too few pods."""
    truth = line["expect"]["exhaustive"]
    (attempt,) = truth["attempts"]
    assert attempt["borrowing"]
    assert not attempt.get("minimalOnly")
    keys = [candidate["workload"] for candidate in truth["candidates"]]
    found = (
        frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1)
        for mask in attempt["legal"]
    )
    return {*filter(frees_pods(line, recorded.state_of(line)), found)}


@pytest.mark.parametrize("name", FILES)
def test_admitted_and_accepted_sets_equal_recorded_sets(name: str) -> None:
    compared = 0
    for line in fair_lines(name):
        assignment = recorded.assignment_of(line)
        snapshot = take_snapshot(recorded.state_of(line), extra=flavor_resources(assignment))
        preemptor = find_preemptor(recorded.state_of(line), snapshot, line["pending"])
        problem = build_problem(snapshot, preemptor, read_assignment(assignment, preemptor))
        legal, found = recorded_sets(line), admitted_fairly(problem)
        assert legal <= found, (line["id"], "the model is too strict")
        accepts = judge_of(snapshot, preemptor, assignment)
        assert {keys for keys in found if accepts(keys)} == legal, line["id"]
        if weighs_all_the_same(problem):
            assert found == legal, line["id"]
        compared += 1
    assert compared >= 4


@examples(60)
@given(fair_instances())
def test_admitted_and_accepted_sets_equal_the_definition(instance: Instance) -> None:
    """On random trees, against removing one workload after the other in every order."""
    snapshot, preemptor = instance.snapshot, instance.preemptor
    assignment = read_assignment(instance.assignment, preemptor)
    problem = build_problem(snapshot, preemptor, assignment)
    legal, found = instance.fair_simulation.legal_sets, admitted_fairly(problem)
    assert legal <= found
    accepts = judge_of(snapshot, preemptor, instance.assignment)
    assert {keys for keys in found if accepts(keys)} == legal
    if weighs_all_the_same(problem):
        assert found == legal
