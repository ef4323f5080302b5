"""YK-11: preemption is enabled, the ask may preempt others, has not done so, and has its turn."""

from typing import Any

import pytest

import planner
from tests.laws.judges_yunikorn import Court
from tests.verifier.yunikorn.plans import (
    CODE,
    DESIGN,
    REQUIRED,
    broken,
    full_node,
    guaranteed,
    one_node,
    plan_of,
)
from tests.yunikorn.building import Json, allocation, application, gpus, state_of, two_queues

A = frozenset({"a"})


def state(*, enabled: bool = True, **of_ask: Any) -> Json:
    """Build a full node with one candidate; the partition's preemption may be off."""
    value = two_queues(allocation("a", {"gpu": 4}), **of_ask)
    value["queues"]["partitions"][0]["preemption"] = {"enabled": enabled}
    return value


def waiting(of_queue: Json, counts: list[Json] | None = None, **of_ask: Any) -> Json:
    """Build such a node, and ada's application that has not started; another of hers runs."""
    value = state(**of_ask)
    value["queues"]["partitions"][0]["queues"][0]["queues"][1] |= of_queue
    value["applications"][1] |= {
        "user": "ada",
        "applicationState": "Accepted",
        "placeholderData": counts or [],
    }
    runs = application("has", "root.high", allocation("own", {"gpu": 1}, on="n2"))
    value["applications"].append(runs | {"user": "ada", "applicationState": "Running"})
    return value


@pytest.mark.parametrize(
    "value",
    [
        state(enabled=False),
        state(triggeredPreemption=True),
        state(x={"allowPreemptOther": False}),
        waiting({"limits": [{"users": ["ada"], "maxresources": {"gpu": "1"}}]}),
        waiting({"limits": [{"users": ["*"], "maxapplications": 1}]}),
        waiting({"maxapplications": 1}),
        waiting({"parent": True}),
        waiting({}, [{"taskGroupName": "tg", "count": 2, "replaced": 1}], taskGroupName="tg"),
    ],
)
def test_nobody_goes_for_an_ask_that_may_not_preempt(value: Json) -> None:
    court = Court(value)
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-11"}) == {"n1": {A}}
    clash = planner.explain(state_of(value), "ask").clash
    assert clash is not None
    assert [law.law for law in clash.laws] == ["YK-11"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (
            waiting({"limits": [{"users": ["ada"], "maxresources": {"gpu": "1"}}]}),
            "Not enough user quota",
        ),
        (
            waiting({"maxapplications": 1}),
            "Maximum number of running applications reached the queue limit (root.high)",
        ),
    ],
)
def test_in_the_words_of_the_core(value: Json, said: str) -> None:
    made, said = state_of(value), f"the core passes over it: {said}"
    plan, clash = planner.solve(made, "ask"), planner.explain(made, "ask").clash
    assert (plan.claim, plan.explanation.endswith(said)) == ("infeasible", True)
    assert clash is not None
    assert [(law.law, law.text) for law in clash.laws] == [("YK-11", said)]


@pytest.mark.parametrize(
    "value",
    [
        state(),
        waiting({"limits": [{"users": ["ada"], "maxresources": {"gpu": "2"}}]}),
        waiting({"limits": [{"users": ["*"], "maxapplications": 2}]}),
        waiting({"maxapplications": 2}),
        waiting({}, [{"taskGroupName": "tg", "count": 2, "replaced": 2}], taskGroupName="tg"),
        waiting({}, [{"taskGroupName": "tg", "count": 2}], placeholder=True, taskGroupName="tg"),
    ],
)
def test_otherwise_somebody_may(value: Json) -> None:
    assert Court(value).admitted() == {"n1": {A}}


def test_a_required_node_is_made_free_whatever_the_partition_says() -> None:
    value = state(enabled=False, requiredNodeId="n1", x={"allowPreemptOther": False})
    assert Court(value).admitted("yunikorn-required-node") == {"n1": {A}}


def test_an_ask_with_a_required_node_does_so_once() -> None:
    court = Court(state(requiredNodeId="n1", triggeredPreemption=True))
    assert court.admitted("yunikorn-required-node") == {"n1": set()}
    without = court.admitted("yunikorn-required-node", without={"YK-11"})
    assert without == {"n1": {A}}


@pytest.mark.parametrize(
    ("of_ask", "enabled", "law"),
    [
        ({}, True, []),
        ({"age": 0}, True, []),
        ({"x": {"preemptCheckTime": 1_800_000_000 * 10**9}}, True, []),
        ({"triggeredPreemption": True}, True, ["YK-11"]),
        ({"x": {"allowPreemptOther": False}}, True, ["YK-11"]),
        ({}, False, ["YK-11"]),
    ],
)
def test_may_preempt(of_ask: Json, enabled: bool, law: list[str]) -> None:  # noqa: FBT001
    made = state_of(state(enabled=enabled, **of_ask))
    assert broken(made, plan_of(made, "n1", "a")) == law


@pytest.mark.parametrize(
    ("of_ask", "law"),
    [
        ({}, []),
        ({"x": {"allowPreemptOther": False}}, []),
        ({"triggeredPreemption": True}, ["YK-11"]),
    ],
)
def test_with_a_required_node_only_an_earlier_attempt_forbids_it(
    of_ask: Json, law: list[str]
) -> None:
    """No guaranteed is needed, and the own queue may give victims."""
    made = one_node(
        guaranteed("high", 9, preemption_policy="disabled"),
        running={"root.high": gpus(a=1)},
        size=1,
        of_cluster={"preemption": {"enabled": False}},
        requiredNodeId="n1",
        **of_ask,
    )
    assert broken(made, plan_of(made, "n1", "a")) == law


@pytest.mark.parametrize(
    ("of_ask", "rules", "law"),
    [
        ({}, DESIGN, []),
        ({}, CODE, []),
        ({}, REQUIRED, ["YK-08", "YK-11"]),
        ({"requiredNodeId": "n1"}, DESIGN, ["YK-11"]),
        ({"requiredNodeId": "n1"}, CODE, ["YK-11"]),
        ({"requiredNodeId": "n1"}, REQUIRED, []),
    ],
)
def test_an_ask_with_a_required_node_has_rules_of_its_own(
    of_ask: Json, rules: str, law: list[str]
) -> None:
    state = full_node(**of_ask)
    assert broken(state, plan_of(state, "n1", "plain", rules=rules)) == law
    for status in ("infeasible", "unknown"):
        nothing = plan_of(state, None, rules=rules, status=status)
        assert broken(state, nothing) == (["YK-11"] if law else [])
