"""Topologies, nodes and pods as they are read, and where pods are in either encoding."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import SchemaError
from planner.state.kueue_topology import HOST, TopologyAssignment
from tests.reference.topology.racks import node, pod, runs, state_of, topology

SLICES = [
    {
        "domainCount": 2,
        "valuesPerLevel": [
            {"universal": "ra"},
            {"individual": {"prefix": "n", "roots": ["0", "1"], "suffix": "-x"}},
        ],
        "podCounts": {"universal": 3},
    },
    {
        "domainCount": 1,
        "valuesPerLevel": [{"universal": "rb"}, {"individual": {"roots": ["n7"]}}],
        "podCounts": {"individual": [1]},
    },
]


def test_both_encodings_stand_for_the_same_list() -> None:
    """docs/semantics/kueue-topology.md §1.1."""
    domains = [
        {"values": ["ra", "n0-x"], "count": 3},
        {"values": ["ra", "n1-x"], "count": 3},
        {"values": ["rb", "n7"], "count": 1},
    ]
    expected = [(("ra", "n0-x"), 3), (("ra", "n1-x"), 3), (("rb", "n7"), 1)]
    levels = ["rack", HOST]
    for value in ({"levels": levels, "domains": domains}, {"levels": levels, "slices": SLICES}):
        assert list(TopologyAssignment.model_validate(value).places()) == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"domainCount": 3}, "a value for each of its 3 domains"),
        ({"podCounts": {"individual": [1]}}, "a value for each of its 2 domains"),
        ({"domainCount": 100_001}, "domainCount"),
        ({"domainCount": -1}, "domainCount"),
    ],
)
def test_an_assignment_that_is_too_short_or_too_long(change: Any, message: str) -> None:
    (workload,) = runs("v", {"gpu": 1}, {"n1": 1})
    assigned = workload["status"]["admission"]["podSetAssignments"][0]
    assigned["topologyAssignment"] = {"levels": [HOST], "slices": [{**SLICES[0], **change}]}
    with pytest.raises(SchemaError, match=message):
        state_of([workload])


def test_what_is_kept_of_nodes_and_pods() -> None:
    state = state_of(
        topology(),
        node("n1", "ra", gpu=4),
        node("n2", ready="False"),
        pod("mine", "n1", gpu=1),
        pod("placed", "n1", placed=True),
        pod("over", "n1", phase="Failed"),
        pod("nowhere", ""),
    )
    assert [one.levels for one in state.topologies] == [("rack", HOST)]
    assert [one.is_usable for one in state.nodes] == [True, False]
    assert [one.metadata.name for one in state.pods if one.holds_its_node] == ["mine"]
