"""An answer is of the scheduler whose state is asked about: as it runs, and for type checkers."""

from typing import Literal, assert_type

import pytest
from pydantic import TypeAdapter

import planner
from planner.commands.explain.record import CommonExplanation
from planner.scheduler import KUEUE, record, register, schedulers
from tests.conftest import ROOT, YUNIKORN


def test_of_kueue() -> None:
    state = planner.read(ROOT / "instances" / "quickstart")
    assert isinstance(state, planner.State)
    assert isinstance(assert_type(planner.solve(state), planner.Plan), planner.Plan)
    assert isinstance(assert_type(planner.greedy(state, now=None), planner.Plan), planner.Plan)
    explained = assert_type(planner.explain(state), planner.Explanation)
    assert isinstance(explained, planner.Explanation)


def test_of_yunikorn() -> None:
    state = planner.read(YUNIKORN)
    assert isinstance(state, planner.YuniKornState)
    plan = assert_type(planner.solve(state), planner.YuniKornPlan)
    assert isinstance(plan, planner.YuniKornPlan)
    plan = assert_type(planner.greedy(state=state), planner.YuniKornPlan)
    assert isinstance(plan, planner.YuniKornPlan)
    explained = assert_type(planner.explain(state, limit=1), planner.YuniKornExplanation)
    assert isinstance(explained, planner.YuniKornExplanation)


def test_of_either() -> None:
    state = assert_type(planner.read(ROOT / "instances" / "quickstart"), planner.AnyState)
    assert isinstance(state, planner.AnyState)
    assert isinstance(assert_type(planner.solve(state), planner.AnyPlan), planner.AnyPlan)
    assert isinstance(assert_type(planner.explain(state), CommonExplanation), planner.Explanation)


class OtherPlan(planner.AnyPlan):
    """A plan of a scheduler that is added."""

    scheduler: Literal["other"]  # pyright: ignore[reportIncompatibleVariableOverride]


def test_fields_hold_plans_of_all_that_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_REGISTERED", {one.id: one for one in schedulers()})
    register(KUEUE._replace(id="other", parts={"plan": f"{__name__}:OtherPlan"}))
    schema = TypeAdapter(list[planner.AnyPlan]).json_schema()
    names = [one["$ref"].rpartition("/")[2] for one in schema["items"]["anyOf"]]
    assert names == ["Plan", "YuniKornPlan", "OtherPlan"]
