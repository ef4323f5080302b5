"""What only cycles show: workloads that evict each other for ever, or that are never reached.

Ping-pong: a victim of preemption by priority never evicts its preemptor in turn: its priority is
lower, or equal and it queued later, and neither changes. Evicting back needs
``reclaimWithinCohort: Any``, which heeds no priority: one ClusterQueue preempts while borrowing,
the other takes its nominal quota back from whoever has it, and the first preempts again.

Starvation: a pending workload of the state that Kueue never reaches, and the workloads that keep
Kueue from it. Other rules ask what a configuration makes possible; this rule looks at what waits.
Cycles are replayed in each cohort tree, as for the note of a plan (docs/semantics/kueue.md §7.1,
§7.4, §7.5). A workload that would neither fit nor preempt if its turn came misses nothing, and an
eviction or admission in the tree changes everything: neither case is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from planner.operations.lint.kueue import search
from planner.operations.lint.kueue.world import (
    Change,
    Facts,
    Job,
    Object,
    World,
    policies,
    read_example,
    spec_of,
)
from planner.operations.lint.lint import Example, Finding, finding, first
from planner.plan.base import name_some
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.reference.kueue.chance import Crash
from planner.reference.kueue.cycle.turn import InTheWay, budget, in_the_way, never_reached
from planner.reference.kueue.cycle.waiting import Pending, waiting_queues
from planner.reference.kueue.decision import decide

MAX_TRIALS: Final = 100
"""The most states that are tried for one tree of cohorts."""


def borrower_and_lender(facts: Facts) -> Iterator[Finding]:
    """KL-01: one ClusterQueue preempts while borrowing, another reclaims from any priority."""
    if facts.fair:
        return
    for tree in facts.trees.values():
        active = facts.active(tree)
        borrowers = [q for q in active if facts.borrows_by_force(q) and facts.reclaims(q)]
        yield from _between(
            facts,
            "KL-01",
            [q for q in borrowers if facts.anywhere(facts.can_borrow, q)],
            [q for q in _from_any(facts, active) if facts.anywhere(facts.nominal, q)],
        )


def fair_queues(facts: Facts) -> Iterator[Finding]:
    """KL-02: shares are compared by amounts, and Any heeds no priority."""
    if not facts.fair:
        return
    for tree in facts.trees.values():
        active = facts.active(tree)
        reclaiming = [q for q in active if facts.reclaims(q)]
        yield from _between(facts, "KL-02", reclaiming, _from_any(facts, active))


def _from_any(facts: Facts, queues: Sequence[int]) -> list[int]:
    return [q for q in queues if facts.policies(q).reclaim_within_cohort == "Any"]


def _between(
    facts: Facts, code: str, borrowers: Sequence[int], lenders: Sequence[int]
) -> Iterator[Finding]:
    """Yield the finding for ClusterQueues of a tree, shown by the first pair that does it."""
    cure = policies(map(facts.snapshot.queue_name, lenders), reclaimWithinCohort="LowerPriority")

    def trials(borrower: int) -> Iterator[tuple[int, int, World, tuple[Job, ...]]]:
        others = [queue for queue in lenders if queue != borrower]
        for world, lender in search.worlds(facts, borrower, others):
            for jobs in search.rivals(world, borrower, lender):
                yield borrower, lender, world, jobs

    few_of_each = search.in_turn(
        iter(group[: search.MAX_SIMILAR]) for group in facts.similar(borrowers)
    )
    in_pairs = search.in_turn(
        trials(borrower) for borrower in islice(few_of_each, 2 * search.MAX_OTHERS)
    )
    everybody = sorted({*borrowers, *lenders})
    yield from first(
        finding(
            code,
            facts.names((borrower, lender, *everybody)),
            search.ping_pong(world, jobs, cure),
            borrower=facts.name(borrower),
            lender=facts.name(lender),
            lenders=name_some(facts.names(lenders), 1),
        )
        for borrower, lender, world, jobs in islice(in_pairs, MAX_TRIALS)
    )


MAX_WORK: Final = 10_000_000
"""The most steps for one tree; a cycle takes queues times holders of quota, plus who waits."""
MAX_TRIED: Final = 8
"""The most workloads behind one blocker for which to decide, the first in queue order."""
MAX_QUEUES: Final = 12
"""The most ClusterQueues of an example, if those of the waiting workloads do not show it."""
_NEWER: Final = 50
"""The minute since which workloads run that were queued after the starving workload."""


def never_reached_at_all(facts: Facts) -> Iterator[Finding]:
    """KL-19: the workload before it in every cycle can do nothing, and does not go away."""
    ends = (
        one.status.requeue_state.requeue_at
        for one in facts.state.workloads.pending()
        if one.status.requeue_state is not None and one.status.requeue_state.requeue_at is not None
    )
    # At a time when no workload waits for the end of its backoff: this wait ends by itself.
    snapshot = facts.placed or facts.snapshot
    snapshot = replace(snapshot, now=max((snapshot.now, *ends)))
    waiting = waiting_queues(facts.state, snapshot)
    nodes = len(facts.state.nodes) if facts.placed else 0
    for tree in facts.trees.values():
        queues = {queue: waiting[queue] for queue in tree}
        if not any(one.active for one in queues.values()):
            continue
        held = sum(len(snapshot.admitted.get(queue, ())) for queue in tree)
        waits = sum(len(one.active) + len(one.parked) for one in queues.values())
        spent = budget(len(tree) * (held + nodes + 1) + waits, MAX_WORK)
        by_blocker: dict[InTheWay, list[Pending]] = {}
        try:
            kept = never_reached(facts.state, snapshot, queues, spent)
        except Crash:  # so does Kueue: there are no further cycles
            continue
        for pending, blocker in kept:
            by_blocker.setdefault(blocker, []).append(pending)
        for blocker, behind in by_blocker.items():
            blockers = [find_preemptor(facts.state, snapshot, key) for key in blocker.workloads]
            if blockers:
                yield from _found(_Case(facts, snapshot, tree, blocker, blockers), behind)


class _Case(Struct, frozen=True):
    """A cohort tree of a state, and workloads in it that are before others in every cycle."""

    facts: Facts
    snapshot: Snapshot
    tree: Sequence[int]
    blocker: InTheWay
    blockers: Sequence[Preemptor]


def _found(case: _Case, kept: Sequence[Pending]) -> Iterator[Finding]:
    """Yield the finding for workloads kept from their turn by a blocker, if an example shows it."""
    wanting = []
    for pending in kept[:MAX_TRIED]:
        alone = decide(case.snapshot, pending.preemptor)
        if alone.search.targets or alone.assignment.mode == "Fit":
            wanting.append(pending.preemptor)
    queues = case.facts.names(dict.fromkeys(each.queue for each in case.blockers))
    ahead = " and ".join(f"workload/{key}" for key in case.blocker.workloads)
    more = f" (and {len(kept) - 1:,} more)" if len(kept) > 1 else ""
    why = (
        f"is behind {ahead}, the head of {queues[0]}, which is StrictFIFO: the head finds no "
        "room and nobody to preempt, and stays the head"
        if case.blocker.own_queue
        else f"is skipped in every cycle: {ahead} of {' and '.join(queues)} comes first, finds "
        "nobody to preempt, and reserves room all the same"
    )
    keys = (*case.blocker.workloads, *(each.key for each in wanting))
    yield from first(
        finding(
            "KL-19",
            [*queues, *(f"workload/{key}" for key in keys)],
            _example(case, one),
            name=f"workload/{one.key}{more}",
            why=why,
            queues=" and ".join(queues),
            ahead=ahead,
        )
        for one in wanting
    )


def _example(case: _Case, asks: Preemptor) -> Example | None:
    """Return the first of a few small dumps in which ``asks`` starves, but not after a cure."""
    facts, waits = case.facts, (*case.blockers, asks)
    names = [facts.snapshot.queue_name(one.queue) for one in case.blockers]
    cure = spec_of(names, queueingStrategy="BestEffortFIFO")
    near = tuple(dict.fromkeys(one.queue for one in reversed(waits)))
    whole = tuple(dict.fromkeys((*near, *facts.active(case.tree))))[:MAX_QUEUES]
    for queues, fr in product(dict.fromkeys((near, whole)), facts.frs(asks.queue)):
        covering = [queue for queue in queues if fr in facts.frs(queue)]
        if {*near} <= {*covering}:
            world = World(facts, covering, fr)
            for jobs in _clusters(case, world, waits):
                example = _shown(world, jobs, cure)
                if example is not None:
                    return example
    return None


def _clusters(case: _Case, world: World, waits: Sequence[Preemptor]) -> Iterator[list[Job]]:
    """Yield running and waiting workloads, first as they are, in the one resource of a world.

    A workload that starves because of another resource may ask for little of this one, and its
    head for more than there is; the workloads that run may not matter. So these are tried as well.
    """
    asks, snapshot = waits[-1], case.snapshot
    # What runs, as one workload for each queue, priority and age: preemptors see no more.
    groups: Counter[tuple[int, int, bool]] = Counter()
    for queue in world.queues:
        for one in snapshot.admitted.get(queue, ()):
            newer = one.queued_at > asks.queued_at
            groups[queue, one.priority, newer] += one.usage.get(world.fr, 0)
    used = (item for item in groups.items() if item[1])
    running = [
        Job(f"{search.RUNS}-{number}", queue, amount, priority, minute=_NEWER if newer else 0)
        for number, ((queue, priority, newer), amount) in enumerate(used, 1)
    ]
    # The waiting workloads with their requests of the one resource; the last one starves.
    resource = snapshot.tree.frs[world.fr].resource
    *first, last = (
        Job(
            search.ASKS if each is asks else f"first-{number}",
            each.queue,
            sum(pods.totals.get(resource, 0) for pods in each.pod_sets),
            each.priority,
            running=False,
            minute=number,
        )
        for number, each in enumerate(waits, 1)
    )
    heads = [[one for one in first if one.amount]]
    if case.blocker.own_queue and case.facts.is_bounded(asks.queue, world.fr):
        beyond = case.facts.most(asks.queue, world.fr) + world.unit
        heads.append([replace(one, amount=beyond) for one in first])
    amounts = dict.fromkeys(n for n in (last.amount, world.unit) if n)
    for runs, head, amount in product(([*running], []), heads, amounts):
        if head:
            yield [*runs, *head, replace(last, amount=amount)]


def _shown(world: World, jobs: Sequence[Job], cure: Change) -> Example | None:
    before, after = world.dump(jobs), world.dump(jobs, cure)
    key = jobs[-1].key
    blocker, alone = _blocker(before, key), search.decided(after, key)
    if blocker is None or not blocker.workloads or _blocker(after, key) is not None:
        return None
    if not alone.targets and alone.mode != "Fit":
        return None
    first = " and ".join(blocker.workloads)
    how = "stays the head of its queue" if blocker.own_queue else "comes first in every cycle"
    shows = (f"{first} {how}: {key} is never reached", f"in its turn {key} {alone.in_words}")
    return Example(state=before, pending=key, shows=shows)


def _blocker(dump: Object, key: str) -> InTheWay | None:
    state, snapshot, preemptor = read_example(dump, key)
    return in_the_way(state, snapshot, preemptor, lambda: False)
