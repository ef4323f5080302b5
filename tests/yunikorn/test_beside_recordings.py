"""What recorded answers do not decide: nodes that are reserved or not there, and large amounts.

Fence, candidates, their order, the plan of each node and the choice among nodes are recorded
(``test_replay.py``, ``test_features.py``).
"""

from typing import Any

import pytest

from planner.quota.yunikorn.cluster import is_usable, prepare
from planner.reference.yunikorn.quota import preempt_quota
from planner.state.yunikorn_release import V1_9
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    asking_of,
    cluster_value,
    decided,
    queue,
    state_of,
    two_queues,
)

GPU = {"gpu": 1}
Json = dict[str, Any]


@pytest.mark.parametrize(
    ("change", "usable"),
    [
        ({}, True),
        ({"schedulable": False}, False),
        ({"capacity": {}}, False),
        ({"reservations": ["ask"]}, True),
        ({"reservations": ["other"]}, False),
        ({"reservations": ["other", "ask"]}, True),
        ({"reservations": ["stale"]}, True),
        ({"reservations": ["nonesuch"]}, False),
    ],
)
def test_usable_nodes(change: Json, *, usable: bool) -> None:
    value = two_queues(allocation("x", GPU), size=1, priority="1")
    hour = 3600
    waiting = (ask("other", GPU, 2 * hour + 2), ask("stale", GPU, 2 * hour + 3))
    value["applications"].append(application("waits", "root.low", asks=waiting))
    value["nodes"][0]["nodesInfo"][0] |= change
    cluster, asking = asking_of(value)
    assert is_usable(cluster, cluster.nodes[0], asking.ask) is usable


@pytest.mark.parametrize(
    "kept", [{"priority": "1"}, {"triggeredPreemption": True}, {"requiredNodeId": "n1"}]
)
def test_a_reservation_that_is_not_cancelled(kept: Json) -> None:
    value = two_queues(allocation("x", GPU), size=1, priority="1")
    stale = ask("stale", GPU, 10_000, **kept)
    value["applications"].append(application("waits", "root.low", asks=(stale,)))
    value["nodes"][0]["nodesInfo"][0]["reservations"] = ["stale"]
    cluster, asking = asking_of(value)
    assert not is_usable(cluster, cluster.nodes[0], asking.ask)


def test_a_required_node_that_does_not_exist() -> None:
    value = two_queues(allocation("a", GPU), size=1, guaranteed=0, requiredNodeId="none", age=0)
    assert not decided(value).triggered


def test_amounts_go_through_doubles() -> None:
    """Of 2^53 + 1 above the maximum 2^53 is to be freed, the nearest double.

    Source: yunikorn-core be3bb487, scheduler/objects/quota_preemptor.go (setPreemptableResources:
    the absolute value is taken of a double).
    """
    running = [allocation("all", {"gpu": 2**53 + 1}), allocation("one", GPU)]
    queues = [queue("a", max=GPU, quota_preemption_delay="10s")]
    switch = {"quotapreemptionenabled": True}
    value = cluster_value(queues, [], [application("1", "root.a", *running)], preemption=switch)
    found = preempt_quota(prepare(state_of(value)).tree.by_path["root.a"], {}, V1_9)
    assert (found.amount, [one.key for one in found.victims]) == ({"gpu": 2**53}, ["one"])
