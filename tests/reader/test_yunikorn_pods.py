"""Who opted out and who may not preempt: pods, PriorityClasses, what the shim wrote, and ``x``."""

from pathlib import Path
from typing import Any

import pytest

from planner.reader.yunikorn import NODES_ABSENT, UNDATED
from planner.reader.yunikorn_pods import OPT_OUT_UNKNOWN
from planner.state.yunikorn import YuniKornState
from tests.reader.dumps import error_of, listed
from tests.reader.yunikorn_dumps import (
    ALLOW,
    allocation,
    application,
    claim,
    claims_of,
    dump,
    folder_of,
    pod,
    priority_class,
    queue,
    state_of,
)
from tests.told import told

Json = dict[str, Any]

SPARED = priority_class("spared", 5, {ALLOW: "false"})
POLITE = priority_class("polite", 7, preemptionPolicy="Never")


def flags(state: YuniKornState, key: str) -> tuple[bool, bool]:
    """Say whether a claim may be preempted, and whether it may preempt others."""
    x = claims_of(state)[key].x
    return x.allow_preempt_self, x.allow_preempt_other


def running(*claims: Json) -> Json:
    return dump(application("app", "root.batch", claims))


def test_a_claim_knows_its_pod() -> None:
    state = state_of(running(allocation("u1", "team-a/driver"), allocation("u2")))
    assert {key: one.pod for key, one in claims_of(state).items()} == {
        "u1": "team-a/driver",
        "u2": None,
    }


@pytest.mark.parametrize(
    ("annotation", "class_name", "expected"),
    [
        (None, "", True),
        (None, "spared", False),
        ("true", "spared", True),
        ("false", "", False),
        ("false", "plain", False),
        ("False", "plain", True),  # the shim knows these two spellings only
        ("no", "spared", False),
    ],
)
def test_the_annotation_of_the_pod_goes_before_that_of_its_class(
    tmp_path: Path, annotation: str | None, class_name: str, *, expected: bool
) -> None:
    annotations = None if annotation is None else {ALLOW: annotation}
    known = pod("team-a/p", "u1", annotations, priorityClassName=class_name)
    classes = listed(SPARED, priority_class("plain", 5))
    state = folder_of(tmp_path, running(allocation("u1", priority=5)), listed(known), classes)
    assert flags(state, "u1") == (expected, True)
    assert state.notes == ()


@pytest.mark.parametrize("policy", ["Never", "PreemptLowerPriority", None])
def test_the_pod_says_whether_it_may_preempt(tmp_path: Path, policy: str | None) -> None:
    asks = dump(application("app", "root.prod", (), [claim("u1")]))
    state = folder_of(tmp_path, asks, pod("team-a/p", "u1", preemptionPolicy=policy))
    assert flags(state, "u1") == (True, policy != "Never")


def test_a_pod_is_found_by_its_uid_or_by_the_tags(tmp_path: Path) -> None:
    opted_out = {ALLOW: "false"}
    pods = listed(
        pod("team-a/one", "u1", opted_out),
        pod("team-a/two", "", opted_out),
        pod("team-b/three", "u9", opted_out),
    )
    claims = [allocation("u1"), allocation("u2", "team-a/two"), allocation("u3", "team-a/three")]
    state = folder_of(tmp_path, running(*claims), pods)
    assert [flags(state, key)[0] for key in ("u1", "u2", "u3")] == [False, False, True]


def test_without_pods_the_value_finds_the_class(tmp_path: Path) -> None:
    claims = [allocation("a", priority=5), allocation("b", priority=7), allocation("c", priority=9)]
    classes = listed(SPARED, POLITE)
    state = folder_of(tmp_path, running(*claims), classes)
    assert [flags(state, key) for key in "abc"] == [(False, True), (True, False), (True, True)]
    told(state.notes[0])
    told(state.notes[1])


def test_classes_of_one_value_that_differ_are_remarked(tmp_path: Path) -> None:
    classes = listed(SPARED, priority_class("plain", 5))
    state = folder_of(tmp_path, running(allocation("a", priority=5)), classes)
    assert flags(state, "a") == (True, True)
    told(state.notes[1])


def test_classes_of_one_value_that_agree_are_used(tmp_path: Path) -> None:
    classes = listed(SPARED, priority_class("spared-too", 5, {ALLOW: "false"}))
    state = folder_of(tmp_path, running(allocation("a", priority=5)), classes)
    assert flags(state, "a") == (False, True)


def test_priority_0_may_be_of_a_pod_without_a_class(tmp_path: Path) -> None:
    """Unless a class is the default of the cluster, pods that name none have priority 0."""
    zero = priority_class("zero", 0, {ALLOW: "false"})
    state = folder_of(tmp_path, running(allocation("a")), zero)
    assert flags(state, "a") == (True, True)
    told(state.notes[1])


def test_a_default_class_is_that_of_all_pods_that_name_none(tmp_path: Path) -> None:
    default = priority_class("default", 0, {ALLOW: "false"}, globalDefault=True)
    state = folder_of(tmp_path, running(allocation("a")), default)
    assert flags(state, "a") == (False, True)


def test_what_x_says_stands(tmp_path: Path) -> None:
    said = allocation("a", priority=5, x={"allowPreemptSelf": True})
    other = allocation("b", priority=5, x={"allowPreemptOther": False})
    state = folder_of(tmp_path, running(said, other), SPARED)
    assert flags(state, "a") == (True, True)
    assert flags(state, "b") == (False, False)


def test_a_class_that_was_not_read_is_remarked(tmp_path: Path) -> None:
    pods = listed(
        pod("team-a/one", "u1", priorityClassName="gone"),
        pod("team-a/two", "u2", priorityClassName="system-node-critical"),
    )
    state = folder_of(tmp_path, running(allocation("u1"), allocation("u2")), pods)
    assert flags(state, "u1") == (True, True)
    (note,) = state.notes
    told(note)
    assert note.endswith(": 1")


