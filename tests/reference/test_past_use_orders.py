"""Candidates and heads by past use: docs/semantics/kueue-features.md §3.3 and §3.4."""

from collections.abc import Mapping
from typing import Any

from planner.problem.kueue import build_problem
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.chance import CIRCLES
from planner.reference.kueue.cycle.waiting import waiting_queues
from planner.reference.kueue.decision import Decision, decide, outcomes
from planner.state.kueue import State
from tests.cluster import (
    KUEUE,
    PENDING,
    Object,
    cohort,
    configuration,
    pending,
    queue,
    running,
    state_of,
)
from tests.reference.cycles import waits, with_spec

SHARING = configuration(admissionFairSharing={"usageHalfLifeTime": "10m"})
BY_USE = {"admissionMode": "UsageBasedAdmissionFairSharing"}


def door(name: str, leads_to: str, used: int, namespace: str = "ns") -> list[Object]:
    """Return a LocalQueue that used so many CPUs."""
    status = {"fairSharing": {"admissionFairSharingStatus": {"consumedResources": {"cpu": used}}}}
    metadata = {"name": name, "namespace": namespace}
    one = {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": metadata}
    return [{**one, "spec": {"clusterQueue": leads_to}, "status": status}]


def by_use(name: str, nominal: int, cohort_name: str = "", **policies: Any) -> list[Object]:
    return with_spec(queue(name, nominal, cohort_name, **policies), admissionScope=BY_USE)


def behind(parts: list[Object], queue_name: str, namespace: str = "ns") -> list[Object]:
    """Return a workload that came through another LocalQueue."""
    ((workload),) = parts
    metadata = {**workload["metadata"], "namespace": namespace}
    return [
        {**workload, "metadata": metadata, "spec": {**workload["spec"], "queueName": queue_name}}
    ]


def decided(state: State) -> Decision:
    snapshot = take_snapshot(state)
    return decide(snapshot, find_preemptor(state, snapshot, PENDING))


def victims(decision: Decision) -> list[str]:
    return [target.workload.key for target in decision.search.targets]


def two_doors(*more: list[Object], used: Mapping[str, int]) -> State:
    """Return a queue of 2 with two workloads: that of ``b`` has the higher priority."""
    return state_of(
        by_use("q", 2, within="LowerPriority"),
        *(door(name, "q", amount) for name, amount in used.items()),
        behind(running("low", "q", 1, 0), "a"),
        behind(running("high", "q", 1, 5), "b"),
        pending("q", 1),
        *more,
    )


def test_the_order_of_the_problem_is_that_of_the_replay() -> None:
    state = two_doors(SHARING, used={"a": 1, "b": 9})
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    problem = build_problem(snapshot, preemptor, decide(snapshot, preemptor).assignment)
    assert [one.key for one in problem.workloads] == ["ns/low", "ns/high"]
    assert problem.order.tolist() == [1, 0]


def circle() -> State:
    """Return x1 before x2 by use, x2 before y1 and y1 before x1 by priority."""
    return state_of(
        cohort("all"),
        queue("mine", 3, "all", reclaim="Any"),
        by_use("x", 0, "all"),
        queue("y", 0, "all"),
        door("a", "x", 9),
        door("b", "x", 1),
        behind(running("x1", "x", 1, 3), "a"),
        behind(running("x2", "x", 1, 1), "b"),
        running("y1", "y", 1, 2),
        pending("mine", 1),
        configuration(admissionFairSharing={}),
    )


def test_circles_are_found_and_every_choice_is_named() -> None:
    """The example of §3.4: each of the three was seen in Kueue."""
    state = circle()
    assert decided(state).undetermined == (CIRCLES,)
    snapshot = take_snapshot(state)
    found = outcomes(snapshot, find_preemptor(state, snapshot, PENDING))
    assert sorted(victims(one)[0] for one in found) == ["ns/x1", "ns/x2", "ns/y1"]
    assert not decided(two_doors(SHARING, used={"a": 1, "b": 9})).undetermined


def test_a_determined_choice_is_one() -> None:
    state = two_doors(SHARING, used={"a": 1, "b": 9})
    snapshot = take_snapshot(state)
    assert len(outcomes(snapshot, find_preemptor(state, snapshot, PENDING))) == 1


def two_waiting(settings: list[Object]) -> State:
    return state_of(
        by_use("q", 2),
        door("a", "q", 9),
        door("b", "q", 1),
        behind(waits("first", "q", priority=9), "a"),
        behind(waits("second", "q"), "b"),
        settings,
    )


def test_use_comes_before_the_sticky_preemptor() -> None:
    state = two_waiting(SHARING)
    snapshot = take_snapshot(state)
    waiting = waiting_queues(state, snapshot)[snapshot.node_of["q"]]
    waiting.preemptor = "ns/first"
    assert waiting.head is not None
    assert waiting.head.key == "ns/second"
    assert [one.key for one in waiting.in_order()] == ["ns/second", "ns/first"]
