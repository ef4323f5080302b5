"""A field with a wrong type or value, or ignored: where it is, what was found, a hint."""

from functools import partial
from typing import Any

import pytest

from planner.errors import SchemaError
from planner.reader import Ignored, read_objects
from tests.reader.dumps import (
    CONFIG,
    KUEUE,
    NOW,
    V1BETA1,
    V1BETA2,
    Object,
    cluster_queue,
    error_of,
    kueue,
    listed,
    pods_asking,
    quota_of,
    refused,
    state_of,
    workload,
)
from tests.told import told


def quota(**fields: Any) -> Object:
    return cluster_queue(resourceGroups=quota_of(**fields))


def asking(**requests: Any) -> Object:
    return workload(podSets=pods_asking(**requests))


def holding(**admission: Any) -> Object:
    return {**workload(), "status": {"admission": {"clusterQueue": "cq", **admission}}}


def selecting(operator: str, *values: str) -> Object:
    row = {"key": "team", "operator": operator, "values": list(values)}
    return cluster_queue(namespaceSelector={"matchExpressions": [row]})


def named(metadata: Any) -> Object:
    return {**cluster_queue(), "metadata": metadata}


def created(moment: Any) -> Object:
    return named({"name": "cq", "creationTimestamp": moment})


def condition(**fields: Any) -> Object:
    return {**workload(), "status": {"conditions": [fields]}}


NO_QUANTITIES: tuple[object, ...] = (
    *("1.5Gib", "16 GB", "4gi", "4KB", "1,5Gi", "512mb", "lots", ""),
    *(True, [1], {"a": 1}, float("inf"), "9" * 99),
)
NO_TIMES: tuple[object, ...] = (
    *("yesterday", "2026-03-08", "2026-03-08T21:06:00", "2026-02-30T21:06:00Z"),
    *("20260308T210600Z", 1772995560),
)
NO_COUNTS: tuple[object, ...] = (-1, 2**31, 10**99, 1.5, "3", "x", True, [])
QUOTAS_TWICE: tuple[list[Object], ...] = (
    quota_of() * 2,
    [{**quota_of()[0], "flavors": quota_of()[0]["flavors"] * 2}],
    [{"flavors": [{"name": "f", "resources": [{"name": "cpu", "nominalQuota": 1}] * 2}]}],
)
BAD: dict[str, list[Object]] = {
    "counts": [
        *(workload(podSets=[{"count": count}]) for count in NO_COUNTS),
        workload(podSets=[{"minCount": 0}]),
        holding(podSetAssignments=[{"count": -2}]),
    ],
    "quotas and quantities": [
        quota(nominalQuota="-1"),
        quota(nominalQuota=-1),
        quota(borrowingLimit="-1m"),
        quota(lendingLimit="-1Gi"),
        quota(nominalQuota=None),
        *(quota(nominalQuota=text) for text in NO_QUANTITIES),
        asking(cpu="2 cores"),
        asking(**{"nvidia.com/gpu": "8x"}),
        holding(podSetAssignments=[{"resourceUsage": {"cpu": "-1"}}]),
    ],
    "label selectors": [
        selecting("Equals", "x"),
        selecting("exists"),
        selecting("Gt", "1"),
        selecting("In"),
        selecting("NotIn"),
        selecting("Exists", "x"),
        selecting("DoesNotExist", "x"),
    ],
    "policies": [
        cluster_queue(preemption={"withinClusterQueue": "lowerpriority"}),
        cluster_queue(preemption={"reclaimWithinCohort": "LowerOrNewerEqualPriority"}),
        cluster_queue(preemption={"borrowWithinCohort": {"policy": "Any"}}),
        cluster_queue(preemption={"borrowWithinCohort": {"maxPriorityThreshold": "5"}}),
        cluster_queue(flavorFungibility={"whenCanBorrow": "TryNext"}),
        cluster_queue(flavorFungibility={"preference": "Borrowing"}),
        cluster_queue(stopPolicy="hold"),
        cluster_queue(queueingStrategy="FIFO"),
        cluster_queue(stopPolicy=True),
    ],
    "shapes": [
        cluster_queue(resourceGroups={}),
        cluster_queue(resourceGroups=[5]),
        cluster_queue(resourceGroups=[None]),
        cluster_queue(preemption="Never"),
        kueue("ClusterQueue", "cq", spec=[]),
        quota(name=""),
        *(cluster_queue(resourceGroups=groups) for groups in QUOTAS_TWICE),
        workload(podSets="main"),
        workload(active="false"),
        workload(active=0),
        workload(priority=2**31),
        holding(clusterQueue=7),
        {**workload(), "status": {"admission": {}}},
        kueue("ResourceFlavor", "f", spec={"nodeLabels": {"gpu": True}}),
        kueue("ResourceFlavor", "f", spec={"nodeLabels": {"a/b c": 1}}),
    ],
    "metadata and time": [
        {"apiVersion": "v1", "kind": "LimitRange"},
        named({}),
        named({"name": ""}),
        named({"name": 5}),
        named({"name": "x" * 254}),
        named("cq"),
        named({"name": "a\ud800"}),
        *map(created, NO_TIMES),
        condition(status="True"),
        condition(type="Evicted", status=True),
    ],
}
"""Objects with one bad field."""


