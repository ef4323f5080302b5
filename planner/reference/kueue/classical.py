"""The candidates of a preemption search in Kueue's order, and classical preemption itself.

Source: docs/semantics/kueue.md §5.2 to §5.8; kueue ff69552e
pkg/scheduler/preemption/preemption.go ``classicalPreemptions``,
pkg/scheduler/preemption/classical/{hierarchical_preemption,candidate_generator}.go and
pkg/scheduler/preemption/common/ordering.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby, product
from typing import Literal, NamedTuple

import numpy as np

from planner.laws import kueue as laws
from planner.quota.classes import IntArray
from planner.quota.kueue.holders import FEW, Admitted, Holders
from planner.quota.kueue.past_use import Contender, Contest
from planner.quota.kueue.snapshot import Preemptor
from planner.reference.kueue.context import Context, Search, Target, fill_back, restore
from planner.reference.laws import keeps

Variant = Literal[
    "WithinCQ", "HierarchicalReclaim", "ReclaimWithoutBorrowing", "ReclaimWhileBorrowing"
]

REASON: Mapping[Variant, str] = {
    "WithinCQ": "InClusterQueue",
    "HierarchicalReclaim": "InCohortReclamation",
    "ReclaimWithoutBorrowing": "InCohortReclamation",
    "ReclaimWhileBorrowing": "InCohortReclaimWhileBorrowing",
}


class Candidates(NamedTuple):
    """The candidates in the order in which the search takes them.

    ``lca`` maps each other queue to its lowest common ancestor with the preemptor's;
    ``advantages`` are the ancestors in which the preemptor has the advantage; ``highest`` is up to
    which priority other candidates may be taken while borrowing, ``None`` if none may.
    """

    ordered: Sequence[Admitted]
    lca: Mapping[int, int]
    advantages: AbstractSet[int]
    highest: int | None
    any_from_other_queues: bool
    any_with_advantage: bool

    def variant(self, workload: Admitted) -> Variant:
        """Return the way in which one of the workloads may be taken (§5.3)."""
        lca = self.lca.get(workload.queue)
        if lca is None:
            return "WithinCQ"
        if lca in self.advantages:
            return "HierarchicalReclaim"
        if self.highest is None or workload.priority > self.highest:
            return "ReclaimWithoutBorrowing"
        return "ReclaimWhileBorrowing"


@keeps(laws.FS_RECLAIM, laws.FS_WITHIN_CLUSTER_QUEUE, laws.KQ_RECLAIM, laws.KQ_WITHIN_CLUSTER_QUEUE)
def satisfies_policy(preemptor: Preemptor, candidate: Admitted, policy: str) -> bool:
    """Say whether a preemption policy of the preemptor's queue permits the candidate (§5.2)."""
    if policy == "Any":
        return True
    if policy not in {"LowerPriority", "LowerOrNewerEqualPriority"}:
        return False
    if preemptor.priority != candidate.priority:
        return preemptor.priority > candidate.priority
    # By the time in the queue; the order of candidates goes by the time of reservation instead.
    return policy == "LowerOrNewerEqualPriority" and preemptor.queued_before(candidate.queued_at)


@keeps(laws.FS_HOLDS_CONTESTED, laws.KQ_HOLDS_CONTESTED)
def permitted(
    context: Context, lists: Sequence[Iterable[int]]
) -> tuple[Sequence[Admitted], AbstractSet[int]]:
    """Return the holders in lists of queues that may be candidates, and the lists that have any.

    They name a contested fr, and the policy for their queue permits them. They are in Kueue's
    order, in which past use comes before priority.
    """
    snapshot, policy = context.snapshot, context.policy
    list_of = {queue: number for number, queues in enumerate(lists) for queue in queues}
    queues = snapshot.contending(context.queue)
    rules: dict[int, str] = dict.fromkeys(queues, policy.reclaim_within_cohort)
    rules[context.queue] = policy.within_cluster_queue
    if sum(len(snapshot.admitted[queue]) for queue in queues) > FEW:
        many, kinds = _of_many(context, snapshot.holders(queues), list_of, rules)
        return _by_past_use(context, many.at(many.order(kinds)), list_of), {*kinds.tolist()}
    few = [
        one
        for queue in queues
        if queue in list_of
        for one in snapshot.admitted[queue]
        if not context.contested.isdisjoint(one.names)
        if satisfies_policy(context.preemptor, one, rules[queue])
    ]
    few.sort(key=lambda one: (not one.evicted, list_of[one.queue], *_rank(one)))
    return _by_past_use(context, few, list_of), {list_of[one.queue] for one in few}


