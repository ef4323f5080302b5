"""Edits of a state of YuniKorn: each field that can be set, and each way to get it wrong."""

from collections.abc import Iterator

import pytest

import planner
from planner import api
from planner.commands.whatif.edit import changed, compare, edit
from planner.errors import SchemaError
from planner.state.yunikorn import Claim, QueueConfig, YuniKornState
from planner.state.yunikorn_usage import QueueState
from tests.told import told
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)

POD = {"kubernetes.io/meta/namespace": "ns", "kubernetes.io/meta/podName": "driver.1"}


@pytest.fixture
def state() -> YuniKornState:
    """Give a full node: ``low`` runs on all of it, ``high`` asks for 1 of its guaranteed."""
    return state_of(
        cluster_value(
            [
                queue("low", queue("max", guaranteed={"gpu": 1})),
                queue("high", guaranteed={"gpu": 2}, max={"gpu": 3}, priority_offset="5"),
            ],
            [node("n1", {"gpu": 2})],
            [
                application(
                    "runs.1",
                    "root.low.max",
                    allocation("a1", {"gpu": 1}, allocationTags=POD),
                    allocation("a2", {"gpu": 1}, age=9),
                ),
                application("asks", "root.high", asks=(ask("ask", {"gpu": 1}, priority="3"),)),
            ],
        )
    )


def found_queue(state: YuniKornState, path: str) -> QueueConfig:
    queue, *steps = [state.partitions[0].root], *path.split(".")[1:]
    here = queue[0]
    for step in steps:
        here = next(child for child in here.queues if child.name == step)
    return here


def claims(state: YuniKornState) -> Iterator[Claim]:
    for one in state.partitions[0].applications:
        yield from (*one.allocations, *one.requests)


@pytest.mark.parametrize(
    ("text", "guaranteed", "maximum"),
    [
        ("guaranteed.gpu=1", {"gpu": 1}, {"gpu": 3}),
        ("guaranteed.memory=2Ki", {"gpu": 2, "memory": 2048}, {"gpu": 3}),
        ("guaranteed.vcore=2", {"gpu": 2, "vcore": 2000}, {"gpu": 3}),  # cores; the unit is milli
        ("guaranteed.gpu=none", {}, {"gpu": 3}),
        ("max.vcore=1500m", {"gpu": 2}, {"gpu": 3, "vcore": 1500}),
        ("max.gpu=0", {"gpu": 2}, {"gpu": 0}),
    ],
)
def test_quota_of_a_queue(
    state: YuniKornState, text: str, guaranteed: dict[str, int], maximum: dict[str, int]
) -> None:
    resources = found_queue(edit(state, [f"queue/root.high.{text}"]), "root.high").resources
    assert (resources.guaranteed, resources.max) == (guaranteed, maximum)


@pytest.mark.parametrize(
    "text",
    ["preemption.policy=fence", "preemption.policy=disabled", "preemption.delay=1m30s",
     "priority.policy=fence", "priority.offset=-7"],
)  # fmt: skip
def test_property_of_a_queue(state: YuniKornState, text: str) -> None:
    name, _, value = text.partition("=")
    properties = found_queue(edit(state, [f"queue/ROOT.High.{text}"]), "root.high").properties
    assert properties == {"priority.offset": "5", name: value}


def test_root_has_properties(state: YuniKornState) -> None:
    edited = edit(state, ["queue/root.preemption.delay=60s"])
    assert edited.partitions[0].root.properties == {"preemption.delay": "60s"}


def test_a_queue_may_be_called_like_a_field(state: YuniKornState) -> None:
    edited = edit(state, ["queue/root.low.max.max.gpu=4", "queue/root.low.max.guaranteed.gpu=none"])
    resources = found_queue(edited, "root.low.max").resources
    assert (resources.guaranteed, resources.max) == ({}, {"gpu": 4})
    # `gpu` is no field of root.low.max, so this is the max of root.low.
    assert found_queue(edit(state, ["queue/root.low.max.gpu=4"]), "root.low").resources.max == {
        "gpu": 4
    }


@pytest.mark.parametrize(
    ("text", "field", "values"),
    [
        ("application/runs.1.priority=4", "priority", [4, 4, 3]),
        ("application/asks.priority=-1", "priority", [0, 0, -1]),
        ("allocation/a2.priority=8", "priority", [0, 8, 3]),
        ("allocation/ns/driver.1.priority=8", "priority", [8, 0, 3]),
        ("ask/ask.priority=8", "priority", [0, 0, 8]),
        ("allocation/a1.allowPreemptSelf=false", "x.allow_preempt_self", [False, True, True]),
        ("ask/ask.allowPreemptOther=false", "x.allow_preempt_other", [True, True, False]),
        ("allocation/a2.originator=true", "originator", [False, True, False]),
    ],
)
def test_claims(state: YuniKornState, text: str, field: str, values: list[object]) -> None:
    found = []
    for claim in claims(edit(state, [text])):
        part: object = claim
        for step in field.split("."):
            part = getattr(part, step)
        found.append(part)
    assert found == values


