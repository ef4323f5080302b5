"""The objects of a cluster as kubectl would print them, in one List, with racks of nodes.

Workloads are placed on nodes one after the other by Kueue's procedure, in the order in which they
got their quota. Between them workloads are placed that are gone by now: the gaps that these leave
are fragmentation. There are as many nodes as the quota of a flavor takes, and more where the
workloads would not have found a place on these.

Source: docs/semantics/kueue-topology.md §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from planner.dump import kueue as dump
from planner.dump import listed, uid_of
from planner.errors import InputError
from planner.objective.annotation import PREFIX
from planner.quota.kueue.topology import Taken, Topologies
from planner.reference.kueue.topology.ask import Ask
from planner.reference.kueue.topology.find import Placement, Placer
from planner.research.generate import names
from planner.research.generate.kueue.draw import lay_out
from planner.research.generate.kueue.layout import (
    CPU,
    GPU,
    GPUS_OF_A_NODE,
    MEMORY,
    PRESETS,
    KueueKnobs,
    Layout,
    Place,
    Run,
    Shape,
    in_units,
    units_of,
)
from planner.research.generate.names import Chance
from planner.stage import begin, going_on
from planner.state.kueue import HOST, Node, ResourceFlavor, Topology
from planner.state.kueue_workload import TopologyRequest
from planner.state.pods import PodSpec

TOPOLOGY: Final = "racks"
RACK: Final = "topology.example/rack"
_LEVELS: Final = (RACK, HOST)
_PRODUCT: Final = "nvidia.com/gpu.product"
_OF_A_GPU: Final = {CPU: 16, MEMORY: 128 * 1024, GPU: 1}
"""What a node has for each of its GPUs, in the units of shapes: its GPUs run out first."""
_PODS: Final = 110
_MORE: Final = (100, 105, 110, 125, 150, 200, 300)
"""The numbers of nodes that are tried, in percent of the nodes that the quota takes."""

Request = Mapping[str, object]
"""A topologyRequest as it is written."""
_ANYWHERE: Final[Request] = {"unconstrained": True}
_ONE_RACK: Final[Request] = {"required": RACK}
_RATHER_ONE_RACK: Final[Request] = {"preferred": RACK}


class Placed(NamedTuple):
    """The topology with its nodes; by number, each workload's request, and its place if it runs."""

    objects: Sequence[dump.Object] = ()
    of: Mapping[int, tuple[Request, Placement | None]] = {}


def node_labels(flavor: int) -> dict[str, str]:
    """Return the labels of the nodes of a flavor."""
    return {_PRODUCT: names.FLAVORS[flavor][1]}


_Found = dict[int, tuple[Request, Placement]]


