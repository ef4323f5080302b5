"""Older versions of Kueue's API mean the same in their own words."""

from typing import Any

import pytest

from planner.state.kueue import State
from planner.state.kueue_topology import HOST
from tests.reader.dumps import (
    CONFIG,
    KUEUE,
    NOW,
    V1BETA1,
    V1BETA2,
    Object,
    cluster_queue,
    kueue,
    quota_of,
    refused,
    state_of,
    workload,
)
from tests.told import told

SPEC: Object = {"podSets": [{"name": "main", "count": 2}], "queueName": "lq", "priority": 7}


def content(state: State) -> dict[str, Any]:
    return state.model_dump(exclude={"digest"})


def of_pods(name: str) -> Object:
    return {"priorityClassName": name, "priorityClassSource": "scheduling.k8s.io/priorityclass"}


def of_kueue(name: str) -> Object:
    return {
        "priorityClassName": name,
        "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass",
    }


def reference(kind: str, name: str) -> Object:
    return {"priorityClassRef": {"kind": kind, "name": name}}


def placed(version: str, *domains: Object, **more: Any) -> Object:
    """Return a workload whose pods are on hosts, written as domains if there are any."""
    found = {"levels": ["rack", HOST], **({"domains": list(domains)} if domains else {}), **more}
    held = {"clusterQueue": "cq", "podSetAssignments": [{"topologyAssignment": found}]}
    return workload(version=version, **SPEC) | {"status": {"admission": held}}


DOMAINS: list[Object] = [
    {"values": ["ra", "n0"], "count": 3},
    {"values": ["rb", "n7"], "count": 1},
    {"values": ["n9"], "count": 2},
]
SLICES: list[Object] = [
    {
        "domainCount": 2,
        "valuesPerLevel": [
            {"individual": {"roots": ["ra", "rb"]}},
            {"individual": {"roots": ["n0", "n7"]}},
        ],
        "podCounts": {"individual": [3, 1]},
    },
    {
        "domainCount": 1,
        "valuesPerLevel": [{"individual": {"roots": ["n9"]}}],
        "podCounts": {"individual": [2]},
    },
]

