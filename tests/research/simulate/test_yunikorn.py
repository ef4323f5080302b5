"""YuniKorn as time passes: the loop flows of its design document, delays, and arrivals.

Source: the design document of YuniKorn's preemption, "Preemption Loop Prevention", and where the
core departs from it: docs/semantics/yunikorn.md §3 and §13. See tests/yunikorn/test_loop_flows.
"""

import pytest

from planner.errors import LookupFailed, SchemaError
from planner.quota.yunikorn.cluster import Asking, Cluster, prepare
from planner.reader import read_objects
from planner.reference.yunikorn.candidates import Candidate
from planner.reference.yunikorn.decision import Decision, decide
from planner.research.simulate import Question, Script, Simulation, simulate
from planner.research.simulate.simulate import run
from planner.research.simulate.yunikorn_world import YuniKornWorld, state_mark
from planner.state.yunikorn import YuniKornState
from tests.research.simulate.driving import story
from tests.told import told
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)
from tests.yunikorn.recorded import NAMES, lines

GPU = {"gpu": 1}
HOUR = 3600


def evictions(answer: Simulation) -> list[str]:
    """Tell who went, and for whom."""
    return [f"{one.workload} by {one.by}" for one in answer.timeline if one.kind == "preempted"]


def replicas(prod: int, test: int, *, size: int = 2) -> Json:
    """Build the example: prod runs one pod and wants three more, test runs five.

    ``prod`` and ``test`` are what their queues are guaranteed; a pod has ``size``, the node has
    room for six.
    """
    pod = {"memory": size}
    queues = [
        queue("prod", guaranteed={"memory": prod}, preemption_delay="10s"),
        queue("test", guaranteed={"memory": test}, preemption_delay="10s"),
    ]
    return cluster_value(
        [queue("p", *queues)],
        [node("n1", {"memory": 6 * size})],
        [
            application(
                "prod",
                "root.p.prod",
                allocation("prod-0", pod, 500),
                asks=tuple(ask(f"prod-{i}", pod, 104 - i) for i in range(1, 4)),
            ),
            application(
                "test", "root.p.test", *(allocation(f"test-{i}", pod, 400 - i) for i in range(5))
            ),
        ],
    )


@pytest.mark.parametrize(
    ("prod", "test", "went"),
    [
        # prod runs 2 and wants pods of 2, test runs 10; they are guaranteed what is said here.
        (4, 4, ["test-4 by prod-1"]),  # case 1: up to its guaranteed, and no further
        (3, 4, []),  # a pod more would be above it: the core lets nobody overshoot
        (4, 9, ["test-4 by prod-1"]),  # case 2: the core looks at what is there before a removal
        (4, 10, []),  # within its guaranteed test is left alone
        (8, 4, ["test-4 by prod-1", "test-3 by prod-2", "test-2 by prod-3"]),  # case 3
    ],
)
def test_the_design_documents_flows_settle(prod: int, test: int, went: list[str]) -> None:
    """Victims come back and ask, minute after minute; nobody goes round."""
    answer = simulate(state_of(replicas(prod, test)), Question(until_s=HOUR))
    assert evictions(answer) == went
    assert (answer.ended, answer.loops, answer.feuds) == ("settled", (), ())


@pytest.mark.parametrize("name", ["1-exact", "1-overshoot", "2", "3"])
def test_the_recorded_flows_settle_as_well(name: str) -> None:
    """The steps are those of the real core, and nothing moves later either."""
    if "examples" not in NAMES:
        pytest.skip("no recorded flows")
    line = next(one for one in lines("examples", 1) if one["id"] == f"design-loop-{name}")
    state = read_objects({k: v for k, v in line.items() if k != "expect"}, where=line["id"])
    assert isinstance(state, YuniKornState)
    answer = simulate(state, Question(until_s=HOUR))
    asks = [one.workload for one in answer.timeline if one.kind == "admitted"]
    assert asks == [one["ask"] for one in line["expect"]["flow"]["steps"]]
    assert (answer.ended, answer.loops) == ("settled", ())


