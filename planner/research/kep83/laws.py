"""The laws of KEP-83, the proposal of 2022 by which Kueue got preemption: K83-01 to K83-08.

Its text, retold in docs/semantics/kep83.md, leaves the meaning of some words open, or says two
things that differ. The readings here are ours; reference, models and verifier share them:

* *min* is the nominal quota of a ClusterQueue, *max* that and its borrowing limit. Hierarchical
  cohorts and lending limits came later: the cohort is the whole tree, quota is what is available
  in it, and only ClusterQueues are asked whether they borrow.
* The *involved flavors* are the flavor-resources whose assigned mode is Preempt: in all others the
  preemptor fits as it is, and no removal would help. The text says "the flavors that were selected
  for the incoming Workload", which may also include flavors in which it fits as it is: that would
  permit more victims, and skip fewer queues.
* *Below its min* means strictly below: a queue that uses exactly its min of some involved
  flavor-resource is not skipped. Kueue's classical preemption, KQ-07, stops one step earlier.
* *Currently borrowing*, of a ClusterQueue with candidates, is tested once, before any removal, in
  the involved flavors: other queues give back quota only where it is needed. The text names no
  flavors: it may also mean borrowing in any flavor.
* *Fits within the min quota* is tested after the last removal, by K83-02. Both lists of candidates
  are collected whatever the usage, as step 2 of the algorithm says, so that victims of the own
  queue are possible where the preemptor fits within min. The comment of ``withinClusterQueue``
  speaks only of a workload that does not fit within min.
* *As long as the incoming Workload still fits* is read as a test of each removed workload: one that
  cannot be added back does not end step 5. If it did, the set would not be minimal, as step 5 says
  it is.
* A victim that is being evicted already is like all other victims: the KEP knows no such state.

Not modelled, of its alternatives: *dynamic priority* ("Penalizing long running workloads"), by
which a priority rises while a workload waits or falls while it runs, and ``onPreemption:
Terminate`` ("Terminating Workloads on preemption"), which changes what becomes of victims, not who
they are.
"""

from __future__ import annotations

from typing import Final

from planner.laws.law import Law, laws_in

_SOURCE: Final = "KEP-83, "

K83_FITS: Final = Law(
    "K83-01",
    "fits",
    "the preemptor fits",
    "After all victims are gone, every requested flavor-resource is available to the preemptor's "
    "ClusterQueue: within its max, and within what the cohort has.",
    f"{_SOURCE}Preemption, step 4",
)
K83_WITHOUT_BORROWING: Final = Law(
    "K83-02",
    "without_borrowing",
    "what needs preemption does not borrow",
    "After all victims are gone, usage + request <= min of the preemptor's ClusterQueue for every "
    "flavor-resource whose assigned mode is Preempt. Does not apply with withinCohort "
    "LowerPriority, which borrows while it preempts.",
    f"{_SOURCE}Detecting Workloads that might benefit from preemption; Alternatives, Allow high "
    "priority jobs to borrow quota while preempting",
)
K83_HOLDS_CONTESTED: Final = Law(
    "K83-03",
    "holds_contested_quota",
    "a victim uses the involved flavors in the preemptor's cohort",
    "Every victim holds quota in an active ClusterQueue of the preemptor's cohort, and names a "
    "flavor-resource that needs preemption; the amount is irrelevant.",
    f"{_SOURCE}Preemption, step 2",
)
K83_WITHIN_CLUSTER_QUEUE: Final = Law(
    "K83-04",
    "within_cluster_queue",
    "withinClusterQueue permits victims of the own queue",
    "A victim in the preemptor's own ClusterQueue has a lower priority than the preemptor; with "
    "Never there is none.",
    f"{_SOURCE}ClusterQueue API changes; Preemption, step 2.2",
    reasons=("InClusterQueue",),
)
K83_WITHIN_COHORT: Final = Law(
    "K83-05",
    "within_cohort",
    "withinCohort permits victims of other queues",
    "A victim in another ClusterQueue has a lower priority than the preemptor, unless withinCohort "
    "is ReclaimFromAny; with Never there is none.",
    f"{_SOURCE}ClusterQueue API changes; Preemption, step 2.1; Alternatives",
    reasons=("InCohortReclamation", "InCohortReclaimWhileBorrowing"),
)
K83_BORROWS: Final = Law(
    "K83-06",
    "borrows_involved_flavors",
    "other queues give only if they borrow involved flavors",
    "The ClusterQueue of a victim, unless it is the preemptor's own, uses more than its min of "
    "some involved flavor-resource before anything is removed.",
    f"{_SOURCE}Preemption, step 2.1",
)
K83_AT_MIN: Final = Law(
    "K83-07",
    "at_min_until_last_victim",
    "other queues give only until they are below their min",
    "When a victim of another ClusterQueue is removed, that queue uses at least its min of some "
    "involved flavor-resource. Only the last removal from each queue can break this.",
    f"{_SOURCE}Preemption, step 4; docs/design/theory.md §2.5",
)
K83_WAITED: Final = Law(
    "K83-08",
    "waited",
    "the preemptor has waited long enough",
    "There are victims only if the preemptor has waited as many seconds as the option says since "
    "it was first attempted: since its condition Admitted, or else QuotaReserved, is False. "
    "Without either it has not been attempted, and has not waited.",
    f"{_SOURCE}Alternatives, Extra knobs in ClusterQueue preemption policy",
)

LAWS: Final = laws_in(vars())
