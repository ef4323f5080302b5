"""Racks of nodes, and where the workloads run: placed one after the other by Kueue's procedure.

They come in the order in which they got their quota, and with them others, which are gone by now:
what those leave behind is fragmentation. There are as many nodes as the quota of a flavor takes,
and more where the workloads would not have found a place on these.

Source: docs/semantics/kueue-topology.md §5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner.commands.generate import names
from planner.commands.generate.kueue.layout import (
    CPU,
    GPU,
    GPUS_OF_A_NODE,
    MEMORY,
    Layout,
    Run,
    Shape,
    in_units,
    units_of,
)
from planner.commands.generate.names import Chance
from planner.dump import kueue as dump
from planner.errors import InputError
from planner.quota.kueue.topology import Occupancy, Taken, Topologies
from planner.reference.kueue.topology.ask import Ask
from planner.reference.kueue.topology.find import Placement, Placer
from planner.state import HOST, Node, ResourceFlavor, Topology
from planner.state.kueue_workload import TopologyRequest
from planner.state.pods import PodSpec

TOPOLOGY: Final = "racks"
RACK: Final = "topology.example/rack"
_LEVELS: Final = (RACK, HOST)
_PRODUCT: Final = "nvidia.com/gpu.product"
_OF_A_GPU: Final = {CPU: 16, MEMORY: 128 * 1024, GPU: 1}
"""What a node has for each of its GPUs, in the units of shapes: GPUs are what runs out first."""
_PODS: Final = 110
_MORE: Final = (100, 105, 110, 125, 150, 200, 300)
"""How many nodes are tried, in percent of those that the quota takes."""

Request = Mapping[str, object]
"""A topologyRequest as it is written."""
_ANYWHERE: Final[Request] = {"unconstrained": True}
_ONE_RACK: Final[Request] = {"required": RACK}
_RATHER_ONE_RACK: Final[Request] = {"preferred": RACK}


@dataclass(frozen=True, slots=True)
class Placed:
    """The topology with its nodes, what each workload asked for, and where those run that do."""

    objects: Sequence[dump.Object]
    requests: dict[int, Request]
    places: dict[int, Placement]

    def of(self, run: Run, pods: dump.PodSet) -> dump.PodSet:
        """Return the podset of a workload with its request, and its places if it runs."""
        placement = self.places.get(run.number)
        asked = replace(pods, placement=self.requests[run.number])
        if placement is None:
            return asked
        return replace(asked, levels=placement.levels, places=placement.domains)


def node_labels(flavor: int) -> dict[str, str]:
    """Return the labels of the nodes of a flavor."""
    return {_PRODUCT: names.FLAVORS[flavor][1]}


def placed_on(layout: Layout, seed: int, named: Callable[[int], str]) -> Placed:
    """Make the nodes of all flavors, and place what runs; ``named`` gives a flavor its name.

    Raises
    ------
    InputError
        If three times the nodes are not enough.
    """
    made: list[dump.Object] = [dump.topology(TOPOLOGY, _LEVELS, created=names.FOUNDED)]
    requests = {run.number: _request(layout, run, seed) for run in layout.waiting}
    places: dict[int, Placement] = {}
    for flavor in range(layout.knobs.flavors):
        nodes, found = _flavor(layout, flavor, seed, named(flavor))
        made += nodes
        for number, (request, placement) in found.items():
            requests[number], places[number] = request, placement
    return Placed(made, requests, places)


_Found = dict[int, tuple[Request, Placement]]


def _flavor(layout: Layout, flavor: int, seed: int, name: str) -> tuple[list[dump.Object], _Found]:
    """Return nodes that are enough for what runs in a flavor, and where that is."""
    runs = [run for run in layout.running if run.flavor == flavor]
    runs.sort(key=lambda run: (-(run.age_s or 0), run.number))
    own = sum(one[flavor, GPU].nominal for one in layout.quotas if (flavor, GPU) in one)
    pools = sum(pool[flavor, GPU] for pool in layout.pools if layout.knobs.pool)
    least = -(-(own + pools) // GPUS_OF_A_NODE)
    nodes: list[dump.Object] = []
    for percent in _MORE:
        nodes = list(_nodes(layout, flavor, -(-least * percent // 100), name))
        history = _History.of(layout, name, flavor, nodes)
        found = history.after(runs, seed)
        if found is not None:
            return nodes, found
    message = f"{len(runs)} workloads have no place on {len(nodes)} nodes in flavor {name}"
    raise InputError("--topology", message, "fewer or smaller workloads")


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
    """Draw what a workload asks of the nodes: of one pod nothing, and of many rather one rack."""
    if run.shape.pods == 1:
        return _ANYWHERE
    drawn = Chance(seed, f"request {run.number}").below(10)
    small = run.shape.total[GPU] <= layout.knobs.hosts * GPUS_OF_A_NODE
    first = run.number == layout.knobs.workloads  # the preemptor
    if small and (first or drawn < 4):  # noqa: PLR2004 - two fifths
        return _ONE_RACK
    return _RATHER_ONE_RACK if drawn < 8 else _ANYWHERE  # noqa: PLR2004 - two fifths


@dataclass
class _History:
    """What came, and what went, on the nodes of one flavor."""

    layout: Layout
    flavor: str
    topologies: Topologies
    occupancy: Occupancy

    @classmethod
    def of(cls, layout: Layout, name: str, flavor: int, nodes: Sequence[dump.Object]) -> _History:
        created = names.FOUNDED
        own = dump.resource_flavor(name, node_labels(flavor), TOPOLOGY, created=created)
        topology = dump.topology(TOPOLOGY, _LEVELS, created=created)
        topologies = Topologies(
            topologies={TOPOLOGY: Topology.model_validate(topology)},
            flavors={name: ResourceFlavor.model_validate(own)},
            nodes=[Node.model_validate(one) for one in nodes],
            looked_at=True,
        )
        return cls(layout, name, topologies, topologies.occupancy)

    def after(self, runs: Sequence[Run], seed: int) -> _Found | None:
        """Place workloads one after the other; ``None`` if one of them has no place.

        Where others that came before are in its way, they have gone by then, the oldest first.
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
        """Place a workload; where no rack has room, it did not require one."""
        tries = [request] + ([_RATHER_ONE_RACK] if request == _ONE_RACK else [])
        for one in tries:
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
