"""What is not said: defaults of the API server, Kueue's Configuration, priority classes.

Source: the ``kubebuilder:default`` markers of kueue ff69552e, apis/kueue/v1beta2, and for the
Configuration apis/config/v1beta2/defaults.go.
"""

from typing import Any

import pytest
import yaml

from planner.reader import Ignored
from planner.state.kueue import Configuration, State
from planner.state.kueue_configuration import BOTH_STRATEGIES, FEATURE_GATES
from planner.state.pods import Taint
from tests.kueue_state import read_objects
from tests.reader.dumps import (
    CONFIG,
    NOW,
    V1BETA1,
    Object,
    cluster_queue,
    kueue,
    quota_of,
    refused,
    state_of,
    workload,
)
from tests.told import told

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
    taints = [Taint(key=key, value=value) for key in ("a", "b") for value in ("", "v")]
    accepted = [[each.accepts(one) for one in taints] for each in flavor.spec.tolerations]
    assert accepted == [[True, False, False, False], [False, False, True, True]]


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


CONFIGURATION: Object = {
    "apiVersion": f"{CONFIG}/v1beta2",
    "kind": "Configuration",
    "metrics": {"bindAddress": ":8443"},
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
    "featureGates": {"PriorityBoost": True},
    "waitForPodsReady": {"timeout": "5m", "requeuingStrategy": {"timestamp": "Creation"}},
    "resources": {
        "excludeResourcePrefixes": ["networking.example.com/"],
        "transformations": [
            {"input": "example.com/a", "strategy": "Replace", "outputs": {"example.com/b": "2"}}
        ],
    },
}
IN = 'dump.json: items[0].data["controller_manager_config.yaml"]'


def config_map(text: Any, key: str = "controller_manager_config.yaml") -> Object:
    metadata = {"name": "kueue-manager-config", "namespace": "kueue-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: text}}


def test_object_is_read() -> None:
    read = state_of(CONFIGURATION).configuration
    assert read.strategies == ("LessThanInitialShare",)
    assert read.fair_sharing_on
    assert read.gate("PriorityBoost")
    assert read.wait_for_pods_ready is not None
    assert read.wait_for_pods_ready.requeuing_strategy.timestamp == "Creation"
    assert read.resources.exclude_prefixes == ("networking.example.com/",)
    (transformation,) = read.resources.transformations
    assert (transformation.input, transformation.strategy) == ("example.com/a", "Replace")
    assert transformation.outputs == {"example.com/b": 2 * 10**9}


@pytest.mark.parametrize(
    "text",
    [
        yaml.safe_dump(CONFIGURATION),
        "# Kueue\n---\n" + yaml.safe_dump(CONFIGURATION),
        yaml.safe_dump({"kind": "Other"}) + "---\n" + yaml.safe_dump(CONFIGURATION),
    ],
)
def test_text_in_a_config_map_is_the_same(text: str) -> None:
    assert state_of(config_map(text)).configuration == state_of(CONFIGURATION).configuration


def test_v1beta1_in_a_config_map_needs_its_switch() -> None:
    older = {**CONFIGURATION, "apiVersion": f"{CONFIG}/v1beta1"}
    assert not state_of(config_map(yaml.safe_dump(older))).configuration.fair_sharing_on
    older["fairSharing"] = {**older["fairSharing"], "enable": True}
    assert state_of(config_map(yaml.safe_dump(older))).configuration.fair_sharing_on


@pytest.mark.parametrize(
    "foreign",
    [
        config_map("apiVersion: example.com/v1\nkind: Configuration\n"),
        config_map("apiVersion: config.kueue.x-k8s.io.example/v1\nkind: Configuration\n"),
        config_map("kind: Configuration\n"),
        config_map("apiVersion: [1]\nkind: Configuration\n"),
        config_map("just: text"),
        config_map("{ broken"),
        config_map(""),
        config_map(5),
        config_map(yaml.safe_dump(CONFIGURATION), key="config.yaml"),
        {"apiVersion": "v1", "kind": "ConfigMap", "data": None},
        {"apiVersion": "v1", "kind": "ConfigMap", "data": ["controller_manager_config.yaml"]},
    ],
)
def test_config_maps_of_others_are_ignored_and_counted(foreign: Object) -> None:
    ignored = Ignored()
    objects = [foreign, cluster_queue()]
    state = read_objects(objects, where="x", now=NOW, ignored=ignored)
    assert state.configuration == Configuration()
    assert ignored.kinds == {"ConfigMap": 1}


def test_bad_field_in_a_config_map_has_its_whole_path() -> None:
    bad = {**CONFIGURATION, "fairSharing": {"preemptionStrategies": ["LessThanInitialShar"]}}
    error = refused(config_map(yaml.safe_dump(bad)))
    assert error.where == f"{IN}.fairSharing.preemptionStrategies[0]"
    told(error.hint)


def test_broken_yaml_of_kueue_in_a_config_map_is_an_error_with_its_line() -> None:
    error = refused(config_map(f"apiVersion: {CONFIG}/v1beta2\nkind: Configuration\n  a: b\n"))
    assert error.where == f"{IN}: line 3 column 4"


def test_bomb_in_a_config_map_is_an_error() -> None:
    bomb = f"# {CONFIG}\na: " + "[" * 1000
    assert "200 deep" in refused(config_map(bomb)).found


def kueue_class(name: str, value: int) -> Object:
    return kueue("WorkloadPriorityClass", name, value=value)


def pod_class(name: str, value: int) -> Object:
    header = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**header, "metadata": {"name": name}, "value": value}


