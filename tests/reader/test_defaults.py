"""What the API server fills in when a field is absent or null.

Source: the ``kubebuilder:default`` markers of kueue ff69552e, apis/kueue/v1beta2, and for the
Configuration apis/config/v1beta2/defaults.go.
"""

from typing import Any

import pytest

from planner.state.kueue import State
from planner.state.kueue_configuration import BOTH_STRATEGIES, FEATURE_GATES
from tests.reader.dumps import CONFIG, Object, cluster_queue, kueue, quota_of, state_of, workload

CQ: Object = {
    "queueing_strategy": "BestEffortFIFO",
    "flavor_fungibility.when_can_borrow": "MayStopSearch",
    "flavor_fungibility.when_can_preempt": "TryNextFlavor",
    "flavor_fungibility.preference": None,
    "preemption.reclaim_within_cohort": "Never",
    "preemption.within_cluster_queue": "Never",
    "preemption.borrow_within_cohort.policy": "Never",
    "preemption.borrow_within_cohort.max_priority_threshold": None,
    "stop_policy": "None",
    "fair_sharing.weight": 10**9,
    "cohort_name": "",
    "resource_groups": (),
}
EMPTY_CQS: dict[str, Object] = {
    "no spec": kueue("ClusterQueue", "cq"),
    "null spec": kueue("ClusterQueue", "cq", spec=None),
    "empty spec": cluster_queue(),
    "empty fields": cluster_queue(flavorFungibility={}, preemption={}, fairSharing={}),
    "null fields": cluster_queue(
        flavorFungibility=None,
        preemption=None,
        fairSharing=None,
        cohortName=None,
        resourceGroups=None,
        stopPolicy=None,
        queueingStrategy=None,
    ),
    "null below": cluster_queue(
        flavorFungibility={"whenCanBorrow": None, "whenCanPreempt": None, "preference": None},
        preemption={"withinClusterQueue": None, "borrowWithinCohort": {"policy": None}},
        fairSharing={"weight": None},
    ),
}


def at(value: Any, path: str) -> Any:
    for name in path.split("."):
        value = getattr(value, name)
    return value


@pytest.mark.parametrize("field", CQ)
@pytest.mark.parametrize("form", EMPTY_CQS)
def test_cluster_queue(form: str, field: str) -> None:
    (queue,) = state_of(EMPTY_CQS[form]).cluster_queues
    assert at(queue.spec, field) == CQ[field]


@pytest.mark.parametrize("limit", ["borrowingLimit", "lendingLimit"])
def test_absent_limit_is_not_a_limit_of_zero(limit: str) -> None:
    def quota(**fields: Any) -> Any:
        groups = quota_of(nominalQuota="1", **fields)
        (queue,) = state_of(cluster_queue(resourceGroups=groups)).cluster_queues
        return queue.spec.resource_groups[0].flavors[0].resources[0]

    name = {"borrowingLimit": "borrowing_limit", "lendingLimit": "lending_limit"}[limit]
    assert getattr(quota(), name) is None
    assert getattr(quota(**{limit: None}), name) is None
    assert getattr(quota(**{limit: "0"}), name) == 0


@pytest.mark.parametrize(
    "template", [{}, {"spec": None}, {"metadata": {"creationTimestamp": None}, "spec": {}}, None]
)
def test_pod_set(template: Any) -> None:
    (read,) = state_of(workload(podSets=[{"template": template}])).workloads
    (pods,) = read.spec.pod_sets
    assert (pods.name, pods.count, pods.min_count) == ("main", 1, None)
    assert pods.template.spec.containers == ()


@pytest.mark.parametrize("spec", [{}, {"active": None, "priority": None}])
def test_workload_is_active_and_has_no_priority_of_its_own(spec: Object) -> None:
    (read,) = state_of(workload(**spec)).workloads
    assert read.spec.active is True
    assert read.spec.priority is None
    assert read.status.admission is None
    assert read.is_pending
    assert not read.holds_quota


