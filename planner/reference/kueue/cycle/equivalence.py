"""Which pending workloads the scheduler cannot tell apart: its scheduling hash.

Source: docs/semantics/kueue.md §7.5; kueue ff69552e pkg/workload/workload.go
``computeSchedulingHash`` and pkg/util/pod/pod.go ``SpecShape``. Kueue also compares parts of pods
that decide nothing here and are not read: ports, spread constraints, preferences, and whether an
amount is written in decimal or in binary units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from planner.quota.kueue.request import Amounts, Defaults, with_defaults
from planner.quota.kueue.snapshot import Preemptor
from planner.state.pods import Container, PodSpec

Class = tuple[object, ...]


def equivalence_class(preemptor: Preemptor, defaults: Defaults) -> Class:
    """Return what two workloads share if the scheduler cannot tell them apart.

    That is the priority, and of each podset its name, its counts and its pods.
    """
    pod_sets = tuple(
        (
            request.name,
            _pod(request.pod_set.template.spec, defaults),
            request.count,
            _pairs(request.totals),
            request.pod_set.min_count,
            request.pod_set.topology_request,
        )
        for request in preemptor.pod_sets
    )
    return preemptor.priority, pod_sets


def _pod(pod: PodSpec, defaults: Defaults) -> Class:
    overhead = pod.overhead or defaults.overheads.get(pod.runtime_class_name, {})
    whole = with_defaults(pod.resources, defaults.pod) if pod.resources else Amounts()
    return (
        _containers(pod.init_containers, defaults),
        _containers(pod.containers, defaults),
        _pairs(pod.node_selector),
        pod.affinity,
        pod.tolerations,
        pod.runtime_class_name,
        _pairs(overhead),
        pod.resource_claims,
        _pairs(whole.requests),
    )


def _containers(containers: Iterable[Container], defaults: Defaults) -> Class:
    return tuple(
        _pairs(with_defaults(container.resources, defaults.container).requests)
        for container in containers
    )


def _pairs(values: Mapping[str, object]) -> frozenset[tuple[str, object]]:
    return frozenset(values.items())