def shim(pods: Json, classes: Json) -> Json:
    """Return what the Kubernetes shim adds to a dump."""
    return {"cache": {"statistics": {}, "pods": pods, "priorityClasses": classes}}


def test_what_the_shim_wrote_into_the_dump_is_read() -> None:
    classed = {"annotations": None, "priorityClassName": "spared"}
    pods = {
        "team-a/one": {"namespace": "team-a", "name": "one", "uid": "u1", **classed},
        "team-a/two": {"namespace": "team-a", "name": "two", "preemptionPolicy": "Never"},
        "team-a/six": {"namespace": "team-a", "name": "six", "annotations": {ALLOW: "false"}},
    }
    classes = {"spared": {"name": "spared", "value": 5, "annotations": {ALLOW: "false"}}}
    claims = [allocation("u1"), allocation("u2", "team-a/two"), allocation("u6", "team-a/six")]
    config = {"Partitions": [{"Queues": [{"Name": "batch"}]}]}
    more = {"config": config, "rmDiagnostics": shim(pods, classes)}
    state = state_of({**running(*claims), **more})
    assert [flags(state, key) for key in ("u1", "u2", "u6")] == [
        (False, True),
        (True, False),
        (False, True),
    ]
    assert state.notes == ()


def test_objects_beside_the_dump_go_before_what_the_shim_wrote(tmp_path: Path) -> None:
    pods = {"team-a/one": {"namespace": "team-a", "name": "one", "uid": "u1"}}
    value = {**running(allocation("u1")), "rmDiagnostics": shim(pods, {})}
    state = folder_of(tmp_path, value, pod("team-a/one", "u1", {ALLOW: "false"}))
    assert flags(state, "u1") == (False, True)


def test_other_diagnostics_are_left_alone() -> None:
    config = {"Partitions": [{"Queues": [{"Name": "batch"}]}]}
    for diagnostics in ({"empty": "not registered"}, {"cache": 5}, None, "x"):
        value = {**running(allocation("a")), "config": config, "rmDiagnostics": diagnostics}
        assert state_of(value).notes == (OPT_OUT_UNKNOWN,)


@pytest.mark.parametrize(
    ("bad", "place"),
    [
        (pod("team-a/p", preemptionPolicy="never"), "spec.preemptionPolicy"),
        (priority_class("high", 2**31), "value"),
        ({"apiVersion": "v1", "kind": "Pod", "metadata": {}}, "metadata.name"),
    ],
)
def test_bad_objects_are_named(tmp_path: Path, bad: Json, place: str) -> None:
    error = error_of(lambda: folder_of(tmp_path, running(), listed(bad)))
    assert error.where == f"{tmp_path / '1.json'}: items[0].{place}"


def test_no_pod_holds_less_than_nothing() -> None:
    """Its cost would be below 0, and the bounds of every plan rest on that none is."""
    error = error_of(lambda: state_of(running(allocation("a", resource={"vcore": -1}))))
    assert "applications[0].allocations[0].resource.vcore: " in str(error)
    told(error.expected)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("maxResource.vcore", {"vcore": -1}),
        ("guaranteedResource.memory", {"vcore": 1, "memory": -1}),
        ("maxRunningApps", 2**64),
        ("maxRunningApps", -1),
    ],
)
def test_no_queue_has_a_quota_that_queues_yaml_cannot_say(field: str, value: object) -> None:
    given = {field.partition(".")[0]: value}
    error = error_of(lambda: state_of(dump(queues=[queue("root", queue("root.batch", **given))])))
    assert f"queues[0].children[0].{field}: " in str(error)


@pytest.mark.parametrize("double", [SPARED, pod("team-a/p", "u1")])
def test_an_object_that_stands_twice(tmp_path: Path, double: Json) -> None:
    error = error_of(lambda: folder_of(tmp_path, running(), listed(double, double)))
    assert error.where.endswith("items[1]")
    assert "stands twice" in error.found


@pytest.mark.parametrize(
    "cache",
    [
        {"pods": 5},
        {"pods": {"a/b": 5}},
        {"pods": {"a/b": {"name": 5}}},
        {"priorityClasses": {"low": {"name": "low"}}},
        {"nodes": {"n1": {"taints": [{"effect": "NoSchedule"}]}}},
    ],
)
def test_bad_diagnostics_are_named(cache: Json) -> None:
    value = {**running(allocation("a")), "rmDiagnostics": {"cache": cache}}
    told(error_of(lambda: state_of(value)).where)


def test_nodes_that_the_dump_lacks_are_named() -> None:
    """Without them it would be said, and without a word, that no node has room."""
    held = [allocation(key, nodeId=node) for key, node in (("a", "n1"), ("b", "n2"), ("c", "n3"))]
    value = dump(application("app", "root.batch", running=held))
    told(state_of(value).notes)
    told(state_of({**value, "nodes": None}).notes)
    there = dump(application("app", "root.batch", running=held[:1]))
    assert not any(NODES_ABSENT in note for note in state_of(there).notes)


def test_what_the_dump_gives_no_time_is_named() -> None:
    """Its age decides the order of victims, and is the work that it would lose: 56 years."""
    dated: Json = {"requestTime": 1, "allocationTime": 1}
    held = [allocation(key, **more) for key, more in (("a", dated), ("b", {}), ("c", dated))]
    value = dump(application("app", "root.batch", running=held))
    for one in held[1:]:
        one.pop("allocationTime", None)
    told(state_of(value).notes)
    there = dump(application("app", "root.batch", running=held[:1]))
    assert not any(UNDATED in note for note in state_of(there).notes)
