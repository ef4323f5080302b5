"""Ask after ask, until nothing moves: no storm and no ping-pong, victims come back as new asks.

Source: the design document of YuniKorn's preemption, "Preemption Loop Prevention": replicas of
``prod`` and ``test`` in sibling queues, the cluster full, each pod that is preempted made anew.
Where the core departs from the document, it is said (docs/semantics/yunikorn.md §13 and §14).
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.reader import read_objects
from planner.reference.yunikorn.flow import Step, run_flow
from planner.state.yunikorn import YuniKornState
from tests.yunikorn.building import (
    SECOND,
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
)
from tests.yunikorn.recorded import NAMES, lines

ROUNDS = 20
MINUTE = 60 * SECOND


def settle(state: YuniKornState) -> tuple[list[Step], YuniKornState]:
    """Run until nothing moves, and again when all who came back have waited for a minute."""
    steps: list[Step] = []
    for _ in range(ROUNDS):
        flow = run_flow(state, recreate=True)
        if not flow.steps:
            return steps, state
        steps += flow.steps
        later = {"partitions": (flow.settled.partition,), "now": state.now + MINUTE}
        state = state.model_copy(update=later)
    pytest.fail(f"still moving after {len(steps)} steps: {steps[-4:]}")


def used(state: YuniKornState) -> dict[str, int]:
    """Return the memory in use by application."""
    return {
        one.application_id: sum(each.resource["memory"] for each in one.allocations)
        for one in state.partitions[0].applications
    }


def check_no_ping_pong(steps: list[Step]) -> None:
    """Nobody who went finds room again or makes others go, and nobody goes who made others go."""
    victims = {victim for step in steps for victim in step.victims}
    asks = {step.ask for step in steps}
    assert not asks & victims
    assert not [each for each in asks if each.endswith("-again")]


@pytest.mark.parametrize("name", ["1-exact", "1-overshoot", "2", "3"])
def test_the_recorded_flows_settle_as_well(name: str) -> None:
    """The real core's end is the end: nothing moves later either."""
    if "examples" not in NAMES:
        pytest.skip("no recorded flows")
    line = next(one for one in lines("examples", 1) if one["id"] == f"design-loop-{name}")
    state = read_objects({k: v for k, v in line.items() if k != "expect"}, where=line["id"])
    assert isinstance(state, YuniKornState)
    steps, end = settle(state)
    expected = line["expect"]["flow"]
    assert [step.ask for step in steps] == [one["ask"] for one in expected["steps"]]
    final = {path.rpartition(".")[2]: use for path, use in expected["finalUsage"].items()}
    assert used(end) == {name: final[name]["memory"] for name in ("prod", "test")}
    check_no_ping_pong(steps)


@given(
    guaranteed=st.tuples(*[st.integers(0, 14)] * 3),
    running=st.tuples(*[st.integers(0, 5)] * 3),
    waiting=st.tuples(*[st.integers(0, 4)] * 3),
    sizes=st.tuples(*[st.integers(1, 3)] * 3),
)
def test_no_three_queues_storm(
    guaranteed: tuple[int, ...],
    running: tuple[int, ...],
    waiting: tuple[int, ...],
    sizes: tuple[int, ...],
) -> None:
    """Three siblings, full node, pods of a size per queue, some pending in each.

    A pod that came back into what was left may go once more, for another ask. But it all ends,
    and no more often than there are pods has one made others go.
    """
    queues = [
        queue(f"q{i}", guaranteed={"memory": each}, preemption_delay="10s")
        for i, each in enumerate(guaranteed)
    ]
    applications = [
        application(
            f"app-{i}",
            f"root.q{i}",
            *(allocation(f"run-{i}-{n}", {"memory": sizes[i]}, 900 - 9 * n - i) for n in range(r)),
            asks=tuple(ask(f"ask-{i}-{n}", {"memory": sizes[i]}, 100) for n in range(w)),
        )
        for i, (r, w) in enumerate(zip(running, waiting, strict=True))
    ]
    full = sum(count * size for count, size in zip(running, sizes, strict=True))
    value = cluster_value(queues, [node("n1", {"memory": max(1, full)})], applications)
    steps, _ = settle(state_of(value))
    assert sum(step.kind == "preempt" for step in steps) <= sum(running) + sum(waiting)


GPU = {"gpu": 1}


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
