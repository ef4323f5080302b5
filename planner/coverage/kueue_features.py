"""What decides in Kueue who is preempted: which features are exact, which are not modelled.

Every field of the API belongs to one. Fields are written as ``Kind.path``, with ``[]`` behind
lists, as of v1beta1 and v1beta2 together; a row stands for all that is below it, too, and the
longest row counts. ``tests/coverage/api.txt`` has the fields of the CustomResourceDefinitions, and
a test finds those that no row has: a new release of Kueue brings fields that somebody must look at
before the planner says that it has them right.
"""

from __future__ import annotations

from typing import Final

from planner.coverage.answer import Feature, Standing


def _kueue(name: str, title: str, standing: Standing, effect: str, source: str) -> Feature:
    return Feature(name, "kueue", title, standing, effect, source)


TOPOLOGY: Final = _kueue(
    "topology",
    "topology-aware scheduling",
    "exact",
    "Kueue asks whether the pods fit on the nodes of the topology, now and after each removal: an "
    "answer that counts quota only says so, and other victims may be needed, or more",
    "docs/semantics/kueue-topology.md",
)
PREEMPTION_CONFIG: Final = _kueue(
    "preemption-config",
    "configurable preemptions",
    "left out",
    "PreemptionConfig objects replace the policies of ClusterQueues",
    "docs/semantics/kueue-features.md §8",
)
CONFIGURATION: Final = _kueue(
    "configuration",
    "the Configuration of Kueue's manager",
    "exact",
    "fair sharing, its strategies, feature gates and resource settings decide who may go",
    "docs/semantics/kueue-features.md §8",
)
QUOTA: Final = _kueue(
    "quota",
    "quota, borrowing and lending",
    "exact",
    "another shortage needs other victims",
    "docs/semantics/kueue.md §3",
)
FAIR_SHARING: Final = _kueue(
    "fair-sharing",
    "fair sharing",
    "exact",
    "shares decide who may be a victim, and in which order",
    "docs/semantics/kueue.md §6",
)
ADMISSION_FAIR_SHARING: Final = _kueue(
    "admission-fair-sharing",
    "admission fair sharing",
    "exact",
    "it changes the order in which Kueue takes victims, not who may be one",
    "docs/semantics/kueue-features.md §3",
)
POLICIES: Final = _kueue(
    "policies",
    "preemption policies",
    "exact",
    "they say who may be a victim",
    "docs/semantics/kueue.md §5",
)
FLAVORS: Final = _kueue(
    "flavors",
    "flavor assignment",
    "exact",
    "other flavors have other candidates",
    "docs/semantics/kueue.md §4",
)
QUEUES: Final = _kueue(
    "queues",
    "which queues take part",
    "exact",
    "workloads of an inactive ClusterQueue neither preempt nor are candidates",
    "docs/semantics/kueue-features.md §1.3",
)
ADMISSION_CHECKS: Final = _kueue(
    "admission-checks",
    "admission checks",
    "exact",
    "a check that failed, or is not active, keeps a workload out",
    "docs/semantics/kueue-features.md §1.3",
)
NOMINATION: Final = _kueue(
    "nomination",
    "whether a workload is considered at all",
    "exact",
    "one that is not considered gets no victims",
    "docs/semantics/kueue-features.md §1",
)
PRIORITIES: Final = _kueue(
    "priorities",
    "priorities and boosts",
    "exact",
    "they say who may preempt whom, and the order",
    "docs/semantics/kueue.md §2",
)
REQUESTS: Final = _kueue(
    "requests",
    "what a workload asks for",
    "exact",
    "another request needs other victims",
    "docs/semantics/kueue-features.md §10",
)
DEVICES: Final = _kueue(
    "devices",
    "claims of devices (DRA) and extended resources",
    "exact",
    "a claim asks for quota that the pod does not name",
    "docs/semantics/kueue-features.md §4",
)
HOLDINGS: Final = _kueue(
    "holdings",
    "what admitted workloads hold",
    "exact",
    "it is what victims give back",
    "docs/semantics/kueue.md §2",
)
SLICES: Final = _kueue(
    "slices",
    "elastic workload slices",
    "exact",
    "a new slice asks for the difference to the old one only",
    "docs/semantics/kueue-features.md §2",
)
PREEMPTION_GATES: Final = _kueue(
    "preemption-gates",
    "preemption gates",
    "exact",
    "a workload with a closed gate evicts nobody",
    "docs/semantics/kueue-features.md §1.6",
)
CONCURRENT_ADMISSION: Final = _kueue(
    "concurrent-admission",
    "concurrent admission",
    "exact",
    "variants of a workload have flavors of their own",
    "docs/semantics/kueue-features.md §7",
)
EVIDENCE: Final = _kueue(
    "evidence",
    "what Kueue publishes of its own counting",
    "evidence",
    "it is held against what is worked out",
    "docs/semantics/kueue-features.md §10",
)
HARMLESS: Final = _kueue(
    "harmless",
    "everything else",
    "harmless",
    "it decides nothing about preemption",
    "docs/semantics/kueue-features.md §1",
)