SAME: dict[str, tuple[Object, Object]] = {
    "cohort": (cluster_queue(version=V1BETA1, cohort="root"), cluster_queue(cohortName="root")),
    "Borrow": (
        cluster_queue(version=V1BETA1, flavorFungibility={"whenCanBorrow": "Borrow"}),
        cluster_queue(flavorFungibility={"whenCanBorrow": "MayStopSearch"}),
    ),
    "Preempt": (
        cluster_queue(version=V1BETA1, flavorFungibility={"whenCanPreempt": "Preempt"}),
        cluster_queue(flavorFungibility={"whenCanPreempt": "MayStopSearch"}),
    ),
    "TryNextFlavor": (
        cluster_queue(version=V1BETA1, flavorFungibility={"whenCanBorrow": "TryNextFlavor"}),
        cluster_queue(flavorFungibility={"whenCanBorrow": "TryNextFlavor"}),
    ),
    "quotas": (
        cluster_queue(version=V1BETA1, resourceGroups=quota_of(nominalQuota="1Gi")),
        cluster_queue(resourceGroups=quota_of(nominalQuota="1Gi")),
    ),
    "Cohort of v1beta1": (
        kueue("Cohort", "a", V1BETA1, spec={"parentName": "b"}),
        kueue("Cohort", "a", V1BETA2, spec={"parentName": "b"}),
    ),
    "Cohort of v1alpha1": (
        kueue(
            "Cohort",
            "a",
            f"{KUEUE}/v1alpha1",
            spec={"parent": "b", "resourceGroups": quota_of(nominalQuota="1", lendingLimit="0")},
        ),
        kueue(
            "Cohort",
            "a",
            spec={"parentName": "b", "resourceGroups": quota_of(nominalQuota=1, lendingLimit=0)},
        ),
    ),
    "priority class of Kueue": (
        workload(version=V1BETA1, **SPEC, **of_kueue("high")),
        workload(**SPEC, **reference("WorkloadPriorityClass", "high")),
    ),
    "priority class of pods": (
        workload(version=V1BETA1, **SPEC, **of_pods("high")),
        workload(**SPEC, **reference("PriorityClass", "high")),
    ),
    "priority class of nobody": (
        workload(version=V1BETA1, **SPEC, priorityClassName="", priorityClassSource=""),
        workload(**SPEC),
    ),
    "places of pods": (placed(V1BETA1, *DOMAINS), placed(V1BETA2, slices=SLICES)),
    "LocalQueue": (
        kueue("LocalQueue", "lq", V1BETA1, spec={"clusterQueue": "cq"}),
        kueue("LocalQueue", "lq", V1BETA2, spec={"clusterQueue": "cq"}),
    ),
    "ResourceFlavor": (
        kueue("ResourceFlavor", "f", V1BETA1, spec={"nodeLabels": {"a": "b"}}),
        kueue("ResourceFlavor", "f", V1BETA2, spec={"nodeLabels": {"a": "b"}}),
    ),
    "AdmissionCheck": (
        kueue("AdmissionCheck", "ac", V1BETA1, spec={"controllerName": "x"}),
        kueue("AdmissionCheck", "ac", V1BETA2, spec={"controllerName": "x"}),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_older_object_equals_newer(name: str) -> None:
    older, newer = SAME[name]
    assert content(state_of(older)) == content(state_of(newer))


ASSIGNMENT = "status.admission.podSetAssignments.topologyAssignment"
DROPPED: dict[str, tuple[Object, Object]] = {
    "cohort": (cluster_queue(cohort="root", cohortName="a"), cluster_queue(cohortName="a")),
    "cohort alone": (cluster_queue(cohort="root"), cluster_queue()),
    "cohort that is no text": (cluster_queue(cohort=5), cluster_queue()),
    "admissionChecks": (cluster_queue(admissionChecks=["a"]), cluster_queue()),
    "parent": (
        kueue("Cohort", "a", V1BETA1, spec={"parent": "b"}),
        kueue("Cohort", "a", V1BETA1, spec={}),
    ),
    "priorityClassName": (workload(**SPEC, **of_pods("high")), workload(**SPEC)),
    f"{ASSIGNMENT}.domains": (placed(V1BETA2, *DOMAINS), placed(V1BETA2)),
    f"{ASSIGNMENT}.domains beside slices": (
        placed(V1BETA2, *DOMAINS, slices=SLICES),
        placed(V1BETA2, slices=SLICES),
    ),
    "priorityClassName of a version to come": (
        workload(version=f"{KUEUE}/v1beta9", **SPEC, **of_pods("high")),
        workload(version=f"{KUEUE}/v1beta9", **SPEC),
    ),
}


@pytest.mark.parametrize("name", DROPPED)
def test_a_field_of_an_older_version_is_left_out_with_a_note(name: str) -> None:
    """The API server knows only the fields of an object's version, and drops all others."""
    odd, same = DROPPED[name]
    found, expected = content(state_of(odd)), content(state_of(same))
    version, field = odd["apiVersion"], name.partition(" ")[0]
    field = field if "." in field else f"spec.{field}"
    note = (
        f"{odd['kind']} of {version} has {field}, a field of older versions: it was left out, "
        "as the API server leaves it out"
    )
    assert [one for one in found.pop("notes") if one not in expected["notes"]] == [note]
    del expected["notes"]
    assert found == expected


def test_a_field_that_stands_one_level_too_high_is_named() -> None:
    """As in kubernetes-sigs/kueue#6929, where queues are shown without what stands around."""
    odd = cluster_queue(reclaimWithinCohort="Any", unheardOf=1)
    (note,) = set(state_of(odd).notes) - set(state_of(cluster_queue()).notes)
    assert "cq has spec.reclaimWithinCohort, which is no field" in note
    assert note.endswith("spec.preemption.reclaimWithinCohort is one")


@pytest.mark.parametrize("empty", ["", None])
def test_an_empty_field_of_an_older_version_says_nothing(empty: str | None) -> None:
    odd = cluster_queue(cohort=empty, cohortName="a")
    assert content(state_of(odd)) == content(state_of(cluster_queue(cohortName="a")))


def test_admission_checks_of_both_forms_have_the_same_names() -> None:
    (older,) = state_of(cluster_queue(version=V1BETA1, admissionChecks=["a", "b"])).cluster_queues
    rules = {"admissionChecks": [{"name": "a"}, {"name": "b", "onFlavors": ["f"]}]}
    (newer,) = state_of(cluster_queue(admissionChecksStrategy=rules)).cluster_queues
    assert [rule.name for rule in older.check_rules] == ["a", "b"]
    assert [rule.name for rule in newer.check_rules] == ["a", "b"]


def configuration(version: str, **fields: Any) -> Object:
    return {"apiVersion": f"{CONFIG}/{version}", "kind": "Configuration", **fields}


@pytest.mark.parametrize(
    ("version", "fair_sharing", "is_on"),
    [
        ("v1beta1", None, False),
        ("v1beta1", {}, False),
        ("v1beta1", {"preemptionStrategies": ["LessThanInitialShare"]}, False),
        ("v1beta1", {"enable": None}, False),
        ("v1beta1", {"enable": False}, False),
        ("v1beta1", {"enable": True}, True),
        ("v1beta2", None, False),
        ("v1beta2", {}, True),
        ("v1beta2", {"preemptionStrategies": ["LessThanInitialShare"]}, True),
    ],
)
def test_fair_sharing_is_switched_on_differently(
    version: str, fair_sharing: Any, *, is_on: bool
) -> None:
    state = state_of(configuration(version, fairSharing=fair_sharing))
    assert state.configuration.fair_sharing_on is is_on


@pytest.mark.parametrize(
    ("version", "enable", "timestamp"),
    [
        ("v1beta1", {"enable": True}, "Creation"),
        ("v1beta1", {"enable": False}, None),
        ("v1beta1", {}, None),
        ("v1beta2", {}, "Creation"),
    ],
)
def test_wait_for_pods_ready_is_switched_on_differently(
    version: str, enable: Object, timestamp: str | None
) -> None:
    waiting = {"requeuingStrategy": {"timestamp": "Creation"}, **enable}
    read = state_of(configuration(version, waitForPodsReady=waiting)).configuration
    found = read.wait_for_pods_ready
    assert (found.requeuing_strategy.timestamp if found else None) == timestamp


@pytest.mark.parametrize(
    ("version", "waiting", "blocks"),
    [
        ("v1beta1", {"enable": True}, True),
        ("v1beta1", {"enable": True, "blockAdmission": False}, False),
        ("v1beta1", {"enable": False}, False),
        ("v1beta1", {}, False),
        ("v1beta2", {}, False),
        ("v1beta2", {"blockAdmission": True}, True),
    ],
)
def test_waiting_for_pods_blocks_admission_by_default_in_v1beta1(
    version: str, waiting: Object, *, blocks: bool
) -> None:
    """Kueue ff69552e apis/config/v1beta1/defaults.go and v1beta2/defaults.go."""
    read = state_of(configuration(version, waitForPodsReady=waiting)).configuration
    assert read.blocks_admission is blocks


@pytest.mark.parametrize("kind", ["ClusterQueue", "Cohort", "Workload", "ResourceFlavor"])
def test_version_from_the_future_is_read_as_the_newest_with_a_note(kind: str) -> None:
    state = state_of(kueue(kind, "a", f"{KUEUE}/v1beta9"), kueue(kind, "b", f"{KUEUE}/v1beta9"))
    told(state.notes)
    held = (*state.cluster_queues, *state.cohorts, *state.workloads, *state.resource_flavors)
    assert [each.metadata.name for each in held] == ["a", "b"]


def test_known_versions_need_no_note() -> None:
    assert state_of(cluster_queue(), cluster_queue("b", V1BETA1)).notes == ()


def test_kind_of_another_group_is_not_taken_for_kueues() -> None:
    foreign = {**cluster_queue("x"), "apiVersion": "scheduling.example.com/v1"}
    state = state_of(foreign, cluster_queue("mine"))
    assert [queue.name for queue in state.cluster_queues] == ["mine"]
    told(state.notes)


@pytest.mark.parametrize("api_version", [None, 5, "", ["v1"]])
def test_without_a_version_nobody_knows_what_it_means(api_version: Any) -> None:
    error = refused({**cluster_queue("team"), "apiVersion": api_version})
    told(error.where)
    assert "ClusterQueue team: " in error.found
    assert "apiVersion" in error.found
    assert error.expected == V1BETA2


def test_error_names_the_field_as_it_was_written() -> None:
    assert refused(cluster_queue(version=V1BETA1, cohort=5)).where.endswith("spec.cohort")
    assert refused(cluster_queue(cohortName=5)).where.endswith("spec.cohortName")
    alpha = kueue("Cohort", "a", f"{KUEUE}/v1alpha1", spec={"parent": 5})
    assert refused(alpha).where.endswith("spec.parent")
    assert refused(kueue("Cohort", "a", spec={"parentName": 5})).where.endswith("spec.parentName")
    named = workload(version=V1BETA1, priorityClassName=["x"])
    told(refused(named).where)


def test_clock_is_the_one_given() -> None:
    assert state_of(cluster_queue()).now.isoformat() == NOW.replace("Z", "+00:00")
