"""Required nodes and reservations, ask after ask.

Source: yunikorn-core be3bb487, scheduler/objects/application.go (tryRequiredNode,
tryReservedAllocate), node.go (Reserve) and partition.go (unReserve).
"""

from typing import Any

from planner.reference.yunikorn.flow import Step, run_flow
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)

GPU = {"gpu": 1}


def on_its_node(*running: Json, **of_node: Any) -> Json:
    """Build two nodes of 2 GPUs; the ask requires n2, where somebody runs, and n1 is empty."""
    return cluster_value(
        [queue("low"), queue("high")],
        [node("n1", {"gpu": 2}), node("n2", {"gpu": 2}, **of_node)],
        [
            application("runs", "root.low", *running),
            application("asks", "root.high", asks=(ask("ask", GPU, requiredNodeId="n2"),)),
        ],
    )


def test_an_ask_goes_to_its_required_node_alone() -> None:
    """There is room on n1, too, and n2 takes no other asks any more."""
    flow = run_flow(state_of(on_its_node(allocation("a", GPU, on="n2"), schedulable=False)))
    assert flow.steps == (Step("ask", "allocate", "n2"),)


def test_a_required_node_is_reserved_and_then_made_free() -> None:
    """The core reserves it in one cycle, and preempts in the next; the older of both stays."""
    running = allocation("a", GPU, 20, on="n2"), allocation("b", GPU, 10, on="n2")
    flow = run_flow(state_of(on_its_node(*running)), recreate=True)
    assert flow.steps == (Step("ask", "preempt", "n2", ("b",)), Step("b-again", "allocate", "n1"))


def test_no_other_ask_takes_the_node_that_one_waits_for() -> None:
    """The older ask for n2 needs both GPUs there, and whoever has one is of higher priority."""
    value = on_its_node(allocation("a", GPU, on="n2", priority="9"))
    value["applications"][1]["requests"][0]["resource"] = {"gpu": 2}
    value["applications"][1]["requests"] += [ask(f"other-{i}", GPU) for i in range(3)]
    flow = run_flow(state_of(value))
    assert [(step.ask, step.node) for step in flow.steps] == [("other-0", "n1"), ("other-1", "n1")]


def test_too_large_an_ask_reserves_no_node() -> None:
    """An ask of more than the empty node has is not given a reservation (node.go, Reserve)."""
    value = on_its_node(allocation("a", GPU, on="n2", priority="9"))
    value["applications"][1]["requests"][0]["resource"] = {"gpu": 3}
    value["applications"][1]["requests"] += [ask(f"other-{i}", GPU) for i in range(3)]
    flow = run_flow(state_of(value))
    assert [step.ask for step in flow.steps] == ["other-0", "other-1", "other-2"]


def test_a_node_is_free_for_others_once_its_reservation_is_used() -> None:
    value = cluster_value(
        [queue("low"), queue("high")],
        [node("n1", {"gpu": 2}, reservations=["first"])],
        [application("asks", "root.high", asks=(ask("second", GPU), ask("first", GPU)))],
    )
    flow = run_flow(state_of(value))
    assert [step.ask for step in flow.steps] == ["first", "second"]


def test_a_cancelled_reservation_is_gone() -> None:
    """``old`` waits for n1 for a day; ``ask`` cancels that, and the GPU left over is for anybody.

    Source: yunikorn-core be3bb487, scheduler/objects/preemption.go (initWorkingState).
    """
    old = ask("old", {"gpu": 9}, priority="-1")
    value = cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 9}, reservations=["old"]), node("n2", {"gpu": 9}, schedulable=False)],
        [
            application(
                "runs", "root.low", allocation("a", {"gpu": 2}), allocation("b", {"gpu": 7}, 9)
            ),
            application("asks", "root.high", asks=(ask("ask", GPU),)),
            application("waits", "root.low", asks=(old, ask("small", GPU))),
        ],
    )
    flow = run_flow(state_of(value))
    assert [(step.ask, step.kind) for step in flow.steps] == [
        ("ask", "preempt"),
        ("small", "allocate"),
    ]
