"""Ping-pong: workloads that evict one another again and again.

Preemption by priority cannot run in circles: whoever goes is lower, or equal and later in the
queue, than whom it goes for, and both stay what they are. Circles need ``reclaimWithinCohort:
Any``, which asks for no priority. One ClusterQueue borrows by force, the other takes its nominal
quota back from whoever has it, and the first does not think twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from planner.linting.finding import finding
from planner.linting.kueue.facts import Facts
from planner.linting.kueue.search import MAX_OTHERS, ping_pong, worlds
from planner.linting.kueue.world import policies
from planner.linting.record import Finding


def borrower_and_lender(facts: Facts) -> Iterator[Finding]:
    """KL-01: one preempts while borrowing, the other reclaims from any priority."""
    if facts.fair:
        return
    for tree in facts.trees:
        active = facts.active(tree)
        borrowers = [q for q in active if facts.borrows_by_force(q) and facts.reclaims(q)]
        yield from _between(
            facts,
            "KL-01",
            [q for q in borrowers if any(facts.can_borrow(q, fr) for fr in facts.frs(q))],
            _lenders(facts, active),
            "{borrowers} may preempt while borrowing (borrowWithinCohort), and {lenders} may take "
            "its quota back from any priority (reclaimWithinCohort: Any).",
        )


def fair_queues(facts: Facts) -> Iterator[Finding]:
    """KL-02: shares are compared by amounts, and Any heeds no priority."""
    if not facts.fair:
        return
    for tree in facts.trees:
        active = facts.active(tree)
        yield from _between(
            facts,
            "KL-02",
            [q for q in active if facts.reclaims(q)],
            [q for q in active if facts.policies(q).reclaim_within_cohort == "Any"],
            "{borrowers} preempts by shares, and so does {lenders}, from any priority "
            "(reclaimWithinCohort: Any): each is the less unfair one in turn.",
        )


def _lenders(facts: Facts, queues: Sequence[int]) -> list[int]:
    return [
        queue
        for queue in queues
        if facts.policies(queue).reclaim_within_cohort == "Any"
        and any(facts.nominal(queue, fr) for fr in facts.frs(queue))
    ]


def _between(
    facts: Facts, code: str, borrowers: Sequence[int], lenders: Sequence[int], reason: str
) -> Iterator[Finding]:
    """Yield the finding for some ClusterQueues of a tree, shown by the first pair that does it."""
    cure = policies(map(facts.snapshot.queue_name, lenders), reclaimWithinCohort="LowerPriority")
    for borrower in borrowers[:MAX_OTHERS]:
        others = [queue for queue in lenders if queue != borrower]
        for world, lender in worlds(facts, borrower, others):
            example = ping_pong(world, borrower, lender, cure)
            if example is None:
                continue
            first = {"borrowers": facts.name(borrower), "lenders": facts.name(lender)}
            more = {*borrowers, *lenders} - {borrower, lender}
            yield finding(
                code,
                facts.names((borrower, lender, *sorted(more))),
                reason.format(**first),
                f"reclaimWithinCohort: LowerPriority in {_all(facts, lenders)}",
                example,
            )
            return


def _all(facts: Facts, queues: Sequence[int]) -> str:
    names = facts.names(queues)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
