"""What Kueue writes on a workload that has no place, in its own words.

Source: docs/semantics/kueue-topology.md §4 to §5; kueue ff69552e
pkg/cache/scheduler/tas_flavor_snapshot.go ``notFitMessage``, ``multiLayerNotFitMessage``,
``buildSliceSizeAtLevel``; pkg/resources/resource_formatter.go.
"""

from typing import Any

import pytest

from planner.reference.kueue.eligibility import kubernetes_amount
from planner.state.kueue_topology import HOST
from tests.cluster import Object
from tests.reference.topology.racks import RACK, decided, flavor, node, pods, room, topology, waits
from tests.told import told

BLOCK = "block"
BLOCKS = [*topology(BLOCK, RACK, HOST), *flavor()]


def in_block(name: str, block: str, gpus: int) -> list[Object]:
    return node(name, f"{block}-rack", labels={BLOCK: block}, gpu=gpus)


def message(cluster: list[Object], count: int, **asked: Any) -> str:
    return decided(cluster, room(), waits(pods("main", count, {"gpu": 1}, asked))).assigned.message


@pytest.mark.parametrize(
    "constraints",
    [
        [{"topology": BLOCK, "size": 0}],
        [{"topology": HOST, "size": 4}, {"topology": RACK, "size": 2}],
        [{"topology": RACK, "size": 4}, {"topology": HOST, "size": 3}],
    ],
)
def test_slices_that_mean_nothing_are_refused(constraints: list[Object]) -> None:
    cluster = [*BLOCKS, *in_block("n1", "a", 4)]
    asked = {"podsetSliceRequiredTopologyConstraints": constraints}
    told(message(cluster, 4, required=BLOCK, **asked))


def two_groups(gpus: dict[str, int], cpus: dict[str, int]) -> list[Object]:
    """Return a queue of two resource groups, each with its nominal quota by flavor, and nodes."""
    (there, local) = room()
    there["spec"]["resourceGroups"] = [
        {
            "coveredResources": [resource],
            "flavors": [
                {"name": name, "resources": [{"name": resource, "nominalQuota": amount}]}
                for name, amount in quotas.items()
            ],
        }
        for resource, quotas in (("gpu", gpus), ("cpu", cpus))
    ]
    taints = [{"key": "reserved", "effect": "NoSchedule"}]
    flavors = [
        part
        for name in {**gpus, **cpus}
        for part in flavor(name, nodeTaints=taints if name == "tainted" else [])
    ]
    return [*topology(), *flavors, *node("a", "r", gpu=4, cpu=4), there, local]


BOTH = {"gpu": 1, "cpu": 1}


def test_two_flavors_with_places_are_named() -> None:
    """Two resource groups, and each of them places the pods."""
    asks = waits(pods("main", 1, BOTH, {"required": HOST}))
    found = decided(two_groups({"two": 9}, {"one": 9}), asks)
    told(found.assigned.message)


@pytest.mark.parametrize(
    ("gpus", "cpus", "count", "expected"),
    [
        ({"two": 9}, {"one": 9}, 1, ""),  # nothing was refused on the way
        ({"small": 0, "two": 9}, {"one": 9}, 1, "ExceedsMaxQuota"),
        ({"small": 0, "two": 9}, {"little": 0, "one": 9}, 1, "ExceedsMaxQuota"),
        ({"tainted": 9, "two": 9}, {"little": 0, "one": 9}, 1, "NoMatchingFlavor"),
        # Of alternatives in one group the mildest reason counts, of the groups the severest.
        ({"tainted": 9, "small": 0, "two": 9}, {"one": 9}, 1, "ExceedsMaxQuota"),
        # One flavor for both, on whose nodes five pods have no place, mildest of all reasons.
        ({"small": 0, "one": 9}, {"one": 9}, 5, "TopologyPlacementFailed"),
        ({"one": 9}, {"little": 0, "one": 9}, 5, "TopologyPlacementFailed"),
    ],
)
def test_flavors_refused_on_the_way_are_the_reason(
    gpus: dict[str, int], cpus: dict[str, int], count: int, expected: str
) -> None:
    """Kueue ff69552e flavorassigner.go ``resolveNoFitReason``: all attempts of the podset."""
    found = decided(two_groups(gpus, cpus), waits(pods("main", count, BOTH, {"required": HOST})))
    assert (found.assignment.mode, found.assigned.reason) == ("NoFit", expected)


@pytest.mark.parametrize("listed", [[], ["default"]])
def test_who_gets_no_flavor_with_places_is_told_why(listed: list[str]) -> None:
    """Nothing is asked for, so that no flavor is assigned; and the queue may have none anyway.

    Kueue ff69552e pkg/scheduler/flavorassigner/tas_flavorassigner.go ``podSetTopologyRequest``.
    """
    (there, local) = room()
    groups = there["spec"]["resourceGroups"]
    there["spec"]["resourceGroups"] = groups if listed else []
    asks = waits(pods("main", 1, {}, {"required": HOST}))
    found = decided([*topology(), *flavor(), *node("a", "r", gpu=4), there, local], asks)
    assert found.assignment.mode == "NoFit"
    told(found.assigned.message)


@pytest.mark.parametrize(
    ("units", "resource", "shown"),
    [
        (1000, "memory", "1k"),
        (-1000, "ephemeral-storage", "-1k"),
        (1023, "memory", "1023"),
        (1024, "memory", "1Ki"),
        (1_024_000, "hugepages-2Mi", "1000Ki"),
        (1024, "gpu", "1024"),
        (2_000_000, "cpu", "2k"),
        (0, "memory", "0"),
    ],
)
def test_fewer_bytes_than_a_ki_have_decimal_suffixes(units: int, resource: str, shown: str) -> None:
    """Apimachinery, pkg/api/resource/quantity.go ``CanonicalizeBytes``."""
    assert kubernetes_amount(units, resource) == shown
