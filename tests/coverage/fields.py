"""Which feature every field of Kueue's API belongs to.

Fields are written as ``Kind.path``, with ``[]`` behind lists, as of v1beta1 and v1beta2 together; a
row stands for all that is below it, too, and the longest row counts. ``api.txt`` has the fields of
the CustomResourceDefinitions, and a test finds those that no row has.
"""

from planner.coverage.answer import Feature
from planner.coverage.kueue_features import (
    ADMISSION_CHECKS,
    ADMISSION_FAIR_SHARING,
    CONCURRENT_ADMISSION,
    DEVICES,
    EVIDENCE,
    FAIR_SHARING,
    FLAVORS,
    HARMLESS,
    HOLDINGS,
    NOMINATION,
    POLICIES,
    PREEMPTION_GATES,
    PRIORITIES,
    QUEUES,
    QUOTA,
    REQUESTS,
    TOPOLOGY,
)

_POD = "Workload.spec.podSets[].template.spec"

FIELDS: dict[Feature, tuple[str, ...]] = {
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

_ROWS = {row: feature for feature, rows in FIELDS.items() for row in rows}


def feature_of(field: str) -> Feature | None:
    """Return the feature that a field of the API belongs to; ``None`` if nobody has classed it."""
    while field:
        for form in (field, f"{field}[]"):
            if form in _ROWS:
                return _ROWS[form]
        field = field.rpartition(".")[0]
    return None