@pytest.mark.parametrize("topic", BAD)
def test_bad_field(topic: str) -> None:
    errors = []
    for thing in BAD[topic]:
        listing = listed(cluster_queue("good"), thing)
        error = error_of(partial(read_objects, listing, where="d.json", digest=""))
        assert isinstance(error, SchemaError)
        assert error.where.startswith("d.json: items[1].")
        # It is printed somewhere, in a few lines.
        assert len(str(error).encode().splitlines()) <= 3
        assert len(error.found) < 200
        errors.append(error)
    told(errors)


@pytest.mark.parametrize(
    "thing",
    [
        workload("train", podSets=[{"count": -1}]),
        {**workload(priority="x"), "metadata": {"name": "a"}},
        cluster_queue("cq-1", stopPolicy=0),
        kueue("Cohort", "root", spec=5),
        named({"name": {}, "namespace": "x"}),
    ],
)
def test_message_names_the_object(thing: Object) -> None:
    told(refused(thing).found)


def test_first_error_says_how_many_there_are() -> None:
    one = workload("a", podSets=[{"count": -1}])
    two = workload("b", podSets=[{"count": -1, "minCount": 0}])
    error = refused(cluster_queue(), one, two, cluster_queue("z"))
    told(error.where)
    told(error.found)
    assert "the first of" not in refused(one).found


STRATEGIES = ["LessThanInitialShare", "LessThanOrEqualToFinalShare"]


@pytest.mark.parametrize(
    "fields",
    [
        {"featureGates": {"PriorityBoost": "true"}},
        {"featureGates": ["PriorityBoost"]},
        {"fairSharing": {"preemptionStrategies": STRATEGIES}},
        {"fairSharing": {"preemptionStrategies": ["LessThan"]}},
        {"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Never"}}},
        {"resources": {"transformations": [{"outputs": {"a": "b"}}]}},
    ],
)
def test_bad_configuration(fields: Object) -> None:
    header = {"apiVersion": f"{CONFIG}/v1beta2", "kind": "Configuration"}
    told(refused({**header, **fields}))


@pytest.mark.parametrize(
    ("value", "where"),
    [
        (5, "x"),
        ("text", "x"),
        (None, "x"),
        ([None], "x: [0]"),
        ([[cluster_queue(), 7]], "x: [0][1]"),
        ({}, "x"),
        ({"metadata": {"name": "a"}}, "x"),
        ({"schema": "planner/v1", "scheduler": "kueue"}, "x"),
        ([cluster_queue(), {"kind": ""}], "x: [1]"),
        ({"kind": 5}, "x"),
        ({"kind": ["List"]}, "x"),
        ({"kind": "List", "items": 5}, "x: items"),
        ({"kind": "List", "items": {"a": 1}}, "x: items"),
        (listed(listed(5)), "x: items[0].items[0]"),  # type: ignore[arg-type]
        ({"state": 5}, "x: state"),
    ],
)
def test_what_is_no_object_at_all(value: Any, where: str) -> None:
    error = error_of(lambda: read_objects(value, where="x", now=NOW))
    assert error.where == where
    told(error.found)
    assert error.expected


def test_only_other_kinds_is_an_error_which_says_so() -> None:
    pods = [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"p{n}", "namespace": "ns"}}
        for n in range(3)
    ]
    error = refused(*pods, {"apiVersion": "v1", "kind": "Service"})
    told(error.found)


# Odd things that a real dump can hold, and Kueue lives with.
ODD: list[Object] = [
    workload(podSets=pods_asking(cpu="-1", memory=0.5)),
    workload(podSets=[]),
    workload(podSets=[{"template": {"spec": {"terminationGracePeriodSeconds": 2**40}}}]),
    holding(podSetAssignments=[{"flavors": {}, "resourceUsage": {"cpu": "0"}}]),
    condition(type="Evicted", status="True", reason="", message=None, lastTransitionTime=None),
    {**workload(), "metadata": {"name": "a", "annotations": {"x": ""}, "labels": None}},
    quota(nominalQuota="1", borrowingLimit="1"),
    quota(nominalQuota="10E"),
    cluster_queue(resourceGroups=[{"coveredResources": ["cpu"], "flavors": []}]),
    cluster_queue(cohortName="", somethingNew={"deep": [{"er": None}]}),
]


@pytest.mark.parametrize("thing", ODD)
def test_odd_things_are_read(thing: Object) -> None:
    state = state_of(thing)
    assert len(state.workloads) + len(state.cluster_queues) == 1


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
        kueue("Cohort", "a", f"{KUEUE}/v1alpha1", spec={"parent": "b"}),
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


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        # kubectl prints the fields of a list in the order of their names: kind comes after items.
        ({"apiVersion": "v1", "items": [cluster_queue()]}, "interrupted?"),
        ({"type": "ADDED", "object": cluster_queue()}, "--watch"),
        ({"Name": "cq", "API Version": V1BETA2, "Kind": "ClusterQueue"}, "kubectl get -o json"),
        ({"managerConfig": {"controllerManagerConfigYaml": "kind: Configuration"}}, "ConfigMap"),
    ],
)
def test_what_people_take_for_objects_has_a_hint(value: Any, hint: str) -> None:
    error = refused(value)
    told(error.found)
    assert hint in error.hint


def test_a_refusal_of_the_api_server_is_not_passed_over() -> None:
    # What the API server answers where a list is not permitted (apimachinery, metav1.Status).
    refusal = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    said = {"message": "cohorts.kueue.x-k8s.io is forbidden", "reason": "Forbidden", "code": 403}
    error = refused(cluster_queue(), {**refusal, **said})
    told(error.where)
    told(error.found)