def test_an_ask_waits_for_the_delay_of_its_queue() -> None:
    """It was made 4 s ago, the delay is 30 s."""
    answer = simulate(state_of(two_queues(*full(), age=4)))
    told(story(answer.timeline))


def full() -> list[Json]:
    """Return four pods that fill the node; the last one is the newest."""
    return [allocation(f"run-{i}", GPU, 100 - i) for i in range(4)]


def test_an_end_makes_room() -> None:
    """A run that began 100 s ago takes 110 s in all, and the ask is within no guaranteed."""
    value = cluster_value(
        [queue("low"), queue("high")],
        [node("n1", {"gpu": 4})],
        [
            application("runs", "root.low", *full()),
            application("asks", "root.high", asks=(ask("ask", GPU),)),
        ],
    )
    script = Script.model_validate({"workload": [{"name": "run-0", "run_seconds": 110}]})
    answer = simulate(state_of(value), Question(script=script))
    assert story(answer.timeline) == ["10 run-0 finished", "10 ask admitted"]
    assert [(one.resource, one.capacity, one.share) for one in answer.use] == [("gpu", 4, 1.0)]
    assert answer.endless_runs == 4


def test_who_found_nobody_tries_again_when_something_changed() -> None:
    """At 0 low has 4 and is guaranteed 3: one pod may go, and the ask needs two.

    At 5 low gets a fifth on a node that is too small for the ask; now two may go. The ask tries
    again 15 s after it did. The two that went ask from then on, but low has what it is guaranteed.
    """
    value = cluster_value(
        [queue("low", guaranteed={"gpu": 3}), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 4}), node("n2", {"gpu": 1})],
        [
            application("runs", "root.low", *full(), asks=(ask("fifth", GPU),)),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 2}),)),
        ],
    )
    script = Script.model_validate({"workload": [{"name": "fifth", "arrive_seconds": 5}]})
    answer = simulate(state_of(value), Question(script=script))
    told(story(answer.timeline))
    assert answer.ended == "settled"


def test_who_is_preempted_in_the_dump_is_gone_and_asks_again() -> None:
    """It has run for 97 s of 200, with a checkpoint every 30 s, and finds room at 50."""
    running = full()
    running[3]["preempted"] = True
    value = two_queues(*running, triggeredPreemption=True)
    rows = [
        {"name": "run-0", "run_seconds": 150},
        {"name": "run-3", "run_seconds": 200, "checkpoint_seconds": 30},
    ]
    answer = simulate(state_of(value), Question(script=Script.model_validate({"workload": rows})))
    assert story(answer.timeline) == [
        "0 ask admitted",
        "1 run-3 requeued",
        "50 run-0 finished",
        "50 run-3 admitted",
        "160 run-3 finished",
    ]
    fates = {one.workload: one for one in answer.workloads}
    assert (fates["run-3"].waiting_s, fates["run-3"].standing) == (50, "finished")


def test_copies_of_asks() -> None:
    value = two_queues(*full(), age=4)
    row = {"like": "ask", "at_seconds": 7}
    answer = simulate(
        state_of(value), Question(script=Script.model_validate({"arrival": [row]}), until_s=9)
    )
    assert story(answer.timeline) == ["7 ask-1 arrived"]
    with pytest.raises(LookupFailed, match="nobody"):
        simulate(
            state_of(value),
            Question(script=Script.model_validate({"arrival": [{"like": "nobody"}]})),
        )
    twice = Script.model_validate({"arrival": [row, row]})
    with pytest.raises(SchemaError) as caught:
        simulate(state_of(value), Question(script=twice))
    told(caught.value)


