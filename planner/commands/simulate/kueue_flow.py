"""Who comes and goes in a cluster of Kueue, what tells two moments apart, what is decided anew.

Times decide by their order only: who was admitted before whom, who queued before whom. Of the
walks over flavors it is how far they came, and whether that is outdated.

Kueue's cohort controller watches ClusterQueues: an update of the status of one makes it reconcile
every ancestor that is a Cohort *object*, and that lets all that is parked in the tree compete
again. A cohort that is only named has no object, and nothing is reconciled.

Pods of a workload take their nodes from when it is admitted until it gives its quota back, so long
as it is being evicted, too. Whose nodes they are is no matter of cohorts: several trees may place
pods on the same ones. Still only the tree of whoever gave something back is woken, as in Kueue.

Source: kueue ff69552e pkg/controller/core/cohort_controller.go and
pkg/cache/queue/inadmissible_workloads.go ``notifyRetryInadmissibleWithoutLock``;
docs/semantics/kueue-topology.md §2.4, §6.2 and §9.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from planner.commands.simulate.script import Arrivals, Script
from planner.commands.simulate.world import Text, ranks
from planner.coverage.kueue_features import TOPOLOGY
from planner.errors import LookupFailed, SchemaError, UnsupportedError
from planner.plan.base import Uncovered
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import Topologies
from planner.reference.kueue.context import Tried
from planner.reference.kueue.cycle.record import Decider, Entry
from planner.reference.kueue.cycle.waiting import Pending, Waiting
from planner.reference.kueue.decision import Decision
from planner.solver.kueue.aftermath import NOWHERE, admit
from planner.solver.kueue.placement import not_replayed
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
    """Return the state without those that come later, and these by their keys.

    Whoever is pending comes later if the script says so, or if it was created after the clock.
    LookupFailed if the script copies a workload that is not there, SchemaError if a copy would have
    the name of one that is there.
    """
    later = []
    for one in state.workloads.pending():
        at_s, created = script.arrive_s(one.key), one.metadata.creation_timestamp
        if at_s is None and created is not None and created > state.now:
            # Rounded up, as // rounds a negative distance down: nobody arrives before its time.
            at_s = -((state.now - created) // timedelta(seconds=1))
        if at_s is not None:
            workload = _created(state, one, one.metadata.name, at_s)
            later.append(Coming(one.key, at_s, workload))
    copies = [copy for rows in script.arrival for copy in _copies(state, rows)]
    found: dict[str, Coming] = {}
    known = {*state.workloads.keys} - {one.key for one in later}
    for coming in (*later, *copies):
        if coming.key in known or coming.key in found:
            found_there = f"a workload {coming.key} is there already"
            raise SchemaError("arrival", found_there, hint="copy one of another name")
        found[coming.key] = coming
    return state.model_copy(update={"workloads": state.workloads.without(found)}), found


def _copies(state: State, rows: Arrivals) -> Iterator[Coming]:
    original = state.workloads.find(rows.like)
    if original is None:
        raise LookupFailed("arrival.like", f"there is no workload {rows.quoted}")
    for number in range(1, rows.count + 1):
        name, at_s = f"{original.metadata.name}-{number}", rows.at_s(number)
        workload = _created(state, original, name, at_s)
        yield Coming(workload.key, at_s, workload)


def _created(state: State, workload: Workload, name: str, at_s: int) -> Workload:
    """Return a workload as one that nothing has happened to, created when it arrives."""
    own = workload.metadata
    uid = own.uid if name == own.name else f"{own.uid}-{name}"
    created = state.now + timedelta(seconds=at_s)
    metadata = own.model_copy(update={"name": name, "uid": uid, "creation_timestamp": created})
    # A copy begins anew: what happened to the original is none of its history.
    return workload.model_copy(update={"metadata": metadata, "status": WorkloadStatus()})


def reconciled_queues(state: State, snapshot: Snapshot) -> frozenset[int]:
    """Return the ClusterQueues every status update of which wakes their whole tree."""
    objects = {cohort.name for cohort in state.cohorts}
    tree = snapshot.tree
    return frozenset(
        node
        for node in snapshot.queues
        if any(tree.nodes[each].name in objects for each in tree.ancestors(node))
    )


_OLD = 2
"""Cycles after which it makes no difference how old the memory of a walk is."""


def signature(waiting: Waiting) -> Text:
    """Return what tells whether the next cycle finds another head, or none."""
    head = waiting.head.key if waiting.head else ""
    counts = len(waiting.active), len(waiting.parked), len(waiting.bulk)
    return head, waiting.preemptor or "", *counts


def state_mark(
    nodes: Sequence[int],
    admitted: Mapping[int, Sequence[Admitted]],
    queues: Mapping[int, Waiting],
    kept: Mapping[str, int],
    cycle: int,
) -> Text:
    """Return what decides at some ClusterQueues after a cycle of a number.

    ``kept`` is the progress that evicted workloads have kept: it decides when they end.
    """
    holders = [one for node in nodes for one in admitted[node]]
    pending = [one for node in nodes for one in (*queues[node].active, *queues[node].parked)]
    reserved = ranks(one.reserved_s for one in holders)
    queued = ranks(
        [one.queued_at.timestamp() for one in holders]
        + [one.order[1].timestamp() for one in pending]
    )

    def holds(one: Admitted) -> Text:
        admission = one.workload.status.admission
        several = admission.pod_set_assignments if admission else ()
        return (
            one.key,
            one.evicted,
            reserved[one.reserved_s],
            queued[one.queued_at.timestamp()],
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
            # Older than that, only what was given back since decides whether the walk begins anew.
            age = min(cycle - progress.cycle, _OLD)
            walk = (tried, age, waiting.generation > progress.generation)
        return one.key, queued[one.order[1].timestamp()], kept.get(one.key, 0), walk

    def queue(waiting: Waiting) -> Text:
        return (
            waiting.preemptor or "",
            tuple(waits(one, waiting) for one in waiting.active),
            tuple(sorted(waits(one, waiting) for one in waiting.parked)),
            tuple(sorted({one.key for one in waiting.parked if one.kind in waiting.bulk})),
        )

    # Who holds quota is told in its order: among equals without UIDs the first is taken.
    return tuple((node, tuple(map(holds, admitted[node])), queue(queues[node])) for node in nodes)


def admitted(snapshot: Snapshot, entry: Entry) -> Admitted:
    """Return who a scheduling cycle admits as what holds its assignment.

    Where others are kept from being admitted until its pods are ready, they are so at once.
    UnsupportedError if a podset has no entry in it: the scheduler stops assigning at a podset that
    requests nothing but zeros of what its queue does not cover, and still calls the rest fit; the
    API server then refuses the admission ("podSetAssignments must have the same number of podSets
    as the spec", a validation rule of the type Workload in apis/kueue).
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
    """Say whether places on nodes decide in a state, and all is known of them."""
    topologies = Topologies.of(state, ())
    if not topologies.on or not topologies.flavors:
        return False
    return not any(not_replayed(state, topologies, queue) for queue in state.cluster_queues)


def parts_of(snapshot: Snapshot, roots: Mapping[int, int]) -> dict[int, int]:
    """Return by the root of each cohort tree the part of the cluster that it is.

    A part has nothing to do with another one: trees that place pods on nodes are one, named by the
    first of them. ``roots`` are those of the ClusterQueues.
    """
    topologies, queues = snapshot.topologies, snapshot.queues
    sharing = {root for node, root in roots.items() if _placing(topologies, queues[node])}
    return {root: min(sharing) if root in sharing else root for root in roots.values()}


def _placing(topologies: Topologies, queue: ClusterQueue) -> set[str]:
    return topologies.trees.keys() & queue.flavor_names


def left_out(state: State, snapshot: Snapshot, known: Sequence[Uncovered]) -> Iterator[Uncovered]:
    """Yield what a simulation leaves out of all that is known not to be modelled.

    Where it places pods, that is what Kueue does in second passes only.
    """
    topologies = snapshot.topologies
    yield from (one for one in known if not topologies.looked_at or one.feature != TOPOLOGY.id)
    if not topologies.looked_at:
        return
    found = [
        f"Workload {one.key}"
        for one in state.workloads.unusual()
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


class _Known(NamedTuple):
    preemptor: Preemptor
    tried: Tried
    decision: Decision


class Memory:
    """A decider that asks another one only for what may have changed since it was asked.

    For a head the same is decided until its part of the cluster changes. The other one must not
    look at the clock. ``parts`` are those of the cluster that ClusterQueues belong to, which have
    nothing to do with one another; ``forget`` has to be told what changes in
    one.
    """

    def __init__(self, decider: Decider, parts: Mapping[int, int]) -> None:
        self._decider: Final = decider
        self._parts: Final = parts
        self._known: Final[dict[int, dict[str, _Known]]] = {}

    def __call__(
        self,
        snapshot: Snapshot,
        preemptor: Preemptor,
        *,
        nominated: Assignment | None = None,
        tried: Tried = (),
    ) -> Decision:
        """Return the decision; among flavors of before it is made in the middle of a cycle."""
        # The snapshot then has what earlier entries of this cycle took: that is no answer for the
        # next one.
        if nominated is not None:
            return self._decider(snapshot, preemptor, nominated=nominated, tried=tried)
        known = self._known.setdefault(self._parts[preemptor.queue], {})
        found = known.get(preemptor.key)
        # By identity: a workload that queues again is another preemptor, with another time to
        # compare.
        if found is not None and found.preemptor is preemptor and found.tried == tried:
            return found.decision
        decision = self._decider(snapshot, preemptor, tried=tried)
        known[preemptor.key] = _Known(preemptor, tried, decision)
        return decision

    def forget(self, part: int) -> None:
        """Ask anew for all of a part, in which something was admitted, evicted or given back."""
        self._known.pop(part, None)


def changed(decider: Decider, instead: Instead) -> Decider:
    """Return a decider whose decisions get other victims, each time that one is made."""

    def decide_anew(snapshot: Snapshot, preemptor: Preemptor, **given: Any) -> Decision:  # noqa: ANN401
        return instead(snapshot, preemptor, decider(snapshot, preemptor, **given))

    return decide_anew
