"""Why an allocation may go, or may not: the first law that decides, in words."""

import pytest

from planner.errors import LookupFailed, SchemaError
from tests.commands.explain.yunikorn.inquire import explained
from tests.told import told
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    two_queues,
)

MODEST = (
    "queue root.modest is not over its guaranteed: queue root.modest uses 0 of 9 gpu guaranteed"
)
OPTED_OUT: Json = {"allowPreemptSelf": False}


def city() -> Json:
    """Build nodes that are full or out of use; an ask of priority 10 wants 2 GPUs.

    On n1 three of ``root.low`` run, of which the ask can have two.
    """
    worth = {"priority": "3"}
    pod = {"kubernetes.io/meta/namespace": "crawl", "kubernetes.io/meta/podName": "spider"}
    return cluster_value(
        [
            queue("low", guaranteed={"gpu": 1}),
            queue("high", guaranteed={"gpu": 8}),
            queue("modest", guaranteed={"gpu": 9}),
            queue("closed", preemption_policy="disabled"),
            queue("team", queue("inner"), priority_offset="5"),
        ],
        [
            node("n1", {"gpu": 4, "ink": 9}),
            node("n2", {"gpu": 4}, schedulable=False),
            node("n3", {"gpu": 2}),
            node("n4", {"gpu": 1}),
        ],
        [
            application(
                "a",
                "root.low",
                allocation("new", {"gpu": 1}, 10, allocationTags=pod, **worth),
                allocation("old", {"gpu": 1}, 30, **worth),
                allocation("first", {"gpu": 1}, 20, originator=True, **worth),
                allocation("last", {"gpu": 1}, 5, x=OPTED_OUT, **worth),
                allocation("ink", {"ink": 1}, 7, **worth),
                allocation("daemon", {"gpu": 0}, 7, requiredNodeId="n1", **worth),
                allocation("going", {"gpu": 0}, 7, preempted=True, **worth),
                allocation("parked", {"gpu": 4}, 7, on="n2", **worth),
                allocation("cramped", {"gpu": 1}, 7, on="n3", **worth),
                allocation("small", {"gpu": 1}, 7, on="n4", **worth),
            ),
            application("b", "root.high", allocation("own", {"gpu": 0}, 7), asks=(ASK,)),
            application("c", "root.modest", allocation("kept", {"gpu": 0}, 7)),
            application("d", "root.closed", allocation("shut", {"gpu": 0}, 7)),
            application(
                "e", "root.team.inner", allocation("worthy", {"gpu": 1}, 7, on="n3", priority="6")
            ),
        ],
    )


ASK = ask("ask", {"gpu": 2}, priority="10")


@pytest.mark.parametrize(
    ("key", "law", "said"),
    [
        ("own", "YK-03", "it is in the queue of the ask, root.high"),
        ("kept", "YK-05", MODEST),
        (
            "worthy",
            "YK-06",
            "its priority 6, 11 after the offsets and fences of the queues, is above the ask's 10",
        ),
        ("shut", "YK-07", "queue root.closed has preemption.policy disabled"),
        ("ink", "YK-10", "it holds nothing of what the ask wants, gpu"),
        ("daemon", "YK-10", "it must stay on its node, which it requires"),
        ("going", "YK-10", "it is being preempted already"),
        ("parked", "YK-08", "its node n2 is not schedulable"),
        ("cramped", "YK-08", "its node n3 lacks 2 gpu, and all candidates there hold 1 gpu"),
        ("small", "YK-08", "its node n4 is too small for the ask"),
    ],
)
def test_first_law_that_excludes(key: str, law: str, said: str) -> None:
    answer = explained(city(), key)
    assert answer.question == "why-not-that-one"
    (place,) = answer.allocations
    assert not place.candidate
    assert (place.law.law, place.law.text) == (law, said)
    assert (place.position, place.node_position) == (None, None)
    assert answer.alternative is None
    told(answer.answer)