def test_a_pod_of_a_daemonset_makes_room_on_its_node() -> None:
    """It comes 5 s after the start; the core reserves its node, and preempts without a delay."""
    daemon = ask("daemon", GPU, requiredNodeId="n1")
    value = cluster_value(
        [queue("low"), queue("high")],
        [node("n1", {"gpu": 4}), node("n2", {"gpu": 1}, reservations=["daemon"])],
        [
            application("runs", "root.low", *full()),
            application("asks", "root.high", asks=(daemon,)),
        ],
    )
    script = Script.model_validate({"workload": [{"name": "daemon", "arrive_seconds": 5}]})
    told(story(simulate(state_of(value), Question(script=script)).timeline))


def test_who_comes_later_has_reserved_nothing_yet() -> None:
    value = cluster_value(
        [queue("high")],
        [node("n1", {"gpu": 1}, reservations=["late"])],
        [application("asks", "root.high", asks=(ask("late", GPU), ask("ask", GPU)))],
    )
    script = Script.model_validate({"workload": [{"name": "late", "arrive_seconds": 5}]})
    assert story(simulate(state_of(value), Question(script=script, until_s=6)).timeline) == [
        "0 ask admitted",
        "5 late arrived",
    ]


def test_a_reservation_tells_states_apart() -> None:
    value = two_queues(*full())
    free, reserved = prepare(state_of(value)), prepare(state_of(_reserved_for_ask(value)))
    assert state_mark(free, {}) != state_mark(reserved, {})


def _reserved_for_ask(value: Json) -> Json:
    one = node("n1", {"gpu": 4}, reservations=["ask"])
    return value | {"nodes": [{"partitionName": "default", "nodesInfo": [one]}]}


def test_the_optimum_in_the_cores_place() -> None:
    """One pod of 2 would do where the core takes two of 1, the newest."""
    value = cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 2})],
        [node("n1", {"gpu": 4})],
        [
            application(
                "runs",
                "root.low",
                allocation("two", {"gpu": 2}, 300),
                allocation("one", GPU, 200),
                allocation("new", GPU, 100),
            ),
            application("asks", "root.high", asks=(ask("ask", {"gpu": 2}),)),
        ],
    )
    told(evictions(simulate(state_of(value))))
    best = simulate(state_of(value), Question("optimum", objective="min-count"))
    told(evictions(best))


def thrash(_: YuniKornState, cluster: Cluster, asking: Asking) -> Decision:
    """Take whoever runs, guaranteed or not, whenever the core would look for somebody."""
    found = decide(cluster, asking)
    if found.conditions is None or not found.conditions.attempted:
        return found
    application = next(one for one in cluster.partition.applications if one.allocations)
    victim = Candidate(
        application.allocations[0], cluster.tree.leaf_of(application), application.application_id
    )
    return Decision("generic", found.conditions, True, "n1", (victim,))  # noqa: FBT003


def test_a_loop_would_be_found() -> None:
    """The core itself has none here, so somebody else decides, who knows no guaranteed.

    At 0 x goes for y. It asks from then on and waits for 30 s; then y goes for it, and so on.
    """
    value = cluster_value(
        [queue("a", guaranteed={"gpu": 1}), queue("b", guaranteed={"gpu": 1})],
        [node("n1", GPU)],
        [
            application("one", "root.a", allocation("x", GPU, 100)),
            application("two", "root.b", asks=(ask("y", GPU),)),
        ],
    )
    assert simulate(state_of(value)).timeline == ()
    world = YuniKornWorld(state_of(value), Script(), thrash)
    found = run(world, HOUR, 100, lambda *_: None)
    assert found.ended == "loop"
    (loop,) = found.watch.loops()
    assert (loop.first_s, loop.period_s, loop.endless) == (0, 60, True)
    assert story(loop.events) == [
        "30 y preempted by x",
        "30 y requeued",
        "30 x admitted",
        "60 x preempted by y",
        "60 x requeued",
        "60 y admitted",
    ]
    (feud,) = found.watch.feuds()
    assert (feud.first, feud.second) == ("x", "y")
