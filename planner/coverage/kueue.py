"""What is not modelled in a state of Kueue, as far as it concerns a pending workload.

A feature that another queue uses, and this workload's queue does not, does not concern it:
topology, say, is looked for in the flavors that the workload could get, not in all flavors.

Remarks are further notes for the reader of an answer: none of them makes an answer conditional. A
dump without namespaces, say, is often all that one may read; and what Kueue said last of a workload
may depend on the other workloads of that cycle.

Source: docs/semantics/kueue-features.md §10, whose rules are named E1 to E36.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from planner.coverage import kueue_chance as chance
from planner.coverage import kueue_evidence as evidence
from planner.coverage.answer import Covering
from planner.coverage.kueue_absent import Held, absent_on_nodes, absent_queues, held_in_absent
from planner.coverage.kueue_evidence import why_not
from planner.coverage.kueue_features import PREEMPTION_CONFIG, SLICES, TOPOLOGY
from planner.plan import Assume, Uncovered, qualified
from planner.plan.base import name_some
from planner.plan.kueue import Demand, JointPlan, Plan
from planner.quantity import format_units, plural
from planner.quota.kueue.activity import Activity, leaves_it_to_workers
from planner.quota.kueue.assignment import (
    Mode,
    flavor_resources,
    total_request,
    whole_request,
)
from planner.quota.kueue.devices import Devices
from planner.quota.kueue.preemptor import find_preemptor, names_replaced
from planner.quota.kueue.snapshot import take_snapshot
from planner.state.kueue import ClusterQueue, LocalQueue, Node, State, Workload
from planner.state.kueue_workload import PREEMPTED
from planner.state.queues import AdmissionCheck

OVERTAKEN: Final = "no longer fits after processing another workload"
"""What Kueue says of a workload whose room another workload of its cycle took (rule E23)."""
OVERLAPPING: Final = "overlapping preemption targets"
"""What Kueue says of a workload whose victims another workload of its cycle takes (rule E24)."""
MOST_NAMED: Final = 3


def _of_its_cycle(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield E23 and E24: what Kueue decided depended on the other workloads of the cycle."""
    said = why_not(workload)
    covered = {name for group in queue.spec.resource_groups for name in group.covered_resources}
    if OVERTAKEN in said:
        why = " cycle: they compete for the same room, and who gets it depends on the whole cycle"
        if "pods" in covered and state.configuration.rules.pods_outside_search:
            why = (
                f" cycle; ClusterQueue {queue.name} covers pods, for which Kueue's own search does "
                "not look: if it says so again and again, its own victims free too few pods, and "
                "the workload waits for ever"
            )
        yield (
            f"Kueue said last that {workload.key} no longer fits after another workload of its{why}"
        )
    if OVERLAPPING in said:
        yield (
            f"Kueue said last that another workload of its cycle has victims in common with "
            f"{workload.key}: whom it evicts for which of them depends on the whole cycle, and not "
            "on this workload alone"
        )


def _of_those_who_hold(state: State, tree: Mapping[str, ClusterQueue]) -> Iterator[str]:
    """Yield E27 and E28, of the workloads that hold quota in the tree of a queue."""
    quotas = {name: one.spec.owned for name, one in tree.items()}
    leaving = []
    for one in state.workloads.unusual():
        evicted = one.condition("Evicted") if one.admitted_by in tree and one.holds_quota else None
        if evicted is not None and evicted.is_true and evicted.reason == PREEMPTED:
            leaving.append(one.key)
    gone: dict[tuple[str, str, str], tuple[list[str], int]] = {}
    for key, name, place, units in state.workloads.held_in(quotas, quotas):
        # A resource without a flavor counts nowhere (docs/semantics/kueue.md §2.1).
        if place[0] and units > 0:
            names, held = gone.get((name, *place), ([], 0))
            gone[name, *place] = [*names, key], held + units
    if leaving:
        alone = len(leaving) == 1
        yield (
            f"{name_some(leaving, MOST_NAMED)} {'is' if alone else 'are'} being preempted already "
            f"and {'holds' if alone else 'hold'} quota until the pods are gone: where "
            f"{'it may be a victim' if alone else 'they may be victims'}, Kueue takes "
            f"{'it' if alone else 'them'} first, at no further cost, and issues no eviction anew"
        )
    asked_for = set[tuple[str, str]]().union(*quotas.values())
    for (name, flavor, resource), (names, held) in gone.items():
        who = name_some(dict.fromkeys(names), MOST_NAMED)
        back = ", and nothing asks for it back"
        if (flavor, resource) in asked_for:
            back = " as borrowed, and others may take it back"
        yield (
            f"{who} {'holds' if len(names) == 1 else 'hold'} "
            f"{format_units(held, resource)} {resource} of flavor {flavor}, for which ClusterQueue "
            f"{name} has no quota any more: it counts{back}"
        )


