"""One scheduling cycle, from the heads to the workloads that go back to queues or are parked.

Nominees are processed one by one; with fair sharing a tournament decides which is next.

Source: docs/semantics/kueue.md §7; kueue ff69552e pkg/scheduler/scheduler.go ``schedule``,
``makeClassicalIterator``, ``lastAssignmentOutdated``, ``requeueAndUpdate``, ``markSkipped``,
pkg/scheduler/fair_sharing_iterator.go and pkg/cache/queue/cluster_queue.go
``RequeueIfNotPresent``, ``handleInadmissibleHash``, ``preemptorWorkload``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Final

from msgspec.structs import asdict, replace

from planner.quota.kueue.snapshot import Snapshot, take_snapshot
from planner.quota.kueue.tree import QuotaTree, Shares, Usage
from planner.reference.kueue.cycle.processing import (
    Cycle,
    Decider,
    Entry,
    Nominee,
    Processing,
    Schedule,
)
from planner.reference.kueue.cycle.waiting import (
    PARENT,
    Pending,
    Progress,
    Waiting,
    heads,
    leading_to,
    not_queued,
    waiting_queues,
)
from planner.reference.kueue.decision import decide
from planner.reference.kueue.topology.assigning import occupied
from planner.state.kueue import Configuration, State


def run_cycle(state: State, decider: Decider = decide) -> Cycle:
    """Replay the scheduling cycle that Kueue would run on a state, and its queues afterwards.

    ``decider`` decides for a head, alone on a snapshot, by default as Kueue does.

    Raises `LookupFailed` if an admitted workload names a flavor that nothing knows.
    """
    snapshot = take_snapshot(state, placing=True)
    queues = waiting_queues(state, snapshot)
    ran = schedule(state, snapshot, queues, decider)
    # Workloads that wait in no queue, except parents: Kueue does not even try to queue parents.
    leading = leading_to(state)
    found = {
        workload.key: not_queued(workload, snapshot, leading)
        for workload in snapshot.waiting.values()
        if workload.status.admission is None
    }
    return Cycle(
        **asdict(ran),
        snapshot=snapshot,
        left=_keys(snapshot, {queue: waiting.in_order() for queue, waiting in queues.items()}),
        parked=_keys(snapshot, {queue: waiting.parked for queue, waiting in queues.items()}),
        not_queued={key: message for key, message in found.items() if message not in {"", PARENT}},
    )


def schedule(
    state: State,
    snapshot: Snapshot,
    queues: dict[int, Waiting],
    decider: Decider = decide,
    cycle: int = 0,
) -> Schedule:
    """Run a cycle on a snapshot, which stays as it is, and on queues, which are changed.

    Of ``state`` all is read but the workloads. ``cycle`` numbers the cycles that
    are run on the same queues.

    Raises `LookupFailed` if an admitted workload names a flavor that nothing knows.
    """
    if snapshot.topologies.flavors and snapshot.topologies.on:
        snapshot = replace(snapshot, placed=occupied(snapshot))
    nominees: list[Nominee] = []
    inadmissible: list[Entry] = []
    taken: dict[int, Pending] = {}
    # All heads are decided for before any is processed, each alone on the state at the start.
    for queue, pending in heads(queues, snapshot):
        taken[queue] = pending
        preemptor = pending.preemptor
        if pending.refusal is None:
            waiting, progress = queues[queue], pending.progress
            # How far its walks came in earlier cycles, unless that is outdated.
            outdated = (cycle, waiting.generation, state.configuration)
            tried = () if progress is None or progress.is_outdated(*outdated) else progress.tried
            preempts = waiting.preemptor == pending.key
            decision = decider(snapshot, preemptor, tried=tried)
            nominees.append(Nominee(preemptor, decision, preempts))
        else:
            inadmissible.append(Entry(preemptor, "inadmissible", None, *pending.refusal))
    places = None if snapshot.placed is None else snapshot.placed.copy()
    processing = Processing(snapshot, snapshot.usage.copy(), decider, places)
    entries: list[Entry] = []
    blocked = False
    in_order: Iterable[Nominee] = classical_order(nominees, snapshot.configuration)
    if snapshot.configuration.fair_sharing_on:
        # The tournament looks at what earlier entries took.
        in_order = tournament_order(snapshot, processing.usage, nominees)
    for nominee in in_order:
        entries.append(processing.process(nominee))
        blocked = entries[-1].outcome == "waitsForPodsReady"
        if blocked:
            break  # the scheduler stands still inside this entry
    for entry in (*entries, *inadmissible):
        waiting, pending = queues[entry.preemptor.queue], taken[entry.preemptor.queue]
        # A blocked cycle is not over: only workloads admitted before have left their queues.
        if entry.outcome == "admitted" or not blocked:
            waiting.active.remove(pending)
            requeue(state.configuration, waiting, pending, entry, cycle)
    return Schedule(
        tuple(entry.as_said(state.configuration) for entry in entries),
        tuple(entry.as_said(state.configuration) for entry in inadmissible),
        tuple(processing.evicted),
        tuple(processing.finished),
    )


def classical_order(nominees: Iterable[Nominee], configuration: Configuration) -> list[Nominee]:
    """Sort: preemptors (by a gate), lower borrow level, higher priority (by a gate), earlier.

    Kueue leaves ties open; here the queue that stands first in the dump comes first.
    """
    by_priority = configuration.gate("PrioritySortingWithinCohort")
    preemptors_first = configuration.gate("PrioritizePreemptorWorkloads")

    def key(nominee: Nominee) -> tuple[bool, int, int, datetime]:
        preemptor = nominee.preemptor
        priority = -preemptor.priority if by_priority else 0
        waits = preemptors_first and not nominee.preempts
        return waits, nominee.decision.assignment.borrowing, priority, preemptor.queued_at

    return sorted(nominees, key=key)


def tournament_order(
    snapshot: Snapshot, usage: Usage, nominees: Iterable[Nominee]
) -> Iterator[Nominee]:
    """Yield the fairest nominee of a tree, until none is left; ``usage`` may change in between.

    Kueue chooses the tree at random, and also among equals. Here the tree of the first queue of
    the dump comes first, and of equals a cohort before a queue, then the first in the dump.
    """
    tree, rest = snapshot.tree, {nominee.preemptor.queue: nominee for nominee in nominees}
    # The rules of the release are left out: they say which shares are borrowing, unused here.
    shares = Shares(tree)
    while rest:
        first = next(iter(rest))
        root = tree.root(first)
        here = [nominee for queue, nominee in rest.items() if tree.root(queue) == root]
        winners = [first]
        if len(here) > 1:
            of = {one.preemptor.queue: _standings(snapshot, usage, shares, one) for one in here}
            winners = _winner(tree, of, root)
        for winner in winners:
            yield rest.pop(winner)


_Standing = tuple[bool, bool, tuple[bool, float], int, datetime]
"""If it waits for earlier preemptors, if it borrows, share, priority and time: less wins."""


def _winner(
    tree: QuotaTree, standings: Mapping[int, Mapping[int, _Standing]], node: int
) -> list[int]:
    """Return the queue whose nominee wins below a node; empty if no nominee is left there."""
    if tree.nodes[node].is_queue:
        return [node] if node in standings else []
    winners = [one for child in tree.children[node] for one in _winner(tree, standings, child)]
    return [min(winners, key=lambda queue: standings[queue][node])] if winners else []


def _standings(
    snapshot: Snapshot, usage: Usage, shares: Shares, nominee: Nominee
) -> dict[int, _Standing]:
    """Return the standing of a nominee at every cohort above it, its own usage included.

    What counts at a cohort is the share of the child from which the nominee comes.
    """
    tree, gate, preemptor = snapshot.tree, snapshot.configuration.gate, nominee.preemptor
    priority = preemptor.priority if gate("PrioritySortingWithinCohort") else 0
    waits = gate("PrioritizePreemptorWorkloads") and not nominee.preempts
    used = nominee.decision.assigned.usage
    standings = {}
    # Each nominee alone: other nominees are in the tree only once they are processed.
    usage.add(preemptor.queue, used)
    for child, cohort in pairwise(tree.path(preemptor.queue)):
        if not gate("FairSharingPrioritizeNonBorrowing"):
            borrows = False
        elif snapshot.configuration.rules.borrowing_by_request:
            # Borrows any fr that is asked for; zeros do not count.
            borrows = any(
                amount > 0
                and fr in tree.known[child]
                and usage.amount[child][fr] > tree.subtree[child][fr]
                for fr, amount in used.items()
            )
        else:
            # Releases before switch 4 take the entry's borrow level, the same at every node.
            borrows = nominee.decision.assignment.borrowing > 0
        share = shares.share_of(usage, child).order
        standings[cohort] = waits, borrows, share, -priority, preemptor.queued_at
    usage.remove(preemptor.queue, used)
    return standings


def _keys(snapshot: Snapshot, some: dict[int, list[Pending]]) -> dict[str, tuple[str, ...]]:
    return {
        snapshot.queue_name(queue): tuple(pending.key for pending in pendings)
        for queue, pendings in some.items()
        if pendings
    }


_AT_ONCE: Final = frozenset({"preempting", "deferred", "skipped", "migrating"})
"""Outcomes after which a workload of a BestEffortFIFO queue is tried again in the next cycle."""
_ALIKE: Final = frozenset({"noFit", "noCandidates"})
"""Outcomes that hold for every workload of the same shape."""
_WALKED: Final = _ALIKE | {"notMigrated"}
"""Outcomes after which it is kept how far the walk over the flavors came."""


def requeue(
    configuration: Configuration, waiting: Waiting, pending: Pending, entry: Entry, cycle: int
) -> None:
    """Put the head of a queue, which was taken out, where it belongs after the cycle."""
    if entry.outcome == "admitted":
        if waiting.preemptor == pending.key:
            waiting.preemptor = None
        return
    # Note how far the walks over the flavors came, or forget it.
    if entry.decision is not None:
        keeps = entry.outcome in _WALKED or (
            entry.outcome == "skipped"
            and configuration.gate("FlavorFungibilityPreserveScanProgress")
        )
        walked = Progress(entry.decision.assigned.tried, cycle, waiting.generation)
        pending.progress = walked if keeps else None
    # Sticky: a workload that preempted stays the head, or another would take the room it made.
    if entry.requeue_reason in {"PendingPreemption", "PendingMigration"}:
        waiting.preemptor = pending.key
    # A StrictFIFO queue keeps its head whatever failed, except a namespace that does not match.
    stays_head = waiting.strict_fifo and entry.requeue_reason != "NamespaceMismatch"
    untried = pending.progress is not None and pending.progress.has_untried
    if stays_head or entry.outcome in _AT_ONCE or untried:
        waiting.put(pending)
        return
    waiting.parked.append(pending)
    # Older releases do not know why a workload is parked (switch 22 of
    # planner/state/kueue_release.py), and the first two patches look for those that nothing fits.
    rules = configuration.rules
    alike = rules.parks_alike_always or entry.outcome == "noFit"
    if rules.says_why_requeued:
        alike = entry.outcome in _ALIKE
    if alike and configuration.gate("SchedulingEquivalenceHashing") and not waiting.strict_fifo:
        # All workloads of its queue that the scheduler cannot tell from it are parked, too.
        waiting.bulk.add(pending.kind)
        others, waiting.active = waiting.active, []
        for other in others:
            (waiting.parked if other.kind == pending.kind else waiting.active).append(other)
