"""What is turned down before any flavor is looked at.

Source: docs/semantics/kueue.md §7.2; kueue ff69552e pkg/scheduler/scheduler.go ``nominate``,
pkg/workload/resources.go ``ValidateAdmissibility``, pkg/util/limitrange/limitrange.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from planner.quantity import to_units
from planner.quota.request import Defaults, pod_request, with_defaults
from planner.state import ClusterQueue, LimitRange, State, Workload
from planner.state.pods import PodSpec, Resources

_FAILED: Final = frozenset({"Retry", "Rejected"})


class Refusal(NamedTuple):
    """Why a head is not nominated; the first reason decides where it goes, both are Kueue's."""

    requeue_reason: str
    quota_reserved_reason: str


FAILED_CHECKS: Final = Refusal("", "PendingEvaluation")
MISCONFIGURED: Final = Refusal("", "Misconfigured")
NAMESPACE_MISMATCH: Final = Refusal("NamespaceMismatch", "Misconfigured")


def refusal_of(state: State, workload: Workload, queue: ClusterQueue) -> Refusal | None:
    """Say why the head of a ClusterQueue cannot be nominated; ``None`` if it can."""
    if any(check.state in _FAILED for check in workload.status.admission_checks):
        return FAILED_CHECKS
    refusal = namespace_refusal(state, workload, queue)
    if refusal is not None:
        return refusal
    return None if _pods_are_valid(state, workload) else MISCONFIGURED


def namespace_refusal(state: State, workload: Workload, queue: ClusterQueue) -> Refusal | None:
    """Say why the namespace of a workload keeps it out of a ClusterQueue; ``None`` if it does not.

    A dump without any Namespace says nothing of namespaces: every one is there and matches.
    """
    if not state.namespaces:
        return None
    labels = {one.metadata.name: one.metadata.labels for one in state.namespaces}
    own = labels.get(workload.metadata.namespace)
    if own is None:
        return MISCONFIGURED
    selector = queue.spec.namespace_selector  # an absent one matches nothing
    return None if selector is not None and selector.matches(own) else NAMESPACE_MISMATCH


def _pods_are_valid(state: State, workload: Workload) -> bool:
    """Say whether no pod asks for more than its limits, or leaves what a LimitRange permits."""
    namespace = workload.metadata.namespace
    defaults = Defaults.of(namespace, state.limit_ranges, state.runtime_classes)
    bounds = {kind: _bounds(state.limit_ranges, namespace, kind) for kind in ("Container", "Pod")}
    return all(
        _pod_is_valid(pods.template.spec, defaults, bounds) for pods in workload.spec.pod_sets
    )


class _Bounds(NamedTuple):
    """What a LimitRange permits, in nano-units per resource."""

    least: Mapping[str, int]
    most: Mapping[str, int]

    def admit(self, low: Mapping[str, int], high: Mapping[str, int]) -> bool:
        """Say whether amounts stay within; what is named on one side only is not compared."""
        return not (_exceeds(high, self.most) or _exceeds(self.least, low))


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


def _pod_is_valid(pod: PodSpec, defaults: Defaults, bounds: Mapping[str, _Bounds]) -> bool:
    for container in (*pod.init_containers, *pod.containers):
        found = with_defaults(container.resources, defaults.container)
        names = {*found.requests, *found.limits}
        both = {
            name: [amounts[name] for amounts in (found.requests, found.limits) if name in amounts]
            for name in names
        }
        low = {name: min(amounts) for name, amounts in both.items()}
        high = {name: max(amounts) for name, amounts in both.items()}
        if _exceeds(found.requests, found.limits) or not bounds["Container"].admit(low, high):
            return False
    whole = with_defaults(pod.resources or Resources(), defaults.pod) if pod.resources else None
    if whole is not None and _exceeds(whole.requests, whole.limits):
        return False
    total = pod_request(pod, defaults)
    return bounds["Pod"].admit(total, total)


def _exceeds(amounts: Mapping[str, int], bounds: Mapping[str, int]) -> bool:
    """Say whether an amount is above its bound, in Kueue's units, which are rounded up."""
    return any(
        name in bounds and to_units(amount, name) > to_units(bounds[name], name)
        for name, amount in amounts.items()
    )
