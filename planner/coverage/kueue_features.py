"""What decides in Kueue who is preempted: which features are exact, which are not modelled.

Every field of the API belongs to one, by the table in ``tests/coverage/fields.py``: a new release
of Kueue brings fields that somebody must look at before the planner says that it has them right.
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
