"""Hypothetical workloads: what Kueue would make of a manifest, and each way to get one wrong."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from planner import api
from planner.commands.whatif.edit import read_submissions
from planner.commands.whatif.kueue_hypothetical import add_workloads
from planner.errors import InputError, SchemaError
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader.items import Item
from planner.state.kueue import State, Workload
from tests.cluster import KUEUE, Object, cohort, pending, queue, running, state_of
from tests.told import told

QUEUE = {"kueue.x-k8s.io/queue-name": "team"}


def kueue_class(name: str, value: int) -> Object:
    return {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def pod_class(name: str, value: int, *, default: bool = False) -> Object:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "globalDefault": default,
    }


def cluster(*more: Object) -> State:
    """Give a full queue of two workloads and one beside it, with some priority classes."""
    return state_of(
        queue("team", 8, within="LowerPriority"),
        queue("other", 4),
        running("old", "team", 4, 1, minute=1),
        running("new", "team", 4, 2, minute=2),
        [kueue_class("high", 50), kueue_class("low", -5), pod_class("pods", 7), *more],
    )


def template(**spec: Any) -> Object:
    requests = {"requests": {"gpu": 2}}
    return {"spec": {"containers": [{"name": "main", "resources": requests}], **spec}}


def job(labels: Object | None = None, **spec: Any) -> Object:
    of_job = {"template": template(), **spec}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "train",
            "namespace": "ns",
            "labels": QUEUE if labels is None else labels,
        },
        "spec": of_job,
    }


def pod(**metadata: Any) -> Object:
    base = {"name": "solo", "namespace": "ns", "labels": QUEUE}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {**base, **metadata}, **template()}


def added(state: State, value: Object, queue_name: str | None = None) -> Workload:
    after, (key,) = add_workloads(state, [Item("file", (), value)], queue_name)
    assert after.workloads[:-1] == state.workloads
    assert after.workloads[-1].key == key
    return after.workloads[-1]


def totals(state: State, value: Object) -> list[tuple[int, dict[str, int]]]:
    after, (key,) = add_workloads(state, [Item("file", (), value)])
    preemptor = find_preemptor(after, take_snapshot(after), key)
    return [(one.count, dict(one.totals)) for one in preemptor.pod_sets]


def test_job() -> None:
    workload = added(
        cluster(), job({**QUEUE, "kueue.x-k8s.io/priority-class": "high"}, parallelism=3)
    )
    assert workload.key == "ns/job-train"
    assert (workload.spec.queue_name, workload.spec.priority) == ("team", 50)
    assert workload.metadata.creation_timestamp == cluster().now
    assert workload.is_pending
    (pods,) = workload.spec.pod_sets
    assert (pods.name, pods.count, pods.min_count) == ("main", 3, None)


@pytest.mark.parametrize(
    ("spec", "count"),
    [({}, 1), ({"parallelism": 5}, 5), ({"parallelism": 5, "completions": 2}, 2),
     ({"completions": 9}, 1), ({"parallelism": 0}, 0)],
)  # fmt: skip
def test_count_of_a_job(spec: Object, count: int) -> None:
    """Kueue: parallelism, but never more pods than have to complete."""
    assert totals(cluster(), job(**spec)) == [(count, {"gpu": 2 * count})]


def test_partial_admission_of_a_job() -> None:
    value = job(parallelism=4)
    value["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    assert added(cluster(), value).spec.pod_sets[0].min_count == 2
    value["metadata"]["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "5"}
    with pytest.raises(SchemaError) as caught:
        added(cluster(), value)
    told(caught.value)
    assert "job-min-parallelism" in caught.value.where


def test_pod_and_templates() -> None:
    state = cluster()
    assert added(state, pod()).key == "ns/pod-solo"
    bare = {"metadata": {"labels": QUEUE, "namespace": "ns"}, **template()}
    assert added(state, bare).key == "ns/pod-hypothetical"
    kept = {
        "apiVersion": "v1",
        "kind": "PodTemplate",
        "metadata": {"generateName": "t-", "namespace": "ns"},
        "template": {"metadata": {"labels": QUEUE}, **template()},
    }
    assert added(state, kept).key == "ns/pod-t"
    for value in (pod(), bare, kept):
        assert totals(state, value) == [(1, {"gpu": 2})]


def test_workload_is_new_whatever_its_status_says() -> None:
    (value,) = running("again", "team", 4, 9)
    workload = added(cluster(), value)
    assert workload.is_pending
    assert workload.status.conditions == ()
    assert workload.spec.priority == 9
    assert workload.metadata.creation_timestamp is not None  # the file has one, which counts
    assert workload.metadata.creation_timestamp < cluster().now


def test_workload_of_a_class() -> None:
    (value,) = pending("team", 4)
    del value["spec"]["priority"]
    value["spec"]["priorityClassRef"] = {"kind": "WorkloadPriorityClass", "name": "low"}
    value["metadata"]["namespace"] = "ns"
    assert added(cluster(), value).spec.priority == -5


@pytest.mark.parametrize(
    ("label", "pods", "more", "priority"),
    [
        ("high", "pods", (), 50),  # the label goes first
        (None, "pods", (), 7),
        (None, "system-node-critical", (), 2_000_001_000),
        (None, None, (), None),  # no class at all: Kueue takes 0
        (None, None, (pod_class("usual", 3, default=True),), 3),
        (None, None, (pod_class("a", 3, default=True), pod_class("b", 2, default=True)), 2),
        (None, "pods", (kueue_class("default", 11),), 11),  # WorkloadPriorityClassDefaulting
        ("low", None, (kueue_class("default", 11),), -5),
    ],
)
def test_priority(label: str | None, pods: str | None, more: Any, priority: int | None) -> None:
    labels = QUEUE | ({"kueue.x-k8s.io/priority-class": label} if label else {})
    of_pods = {"priorityClassName": pods} if pods else {}
    assert (
        added(cluster(*more), job(labels, template=template(**of_pods))).spec.priority == priority
    )


def test_defaulting_of_the_class_can_be_off() -> None:
    off = {"WorkloadPriorityClassDefaulting": False}
    gates = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration",
             "featureGates": off}  # fmt: skip
    assert added(cluster(kueue_class("default", 11), gates), job()).spec.priority is None


def test_queue_default_and_option() -> None:
    with pytest.raises(SchemaError) as caught:
        added(cluster(), job({}))
    told(caught.value)
    assert "metadata.labels" in caught.value.expected
    assert "--queue" in caught.value.hint
    named = {"apiVersion": KUEUE, "kind": "LocalQueue",
             "metadata": {"name": "default", "namespace": "ns"},
             "spec": {"clusterQueue": "other"}}  # fmt: skip
    assert added(cluster(named), job({})).spec.queue_name == "default"
    moved = added(cluster(), job({}), "ns/other")
    assert (moved.key, moved.spec.queue_name) == ("ns/job-train", "other")
    assert added(cluster(), job(), "ns/other").spec.queue_name == "other"


def test_defaults_of_the_namespace_apply() -> None:
    """A LimitRange gives what the pod leaves out; a RuntimeClass adds its overhead."""
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "ns"},
        "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "500m"}}]},
    }
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "kata"},
               "overhead": {"podFixed": {"cpu": "250m"}}}  # fmt: skip
    value = job(parallelism=2, template=template(runtimeClassName="kata"))
    assert totals(cluster(limits, runtime), value) == [(2, {"gpu": 4, "cpu": 1500})]


def test_it_is_planned_for_like_one_of_the_dump() -> None:
    """It wants 2 of a full queue: one of two workloads must go, and that of priority 1 is least."""
    state, (key,) = add_workloads(
        cluster(), [Item("file", (), job(QUEUE | {"kueue.x-k8s.io/priority-class": "high"}))]
    )
    plan = api.solve(state, key)
    assert (plan.status, plan.keys) == ("optimal", ("ns/old",))
    assert state.digest != cluster().digest


@pytest.mark.parametrize(
    "value",
    [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d"}},
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}},
        {**job(), "apiVersion": None},
        {**job(), "apiVersion": "batch/v1beta1"},
        job(parallelism="4"),
        job(parallelism=-1),
        job(template={}),
        job(template={"spec": {"containers": []}}),
        job(template={"spec": {"containers": [{"resources": {"requests": {"gpu": "two"}}}]}}),
        job({"kueue.x-k8s.io/queue-name": "taem"}),
        job(QUEUE | {"kueue.x-k8s.io/priority-class": "hihg"}),
        job(template=template(priorityClassName="none")),
        pod(labels=QUEUE | {"kueue.x-k8s.io/pod-group-name": "g"}),
        running("old", "team", 1)[0],
        {**pending("team", 1)[0], "spec": {"queueName": "team"}},
    ],
)
def test_what_is_wrong_is_said(value: Object) -> None:
    with pytest.raises(InputError, match=r"^file") as caught:
        added(cluster(), value)
    told((type(caught.value).__name__, caught.value))


@pytest.mark.parametrize("option", ["team", "/team", "ns/", "ns/nowhere"])
def test_queue_option_that_names_none(option: str) -> None:
    with pytest.raises(InputError, match=r"^--queue: "):
        added(cluster(), job(), option)


ODD: tuple[Any, ...] = (None, True, -1, 10**400, 1.5, "", "x", "\ud800", [], [None], {}, {"a": {}})


def with_odd_values(value: Any) -> Iterator[Any]:
    """Yield copies of a JSON value, each with something odd in one of its places."""
    yield from ODD
    pairs: Any = ()
    if isinstance(value, dict | list):
        pairs = list(value.items() if isinstance(value, dict) else enumerate(value))
    for key, item in pairs:
        for odd in with_odd_values(item):
            changed: Any = copy.copy(value)
            changed[key] = odd
            yield changed


@pytest.mark.parametrize("of", [job(parallelism=2), pod(), running("again", "team", 4)[0]])
def test_odd_values_are_refused_or_read(of: Object) -> None:
    """Files are written by hand: whatever they hold, there is one clear message or a workload."""
    state, messages = cluster(), []
    for value in [one for one in with_odd_values(of) if isinstance(one, dict)]:
        try:
            after, (key,) = add_workloads(state, [Item("file", (), value)])
            api.solve(after, key)
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 50
    assert all(message.startswith(("file", "test")) for message in messages)


def test_files_hold_documents_and_lists(tmp_path: Path) -> None:
    file = tmp_path / "many.yaml"
    listed = {"apiVersion": "v1", "kind": "List", "items": [job(), pod()]}
    bare = {"metadata": {"labels": QUEUE, "name": "bare"}, **template()}
    file.write_text(yaml.safe_dump_all([listed, bare]), encoding="utf-8")
    items = read_submissions(file)
    _, keys = add_workloads(cluster(), items, "ns/team")
    assert keys == ("ns/job-train", "ns/pod-solo", "ns/pod-bare")


def test_two_of_one_name_are_refused() -> None:
    items = [Item("file", (), job()), Item("file", (), job())]
    with pytest.raises(SchemaError, match="there already"):
        add_workloads(cluster(), items)


def test_cohort_shares_count() -> None:
    """A Job of 12 borrows 4 of the cohort, as a Workload of the dump would."""
    state = state_of(cohort("all", nominal=4), queue("team", 8, "all"))
    state, (key,) = add_workloads(state, [Item("file", (), job(parallelism=6))])
    told(api.solve(state, key).explanation)
