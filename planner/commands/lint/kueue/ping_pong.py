"""Ping-pong: workloads that evict one another again and again.

Whom preemption by priority evicts never evicts back: it is lower, or equal and later in the
queue, than whom it went for, and both stay what they are. Evicting back needs
``reclaimWithinCohort: Any``, which asks for no priority: one ClusterQueue borrows by force, the
other takes its nominal quota back from whoever has it, and the first does not think twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from planner.commands.lint.kueue.search import (
    MAX_OTHERS,
    MAX_SIMILAR,
    in_turn,
    ping_pong,
    rivals,
    worlds,
)
from planner.commands.lint.kueue.world import Facts, Job, World, policies
from planner.commands.lint.lint import Finding, finding

MAX_TRIALS: Final = 100
"""States that are tried for one tree of cohorts."""


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
    for borrower, lender, world, jobs in islice(_trials(facts, borrowers, lenders), MAX_TRIALS):
        example = ping_pong(world, jobs, cure)
        if example is not None:
            more = {*borrowers, *lenders} - {borrower, lender}
            yield finding(
                code,
                facts.names((borrower, lender, *sorted(more))),
                reason.format(borrowers=facts.name(borrower), lenders=facts.name(lender)),
                f"reclaimWithinCohort: LowerPriority in {_all(facts, lenders)}",
                example,
            )
            return


def _trials(
    facts: Facts, borrowers: Sequence[int], lenders: Sequence[int]
) -> Iterator[tuple[int, int, World, tuple[Job, ...]]]:
    """Yield what to try, a pair of ClusterQueues after the other, each with its next workloads."""

    def of(borrower: int) -> Iterator[tuple[int, int, World, tuple[Job, ...]]]:
        others = [queue for queue in lenders if queue != borrower]
        for world, lender in worlds(facts, borrower, others):
            for jobs in rivals(world, borrower, lender):
                yield borrower, lender, world, jobs

    few_of_each = in_turn(iter(group[:MAX_SIMILAR]) for group in facts.similar(borrowers))
    return in_turn(of(borrower) for borrower in islice(few_of_each, 2 * MAX_OTHERS))


def _all(facts: Facts, queues: Sequence[int]) -> str:
    names = facts.names(queues)
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
