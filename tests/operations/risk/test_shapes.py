"""Which preemptors are made up of a state, and in which order."""

from typing import Any

import pytest

from planner.commands.whatif.edit import edit
from planner.operations.risk.measure import preemptors
from planner.state.kueue import State
from planner.state.yunikorn import YuniKornState
from tests.cluster import Object, configuration, pending, queue, running, state_of
from tests.yunikorn.building import (
    NOW,
    SECOND,
    allocation,
    application,
    ask,
    cluster_value,
    gpus,
    node,
)
from tests.yunikorn.building import queue as yunikorn_queue
from tests.yunikorn.building import state_of as yunikorn_state_of


def state_with(*more: list[Object]) -> State:
    return state_of(queue("a", 8), queue("b", 8), pending("a", 4), *more)


def named(state: State, which: Any = "all") -> list[tuple[str, str | None, int]]:
    return [(one.key, one.like, one.alike) for one in preemptors(state, which)[1]]


def test_pending_first_then_the_most_frequent_shape() -> None:
    state = state_with(running("one", "a", 1), running("two-1", "a", 2), running("two-2", "a", 2))
    again = [("ns/two-1-again", "ns/two-1", 2), ("ns/one-again", "ns/one", 1)]
    assert named(state) == [("ns/pending", None, 1), *again]
    assert named(state, "running") == again
    assert named(state, "pending") == [("ns/pending", None, 1)]


@pytest.mark.parametrize(
    ("other", "shapes"),
    [
        (running("other", "a", 1, 5), 1),
        (running("other", "a", 1, 5, minute=9, created=3), 1),  # times are no part of a shape
        (running("other", "a", 2, 5), 2),
        (running("other", "b", 1, 5), 2),
        (running("other", "a", 1, 6), 2),
        (running("other", "a", {"gpu": 1, "cpu": 0}, 5), 2),
    ],
)
def test_what_a_shape_is(other: list[Object], shapes: int) -> None:
    state = state_with(running("this", "a", 1, 5), other)
    assert len(named(state, "running")) == shapes


@pytest.mark.parametrize(
    ("path", "value", "shapes"),
    [
        ("name", "worker", 1),
        ("restartPolicy", "Always", 2),
        ("pod.nodeSelector", {"zone": "a"}, 2),
        ("pod.tolerations", [{"key": "spot", "operator": "Exists"}], 2),
        ("pod.terminationGracePeriodSeconds", 5, 1),
        ("podset.count", 2, 2),
        ("podset.name", "workers", 1),
    ],
)
def test_names_do_not_decide_where_pods_fit(path: str, value: object, shapes: int) -> None:
    (other,) = running("other", "a", 1, 5)
    pods = other["spec"]["podSets"][0]
    pod = pods["template"]["spec"]
    place, _, field = path.rpartition(".")
    if field == "restartPolicy":
        pod["initContainers"] = [{"name": "sidecar", field: value}]
    else:
        {"": pod["containers"][0], "pod": pod, "podset": pods}[place][field] = value
    assert len(named(state_with(running("this", "a", 1, 5), [other]), "running")) == shapes


def test_a_boost_makes_another_shape_where_kueue_heeds_it() -> None:
    boost = {"kueue.x-k8s.io/priority-boost": "3"}
    both = (running("this", "a", 1, 5), running("other", "a", 1, 5, annotations=boost))
    assert len(named(state_with(*both), "running")) == 1
    on = configuration(featureGates={"PriorityBoost": True})
    assert len(named(state_with(*both, on), "running")) == 2


def test_the_new_one_is_pending_and_new() -> None:
    state = state_with(running("this", "a", 1, 5), running("this-again", "b", 1, 5))
    changed, made = preemptors(state, "running")
    assert isinstance(changed, State)
    assert [one.key for one in made] == ["ns/this-again-again", "ns/this-again-again-again"]
    assert changed.digest != state.digest
    assert changed.workloads[: len(state.workloads)] == state.workloads
    for one, key in zip(changed.workloads[-2:], [one.key for one in made], strict=True):
        assert one.key == key
        assert one.is_pending
        assert one.metadata.creation_timestamp == state.now
        assert one.metadata.uid == ""
        assert one.spec.priority == 5
    assert [one.spec.queue_name for one in changed.workloads[-2:]] == ["a", "b"]


def yunikorn() -> YuniKornState:
    return yunikorn_state_of(
        cluster_value(
            [yunikorn_queue("low", preemption_delay="40s"), yunikorn_queue("high")],
            [node("n1", {"gpu": 8})],
            [
                application("one", "root.low", *gpus(a1=1, a2=2), asks=(ask("wait", {"gpu": 1}),)),
                application("two", "root.low", allocation("a3", {"gpu": 2}),
                            allocation("a4", {"gpu": 2}, priority="1"),
                            allocation("a5", {"gpu": 3}, requiredNodeId="n1"),
                            allocation("a6", {"gpu": 3}, placeholder=True)),
                application("three", "root.high", allocation("a7", {"gpu": 2})),
            ],
        )
    )  # fmt: skip


def test_yunikorn() -> None:
    """``a2`` and ``a3`` are alike though their applications differ."""
    state = yunikorn()
    changed, made = preemptors(state, "all")
    assert [(one.key, one.like, one.alike) for one in made] == [
        ("wait", None, 1),
        ("a2-again", "a2", 2),
        ("a1-again", "a1", 1),
        ("a4-again", "a4", 1),
        ("a7-again", "a7", 1),
    ]
    assert isinstance(changed, YuniKornState)
    one, two, three = changed.partitions[0].applications
    assert [each.allocation_key for each in one.requests] == ["wait", "a2-again", "a1-again"]
    assert one.requests[1].resource == {"gpu": 2}
    assert one.requests[1].request_time == NOW - 40 * SECOND
    assert two.requests[0].priority == 1
    assert three.requests[0].request_time == NOW - 30 * SECOND  # the default delay
    assert changed.digest != state.digest


def test_of_an_edited_state() -> None:
    """Edits make copies, whose keys must be their own."""
    state = state_with(running("this", "a", 1, 5))
    assert state.workloads[1].key == "ns/this"
    edited = edit(state, ["workload/ns/this.priority=7"])
    changed, (made,) = preemptors(edited, "running")
    assert isinstance(changed, State)
    assert changed.workloads[-1].spec.priority == 7
    assert made.key == changed.workloads[-1].key == "ns/this-again"