def _unknown_checks(state: State, tree: Sequence[ClusterQueue]) -> Iterator[str]:
    """Yield E3 of admission checks that the state lacks: Kueue has them, the queue is active."""
    there = {one.metadata.name for one in state.admission_checks}
    for queue in tree:
        missing = [rule.name for rule in queue.check_rules if rule.name not in there]
        if missing and queue.status.is_active:
            yield (
                f"ClusterQueue {queue.name} is active by its condition, and the state lacks its "
                f"admission check {name_some(missing, MOST_NAMED)}: it is taken for active"
            )


def _lacking(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield what a state seems to lack, if nothing shows that it changes the answer (E8 on)."""
    # A queue without conditions was never in a cluster, and so has no other Configuration.
    if not state.configuration_given and queue.status.conditions:
        yield (
            "the state has no Configuration of Kueue: fair sharing, feature gates, resource "
            "settings and waitForPodsReady are taken as by default"
        )
    # E6: fair sharing is on by the Configuration, and no queue publishes a share.
    on = state.configuration_given and state.configuration.fair_sharing_on
    # A queue that a controller has filled in publishes a share, too, if fair sharing is on.
    filled = queue.status.pending is not None or bool(queue.status.reserved)
    shares = (one.status.fair_sharing is not None for one in state.cluster_queues)
    if on and filled and not any(shares):
        yield (
            "fair sharing is on in the Configuration, and no ClusterQueue publishes a share "
            "(status.fairSharing): the Configuration may not be the one that runs"
        )
    yield from _fewer_pending(state, queue)


def _lacking_of(state: State, workload: Workload, queue: ClusterQueue) -> Iterator[str]:
    """Yield what a state seems to lack of the workload itself, and of its namespace."""
    for name in evidence.without_overhead(state, workload):
        yield f"RuntimeClass {name} of {workload.key} is not in the state: no overhead is counted"
    selector = queue.spec.namespace_selector
    if selector and (selector.match_labels or selector.match_expressions) and not state.namespaces:
        yield (
            f"the state has no namespaces: the namespaceSelector of ClusterQueue {queue.name} is "
            "not looked at"
        )


def _fewer_pending(state: State, queue: ClusterQueue) -> Iterator[str]:
    """Yield E30: a queue counts more pending workloads than there are in the state."""
    if queue.status.pending is None:
        return
    named = {
        (local.metadata.namespace, local.metadata.name)
        for local in state.local_queues
        if local.spec.cluster_queue == queue.name
    }
    columns = state.workloads.columns
    asked = np.array([one in named for one in columns.local_queues], dtype=np.bool_)
    here = int(np.count_nonzero(asked[columns.local_queue[columns.is_pending]]))
    if here < queue.status.pending:
        yield (
            f"ClusterQueue {queue.name} counts {plural(queue.status.pending, 'pending workload')}, "
            f"the state has {here}: who is next is not known"
        )


class KueueCoverage(Covering[Plan]):
    """The coverage of one state of Kueue, for all workloads that are pending in it."""

    def __init__(self, state: State) -> None:
        self.state = state
        # Remarks that were worked out, by the first queue of a tree, and by the queue.
        self._on_trees: dict[str, Sequence[str]] = {}
        self._on_queues: dict[str, Sequence[str]] = {}
        # What queues count and the state lacks, by the first queue of a tree.
        self._less_held_in: dict[str, Mapping[str, str]] = {}

    @cached_property
    def _of_state(self) -> tuple[Uncovered, ...]:
        """What concerns all workloads of the state."""
        there = [
            f"{count} {kind}"
            for kind, count in self.state.other_kinds.items()
            if kind.partition(".")[0] in {"PreemptionConfig", "PreemptionLimit"}
        ]
        configuration, found = self.state.configuration, list[Uncovered]()
        gates, gate = configuration.feature_gates, "ConfigurablePreemptions"
        # Configuration.gate knows only gates that change what the planner decides: not this one.
        if there and configuration.release.is_on(gate, gates):
            found.append(PREEMPTION_CONFIG.found(there, "the gate ConfigurablePreemptions is on"))
        found += evidence.configuration(self.state)
        found += evidence.evictions(self.state)
        return tuple(found)

    @cached_property
    def _activity(self) -> Activity:
        return Activity.in_state(self.state)

    @cached_property
    def _devices(self) -> Devices:
        return Devices.in_state(self.state)

    @cached_property
    def _queues(self) -> dict[tuple[str, str], tuple[LocalQueue, ClusterQueue]]:
        """The LocalQueues by namespace and name, each with its ClusterQueue."""
        queues = {queue.name: queue for queue in self.state.cluster_queues}
        return {
            (local.metadata.namespace, local.name): (local, queues[local.spec.cluster_queue])
            for local in self.state.local_queues
            if local.spec.cluster_queue in queues
        }

    def _pending(self, key: str) -> Workload | None:
        found = self.state.workloads.find(key)
        return found if found is not None and found.is_pending else None

    def _queues_of(self, workload: Workload) -> tuple[LocalQueue, ClusterQueue] | None:
        return self._queues.get((workload.namespace, workload.queue_name))

    def _tree_of(self, queue: ClusterQueue) -> Sequence[ClusterQueue]:
        return self._activity.tree_of(queue, self.state.cluster_queues)

    @cached_property
    def _waiting(self) -> dict[str, dict[str, chance.Order]]:
        """By ClusterQueue the workloads that wait behind open LocalQueues, each with its place."""
        found: dict[str, dict[str, chance.Order]] = {}
        for one in self.state.workloads.pending():
            queues = self._queues_of(one)
            if queues is not None and queues[0].spec.stop_policy == "None":
                places = found.setdefault(queues[1].name, {})
                places[one.key] = chance.order_of(one, self.state)
        return found

    @cached_property
    def _of_one_host(self) -> dict[str, list[Node]]:
        return chance.of_one_host(self.state.nodes) if self._placing else {}

    def _by_chance(self, workload: Workload, queue: ClusterQueue) -> Iterator[Uncovered]:
        """Yield what Kueue decides for a workload that another run could decide otherwise."""
        if not self.state.configuration.rules.heads_by_uid:
            yield from chance.heads(workload, self.state, self._waiting.get(queue.name, {}))
        if self._of_one_host and not self._leaves_it_to_workers(queue):
            flavors = [one for one in self.state.resource_flavors if one.name in queue.flavor_names]
            yield from chance.hosts(workload, flavors, self._levels, self._of_one_host)

    @cached_property
    def _disputed(self) -> dict[str, tuple[Uncovered, ...]]:
        """By its name, each ClusterQueue whose condition differs from the objects, and how."""
        flavors = {one.name for one in self.state.resource_flavors}
        inactive = self._activity.inactive
        found = {
            one.name: (
                *evidence.activity(one, inactive.get(one.name), flavors),
                *(self._without_topology(one) if one.name not in inactive else ()),
            )
            for one in self.state.cluster_queues
        }
        return {name: some for name, some in found.items() if some}

    def _without_topology(self, queue: ClusterQueue) -> Iterator[Uncovered]:
        """Yield a queue of MultiKueue with a flavor whose Topology the state lacks (E33)."""
        if self._placing and self._leaves_it_to_workers(queue):
            yield from evidence.topologies(queue, self._named_by(queue), self._levels)

    def _named_by(self, queue: ClusterQueue) -> dict[str, str]:
        """Return the flavors of a queue that name a topology, each with that."""
        named = self.state.topology_of.items()
        return {flavor: topology for flavor, topology in named if flavor in queue.flavor_names}

    @property
    def _placing(self) -> bool:
        return self.state.configuration.gate("TopologyAwareScheduling")

    @cached_property
    def _levels(self) -> dict[str, tuple[str, ...]]:
        """The levels of each topology."""
        return {one.name: one.levels for one in self.state.topologies}

    def _open_or_not(self, local: LocalQueue, queue: ClusterQueue) -> Iterator[Uncovered]:
        """Yield where the conditions of a workload's queues differ from the objects in the state.

        All ClusterQueues of its tree count: who may be a victim depends on them. Of those that the
        state lacks it is not known whether they are in the tree.
        """
        # The tree is looked up only where a condition of any queue differs, which is seldom.
        for one in self._tree_of(queue) if self._disputed else ():
            yield from self._disputed.get(one.name, ())
        yield from evidence.local_queue(local, queue, self._activity.inactive.get(queue.name))
        if self._held_in_absent:
            held, placing = self._held_in_absent, self._placing
            yield from absent_queues(self.state, queue, self._activity, held, placing=placing)

    @cached_property
    def _held_in_absent(self) -> Held:
        return held_in_absent(self.state)

    def unmodelled(self, pending: str) -> tuple[Uncovered, ...]:
        """Return what may decide about a workload ``namespace/name``, and is not modelled."""
        workload = self._pending(pending)
        if workload is None:
            return ()
        queues = self._queues_of(workload)
        charges = self._devices.charges(workload)
        found = [*self._of_state, *evidence.requests(self.state, workload, charges)]
        found += evidence.devices(workload, charges)
        found += evidence.stale(workload)
        if queues is not None:
            topology = tuple(self._topology(workload, queues[1]))
            # What Kueue says of nodes adds nothing where the state itself shows a topology.
            found += topology or evidence.nodes(workload)
            found += self._open_or_not(*queues)
            found += evidence.slices(self.state, workload, queues[1])
            found += self._by_chance(workload, queues[1])
        return tuple(found)

    def everything(self) -> tuple[Uncovered, ...]:
        """Return what is not modelled for any workload; of equal cases the first is reported."""
        found = list(self._of_state)
        seen = set()
        for workload in self.state.workloads.pending():
            queues = self._queues_of(workload)
            found += evidence.stale(workload)
            # Nothing else decides here: workloads of one LocalQueue share its ClusterQueue, flavors
            # and conditions.
            place = workload.namespace, workload.queue_name, bool(_asking_for_topology(workload))
            if queues is not None and self._leaves_it_to_workers(queues[1]):
                place = (*place[:1], workload.key, place[2])  # its podsets decide there, too
            if queues is not None:
                found += self._by_chance(workload, queues[1])
            if queues is not None and place not in seen:
                seen.add(place)
                found += self._topology(workload, queues[1])
                found += self._open_or_not(*queues)
        return tuple(dict.fromkeys(found))

    def contradicted(self, plan: Plan) -> tuple[Uncovered, ...]:
        """Return where Kueue names other amounts, missing or held, or nodes, than a plan counts."""
        workload = self._pending(plan.preemptor)
        if workload is None:
            return ()
        found: Iterable[Uncovered] = ()
        if evidence.tells_shortage(workload):
            found = evidence.shortage(workload, plan.assignment.mode, self._missing(plan))
        queues = self._queues_of(workload)
        placing = TOPOLOGY.id in plan.about.sees_to
        nodes = absent_on_nodes(self.state, queues[1]) if queues is not None and placing else ()
        return (*found, *self.miscounted(plan.preemptor), *nodes)

    def _missing(self, plan: Plan) -> dict[tuple[str, str], int]:
        """Return what is missing for a preemptor by flavor and resource, whatever its plan says."""
        rules, placing = plan.by, plan.placement is not None
        state, frs = rules.state(self.state), flavor_resources(plan.assignment)
        snapshot = take_snapshot(state, plan.now, frs, placing=placing)
        preemptor = find_preemptor(state, snapshot, plan.preemptor)
        by_rules, named = whole_request if rules.counts_pods else total_request, snapshot.tree.frs
        request = by_rules(plan.assignment, preemptor, snapshot)
        free = snapshot.usage.available
        return {
            (named[fr].flavor, named[fr].resource): max(
                0, amount - max(0, free(preemptor.queue, fr))
            )
            for fr, amount in sorted(request.items())
        }

    def miscounted(self, pending: str) -> Iterator[Uncovered]:
        """Yield that ClusterQueues of a workload's tree count more than their workloads hold.

        Of a state that has changed since they counted that is only remarked upon.
        """
        workload = self._pending(pending)
        queues = self._queues_of(workload) if workload is not None else None
        if queues is not None and not self.state.outdated:
            yield from evidence.reserved(self._less_held(self._tree_of(queues[1])))

    def _less_held(self, tree: Sequence[ClusterQueue]) -> Mapping[str, str]:
        first = tree[0].name
        if first not in self._less_held_in:
            self._less_held_in[first] = evidence.less_held(self.state, tree)
        return self._less_held_in[first]

    def remarks(self, pending: str) -> tuple[str, ...]:
        """Return remarks for the reader of an answer, such as what the state seems to lack."""
        workload = self._pending(pending)
        queues = self._queues_of(workload) if workload is not None else None
        if workload is None or queues is None:
            return ()
        _, queue = queues
        found = [*_of_its_cycle(self.state, workload, queue), *self._on_queue(queue)]
        found += _lacking_of(self.state, workload, queue)
        return (*found, *_in_no_queue(self.state.without_queue))

    def _on_queue(self, queue: ClusterQueue) -> Sequence[str]:
        """Return the remarks on a queue and its tree, for any of its workloads."""
        if queue.name not in self._on_queues:
            tree = self._tree_of(queue)
            first = tree[0].name
            if first not in self._on_trees:
                holding = _of_those_who_hold(self.state, {one.name: one for one in tree})
                moved = self._less_held(tree).values() if self.state.outdated else ()
                self._on_trees[first] = [*holding, *_unknown_checks(self.state, tree), *moved]
            found = [*self._on_trees[first], *_lacking(self.state, queue)]
            self._on_queues[queue.name] = found
        return self._on_queues[queue.name]

    def _topology(self, workload: Workload, queue: ClusterQueue) -> Iterator[Uncovered]:
        """Yield the topology where a podset asks for it, or the queue has a flavor with one.

        A podset that does not ask for one may not use such a flavor, unless all flavors of the
        queue have one: then it is placed, too. With a MultiKueue check the workers' clusters do so,
        and which flavors suit a podset is tested all the same.
        """
        if not self._placing:
            return
        named = self._named_by(queue)
        asking = _asking_for_topology(workload)
        if not (named or asking):
            return
        said = [f"ResourceFlavor {next(iter(named))} has a topologyName"] if named else []
        said += [f"{asking[0]} has a topologyRequest"] if asking else []
        if self._leaves_it_to_workers(queue):
            if suits_all(workload, queue, named, self._levels):
                return
            said.append("MultiKueue places the pods, but Kueue looks here which flavors suit them")
        objects = [*asking, *(f"ResourceFlavor {name}" for name in named)]
        yield TOPOLOGY.found(objects, ", ".join(said))

    def _leaves_it_to_workers(self, queue: ClusterQueue) -> bool:
        return leaves_it_to_workers(queue, self._checks)

    @cached_property
    def _checks(self) -> dict[str, AdmissionCheck]:
        return {one.metadata.name: one for one in self.state.admission_checks}


def covered_joint(
    state: State, plan: JointPlan, assume: Assume | None, besides: Iterable[Uncovered]
) -> JointPlan:
    """Return a joint plan with what it leaves out for any of its workloads, and ``besides``.

    Its notes get the remarks on all of them, each once.
    """
    known, keys = KueueCoverage(state), [one.workload for one in plan.pending]
    notes = dict.fromkeys(chain(plan.notes, *map(known.remarks, keys)))
    plan = plan.model_copy(update={"notes": tuple(notes)})
    found = chain(*map(known.unmodelled, keys), *map(known.miscounted, keys), besides)
    missing = dict.fromkeys(found)
    return qualified(plan, tuple(missing), assume)


def _in_no_queue(keys: Sequence[str]) -> Iterator[str]:
    """Yield whom Kueue does not look at, for the queue that it names is not there."""
    if keys:
        names = name_some(keys, MOST_NAMED)
        yield f"Kueue does not even look at {names}: LocalQueue or ClusterQueue is not in the dump"


def waiting_slices(state: State, keys: Iterable[str]) -> Iterator[Uncovered]:
    """Yield the slices among the workloads that a joint plan left out: it decides on no slice."""
    waiting = state.workloads.pending()
    named = {one.key for one in waiting if names_replaced(one, state.configuration)}
    found = [f"Workload {key}" for key in keys if key in named]
    if found:
        said = f"{found[0]} waits and replaces a slice: joint plans leave that out"
        yield SLICES.found(found, said)


def contradicted(
    state: State, keys: Iterable[str], alone: Callable[[str], tuple[Mode, Sequence[Demand]]]
) -> Iterator[Uncovered]:
    """Yield where Kueue names another missing amount for a pending workload than the planner.

    Kueue looked at each workload by itself, as ``alone`` does: it returns the mode of the flavors,
    and the demands.
    """
    for workload in filter(None, map(state.workloads.find, keys)):
        if evidence.tells_shortage(workload):
            mode, demands = alone(workload.key)
            missing = {
                (one.flavor, one.resource): max(0, one.requested - one.available) for one in demands
            }
            yield from evidence.shortage(workload, mode, missing)


def suits_all(
    workload: Workload,
    queue: ClusterQueue,
    named: Mapping[str, str],
    levels: Mapping[str, Sequence[str]],
) -> bool:
    """Say whether each flavor of a queue suits each podset, and each podset gets one flavor.

    ``named`` has the topologies of flavors, ``levels`` those of topologies that are known. A podset
    of another kind, or one without a single flavor with a topology, gets no quota.

    Source: docs/semantics/kueue-topology.md §3.1 to §3.3.
    """
    if len(queue.spec.resource_groups) != 1 or any(
        named.get(name) not in levels for name in queue.flavor_names
    ):
        return False
    common = set.intersection(*(set(levels[named[name]]) for name in queue.flavor_names))
    covered = {*queue.spec.resource_groups[0].covered_resources}
    for pods in workload.spec.pod_sets:
        resources = [one.resources for one in pods.template.spec.containers]
        asked = {name for one in resources for name in (*one.requests, *one.limits)}
        request = pods.topology_request
        if not covered & {"pods", *asked}:
            return False
        if request is not None and request.is_explicit:
            rows = [one.topology for one in request.constraints]
            keys = [request.required, request.preferred, request.slice_required, *rows]
            wanted = {key for key in keys if key is not None}
            if not (wanted or request.unconstrained) or not wanted <= common:
                return False
    return True


def _asking_for_topology(workload: Workload) -> list[str]:
    return [
        f"podset {pods.name} of {workload.key}"
        for pods in workload.spec.pod_sets
        if pods.asks_for_placement
    ]
