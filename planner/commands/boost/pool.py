"""The candidates of one search, and how far the priority of each can move.

A boost must not change what a rule says of a candidate: it stays permitted by the policy that
permits it today, and may be taken while borrowing just as today. Within these bounds priorities
only decide in which order Kueue looks at the candidates of one list (docs/semantics/kueue.md §5.4),
and so only the order of the priorities matters, not their values.

Workloads that are no candidates have no part in the search for victims.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from planner.assignment import Assignment, contested, total_request
from planner.quota.snapshot import Admitted, Preemptor, Snapshot
from planner.quota.tree import NO_PARENT
from planner.reference.kueue.candidates import collect_candidates, satisfies_policy
from planner.reference.kueue.context import Context

_LISTS: Mapping[str, int] = {
    "HierarchicalReclaim": 0,
    "ReclaimWithoutBorrowing": 1,
    "ReclaimWhileBorrowing": 1,
    "WithinCQ": 2,
}
"""The place of each variant's list in the whole order."""

_FAIR_OTHER, _FAIR_OWN = "fair, other queue", "fair, own queue"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workload that Kueue may take.

    ``list_number`` says in which list it stands; lists are looked at one after the other,
    whatever the priorities. ``least`` and ``most`` bound its effective priority, ``None`` where
    nothing does. Candidates of one ``kind`` can stand in for one another: swapped, they change
    nothing about whether Kueue takes exactly the planned victims.
    """

    workload: Admitted
    list_number: tuple[bool, int]
    least: int | None
    most: int | None
    is_victim: bool
    kind: Hashable

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.workload.key

    @property
    def priority(self) -> int:
        """The effective priority today."""
        return self.workload.priority

    def permits(self, priority: int) -> bool:
        """Say whether the priority is within the bounds."""
        return (self.least is None or priority >= self.least) and (
            self.most is None or priority <= self.most
        )

    def place(self, priority: int) -> tuple[tuple[bool, int], float, int, float, str]:
        """Return the key by which Kueue orders the candidates, for some priority of this one."""
        workload = self.workload
        past = -(workload.past or 0.0)
        return (self.list_number, past, priority, -workload.reserved_s, workload.uid)


def candidates_of(
    snapshot: Snapshot, preemptor: Preemptor, assignment: Assignment, victims: frozenset[str]
) -> Sequence[Candidate]:
    """Return the candidates of the search for an assignment, in Kueue's order of today."""
    context = Context(
        snapshot,
        snapshot.usage.copy(),
        preemptor,
        total_request(assignment, preemptor, snapshot),
        contested(assignment, snapshot),
    )
    fair = snapshot.configuration.fair_sharing_on
    found = _fair(context) if fair else _classical(context)
    pool = [_candidate(context, *one, victims=victims) for one in found]
    return sorted(pool, key=lambda one: one.place(one.priority))


def _classical(context: Context) -> Iterator[tuple[Admitted, str, int]]:
    for one in collect_candidates(context).ordered:
        yield one.workload, one.variant, one.lca


def _fair(context: Context) -> Iterator[tuple[Admitted, str, int]]:
    """Yield the candidates of fair sharing (§6.2): own ones, and of queues that borrow."""
    tree, policy = context.snapshot.tree, context.policy
    below = [context.queue]
    if tree.nodes[context.queue].parent != NO_PARENT:
        below = [tree.path(context.queue)[-1]]
    for node in below:
        below.extend(child for child in tree.children[node] if tree.nodes[child].active)
        own = node == context.queue
        if not tree.nodes[node].is_queue:
            continue
        if not own and context.usage.within_nominal(node, context.contested):
            continue
        rule = policy.within_cluster_queue if own else policy.reclaim_within_cohort
        for workload in context.snapshot.admitted[node]:
            if not context.contested.isdisjoint(workload.names) and satisfies_policy(
                context.preemptor, workload, rule
            ):
                yield workload, _FAIR_OWN if own else _FAIR_OTHER, NO_PARENT


def _candidate(
    context: Context, workload: Admitted, variant: str, lca: int, *, victims: frozenset[str]
) -> Candidate:
    least, most = _bounds(context, workload, variant)
    place = int(variant == _FAIR_OWN) if variant not in _LISTS else _LISTS[variant]
    is_victim = workload.key in victims
    usage = tuple(sorted(workload.usage.items()))
    # With bounds on both sides not every order of equals can be had: each is a kind of its own.
    alone = workload.key if least is not None and most is not None else ""
    kind = (workload.queue, usage, variant, lca, workload.evicted, least, most, is_victim, alone)
    return Candidate(workload, (not workload.evicted, place), least, most, is_victim, kind)


def _bounds(context: Context, workload: Admitted, variant: str) -> tuple[int | None, int | None]:
    """Return between which priorities no rule says anything else of a candidate (§5.2, §5.3)."""
    preemptor, policy = context.preemptor, context.policy
    own = workload.queue == context.queue
    rule = policy.within_cluster_queue if own else policy.reclaim_within_cohort
    least: int | None = None
    most: int | None = None
    if rule != "Any":
        newer = preemptor.queued_before(workload.queued_at)
        newer = newer and rule == "LowerOrNewerEqualPriority"
        most = preemptor.priority if newer else preemptor.priority - 1
    borrow = policy.borrow_within_cohort
    threshold = borrow.max_priority_threshold
    highest = preemptor.priority - 1
    if threshold is not None:
        highest = min(highest, threshold)
    if variant == "ReclaimWhileBorrowing":
        most = highest if most is None else min(most, highest)
    elif variant == "ReclaimWithoutBorrowing" and borrow.policy != "Never":
        least = highest + 1
    return least, most
