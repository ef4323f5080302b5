"""JSON holds everything, and is what the published schemas say."""

import json

import pytest

from planner.plan.kueue import Plan
from planner.plan.yunikorn import YuniKornPlan
from planner.report.plans import Plans
from tests.published import validator
from tests.report.factory import make_fair, make_infeasible, make_plan, make_victim
from tests.report.rendering import as_json
from tests.report.yunikorn_factory import (
    make_allocation,
    make_core_plan,
    make_no_yunikorn,
    make_yunikorn,
)

PLANS = [make_plan(), make_infeasible(), make_fair(), make_plan(status="unknown", certificate=None)]
ASKS = [make_yunikorn(), make_no_yunikorn(), make_core_plan()]


@pytest.mark.parametrize("plan", [*PLANS, *ASKS])
def test_a_plan_is_a_line_where_python_shows_it(plan: Plan | YuniKornPlan) -> None:
    kind = type(plan).__name__
    assert repr(plan) == f"<{kind} {plan.status}: {plan.preemptor}: {plan.explanation}>"


@pytest.mark.parametrize("plan", [*PLANS, *ASKS])
def test_nothing_is_lost_and_the_schema_is_obeyed(plan: Plan | YuniKornPlan) -> None:
    text = as_json.render(plan)
    assert type(plan).model_validate_json(text) == plan
    validator("plan").validate(json.loads(text))


def test_several_plans_are_one_object() -> None:
    value = json.loads(as_json.render_all(PLANS))
    validator("plans").validate(value)
    assert [plan["status"] for plan in value["plans"]] == [
        "optimal",
        "infeasible",
        "optimal",
        "unknown",
    ]
    assert value["schema"] == "planner/v1"


def test_no_name_can_steer_the_terminal() -> None:
    evil = "ns/\x1b[2J\x07\u202e\x9b"
    for plan, key in (
        (make_plan(victims=[make_victim(evil)]), "workload"),
        (make_yunikorn(victims=[make_allocation(evil, allocation=evil)]), "allocation"),
    ):
        text = as_json.render(plan)
        assert text.isascii()
        assert text.replace("\n", "").isprintable()
        assert json.loads(text)["victims"][0][key] == evil


def test_the_assignment_has_the_form_that_solve_accepts() -> None:
    assignment = json.loads(as_json.render(make_plan()))["assignment"]
    validator("assignment").validate(assignment)
    assert assignment["podSets"][0]["flavors"]["cpu"] == {"flavor": "h200", "mode": "Fit"}


def test_plans_of_both_schedulers_side_by_side() -> None:
    """An infinite share is one beside plans of another scheduler, too."""
    text = as_json.render_all([make_fair(), *ASKS])
    validator("plans").validate(json.loads(text))
    assert Plans.model_validate_json(text).plans == (make_fair(), *ASKS)
    assert json.loads(text)["plans"][0]["shares"][0]["before"] == "Infinity"
