"""Heads that are turned down before any flavor is looked at, with Kueue's message.

Source: docs/semantics/kueue-features.md §1.5; kueue ff69552e pkg/scheduler/scheduler.go
``nominate``, pkg/workload/resources.go ``ValidateAdmissibility`` and
pkg/util/limitrange/limitrange.go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from planner.quantity import to_units
from planner.quota.kueue.request import Defaults, pod_request, with_defaults
from planner.state.kueue import ClusterQueue, LimitRange, State, Workload
from planner.state.pods import PodSpec, Resources

_FAILED: Final = frozenset({"Retry", "Rejected"})
_NAME_LABEL: Final = "kubernetes.io/metadata.name"
"""The API server puts this label on every namespace; a dump written by hand may lack it."""


class Refusal(NamedTuple):
    """Why a head is not nominated, in Kueue's words; ``requeue_reason`` decides where it waits."""

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
    rules = state.configuration.rules
    defaults = Defaults.in_namespace(namespace, state.limit_ranges, state.runtime_classes, rules)
    counted = _in_units if rules.limits_in_units else dict[str, int]
    least, most = _bounds(state.limit_ranges, namespace, "Container", counted)
    least_of_pod, most_of_pod = _bounds(state.limit_ranges, namespace, "Pod", counted)
    above: list[str] = []
    outside: list[str] = []
    for position, pod_set in enumerate(workload.spec.pod_sets):
        pod, path = pod_set.template.spec, f"spec.podSets[{position}].template.spec"
        for where, given in _containers(pod, path):
            found = with_defaults(given, defaults.container)
            rows = counted(found.requests), counted(found.limits)
            above += _above(where, *rows, _ABOVE_LIMITS)
            both = {n: [row[n] for row in rows if n in row] for row in rows for n in row}
            low, high = ({n: end(both[n]) for n in both} for end in (min, max))
            outside += _above(where, high, most, _ABOVE_MAX)
            outside += _above(where, least, low, _BELOW_MIN)
        if pod.resources is not None and defaults.pod is not None:
            found = with_defaults(pod.resources, defaults.pod)
            rows = counted(found.requests), counted(found.limits)
            above += _above(f"{path}.resources", *rows, _ABOVE_LIMITS)
        total = counted(pod_request(pod, defaults))
        outside += _above(path, total, most_of_pod, _ABOVE_MAX)
        outside += _above(path, least_of_pod, total, _BELOW_MIN)
    if above:
        return _misconfigured(f"resources validation failed: {_joined(above)}")
    if outside:
        message = f"resources didn't satisfy LimitRange constraints: {_joined(outside)}"
        return _misconfigured(message)
    return None


def namespace_refusal(state: State, workload: Workload, queue: ClusterQueue) -> Refusal | None:
    """Say why the namespace of a workload keeps it out of a ClusterQueue; ``None`` if it does not.

    A dump without any Namespace says nothing of namespaces: each is taken to exist and match. But
    an absent selector matches none, if that is how the ClusterQueue was in a cluster: a manifest,
    which has no conditions, may be cut short.
    """
    selector = queue.spec.namespace_selector  # an absent one matches nothing
    if not state.namespaces:
        nowhere = selector is None and queue.status.conditions
        return _mismatch(state) if nowhere else None
    labels = {one.metadata.name: one.metadata.labels for one in state.namespaces}
    namespace = workload.metadata.namespace
    own = labels.get(namespace)
    # Older releases say it in other words; these came along with the reasons of QuotaReserved.
    newer = state.configuration.rules.says_why_unadmitted
    if own is None:
        what = f'workload namespace "{namespace}" does not exist'
        what = what if newer else "Could not obtain workload namespace"
        return _misconfigured(f'{what}: namespaces "{namespace}" not found')
    own = {_NAME_LABEL: namespace, **own}
    if selector is not None and selector.matches(own):
        return None
    return _mismatch(state)


def _mismatch(state: State) -> Refusal:
    """Return the refusal of a namespace, in the words of the release."""
    words = NAMESPACE_MISMATCH.message
    newer = state.configuration.rules.says_why_unadmitted
    return NAMESPACE_MISMATCH if newer else NAMESPACE_MISMATCH._replace(message=f"W{words[1:]}")


def _misconfigured(message: str) -> Refusal:
    return Refusal("", "Misconfigured", message)


def _joined(errors: Iterable[str]) -> str:
    """Join error texts as Kubernetes does: several texts stand in brackets, none twice."""
    each = list(dict.fromkeys(errors))
    return each[0] if len(each) == 1 else f"[{', '.join(each)}]"


def _above(path: str, amounts: Mapping[str, int], bounds: Mapping[str, int], why: str) -> list[str]:
    """Return Kubernetes' error on the resources above their bound at a path, if there are any."""
    names = sorted(
        name for name, amount in amounts.items() if name in bounds and amount > bounds[name]
    )
    if not names:
        return []
    return [f"{path}: Invalid value: {json.dumps(names, separators=(',', ':'))}: {why}"]


def _in_units(amounts: Mapping[str, int]) -> dict[str, int]:
    """Return amounts in Kueue's units, which are rounded up."""
    return {name: to_units(amount, name) for name, amount in amounts.items()}


def _bounds(
    limit_ranges: Iterable[LimitRange],
    namespace: str,
    kind: str,
    counted: Callable[[Mapping[str, int]], dict[str, int]],
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """Sum up the LimitRanges of a namespace: the highest minimum and the lowest maximum count.

    ``counted`` makes comparable numbers of amounts.
    """
    own = (one.spec.limits for one in limit_ranges if one.metadata.namespace == namespace)
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    for item in (item for limits in own for item in limits if item.type == kind):
        least |= {name: max(value, least.get(name, value)) for name, value in item.min.items()}
        most |= {name: min(value, most.get(name, value)) for name, value in item.max.items()}
    return counted(least), counted(most)


def _containers(pod: PodSpec, path: str) -> Iterator[tuple[str, Resources]]:
    for field, some in (("initContainers", pod.init_containers), ("containers", pod.containers)):
        for position, container in enumerate(some):
            yield f"{path}.{field}[{position}]", container.resources