@pytest.mark.parametrize("key", ["last", "first"])
def test_a_last_resort_is_spared_and_what_taking_it_would_cost(key: str) -> None:
    answer = explained(city(), key)
    (place,) = answer.allocations
    assert (place.candidate, place.law.law) == (False, "YK-01")
    told(place.law.text)
    assert answer.alternative is not None
    assert (answer.alternative.condition, answer.alternative.last_resort) == ("taking", True)
    assert key in answer.alternative.victims
    (tier,) = [term for term in answer.alternative.terms if term.term == "last_resort"]
    assert (tier.plan, tier.other) == (0, 1)
    told(answer.answer)


@pytest.mark.parametrize(("objective", "counted"), [("min-lost-work", True), ("min-count", False)])
def test_originators_are_like_the_others_where_they_are_not_counted(
    objective: str,
    counted: bool,  # noqa: FBT001
) -> None:
    (place,) = explained(city(), "first", objective=objective).allocations
    assert place.candidate != counted
    (place,) = explained(city(), "last", objective=objective).allocations
    assert (place.candidate, place.law.law) == (False, "YK-01")


def test_why_this_victim() -> None:
    """Of the ordinary two on n1 both must go; on n1 the core looks at the newest first."""
    answer = explained(city(), "crawl/spider")
    (place,) = answer.allocations
    assert answer.question == "why-this-victim"
    assert (place.allocation, place.pod, place.name) == ("new", "crawl/spider", "crawl/spider")
    assert (place.by_plan, place.necessary) == (True, True)
    # Opted out last, the originator before it: new, old, first, last.
    assert (place.node_position, place.node_candidates) == (1, 4)
    assert explained(city(), "old").allocations[0].node_position == 2
    assert place.law.law == "YK-05"
    told(place.law.text)
    told(answer.answer)
    assert answer.alternative is not None
    assert answer.alternative.last_resort
    assert answer.pods == {"new": "crawl/spider"}


def test_fence() -> None:
    value = two_queues(allocation("run", {"gpu": 4}))
    (low, high) = value["queues"]["partitions"][0]["queues"][0]["queues"]
    inner = {**high, "properties": {}}
    tenant = queue("tenant", inner, preemption_policy="fence")
    value["queues"]["partitions"][0]["queues"][0]["queues"] = [low, tenant]
    value["applications"][1]["queueName"] = "root.tenant.high"
    (place,) = explained(value, "run").allocations
    told(place.law.text)


def test_required_node() -> None:
    """There the core goes by priority, then by age; queues do not count."""
    value = two_queues(
        allocation("high", {"gpu": 1}, 9, priority="2"),
        allocation("low", {"gpu": 1}, 30, priority="1"),
        allocation("new", {"gpu": 1}, 3, priority="1"),
        allocation("other", {"gpu": 1}, 3, on="n2"),
        size=3,
        guaranteed=0,
        requiredNodeId="n1",
        priority="5",
    )
    places = {key: explained(value, key).allocations[0] for key in ("high", "low", "new", "other")}
    order = [places[key].node_position for key in ("new", "low", "high")]
    assert order == [1, 2, 3]
    assert places["other"].law.law == "YK-08"
    told(places["other"].law.text)
    told(places["low"].law.text)


def test_nothing_of_that_name() -> None:
    with pytest.raises(LookupFailed) as caught:
        explained(city(), "nobody")
    told(caught.value)


def test_a_pod_with_two_allocations_is_named_by_key() -> None:
    value = city()
    (low, *_) = value["applications"]
    low["allocations"][1]["allocationTags"] = low["allocations"][0]["allocationTags"]
    with pytest.raises(LookupFailed) as caught:
        explained(value, "crawl/spider")
    told(caught.value)


def test_limit_below_one() -> None:
    with pytest.raises(SchemaError, match="limit"):
        explained(city(), limit=0)


def test_nothing_has_to_go() -> None:
    """There is room elsewhere: the plan has no victims, and what runs is but a candidate."""
    value = city()
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n5", "capacity": {"gpu": 2}})
    answer = explained(value)
    assert (answer.status, answer.victims) == ("optimal", ())
    told(answer.answer)
    told(explained(value, "old").answer)
