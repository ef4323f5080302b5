"""The verifier of YuniKorn plans as a whole: order of verdicts, plans without victims, speed."""

import pytest

from planner.errors import LookupFailed
from planner.laws import RULE_SETS
from planner.quota.yunikorn.cluster import prepare
from planner.verifier.yunikorn import match_yunikorn, verify_yunikorn_plan
from planner.verifier.yunikorn.case import YuniKornCase
from tests.verifier.yunikorn.plans import CODE, DESIGN, GPU, REQUIRED, guaranteed, one_node, plan_of
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

STATE = one_node(
    queue("low"),
    guaranteed("high", 2),
    running={"root.low": [allocation("a", GPU), allocation("b", GPU)]},
    size=2,
)


@pytest.mark.parametrize("rules", [DESIGN, "yunikorn-written", CODE, REQUIRED])
def test_verdicts_in_the_order_of_the_registry(rules: str) -> None:
    more: Json = {"requiredNodeId": "n1"} if rules == REQUIRED else {}
    state = one_node(
        queue("low"),
        guaranteed("high", 2),
        running={"root.low": [allocation("a", GPU)]},
        size=1,
        **more,
    )
    verification = verify_yunikorn_plan(state, plan_of(state, "n1", "a", rules=rules))
    expected = [(law.id, law.title) for law in RULE_SETS[rules]]
    assert [(verdict.law, verdict.title) for verdict in verification.verdicts] == expected
    assert all(verdict.detail for verdict in verification.verdicts)
    assert verification.removal_order == ("a",)
    assert verification.accepted


def test_a_cluster_made_ready_saves_time_only() -> None:
    plan = plan_of(STATE, "n1", "a")
    once = verify_yunikorn_plan(STATE, plan, cluster=prepare(STATE))
    assert once == verify_yunikorn_plan(STATE, plan)


@pytest.mark.parametrize("status", ["infeasible", "unknown"])
def test_a_plan_without_an_answer_names_nothing(status: str) -> None:
    for node_id, taken, accepted in (
        (None, (), True),
        ("n1", (), False),
        (None, ("a",), False),
        ("n1", ("a",), False),
    ):
        plan = plan_of(STATE, node_id, *taken, status=status)
        verification = verify_yunikorn_plan(STATE, plan)
        assert verification.accepted == accepted
        assert verification.verdicts == ()


@pytest.mark.parametrize("fields", [{"preemptor": "nonesuch"}, {"partition": "nonesuch"}])
def test_an_ask_that_is_not_there_is_an_error(fields: dict[str, str]) -> None:
    plan = plan_of(STATE, "n1", "a").model_copy(update=fields)
    with pytest.raises(LookupFailed, match="nonesuch"):
        verify_yunikorn_plan(STATE, plan)


def test_what_does_not_match_is_a_fault() -> None:
    case = match_yunikorn(STATE, plan_of(STATE, "n9", "a", "nonesuch", "a"))
    assert isinstance(case, YuniKornCase)
    assert [victim.key for victim in case.victims] == ["a"]
    assert case.node is None
    assert case.faults == {
        "fits_node": ["there is no node n9"],
        "preemptable": ("a is named 2 times", "nonesuch is not among the allocations"),
    }


def test_a_thousand_victims_of_a_hundred_queues() -> None:
    """The large one of each queue must be its last to go; the plan names it first."""
    names = [f"{number:03}" for number in range(100)]
    large, small = {"gpu": 10}, GPU
    apps = [
        application(
            f"app-{name}",
            f"root.q{name}",
            allocation(f"{name}-large", large),
            *(allocation(f"{name}-{i}", small) for i in range(9)),
        )
        for name in names
    ]
    state = state_of(
        cluster_value(
            [
                *(queue(f"q{name}", guaranteed={"gpu": 9}) for name in names),
                queue("high", guaranteed={"gpu": 9999}),
            ],
            [node("n1", {"gpu": 1900})],
            [*apps, application("asks", "root.high", asks=(ask("ask", {"gpu": 1900}),))],
        )
    )
    keys = [
        held.allocation_key
        for app in prepare(state).partition.applications
        for held in app.allocations
    ]
    plan = plan_of(state, "n1", *keys, rules=CODE)
    verification = verify_yunikorn_plan(state, plan)
    assert verification.accepted
    assert verification.removal_order != tuple(keys)
    assert sorted(verification.removal_order) == sorted(keys)
