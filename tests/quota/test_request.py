"""What a pending workload asks for: docs/semantics/kueue.md §2.2."""

from typing import Any

import pytest

from planner.quantity import NANO
from planner.quota.kueue.request import Defaults, pod_request, pod_set_requests
from planner.state.kueue import Configuration, LimitRange, Workload
from planner.state.kueue_release import NEWEST, find_release
from planner.state.pods import PodSpec

NONE = Defaults()


def box(requests: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a container with requests; ``limits`` and ``restartPolicy`` may be given."""
    resources = {"requests": requests or {}, "limits": more.pop("limits", {})}
    return {"name": "c", "resources": resources, **more}


def sidecar(**requests: Any) -> dict[str, Any]:
    return box(requests, restartPolicy="Always")


def per_pod(spec: dict[str, Any], defaults: Defaults = NONE) -> dict[str, float]:
    """Return the request of a pod in whole units."""
    exact = pod_request(PodSpec.model_validate(spec), defaults)
    return {name: nano / NANO for name, nano in exact.items()}


def totals(
    spec: dict[str, Any], count: int = 1, *, defaults: Defaults = NONE, **configuration: Any
) -> dict[str, int]:
    """Return the request of a podset in Kueue's units."""
    workload = Workload.model_validate(
        {
            "metadata": {"name": "w", "namespace": "ns"},
            "spec": {"podSets": [{"name": "main", "count": count, "template": {"spec": spec}}]},
        }
    )
    settings = Configuration.model_validate(configuration)
    (request,) = pod_set_requests(workload, settings, defaults)
    return dict(request.totals)


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ([box({"cpu": 2})], 3),  # runs alone, before the 3 of the containers
        ([box({"cpu": 5})], 5),
        ([box({"cpu": 5}), box({"cpu": 4})], 5),  # one after the other
        ([sidecar(cpu=1)], 4),  # keeps running beside them
        ([sidecar(cpu=1), box({"cpu": 5})], 6),  # declared before: runs beside it
        ([box({"cpu": 5}), sidecar(cpu=1)], 5),  # declared after: does not
        ([sidecar(cpu=1), sidecar(cpu=2), box({"cpu": 1})], 6),
    ],
)
def test_init_containers_and_sidecars(init: list[dict[str, Any]], cpu: int) -> None:
    assert per_pod({"containers": [box({"cpu": 3})], "initContainers": init}) == {"cpu": cpu}


def test_pod_level_requests_replace_the_sum_of_what_they_may_name() -> None:
    spec = {
        "containers": [box({"cpu": 1, "memory": 7, "gpu": 2})],
        "resources": {
            "requests": {"cpu": 3, "gpu": 9, "hugepages-2Mi": 4},
            "limits": {"memory": 5},
        },
        "overhead": {"cpu": 1},
    }
    assert per_pod(spec) == {"cpu": 4, "memory": 5, "gpu": 2, "hugepages-2Mi": 4}


def limit_range(namespace: str, kind: str, **fields: Any) -> LimitRange:
    return LimitRange.model_validate(
        {
            "metadata": {"name": "r", "namespace": namespace},
            "spec": {"limits": [{"type": kind, **fields}]},
        }
    )


def test_limit_ranges_of_the_namespace_give_defaults() -> None:
    ranges = [
        limit_range("other", "Container", defaultRequest={"cpu": 99}),
        limit_range("ns", "Container", defaultRequest={"cpu": 2, "memory": 6}),
        limit_range("ns", "Container", defaultRequest={"cpu": 50}),  # the first value counts
    ]
    defaults = Defaults.in_namespace("ns", ranges, [], NEWEST.rules)
    spec = {
        "containers": [box(), box({"cpu": 1, "memory": 1})],
        "initContainers": [box({"cpu": 1})],
    }
    assert per_pod(spec, defaults) == {"cpu": 3, "memory": 7}


def test_pod_defaults_apply_where_the_pod_says_something_of_its_own() -> None:
    defaults = Defaults.in_namespace(
        "ns", [limit_range("ns", "Pod", defaultRequest={"memory": 7})], [], NEWEST.rules
    )
    spec: dict[str, Any] = {"containers": [box({"cpu": 1})]}
    assert per_pod(spec, defaults) == {"cpu": 1}
    spec["resources"] = {"requests": {"cpu": 3}}
    assert per_pod(spec, defaults) == {"cpu": 3, "memory": 7}


