"""One entry after the other: overlap, fit, preemption, admission, reserved capacity.

Source: docs/semantics/kueue.md §7.4; kueue ff69552e pkg/scheduler/scheduler.go
``processEntry``, ``updateAssignmentIfNeeded``, ``quotaResourcesToReserve``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from planner.quota.amount import add, subtract
from planner.quota.slices import names_replaced
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import Usage
from planner.reference.kueue.cycle.record import Decider, Entry, Nominee, Outcome
from planner.reference.kueue.decision import Decision
from planner.reference.kueue.target import Target
from planner.state import Workload

_WAITING = "WaitingForQuota"
_PREEMPTING = "WaitingForPreemptedWorkloads"


@dataclass(slots=True)
class Processing:
    """What the entries of a cycle have taken so far.

    ``usage`` has what earlier entries took on top of the snapshot, also those that only preempt
    or wait; the usage of their targets stays in it. ``chosen`` are all targets so far, by key.
    ``finished`` are the slices that were replaced. ``decider`` decides for an entry that is looked
    at again.
    """

    snapshot: Snapshot
    usage: Usage
    decider: Decider
    chosen: dict[str, Admitted] = field(default_factory=dict)
    evicted: list[Target] = field(default_factory=list)
    finished: list[Admitted] = field(default_factory=list)

    def process(self, nominee: Nominee) -> Entry:
        """Decide what becomes of a nominee, and let it take what it takes."""
        preemptor, decision = nominee.preemptor, nominee.decision
        overlaps = self._overlaps(decision)
        gate = self.snapshot.configuration.gate
        recomputed = overlaps and gate("RecomputeAssignmentUponPreemptionTargetsOverlap")
        if recomputed:
            decision = self._decide_again(preemptor, decision)
            overlaps = self._overlaps(decision)
        mode, targets = decision.assignment.mode, decision.targets
        if mode == "NoFit":
            return Entry(preemptor, "noFit", decision, "NoFit", decision.assigned.reason)
        if mode == "Preempt" and not targets:
            self._reserve(nominee, decision)
            return Entry(preemptor, "noCandidates", decision, "PreemptionNoCandidates", _WAITING)
        if mode == "Preempt" and self._is_gated(preemptor.workload):
            reasons = "PreemptionGated", "AdmissionGated"
            return Entry(preemptor, "preemptionGated", decision, *reasons)
        if mode == "Fit" and recomputed:
            self.usage.add(preemptor.queue, decision.assigned.usage)
            return Entry(preemptor, "deferred", decision, "PendingPreemption", _PREEMPTING)
        if overlaps or not self._fits(preemptor, decision):
            return Entry(preemptor, "skipped", decision, "", _WAITING)
        return self._take(preemptor, decision)

    def _take(self, preemptor: Preemptor, decision: Decision) -> Entry:
        """Admit, or preempt: the usage is taken either way."""
        self.chosen |= {target.workload.key: target.workload for target in decision.targets}
        self.usage.add(preemptor.queue, decision.assigned.usage)
        if decision.assignment.mode == "Fit":
            self.finished += [decision.replaced.slice] if decision.replaced else []
            return Entry(preemptor, "admitted", decision)
        named = names_replaced(preemptor.workload, self.snapshot.configuration)
        victims = decision.victims(named)
        self.evicted += [target for target in victims if not target.workload.evicted]
        outcome: Outcome = "preempting"
        return Entry(preemptor, outcome, decision, "PendingPreemption", _PREEMPTING)

    def _overlaps(self, decision: Decision) -> bool:
        return any(target.workload.key in self.chosen for target in decision.targets)

    def _is_gated(self, workload: Workload) -> bool:
        gate = self.snapshot.configuration.gate
        return gate("MultiKueueOrchestratedPreemption") and workload.has_closed_gate

    def _decide_again(self, preemptor: Preemptor, before: Decision) -> Decision:
        """Decide as if the chosen targets were gone, among the flavors nominated before."""
        gone = replace(
            self.snapshot,
            usage=self._without(self.chosen.values()),
            admitted={
                queue: [each for each in admitted if each.key not in self.chosen]
                for queue, admitted in self.snapshot.admitted.items()
            },
        )
        return self.decider(gone, preemptor, nominated=before.assignment)

    def _fits(self, preemptor: Preemptor, decision: Decision) -> bool:
        """Say whether the usage is available without all targets, each removed once.

        A slice that is replaced goes with all it holds, although only what is asked for beyond
        that is added: there seems to be more room than there is, as in Kueue.
        """
        own = {target.workload.key: target.workload for target in decision.targets}
        usage = self._without((self.chosen | own).values())
        return all(
            amount <= max(0, usage.available(preemptor.queue, fr))
            for fr, amount in decision.assigned.usage.items()
        )

    def _without(self, workloads: Iterable[Admitted]) -> Usage:
        usage = self.usage.copy()
        for workload in workloads:
            usage.remove(workload.queue, workload.usage)
        return usage

    def _reserve(self, nominee: Nominee, decision: Decision) -> None:
        """Keep capacity for a preemptor without candidates, if it cannot reclaim it any time.

        By a gate, also for one that preempted in an earlier cycle.

        A borrowing limit that is overrun makes the reserved amount negative, as in Kueue.
        """
        queue, tree = nominee.preemptor.queue, self.usage.tree
        gate = self.snapshot.configuration.gate
        preempts = gate("PrioritizePreemptorWorkloads") and nominee.preempts
        policies = self.snapshot.queues[queue].spec.preemption
        if policies.reclaim_within_cohort == "Any" and not preempts:
            return
        reserved = {}
        for fr, amount in decision.assigned.usage.items():
            used, nominal = self.usage.amount[queue][fr], tree.nominal(queue, fr)
            limit = tree.borrowing_limit(queue, fr)
            if decision.assignment.borrowing == 0:
                reserved[fr] = max(0, min(amount, subtract(nominal, used)))
            elif limit is None:
                reserved[fr] = amount
            else:
                reserved[fr] = min(amount, subtract(add(nominal, limit), used))
        self.usage.add(queue, reserved)