FEATURES: Final[tuple[Feature, ...]] = (
    TOPOLOGY,
    PREEMPTION_CONFIG,
    CONFIGURATION,
    QUOTA,
    FAIR_SHARING,
    ADMISSION_FAIR_SHARING,
    POLICIES,
    FLAVORS,
    QUEUES,
    ADMISSION_CHECKS,
    NOMINATION,
    PRIORITIES,
    REQUESTS,
    DEVICES,
    HOLDINGS,
    SLICES,
    PREEMPTION_GATES,
    CONCURRENT_ADMISSION,
    EVIDENCE,
    HARMLESS,
)


_POD: Final = "Workload.spec.podSets[].template.spec"

FIELDS: Final[dict[Feature, tuple[str, ...]]] = {
    QUOTA: (
        "ClusterQueue.spec.resourceGroups[]",
        "ClusterQueue.spec.cohort",
        "ClusterQueue.spec.cohortName",
        "Cohort.spec.parentName",
        "Cohort.spec.resourceGroups[]",
        "LocalQueue.spec.clusterQueue",
    ),
    FAIR_SHARING: ("ClusterQueue.spec.fairSharing", "Cohort.spec.fairSharing"),
    ADMISSION_FAIR_SHARING: (
        "ClusterQueue.spec.admissionScope",
        "LocalQueue.spec.fairSharing",
        "LocalQueue.status.fairSharing",
    ),
    POLICIES: ("ClusterQueue.spec.preemption",),
    FLAVORS: (
        "ClusterQueue.spec.flavorFungibility",
        "ResourceFlavor.spec.nodeLabels",
        "ResourceFlavor.spec.nodeTaints[]",
        "ResourceFlavor.spec.tolerations[]",
        "Workload.spec.podSets[].minCount",
        "Workload.spec.podSets[].topologyRequest.podSetGroupName",
        f"{_POD}.nodeSelector",
        f"{_POD}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
        f"{_POD}.tolerations[]",
    ),
    QUEUES: (
        "ClusterQueue.spec.stopPolicy",
        "ClusterQueue.spec.queueingStrategy",
        "ClusterQueue.status.conditions[]",
        "LocalQueue.spec.stopPolicy",
    ),
    ADMISSION_CHECKS: (
        "AdmissionCheck.spec.controllerName",
        "AdmissionCheck.status.conditions[]",
        "ClusterQueue.spec.admissionChecks",
        "ClusterQueue.spec.admissionChecksStrategy",
        "Workload.status.admissionChecks[].name",
        "Workload.status.admissionChecks[].state",
    ),
    NOMINATION: (
        "ClusterQueue.spec.namespaceSelector",
        "Workload.spec.active",
        "Workload.spec.queueName",
        "Workload.status.conditions[]",
        "Workload.status.requeueState.requeueAt",
    ),
    PRIORITIES: (
        "WorkloadPriorityClass.value",
        "Workload.spec.priority",
        "Workload.spec.priorityClassName",
        "Workload.spec.priorityClassSource",
        "Workload.spec.priorityClassRef",
    ),
    REQUESTS: (
        "Workload.spec.podSets[].count",
        "Workload.spec.podSets[].name",
        f"{_POD}.containers[].resources",
        f"{_POD}.initContainers[].resources",
        f"{_POD}.initContainers[].restartPolicy",
        f"{_POD}.overhead",
        f"{_POD}.resources",
        f"{_POD}.runtimeClassName",
        "Workload.status.reclaimablePods[]",
        "Workload.status.resourceRequests[]",
    ),
    DEVICES: (
        f"{_POD}.resourceClaims[]",
        f"{_POD}.containers[].resources.claims[]",
        f"{_POD}.initContainers[].resources.claims[]",
        f"{_POD}.resources.claims[]",
    ),
    HOLDINGS: (
        "Workload.status.admission.clusterQueue",
        "Workload.status.admission.podSetAssignments[].count",
        "Workload.status.admission.podSetAssignments[].flavors",
        "Workload.status.admission.podSetAssignments[].name",
        "Workload.status.admission.podSetAssignments[].resourceUsage",
    ),
    PREEMPTION_GATES: ("Workload.spec.preemptionGates[]", "Workload.status.preemptionGates[]"),
    CONCURRENT_ADMISSION: ("ClusterQueue.spec.concurrentAdmissionPolicy",),
    TOPOLOGY: (
        "ResourceFlavor.spec.topologyName",
        "Workload.spec.podSets[].topologyRequest",
        "Workload.status.admission.podSetAssignments[].delayedTopologyRequest",
        "Workload.status.admission.podSetAssignments[].topologyAssignment",
        "Workload.status.unhealthyNodes[]",
        "Workload.status.admissionChecks[].podSetUpdates[]",
        f"{_POD}.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[]",
    ),
    EVIDENCE: (
        "ClusterQueue.status.fairSharing",
        "ClusterQueue.status.flavorsReservation[]",
        "ClusterQueue.status.pendingWorkloads",
        "Cohort.status.fairSharing",
        "LocalQueue.status.conditions[]",
    ),
    HARMLESS: (
        "AdmissionCheck.spec.parameters",
        "AdmissionCheck.spec.retryDelayMinutes",
        "ClusterQueue.status.admittedWorkloads",
        "ClusterQueue.status.flavorsUsage[]",
        "ClusterQueue.status.pendingWorkloadsStatus",
        "ClusterQueue.status.reservingWorkloads",
        "LocalQueue.status.admittedWorkloads",
        "LocalQueue.status.flavorUsage[]",
        "LocalQueue.status.flavorsReservation[]",
        "LocalQueue.status.flavorsUsage[]",
        "LocalQueue.status.flavors[]",
        "LocalQueue.status.pendingWorkloads",
        "LocalQueue.status.reservingWorkloads",
        "ResourceFlavor.spec.nodeTaints[].timeAdded",
        "ResourceFlavor.spec.tolerations[].tolerationSeconds",
        "WorkloadPriorityClass.description",
        "Workload.spec.maximumExecutionTimeSeconds",
        "Workload.status.accumulatedPastExecutionTimeSeconds",
        "Workload.status.accumulatedPastExexcutionTimeSeconds",
        "Workload.status.admissionChecks[]",
        "Workload.status.clusterName",
        "Workload.status.nominatedClusterNames",
        "Workload.status.requeueState.count",
        "Workload.status.schedulingStats",
        *(
            f"Workload.spec.podSets[].template.{field}"
            for field in (
                "metadata",
                "spec.activeDeadlineSeconds",
                "spec.affinity",
                "spec.automountServiceAccountToken",
                "spec.containers[]",
                "spec.dnsConfig",
                "spec.dnsPolicy",
                "spec.enableServiceLinks",
                "spec.ephemeralContainers[]",
                "spec.hostAliases[]",
                "spec.hostIPC",
                "spec.hostNetwork",
                "spec.hostPID",
                "spec.hostUsers",
                "spec.hostname",
                "spec.hostnameOverride",
                "spec.imagePullSecrets[]",
                "spec.initContainers[]",
                "spec.nodeName",
                "spec.os",
                "spec.preemptionPolicy",
                "spec.priority",
                "spec.priorityClassName",
                "spec.readinessGates[]",
                "spec.restartPolicy",
                "spec.schedulerName",
                "spec.schedulingGates[]",
                "spec.schedulingGroup",
                "spec.securityContext",
                "spec.serviceAccount",
                "spec.serviceAccountName",
                "spec.setHostnameAsFQDN",
                "spec.shareProcessNamespace",
                "spec.subdomain",
                "spec.terminationGracePeriodSeconds",
                "spec.topologySpreadConstraints[]",
                "spec.volumes[]",
            )
        ),
    ),
}
"""Rows by feature. Of a pod template only what is asked for and where it may run decides; whom
Kubernetes itself preempts for a pod's own priority is not Kueue's business."""

_ROWS: Final = {row: feature for feature, rows in FIELDS.items() for row in rows}


def feature_of(field: str) -> Feature | None:
    """Return the feature that a field of the API belongs to; ``None`` if nobody has classed it."""
    while field:
        for form in (field, f"{field}[]"):
            if form in _ROWS:
                return _ROWS[form]
        field = field.rpartition(".")[0]
    return None
