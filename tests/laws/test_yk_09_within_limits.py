"""YK-09: the ask's queue and all above it are within their maximum, with the ask."""

from typing import Any

import pytest

from planner import solve
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import (
    GPU,
    REQUIRED,
    broken,
    guaranteed,
    one_node,
    one_node_value,
    plan_of,
    two_nodes,
    verdicts,
)
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    decided,
    gpus,
    node,
    queue,
)

A, B = frozenset({"a"}), frozenset({"b"})


def department(limit: Json, high: Json | None = None, **of_cluster: Any) -> Court:
    """Build a node with 1 of 4 available: below ``root.p``, low runs 2 and 1, high asks for 2."""
    value = one_node_value(
        queue("p", queue("low"), guaranteed("high", 2, max=high or {}), max=limit),
        running={"root.p.low": gpus(a=2, b=1)},
        path="root.p.high",
        size=4,
        wanted={"gpu": 2},
        of_cluster=of_cluster,
    )
    return Court(value)


def test_the_maximum_above_the_ask_holds_afterwards() -> None:
    """The node has room once b is gone; queue p has room for 2 of 3 only once a is gone."""
    court = department({"gpu": 3})
    assert court.admitted() == {"n1": {A, A | B}}
    assert court.admitted(without={"YK-09"}) == {"n1": {A, B, A | B}}
    assert court.admitted("yunikorn-code") == {"n1": {A, B, A | B}}


def test_a_type_that_the_maximum_lacks_is_not_limited() -> None:
    assert department({"mem": 1}).admitted() == {"n1": {A, B, A | B}}


@pytest.mark.parametrize("of_root", [{"rootMax": {"mem": 8}}, {"noRootMax": True}])
def test_at_the_root_such_a_type_counts_as_none(of_root: Json) -> None:
    """The root of a real cluster has all types of its nodes; this one was told otherwise."""
    court = department({}, x=of_root)
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-09"}) == {"n1": {A, B, A | B}}


def test_the_queue_of_the_ask_has_nobody_to_make_room() -> None:
    """YK-07 alone would forbid everything, too: the queue is a fence to itself."""
    court = department({}, high={"gpu": 1})
    assert court.admitted(without={"YK-07"}) == {"n1": set()}
    assert court.admitted(without={"YK-07", "YK-09"}) == {"n1": {A, B, A | B}}


def daemon(
    above: Json, own: Json, disk: int = 0, wanted: Json | None = None, **of_cluster: Any
) -> Court:
    """Let a and b run below ``root.p`` on n1, which the ask requires, and c in the ask's queue."""
    value = cluster_value(
        [queue("p", queue("low"), queue("high", max=own), max=above)],
        [node("n1", {"gpu": 2, "disk": 2}, reservations=["ask"]), node("n2", {"gpu": 2})],
        [
            application(
                "runs",
                "root.p.low",
                allocation("a", {"gpu": 1, "disk": disk}),
                allocation("b", GPU),
            ),
            application(
                "asks",
                "root.p.high",
                allocation("c", GPU, on="n2"),
                asks=(ask("ask", wanted or GPU, requiredNodeId="n1"),),
            ),
        ],
        **of_cluster,
    )
    return Court(value)


def test_an_ask_with_a_required_node_fits_its_queues_afterwards() -> None:
    """Whoever goes is of another queue, and the ask's own is full: the core tries nothing."""
    court = daemon({}, {"gpu": 1})
    assert court.admitted(REQUIRED) == {"n1": set()}
    assert court.admitted(REQUIRED, without={"YK-09"}) == {"n1": {A, B, A | B}}
    plan = solve(court.state, "ask")
    assert (plan.status, plan.keys) == ("infeasible", ())
    assert daemon({}, {"gpu": 2}).admitted(REQUIRED) == {"n1": {A, B, A | B}}


def test_victims_make_room_in_the_queues_above_such_an_ask() -> None:
    assert daemon({"gpu": 3}, {}).admitted(REQUIRED) == {"n1": {A, B, A | B}}
    assert daemon({"gpu": 2}, {}).admitted(REQUIRED) == {"n1": {A | B}}


def test_such_an_ask_is_compared_as_with_headroom() -> None:
    """A type that no node has is not limited, and 0 of a type fits a queue that is beyond it.

    Source: yunikorn-core be3bb487, scheduler/objects/application.go (checkHeadRooms) and
    common/resources/resources.go (FitInMaxUndef).
    """
    court = daemon({}, {}, x={"rootMax": {"mem": 8}})
    assert court.admitted(REQUIRED) == {"n1": {A, B, A | B}}
    court = daemon({"disk": 1}, {}, disk=2, wanted={"gpu": 1, "disk": 0})
    assert court.admitted(REQUIRED) == {"n1": {A, B, A | B}}
    assert decided(court.value).victims


def test_the_root_has_what_the_nodes_have() -> None:
    """All 4 GPUs of the node, if nothing else is told: of 3 in use and 2 more one has to go."""
    assert department({}, x={"rootMax": {"gpu": 4}}).admitted() == {"n1": {A, B, A | B}}
    assert department({}, x={"rootMax": {"gpu": 3}}).admitted() == {"n1": {A, A | B}}


def test_what_is_being_preempted_counts_for_limits() -> None:
    """Queue p uses 3, of which one is going: its maximum is 2 all the same."""
    held = [allocation("a", GPU), allocation("b", GPU), allocation("gone", GPU, preempted=True)]
    state = one_node(
        queue("p", queue("low"), guaranteed("high", 9), max={"gpu": 2}),
        running={"root.p.low": held},
        path="root.p.high",
        size=3,
    )
    assert broken(state, plan_of(state, "n1", "a")) == ["YK-09"]
    assert broken(state, plan_of(state, "n1", "a", "b")) == []


def test_limits_in_words() -> None:
    state = two_nodes({}, {}, x={"rootMax": {"gpu": 2}})
    told(verdicts(state, plan_of(state, "n1", "a"))["YK-09"].detail)