def _of_many(
    context: Context, held: Holders, list_of: Mapping[int, int], rules: Mapping[int, str]
) -> tuple[Holders, IntArray]:
    """Return the holders that may be candidates in no order, by columns, and the list of each."""
    numbers = np.full(len(context.snapshot.tree.nodes), -1, dtype=np.int64)
    numbers[[*list_of]] = [*list_of.values()]
    kind = numbers[held.columns.queue]
    # Holders of equal usage name the same fr: one of them is tested for all.
    shapes, which = held.alike
    naming = np.array([not context.contested.isdisjoint(one.names) for one in shapes], dtype=bool)
    places = np.flatnonzero((kind >= 0) & naming[which])
    queue, priority = held.columns.queue[places], held.columns.priority[places]
    than = context.preemptor.priority
    permits = np.zeros(len(places), dtype=np.bool_)
    for own, by_priority in product(
        (queue == context.queue, queue != context.queue),
        (priority < than, priority == than, priority > than),
    ):
        at = np.flatnonzero(own & by_priority)
        # Only between equal priorities does more decide than which one is higher.
        equal = at.size and priority[at[0]] == than
        tested = held.at(places[at if equal else at[:1]])
        permits[at] = [satisfies_policy(context.preemptor, one, rules[one.queue]) for one in tested]
    found = places[permits]
    return held.at(found), kind[found]


def collect_candidates(context: Context) -> Candidates:
    """Collect and order the candidates of classical preemption at the present usage."""
    with_advantage: list[int] = []
    by_priority: list[int] = []
    lca: dict[int, int] = {}
    advantages: set[int] = set()
    if context.policy.reclaim_within_cohort != "Never":
        # The whole request, not only its contested part, decides about the advantage (§5.3).
        advantage, remaining = context.usage.fits_in_quota(context.queue, context.request)
        below = context.queue
        for cohort in context.snapshot.tree.ancestors(context.queue):
            advantages |= {cohort} if advantage else set()
            target = with_advantage if advantage else by_priority
            for queue in _queues_over_nominal(context, cohort, below):
                lca[queue] = cohort
                target.append(queue)
            # After the candidates of this cohort: a fit here is an advantage from the next one on.
            fits, remaining = context.usage.fits_in_quota(cohort, remaining)
            advantage = advantage or fits
            below = cohort
    # Evicted workloads come before all others, but keep the order of the three lists. So low
    # priorities of the own queue come after all workloads that run elsewhere (§5.4).
    ordered, filled = permitted(context, [with_advantage, by_priority, [context.queue]])
    return Candidates(
        ordered=ordered,
        lca=lca,
        advantages=advantages,
        highest=_highest_while_borrowing(context),
        any_from_other_queues=not filled.isdisjoint({0, 1}),
        any_with_advantage=0 in filled,
    )


def _queues_over_nominal(context: Context, cohort: int, visited: int) -> Iterator[int]:
    """Yield the queues below a cohort that exceed their quota, if all cohorts between do, too."""
    tree = context.snapshot.tree
    for child in tree.children[cohort]:
        # Inactive queues are not in Kueue's snapshot; their usage stays in the totals (§2).
        if child == visited or not tree.nodes[child].active:
            continue
        # A cohort within its quota shields all queues below, also those that borrow from siblings.
        if context.usage.within_nominal(child, context.contested):
            continue
        if tree.nodes[child].is_queue:
            yield child
        else:
            yield from _queues_over_nominal(context, child, visited)