def placed_on(layout: Layout, seed: int) -> Placed:
    """Make enough nodes of each flavor for its running workloads, and place these.

    InputError if three times the nodes that the quota takes are not enough.
    """
    made: list[dump.Object] = [dump.topology(TOPOLOGY, _LEVELS, created=names.FOUNDED)]
    placed: dict[int, tuple[Request, Placement | None]] = {
        run.number: (_request(layout, run, seed), None) for run in layout.waiting
    }
    for flavor in range(layout.knobs.flavors):
        name = flavor_name(layout, flavor)
        runs = [run for run in layout.running if run.flavor == flavor]
        runs.sort(key=lambda run: (-(run.age_s or 0), run.number))
        own = sum(one[flavor, GPU].nominal for one in layout.quotas if (flavor, GPU) in one)
        pools = sum(pool[flavor, GPU] for pool in layout.pools if layout.knobs.pool)
        least = -(-(own + pools) // GPUS_OF_A_NODE)
        nodes: list[dump.Object] = []
        for percent in _MORE:
            nodes = list(_nodes(layout, flavor, -(-least * percent // 100), name))
            found = _History(layout, name, flavor, nodes).after(runs, seed)
            if found is not None:
                break
        else:
            message = f"{len(runs)} workloads have no place on {len(nodes)} nodes in flavor {name}"
            raise InputError("topology", message, "fewer or smaller workloads")
        made += nodes
        placed |= found
    return Placed(made, placed)


def _nodes(layout: Layout, flavor: int, count: int, name: str) -> Iterator[dump.Object]:
    """Yield nodes, rack after rack."""
    each = _OF_A_GPU.items()
    amounts = {one: in_units(one, n * GPUS_OF_A_NODE) for one, n in each} | {"pods": _PODS}
    for number in range(max(1, count)):
        rack, place = divmod(number, layout.knobs.hosts)
        rack_name = f"{name}-r{rack + 1:03}"
        host = f"{rack_name}-n{place + 1:02}"
        labels = {**node_labels(flavor), RACK: rack_name, HOST: host}
        yield dump.node(host, labels, amounts, created=names.FOUNDED)


def _request(layout: Layout, run: Run, seed: int) -> Request:
    """Draw the topology request of a workload: for one pod anywhere, for more mostly one rack."""
    if run.shape.pods == 1:
        return _ANYWHERE
    drawn = Chance(seed, f"request {run.number}").below(10)
    small = run.shape.total[GPU] <= layout.knobs.hosts * GPUS_OF_A_NODE
    first = run.number == layout.knobs.workloads  # the preemptor
    if small and (first or drawn < 4):  # noqa: PLR2004 - two fifths
        return _ONE_RACK
    return _RATHER_ONE_RACK if drawn < 8 else _ANYWHERE  # noqa: PLR2004 - two fifths


class _History:
    """The workloads that came to the nodes of one flavor, and those that are gone again."""

    def __init__(
        self, layout: Layout, name: str, flavor: int, nodes: Sequence[dump.Object]
    ) -> None:
        created = names.FOUNDED
        own = dump.resource_flavor(name, node_labels(flavor), TOPOLOGY, created=created)
        topology = dump.topology(TOPOLOGY, _LEVELS, created=created)
        self.layout, self.flavor = layout, name
        self.topologies = Topologies(
            topologies={TOPOLOGY: Topology.model_validate(topology)},
            flavors={name: ResourceFlavor.model_validate(own)},
            nodes=[Node.model_validate(one) for one in nodes],
            looked_at=True,
        )
        self.occupancy = self.topologies.occupancy

    def after(self, runs: Sequence[Run], seed: int) -> _Found | None:
        """Place workloads one after the other; ``None`` if one of them has no place.

        Where workloads of the fragmentation are in the way, the oldest of them are gone by then.
        """
        chance, found = Chance(seed, f"gone {self.flavor}"), _Found()
        others: list[list[Taken]] = []
        for run in runs:
            if chance.percent(self.layout.knobs.fragmentation):
                placement = self._placed(run.shape, _ANYWHERE)
                if placement is not None:
                    others.append(placement.taken)
            request = _request(self.layout, run, seed)
            while (own := self._placed_if(run.shape, request)) is None:
                if not others:
                    return None
                self.occupancy.give_back(others.pop(0))
            found[run.number] = own
        return found

    def _placed_if(self, shape: Shape, request: Request) -> tuple[Request, Placement] | None:
        """Place a workload; if it requires one rack and none has room, only prefer one rack."""
        for one in (request, _RATHER_ONE_RACK) if request == _ONE_RACK else (request,):
            placement = self._placed(shape, one)
            if placement is not None:
                return one, placement
        return None

    def _placed(self, shape: Shape, request: Request) -> Placement | None:
        asked = TopologyRequest.model_validate(request)
        ask = Ask("main", shape.pods, self.flavor, units_of(shape), PodSpec(), asked)
        found = Placer(self.topologies, self.occupancy).find([ask])
        if not found.fits:
            return None
        placement = found.placements["main"]
        self.occupancy.take(placement.taken)
        return placement


__all__ = ["FOLDER", "KNOBS", "PRESETS", "made"]

KNOBS: Final = KueueKnobs
FOLDER: str = ""

LOCAL_QUEUES: Final = ("training", "interactive")
STRATEGIES: Final = {
    "both": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
    "final-share": ["LessThanOrEqualToFinalShare"],
    "initial-share": ["LessThanInitialShare"],
}


def made(knobs: KueueKnobs, seed: int) -> dump.Object:
    """Return a cluster as kubectl prints it: the List of its objects."""
    layout, created = lay_out(knobs, seed), names.FOUNDED
    placed = placed_on(layout, seed) if knobs.topology else Placed()
    begin("making objects")
    topology = TOPOLOGY if knobs.topology else ""
    flavors = []
    for flavor in range(knobs.flavors):
        labels = node_labels(flavor) if layout.contested == GPU else None
        name = flavor_name(layout, flavor)
        flavors.append(dump.resource_flavor(name, labels, topology, created=created))
    items = [
        *_queues(layout),
        *_cohorts(layout),
        *(
            dump.local_queue(names.team(queue), name, names.team(queue), created=created)
            for queue in range(knobs.queues)
            for name in LOCAL_QUEUES
        ),
        *(_workload(layout, run, seed, placed) for run in (*layout.running, *layout.waiting)),
        *flavors,
        *placed.objects,
    ]
    if knobs.fair:
        strategies = {"preemptionStrategies": STRATEGIES[knobs.strategies]}
        items.append(dump.configuration(fairSharing=strategies))
    return listed(items)


def cohort_name(tree: int, level: int, place: int) -> str:
    """Return the name of a cohort by its level and its place there."""
    root = names.numbered(names.ORGANISATIONS, tree)
    if level == 0:
        return root
    department = names.numbered(names.DEPARTMENTS, place)
    return f"{root}-{department}" + (f"-l{level}" if level > 1 else "")


def flavor_name(layout: Layout, flavor: int) -> str:
    """Return the name of a ResourceFlavor."""
    if layout.contested == GPU:
        return names.FLAVORS[flavor][0]
    return names.numbered(("default",), flavor)


def _queues(layout: Layout) -> Iterator[dump.Object]:
    knobs = layout.knobs
    policies = dump.Policies(knobs.within, knobs.reclaim, knobs.borrow)
    for queue, quotas in enumerate(layout.quotas):
        above = ""
        if knobs.depth:
            above = cohort_name(layout.tree(queue), knobs.depth - 1, layout.leaf[queue])
        made = dump.cluster_queue(
            names.team(queue), above, _quotas(layout, quotas), policies, created=names.FOUNDED
        )
        yield dump.weighted(made, layout.weights[queue])


def _quotas(layout: Layout, quotas: Mapping[Place, dump.Quota]) -> dump.Quotas:
    def in_units_of(resource: str, quota: dump.Quota) -> dump.Quota:
        limits = (
            None if limit is None else in_units(resource, limit)
            for limit in (quota.borrowing_limit, quota.lending_limit)
        )
        return dump.Quota(in_units(resource, quota.nominal), *limits)

    return {
        flavor_name(layout, flavor): {
            one: in_units_of(one, quotas[flavor, one]) for one in layout.resources
        }
        for flavor in range(layout.knobs.flavors)
    }


def _cohorts(layout: Layout) -> Iterator[dump.Object]:
    knobs = layout.knobs
    for tree in layout.trees if knobs.depth else ():
        widths = [layout.leaves[tree]]
        for _ in range(knobs.depth - 1):
            widths.append(-(-widths[-1] // knobs.branches))
        pool = {key: dump.Quota(amount) for key, amount in layout.pools[tree].items()}
        own = _quotas(layout, pool) if knobs.pool else None
        yield dump.cohort(cohort_name(tree, 0, 0), quotas=own, created=names.FOUNDED)
        for level, width in enumerate(reversed(widths[:-1]), start=1):
            for place in range(width):
                above = cohort_name(tree, level - 1, place // knobs.branches)
                yield dump.cohort(cohort_name(tree, level, place), above, created=names.FOUNDED)


def _workload(layout: Layout, run: Run, seed: int, placed: Placed) -> dump.Object:
    going_on()
    owner = names.OWNERS[run.number % len(names.OWNERS)]
    end = uid_of(seed, run.number)[:5]
    requests = units_of(run.shape)
    pods = dump.PodSet(run.shape.pods, requests)
    if run.number in placed.of:
        request, place = placed.of[run.number]
        levels, places = (place.levels, place.domains) if place else ((), ())
        pods = replace(pods, placement=request, levels=levels, places=places)
    held, admission = run.waited_s, None
    if run.age_s is not None:
        held += run.age_s
        flavors = dict.fromkeys(requests, flavor_name(layout, run.flavor))
        since = names.NOW - timedelta(seconds=run.age_s)
        admission = dump.Admission(names.team(run.queue), flavors, since)
    annotations = {}
    if run.checkpoint_s is not None:
        annotations[f"{PREFIX}last-checkpoint"] = names.ago(run.checkpoint_s)
    if run.last_tier:
        annotations[f"{PREFIX}tier"] = "last"
    made = dump.workload(
        names.team(run.queue),
        f"{owner.lower()}-{run.task}-{run.number}-{end}",
        LOCAL_QUEUES[run.number // len(names.OWNERS) % len(LOCAL_QUEUES)],
        layout.classes[run.level].value,
        [pods],
        created=names.NOW - timedelta(seconds=held),
        admission=admission,
        annotations=annotations,
    )
    if run.evicted_s is not None:
        made["status"]["conditions"].append(
            {
                "type": "Evicted",
                "status": "True",
                "reason": "Preempted",
                "message": "Preempted to accommodate another workload",
                "lastTransitionTime": names.ago(run.evicted_s),
            }
        )
    return made