def test_pod_set_assignment() -> None:
    admission = {"clusterQueue": "cq", "podSetAssignments": [{"flavors": {"cpu": "default"}}]}
    (read,) = state_of({**workload(), "status": {"admission": admission}}).workloads
    assert read.status.admission is not None
    (assigned,) = read.status.admission.pod_set_assignments
    assert (assigned.name, assigned.count, assigned.resource_usage) == ("main", None, {})


def test_condition_may_lack_everything_but_its_type() -> None:
    status = {"conditions": [{"type": "QuotaReserved"}, {"type": "Finished", "reason": None}]}
    (read,) = state_of({**workload(), "status": status}).workloads
    first, second = read.status.conditions
    assert (first.status, first.reason, first.last_transition_time) == ("Unknown", "", None)
    assert (second.type, second.reason) == ("Finished", "")


def test_cohort_local_queue_and_flavor() -> None:
    state = state_of(
        kueue("Cohort", "c"), kueue("LocalQueue", "lq", spec={}), kueue("ResourceFlavor", "f")
    )
    assert state.cohorts[0].spec.fair_sharing.weight == 10**9
    assert state.cohorts[0].spec.parent_name == ""
    assert state.local_queues[0].spec.stop_policy == "None"
    flavor = state.resource_flavors[0].spec
    assert (flavor.node_labels, flavor.node_taints, flavor.tolerations) == ({}, (), ())


def test_toleration_is_equal_unless_it_says_otherwise() -> None:
    spec = {"tolerations": [{"key": "a"}, {"key": "b", "operator": "Exists"}]}
    (flavor,) = state_of(kueue("ResourceFlavor", "f", spec=spec)).resource_flavors
    assert [each.operator for each in flavor.spec.tolerations] == ["Equal", "Exists"]


@pytest.mark.parametrize("kind", ["Workload", "LocalQueue"])
@pytest.mark.parametrize("namespace", [None, ""])
def test_absent_namespace_is_default(kind: str, namespace: Any) -> None:
    unplaced = {**kueue(kind, "a"), "metadata": {"name": "a", "namespace": namespace}}
    state = state_of(unplaced)
    read = [one.metadata.namespace for one in (*state.workloads, *state.local_queues)]
    assert read == ["default"]


def test_absent_namespace_shows_in_the_key() -> None:
    (read,) = state_of({**workload("a"), "metadata": {"name": "a"}}).workloads
    assert read.key == "default/a"


def configuration_of(**fields: Any) -> State:
    header = {"apiVersion": f"{CONFIG}/v1beta2", "kind": "Configuration"}
    return state_of(cluster_queue(), {**header, **fields})


@pytest.mark.parametrize("state", [state_of(cluster_queue()), configuration_of()])
def test_configuration(state: State) -> None:
    read = state.configuration
    assert read.fair_sharing_on is False
    assert read.strategies == BOTH_STRATEGIES
    assert read.wait_for_pods_ready is None
    assert read.resources.quota_check_strategy == "BlockUndeclared"
    assert read.resources.exclude_prefixes == ()
    assert {name: read.gate(name) for name in FEATURE_GATES} == FEATURE_GATES


def test_configuration_below() -> None:
    transformations = [{"input": "example.com/gpu", "outputs": {"example.com/memory": "4Gi"}}]
    read = configuration_of(
        waitForPodsReady={}, resources={"transformations": transformations}
    ).configuration
    assert read.wait_for_pods_ready is not None
    assert read.wait_for_pods_ready.requeuing_strategy.timestamp == "Eviction"
    assert read.resources.transformations[0].strategy == "Retain"


def test_one_gate_set_leaves_the_others() -> None:
    read = configuration_of(featureGates={"PartialAdmission": False}).configuration
    assert not read.gate("PartialAdmission")
    assert read.gate("FlavorFungibility")
