"""YK-01: opted-out and originator allocations are spared where that is asked for."""

from typing import Any

import pytest

from planner.plan import Certificate, Level, Proof
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import GPU, broken, full_node, plan_of, verdicts
from tests.yunikorn.building import Json, allocation, two_queues

A, B = frozenset({"a"}), frozenset({"b"})


@pytest.mark.parametrize("flag", [{"originator": True}, {"x": {"allowPreemptSelf": False}}])
def test_the_last_tier_is_spared(flag: dict[str, Any]) -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, **flag)
    court = Court(two_queues(*running))
    assert court.admitted(spare="last-tier") == {"n1": {A}}
    without = court.admitted(spare="last-tier", without={"YK-01"})
    assert without == {"n1": {A, B, A | B}}


def test_otherwise_the_flags_are_suggestions() -> None:
    running = allocation("a", {"gpu": 2}), allocation("b", {"gpu": 2}, originator=True)
    assert Court(two_queues(*running)).admitted() == {"n1": {A, B, A | B}}


def test_nobody_is_left_if_all_are_of_the_last_tier() -> None:
    running = allocation("a", {"gpu": 4}, originator=True)
    court = Court(two_queues(running))
    assert court.admitted(spare="last-tier") == {"n1": set()}
    assert court.admitted() == {"n1": {A}}


OPTED_OUT: Json = {"x": {"allowPreemptSelf": False}}


ORIGINATOR: Json = {"originator": True}


def level(term: str, value: int, bound: int, resort: Proof | None = None) -> Certificate:
    made = Level(term=term, title="", unit="", value=value, bound=bound)
    return Certificate(digest="", levels=(made,), last_resort=resort)


OPTED_OUT_CASES = [
    (None, ["YK-01"]),
    (level("workloads", 1, 1), ["YK-01"]),
    (level("workloads", 1, 1, "certified"), []),
    (level("last_resort", 1, 1), ["YK-01"]),
    (level("last_resort", 1, 1, "certified"), []),
    (level("last_resort", 1, 0, "certified"), ["YK-01"]),
    (level("last_resort", 2, 2, "certified"), ["YK-01"]),
]
"""Who opted out is a last resort under every objective."""

ORIGINATOR_CASES = [
    (None, []),
    (level("workloads", 1, 0), []),
    (level("last_resort", 1, 1), []),
    (level("last_resort", 1, 0), ["YK-01"]),
    (level("last_resort", 2, 2), ["YK-01"]),
    (level("last_resort", 0, 0), ["YK-01"]),
]
"""Originators are where they are counted."""


@pytest.mark.parametrize(
    ("flags", "certificate", "law"),
    [
        *((OPTED_OUT, *case) for case in OPTED_OUT_CASES),
        *((OPTED_OUT | ORIGINATOR, *case) for case in OPTED_OUT_CASES),
        *((ORIGINATOR, *case) for case in ORIGINATOR_CASES),
    ],
)
def test_a_proved_plan_proves_its_last_resorts(
    flags: Json, certificate: Certificate | None, law: list[str]
) -> None:
    state = full_node(allocation("a", GPU, **flags))
    plan = plan_of(state, "n1", "a", certificate=certificate)
    plan = plan.model_copy(update={"status": "optimal"})
    assert broken(state, plan) == law
    assert broken(state, plan.model_copy(update={"algorithm": "yunikorn"})) == []
    assert broken(state, plan_of(state, "n1", "plain", certificate=certificate)) == []


def test_a_plan_without_proof_need_not_prove_its_last_resorts() -> None:
    state = full_node(allocation("a", GPU, **OPTED_OUT))
    plan = plan_of(state, "n1", "a", certificate=level("last_resort", 1, 0))
    assert broken(state, plan.model_copy(update={"status": "feasible"})) == []
    assert broken(state, plan.model_copy(update={"status": "optimal"})) == ["YK-01"]


def test_last_resorts_in_words() -> None:
    state = full_node(allocation("a", GPU, **OPTED_OUT), allocation("b", GPU, **ORIGINATOR))
    plan = plan_of(state, "n1", "a", "b", certificate=level("last_resort", 2, 0))
    proved = plan.model_copy(update={"status": "optimal"})
    told(verdicts(state, proved)["YK-01"].detail)
    suggestion = verdicts(state, plan_of(state, "n1", "b"))["YK-01"]
    told(suggestion.detail)
    late = verdicts(state, plan_of(state, "n1", "a"))["YK-01"]
    told(late.detail)
