"""Classical preemption, victim by victim as in Kueue, and the choice of the configured search.

Source: docs/semantics/kueue.md §5.1 and §5.5 to §5.8; kueue ff69552e
pkg/scheduler/preemption/preemption.go ``classicalPreemptions``, ``fillBackWorkloads``.
"""

from __future__ import annotations

from planner.laws import kueue as laws
from planner.quota.kueue.holders import Holders
from planner.reference.kueue.candidates import REASON, Candidate, CandidateList, collect_candidates
from planner.reference.kueue.context import Context, Search, Target, fill_back, restore
from planner.reference.kueue.fair_sharing import fair_candidates, search_fair_sharing
from planner.reference.laws import keeps


@keeps(laws.ST_ATTEMPTS)
def search_classical(context: Context) -> Search:
    """Run the preemption search of a cluster without fair sharing."""
    candidates = collect_candidates(context)
    attempts = _attempts(context, candidates)
    # Each attempt starts from the same usage and the same list: they share nothing (§5.5).
    for borrowing in attempts:
        targets = _attempt(context, candidates, borrowing=borrowing)
        if targets:
            return Search(tuple(targets), attempts, borrowing)
    return Search((), attempts)


@keeps(laws.KQ_ATTEMPT)
def _attempts(context: Context, candidates: CandidateList) -> tuple[bool, ...]:
    """Return the attempts in Kueue's order (§5.5)."""
    forbidden = context.policy.borrow_within_cohort.policy == "Never"
    # Strictly less, in every contested fr: a queue at its nominal quota is not under it.
    under_nominal = all(
        context.usage.amount[context.queue][fr] < context.snapshot.tree.nominal(context.queue, fr)
        for fr in context.contested
    )
    # Where borrowWithinCohort is off, all candidates without advantage are ReclaimWithoutBorrowing,
    # which the attempt with borrowing leaves out: that attempt takes less from other queues.
    if not candidates.any_from_other_queues or (forbidden and not under_nominal):
        return (True,)
    if forbidden and not candidates.any_with_advantage:
        return (False, True)
    return (True, False)


@keeps(laws.ST_STOPS)
def _attempt(context: Context, candidates: CandidateList, *, borrowing: bool) -> list[Target]:
    targets: list[Target] = []
    if not borrowing and not _may_stay_within_nominal(context, candidates):
        return targets
    # Until a removal, all candidates of one queue and priority have the same result.
    valid: dict[tuple[int, int], bool] = {}
    for workload in candidates.ordered:
        alike = workload.queue, workload.priority
        if alike not in valid:
            valid[alike] = _is_valid(context, candidates.of(workload), borrowing=borrowing)
        # Skipped for good, as in Kueue: removals lower usage, so no candidate becomes valid.
        if not valid[alike]:
            continue
        # The fit is tested after a removal only: there is a victim even if all fits now (§5.6).
        context.take_out(workload)
        valid.clear()
        targets.append(Target(workload, REASON[candidates.of(workload).variant]))
        if context.fits(borrowing=borrowing):
            fill_back(context, targets, borrowing=borrowing)
            restore(context, targets)
            return targets
    restore(context, targets)
    return []


def _may_stay_within_nominal(context: Context, candidates: CandidateList) -> bool:
    """Say whether the request could fit in nominal quota with all own candidates removed."""
    queue, exact = context.queue, context.snapshot.tree.arithmetic
    if exact.wraps:
        return True  # a removal may then raise usage: only the attempt itself can tell
    # Only candidates of the own queue lower its usage, which decides whether it stays in nominal:
    # where all of them are not enough, the attempt would remove and restore for nothing.
    own = [one.usage for one in candidates.ordered if one.queue == queue]
    for fr, amount in context.request.items():
        used = context.usage.amount[queue][fr]
        for usage in own:
            used = exact.subtract(used, max(0, usage.get(fr, 0)))
        if exact.add(used, amount) > context.snapshot.tree.nominal(queue, fr):
            return False
    return True


@keeps(laws.KQ_BORROW_WITHIN_COHORT, laws.KQ_OVER_QUOTA)
def _is_valid(context: Context, candidate: Candidate, *, borrowing: bool) -> bool:
    """Test a candidate at its turn: its queue, and all cohorts up to the LCA, exceed quota."""
    queue = candidate.workload.queue
    if queue == context.queue:
        return True
    if borrowing and candidate.variant == "ReclaimWithoutBorrowing":
        return False
    if context.usage.within_nominal(queue, context.contested):
        return False
    for cohort in context.snapshot.tree.ancestors(queue):
        # From the LCA up quota is shared with the preemptor: there is nothing to reclaim.
        if cohort == candidate.lca:
            break
        if context.usage.within_nominal(cohort, context.contested):
            return False
    return True


def search(context: Context) -> Search:
    """Find the targets Kueue would preempt; the usage is as before at the end."""
    if context.snapshot.configuration.fair_sharing_on:
        return search_fair_sharing(context)
    return search_classical(context)


def candidates(context: Context) -> Holders:
    """Return the candidates, as the rules see each workload before the search."""
    if context.snapshot.configuration.fair_sharing_on:
        return fair_candidates(context)[0]
    return collect_candidates(context).ordered
