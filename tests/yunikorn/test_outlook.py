"""What cycles make of a decision, by hand: who acts first, hangs, what is left to chance."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from itertools import islice, permutations
from random import Random
from typing import Any

import pytest

import planner
from planner.case.yunikorn import Case
from planner.commands.replay.yunikorn import state_of_yunikorn
from planner.plan.yunikorn import OtherChoice, YuniKornHeldBack, YuniKornPlan
from planner.quota.yunikorn.cluster import Asking, find_ask, prepare
from planner.quota.yunikorn.lowered import LOWERED
from planner.reference.yunikorn import outlook
from planner.reference.yunikorn.decision import decide
from tests.conftest import TEST_ALL
from tests.told import told
from tests.yunikorn.building import (
    Json,
    above_max,
    allocation,
    application,
    ask,
    asking_of,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)
from tests.yunikorn.random_clusters import random_cluster
from tests.yunikorn.recorded import FEATURES, named, texts

GPU = {"gpu": 1}
OLD, NEW = allocation("old", GPU, 9), allocation("new", GPU, 1)


def with_others(value: Json, *asks: Json, leaf: str = "high", **more: Any) -> Json:
    """Return an instance in which others wait, too, in an application of their own."""
    other = application("others", f"root.{leaf}", asks=asks) | more
    return {**value, "applications": [*value["applications"], other]}


def case_of(value: Json) -> Case:
    """Return the case of the ask of an instance."""
    cluster = prepare(state := state_of(value))
    return Case(state, cluster, find_ask(cluster, "ask"))


def solved(value: Json) -> YuniKornPlan:
    """Return the plan for the ask of an instance."""
    plan = planner.solve(state_of(value), pending="ask")
    assert isinstance(plan, YuniKornPlan)
    return plan


FULL = two_queues(OLD, NEW, size=2, guaranteed=1)


@pytest.mark.parametrize(
    ("priority", "size", "held"),
    [
        ("1", 1, True),  # it takes the one victim that the guaranteed allows
        ("0", 1, False),  # it comes later
        ("1", 9, False),  # no node holds it
    ],
)
def test_an_ask_that_acts_first(priority: str, size: int, *, held: bool) -> None:
    first = ask("first", {"gpu": size}, priority=priority)
    value = with_others(FULL, first)
    value["applications"][-1]["submissionTime"] = value["now"] if priority == "0" else 1
    plan = solved(value)
    assert plan.status == "optimal"
    assert plan.greedy is not None
    assert (plan.held_back is not None, plan.greedy.held_back) == (held, plan.held_back)
    if plan.held_back is not None:
        assert (plan.held_back.why, plan.held_back.asks) == ("notFirst", ("first",))
        assert plan.notes[0] == plan.greedy.explanation
        assert plan.held_back.text in plan.notes[0]
        answer = planner.explain(state_of(value), "ask").answer
        assert answer.startswith(plan.notes[0])


def test_of_each_ask_of_a_state_its_own_outlook_is_told() -> None:
    value = with_others(FULL, ask("first", {"gpu": 1}, priority="1"))
    value["applications"][-1]["submissionTime"] = 1
    state = state_of(value)
    plans = [planner.solve(state, key) for key in ("ask", "first", "ask")]
    held = [isinstance(one, YuniKornPlan) and one.held_back is not None for one in plans]
    assert held == [True, False, True]


def test_an_ask_that_takes_the_room_of_one_that_fits() -> None:
    value = two_queues(OLD, size=2)
    assert solved(value).held_back is None
    plan = solved(with_others(value, ask("first", GPU, priority="1"), submissionTime=1))
    told(plan.explanation)
    assert plan.held_back is not None
    assert plan.held_back.asks == ("first",)


def test_a_required_node_is_reserved_first_whoever_else_acts() -> None:
    """The core preempts in its second cycle, and not as another ask is served in the first."""
    value = two_queues(OLD, NEW, size=2, requiredNodeId="n1", priority="1")
    value["nodes"][0]["nodesInfo"].append(node("n2", GPU))
    value["applications"][1]["submissionTime"] = 1
    case = case_of(with_others(value, ask("small", GPU)))
    assert (case.decision.triggered, case.held_back) == (False, None)


def of_nodes(*held: Json, sizes: tuple[int, ...] = (1, 1), wants: int = 1) -> Json:
    """Build nodes that are full; ``high`` asks for so many GPUs of its guaranteed."""
    nodes = [node(f"n{i}", {"gpu": size}) for i, size in enumerate(sizes, start=1)]
    return cluster_value(
        [queue("low"), queue("high", guaranteed={"gpu": 9})],
        nodes,
        [
            application("runs", "root.low", *held),
            application("asks", "root.high", asks=(ask("ask", {"gpu": wants}),)),
        ],
    )


TIED = allocation("a", GPU, 5), allocation("b", GPU, 5)
APART = allocation("a", GPU, 5), allocation("b", GPU, 5, on="n2")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (FULL, None),
        (
            two_queues(*TIED, size=2),
            OtherChoice(by="order", outcome="preempts", node="n1", victims=("b",)),
        ),
        (of_nodes(*APART), OtherChoice(by="race", outcome="preempts", node="n2", victims=("b",))),
        (of_nodes(*APART, wants=2), None),
        # One node needs two, the other one: of unequal scores the lower wins.
        (of_nodes(*APART, allocation("c", {"gpu": 2}, 5, on="n3"), sizes=(1, 1, 2), wants=2), None),
    ],
)
def test_what_is_left_to_chance(value: Json, expected: OtherChoice | None) -> None:
    plan = solved(value)
    assert (plan.may_also, plan.held_back) == (expected, None)
    assert plan.greedy is not None
    assert plan.greedy.may_also == expected
    said = [note for note in plan.notes if "not determined" in note]
    assert bool(said) == (expected is not None)
    if expected is not None:
        assert f"preempt {expected.victims[0]} on {expected.node}" in said[0]


def equal_asks() -> Json:
    """Build two asks of equal age in one application; one victim may go, and that is for one."""
    value = deepcopy(FULL)
    value["applications"][1]["requests"].append(ask("other", GPU))
    return value


def equal_applications() -> Json:
    """Build the same in two applications of equal age."""
    return with_others(FULL, ask("other", GPU))


def equal_queues() -> Json:
    """Build the same in two queues, below one with a guaranteed amount."""
    value = with_others(deepcopy(FULL), ask("other", GPU), leaf="high.b")
    value["applications"][1]["queueName"] = "root.high.a"
    above = queue("high", queue("a"), queue("b"), guaranteed=GPU)
    value["queues"] = {
        "partitions": [
            {"name": "default", "queues": [{"name": "root", "queues": [queue("low"), above]}]}
        ]
    }
    return value


def room_for_one() -> Json:
    """Build two asks of equal age, and room for one of them."""
    return with_others(two_queues(OLD, size=2), ask("other", GPU))


def equal_placeholders() -> Json:
    """Build an ask that takes the place of one of two placeholders."""
    gang: Json = {"placeholder": True, "taskGroupName": "tg"}
    held = [allocation(f"ph-{i}", GPU, **gang) for i in range(2)]
    value = two_queues(size=2, taskGroupName="tg")
    value["applications"][1] |= {
        "allocations": held,
        "placeholderData": [{"taskGroupName": "tg", "count": 2, "minResource": GPU}],
    }
    return value


@pytest.mark.parametrize(
    ("make", "outcome"),
    [
        (equal_asks, "waits"),
        (equal_applications, "waits"),
        (equal_queues, "waits"),
        (room_for_one, "preempts"),
        (equal_placeholders, "replaces"),
    ],
)
def test_others_of_one_kind_have_no_order(make: Callable[[], Json], outcome: str) -> None:
    other = solved(make()).may_also
    assert other is not None
    assert (other.by, other.outcome) == ("order", outcome)


def test_a_reservation_of_an_ask_that_is_gone() -> None:
    """It stays where that of an older ask is cancelled, which opens the node."""
    value = with_others(two_queues(OLD, NEW, size=2, priority="1"), ask("stale", {"gpu": 9}))
    value["nodes"][0]["nodesInfo"][0]["reservations"] = ["gone", "stale"]
    plan = solved(value)
    assert (plan.status, plan.keys, plan.held_back) == ("optimal", ("new",), None)


@pytest.mark.parametrize("ages", [(1, 2, 3), (2, 2, 3), (1, 3, 3), (2, 2, 2), (3, 2, 2)])
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 2, 1), (2, 1, 1)])
def test_all_orders(ages: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """What else the core may do is what some order of those of equal age makes it do."""
    held = [
        allocation(f"v{i}", {"gpu": size}, age)
        for i, (age, size) in enumerate(zip(ages, sizes, strict=True))
    ]
    case = case_of(of_nodes(*held, sizes=(sum(sizes),), wants=2))
    known = {
        frozenset(
            decide(
                case.cluster, case.asking, ties={key: i for i, key in enumerate(order)}
            ).victim_keys
        )
        for order in permutations(f"v{i}" for i in range(3))
    }
    other = case.may_also
    assert (other is not None) == (len(known) > 1)
    assert other is None or frozenset(other.victims) in known - {
        frozenset(case.decision.victim_keys)
    }


def drawn(seed: int) -> Json:
    """Draw an instance in which others of any age wait, too."""
    value, chance = random_cluster(seed, plain=seed % 2 == 0, twins=True), Random(seed)  # noqa: S311
    for i, one in enumerate(value["applications"]):
        one["submissionTime"] = chance.choice((1, 2))
        one["requests"] += [ask(f"other-{i}", {"gpu": 1}, chance.choice((8, 9)))][: i % 2]
    return value


def test_orders_are_tried_only_where_they_can_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no rank was compared, what is made of an ask is what all orders would tell."""
    recorded = [
        json.loads(text)
        for name in named(FEATURES)
        for text in texts(FEATURES / f"{name}.jsonl.gz")[::500]
    ]
    states = [state_of_yunikorn(line) for line in recorded]
    states += [state_of(drawn(seed)) for seed in range(1000 if TEST_ALL else 12)]
    cases = [
        Case(state, cluster, Asking(one, application, cluster.tree.leaf_of(application)))
        for state in states
        for cluster in [prepare(state)]
        for application, one in islice(cluster.partition.asks, 2)
    ]
    kinds = Counter((one.outlook.chance is not None, one.outlook.race) for one in cases)
    assert {(False, False), (True, False), (True, True)} == {*kinds}
    monkeypatch.setattr(outlook._Rank, "compared", True)  # noqa: SLF001 - all orders are tried
    for one in cases:
        again = outlook.look_ahead(one.state, one.cluster, one.asking, one.decision)
        assert again == one.outlook


