"""Findings on nodes: what a topology makes of them, and what the workloads of its queues ask.

Only pending workloads are looked at, and only as if nobody ran: a workload without room in an empty
cluster never has room.

Source: docs/semantics/kueue-topology.md §2.1, §3.1 and §7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from planner.commands.lint.kueue.search import ASKS
from planner.commands.lint.kueue.world import NAMESPACE, NOON, Facts, Object, read_example
from planner.commands.lint.lint import Example, Finding, finding
from planner.dump import kueue as objects
from planner.dump import listed
from planner.errors import InputError
from planner.quantity import format_units
from planner.quota.kueue.preemptor import as_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, take_snapshot
from planner.quota.kueue.topology import FlavorTree, units_of
from planner.reference.kueue.chance import Chance, Crash
from planner.reference.kueue.decision import decide
from planner.reference.kueue.topology.ask import Ask, Misfit, aim_of
from planner.reference.kueue.topology.assigning import Placing
from planner.reference.kueue.topology.find import groups_by_flavor, roles_in
from planner.reference.kueue.topology.slots import Wanted
from planner.state.kueue import Node
from planner.state.kueue_release import NEWEST

MOST_SHAPES: Final = 300
"""The most different requests that are looked at, each of them once."""
MOST_NAMED: Final = 5
_JOB: Final = f"{NAMESPACE}/{ASKS}"


def never_any_room(facts: Facts) -> Iterator[Finding]:
    """KL-20: pods must be in one domain, and no domain would have room if nobody ran."""
    snapshot = _placing(facts)
    if snapshot is None or not facts.state.nodes:
        return
    kept: dict[tuple[int, str], tuple[_TooMuch, list[str]]] = {}
    seen: dict[object, _TooMuch | None] = {}
    for workload in facts.state.workloads.pending():
        if not any(one.topology_request for one in workload.spec.pod_sets):
            continue
        try:
            preemptor = as_preemptor(facts.state, snapshot, workload)
        except InputError:
            continue  # its queue is not there
        shape = preemptor.queue, repr(workload.spec.pod_sets)
        if shape not in seen and len(seen) < MOST_SHAPES:
            seen[shape] = _too_much(snapshot, preemptor)
        found = seen.get(shape)
        if found is not None:
            kept.setdefault(shape, (found, []))[1].append(workload.key)
    for (queue, _), (found, keys) in kept.items():
        level = found.tree.levels[found.wanted.aim.level]
        yield from finding(
            "KL-20",
            [f"workload/{keys[0]}", facts.name(queue), f"topology/{found.tree.topology}"],
            found.in_words(keys),
            f"fewer or smaller pods, preferred instead of required, or more room in one {level}",
            found.example(snapshot.queue_name(queue)),
        )


class _TooMuch(Struct, frozen=True):
    """What pods want in one domain of a flavor, and the domain that comes closest."""

    tree: FlavorTree
    wanted: Wanted
    rank: int
    most: int

    def in_words(self, keys: Sequence[str]) -> str:
        """Say which workloads ask for what, and for how much there is room at most."""
        wanted, level = self.wanted, self.tree.levels[self.wanted.aim.level]
        more = f" (and {len(keys) - 1:,} more)" if len(keys) > 1 else ""
        unit = f"slices of {wanted.aim.size} pods" if wanted.aim.size > 1 else "pods"
        each, beside = _each(wanted.workers), ""
        if wanted.leader is not None:
            each += f", and a leader of {_each(wanted.leader)},"
            beside = " beside the leader"
        closest = ",".join(self.tree.values[wanted.aim.level][self.rank])
        return (
            f"workload/{keys[0]}{more} requires {wanted.slices:,} {unit} of {each} in one "
            f"{level}; even with nobody there the largest, {closest}, has room for "
            f"{self.most:,}{beside}: it is never admitted, and nobody is preempted for it."
        )

    def example(self, queue: str) -> Example | None:
        """Return an example with the closest domain alone, in which only larger nodes would do."""
        alone, _ = self.wanted.below(self.wanted.aim.level, self.rank)
        tree, whole, pods = alone.tree, Counter[str](), []
        for ask in (self.wanted.workers, self.wanted.leader):
            if ask is not None:
                assert ask.request is not None  # noqa: S101 - only such asks are required anywhere
                request = ask.request.model_dump(mode="json", by_alias=True, exclude_defaults=True)
                pods.append(objects.PodSet(ask.count, ask.own, ask.name, placement=request))
                whole.update({name: n * (ask.count + 1) for name, n in ask.amounts.items()})
        small, large = [], []
        for leaf, row in enumerate(tree.free):
            labels = dict(zip(tree.levels, tree.values[-1][leaf], strict=True))
            name = tree.nodes[leaf].metadata.name
            amounts = {one: max(0, row[column]) for one, column in tree.column_of.items()}
            if alone.qualified[leaf]:
                small.append(objects.node(name, labels, amounts, created=NOON))
            large.append(objects.node(name, labels, amounts | whole, created=NOON))
        known = objects.topology(tree.topology, tree.levels, created=NOON)
        found, cured = (
            _dump(queue, tree.flavor, tree.topology, pods, [known, *nodes])
            for nodes in (small, large)
        )
        return _example(found, cured, "larger nodes")


def _too_much(snapshot: Snapshot, preemptor: Preemptor) -> _TooMuch | None:
    """Return the pods that no domain of any flavor has room for; ``None`` if one may have."""
    placing = Placing.of(snapshot, preemptor, Chance())
    if placing is None:
        return None
    topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
    first: dict[tuple[str, ...], _TooMuch] = {}
    possible: set[tuple[str, ...]] = set()
    for flavor in queue.flavor_names:
        tree = topologies.trees.get(flavor)
        if tree is None:
            continue
        if topologies.is_delayed(queue, flavor):
            return None  # its nodes are made on demand, or belong to another cluster
        asks = [
            placing.ask(one.pod_set, one.pod_set.min_count or one.count, flavor)
            for one in preemptor.pod_sets
            if one.pod_set.asks_for_placement
        ]
        for _, group in groups_by_flavor(asks):
            names = tuple(ask.name for ask in group)
            roles = roles_in(group)
            aim = aim_of(roles[0], tree)
            if isinstance(aim, Misfit):
                possible.add(names)
                continue
            wanted = Wanted.of(tree, aim, roles, topologies.flavors[flavor].spec.tolerations)
            held = wanted.held(wanted.counts(tree.free))[aim.level]
            most = max(held, default=wanted.slices)
            if not wanted.is_required or most >= wanted.slices:
                possible.add(names)
            elif names not in first or most >= first[names].most:
                first[names] = _TooMuch(tree, wanted, held.index(most), most)
    return next((one for names, one in first.items() if names not in possible), None)


def without_labels(facts: Facts) -> Iterator[Finding]:
    """KL-21: a node has the labels of a flavor, but not those of all levels of its topology."""
    snapshot = _placing(facts)
    if snapshot is None:
        return
    for flavor, tree in snapshot.topologies.trees.items():
        wanted = snapshot.topologies.flavors[flavor].spec.node_labels
        lacking: dict[str, tuple[Node, str]] = {}
        for node in facts.state.nodes if wanted else ():
            labels = node.metadata.labels
            meant = all(labels.get(key) == value for key, value in wanted.items())
            missing = [level for level in tree.levels if level not in labels]
            if meant and missing and node.is_usable:
                lacking[node.metadata.name] = node, missing[0]
        if not lacking:
            continue
        name, (node, level) = next(iter(lacking.items()))
        queues = [one.name for one in facts.state.cluster_queues if flavor in one.flavor_names]
        if not queues:
            continue
        own, dumps = node.metadata.labels, []
        known = objects.topology(tree.topology, tree.levels, created=NOON)
        full = {level: f"{level.rpartition('/')[2]}-1" for level in tree.levels} | own
        pods = objects.PodSet(1, {"cpu": 1}, placement={"unconstrained": True})
        amounts = units_of(node.status.allocatable)
        for labels in (own, full):
            kept = {key: labels[key] for key in (*tree.levels, *wanted) if key in labels}
            more = [known, objects.node(name, kept, amounts, created=NOON)]
            dumps.append(_dump(queues[0], flavor, tree.topology, [pods], more, wanted))
        others = f" (and {len(lacking) - 1:,} more)" if len(lacking) > 1 else ""
        yield from finding(
            "KL-21",
            [f"resourceflavor/{flavor}", *(f"node/{one}" for one in [*lacking][:MOST_NAMED])],
            f"node/{name}{others} has the labels of resourceflavor/{flavor}, but not {level} of "
            f"topology/{tree.topology}: Kueue places nothing there, whatever the quota says.",
            f"the label {level} on node/{name}",
            _example(dumps[0], dumps[1], "all labels"),
        )


def without_topology(facts: Facts) -> Iterator[Finding]:
    """KL-22: Kueue makes a queue inactive whose flavor names a Topology that is not there."""
    state, configuration = facts.state, facts.state.configuration
    known = {one.name for one in state.topologies}
    if not (state.nodes or known) or not configuration.gate("TopologyAwareScheduling"):
        return  # topologies are not in the dump, or are switched off
    for flavor in state.resource_flavors:
        missing = flavor.spec.topology_name
        queues = [one for one in state.cluster_queues if flavor.name in one.flavor_names]
        if not missing or missing in known or not queues:
            continue
        pods = objects.PodSet(1, {"cpu": 1})
        found, cured = (_dump(queues[0].name, flavor.name, name, [pods]) for name in (missing, ""))
        yield from finding(
            "KL-22",
            [f"resourceflavor/{flavor.name}", *(f"clusterqueue/{one.name}" for one in queues)],
            f"resourceflavor/{flavor.name} names topology/{missing}, which does not exist: "
            "every ClusterQueue with this flavor is inactive, and admits nothing.",
            f"create topology/{missing}, or take topologyName away",
            _example(found, cured, "no topologyName"),
        )


def _placing(facts: Facts) -> Snapshot | None:
    """Return the snapshot with nodes; ``None`` where topologies do nothing, or nothing known."""
    state = facts.state
    if state.release is not NEWEST or not state.topology_of:
        return None
    snapshot = take_snapshot(state, placing=True)
    return snapshot if snapshot.topologies.on else None


def _each(ask: Ask) -> str:
    amounts = (f"{format_units(n, name)} {name}" for name, n in ask.own.items() if n)
    return " and ".join(amounts) or "nothing"


def _dump(  # noqa: PLR0913, PLR0917 - what an example is made of
    queue: str,
    flavor: str,
    topology: str,
    pods: Sequence[objects.PodSet],
    more: Sequence[Object] = (),
    labels: Mapping[str, str] | None = None,
) -> Object:
    """Return a dump of a queue and a workload, with quota for just what the workload asks for."""
    needed = Counter[str]()
    for one in pods:
        needed.update({resource: n * one.count for resource, n in one.requests.items()})
    quotas = {flavor: {resource: objects.Quota(amount) for resource, amount in needed.items()}}
    return listed(
        [
            objects.resource_flavor(flavor, labels, topology, created=NOON),
            *more,
            objects.cluster_queue(queue, "", quotas, objects.Policies(), created=NOON),
            objects.local_queue(NAMESPACE, queue, queue, created=NOON),
            objects.workload(NAMESPACE, ASKS, queue, 0, pods, created=NOON),
        ]
    )


def _example(found: Object, cured: Object, words: str) -> Example | None:
    """Return an example, if Kueue does not admit the workload in it, and would once cured."""
    if not _admits(found) and _admits(cured):
        shows = (f"{_JOB} is not admitted, and nobody runs", f"with {words} it fits at once")
        return Example(state=found, pending=_JOB, shows=shows)
    return None


def _admits(dump: Object) -> bool:
    _, snapshot, preemptor = read_example(dump, _JOB, placing=True)
    try:
        return decide(snapshot, preemptor).assignment.mode == "Fit"
    except Crash:
        return False
