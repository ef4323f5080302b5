"""An answer is of the scheduler whose state is asked about: as it runs, and for type checkers."""

from typing import Any, Literal, assert_type

import pytest
from pydantic import BaseModel, TypeAdapter

import planner
from planner.commands.explain.record import CommonExplanation
from planner.scheduler import record, register, schedulers
from planner.scheduler.kueue import Kueue
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


def test_a_script_needs_no_isinstance() -> None:
    """It is typed as it stands, whether it names the scheduler or not: mypy checks it, strictly."""
    path = ROOT / "instances" / "quickstart" / "cluster.json"
    state = planner.read(path, scheduler="kueue")
    victims: list[str] = []
    lost = 0
    for pending in state.pending:
        plan = planner.solve(state, pending)
        victims = [assert_type(victim.workload, str) for victim in plan.victims]
        lost = sum(victim.costs["lost_work"] for victim in plan.victims)
        assert assert_type(plan.terms["lost_work"], int) == lost
        itself = plan.greedy or plan
        assert len(victims) == plan.terms["workloads"] < itself.terms["workloads"]
    either = planner.read(path)
    for pending in either.pending:
        of_either = planner.solve(either, pending)
        assert assert_type(of_either.keys, tuple[str, ...]) == tuple(victims)
        assert of_either.terms["lost_work"] == lost


@pytest.mark.parametrize("plan", [planner.Plan, planner.YuniKornPlan])
def test_plans_show_a_dozen_names_at_most(plan: type[planner.AnyPlan]) -> None:
    """Besides pydantic's own, and the fields of their document."""
    shown = {name for name in dir(plan) if not name.startswith("_")} - {*dir(BaseModel)}
    assert len(shown) <= 12, sorted(shown)


class OtherPlan(planner.AnyPlan):
    """A plan of a scheduler that is added."""

    scheduler: Literal["other"]  # pyright: ignore[reportIncompatibleVariableOverride]


class Other(Kueue):
    """A scheduler that is added."""

    id = "other"

    @property
    def plan(self) -> type[Any]:
        """The class of its plans."""
        return OtherPlan


def test_fields_hold_plans_of_all_that_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "_REGISTERED", {one.id: one for one in schedulers()})
    register(Other())
    schema = TypeAdapter(list[planner.AnyPlan]).json_schema()
    names = [one["$ref"].rpartition("/")[2] for one in schema["items"]["anyOf"]]
    assert names == ["Plan", "YuniKornPlan", "OtherPlan"]