@keeps(laws.KQ_BORROW_WITHIN_COHORT)
def _highest_while_borrowing(context: Context) -> int | None:
    """Return the highest priority of a candidate without advantage to take while borrowing.

    ``None`` if none may be taken (§5.3).
    """
    borrow = context.policy.borrow_within_cohort
    if borrow.policy == "Never":
        return None
    # Even if reclaimWithinCohort is Any: while borrowing only lower priorities are taken (§5.3).
    threshold, below = borrow.max_priority_threshold, context.preemptor.priority - 1
    return below if threshold is None else min(below, threshold)


OrderKey = tuple[bool, bool, int, float, str]


def candidate_order(context: Context) -> Callable[[Admitted], OrderKey]:
    """Return the key of Kueue's candidate order (§5.4), other queues before the own one.

    Between workloads in different ClusterQueues nothing else decides.
    """
    return lambda one: (not one.evicted, one.queue == context.queue, *_rank(one))


def _rank(one: Admitted) -> tuple[int, float, str]:
    # When QuotaReserved became True, newest first; not creation, nor Admitted (§5.4).
    return one.priority, -one.reserved_s, one.uid


def _by_past_use(
    context: Context, ordered: Sequence[Admitted], list_of: Mapping[int, int]
) -> Sequence[Admitted]:
    """Return candidates with past use before priority, where their ClusterQueue orders by it.

    Past use is compared within a ClusterQueue, among evicted candidates of a list and among the
    others (docs/semantics/kueue-features.md §3.4).
    """
    on = context.snapshot.configuration.admission_fair_sharing_on
    if not on or all(one.past is None for one in ordered):
        return ordered
    key, arranged = candidate_order(context), list[Admitted]()
    for _, same in groupby(ordered, key=lambda one: (one.evicted, list_of[one.queue])):
        group = list(same)
        contest = Contest(
            [Contender(key(one), one.queue, one.local_queue, one.past) for one in group]
        )
        arranged += [group[position] for position in context.chance.arrange(contest)]
    return arranged


def search_classical(context: Context) -> Search:
    """Run the search of a cluster without fair sharing (docs/semantics/kueue.md §5.5)."""
    candidates = collect_candidates(context)
    attempts = _attempts(context, candidates)
    # Each attempt starts from the same usage and the same list: they share nothing (§5.5).
    for borrowing in attempts:
        targets = _attempt(context, candidates, borrowing=borrowing)
        if targets:
            return Search(tuple(targets), attempts, borrowing)
    return Search((), attempts)


@keeps(laws.KQ_ATTEMPT)
def _attempts(context: Context, candidates: Candidates) -> tuple[bool, ...]:
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


def _attempt(context: Context, candidates: Candidates, *, borrowing: bool) -> list[Target]:
    targets: list[Target] = []
    if not borrowing and not _may_stay_within_nominal(context, candidates):
        return targets
    # Until a removal, all candidates of one queue and priority have the same result.
    valid: dict[tuple[int, int], bool] = {}
    for workload in candidates.ordered:
        alike = workload.queue, workload.priority
        if alike not in valid:
            valid[alike] = _is_valid(context, candidates, workload, borrowing=borrowing)
        # Skipped for good, as in Kueue: removals lower usage, so no candidate becomes valid.
        if not valid[alike]:
            continue
        # The fit is tested after a removal only: there is a victim even if all fits now (§5.6).
        context.take_out(workload)
        valid.clear()
        targets.append(Target(workload, REASON[candidates.variant(workload)]))
        if context.workload_fits(borrowing=borrowing):
            fill_back(context, targets, borrowing=borrowing)
            restore(context, targets)
            return targets
    restore(context, targets)
    return []


def _may_stay_within_nominal(context: Context, candidates: Candidates) -> bool:
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
def _is_valid(
    context: Context, candidates: Candidates, workload: Admitted, *, borrowing: bool
) -> bool:
    """Test a candidate at its turn: its queue, and all cohorts up to the LCA, exceed quota."""
    if workload.queue == context.queue:
        return True
    if borrowing and candidates.variant(workload) == "ReclaimWithoutBorrowing":
        return False
    for node in context.snapshot.tree.path(workload.queue):
        # From the LCA up quota is shared with the preemptor: there is nothing to reclaim.
        if node == candidates.lca[workload.queue]:
            break
        if context.usage.within_nominal(node, context.contested):
            return False
    return True
