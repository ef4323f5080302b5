"""The features of Kueue that decide who is preempted: which are exact, which are not modelled.

Every field of the API belongs to a feature, by the table in ``tests/coverage/fields.py``: a new
release of Kueue brings fields that somebody must look at before the planner calls them exact.
"""

from __future__ import annotations

from typing import Final

from planner.coverage.answer import features_of

FEATURES: Final = features_of(
    "kueue",
    """
topology | exact | topology-aware scheduling
    docs/semantics/kueue-topology.md: Kueue asks whether the pods fit on the nodes of the topology,
    now and after each removal: an answer that counts quota only says so, and other victims may be
    needed, or more
preemption-config | left out | configurable preemptions
    docs/semantics/kueue-features.md §8: PreemptionConfig objects replace the policies of
    ClusterQueues
configuration | exact | the Configuration of Kueue's manager
    docs/semantics/kueue-features.md §8: fair sharing, its strategies, feature gates and resource
    settings decide who may go
quota | exact | quota, borrowing and lending
    docs/semantics/kueue.md §3: another shortage needs other victims
fair-sharing | exact | fair sharing
    docs/semantics/kueue.md §6: shares decide who may be a victim, and in which order
admission-fair-sharing | exact | admission fair sharing
    docs/semantics/kueue-features.md §3: it changes the order in which Kueue takes victims, not who
    may be one
policies | exact | preemption policies
    docs/semantics/kueue.md §5: they say who may be a victim
flavors | exact | flavor assignment
    docs/semantics/kueue.md §4: other flavors have other candidates
queues | exact | which queues take part
    docs/semantics/kueue-features.md §1.3: workloads of an inactive ClusterQueue neither preempt nor
    are candidates
admission-checks | exact | admission checks
    docs/semantics/kueue-features.md §1.3: a check that failed, or is not active, keeps a workload
    out
nomination | exact | whether a workload is considered at all
    docs/semantics/kueue-features.md §1: one that is not considered gets no victims
priorities | exact | priorities and boosts
    docs/semantics/kueue.md §2: they say who may preempt whom, and the order
requests | exact | what a workload asks for
    docs/semantics/kueue-features.md §10: another request needs other victims
devices | exact | claims of devices (DRA) and extended resources
    docs/semantics/kueue-features.md §4: a claim asks for quota that the pod does not name
holdings | exact | what admitted workloads hold
    docs/semantics/kueue.md §2: it is what victims give back
slices | exact | elastic workload slices
    docs/semantics/kueue-features.md §2: a new slice asks for the difference to the old one only
preemption-gates | exact | preemption gates
    docs/semantics/kueue-features.md §1.6: a workload with a closed gate evicts nobody
concurrent-admission | exact | concurrent admission
    docs/semantics/kueue-features.md §7: variants of a workload have flavors of their own
chance | left out | what Kueue leaves to chance
    docs/semantics/kueue-features.md §1.4: of equals Kueue takes one at random, or the one of which
    it heard first, which no dump shows: another run may evict others
evidence | evidence | what Kueue publishes of its own counting
    docs/semantics/kueue-features.md §10: it is held against what is worked out
harmless | harmless | everything else
    docs/semantics/kueue-features.md §1: it decides nothing about preemption
""",
)
(
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
    CHANCE,
    EVIDENCE,
    HARMLESS,
) = FEATURES
