"""What is ignored is counted when somebody asks."""

from typing import Any

from planner.reader import Ignored, read_objects
from tests.reader.dumps import (
    NOW,
    V1BETA1,
    Object,
    cluster_queue,
    kueue,
    pods_asking,
    quota_of,
    workload,
)


def ignored_in(*objects: Object) -> Ignored:
    ignored = Ignored()
    read_objects(list(objects), where="x", now=NOW, ignored=ignored)
    return ignored


def test_nothing_is_unknown_in_what_is_read_whole() -> None:
    spec: Any = {"cohortName": "a", "resourceGroups": quota_of(nominalQuota="1"), "preemption": {}}
    queue = {**cluster_queue(**spec), "metadata": {"name": "cq", "managedFields": [], "uid": "u"}}
    ignored = ignored_in(queue, workload(podSets=pods_asking(cpu="1")))
    assert not ignored.fields
    assert not ignored.kinds


def test_fields_are_counted_by_path_wherever_they_stand() -> None:
    pods = [{"name": "a", "foo": 1}, {"name": "b", "foo": {"bar": 2}, "template": {"x": 1}}]
    ignored = ignored_in(
        workload("a", podSets=pods, foo=1),
        workload("b", podSets=pods, bar=None),
        cluster_queue(foo=1, preemption={"foo": 1}),
    )
    assert ignored.fields == {
        "Workload.spec.podSets.foo": 4,
        "Workload.spec.podSets.template.x": 2,
        "Workload.spec.foo": 1,
        "Workload.spec.bar": 1,
        "ClusterQueue.spec.foo": 1,
        "ClusterQueue.spec.preemption.foo": 1,
    }


def test_older_names_are_known() -> None:
    ignored = ignored_in(
        cluster_queue(version=V1BETA1, cohort="a", admissionChecks=["b"]),
        kueue("Cohort", "a", V1BETA1, spec={"parent": "b"}),
        workload(version=V1BETA1, priorityClassName="a", priorityClassSource=""),
    )
    assert not ignored.fields


def test_names_of_resources_and_labels_are_not_fields() -> None:
    flavor = kueue("ResourceFlavor", "f", spec={"nodeLabels": {"a": "b"}})
    assert not ignored_in(flavor, workload(podSets=pods_asking(odd="1"))).fields


def test_kinds_are_counted_by_name_and_group() -> None:
    ignored = ignored_in(
        cluster_queue(),
        {"apiVersion": "v1", "kind": "Service"},
        {"apiVersion": "v1", "kind": "Service"},
        {"apiVersion": "batch/v1", "kind": "Job"},
        {"kind": "Nameless"},
        {"apiVersion": "scheduling.example.com/v1", "kind": "ClusterQueue"},
    )
    assert ignored.kinds == {
        "Service": 2,
        "Job.batch": 1,
        "Nameless": 1,
        "ClusterQueue.scheduling.example.com": 1,
    }


def test_counting_changes_nothing_else() -> None:
    objects = [workload(foo=1), cluster_queue()]
    assert read_objects(objects, where="x", now=NOW, ignored=Ignored()) == read_objects(
        objects, where="x", now=NOW
    )
