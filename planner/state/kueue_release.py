"""Which rules a release of Kueue has: the defaults of its feature gates, and its rule switches.

Source: docs/semantics/kueue-releases.md §2 to §4 and docs/semantics/kueue-features.md §9; kueue
pkg/features/kube_features.go and pkg/config/validation.go ``LoadAndValidateFeatureGates`` at the
tags v0.15.0 to v0.19.2 and at ff69552e.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Final, Literal, NamedTuple

from msgspec import Struct

MAIN: Final = "main"
"""The pinned commit ff69552e of August 2026, the code that became 0.20."""

_LAST: Final = {15: 8, 16: 9, 17: 8, 18: 6, 19: 2, 20: 0}
"""The last patch of each series, 0.15 to 0.20, that was looked at."""


KnownBy = Literal["given", "recorded", "image", "labels", "gates", "assumed"]
"""How a release was known: given by the user, by a recorded instance, the image of the manager, the
labels of its chart, or the feature gates that are set; or not known, and the newest is assumed."""


class Rules(Struct, frozen=True):
    """The rules that not all releases have, and that change what the planner decides.

    Each has, for each series from 0.15 to 0.20, the first patch with the rule, a dash for none; its
    number on the page docs/semantics/kueue-releases.md §2, and its source. The other rows of the
    table there are feature gates, or belong to what is not modelled.
    """

    preference_as_named: Annotated[bool, "- 2 0 0 0 0"] = True
    """1, #9464: the two preferences of flavorFungibility mean what they are called, not the other
    one."""
    borrowing_by_request: Annotated[bool, "8 5 0 0 0 0"] = True
    """4, #10149: fair sharing orders entries by whether they borrow of what they ask for."""
    prunes_by_borrowing: Annotated[bool, "- - 0 0 0 0"] = True
    """5, #9738: fair sharing leaves out queues that do not borrow, not those whose share is 0."""
    searches_without_cohort: Annotated[bool, "- - - 0 0 0"] = True
    """6, #10891: fair sharing ends its search in a ClusterQueue without a cohort, instead of
    crashing."""
    no_candidates_last: Annotated[bool, "- - - 5 1 0"] = True
    """9, #13616: a flavor in which nobody can be preempted ranks below every other that is left."""
    own_label_keys: Annotated[bool, "- - 6 2 0 0"] = True
    """10, #12449: a selector is held against the label keys of the flavor itself, not of its whole
    group."""
    skips_undeclared_zero: Annotated[bool, "- 0 0 0 0 0"] = True
    """11, #8241: a request of 0 for a resource that the ClusterQueue does not cover is skipped."""
    drops_zero_requests: Annotated[bool, "- - 0 0 0 0"] = True
    """11b, #8863: requests of 0 play no part in the search for victims."""
    pods_outside_search: Annotated[bool, "- - - 0 0 0"] = True
    """12, #10485: the search for victims does not count pods, a quota on which is then starved
    for."""
    saturates: Annotated[bool, "- - - 0 0 0"] = True
    """14, #11156: a quota can be Unlimited, and sums stop at the largest number instead of wrapping
    around."""
    saturates_wanted: Annotated[bool, "- 8 3 0 0 0"] = True
    """14, #11137: what podsets ask for together stops at the largest number where it is tested."""
    saturates_requests: Annotated[bool, "- - - 5 1 0"] = True
    """14, #14113: a request or recorded usage of more than the largest number counts as that
    number."""
    clamps_reclaimable: Annotated[bool, "- - 7 3 0 0"] = True
    """27a, #13178: no more pods are reclaimed than there are, so that nothing is used below 0."""
    frees_finished: Annotated[bool, "4 1 0 0 0 0"] = True
    """23, #8919: finished and deactivated workloads give their quota back at once."""
    reads_pod_level: Annotated[bool, "- - 7 3 0 0"] = True
    """27b, #12334: requests for a whole pod are read as Kubernetes means them."""
    floors_requests: Annotated[bool, "- - - 5 1 0"] = True
    """27b, #12838: a request of less than nothing counts as 0."""
    multiplies_transformed: Annotated[bool, "- 0 0 0 0 0"] = True
    """26, #7599: multiplyBy of a resource transformation is obeyed."""
    transforms_exactly: Annotated[bool, "- - 7 3 0 0"] = True
    """26, #12953: resource transformations multiply exact amounts, not those rounded up to whole
    units."""
    transforms_apart: Annotated[bool, "- - - 5 1 0"] = True
    """26, #13986: what transformations make of a resource is added to what is asked for of it."""
    waits_for_replacement: Annotated[bool, "- - 7 3 0 0"] = True
    """24, #12768: a workload that waits for replacement pods stands in no queue."""
    knows_on_hold: Annotated[bool, "- - 7 3 0 0"] = True
    """24, #12657: a workload on hold stands in no queue."""
    heads_by_uid: Annotated[bool, "5 2 0 0 0 0"] = True
    """41, #9101: of workloads of equal priority and age in a ClusterQueue that of the smaller UID
    comes first."""
    past_use_of_no_weight: Annotated[bool, "- - - 5 1 0"] = True
    """32, #13481: a LocalQueue of weight 0 counts as having used most, also where it has used
    nothing."""
    misses_local_queues: Annotated[bool, "- - 8 4 0 0"] = True
    """33, #13214: past use is known without the LocalQueue, where Kueue took no snapshot, and
    decided nothing."""
    compares_tolerations: Annotated[bool, "- 0 0 0 0 0"] = True
    """34, k8s.io/component-helpers@v0.35: tolerations with the operators Gt and Lt tolerate
    taints."""
    limits_in_units: Annotated[bool, "- - 0 0 0 0"] = True
    """36, #8993: requests are held against limits and LimitRanges in Kueue's units, not exactly."""
    counts_constrained: Annotated[bool, "- - - 2 0 0"] = True
    """37, #12471: claims with constraints or a configuration are counted, not rejected."""
    skips_admin_access: Annotated[bool, "- - - - - 0"] = True
    """38, pkg/dra/claims.go: claims with admin access cost nothing, instead of being rejected."""
    takes_newest_class: Annotated[bool, "- - - 5 1 0"] = True
    """40, #14044: of several device classes behind an extended resource the newest counts, not a
    mapped one."""
    sums_extended_apart: Annotated[bool, "- - - 6 2 0"] = True
    """39, #14200: two extended resources that count under one name are added up over all
    containers."""
    takes_one_kind_of_check: Annotated[bool, "- 0 0 0 0 0"] = True
    """29, #8451: a ClusterQueue with admission checks of MultiKueue and ProvisioningRequest is
    inactive."""
    gates_variants: Annotated[bool, "- - - - 0 0"] = True
    """30, #11872: where concurrent admission is on, a closed preemption gate keeps a workload from
    preempting."""
    counts_slices_once: Annotated[bool, "5 2 0 0 0 0"] = True
    """31, #9322: a slice that replaces another takes what it has more, not all that it asks for."""
    replaces_in_own_namespace: Annotated[bool, "- - 8 4 0 0"] = True
    """31, #13071: a slice replaces one of its own namespace only."""
    parks_alike_always: Annotated[bool, "7 4 0 0 0 0"] = True
    """22, #10001: those like one that is parked are parked, too, not only those like one that
    nothing fits."""
    says_why_requeued: Annotated[bool, "- - - 0 0 0"] = True
    """22, #9698: what goes back to its queue says that it does not fit, or that nobody can be
    preempted."""
    says_why_unadmitted: Annotated[bool, "- - - 5 0 0"] = True
    """3.1, pkg/cache/queue/cluster_queue.go: the condition QuotaReserved says for what a workload
    waits."""


