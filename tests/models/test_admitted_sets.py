"""The model admits exactly the legal victim sets: recorded ones, and those of slices."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.errors import UnsupportedError
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import read_assignment, total_request
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import State, Workload
from planner.state.kueue_workload import REPLACEMENT_FOR
from planner.verifier.kueue.case import Case, setting_of
from planner.verifier.kueue.fair_sharing import FairCase, fair_setting_of
from planner.verifier.kueue.plan import verify_case
from tests import recorded
from tests.admitted import admitted, admitted_fairly
from tests.cluster import FLAVOR, PENDING, Object, cohort, configuration, queue, running, state_of
from tests.conftest import TEST_ALL, examples
from tests.elastic import Pods, new, old
from tests.random_trees import Instance, fair_instances, instances
from tests.solver.truth import frees_pods
from tests.subsets import subsets
from tests.told import told

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


def as_slice(instance: Instance, number: int, count: int) -> Instance:
    """Return an instance whose preemptor has so many pods and replaces some workload it may."""
    state, preemptor = instance.state, instance.preemptor
    own = [
        one.workload
        for one in instance.snapshot.admitted[preemptor.queue]
        if one.namespace == preemptor.workload.metadata.namespace
    ]
    assume(own)
    grown = replacing(preemptor.workload, own[number % len(own)].key, count)
    workloads = tuple(grown if one.key == grown.key else one for one in state.workloads)
    changed: State = state.model_copy(update={"workloads": workloads})
    pods = tuple(one.model_copy(update={"count": count}) for one in instance.assignment.pod_sets)
    assignment = instance.assignment.model_copy(update={"pod_sets": pods})
    snapshot = take_snapshot(changed)
    found = find_preemptor(changed, snapshot, grown.key)
    return Instance(changed, snapshot, found, assignment)


def replacing(workload: Workload, key: str, count: int) -> Workload:
    metadata = workload.metadata.model_copy(update={"annotations": {REPLACEMENT_FOR: key}})
    pods = tuple(one.model_copy(update={"count": count}) for one in workload.spec.pod_sets)
    spec = workload.spec.model_copy(update={"pod_sets": pods})
    return workload.model_copy(update={"metadata": metadata, "spec": spec})


@examples(150)
@given(instances(), st.integers(0, 5), st.integers(0, 3))
def test_model_verifier_and_enumeration_agree(instance: Instance, number: int, count: int) -> None:
    """Also where the slice shrinks: what it asks for is below zero then, and fits in any case."""
    made = as_slice(instance, number, count)
    simulation = made.simulation
    expected = {
        borrowing: simulation.legal(borrowing=borrowing) for borrowing in simulation.attempts
    }
    problem = build_problem(made.snapshot, made.preemptor, made.assignment)
    assert admitted(problem) == expected
    where = setting_of(made.snapshot, made.preemptor, made.assignment)
    for victims in subsets(made.simulation.workloads.values()):
        reasons = [where.variant(v).reason if where.in_tree(v.queue) else "" for v in victims]
        keys = frozenset(victim.key for victim in victims)
        for borrowing, legal in expected.items():
            case = Case(where, borrowing, victims, tuple(reasons))
            assert verify_case(case).accepted == (keys in legal), (borrowing, keys)


@examples(60)
@given(fair_instances(), st.integers(0, 5), st.integers(1, 3))
def test_fair_sharing_agrees_where_nothing_is_given_back(
    instance: Instance, number: int, count: int
) -> None:
    """The model may admit more than the doubles of the verifier, never less."""
    made = as_slice(instance, number, count)
    request = total_request(made.assignment, made.preemptor, made.snapshot)
    assume(min(request.values(), default=0) >= 0)
    legal = made.fair_simulation.legal_sets
    assert admitted_fairly(build_problem(made.snapshot, made.preemptor, made.assignment)) >= legal
    where = fair_setting_of(setting_of(made.snapshot, made.preemptor, made.assignment))
    for victims in subsets(made.simulation.workloads.values()):
        reasons = tuple(where.reason(victim) for victim in victims)
        case = FairCase(where, True, victims, reasons)  # noqa: FBT003 - the only attempt
        assert verify_case(case).accepted == (frozenset(v.key for v in victims) in legal)


def test_fair_sharing_refuses_what_gives_back_and_takes() -> None:
    """Kueue's own sums go wrong on that: every test of the fit adds to the usage of the cohort."""
    parts = [
        cohort("all"),
        queue("q", {"cpu": 4, "gpu": 4}, "all", reclaim="Any"),
        old("old", "q", Pods(3, {"cpu": 1}), Pods(1, {"gpu": 1})),
        running("other", "q", {"gpu": 3}),
        new("q", Pods(1, {"cpu": 1}), Pods(3, {"gpu": 1})),
    ]
    flavors = {
        podset: {resource: {"flavor": FLAVOR, "mode": "Preempt"}}
        for podset, resource in (("main", "cpu"), ("aux", "gpu"))
    }

    def problem(*more: list[Object]) -> Problem:
        state = state_of(*parts, *more)
        snapshot = take_snapshot(state)
        preemptor = find_preemptor(state, snapshot, PENDING)
        return build_problem(snapshot, preemptor, read_assignment(flavors, preemptor))

    with pytest.raises(UnsupportedError) as caught:
        problem(configuration(fairSharing={}))
    told(caught.value)
    classical = problem()
    assert [classical.request[fr] for fr in classical.requested] == [-2000, 2]
    assert [classical.request[fr] for fr in classical.needed] == [2]
