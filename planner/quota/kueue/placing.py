"""What the podsets of a workload ask of the nodes, in the terms of a tree of domains.

Source: docs/semantics/kueue-topology.md §1, §3.2, §3.3, §4 and §5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.request import PODS
from planner.quota.kueue.snapshot import Preemptor, Snapshot
from planner.quota.kueue.topology import FlavorTree, Topologies
from planner.state.kueue import Workload
from planner.state.kueue_workload import PodSet, SliceConstraint, TopologyRequest
from planner.state.pods import PodSpec, Toleration


class Pods(Struct, frozen=True):
    """A podset that is to be placed.

    ``amounts`` is what one pod takes on its leaf in Kueue's units, one of ``pods`` included;
    ``tolerations`` are those of the pod and of its flavor. Pods that are not ``valid`` have no
    place anywhere: their affinity cannot be evaluated, or an admission check contradicts them.
    """

    name: str
    count: int
    flavor: str
    amounts: Mapping[str, int]
    pod: PodSpec
    tolerations: Sequence[Toleration]
    request: TopologyRequest | None
    valid: bool = True


class Aim(NamedTuple):
    """How pods are to be placed in a tree: levels, by their places, and sizes of slices.

    If ``required``, all pods go into one domain of ``level``; with ``spread`` Kueue takes the
    domains with the least room first. The ``size`` pods of a slice share a domain of
    ``slice_level``; ``layers`` has for levels below that the multiples in which pods are placed.
    """

    level: int
    required: bool
    spread: bool
    slice_level: int
    size: int
    layers: Mapping[int, int]

    @property
    def is_preferred(self) -> bool:
        """Whether one domain of the level is tried first, then one of each level above."""
        return not self.required and not self.spread


class Group(NamedTuple):
    """Podsets that are placed together: a single podset, or workers and the pod of their leader.

    ``aim`` is absent where their request means nothing in the tree of their flavor, or the workers
    are not valid.
    """

    workers: Pods
    leader: Pods | None
    aim: Aim | None

    @property
    def flavor(self) -> str:
        """The flavor on whose nodes the pods are placed."""
        return self.workers.flavor

    @property
    def members(self) -> tuple[Pods, ...]:
        """The workers, and their leader if there is one."""
        return (self.workers,) if self.leader is None else (self.workers, self.leader)

    @property
    def name(self) -> str:
        """The names of the podsets."""
        return " and ".join(one.name for one in self.members)

    @property
    def slices(self) -> int:
        """How many slices have to fit: pods that are left over are not placed."""
        return self.workers.count // self.aim.size if self.aim else 0


def placed_groups(
    assignment: Assignment, preemptor: Preemptor, snapshot: Snapshot
) -> tuple[Group, ...]:
    """Return the groups that are to be placed on nodes, in the order in which Kueue places them.

    Podsets that are placed in a later pass are left out; where a podset has no flavor with a
    topology, or several, Kueue places nothing (§3.3).
    """
    found: list[Pods] = []
    topologies, queue = snapshot.topologies, snapshot.queues[preemptor.queue]
    workload, assigned = preemptor.workload, {pods.name: pods for pods in assignment.pod_sets}
    scored = topologies.configuration.gate("TASRespectNodeAffinityPreferred")
    if not topologies.on or topologies.leaves_it_to_workers(queue):
        return ()
    for spec in workload.spec.pod_sets:
        got = assigned.get(spec.name)
        if got is None or not got.count or not topologies.is_placed(spec, queue):
            continue
        named = {choice.flavor for choice in got.flavors.values()}
        placing = named & topologies.flavors.keys()
        if len(placing) != 1:
            return ()
        (flavor,) = placing
        if not topologies.is_delayed(queue, flavor) and not workload.status.unhealthy_nodes:
            updated = _updated(workload, spec)
            pod = updated or spec.template.spec
            valid = pod.has_valid_affinity and (pod.has_valid_preferences or not scored)
            # From the template as it is: neither excluded prefixes nor transformations count on
            # nodes.
            own = topologies.per_pod(spec.template.spec, workload.metadata.namespace)
            found.append(
                Pods(
                    name=spec.name,
                    count=got.count,
                    flavor=flavor,
                    amounts={**own, PODS: own.get(PODS, 0) + 1},
                    pod=pod,
                    tolerations=(*pod.tolerations, *topologies.flavors[flavor].spec.tolerations),
                    request=spec.topology_request,
                    valid=valid and updated is not None,
                )
            )
    return tuple(_grouped(topologies, found))


def _updated(workload: Workload, spec: PodSet) -> PodSpec | None:
    """Return the pods of a podset with what ready admission checks add to them (§4.1).

    ``None`` if a check gives another value of an annotation or a label, or selects another one,
    than the pods, or an earlier check.
    """
    pod, metadata = spec.template.spec, spec.template.metadata
    labels, annotations = metadata.labels, metadata.annotations
    checks = (check for check in workload.status.admission_checks if check.state == "Ready")
    for update in (one for check in checks for one in check.updates if one.name == spec.name):
        before = pod.node_selector, labels, annotations
        selector = {**pod.node_selector, **update.node_selector}
        labels, annotations = {**labels, **update.labels}, {**annotations, **update.annotations}
        after = selector, labels, annotations
        if any(old.items() - new.items() for old, new in zip(before, after, strict=True)):
            return None
        tolerations = (*pod.tolerations, *update.tolerations)
        pod = pod.model_copy(update={"node_selector": selector, "tolerations": tolerations})
    return pod


def _grouped(topologies: Topologies, found: Sequence[Pods]) -> Iterator[Group]:
    """Yield groups flavor by flavor by name, each at the place of its first podset (§4)."""
    for flavor in sorted({one.flavor for one in found}):
        together: dict[str, list[Pods]] = {}
        for number, one in enumerate(found):
            if one.flavor == flavor:
                named = one.request.pod_set_group_name if one.request else ""
                together.setdefault(named or f"/{number}", []).append(one)
        tree = topologies.trees.get(flavor)
        for some in together.values():
            workers, leader = some[0], some[1] if len(some) > 1 else None
            if leader is not None and leader.count > workers.count:
                workers, leader = leader, workers
            # Workers that are not valid fail the group, whatever the leaves are (§4.1).
            aim = aim_of(workers.request, tree) if tree is not None and workers.valid else None
            yield Group(workers, leader, aim)


def aim_of(request: TopologyRequest | None, tree: FlavorTree) -> Aim | None:
    """Return a topology request in the terms of a tree; ``None`` if it means nothing there."""
    constraints: Sequence[SliceConstraint] = request.constraints if request else ()
    if request and not constraints and request.slice_required is not None:
        # Without a size Kueue takes 0, which fits nowhere.
        size = request.slice_size or 0
        constraints = (SliceConstraint(topology=request.slice_required, size=size),)
    size = constraints[0].size if constraints else 1
    key, required, spread = _level(request, constraints, tree)
    level = None if key is None else tree.level(key)
    slice_level = tree.level(constraints[0].topology) if constraints else tree.depth
    if size <= 0 or level is None or slice_level is None or level > slice_level:
        return None
    layers: dict[int, int] = {}
    above = slice_level
    for outer, inner in pairwise(constraints):
        below = tree.level(inner.topology)
        if below is None or below <= above or inner.size <= 0 or outer.size % inner.size:
            return None
        layers |= dict.fromkeys(range(above + 1, below + 1), inner.size)
        above = below
    return Aim(level, required, spread, slice_level, size, layers)


def _level(
    request: TopologyRequest | None, constraints: Sequence[SliceConstraint], tree: FlavorTree
) -> tuple[str | None, bool, bool]:
    """Return the key of the level asked for, whether it is required, and if pods are spread."""
    lowest = tree.levels[-1] if tree.levels else None
    if request is None or not request.is_explicit:
        return lowest, False, True
    spread = bool(request.unconstrained)
    if request.required is not None:
        return request.required, True, spread
    if request.preferred is not None:
        return request.preferred, False, spread
    if constraints:
        return (tree.levels[0] if tree.levels else None), False, True
    return (lowest if spread else None), False, spread
