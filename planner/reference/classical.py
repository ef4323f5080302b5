"""Classical preemption, victim by victim, as Kueue finds them.

Source: kueue-semantics.md, sections 5.1 and 5.5 to 5.8; kueue ff69552e
pkg/scheduler/preemption/preemption.go ``classicalPreemptions``, ``fillBackWorkloads``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planner.quota.amount import add
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import Usage
from planner.reference.candidates import REASON, Candidate, CandidateList, collect_candidates


@dataclass(frozen=True, slots=True)
class Target:
    """A workload the scheduler would preempt, and its reason code."""

    workload: Admitted
    reason: str


@dataclass(frozen=True, slots=True)
class Search:
    """What the search found: targets in Kueue's order, empty if none; its attempts, in order.

    An attempt is named by whether it permits borrowing. ``borrowing`` is the successful one.
    """

    targets: tuple[Target, ...]
    attempts: tuple[bool, ...]
    borrowing: bool | None = None


def search_classical(
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    request: Mapping[int, int],
    contested: frozenset[int],
) -> Search:
    """Run the preemption search; ``usage`` is changed on the way and restored at the end."""
    candidates = collect_candidates(snapshot, usage, preemptor, request, contested)
    attempts = _attempts(snapshot, usage, preemptor, candidates, contested)
    for borrowing in attempts:
        targets = _attempt(
            snapshot, usage, preemptor, request, contested, candidates, borrowing=borrowing
        )
        if targets:
            return Search(tuple(targets), attempts, borrowing)
    return Search((), attempts)


def fits(usage: Usage, queue: int, request: Mapping[int, int], *, borrowing: bool) -> bool:
    """Say whether the request fits in what is available, and in nominal unless borrowing."""
    for fr, amount in request.items():
        if not borrowing and add(usage.amount[queue][fr], amount) > usage.tree.nominal(queue, fr):
            return False
        if amount > max(0, usage.available(queue, fr)):
            return False
    return True


def _attempts(
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    candidates: CandidateList,
    contested: frozenset[int],
) -> tuple[bool, ...]:
    """Return the attempts in Kueue's order (5.5)."""
    queue = preemptor.queue
    borrow = snapshot.queues[queue].spec.preemption.borrow_within_cohort
    forbidden = borrow.policy == "Never"
    under_nominal = all(
        usage.amount[queue][fr] < snapshot.tree.nominal(queue, fr) for fr in contested
    )
    if not candidates.any_from_other_queues or (forbidden and not under_nominal):
        return (True,)
    if forbidden and not candidates.any_with_advantage:
        return (False, True)
    return (True, False)


def _attempt(  # noqa: PLR0913 - the search context of section 5.6
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    request: Mapping[int, int],
    contested: frozenset[int],
    candidates: CandidateList,
    *,
    borrowing: bool,
) -> list[Target]:
    targets: list[Target] = []
    for candidate in candidates.ordered:
        if not _is_valid(snapshot, usage, preemptor, candidate, contested, borrowing=borrowing):
            continue
        workload = candidate.workload
        usage.remove(workload.queue, workload.usage)
        targets.append(Target(workload, REASON[candidate.variant]))
        if fits(usage, preemptor.queue, request, borrowing=borrowing):
            fill_back(usage, preemptor.queue, request, targets, borrowing=borrowing)
            _restore(usage, targets)
            return targets
    _restore(usage, targets)
    return []


def _is_valid(  # noqa: PLR0913 - the search context of section 5.6
    snapshot: Snapshot,
    usage: Usage,
    preemptor: Preemptor,
    candidate: Candidate,
    contested: frozenset[int],
    *,
    borrowing: bool,
) -> bool:
    """Test a candidate at its turn: its queue, and all cohorts up to the LCA, exceed quota."""
    queue = candidate.workload.queue
    if queue == preemptor.queue:
        return True
    if borrowing and candidate.variant == "ReclaimWithoutBorrowing":
        return False
    if usage.within_nominal(queue, contested):
        return False
    for cohort in snapshot.tree.ancestors(queue):
        if cohort == candidate.lca:
            break
        if usage.within_nominal(cohort, contested):
            return False
    return True


def fill_back(
    usage: Usage,
    queue: int,
    request: Mapping[int, int],
    targets: list[Target],
    *,
    borrowing: bool,
) -> None:
    """Give back what is not needed, last but one first (5.7); the swap decides the order."""
    for position in range(len(targets) - 2, -1, -1):
        workload = targets[position].workload
        usage.add(workload.queue, workload.usage)
        if fits(usage, queue, request, borrowing=borrowing):
            targets[position] = targets[-1]
            targets.pop()
        else:
            usage.remove(workload.queue, workload.usage)


def _restore(usage: Usage, targets: list[Target]) -> None:
    for target in targets:
        usage.add(target.workload.queue, target.workload.usage)
