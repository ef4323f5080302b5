"""Findings on nodes: what a topology makes of them, what workloads ask, and what quota promises.

Only pending workloads are looked at, and only as if nobody ran: a workload without room in an empty
cluster never has room.

Source: docs/semantics/kueue-topology.md §2.1, §3.1 and §7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple

from msgspec import Struct

from planner.dump import kueue as objects
from planner.errors import InputError, did_you_mean
from planner.operations.lint.kueue.alone import JOB, admits, flavor_of, queue_alone, unless_cured
from planner.operations.lint.kueue.world import NOON, Facts, Object
from planner.operations.lint.lint import Example, Finding, finding
from planner.quantity import UNLIMITED, format_units, plural
from planner.quota.kueue.preemptor import as_preemptor
from planner.quota.kueue.request import PODS
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import FlavorTree, Topologies, is_of, units_of
from planner.reference.kueue.chance import Chance
from planner.reference.kueue.topology.ask import Ask, Misfit, aim_of
from planner.reference.kueue.topology.assigning import Placing
from planner.reference.kueue.topology.find import groups_by_flavor, roles_in
from planner.reference.kueue.topology.slots import Wanted
from planner.state.kueue import Node, ResourceFlavor, State

MOST_SHAPES: Final = 300
"""The most different requests that are looked at, each of them once."""
MOST_NAMED: Final = 5
_CONTROL_PLANE: Final = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""Taints of nodes that no workload is meant to run on."""


def never_any_room(facts: Facts) -> Iterator[Finding]:
    """KL-20: pods must be in one domain, and no domain would have room if nobody ran."""
    snapshot = facts.placed
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
        more = f" (and {len(keys) - 1:,} more)" if len(keys) > 1 else ""
        yield from finding(
            "KL-20",
            [f"workload/{keys[0]}", facts.name(queue), f"topology/{found.tree.topology}"],
            found.example(snapshot.queue_name(queue)),
            name=f"workload/{keys[0]}{more}",
            **found.words(),
        )


class _TooMuch(Struct, frozen=True):
    """What pods want in one domain of a flavor, and the domain that comes closest."""

    tree: FlavorTree
    wanted: Wanted
    rank: int
    most: int

    def words(self) -> dict[str, str]:
        """Return what is asked for in one domain, and for how much there is room at most."""
        wanted = self.wanted
        many = plural(wanted.slices, "pod")
        if wanted.aim.size > 1:
            many = f"{plural(wanted.slices, 'slice')} of {wanted.aim.size} pods"
        each, beside = _each(wanted.workers), ""
        if wanted.leader is not None:
            each += f", and a leader of {_each(wanted.leader)},"
            beside = " beside the leader"
        return {
            "wanted": f"{many} of {each}",
            "level": self.tree.levels[wanted.aim.level],
            "closest": ",".join(self.tree.values[wanted.aim.level][self.rank]),
            "room": f"{self.most:,}{beside}",
        }

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
            queue_alone(queue, flavor_of(tree.flavor, tree.topology), pods, [known, *nodes])
            for nodes in (small, large)
        )
        return unless_cured(found, cured, "larger nodes")


def _too_much(snapshot: Snapshot, preemptor: Preemptor) -> _TooMuch | None:
    """Return the pods that no domain of any flavor has room for; ``None`` if one may have."""
    placing = Placing.of_preemptor(snapshot, preemptor, Chance())
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
            wanted = Wanted.for_group(tree, aim, roles, topologies.flavors[flavor].spec.tolerations)
            held = wanted.held(wanted.counts(tree.free))[aim.level]
            most = max(held, default=wanted.slices)
            if not wanted.is_required or most >= wanted.slices:
                possible.add(names)
            elif names not in first or most >= first[names].most:
                first[names] = _TooMuch(tree, wanted, held.index(most), most)
    return next((one for names, one in first.items() if names not in possible), None)


