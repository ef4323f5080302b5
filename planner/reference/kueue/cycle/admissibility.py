"""What is turned down before any flavor is looked at, with Kueue's message.

Source: docs/semantics/kueue-features.md §1.5; kueue ff69552e pkg/scheduler/scheduler.go
``nominate``, pkg/workload/resources.go ``ValidateAdmissibility`` and
pkg/util/limitrange/limitrange.go.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from planner.quantity import to_units
from planner.quota.kueue.request import Defaults, pod_request, with_defaults
from planner.state.kueue import ClusterQueue, LimitRange, State, Workload
from planner.state.pods import Container, PodSpec

_FAILED: Final = frozenset({"Retry", "Rejected"})
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The API server puts it on every namespace; a dump written by hand may lack it."""


class Refusal(NamedTuple):
    """Why a head is not nominated, in Kueue's words; the first reason decides where it goes."""

    requeue_reason: str
    quota_reserved_reason: str
    message: str


FAILED_CHECKS: Final = Refusal("", "PendingEvaluation", "The workload has failed admission checks")
NAMESPACE_MISMATCH: Final = Refusal(
    "NamespaceMismatch",
    "Misconfigured",
    "workload namespace doesn't match ClusterQueue selector",
)

_ABOVE_LIMITS: Final = "requests must not exceed its limits"
_ABOVE_MAX: Final = "requests must not be above the limitRange max"
_BELOW_MIN: Final = "requests must not be below the limitRange min"


def refusal_of(state: State, workload: Workload, queue: ClusterQueue) -> Refusal | None:
    """Say why the head of a ClusterQueue cannot be nominated; ``None`` if it can."""
    if any(check.state in _FAILED for check in workload.status.admission_checks):
        return FAILED_CHECKS
    refusal = namespace_refusal(state, workload, queue)
    if refusal is not None:
        return refusal
    namespace = workload.metadata.namespace
    defaults = Defaults.of(namespace, state.limit_ranges, state.runtime_classes)
    pods = [
        (f"spec.podSets[{position}].template.spec", pod_set.template.spec)
        for position, pod_set in enumerate(workload.spec.pod_sets)
    ]
    above = [error for path, pod in pods for error in _above_limits(pod, path, defaults)]
    if above:
        return _misconfigured(f"resources validation failed: {_joined(above)}")
    bounds = {kind: _bounds(state.limit_ranges, namespace, kind) for kind in ("Container", "Pod")}
    outside = [error for path, pod in pods for error in _outside(pod, path, defaults, bounds)]
    if outside:
        message = f"resources didn't satisfy LimitRange constraints: {_joined(outside)}"
        return _misconfigured(message)
    return None


def namespace_refusal(state: State, workload: Workload, queue: ClusterQueue) -> Refusal | None:
    """Say why the namespace of a workload keeps it out of a ClusterQueue; ``None`` if it does not.

    A dump without any Namespace says nothing of namespaces: every one is there and matches.
    """
    if not state.namespaces:
        return None
    labels = {one.metadata.name: one.metadata.labels for one in state.namespaces}
    namespace = workload.metadata.namespace
    own = labels.get(namespace)
    if own is None:
        return _misconfigured(
            f'workload namespace "{namespace}" does not exist: namespaces "{namespace}" not found'
        )
    own = {_NAME_LABEL: namespace, **own}
    selector = queue.spec.namespace_selector  # an absent one matches nothing
    return None if selector is not None and selector.matches(own) else NAMESPACE_MISMATCH


def _misconfigured(message: str) -> Refusal:
    return Refusal("", "Misconfigured", message)


def _joined(errors: Iterable[str]) -> str:
    """Join error texts as Kubernetes does: several stand in brackets, none twice."""
    each = list(dict.fromkeys(errors))
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"


def _error(path: str, resources: Iterable[str], why: str) -> Iterator[str]:
    """Yield what Kubernetes says of some resources at a place, if there are any."""
    names = sorted(resources)
    if names:
        yield f"{path}: Invalid value: {json.dumps(names, separators=(',', ':'))}: {why}"


class _Bounds(NamedTuple):
    """What a LimitRange permits, in nano-units per resource."""

    least: Mapping[str, int]
    most: Mapping[str, int]

    def broken_by(
        self, path: str, low: Mapping[str, int], high: Mapping[str, int]
    ) -> Iterator[str]:
        """Yield what leaves the bounds; what is named on one side only is not compared."""
        yield from _error(path, _exceeding(high, self.most), _ABOVE_MAX)
        yield from _error(path, _exceeding(self.least, low), _BELOW_MIN)


def _bounds(limit_ranges: Iterable[LimitRange], namespace: str, kind: str) -> _Bounds:
    """Sum up the LimitRanges of a namespace: the highest minimum and the lowest maximum count."""
    items = [
        item
        for limit_range in limit_ranges
        if limit_range.metadata.namespace == namespace
        for item in limit_range.spec.limits
        if item.type == kind
    ]
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    for item in items:
        least |= {name: max(value, least.get(name, value)) for name, value in item.min.items()}
        most |= {name: min(value, most.get(name, value)) for name, value in item.max.items()}
    return _Bounds(least, most)


def _containers(pod: PodSpec, path: str) -> Iterator[tuple[str, Container]]:
    for field, some in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for position, container in enumerate(some):
            yield f"{path}.{field}[{position}]", container


def _above_limits(pod: PodSpec, path: str, defaults: Defaults) -> Iterator[str]:
    """Yield the containers, and the pod, that ask for more than their limits."""
    for where, container in _containers(pod, path):
        found = with_defaults(container.resources, defaults.container)
        yield from _error(where, _exceeding(found.requests, found.limits), _ABOVE_LIMITS)
    if pod.resources is not None:
        found = with_defaults(pod.resources, defaults.pod)
        where = f"{path}.resources"
        yield from _error(where, _exceeding(found.requests, found.limits), _ABOVE_LIMITS)


def _outside(
    pod: PodSpec, path: str, defaults: Defaults, bounds: Mapping[str, _Bounds]
) -> Iterator[str]:
    """Yield the containers, and the pod, that leave what the LimitRanges permit."""
    for where, container in _containers(pod, path):
        found = with_defaults(container.resources, defaults.container)
        names = {*found.requests, *found.limits}
        both = {
            name: [amounts[name] for amounts in (found.requests, found.limits) if name in amounts]
            for name in names
        }
        low = {name: min(amounts) for name, amounts in both.items()}
        high = {name: max(amounts) for name, amounts in both.items()}
        yield from bounds["Container"].broken_by(where, low, high)
    total = pod_request(pod, defaults)
    yield from bounds["Pod"].broken_by(path, total, total)


def _exceeding(amounts: Mapping[str, int], bounds: Mapping[str, int]) -> Iterator[str]:
    """Yield the resources above their bound, in Kueue's units, which are rounded up."""
    for name, amount in amounts.items():
        if name in bounds and to_units(amount, name) > to_units(bounds[name], name):
            yield name