def test_nothing_else_changes(state: YuniKornState) -> None:
    edited = edit(state, ["allocation/a2.priority=8", "allocation/a2.priority=0"])
    assert edited.partitions == state.partitions
    assert edited.digest != state.digest


def test_partition(state: YuniKornState) -> None:
    off = edit(state, ["partition/default.preemption.enabled=false"])
    assert not off.partitions[0].preemption.enabled
    assert off.partitions[0].preemption.quota == state.partitions[0].preemption.quota


@pytest.mark.parametrize(
    "text",
    [
        "nonsense",
        "clusterqueue/a.fairSharing.weight=1",
        "queue/root.hihg.max.gpu=1",
        "queue/root.high.max=1",
        "queue/root.high.size=1",
        "queue/root.high.max.gpu=lots",
        "queue/root.high.max.gpu=500m",  # only vcore has milli
        "queue/root.max.gpu=1",
        "queue/root.high.preemption.policy=none",
        "queue/root.high.priority.policy=disabled",
        "queue/root.high.preemption.delay=soon",
        "queue/root.high.preemption.delay=0s",
        "queue/root.high.priority.offset=9999999999",
        "queue/root.high.maxapplications=-1",
        "queue/root.high.maxapplications=many",
        "partition/other.preemption.enabled=true",
        "partition/default.enabled=true",
        "partition/default.preemption.enabled=perhaps",
        "application/nobody.priority=1",
        "application/asks.queue=root.low",
        "allocation/ask.priority=1",
        "ask/ask.allowPreemptSelf=true",
        "ask/ask.priority=high",
    ],
)
def test_what_is_wrong_is_said(state: YuniKornState, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        edit(state, [text])
    told(caught.value)


def test_guaranteed_decides(state: YuniKornState) -> None:
    """``low.max`` has 2, guaranteed 1: one may go. With both guaranteed neither may."""
    texts = ["queue/root.low.max.guaranteed.gpu=2"]
    before, after = (api.solve(one) for one in (state, edit(state, texts)))
    answer = compare(texts, before, after)
    assert (answer.optimum.before, answer.optimum.after) == ("optimal", "infeasible")
    assert len(answer.optimum.no_longer) == 1
    assert answer.greedy.algorithm == "yunikorn"
    assert answer.greedy.no_longer == answer.optimum.no_longer


def test_a_fence_decides(state: YuniKornState) -> None:
    """A fence around ``high`` leaves it no victims outside."""
    texts = ["queue/root.high.preemption.policy=fence"]
    assert api.solve(edit(state, texts)).status == "infeasible"
    assert api.solve(edit(state, [*texts, "queue/root.high.preemption.policy=default"])).victims


def test_priority_decides(state: YuniKornState) -> None:
    """An offset of 5 lifts the ask to 8; a victim of 9 is out of reach, one of 8 is not."""
    at, above = (f"application/runs.1.priority={priority}" for priority in (8, 9))
    assert api.solve(edit(state, [at])).victims
    assert api.solve(edit(state, [above])).status == "infeasible"


def full(*, live: bool) -> YuniKornState:
    """Give a queue that runs as many applications as it may, and an ask of one more of them.

    With ``live`` the dump has the queue's object, too, which counts then.
    """
    value = two_queues(allocation("a", {"gpu": 4}))
    value["queues"]["partitions"][0]["queues"][0]["queues"][1]["maxapplications"] = 1
    value["applications"][1]["applicationState"] = "Accepted"
    runs = application("has", "root.high", allocation("own", {"gpu": 1}, on="n2"))
    value["applications"].append(runs | {"applicationState": "Running"})
    state = state_of(value)
    objects = {"root.high": QueueState(max_running_apps=1, running_apps=1)} if live else {}
    return changed(state, ("partitions", 0, "queue_states"), lambda _: objects)


@pytest.mark.parametrize("live", [False, True])
def test_running_applications_decide(live: bool) -> None:  # noqa: FBT001 - a parameter of a test
    state = full(live=live)
    assert not api.solve(state).victims
    for value, victims in ((1, 0), (2, 1), (0, 1)):
        other = edit(state, [f"queue/root.high.maxapplications={value}"])
        assert found_queue(other, "root.high").maxapplications == value
        assert len(api.solve(other).victims) == victims


def test_queues_that_the_core_refuses_are_told_once_all_is_edited() -> None:
    value = two_queues(allocation("a", {"gpu": 4}))
    value["queues"]["partitions"][0]["queues"][0]["queues"][1]["resources"]["max"] = {"gpu": 4}
    guaranteed, most = (f"queue/root.high.{limit}.gpu=9" for limit in ("guaranteed", "max"))
    said = "YuniKorn refuses such a queues.yaml: the guaranteed of root.high is more gpu than its"
    after = planner.whatif(state_of(value), guaranteed).after
    assert [note for note in after.notes if note.startswith(said)]
    for texts in ([guaranteed, most], most):
        assert not planner.whatif(state_of(value), texts).after.notes