def test_what_a_queue_above_its_max_leaves_to_chance() -> None:
    value = above_max()
    assert case_of_queue(value).may_also is None
    for one in value["applications"][0]["allocations"]:
        one |= {"resource": {"gpu": 1, "mem": 1}, "allocationTime": value["now"]}
    value = {**value, "queues": above_max(most=2)["queues"]}
    other = case_of_queue(value).may_also
    assert other is not None
    assert (other.by, len(other.victims)) == ("order", 2)


def case_of_queue(value: Json) -> Case:
    """Return the case of the queue above its maximum of an instance."""
    cluster, asking = asking_of(value, "root.research", LOWERED)
    return Case(state_of(value), cluster, asking)


def test_where_the_core_hangs() -> None:
    (name,) = (one for one in named(FEATURES) if one.endswith("hang"))
    for line in map(json.loads, texts(FEATURES / f"{name}.jsonl.gz")):
        plan = planner.solve(state_of_yunikorn(line), line["ask"]["allocationKey"])
        assert isinstance(plan, YuniKornPlan)
        assert plan.held_back is not None
        assert plan.held_back.why == "hangs"
        told(plan.notes[0])


def fair(value: Json) -> Json:
    """Return an instance in which the applications of the ask's leaf are sorted by fairness."""
    leaf = value["queues"]["partitions"][0]["queues"][0]["queues"][1]
    leaf["properties"]["application.sort.policy"] = "fair"
    return value


