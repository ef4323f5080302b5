"""Ask after ask, until nothing moves (docs/semantics/yunikorn.md §14)."""

from typing import Any

from planner.reference.yunikorn.flow import Step, run_flow
from tests.yunikorn.building import (
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = {"gpu": 1}
Json = dict[str, Any]


def shared(wanted: int, guaranteed: int = 2, capacity: int = 4) -> Json:
    """Build a node that ``low`` fills, and ``wanted`` asks of ``high``."""
    running = [allocation(f"run-{i}", GPU, 100 - i) for i in range(4)]
    asks = tuple(ask(f"ask-{i}", GPU) for i in range(wanted))
    return cluster_value(
        [queue("low", guaranteed={"gpu": 2}), queue("high", guaranteed={"gpu": guaranteed})],
        [node("n1", {"gpu": capacity})],
        [application("runs", "root.low", *running), application("asks", "root.high", asks=asks)],
    )


def test_it_ends_when_the_guaranteed_is_reached() -> None:
    flow = run_flow(state_of(shared(5)))
    assert flow.steps == (
        Step("ask-0", "preempt", "n1", ("run-3",)),
        Step("ask-1", "preempt", "n1", ("run-2",)),
    )
    assert flow.usage["root.high"] == flow.usage["root.low"] == {"gpu": 2}
    assert flow.pending == {"root.low": 0, "root.high": 3}


def test_room_is_used_before_anybody_goes() -> None:
    flow = run_flow(state_of(shared(2, capacity=5)))
    assert [step.kind for step in flow.steps] == ["allocate", "preempt"]


def test_victims_that_come_back_start_no_storm() -> None:
    flow = run_flow(state_of(shared(5)), recreate=True)
    assert len(flow.steps) == 2
    assert flow.pending == {"root.low": 2, "root.high": 3}


def test_steps_are_bounded() -> None:
    assert len(run_flow(state_of(shared(5)), max_steps=1).steps) == 1


def test_a_victim_may_be_on_a_node_that_the_dump_does_not_have() -> None:
    """The node has room, the queue above has none: whoever is over its guaranteed goes anywhere."""
    running = [allocation(f"run-{i}", GPU, 100 - i, on="gone") for i in range(4)]
    leaves = [queue("low", guaranteed=GPU), queue("high", guaranteed=GPU)]
    state = cluster_value(
        [queue("shop", *leaves, max={"gpu": 4})],
        [node("n1", {"gpu": 2})],
        [
            application("runs", "root.shop.low", *running),
            application("asks", "root.shop.high", asks=(ask("ask", GPU),)),
        ],
    )
    flow = run_flow(state_of(state))
    assert [(step.kind, step.node, len(step.victims)) for step in flow.steps] == [
        ("preempt", "n1", 1)
    ]
    assert flow.usage["root.shop.high"] == GPU
    (room,) = flow.settled.nodes
    assert room.available == {"gpu": 1}
