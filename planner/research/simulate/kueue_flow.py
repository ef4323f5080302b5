"""Arrivals and admissions in a cluster of Kueue, and what its marks compare.

A mark has times by their order only: which workload was admitted, or queued, before which; and by
how much they differ where a feature gate makes that count. Of the walks over flavors it has how far
they came, and whether that is outdated.

Kueue's cohort controller watches ClusterQueues: an update of the status of one makes it reconcile
every ancestor that is a Cohort *object*, and then all parked workloads of the tree compete again.
A cohort that is only named has no object, and nothing is reconciled.

Pods of a workload take their nodes from when it is admitted until it gives its quota back, also
while it is being evicted. Nodes do not belong to cohorts: several trees may place pods on the same
nodes. Still only the tree of the workload that gave quota back is woken, as in Kueue.

Source: kueue ff69552e pkg/controller/core/cohort_controller.go and
pkg/cache/queue/inadmissible_workloads.go ``notifyRetryInadmissibleWithoutLock``;
docs/semantics/kueue-topology.md §2.4, §6.2 and §9; docs/semantics/kueue-releases.md §2.1, 16;
docs/semantics/kueue.md §2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from planner.coverage.kueue_features import TOPOLOGY
from planner.errors import LookupFailed, SchemaError, UnsupportedError, did_you_mean
from planner.plan.base import Uncovered
from planner.quota.kueue.activity import cohorts_of
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.placement import not_replayed
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import Topologies
from planner.reader.show import shown
from planner.reference.kueue.aftermath import NOWHERE, admit
from planner.reference.kueue.cycle.processing import Entry
from planner.reference.kueue.cycle.waiting import Pending, Waiting
from planner.reference.kueue.decision import Decision
from planner.research.simulate.script import Script
from planner.research.simulate.world import Text, ranks
from planner.state.base import Condition
from planner.state.kueue import State
from planner.state.kueue_workload import Workload, WorkloadStatus
from planner.state.queues import ClusterQueue

_READY: Final = "PodsReady"

Instead = Callable[[Snapshot, Preemptor, Decision], Decision]
"""Puts other victims into a decision; it may look at the clock."""


class Coming(NamedTuple):
    """A pending workload that arrives so many seconds after the start."""

    key: str
    at_s: int
    workload: Workload


def comings(state: State, script: Script) -> tuple[State, dict[str, Coming]]:
    """Return the state without the workloads that arrive later, and these by their keys.

    A pending workload arrives later if the script says so, or if it was created after the clock.
    LookupFailed if the script copies a workload that is not there, SchemaError if a copy would have
    the name of a workload that is there.
    """
    later = []
    for one in state.workloads.pending():
        at_s, created = script.arrive_s(one.key), one.metadata.creation_timestamp
        if at_s is None and created is not None and created > state.now:
            # Rounded up, as // rounds a negative distance down: no workload arrives too early.
            at_s = -((state.now - created) // timedelta(seconds=1))
        if at_s is not None:
            workload = _created(state, one, one.metadata.name, at_s)
            later.append(Coming(one.key, at_s, workload))
    known = {*state.workloads.keys} - {one.key for one in later}
    for rows in script.arrival:
        like = state.workloads.find(rows.like)
        if like is None:
            hint = did_you_mean(rows.like, state.workloads.keys)
            missing = f"there is no workload {shown(rows.like)}"
            raise LookupFailed("script: arrival.like", missing, hint=hint)
        for number in range(1, rows.count + 1):
            at_s = rows.at_s(number)
            workload = _created(state, like, f"{like.metadata.name}-{number}", at_s)
            later.append(Coming(workload.key, at_s, workload))
    found: dict[str, Coming] = {}
    for coming in later:
        if coming.key in known or coming.key in found:
            found_there = f"a workload {coming.key} is there already"
            raise SchemaError("script: arrival", found_there, hint="copy one of another name")
        found[coming.key] = coming
    return state.model_copy(update={"workloads": state.workloads.without(found)}), found


def _created(state: State, workload: Workload, name: str, at_s: int) -> Workload:
    """Return a workload with an empty status, of a name, and created when it arrives."""
    own = workload.metadata
    uid = own.uid if name == own.name else f"{own.uid}-{name}"
    created = state.now + timedelta(seconds=at_s)
    metadata = own.model_copy(update={"name": name, "uid": uid, "creation_timestamp": created})
    # A copy begins anew: the status of the original is the history of the original only.
    return workload.model_copy(update={"metadata": metadata, "status": WorkloadStatus()})


def reconciled_queues(state: State, snapshot: Snapshot) -> frozenset[int]:
    """Return the ClusterQueues whose every status update wakes their whole tree."""
    objects = {cohort.name for cohort in cohorts_of(state)}
    tree = snapshot.tree
    return frozenset(
        node
        for node in snapshot.queues
        if any(tree.nodes[each].name in objects for each in tree.ancestors(node))
    )


_OLD = 2
"""Cycles after which it makes no difference how old the memory of a walk is."""


def signature(waiting: Waiting) -> Text:
    """Return a value that is the same if the next cycle finds the same head, or again none."""
    head = waiting.head.key if waiting.head else ""
    counts = len(waiting.active), len(waiting.parked), len(waiting.bulk)
    return head, waiting.preemptor or "", *counts


def state_mark(
    nodes: Sequence[int],
    snapshot: Snapshot,
    queues: Mapping[int, Waiting],
    kept: Mapping[str, int],
    cycle: int,
) -> Text:
    """Return all that decides at the ClusterQueues ``nodes``, after the cycle of a number.

    ``kept`` is the progress that evicted workloads have kept: it decides when they end.
    """
    admitted = snapshot.admitted
    holders = [one for node in nodes for one in admitted[node]]
    pending = [one for node in nodes for one in (*queues[node].active, *queues[node].parked)]
    reserved = ranks(one.reserved_s for one in holders)
    times = [*(one.queued_at for one in holders), *(one.order[1] for one in pending)]
    queued = _standings(times, snapshot)

    def holds(one: Admitted) -> Text:
        admission = one.workload.status.admission
        several = admission.pod_set_assignments if admission else ()
        return (
            one.key,
            one.evicted,
            reserved[one.reserved_s],
            queued[one.queued_at],
            tuple(sorted(one.usage.items())),
            tuple(sorted(one.names)),
            tuple((each.name, *each.topology.places()) for each in several if each.topology),
            kept.get(one.key, 0),
        )

    def waits(one: Pending, waiting: Waiting) -> Text:
        progress = one.progress
        walk: Text = ()
        if progress is not None and progress.has_untried:
            tried = tuple(tuple(sorted(places.items())) for places in progress.tried)
            # Of an older walk, only what was given back since decides whether it begins anew.
            age = min(cycle - progress.cycle, _OLD)
            walk = (tried, age, waiting.generation > progress.generation)
        return one.key, queued[one.order[1]], kept.get(one.key, 0), walk

    def queue(waiting: Waiting) -> Text:
        return (
            waiting.preemptor or "",
            tuple(waits(one, waiting) for one in waiting.active),
            tuple(sorted(waits(one, waiting) for one in waiting.parked)),
            tuple(sorted({one.key for one in waiting.parked if one.kind in waiting.bulk})),
        )

    # Admitted workloads keep their order: among equals without UIDs the first is taken.
    return tuple((node, tuple(map(holds, admitted[node])), queue(queues[node])) for node in nodes)


def _standings(times: Iterable[datetime], snapshot: Snapshot) -> dict[datetime, Text]:
    """Return of each time when a workload queued all that decides: its rank among the times.

    Where times count as different from a buffer on, also which are later by more than that; and how
    old a time is, up to the buffer, where victims may queue from their eviction on (§2.4).
    """
    configuration = snapshot.configuration
    buffer, known = configuration.timestamp_buffer, sorted({*times})
    if not buffer:
        return {one: (rank,) for rank, one in enumerate(known)}
    found: dict[datetime, Text] = {}
    later = 0
    for rank, one in enumerate(known):
        while later < len(known) and known[later] - one <= buffer:
            later += 1
        age = min(snapshot.now - one, buffer)
        moving = () if configuration.gate("PrioritySortingWithinCohort") else (age,)
        found[one] = rank, later, *moving
    return found


def admitted(snapshot: Snapshot, entry: Entry) -> Admitted:
    """Return the workload of an entry that a scheduling cycle admits, with its assignment.

    Where Kueue admits no other workload until its pods are ready, they are ready at once.
    UnsupportedError if a podset has no entry in the assignment: the scheduler stops assigning at a
    podset that requests nothing but zeros of resources that its queue does not cover, and still
    says that the workload fits; the API server then refuses the admission ("podSetAssignments must
    have the same number of podSets as the spec", a validation rule of Workload in apis/kueue).
    """
    preemptor, assignment = entry.preemptor, entry.assignment
    assert assignment is not None, "who is admitted has flavors"  # noqa: S101
    if len(assignment.pod_sets) < len(preemptor.pod_sets):
        last = assignment.pod_sets[-1].name
        raise UnsupportedError(
            f"Workload {preemptor.key}",
            f"Kueue assigns flavors up to podset {last} only, and cannot admit it so",
            hint="all that it requests there is zero of a resource that its queue does not have",
        )
    placements = entry.decision.assigned.placements if entry.decision else NOWHERE
    one = admit(snapshot, preemptor, assignment, placements)
    if not snapshot.configuration.blocks_admission:
        return one
    status = one.workload.status
    kept = tuple(each for each in status.conditions if each.type != _READY)
    ready = Condition(type=_READY, status="True", last_transition_time=snapshot.now)
    made = status.model_copy(update={"conditions": (*kept, ready)})
    return one.changed(one.workload.model_copy(update={"status": made}))


def places_pods(state: State) -> bool:
    """Say whether places on nodes decide in a state, and Kueue's choice of them can be replayed."""
    topologies = Topologies.in_state(state, ())
    if not topologies.on or not topologies.flavors:
        return False
    return not any(not_replayed(state, topologies, queue) for queue in state.cluster_queues)


def parts_of(snapshot: Snapshot, roots: Mapping[int, int]) -> dict[int, int]:
    """Return the part of the cluster that each cohort tree belongs to, by the root of the tree.

    Parts do not affect one another: trees that place pods on nodes are one part, named by the
    first of them. ``roots`` has the root of each ClusterQueue.
    """
    topologies, queues = snapshot.topologies, snapshot.queues
    sharing = {root for node, root in roots.items() if _placing(topologies, queues[node])}
    return {root: min(sharing) if root in sharing else root for root in roots.values()}


def _placing(topologies: Topologies, queue: ClusterQueue) -> set[str]:
    return topologies.trees.keys() & queue.flavor_names


def left_out(state: State, snapshot: Snapshot, known: Sequence[Uncovered]) -> Iterator[Uncovered]:
    """Yield what a simulation leaves out, of all that is known not to be modelled.

    Where it places pods, it leaves out of topologies only what Kueue does in second passes.
    """
    topologies = snapshot.topologies
    yield from (one for one in known if not topologies.looked_at or one.feature != TOPOLOGY.id)
    if not topologies.looked_at:
        return
    found = [
        f"Workload {one.key}"
        for one in state.workloads
        if one.needs_second_pass or one.status.unhealthy_nodes
    ]
    found += [
        f"ClusterQueue {queue.name}"
        for queue in snapshot.queues.values()
        if not topologies.leaves_it_to_workers(queue)
        and any(topologies.is_delayed(queue, flavor) for flavor in _placing(topologies, queue))
    ]
    if found:
        said = "pods are not placed in second passes: later, or anew where a node failed"
        yield TOPOLOGY.found(found, said)