def test_what_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    value = two_queues(*TIED, size=2)
    assert "application.sort.policy is fair" in solved(fair(deepcopy(value))).notes[0]
    monkeypatch.setattr(outlook, "SMALL", 3)
    assert solved(value).may_also is not None
    monkeypatch.setattr(outlook, "SMALL", 2)
    plan = solved(value)
    assert (plan.may_also, plan.notes[0].partition(": ")[2]) == (
        None,
        "whether other asks act before it was not looked at: 3 allocations and asks are too many",
    )
    monkeypatch.setattr(outlook, "SMALL", 30)
    monkeypatch.setattr(outlook, "MOST_LOOKED_AT", 1)
    assert "it is not decided in 1 cycles" in solved(value).notes[0]


def turns(value: Json) -> dict[str, str]:
    """Return what an audit says of when each answer of the core comes."""
    return {case.pending: case.turn for case in planner.audit(state_of(value)).cases}


def test_an_audit_says_whose_turn_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    early = with_others(FULL, ask("first", GPU, priority="1"), submissionTime=1)
    assert turns(early) == {"ask": "held", "first": "next"}
    assert turns(two_queues(*TIED, size=2)) == {"ask": "chance"}
    assert turns(above_max()) == {"root.research": "next"}
    monkeypatch.setattr(outlook, "SMALL", 2)
    assert turns(two_queues(*TIED, size=2)) == {"ask": "unknown"}


def test_a_forged_claim_is_refused() -> None:
    first = ask("first", GPU, priority="1")
    early = with_others(FULL, first, submissionTime=1)
    held = YuniKornHeldBack(why="notFirst", text="", asks=("first",))
    chance = OtherChoice(by="order", outcome="preempts", node="n1", victims=("old",))
    for value, forged in (
        (early, {"held_back": held.model_copy(update={"asks": ("other",)})}),
        (early, {"held_back": held.model_copy(update={"why": "hangs"})}),
        (FULL, {"held_back": held}),
        (FULL, {"may_also": chance}),
        (two_queues(*TIED, size=2), {"may_also": chance}),
    ):
        plan = solved(value)
        assert planner.check(state_of(value), plan).accepted
        greedy = plan.greedy and plan.greedy.model_copy(update=forged)
        for update in (forged, {**forged, "greedy": greedy}):
            check = planner.check(state_of(value), plan.model_copy(update=update))
            assert not check.accepted
