"""The laws of Kueue: preemption KQ-01 to KQ-08, fair sharing FS-01 to FS-07, flavors KF-01.

On top of them come KT-01 and KT-02, where pods are placed on nodes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from planner.laws.law import Law, laws_in

_AT: Final = "kueue ff69552e pkg/scheduler/preemption"
_classical: Final = partial(Law, rule_sets=("kueue-classical",))
_fair: Final = partial(Law, rule_sets=("kueue-fair",))

KQ_FITS: Final = _classical(
    "KQ-01",
    "fits",
    "the preemptor fits",
    "After all victims are gone, every requested flavor-resource is available to the preemptor's "
    "ClusterQueue: request <= max(0, available), borrowing and lending limits of the whole path "
    "included.",
    f"{_AT}/preemption.go workloadFits; pkg/cache/scheduler/resource_node.go available",
    drop=8,
)
KQ_WITHOUT_BORROWING: Final = _classical(
    "KQ-02",
    "without_borrowing",
    "an attempt without borrowing ends within nominal quota",
    "In an attempt that does not permit borrowing, usage + request <= nominal quota of the "
    "preemptor's ClusterQueue for every requested flavor-resource.",
    f"{_AT}/preemption.go workloadFits",
    drop=2,
)
KQ_HOLDS_CONTESTED: Final = _classical(
    "KQ-03",
    "holds_contested_quota",
    "a victim holds contested quota in the preemptor's tree",
    "Every victim holds quota in an active ClusterQueue of the preemptor's cohort tree, and names "
    "a flavor-resource that needs preemption; the amount is irrelevant.",
    f"{_AT}/classical/candidate_generator.go WorkloadUsesResources",
    drop=3,
)
KQ_WITHIN_CLUSTER_QUEUE: Final = _classical(
    "KQ-04",
    "within_cluster_queue",
    "withinClusterQueue permits victims of the own queue",
    "A victim in the preemptor's own ClusterQueue must satisfy its withinClusterQueue policy: "
    "LowerPriority, or LowerOrNewerEqualPriority by queue-order timestamp; never with Never.",
    f"{_AT}/common/preemption_policy.go",
    reasons=("InClusterQueue",),
    drop=6,
)
KQ_RECLAIM: Final = _classical(
    "KQ-05",
    "reclaim_within_cohort",
    "reclaimWithinCohort permits victims of other queues",
    "A victim in another ClusterQueue must satisfy the preemptor's reclaimWithinCohort policy: "
    "LowerPriority or Any; never with Never.",
    f"{_AT}/common/preemption_policy.go",
    reasons=("InCohortReclamation",),
    drop=7,
)
KQ_BORROW_WITHIN_COHORT: Final = _classical(
    "KQ-06",
    "borrow_within_cohort",
    "borrowWithinCohort limits victims while borrowing",
    "In an attempt that permits borrowing, a victim of another ClusterQueue over which the "
    "preemptor has no hierarchical advantage must be allowed by borrowWithinCohort: policy "
    "LowerPriority, a lower priority than the preemptor, and at most maxPriorityThreshold.",
    f"{_AT}/classical/hierarchical_preemption.go classifyPreemptionVariant",
    reasons=("InCohortReclaimWhileBorrowing",),
    drop=5,
)
KQ_OVER_QUOTA: Final = _classical(
    "KQ-07",
    "over_quota_until_last_victim",
    "other queues and cohorts give only while over their quota",
    "When a victim of another ClusterQueue is removed, that queue and every cohort between it and "
    "the lowest common ancestor use more than their (subtree) quota in some contested "
    "flavor-resource. Only the last removal below each node can break this.",
    f"{_AT}/classical/candidate_generator.go candidateIsValid; docs/design/theory.md §2.2",
    drop=4,
)
KQ_ATTEMPT: Final = _classical(
    "KQ-08",
    "attempt",
    "the attempt is one that Kueue would make",
    "Kueue tries with and without borrowing, or only one of them, depending on "
    "borrowWithinCohort, on the candidates there are, and on whether the queue is under nominal.",
    f"{_AT}/preemption.go classicalPreemptions",
    drop=1,
)

FS_FITS: Final = replace(
    KQ_FITS,
    id="FS-01",
    source=f"{_AT}/preemption.go workloadFitsForFairSharing; "
    "pkg/cache/scheduler/resource_node.go available",
    rule_sets=("kueue-fair",),
    drop=7,
)
FS_HOLDS_CONTESTED: Final = replace(
    KQ_HOLDS_CONTESTED,
    id="FS-02",
    source=f"{_AT}/preemption.go findCandidatesForPolicy",
    rule_sets=("kueue-fair",),
    drop=1,
)
FS_WITHIN_CLUSTER_QUEUE: Final = replace(
    KQ_WITHIN_CLUSTER_QUEUE, id="FS-03", rule_sets=("kueue-fair",), drop=5
)
FS_RECLAIM: Final = replace(KQ_RECLAIM, id="FS-04", rule_sets=("kueue-fair",), drop=6)
FS_BORROWS_CONTESTED: Final = _fair(
    "FS-05",
    "borrows_contested_quota",
    "other queues give only if they borrow contested quota",
    "The ClusterQueue of a victim, unless it is the preemptor's own, uses more than its nominal "
    "quota in some contested flavor-resource before anything is removed.",
    f"{_AT}/preemption.go findCandidates, cqIsBorrowing",
    drop=2,
)
FS_BORROWING: Final = _fair(
    "FS-06",
    "borrowing_until_last_victim",
    "other queues and cohorts give only while they borrow",
    "When a victim of another ClusterQueue is removed, that queue and every cohort between it and "
    "the lowest common ancestor borrow: they use more than their (subtree) quota in some "
    "flavor-resource, contested or not. Only the last removal below each node can break this.",
    f"{_AT}/fairsharing/ordering.go nextTarget; docs/design/theory.md §2.3",
    drop=3,
)
FS_SHARES: Final = _fair(
    "FS-07",
    "shares",
    "the preemptor's side is no more unfair than the victim's",
    "Below the lowest common ancestor, with the preemptor's request counted, the share of the "
    "preemptor's side is at most the share of the victim's side after the removal "
    "(LessThanOrEqualToFinalShare), or less than its share before (LessThanInitialShare). Does "
    "not apply to the own queue, nor where the preemptor stays within nominal quota and the gate "
    "FairSharingPreemptWithinNominal is on.",
    f"{_AT}/fairsharing/strategy.go; docs/design/theory.md §2.3",
    reasons=("InCohortFairSharing",),
    drop=4,
)

KF_PERMITTED: Final = Law(
    "KF-01",
    "permitted_flavors",
    "the flavors are ones that the rules permit",
    "The queue is active. All resources of one resource group that a podset, or a group of "
    "podsets, asks for get one flavor. The group lists it, it exists, its taints are tolerated "
    "and its node labels match; together with the podsets before, the request is within what the "
    "queue could ever use. Where it is not available now, the queue may preempt for it: it is "
    "within nominal quota, or could be reclaimed, or the queue may preempt while borrowing.",
    "kueue ff69552e pkg/scheduler/flavorassigner/flavorassigner.go checkFlavorForPodSets, "
    "fitsResourceQuota; docs/semantics/kueue.md §4.1 to §4.4",
    rule_sets=("flavors",),
    no_model="which assignments of flavors are permitted is listed before any model is built: each "
    "of them is a problem of its own",
)

_topology: Final = partial(Law, rule_sets=("topology",), beside=("kueue-classical", "kueue-fair"))

KT_ROOM: Final = _topology(
    "KT-01",
    "room",
    "there is room on the nodes",
    "After all victims are gone, the nodes of the flavor have room for the pods: slots on leaves "
    "that may take them, whole slices in one domain of their level, and all of them in one domain "
    "where a level is required, with the pod of the leader. Of several podsets or groups each "
    "has room by itself, and all of them together.",
    "kueue ff69552e pkg/cache/scheduler/tas_flavor_snapshot.go fillInCounts, "
    "findLevelWithFitDomains; docs/semantics/kueue-topology.md §4.1 and §7",
    drop=9,
)
KT_PLACEMENT: Final = _topology(
    "KT-02",
    "placement",
    "Kueue's own placement succeeds",
    "After all victims are gone, Kueue's own placement finds a place for every podset, one after "
    "the other: the first takes its best place without regard for the others.",
    "kueue ff69552e pkg/cache/scheduler/tas_flavor_snapshot.go findTopologyAssignment, "
    "FindTopologyAssignmentsForFlavor; docs/semantics/kueue-topology.md §4, §5 and §8",
    no_model="it is a procedure, and not monotone: of what the model admits the verifier replays "
    "it, and where it fails every set that leaves the same on the nodes is cut off",
)

LAWS: Final = laws_in(vars())
