"""A field with a wrong type or value, or ignored: where it is, what was found, a hint."""

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

QUANTITY = "a number with an optional suffix n u m k M G T P E or Ki Mi Gi Ti Pi Ei"
ROW = "spec.namespaceSelector.matchExpressions[0]"
MEMORY = "spec.resourceGroups[0].flavors[0].resources[0]"
REQUESTS = "spec.podSets[0].template.spec.containers[0].resources.requests"


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


# object, path below items[0], found, expected, hint
BAD: list[tuple[Object, str, str, str, str]] = [
    # counts
    (workload(podSets=[{"count": -1}]), "spec.podSets[0].count", "-1 is too small", "least 0", ""),
    (workload(podSets=[{"count": 2**31}]), "spec.podSets[0].count", "too large", "2147483647", ""),
    (workload(podSets=[{"count": 10**99}]), "spec.podSets[0].count", "too large", "", ""),
    (workload(podSets=[{"count": 1.5}]), "spec.podSets[0].count", "1.5 is not a whole", "", ""),
    (workload(podSets=[{"count": "3"}]), "spec.podSets[0].count", '"3" is not', "", "the quotes"),
    (workload(podSets=[{"count": "x"}]), "spec.podSets[0].count", '"x" is not a whole', "", ""),
    (workload(podSets=[{"count": True}]), "spec.podSets[0].count", "true is not a whole", "", ""),
    (workload(podSets=[{"count": []}]), "spec.podSets[0].count", "an empty list is not", "", ""),
    (workload(podSets=[{"minCount": 0}]), "spec.podSets[0].minCount", "0 is too small", "1", ""),
    (holding(podSetAssignments=[{"count": -2}]), "", "-2 is too small", "at least 0", ""),
    # quotas and quantities
    (quota(nominalQuota="-1"), f"{MEMORY}.nominalQuota", '"-1" is negative', "0 or more", ""),
    (quota(nominalQuota=-1), f"{MEMORY}.nominalQuota", "-1 is negative", "0 or more", ""),
    (quota(borrowingLimit="-1m"), f"{MEMORY}.borrowingLimit", "is negative", "0 or more", ""),
    (quota(lendingLimit="-1Gi"), f"{MEMORY}.lendingLimit", "is negative", "0 or more", ""),
    (quota(nominalQuota="1.5Gib"), f"{MEMORY}.nominalQuota", '"1.5Gib"', QUANTITY, '"1.5Gi"'),
    (quota(nominalQuota="16 GB"), f"{MEMORY}.nominalQuota", '"16 GB"', QUANTITY, '"16G"'),
    (quota(nominalQuota="4gi"), f"{MEMORY}.nominalQuota", '"4gi"', QUANTITY, '"4Gi"'),
    (quota(nominalQuota="4KB"), f"{MEMORY}.nominalQuota", '"4KB"', QUANTITY, '"4k"'),
    (quota(nominalQuota="1,5Gi"), f"{MEMORY}.nominalQuota", '"1,5Gi"', QUANTITY, '"1.5Gi"'),
    (quota(nominalQuota="512mb"), f"{MEMORY}.nominalQuota", '"512mb"', QUANTITY, '"512M"'),
    (quota(nominalQuota="lots"), f"{MEMORY}.nominalQuota", '"lots"', QUANTITY, ""),
    (quota(nominalQuota=""), f"{MEMORY}.nominalQuota", '""', QUANTITY, ""),
    (quota(nominalQuota=True), f"{MEMORY}.nominalQuota", "true is not a Kub", QUANTITY, ""),
    (quota(nominalQuota=[1]), f"{MEMORY}.nominalQuota", "a list of 1", QUANTITY, ""),
    (quota(nominalQuota={"a": 1}), f"{MEMORY}.nominalQuota", "an object", QUANTITY, ""),
    (quota(nominalQuota=float("inf")), f"{MEMORY}.nominalQuota", "inf", QUANTITY, ""),
    (quota(nominalQuota="9" * 99), f"{MEMORY}.nominalQuota", "99...", QUANTITY, ""),
    (asking(cpu="2 cores"), f"{REQUESTS}.cpu", '"2 cores"', QUANTITY, ""),
    (asking(**{"nvidia.com/gpu": "8x"}), f'{REQUESTS}["nvidia.com/gpu"]', '"8x"', QUANTITY, ""),
    (
        holding(podSetAssignments=[{"resourceUsage": {"cpu": "-1"}}]),
        "status.admission.podSetAssignments[0].resourceUsage.cpu",
        '"-1" is negative',
        "0 or more",
        "",
    ),
    # label selectors
    (selecting("Equals", "x"), f"{ROW}.operator", '"Equals" is not', "one of In, NotIn, Ex", ""),
    (selecting("exists"), f"{ROW}.operator", '"exists" is not', "", 'did you mean "Exists"?'),
    (selecting("Gt", "1"), f"{ROW}.operator", '"Gt" is not', "one of In, NotIn, Exists", ""),
    (selecting("In"), f"{ROW}.values", "an empty list does not fit", "one or more values", ""),
    (selecting("NotIn"), f"{ROW}.values", "an empty list does not", "operator is NotIn", ""),
    (selecting("Exists", "x"), f"{ROW}.values", "a list of 1 does not fit", "no values, as", ""),
    (selecting("DoesNotExist", "x"), f"{ROW}.values", "a list of 1", "is DoesNotExist", ""),
    # policies
    (
        cluster_queue(preemption={"withinClusterQueue": "lowerpriority"}),
        "spec.preemption.withinClusterQueue",
        '"lowerpriority" is not',
        "one of Never, LowerPriority, LowerOrNewerEqualPriority",
        'did you mean "LowerPriority"?',
    ),
    (
        cluster_queue(preemption={"reclaimWithinCohort": "LowerOrNewerEqualPriority"}),
        "spec.preemption.reclaimWithinCohort",
        '"LowerOrNewerEqualPriority" is not',
        "one of Never, LowerPriority, Any",
        'did you mean "LowerPriority"?',
    ),
    (
        cluster_queue(preemption={"borrowWithinCohort": {"policy": "Any"}}),
        "spec.preemption.borrowWithinCohort.policy",
        '"Any" is not',
        "one of Never, LowerPriority",
        "",
    ),
    (
        cluster_queue(preemption={"borrowWithinCohort": {"maxPriorityThreshold": "5"}}),
        "spec.preemption.borrowWithinCohort.maxPriorityThreshold",
        '"5" is not a whole number',
        "",
        "leave out the quotes",
    ),
    (
        cluster_queue(flavorFungibility={"whenCanBorrow": "TryNext"}),
        "spec.flavorFungibility.whenCanBorrow",
        '"TryNext" is not',
        "one of MayStopSearch, TryNextFlavor",
        'did you mean "TryNextFlavor"?',
    ),
    (
        cluster_queue(flavorFungibility={"preference": "Borrowing"}),
        "spec.flavorFungibility.preference",
        '"Borrowing" is not',
        "one of BorrowingOverPreemption, PreemptionOverBorrowing",
        "",
    ),
    (cluster_queue(stopPolicy="hold"), "spec.stopPolicy", '"hold"', "HoldAndDrain", '"Hold"'),
    (cluster_queue(queueingStrategy="FIFO"), "spec.queueingStrategy", '"FIFO"', "StrictFIFO", ""),
    (cluster_queue(stopPolicy=True), "spec.stopPolicy", "true is not", "None, Hold", ""),
    # shapes
    (cluster_queue(resourceGroups={}), "spec.resourceGroups", "an empty object", "a list", ""),
    (cluster_queue(resourceGroups=[5]), "spec.resourceGroups[0]", "5", "an object", ""),
    (cluster_queue(resourceGroups=[None]), "spec.resourceGroups[0]", "null", "an object", ""),
    (cluster_queue(preemption="Never"), "spec.preemption", '"Never"', "an object", ""),
    (kueue("ClusterQueue", "cq", spec=[]), "spec", "an empty list", "an object", ""),
    (quota(name=""), f"{MEMORY}.name", '"" is empty', "a name", ""),
    (workload(podSets="main"), "spec.podSets", '"main" is not a list', "a list", ""),
    (workload(active="false"), "spec.active", '"false"', "true or false", "the quotes"),
    (workload(active=0), "spec.active", "0 is neither", "true or false", ""),
    (workload(priority=2**31), "spec.priority", "2147483648 is too large", "2147483647", ""),
    (holding(clusterQueue=7), "status.admission.clusterQueue", "7", "a string", "in quotes"),
    (
        {**workload(), "status": {"admission": {}}},
        "status.admission.clusterQueue",
        "missing",
        "",
        "",
    ),
    (
        kueue("ResourceFlavor", "f", spec={"nodeLabels": {"gpu": True}}),
        "spec.nodeLabels.gpu",
        "true is not a string",
        "a string",
        "put it in quotes",
    ),
    (
        kueue("ResourceFlavor", "f", spec={"nodeLabels": {"a/b c": 1}}),
        'spec.nodeLabels["a/b c"]',
        "1 is not a string",
        "a string",
        "put it in quotes",
    ),
    # metadata and time
    ({"apiVersion": "v1", "kind": "LimitRange"}, "metadata", "LimitRange: is missing", "", ""),
    (named({}), "metadata.name", "ClusterQueue: is missing", "", ""),
    (named({"name": ""}), "metadata.name", '"" is empty', "a name", ""),
    (named({"name": 5}), "metadata.name", "5 is not a string", "a string", "put it in quotes"),
    (named({"name": "x" * 254}), "metadata.name", "is too long", "at most 253 characters", ""),
    (named("cq"), "metadata", '"cq" is not an object', "an object", ""),
    (named({"name": "a\ud800"}), "metadata.name", r"\ud800", "whole characters", ""),
    (created("yesterday"), "metadata.creationTimestamp", '"yesterday"', "RFC 3339", ""),
    (created("2026-03-08"), "metadata.creationTimestamp", '"2026-03-08"', "RFC 3339", ""),
    (created("2026-03-08T21:06:00"), "metadata.creationTimestamp", "", "RFC", "the time zone"),
    (created("2026-02-30T21:06:00Z"), "metadata.creationTimestamp", "02-30", "RFC 3339", ""),
    (created("20260308T210600Z"), "metadata.creationTimestamp", "20260308", "RFC 3339", ""),
    (created(1772995560), "metadata.creationTimestamp", "1772995560", "RFC 3339", ""),
    (condition(status="True"), "status.conditions[0].type", "is missing", "", ""),
    (condition(type="Evicted", status=True), "status.conditions[0].status", "true", "", "quotes"),
]