_SINCE: Final = {name: kind.__metadata__[0] for name, kind in Rules.__annotations__.items()}


def _holds(since: str, minor: int, patch: int) -> bool:
    """Say whether a release has what came with some patches of the series."""
    first = since.split()[minor - min(_LAST)]
    return first != "-" and patch >= int(first)


class Gate(NamedTuple):
    """A feature gate of a release: its default, whether that is locked, and its stage.

    ``stage`` is the letter of alpha, beta, general availability or deprecated.
    """

    default: bool
    stage: str
    locked: bool


class Release(Struct, frozen=True, dict=True):
    """A release of Kueue with the rules that hold and the feature gates that it knows.

    ``name`` is such as 0.18.6, or ``main`` for the newest rules that are known; ``known`` says that
    this very patch was looked at: else its rules are those of the last earlier patch that was.
    ``needed`` are gates, each with another one without which it cannot be on.
    """

    name: str
    rules: Rules
    gates: Mapping[str, Gate]
    needed: Sequence[tuple[str, str]]
    known: bool = True

    def default(self, gate: str, given: Mapping[str, bool]) -> bool:
        """Say whether a gate that ``given`` does not name is on: by its group, or by its default.

        A gate that the release does not know is off, unless it was locked to on before it was
        dropped.
        """
        found = self.gates.get(gate)
        if found is None:
            return gate in _ALWAYS_ON
        # The two groups set all gates of a stage that are not named themselves, but no locked ones.
        group = given.get({"a": "AllAlpha", "b": "AllBeta"}.get(found.stage, ""))
        return found.default if group is None or found.locked else group

    def is_on(self, gate: str, given: Mapping[str, bool]) -> bool:
        """Say whether a gate is on; one that the release does not know cannot be set."""
        # Each step of a search asks for some, and mostly neither these nor groups are set.
        if not given or (gate not in given and given.keys().isdisjoint(_GROUPS)):
            return gate in self.on
        named = given.get(gate) if gate in self.gates else None
        return self.default(gate, given) if named is None else named

    @cached_property
    def on(self) -> frozenset[str]:
        """The gates that are on where none is set."""
        return frozenset(gate for gate in {*self.gates, *_ALWAYS_ON} if self.default(gate, {}))

    def unmet(self, given: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
        """Yield gates that are on, each with one it needs that is off: Kueue does not start so."""
        for gate, needed in self.needed:
            if self.is_on(gate, given) and not self.is_on(needed, given):
                yield gate, needed

    def refusals(self, given: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
        """Yield the gates with which Kueue would not start, each with the reason."""
        for gate, value in given.items():
            found = self.gates.get(gate)
            if found is None:
                if self.known and gate not in _GROUPS:
                    yield gate, "is no feature gate there"
            elif found.locked and found.default != value:
                yield gate, f"is locked to {str(found.default).lower()}"


# One row a gate and another that it needs, with the first patch of each series that asks for it.
_NEEDED: Final = """
DRAExtendedResources                        DynamicResourceAllocation         - - 0 - - -
ElasticJobsViaWorkloadSlicesWithTAS         ElasticJobsViaWorkloadSlices      - - 0 0 0 0
ElasticJobsViaWorkloadSlicesWithTAS         TopologyAwareScheduling           - - 0 0 0 0
FlavorFungibilityPreserveScanProgress       FlavorFungibility                 - - - - - 0
KueueDRAIntegrationConsumableCapacity       KueueDRAIntegration               - - - - 0 0
KueueDRAIntegrationExtendedResource         KueueDRAIntegration               - - - 0 0 0
KueueDRAIntegrationPartitionableDevices     KueueDRAIntegration               - - - 0 0 0
TASBalancedPlacement                        TopologyAwareScheduling           - 9 4 0 0 0
TASFailedNodeReplacement                    TopologyAwareScheduling           - 9 4 0 0 0
TASFailedNodeReplacementFailFast            TASFailedNodeReplacement          - 9 4 0 0 0
TASFailedNodeReplacementFailFast            TopologyAwareScheduling           - 9 4 0 0 0
TASHandleOverlappingFlavors                 TopologyAwareScheduling           - 9 4 0 0 0
TASMultiLayerTopology                       TopologyAwareScheduling           - - 4 0 0 0
TASProfileLeastFreeCapacity                 TopologyAwareScheduling           0 0 - - - -
TASProfileMixed                             TopologyAwareScheduling           0 0 0 0 0 0
TASRecomputeAssignmentWithinSchedulingCycle TopologyAwareScheduling           - - - 5 1 0
TASReplaceNodeDueToNotReadyOverFixedTime    TASFailedNodeReplacement          - - 8 4 0 0
TASReplaceNodeDueToNotReadyOverFixedTime    TopologyAwareScheduling           - - 8 4 0 0
TASReplaceNodeOnNodeTaints                  TopologyAwareScheduling           - 9 4 0 0 0
TASReplaceNodeOnPodTermination              TASFailedNodeReplacement          - 9 4 0 0 0
TASReplaceNodeOnPodTermination              TopologyAwareScheduling           - 9 4 0 0 0
TASRespectNodeAffinityPreferred             TopologyAwareScheduling           - - - 0 0 0
UnadmittedWorkloadsExplicitStatus           UnadmittedWorkloadsObservability  - - - 5 0 0
"""
_ALL_NEEDED: Final = [line.split(maxsplit=2) for line in _NEEDED.strip().splitlines()]

_GROUPS: Final = frozenset({"AllAlpha", "AllBeta"})
_ALWAYS_ON: Final = frozenset({"HierarchicalCohorts", "LendingLimit"})
"""Gates that were locked to on before they were dropped, in 0.19 and later."""

_VERSION: Final = re.compile(r"v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})")
_TAGGED: Final = re.compile(_VERSION.pattern + r"(?:[-+][A-Za-z0-9.+-]*)?")


def read_version(text: str) -> str:
    """Return the version in a tag or label such as v0.18.6 or 0.18.6-gke.1; empty if none."""
    match = _TAGGED.fullmatch(text)
    return ".".join(str(int(number)) for number in match.groups()) if match else ""


@cache
def find_release(name: str) -> Release:
    """Look up a release by its name, such as 0.18.6, v0.18.6 or main.

    Raises ``ValueError`` if the name is no version, or older than the oldest whose rules are known.
    """
    if name == MAIN:
        return Release(MAIN, Rules(), _gates(20, 0), _needed(20, 0))
    match = _VERSION.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        message = f"{name!r} is not a release of Kueue such as 0.18.6"
        raise ValueError(message)
    major, minor, patch = (int(number) for number in match.groups())
    oldest, *_, newest = _LAST
    if (major, minor) < (0, oldest):
        message = f"the rules of Kueue {name} are not known, only those from 0.15.0 on"
        raise ValueError(message)
    newer = (major, minor) > (0, newest)
    # A release newer than all that are known gets the newest rules, and ``known`` is False.
    own = (newest, _LAST[newest]) if newer else (minor, patch)
    known = not newer and patch <= _LAST[minor]
    rules = Rules(**{name: _holds(since, *own) for name, since in _SINCE.items()})
    return Release(f"{major}.{minor}.{patch}", rules, _gates(*own), _needed(*own), known)


def newest_first() -> Iterator[Release]:
    """Yield the newest rules, and those of the last known patch of each series before."""
    yield find_release(MAIN)
    for minor, patch in [*_LAST.items()][-2::-1]:
        yield find_release(f"0.{minor}.{patch}")


def _needed(minor: int, patch: int) -> Sequence[tuple[str, str]]:
    """Return the gates that a patch of a series permits only beside another gate, with that."""
    return [(gate, needed) for gate, needed, since in _ALL_NEEDED if _holds(since, minor, patch)]


def _gates(minor: int, patch: int) -> dict[str, Gate]:
    """Read the column of a series in the table of gates, up to a patch."""
    found = {}
    for row in _GATES.strip().splitlines():
        name, *cells = row.split()
        steps = [_STEP.fullmatch(step) for step in cells[minor - min(_LAST)].split(",")]
        # Steps stand in the order of patches: the last one up to this patch counts.
        for step in steps:
            if step is not None and patch >= int(step["patch"] or 0):
                found[name.rstrip("*")] = Gate(
                    step["sign"] == "+", step["stage"], bool(step["locked"])
                )
    return found


_STEP: Final = re.compile(r"(?P<sign>[+-])(?P<stage>[abdg])(?P<locked>L?)(?P<patch>\d*)")

# One row a gate, one column a series from 0.15 to 0.20: + on, - off, then the stage, L where it
# is locked, and the first patch unless that is 0; a dot where it does not exist. With a star: it
# changes what the planner decides.
_GATES: Final = """
AdmissionFairSharing*                             +b  +b  +b  +b  +b  +b
AdmissionGatedBy*                                 .   .   -a  -a  +b  +b
AssignQueueLabelsForPods                          .   .   +b  +b  +b  +b
CleanupProvisioningRequestsOnEviction             .   .   +b7 +b3 +b  +b
ConcurrentAdmission*                              .   .   .   -a  -a  -a
ConfigurablePreemptions                           .   .   .   .   .   -a
ConfigurableResourceTransformations               +gL .   .   .   .   .
CustomMetricLabels                                .   .   -a  -a  -a  -a
DRAExtendedResources                              .   .   -a  -dL .   .
DeferRayServiceFinalizationForRedisCleanup        .   .   +b7 +b3 +b  +b
DisableWaitForPodsReady*                          .   .   .   .   -a  -a
DynamicResourceAllocation                         -a  -a  -a  -dL .   .
ElasticJobsViaWorkloadSlices*                     -a  -a  -a  +b  +b  +b
ElasticJobsViaWorkloadSlicesWithTAS*              .   .   -a  -a  -a  -a
FailureRecoveryPolicy                             -a  -a  -a  -a  -a  -a
FairSharingPreemptWithinNominal*                  +b6 +b3 +b  +b  +b  +b
FairSharingPrioritizeNonBorrowing*                +b5 +b2 +b  +b  +b  +b
FairSharingReevaluatePreemptionCandidates*        .   .   .   -a7 -a3 -a
FastQuotaReleaseInPodIntegration                  .   .   -a  -a  -a  -a
FinishOrphanedWorkloads                           .   +b6,-a8 +b1,-a3 +b  +b  +b
FlavorFungibility*                                +b  +b  +b  +b  +b  +b
FlavorFungibilityImplicitPreferenceDefault*       -d  -d4 .   .   .   .
FlavorFungibilityPreserveScanProgress*            .   .   .   +b5 +b1 +b
HierarchicalCohorts*                              +b  +b  +gL +gL +gL .
KueueDRAIntegration*                              .   .   .   +b  +b  +b
KueueDRAIntegrationConsumableCapacity*            .   .   .   .   -a  -a
KueueDRAIntegrationExtendedResource*              .   .   .   -a  +b  +b
KueueDRAIntegrationPartitionableDevices*          .   .   .   -a  +b  +b
KueueDRARejectWorkloadsWhenDRADisabled*           .   .   .   +b  +b  +b
LWSImmutableGroupSize                             .   .   .   +b5 +b1 +b
LendingLimit*                                     +b  +b  +gL +gL .   .
LocalQueueDefaulting                              +b  +b  +gL +gL .   .
LocalQueueMetrics                                 -a  -a  +b  +b  +b  +b
ManagedJobsNamespaceSelectorAlwaysRespected       +b  +b  +b  +b  +gL +gL
MetricForWorkloadCreationLatency                  .   .   .   +b  +b  +b
MetricsForCohorts                                 .   .   .   +b  +b  +b
MultiKueue                                        +b  +b  +b  +b  +b  +b
MultiKueueAdaptersForCustomJobs                   +b  +b  +b  +b  +b  +b
MultiKueueAllowInsecureKubeconfigs                -a  -a  -d  -d  -dL .
MultiKueueBatchJobWithManagedBy                   +b  +b  +gL +gL .   .
MultiKueueClusterProfile                          -a  -a  -a  -a  -a  -a
MultiKueueIncrementalDispatcherConfig             .   .   .   .   +b  +b
MultiKueueIncrementalDispatcherRespectConfigOrder .   .   .   .   +b  +b
MultiKueueKubeConfigPathValidation                .   .   .   .   -a  +b
MultiKueueManagerQuotaAutomation                  .   .   .   -a  -a  -a
MultiKueueOrchestratedPreemption*                 .   .   -a  -a  -a  -a
MultiKueueRedoAdmissionOnEvictionInWorker         .   +b  +b  +gL +gL .
MultiKueueRemoteSpecSync                          .   .   .   +b5 +b1 +b
MultiKueueWaitForWorkloadAdmitted                 +b3 +b  +b  +gL +gL .
ObjectRetentionPolicies                           +b  +b  +gL +gL +gL .
PartialAdmission*                                 +b  +b  +b  +b  +b  +b
PodIntegrationValidateGroupOwner                  .   .   .   +b6 +b2 +b
PrioritizePreemptorWorkloads*                     .   .   .   -a6 -a2 -a
PriorityBoost*                                    .   .   -a  -a  -a  -a
PrioritySortingWithinCohort*                      +b  +b  +b  +b  +b  +b
PropagateBatchJobLabelsToWorkload                 +b  +b  +gL +gL +gL .
QuotaCheckStrategy*                               .   .   .   -a  +b  +b
ReclaimablePods*                                  +b  +b  +b  +b  +b  +b
RecomputeAssignmentUponPreemptionTargetsOverlap*  .   .   .   -a5 -a1 +b
RejectUpdatesToCQWithInvalidOnFlavors             .   -a6 -a1 -a  -a  -a
RemoveFinalizersWithStrictPatch                   +b4 +b1 +b  +b  +b  +b
SanitizePodSets                                   +b  +b  +gL +gL .   .
SchedulerLibraryIntegration*                      .   .   .   .   -a  -a
SchedulerLongRequeueInterval                      -a6 -a3 -a  -a  -a  .
SchedulerTimestampPreemptionBuffer*               -a6 -a3 -a  -a  -a  .
SchedulingEquivalenceHashing*                     +b6,-b7 +b3,-b4 -b  +b  +b  +b
ShortWorkloadNames                                -a8 -a5 -a  -a  -a  -a
SkipAncestorCheckForDeletedWorkloads              .   .   .   +b5 +b1 +b
SkipFinalizersForPodsSuspendedByParent            +b3 +b  +b  +gL +gL .
SkipReassignmentForPodOwnedWorkloads              .   .   -a8 -a4 +b  +b
SparkApplicationIntegration                       .   .   -a  -a  -a  -a
TASAssignmentsEncodingByHostnamePrefix            .   .   .   .   +b  +b
TASBalancedPlacement*                             -a  -a  -a  -a  -a  -a
TASCacheNodeMatchResults*                         .   .   +b8 +b4 +b  +b
TASCacheTopologyTree                              .   .   .   -a6 -a2 +b
TASCachingRemainingResources                      .   .   +b8 +b4 +b  +b
TASFailedNodeReplacement                          +b  +b  +b  +b  +b  +b
TASFailedNodeReplacementFailFast                  +b  +b  +b  +b  +b  +b
TASHandleOverlappingFlavors*                      .   -a9 -a4 +b  +b  +b
TASMultiLayerTopology                             .   .   -a  -a  +b  +b
TASProfileLeastFreeCapacity                       -d  -d  .   .   .   .
TASProfileMixed*                                  +b  +b  +b  +b  +b  +b
TASRecomputeAssignmentWithinSchedulingCycle*      .   .   +b6 +b2 +b  +b
TASReplaceNodeDueToNotReadyOverFixedTime          .   .   +b8 +b4 -d  -d
TASReplaceNodeOnNodeTaints                        -a5 -a2 +b  +b  +b  +b
TASReplaceNodeOnPodTermination                    +b  +b  +b  +b  +b  +b
TASRespectNodeAffinityPreferred*                  .   .   .   -a  -a  -a
TASValidateWorkloadSliceSize                      .   .   .   +b5 +b1 +b
TLSOptions                                        .   +b  +b  +b  +b  +gL
TopologyAwareScheduling*                          +b  +b  +b  +b  +b  +b
UnadmittedWorkloadsExplicitStatus                 .   .   .   -a5 -b  -b
UnadmittedWorkloadsObservability*                 .   .   .   -a5 -b  +b
ValidateRayAndSparkJobUpdates                     .   .   .   +b6 +b2 +b
VectorizedResourceRequests                        .   .   +b8 +b4 +b  +b
VisibilityOnDemand                                +b  +b  +b  +b  +b  +b
WorkloadIdentifierAnnotations                     .   .   -a4 +b  +b  +b
WorkloadPriorityClassDefaulting*                  .   .   .   -a  -a  +b
WorkloadRequestUseMergePatch                      -a  -a  -a  -a  -a  -a
WorkloadValidateResourcesAreNonNegative           .   .   .   +b5 +b1 +b
WorkloadValidationForPodSetMetadata               .   .   .   +b5 +b1 +b
"""

DECIDING: Final = tuple(re.findall(r"^(\w+)\*", _GATES, re.MULTILINE))
"""The gates that change what the planner decides."""

NEWEST: Final = find_release(MAIN)
"""The newest rules, taken for a dump that does not show its release."""
