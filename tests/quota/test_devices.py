"""What pods take for devices: docs/semantics/kueue-features.md §4, rule by rule."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, take_snapshot
from planner.reference.kueue.cycle.run import run_cycle
from tests.cluster import PENDING, Object, configuration, pending, queue, state_of
from tests.reference.cycles import with_pod
from tests.told import told

MAPPED: Object = {
    "resources": {
        "deviceClassMappings": [
            {"name": "gpus", "deviceClassNames": ["big", "small"]},
            {"name": "never", "deviceClassNames": ["big"]},
        ]
    }
}
API = "resource.k8s.io/v1"


def exactly(name: str = "big", count: int = 1, mode: str = "ExactCount", **more: Any) -> Object:
    request = {"deviceClassName": name, "count": count, "allocationMode": mode, **more}
    return {"name": "r", "exactly": request}


def template(*requests: Object, name: str = "t", namespace: str = "ns") -> list[Object]:
    metadata = {"name": name, "namespace": namespace}
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return [
        {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}
    ]


def device_class(
    name: str, extended: str = "", created: str = "2026-01-01T00:00:00Z", **spec: Any
) -> list[Object]:
    spec |= {"extendedResourceName": extended} if extended else {}
    metadata = {"name": name, "creationTimestamp": created}
    return [{"apiVersion": API, "kind": "DeviceClass", "metadata": metadata, "spec": spec}]


def claims(*templates: str) -> list[Object]:
    return [{"name": one, "resourceClaimTemplateName": one} for one in templates]


def preemptor(
    *parts: Iterable[Object], pods: Object | None = None, release: str = "main", **more: Any
) -> Preemptor:
    """Return the pending workload of 4 pods that ask for one CPU each, and what ``pods`` says."""
    parts_of_it = with_pod(pending("q", {"cpu": 1}), **(pods or {}))
    (workload,) = parts_of_it
    workload["spec"]["podSets"][0]["count"] = 4
    workload |= {"status": more} if more else {}
    state = state_of(queue("q", {"cpu": 9, "gpus": 9}), [workload], *parts, release=release)
    return find_preemptor(state, take_snapshot(state), PENDING)


def asked(found: Preemptor) -> Mapping[str, int]:
    assert found.rejection == ""
    return {name: amount for name, amount in found.pod_sets[0].totals.items() if name != "cpu"}


def mapped(**gates: bool) -> list[Object]:
    return configuration(**MAPPED, featureGates=gates)


CLAIM = {"resourceClaims": claims("t")}


@pytest.mark.parametrize("release", ["0.18.0", "0.18.6", "0.19.2"])
def test_access_for_administrators_is_rejected_up_to_0_19(release: str) -> None:
    """Kueue v0.19.2 pkg/dra/claims.go ``countDevicesPerClass``."""
    there = template(exactly(), exactly(adminAccess=True))
    told(preemptor(there, mapped(), pods=CLAIM, release=release).rejection)


@pytest.mark.parametrize("field", ["constraints", "config"])
def test_claims_with_conditions_are_rejected_before_0_18_2(field: str) -> None:
    """Kueue v0.18.1 pkg/dra/claims.go ``countDevicesPerClass``, and v0.18.2."""
    (there,) = template(exactly())
    there["spec"]["spec"]["devices"][field] = [{"requests": ["r"]}]
    refused = preemptor([there], mapped(), pods=CLAIM, release="0.18.1").rejection
    told(refused)
    assert asked(preemptor([there], mapped(), pods=CLAIM, release="0.18.2")) == {"gpus": 4}


@pytest.mark.parametrize(
    "request_",
    [
        exactly(mode="All"),
        exactly(mode=""),
        {"name": "r", "firstAvailable": []},
        {"name": "r"},
        exactly("unheard-of"),
    ],
)
def test_what_is_rejected(request_: Object) -> None:
    told(preemptor(template(request_), mapped(), pods=CLAIM).rejection)


@pytest.mark.parametrize("names", [("gpu.example.com", "nic.example.com"), ("foobar", "")])
def test_of_two_classes_without_a_mapping_the_first_by_hash_is_named(names: Sequence[str]) -> None:
    """As Kueue walks them (§4): ``foobar`` before nothing, and nic before gpu."""
    for ordered in (names, names[::-1]):
        rejection = preemptor(template(*map(exactly, ordered)), mapped(), pods=CLAIM).rejection
        told(rejection)


def test_a_ready_made_claim_and_a_missing_template_are_rejected() -> None:
    ready = {"resourceClaims": [{"name": "c", "resourceClaimName": "c"}]}
    told(preemptor(mapped(), pods=ready).rejection)
    elsewhere = template(exactly(), namespace="other")
    assert '"t" not found' in preemptor(elsewhere, mapped(), pods=CLAIM).rejection


def test_with_the_gate_off_claims_are_rejected_or_free() -> None:
    there = template(exactly())
    off = {"KueueDRAIntegration": False}
    told(preemptor(there, mapped(**off), pods=CLAIM).rejection)
    lenient = mapped(**off, KueueDRARejectWorkloadsWhenDRADisabled=False)
    assert asked(preemptor(there, lenient, pods=CLAIM)) == {}


def test_a_rejected_workload_is_not_queued() -> None:
    workload = with_pod(pending("q", {"cpu": 1}), **CLAIM)
    cycle = run_cycle(state_of(queue("q", {"cpu": 9}), workload, mapped()))
    assert cycle.entries == ()
    assert PENDING in cycle.not_queued


def container(amount: object, **more: Any) -> Object:
    return {"name": "c", "resources": {"requests": {"example.com/gpu": amount}}, **more}


def extended(*containers: Object, init: Iterable[Object] = ()) -> Object:
    return {"containers": list(containers), "initContainers": list(init)}


@pytest.mark.parametrize(("release", "name"), [("0.19.0", "gpus"), ("0.19.1", "example.com/gpu")])
def test_a_mapped_class_counts_before_0_19_1(release: str, name: str) -> None:
    """Kueue v0.19.0 pkg/dra/extended_resources.go ``resolveContainerExtendedResources``."""
    older = device_class("big", "example.com/gpu")
    newer = device_class("other", "example.com/gpu", "2026-02-01T00:00:00Z")
    found = preemptor(older, newer, mapped(), pods=extended(container(1)), release=release)
    assert asked(found) == {name: 4}


@pytest.mark.parametrize(("release", "expected"), [("0.19.1", 8), ("0.19.2", 12)])
def test_two_extended_resources_of_one_name(release: str, expected: int) -> None:
    """Kueue v0.19.1 pkg/dra/extended_resources.go ``ResolveExtendedResourceQuota``, and v0.19.2.

    An init container asks for 2 of one, the container for 1 of the other, and both are gpus: the
    larger counts, or the sum; for 4 pods.
    """
    behind = *device_class("big", "example.com/gpu"), *device_class("small", "example.com/nic")
    other = {"name": "c", "resources": {"requests": {"example.com/nic": 1}}}
    pods = extended(other, init=[container(2)])
    assert asked(preemptor(behind, mapped(), pods=pods, release=release)) == {"gpus": expected}


def test_fractions_of_devices_are_rejected() -> None:
    pods = extended(container("500m"), container("500m"))
    found = preemptor(device_class("big", "example.com/gpu"), mapped(), pods=pods)
    told(found.rejection)


def counting(**gates: bool) -> list[Object]:
    source = {"counter": {"driver": "d", "name": "memory"}}
    mapping = {"name": "gpu-memory", "deviceClassNames": ["big"], "sources": [source]}
    return configuration(resources={"deviceClassMappings": [mapping]}, featureGates=gates)


def devices(*values: object, generation: int = 1, of: int = 1, name: str = "s") -> list[Object]:
    some = [
        {"name": f"d{n}", "consumesCounters": [{"counters": {"memory": {"value": value}}}]}
        for n, value in enumerate(values)
    ]
    pool = {"name": "p", "generation": generation, "resourceSliceCount": of}
    spec = {"driver": "d", "pool": pool, "devices": some}
    return [{"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": spec}]


def test_counters_are_charged_by_the_largest_device() -> None:
    """2 devices at 5 each, for 4 pods; without the gate the devices themselves count."""
    there = [*template(exactly(count=2)), *device_class("big"), *devices(3, 5)]
    assert asked(preemptor(there, counting(), pods=CLAIM)) == {"gpu-memory": 40}
    off = counting(KueueDRAIntegrationPartitionableDevices=False)
    assert asked(preemptor(there, off, pods=CLAIM)) == {"gpu-memory": 8}


def test_only_whole_pools_of_the_newest_generation_count() -> None:
    asks = [*template(exactly()), *device_class("big")]
    old_and_new = [*devices(9), *devices(2, generation=2, name="n")]
    assert asked(preemptor(asks, old_and_new, counting(), pods=CLAIM)) == {"gpu-memory": 8}
    torn = devices(9, of=2)
    assert "insufficient matching" in preemptor(asks, torn, counting(), pods=CLAIM).rejection


def test_too_few_devices_are_rejected_for_now() -> None:
    there = [*template(exactly(count=3)), *device_class("big"), *devices(3, 5)]
    found = preemptor(there, counting(), pods=CLAIM)
    told(found.rejection)


RECORDED = [{"name": "main", "resources": {"cpu": "4", "gpus": "28"}}]


@pytest.mark.parametrize(
    "parts",
    [
        [mapped()],
        [template(exactly())],
        [template(exactly()), counting()],
        [template(exactly()), counting(), device_class("big")],
    ],
)
def test_what_the_dump_lacks_is_taken_from_what_kueue_recorded(parts: list[list[Object]]) -> None:
    found = preemptor(*parts, pods=CLAIM, resourceRequests=RECORDED)
    assert asked(found) == {"gpus": 28}
    told(found.notes[0])


def test_selectors_are_not_evaluated_and_that_is_said() -> None:
    cel = [{"cel": {"expression": "device.driver == 'd'"}}]
    there = [*template(exactly(selectors=cel)), *device_class("big"), *devices(5)]
    plain = preemptor(there, mapped(), pods=CLAIM)
    assert asked(plain) == {"gpus": 4}
    told(plain.notes[0])
    counted = preemptor(there, counting(), pods=CLAIM)
    told(counted.notes[0])
    known = preemptor(there, counting(), pods=CLAIM, resourceRequests=RECORDED)
    assert asked(known) == {"gpus": 28}
