"""The model admits exactly the legal victim sets: recorded ones, and those of random trees.

Under fair sharing the model compares shares in integers and is permissive at ties between
different weights; the verifier judges in doubles. So the model must never be too strict, and the
verifier must refuse what the model admits beyond the legal sets. Where all weights are the same
there is nothing beyond.
"""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.errors import UnsupportedError
from planner.problem.kueue import Problem, build_problem
from planner.quota.kueue.assignment import flavor_resources, read_assignment, total_request
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import State, Workload
from planner.state.kueue_workload import REPLACEMENT_FOR
from planner.verifier.kueue.plan import setting_for
from tests import recorded
from tests.admitted import VictimSets, admitted, admitted_fairly
from tests.cluster import FLAVOR, PENDING, Object, cohort, configuration, queue, running, state_of
from tests.conftest import TEST_ALL, examples, recorded_root
from tests.elastic import Pods, new, old
from tests.random_trees import Instance, fair_instances, instances
from tests.solver.truth import frees_pods
from tests.subsets import subsets
from tests.told import told
from tests.verifier.cases import accepts

CLASSICAL = ("classical-flat", "classical-nocohort", "classical-hier", "flavors", "edge")
FILES = [(f"small-{name}", False) for name in CLASSICAL]
FILES += [(f"small-{name}", True) for name in ("fair-flat", "fair-hier", "edge", "flavors")]
EVERY, EVERY_FAIR = (1, 1) if TEST_ALL or recorded_root() is None else (24, 20)
"""A good sample by default; all lines with PLANNER_TEST_ALL set, or where they are few."""


def by_model(instance: Instance, legal: VictimSets) -> VictimSets:
    """Return what the model admits, which is compared with all that is legal."""
    problem = build_problem(instance.snapshot, instance.preemptor, instance.assignment)
    if problem.fair is None:
        found = admitted(problem)
        assert found == legal
        return found
    fairly = admitted_fairly(problem)
    assert fairly >= legal[True], "the model is too strict"
    assert fairly == legal[True] or len({*problem.fair.weight_nano}) > 1
    return {True: fairly}


def by_verifier(instance: Instance, sets: VictimSets) -> VictimSets:
    """Return which of some sets the verifier accepts."""
    key = instance.preemptor.key
    where = setting_for(instance.state, instance.snapshot, key, instance.assignment)
    held = {w.key: w for workloads in instance.snapshot.admitted.values() for w in workloads}

    def accepted(keys: frozenset[str], *, borrowing: bool) -> bool:
        return accepts(where, [held[key] for key in sorted(keys)], borrowing=borrowing)

    return {b: {keys for keys in some if accepted(keys, borrowing=b)} for b, some in sets.items()}


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_admitted_sets_equal_recorded_sets(name: str, *, fair: bool) -> None:
    compared = 0
    every = [line for line in recorded.lines(name) if "exhaustive" in line["expect"]]
    step = EVERY_FAIR if fair else EVERY
    for line in every[:: step if len(every) >= 10 * step else 1]:
        state, pending = recorded.state_of(line), line["pending"]
        if state.configuration.fair_sharing_on != fair:
            continue
        flavors = recorded.assignment_of(line)
        snapshot = take_snapshot(state, extra=flavor_resources(flavors))
        preemptor = find_preemptor(state, snapshot, pending)
        instance = Instance(state, snapshot, preemptor, read_assignment(flavors, preemptor))
        legal = recorded_sets(line, state)
        found = by_model(instance, legal)
        # Without fair sharing they are the same, and the verifier is asked in its own tests.
        assert found == legal or by_verifier(instance, found) == legal, line["id"]
        compared += 1
    assert compared >= (4 if fair else 5)


def recorded_sets(line: recorded.Line, state: State) -> VictimSets:
    """Return the legal sets of a line by attempt, but for those that free too few pods."""
    truth, free = line["expect"]["exhaustive"], frees_pods(line, state)
    keys = [candidate["workload"] for candidate in truth["candidates"]]
    assert not any(attempt.get("minimalOnly") for attempt in truth["attempts"])
    return {
        attempt["borrowing"]: {
            *filter(
                free,
                (
                    frozenset(key for bit, key in enumerate(keys) if mask >> bit & 1)
                    for mask in attempt["legal"]
                ),
            )
        }
        for attempt in truth["attempts"]
    }


@examples(60)
@given(fair_instances())
def test_admitted_sets_equal_the_definition_under_fair_sharing(instance: Instance) -> None:
    """Against removing one workload after the other in every order."""
    legal = {True: instance.legal(fair=True)}
    assert by_verifier(instance, by_model(instance, legal)) == legal


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


def every_set(instance: Instance, legal: VictimSets) -> VictimSets:
    """Return all sets of workloads that hold quota, for each attempt."""
    keys = [w.key for workloads in instance.snapshot.admitted.values() for w in workloads]
    return {attempt: {*map(frozenset, subsets(keys))} for attempt in legal}


@examples(150)
@given(instances(), st.integers(0, 5), st.integers(0, 3))
def test_model_verifier_and_enumeration_agree(instance: Instance, number: int, count: int) -> None:
    """Also where the slice shrinks: what it asks for is below zero then, and fits in any case."""
    made = as_slice(instance, number, count)
    legal = made.legal_by_attempt()
    by_model(made, legal)
    assert by_verifier(made, every_set(made, legal)) == legal


@examples(60)
@given(fair_instances(), st.integers(0, 5), st.integers(1, 3))
def test_fair_sharing_agrees_where_nothing_is_given_back(
    instance: Instance, number: int, count: int
) -> None:
    made = as_slice(instance, number, count)
    request = total_request(made.assignment, made.preemptor, made.snapshot)
    assume(min(request.values(), default=0) >= 0)
    legal = {True: made.legal(fair=True)}
    by_model(made, legal)
    assert by_verifier(made, every_set(made, legal)) == legal


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