def without_labels(facts: Facts) -> Iterator[Finding]:
    """KL-21: a node has the labels of a flavor, but not those of all levels of its topology."""
    snapshot = facts.placed
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
            labelled = flavor_of(flavor, tree.topology, wanted)
            dumps.append(queue_alone(queues[0], labelled, [pods], more))
        others = f" (and {len(lacking) - 1:,} more)" if len(lacking) > 1 else ""
        yield from finding(
            "KL-21",
            [f"resourceflavor/{flavor}", *(f"node/{one}" for one in [*lacking][:MOST_NAMED])],
            unless_cured(dumps[0], dumps[1], "all labels"),
            name=f"node/{name}",
            others=others,
            flavor=f"resourceflavor/{flavor}",
            level=level,
            topology=f"topology/{tree.topology}",
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
        found, cured = (
            queue_alone(queues[0].name, flavor_of(flavor.name, name), [pods])
            for name in (missing, "")
        )
        yield from finding(
            "KL-22",
            [f"resourceflavor/{flavor.name}", *(f"clusterqueue/{one.name}" for one in queues)],
            unless_cured(found, cured, "no topologyName"),
            flavor=f"resourceflavor/{flavor.name}",
            missing=missing,
            hint=did_you_mean(missing, known)
            or f"create topology/{missing}, or take topologyName away",
        )


def more_than_the_nodes(facts: Facts) -> Iterator[Finding]:
    """KL-26: all quota in a flavor, or in flavors with the same nodes, is more than these have.

    Of a resource that no node has, such as one made by a transformation, nodes say nothing; and
    nodes that are made on demand, or are in another cluster, are not in the input.
    """
    state, checks = facts.whole, Topologies.in_state(facts.whole, ())
    on_nodes = [units_of(node.status.allocatable) for node in state.nodes]
    known = {name for amounts in on_nodes for name, n in amounts.items() if n} - {PODS}
    queues = state.cluster_queues
    elsewhere = {
        flavor for one in queues for flavor in one.flavor_names if checks.is_delayed(one, flavor)
    }
    owned = _quotas(facts)
    members = {
        flavor.name: _nodes_of(state, flavor)
        for flavor in facts.state.resource_flavors
        if flavor.name in owned and flavor.name not in elsewhere
    }
    said: set[tuple[object, str]] = set()
    for flavor, mine in members.items():
        # Flavors whose nodes are all among these compete for them.
        within = [one for one, its in members.items() if its <= mine]
        for resource in [one for one in owned[flavor] if one in known]:
            held = sum(on_nodes[at].get(resource, 0) for at in mine)
            alone = sum(owned[flavor][resource].values()) > held
            flavors = [flavor] if alone else [one for one in within if resource in owned[one]]
            rows = [+owned[one][resource] for one in flavors]  # without those of 0
            total = sum(amount for row in rows for amount in row.values())
            if held < total < UNLIMITED and (alone or (mine, resource) not in said):
                said.add((mine, resource))
                excess = _Excess(flavors, resource, total, held, len(mine))
                yield from _beyond_the_nodes(facts, excess, chain.from_iterable(rows))


def _quotas(facts: Facts) -> Mapping[str, Mapping[str, Counter[str]]]:
    """Return the nominal quotas by flavor, resource and owner."""
    tree, found = facts.snapshot.tree, dict[str, dict[str, Counter[str]]]()
    for node in tree.nodes:
        owner = f"{'clusterqueue' if node.is_queue else 'cohort'}/{node.name}"
        for fr, quota in node.quotas.items():
            flavor, resource = tree.frs[fr]
            of_flavor = found.setdefault(flavor, {})
            of_flavor.setdefault(resource, Counter())[owner] += quota.nominal
    return found


def _nodes_of(state: State, flavor: ResourceFlavor) -> frozenset[int]:
    """Return the nodes with the labels of a flavor, also those that take no pods now.

    Those with taints count, too, as pods may tolerate them; but not those of the control plane.
    """
    levels = {one.name: one.levels for one in state.topologies}.get(flavor.spec.topology_name, ())
    tolerated = {taint.key for taint in flavor.spec.node_taints}

    def takes_pods(node: Node) -> bool:
        return all(
            taint.key in tolerated or any(one.accepts(taint) for one in flavor.spec.tolerations)
            for taint in node.spec.taints
            if taint.is_hard and taint.key in _CONTROL_PLANE
        )

    nodes = enumerate(state.nodes)
    return frozenset(at for at, one in nodes if is_of(one, flavor, levels) and takes_pods(one))


class _Excess(NamedTuple):
    """More quota of a resource, in flavors with the same nodes, than these nodes have."""

    flavors: Sequence[str]
    resource: str
    total: int
    held: int
    nodes: int

    def example(self, facts: Facts) -> Example | None:
        """Return one node with all that there is, and a workload that asks for a unit more."""
        flavor = facts.snapshot.flavors[self.flavors[0]]
        known = {one.name: one.levels for one in facts.state.topologies}
        name = flavor.spec.topology_name if facts.placed else ""
        levels = known.get(name, ())
        labels = {level: level.rpartition("/")[2] for level in levels} | flavor.spec.node_labels
        pods = [objects.PodSet(1, {self.resource: self.held + 1})]
        more = [objects.topology(name, levels, created=NOON)] if levels else []

        def dump(amount: int) -> Object:
            node = objects.node("all", labels, {self.resource: amount, PODS: 1}, created=NOON)
            topology = name if levels else ""
            labelled = flavor_of(flavor.name, topology, flavor.spec.node_labels)
            return queue_alone("example", labelled, pods, [*more, node])

        found = dump(self.held)
        if levels:
            return unless_cured(found, dump(self.total), "larger nodes")
        asked, held = (format_units(n, self.resource) for n in (self.held + 1, self.held))
        shows = (
            f"{JOB} fits at once, as quota is free",
            f"it asks for {asked}, and nodes have {held}",
        )
        return Example(state=found, pending=JOB, shows=shows) if admits(found) else None


def _beyond_the_nodes(facts: Facts, found: _Excess, owners: Iterable[str]) -> Iterator[Finding]:
    names = [f"resourceflavor/{one}" for one in found.flavors]
    total, held = (format_units(n, found.resource) for n in (found.total, found.held))
    fate = "Kueue admits more, and its pods wait for nodes that are not there"
    if found.flavors[0] in facts.state.topology_of:
        fate = "Kueue finds no place for more, however much quota is free"
    yield from finding(
        "KL-26",
        [*names, *owners],
        found.example(facts),
        resource=found.resource,
        flavors=" and ".join(names),
        flavor=names[0],
        nodes=plural(found.nodes, "node"),
        have="has" if found.nodes == 1 else "have",
        total=total,
        held=held,
        fate=fate,
    )


def _each(ask: Ask) -> str:
    amounts = (f"{format_units(n, name)} {name}" for name, n in ask.own.items() if n)
    return " and ".join(amounts) or "nothing"
