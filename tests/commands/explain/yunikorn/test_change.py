"""The changes offered are those that work, the smallest of their kind, worked out by hand."""

from typing import Any

import pytest

import planner
from planner.commands.explain.yunikorn.record import YuniKornClash
from planner.commands.whatif.edit import edit
from planner.state.yunikorn import YuniKornState
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
    state_of,
    two_queues,
)


def clash_of(value: Json) -> YuniKornClash:
    answer = explained(value)
    assert (answer.question, answer.status) == ("why-nothing", "infeasible")
    assert answer.clash is not None
    assert answer.clash.proved
    assert answer.clash.tried_all
    return answer.clash


def works(state: YuniKornState, text: str) -> bool:
    return planner.solve(edit(state, [text]), "ask").status == "optimal"


def running(count: int, **more: Any) -> list[Json]:
    return [allocation(f"run-{i}", {"gpu": 1}, i, **more) for i in range(1, count + 1)]


def crowd(
    *queues: Json, asks_in: str = "root.high", low: int = 4, high: int = 0, worth: str = "0"
) -> Json:
    """Build a node of 4 GPUs; ``root.low`` runs on some, the queue of the ask on others."""
    mine = [allocation(f"mine-{i}", {"gpu": 1}, 60 + i) for i in range(1, high + 1)]
    return cluster_value(
        list(queues),
        [node("n1", {"gpu": 4})],
        [
            application("runs", "root.low", *running(low, priority=worth)),
            application("asks", asks_in, *mine, asks=(ask("ask", {"gpu": 1}),)),
        ],
    )


def switched_off() -> Json:
    return {**two_queues(*running(4)), "queues": off_of(two_queues(*running(4)))}


def off_of(value: Json) -> Json:
    (partition,) = value["queues"]["partitions"]
    return {"partitions": [{**partition, "preemption": {"enabled": False}}]}


HIGH = {"gpu": 2}
TEAM = queue("team", queue("high", guaranteed=HIGH), preemption_policy="fence")

