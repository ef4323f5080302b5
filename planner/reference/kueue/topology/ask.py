"""What a podset asks of the nodes of a flavor: how many pods of which shape, at which level.

Source: docs/semantics/kueue-topology.md §3.2, §3.3 and §5.1; kueue ff69552e
pkg/scheduler/flavorassigner/tas_flavorassigner.go, pkg/cache/scheduler/tas_flavor_snapshot.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct

from planner.quota.kueue.request import PODS
from planner.quota.kueue.topology import FlavorTree
from planner.state.kueue import Workload
from planner.state.kueue_workload import PodSet, SliceConstraint, TopologyRequest
from planner.state.pods import PodSpec


class Manner(Enum):
    """How strictly a level is meant."""

    REQUIRED = "required"
    PREFERRED = "preferred"
    UNCONSTRAINED = "unconstrained"


class Ask(Struct, frozen=True):
    """A podset that is to be placed on the nodes of one flavor.

    ``own`` is what one pod asks for in Kueue's units, ``amounts`` adds its one of ``pods``.
    ``request`` is absent where placement is implied. ``workload`` is the key of the workload,
    ``uid`` its UID. ``clash`` says which update by an admission check contradicts the pods.
    """

    name: str
    count: int
    flavor: str
    own: Mapping[str, int]
    pod: PodSpec
    request: TopologyRequest | None = None
    workload: str = ""
    uid: str = ""
    clash: str = ""

    @property
    def amounts(self) -> Mapping[str, int]:
        """What one pod takes on its leaf."""
        return {**self.own, PODS: self.own.get(PODS, 0) + 1}

    @property
    def group(self) -> str:
        """The group of podsets that are placed together; empty for a podset without a group."""
        return self.request.pod_set_group_name if self.request else ""


class Aim(NamedTuple):
    """A request in the terms of one tree: places of levels, sizes of slices.

    ``level`` is R of §5.1, ``slice_level`` S; ``layers`` has for levels below S the size of which
    a domain's pods are a multiple; ``constraints`` are the layers as written, the outer one first.
    ``spread`` says that domains with the least room come first, where the gates permit (§5.3).
    """

    level: int
    manner: Manner
    spread: bool
    slice_level: int
    size: int
    layers: Mapping[int, int]
    constraints: Sequence[SliceConstraint]


class Misfit(NamedTuple):
    """Why podsets cannot be placed, in Kueue's words."""

    text: str


def constraints_of(request: TopologyRequest | None) -> Sequence[SliceConstraint]:
    """Return the layers of slices that a request names, the outer one first."""
    if request is None:
        return ()
    if request.constraints:
        return request.constraints
    if request.slice_required is None:
        return ()
    # Without a size Kueue takes 0, which fits nowhere (§5.1).
    return (SliceConstraint(topology=request.slice_required, size=request.slice_size or 0),)


def level_of(request: TopologyRequest | None, levels: Sequence[str]) -> tuple[str | None, Manner]:
    """Return the level that a request names, and how strictly it is meant (§3.2).

    The level need not be one of the topology.
    """
    lowest = levels[-1] if levels else None
    if request is None or not request.is_explicit:
        return lowest, Manner.UNCONSTRAINED
    # A required level stays required with "unconstrained" beside it; a preferred one does not.
    if request.required is not None:
        return request.required, Manner.REQUIRED
    manner = Manner.UNCONSTRAINED if request.unconstrained else Manner.PREFERRED
    if request.preferred is not None:
        return request.preferred, manner
    # Slices without a level of their own may go anywhere: the highest level is asked for.
    if constraints_of(request):
        return (levels[0] if levels else None), Manner.UNCONSTRAINED
    return (lowest if request.unconstrained else None), manner


def has_levels(request: TopologyRequest, levels: Sequence[str]) -> bool:
    """Say whether all levels that a podset names are levels of a topology (§3.1)."""
    key, _ = level_of(request, levels)
    return all(one in levels for one in (key, *(one.topology for one in constraints_of(request))))


def aim_of(ask: Ask, tree: FlavorTree) -> Aim | Misfit:
    """Return a request in the terms of a tree, or why it has no meaning there (§5.1)."""
    constraints = constraints_of(ask.request)
    size = constraints[0].size if constraints else 1
    if ask.clash or size <= 0:
        return Misfit(ask.clash or "slice topology requested, but slice size not provided")
    key, manner = level_of(ask.request, tree.levels)
    level = None if key is None else tree.level(key)
    if level is None:
        none = "topology level not specified"
        return Misfit(none if key is None else f"no requested topology level: {key}")
    slice_key = constraints[0].topology if constraints else tree.levels[-1]
    slice_level = tree.level(slice_key)
    if slice_level is None:
        return Misfit(f"no requested topology level for slices: {slice_key}")
    if level > slice_level:
        return Misfit(f"podset slice topology {slice_key} is above the podset topology {key}")
    layers = _layers(tree, constraints, slice_level)
    if not (isinstance(layers, Misfit) or ask.pod.has_valid_affinity):
        # One term that cannot be evaluated is enough, even where leaves are not nodes.
        layers = Misfit("invalid affinity node selectors")
    if isinstance(layers, Misfit):
        return layers
    spread = manner is Manner.UNCONSTRAINED or bool(ask.request and ask.request.unconstrained)
    return Aim(level, manner, spread, slice_level, size, layers, constraints)


def _layers(
    tree: FlavorTree, constraints: Sequence[SliceConstraint], slice_level: int
) -> dict[int, int] | Misfit:
    """Return for levels below the outer slices the size of which a domain's pods are a multiple."""
    layers: dict[int, int] = {}
    above = slice_level
    for outer, inner in pairwise(constraints):
        level, layer = tree.level(inner.topology), "additional slice layer"
        if level is None:
            return Misfit(f"no requested topology level for {layer}: {inner.topology}")
        if level <= above:
            below = f"must be at a lower level than {tree.levels[above]}"
            return Misfit(f"{layer} topology {inner.topology} {below}")
        if inner.size <= 0 or outer.size % inner.size:
            sizes = f"size {inner.size} must evenly divide parent layer size {outer.size}"
            return Misfit(f"{layer} {sizes}")
        layers |= dict.fromkeys(range(above + 1, level + 1), inner.size)
        above = level
    return layers


def pod_of(workload: Workload, spec: PodSet) -> tuple[PodSpec, str]:
    """Return the pods of a podset with what ready admission checks add to them (§4.1).

    The text says in Kueue's words what contradicts what is there already; it is empty where
    nothing does.
    """
    pod = spec.template.spec
    updates = [
        update
        for check in workload.status.admission_checks
        if check.state == "Ready"
        for update in check.updates
        if update.name == spec.name
    ]
    if not updates:
        return pod, ""
    metadata, selector = spec.template.metadata, dict(pod.node_selector)
    annotations, labels = dict(metadata.annotations), dict(metadata.labels)
    tolerations = pod.tolerations
    for update in updates:
        for field, own, more in (
            ("annotations", annotations, update.annotations),
            ("labels", labels, update.labels),
            ("nodeSelector", selector, update.node_selector),
        ):
            for key, value in more.items():
                if own.setdefault(key, value) != value:
                    both = f"key={key}, value1={own[key]}, value2={value}"
                    error = f"invalid admission check PodSetUpdate: conflict for {field}"
                    invalid = f"invalid podSetUpdate for PodSet {spec.name}"
                    return pod, f"{invalid}, error: {error}: conflict for {both}"
        tolerations += update.tolerations
    return pod.model_copy(update={"node_selector": selector, "tolerations": tolerations}), ""
