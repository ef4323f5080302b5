"""The rules as a registry: one law, one id, the same in models, verifier, report and tests.

A law is described once, here. ``models`` states it as constraints, ``verifier`` as a check of a
finished plan; neither knows the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Law:
    """One rule of a scheduler.

    ``name`` is the name of the function that states it in models and in the verifier;
    ``source`` is where the rule comes from.
    """

    id: str
    name: str
    title: str
    statement: str
    source: str


KQ_FITS: Final = Law(
    "KQ-01",
    "fits",
    "the preemptor fits",
    "After all victims are gone, every requested flavor-resource is available to the preemptor's "
    "ClusterQueue: request <= max(0, available), borrowing and lending limits of the whole path "
    "included.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go workloadFits; "
    "pkg/cache/scheduler/resource_node.go available",
)
KQ_WITHOUT_BORROWING: Final = Law(
    "KQ-02",
    "without_borrowing",
    "an attempt without borrowing ends within nominal quota",
    "In an attempt that does not permit borrowing, usage + request <= nominal quota of the "
    "preemptor's ClusterQueue for every requested flavor-resource.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go workloadFits",
)
KQ_HOLDS_CONTESTED: Final = Law(
    "KQ-03",
    "holds_contested_quota",
    "a victim holds contested quota in the preemptor's tree",
    "Every victim holds quota in an active ClusterQueue of the preemptor's cohort tree, and names "
    "a flavor-resource that needs preemption; the amount is irrelevant.",
    "kueue ff69552e pkg/scheduler/preemption/classical/candidate_generator.go "
    "WorkloadUsesResources",
)
KQ_WITHIN_CLUSTER_QUEUE: Final = Law(
    "KQ-04",
    "within_cluster_queue",
    "withinClusterQueue permits victims of the own queue",
    "A victim in the preemptor's own ClusterQueue must satisfy its withinClusterQueue policy: "
    "LowerPriority, or LowerOrNewerEqualPriority by queue-order timestamp; never with Never.",
    "kueue ff69552e pkg/scheduler/preemption/common/preemption_policy.go",
)
KQ_RECLAIM: Final = Law(
    "KQ-05",
    "reclaim_within_cohort",
    "reclaimWithinCohort permits victims of other queues",
    "A victim in another ClusterQueue must satisfy the preemptor's reclaimWithinCohort policy: "
    "LowerPriority or Any; never with Never.",
    "kueue ff69552e pkg/scheduler/preemption/common/preemption_policy.go",
)
KQ_BORROW_WITHIN_COHORT: Final = Law(
    "KQ-06",
    "borrow_within_cohort",
    "borrowWithinCohort limits victims while borrowing",
    "In an attempt that permits borrowing, a victim of another ClusterQueue over which the "
    "preemptor has no hierarchical advantage must be allowed by borrowWithinCohort: policy "
    "LowerPriority, a lower priority than the preemptor, and at most maxPriorityThreshold.",
    "kueue ff69552e pkg/scheduler/preemption/classical/hierarchical_preemption.go "
    "classifyPreemptionVariant",
)
KQ_OVER_QUOTA: Final = Law(
    "KQ-07",
    "over_quota_until_last_victim",
    "other queues and cohorts give only while over their quota",
    "When a victim of another ClusterQueue is removed, that queue and every cohort between it and "
    "the lowest common ancestor use more than their (subtree) quota in some contested "
    "flavor-resource. Only the last removal below each node can break this.",
    "kueue ff69552e pkg/scheduler/preemption/classical/candidate_generator.go candidateIsValid; "
    "design.md 2.2",
)
KQ_ATTEMPT: Final = Law(
    "KQ-08",
    "attempt",
    "the attempt is one that Kueue would make",
    "Kueue tries with and without borrowing, or only one of them, depending on "
    "borrowWithinCohort, on the candidates there are, and on whether the queue is under nominal.",
    "kueue ff69552e pkg/scheduler/preemption/preemption.go classicalPreemptions",
)

KUEUE_CLASSICAL: Final = (
    KQ_FITS,
    KQ_WITHOUT_BORROWING,
    KQ_HOLDS_CONTESTED,
    KQ_WITHIN_CLUSTER_QUEUE,
    KQ_RECLAIM,
    KQ_BORROW_WITHIN_COHORT,
    KQ_OVER_QUOTA,
    KQ_ATTEMPT,
)

RULE_SETS: Final = {"kueue-classical": KUEUE_CLASSICAL}
"""The laws of each rule set, in the order in which they are reported."""