# What clashes, and the changes that help. Everywhere the node is full and 1 GPU is asked.
CASES: dict[str, tuple[Json, set[str], set[str]]] = {
    "priority": (
        two_queues(*running(4, priority="5")),
        {"YK-06", "YK-08"},
        {"ask/ask.priority=5", "queue/root.high.priority.offset=5"},
    ),
    "nothing guaranteed": (
        crowd(queue("low"), queue("high")),
        {"YK-04"},
        {"queue/root.high.guaranteed.gpu=1"},
    ),
    # It uses 2 of 2 and wants 1 more.
    "guaranteed used up": (
        crowd(queue("low"), queue("high", guaranteed=HIGH), low=2, high=2),
        {"YK-03", "YK-04"},
        {"queue/root.high.guaranteed.gpu=3"},
    ),
    "fence": (
        crowd(queue("low"), TEAM, asks_in="root.team.high"),
        {"YK-07", "YK-08"},
        {"queue/root.team.preemption.policy=default"},
    ),
    "disabled": (
        crowd(queue("low", preemption_policy="disabled"), queue("high", guaranteed=HIGH)),
        {"YK-07", "YK-08"},
        {"queue/root.low.preemption.policy=default"},
    ),
    # The fence is worth 3, whatever runs below it. Without a fence the offset leaves 0 - 3 to
    # those of -5.
    "priority fence": (
        crowd(
            queue("low", priority_policy="fence", priority_offset="3"),
            queue("high", guaranteed=HIGH),
            worth="-5",
        ),
        {"YK-06", "YK-08"},
        {
            "ask/ask.priority=3",
            "queue/root.high.priority.offset=3",
            "queue/root.low.priority.policy=default",
        },
    ),
    # The team may hold 1 and holds it: that fences it in, and is too little besides.
    "maximum": (
        crowd(
            queue("low"),
            queue("team", queue("high", guaranteed=HIGH), max={"gpu": 1}),
            asks_in="root.team.high",
            low=3,
            high=1,
        ),
        {"YK-03", "YK-07", "YK-08"},
        {"queue/root.team.max.gpu=2"},
    ),
    "switched off": (switched_off(), {"YK-11"}, {"partition/default.preemption.enabled=true"}),
    "polite": (
        two_queues(*running(4), x={"allowPreemptOther": False}),
        {"YK-11"},
        {"ask/ask.allowPreemptOther=true"},
    ),
    "only once": (two_queues(*running(4), triggeredPreemption=True), {"YK-11"}, set()),
    # The low queue keeps what it is guaranteed: 4 of 4 in use.
    "others' guaranteed": (
        crowd(queue("low", guaranteed={"gpu": 4}), queue("high", guaranteed=HIGH)),
        {"YK-05", "YK-08"},
        set(),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_clash_and_changes_by_hand(name: str) -> None:
    value, laws, edits = CASES[name]
    clash = clash_of(value)
    assert {law.law for law in clash.laws} == laws
    assert {change.edit for change in clash.changes} == edits


@pytest.mark.parametrize("name", [name for name, (_, _, edits) in CASES.items() if edits])
def test_each_change_works_and_none_smaller_does(name: str) -> None:
    value, _, _ = CASES[name]
    state = state_of(value)
    for change in clash_of(value).changes:
        plan = planner.solve(edit(state, [change.edit]), "ask")
        assert plan.status == "optimal", change.edit
        assert plan.keys == change.victims
        assert change.edit == f"{change.path}={change.after}"
        if change.step:
            before = 0 if change.before == "none" else int(change.before)
            assert change.step == f"+{int(change.after) - before}"
            for less in range(before + 1, int(change.after)):
                assert not works(state, f"{change.path}={less}"), less


def test_two_changes_at_once_are_no_single_one() -> None:
    """The queue is closed to preemption, and what runs there is worth more besides."""
    value = two_queues(*running(4, priority="5"))
    (low, _) = value["queues"]["partitions"][0]["queues"][0]["queues"]
    low["properties"] = {"preemption.policy": "disabled"}
    clash = clash_of(value)
    assert clash.changes == ()


def test_a_queue_that_two_partitions_have_is_not_changed() -> None:
    value = two_queues(*running(4, priority="5"))
    (first,) = value["queues"]["partitions"]
    value["queues"] = {"partitions": [first, {**first, "name": "gpu"}]}
    answer = explained(value)
    assert answer.clash is not None
    assert {change.edit for change in answer.clash.changes} == {"ask/ask.priority=5"}
    assert not answer.clash.tried_all


def test_required_node_asks_for_priority_only() -> None:
    """On n1 runs one of priority 5; the ask must go there."""
    value = two_queues(
        *running(4, priority="5"), requiredNodeId="n1", allocationTags={}, guaranteed=0
    )
    clash = clash_of(value)
    assert {law.law for law in clash.laws} == {"YK-06", "YK-08"}
    assert [change.edit for change in clash.changes] == ["ask/ask.priority=5"]


def test_required_node_asks_for_the_maximum_of_its_queue() -> None:
    """The ask's queue may have 1 and has it, so nobody who goes would help; on n2 there is room."""
    value = cluster_value(
        [queue("low"), queue("high", max={"gpu": 1})],
        [node("n1", {"gpu": 1}, reservations=["ask"]), node("n2", {"gpu": 2})],
        [
            application("runs", "root.low", allocation("a", {"gpu": 1})),
            application(
                "asks",
                "root.high",
                allocation("b", {"gpu": 1}, on="n2"),
                asks=(ask("ask", {"gpu": 1}, requiredNodeId="n1"),),
            ),
        ],
    )
    clash = clash_of(value)
    assert {law.law for law in clash.laws} >= {"YK-09"}
    assert [change.edit for change in clash.changes] == ["queue/root.high.max.gpu=2"]
    assert clash.tried_all
    assert {one.place for one in clash.shortfalls} == {"node", "max"}


def test_shortfalls_in_the_users_units() -> None:
    """The nearest node lacks 500m; the team has 1 vcore and 1Gi left of its maximum."""
    value = cluster_value(
        [
            queue("low", guaranteed={"vcore": 99}),
            queue(
                "team", queue("high", guaranteed={"vcore": 9}), max={"vcore": 3, "memory": "5Gi"}
            ),
        ],
        [
            node("far", {"vcore": 4000, "memory": 8 * 2**30}),
            node("near", {"vcore": 4000, "memory": 8 * 2**30}),
        ],
        [
            application("a", "root.low", allocation("x", {"vcore": 4000}, on="far")),
            application(
                "b",
                "root.team.high",
                allocation("y", {"vcore": 2000, "memory": 4 * 2**30}, on="near"),
                asks=(ask("ask", {"vcore": 2500, "memory": 2 * 2**30}),),
            ),
        ],
    )
    clash = clash_of(value)
    assert [(one.place, one.where, one.resource) for one in clash.shortfalls] == [
        ("node", "near", "vcore"),
        ("max", "root.team", "memory"),
        ("max", "root.team", "vcore"),
        ("max", "root", "vcore"),
    ]
    node_short, memory, vcore, root = clash.shortfalls
    assert (node_short.requested, node_short.available, node_short.short) == (2500, 2000, 500)
    told(node_short.text)
    told(memory.text)
    assert (vcore.available, vcore.short) == (1000, 1500)
    assert (root.requested, root.available, root.short) == (2500, 2000, 500)


def test_too_large_for_every_node() -> None:
    value = two_queues(*running(4), size=4, guaranteed=9)
    (_, asks) = value["applications"]
    asks["requests"] = [ask("ask", {"gpu": 9})]
    clash = clash_of(value)
    assert [law.law for law in clash.laws] == ["YK-08"]
    told(clash.laws[0].text)
    short = clash.shortfalls[0]
    told(short.text)
    assert clash.changes == ()


def test_a_queue_with_nobody_in_it_is_not_said_to_give_nothing() -> None:
    """Of 4 the low queue keeps 3: neither of its allocations of 2 may go."""
    value = crowd(
        queue("idle", guaranteed={"gpu": 9}),
        queue("low", guaranteed={"gpu": 3}),
        queue("high", guaranteed=HIGH),
    )
    value["applications"][0]["allocations"] = [allocation(key, {"gpu": 2}) for key in "ab"]
    keeps, _ = clash_of(value).laws
    assert keeps.law == "YK-02"
    told(keeps.text)


@pytest.mark.parametrize("name", ["a=b", "="])
def test_a_name_that_no_edit_can_spell_is_left_alone(name: str) -> None:
    value = two_queues(*running(4, priority="5"))
    value["applications"][1]["requests"][0]["allocationKey"] = name
    answer = planner.explain(state_of(value))
    assert answer.clash is not None
    assert {change.edit for change in answer.clash.changes} == {"queue/root.high.priority.offset=5"}
    assert not answer.clash.tried_all