def naming(kind: str, name: str, **spec: Any) -> Object:
    return workload(**spec, priorityClassRef={"kind": kind, "name": name})


CLASSES = [kueue_class("high", 1000), pod_class("high", 5), pod_class("low", -3)]


@pytest.mark.parametrize(
    ("named", "priority"),
    [
        (naming("WorkloadPriorityClass", "high"), 1000),
        (naming("PriorityClass", "high"), 5),
        (naming("PriorityClass", "low"), -3),
        (naming("PriorityClass", "system-cluster-critical"), 2_000_000_000),
        (naming("PriorityClass", "system-node-critical"), 2_000_001_000),
        (naming("WorkloadPriorityClass", "high", priority=0), 0),
        (naming("WorkloadPriorityClass", "high", priority=7), 7),
        (workload(version=V1BETA1, priorityClassName="high"), 1000),
        (workload(), None),
    ],
)
@pytest.mark.parametrize("classes_first", [True, False])
def test_class_of_the_right_kind_counts_and_a_number_counts_more(
    named: Object, priority: int | None, *, classes_first: bool
) -> None:
    objects = [*CLASSES, named] if classes_first else [named, *CLASSES]
    state = state_of(*objects)
    assert state.workloads[0].spec.priority == priority
    assert state.notes == ()


def test_nothing_else_of_the_workload_changes() -> None:
    spec: Object = {"queueName": "lq", "podSets": [{"count": 4}], "active": False}
    (named,) = state_of(*CLASSES, naming("PriorityClass", "low", **spec)).workloads
    (plain,) = state_of(naming("PriorityClass", "low", **spec, priority=-3)).workloads
    assert named == plain


def test_class_that_was_not_read_counts_zero_and_is_remarked_upon() -> None:
    first = naming("WorkloadPriorityClass", "gone")
    second = {**naming("WorkloadPriorityClass", "gone"), "metadata": {"name": "other"}}
    state = state_of(first, second)
    assert [each.spec.priority for each in state.workloads] == [0, 0]
    (note,) = state.notes
    assert 'WorkloadPriorityClass "gone"' in note
    assert "priority 0" in note
    assert "2 workloads" in note


def test_class_of_the_other_kind_does_not_help() -> None:
    state = state_of(pod_class("p", 9), naming("WorkloadPriorityClass", "p"))
    assert state.workloads[0].spec.priority == 0
    assert len(state.notes) == 1


@pytest.mark.parametrize("value", [2**31, -(2**31) - 1, "7", 1.5, None])
def test_class_without_a_32_bit_number_is_refused(value: Any) -> None:
    broken = {**kueue_class("high", 0), "value": value}
    error = refused(broken)
    told(error.where)
    assert "WorkloadPriorityClass high" in error.found