@pytest.mark.parametrize(("thing", "path", "found", "expected", "hint"), BAD)
def test_bad_field(thing: Object, path: str, found: str, expected: str, hint: str) -> None:
    error = error_of(
        lambda: read_objects(listed(cluster_queue("good"), thing), where="d.json", digest="")
    )
    assert isinstance(error, SchemaError)
    assert error.where.startswith("d.json: items[1].")
    assert path in error.where
    assert found in error.found
    assert expected in error.expected
    assert hint in error.hint
    assert bool(hint) == bool(error.hint)
    # It is printed somewhere, in a few lines.
    assert len(str(error).encode().splitlines()) <= 3
    assert len(error.found) < 200


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
    ("fields", "path", "found", "expected"),
    [
        ({"featureGates": {"PriorityBoost": "true"}}, "featureGates.PriorityBoost", '"true"', ""),
        ({"featureGates": ["PriorityBoost"]}, "featureGates", "a list of 1", "an object"),
        (
            {"fairSharing": {"preemptionStrategies": STRATEGIES}},
            "fairSharing.preemptionStrategies",
            "a list of 2 cannot be used",
            "LessThanOrEqualToFinalShare followed by LessThanInitialShare",
        ),
        (
            {"fairSharing": {"preemptionStrategies": ["LessThan"]}},
            "fairSharing.preemptionStrategies[0]",
            '"LessThan"',
            "one of LessThanOrEqualToFinalShare, LessThanInitialShare",
        ),
        (
            {"waitForPodsReady": {"requeuingStrategy": {"timestamp": "Never"}}},
            "waitForPodsReady.requeuingStrategy.timestamp",
            '"Never"',
            "one of Eviction, Creation",
        ),
        (
            {"resources": {"transformations": [{"outputs": {"a": "b"}}]}},
            "resources.transformations[0].input",
            "is missing",
            "",
        ),
    ],
)
def test_bad_configuration(fields: Object, path: str, found: str, expected: str) -> None:
    header = {"apiVersion": f"{CONFIG}/v1beta2", "kind": "Configuration"}
    error = refused({**header, **fields})
    assert error.where == f"dump.json: items[0].{path}"
    assert error.found.startswith("Configuration: ")
    assert found in error.found
    assert expected in error.expected


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
    assert "3 Pod, 1 Service" in error.found


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