@pytest.mark.parametrize("release", ["0.15.8", "0.16.9", "0.17.6", "0.18.2", "0.17.7", "0.18.3"])
def test_older_releases_take_whole_pods_by_their_word(release: str) -> None:
    """Requests for whole pods replace the sum on all; neither limits nor defaults stand in before.

    Kueue v0.17.6 and v0.18.2 pkg/workload/resources.go ``AdjustResources`` complete containers
    only; the sum is that of Kubernetes' ``PodRequests``, which reads whole pods since 1.34.
    """
    ranges = [limit_range("ns", "Pod", defaultRequest={"memory": 7}, default={"cpu": 8})]
    defaults = Defaults.in_namespace("ns", ranges, [], find_release(release).rules)
    completes = release in {"0.17.7", "0.18.3"}
    spec: dict[str, Any] = {"containers": [box({"cpu": 1, "memory": 2, "gpu": 1})]}
    whole = {"requests": {"cpu": 3, "gpu": 9}}
    assert per_pod({**spec, "resources": whole}, defaults) == {
        "cpu": 3,
        "memory": 7 if completes else 2,
        "gpu": 1,
    }
    # With limits alone, the containers' own sum counts before.
    assert per_pod({**spec, "resources": {"limits": {"cpu": 5, "memory": 9}}}, defaults) == {
        "cpu": 5 if completes else 1,
        "memory": 7 if completes else 2,
        "gpu": 1,
    }


def transform(strategy: str, outputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    rule = {"input": "gpu", "strategy": strategy, "outputs": outputs, **more}
    return {"transformations": [rule]}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (transform("Retain", {"credits": 3}), {"gpu": 2, "cpu": 1000, "credits": 6}),
        (transform("Replace", {"credits": 3}), {"cpu": 1000, "credits": 6}),
        (transform("Replace", {"cpu": "500m"}), {"cpu": 2000}),  # added to what is asked for
        (transform("Replace", {"credits": "300m"}), {"cpu": 1000, "credits": 1}),  # 0.6, up
        (transform("Replace", {"credits": -4}), {"cpu": 1000, "credits": 0}),
        (transform("Retain", {"cpu": -4}), {"gpu": 2, "cpu": 1000}),  # takes nothing away
        (transform("Replace", {}), {"cpu": 1000}),
        (transform("Replace", {"credits": 3}, multiplyBy="cpu"), {"cpu": 1000, "credits": 6}),
        (transform("Replace", {"credits": 3}, multiplyBy="gone"), {"cpu": 1000, "credits": 6}),
        (transform("Replace", {"credits": 3}, multiplyBy="gpu"), {"cpu": 1000, "credits": 12}),
    ],
)
def test_transformations(settings: dict[str, Any], expected: dict[str, int]) -> None:
    """Each pod asks for 2 gpus and 1 core."""
    assert totals({"containers": [box({"gpu": 2, "cpu": 1})]}, resources=settings) == expected


def test_scaling_divides_first() -> None:
    """10 for 3 pods are 3 each; at 2 pods 6, at 5 pods 15. No pods are left as they are."""
    workload = Workload.model_validate(
        {
            "metadata": {"name": "w"},
            "spec": {
                "podSets": [{"count": 3, "template": {"spec": {"containers": [box({"gpu": 4})]}}}]
            },
        }
    )
    (request,) = pod_set_requests(workload, Configuration(), NONE)
    assert (request.count, request.spec_count, dict(request.totals)) == (3, 3, {"gpu": 12})
    uneven = type(request)(request.pod_set, 3, {"gpu": 10})
    assert dict(uneven.scaled(2).totals) == {"gpu": 6}
    assert dict(uneven.scaled(5).totals) == {"gpu": 15}
    assert dict(uneven.scaled(3).totals) == {"gpu": 10}
    none = type(request)(request.pod_set, 0, {"gpu": 0})
    assert none.scaled(3) is none
