"""Answers in the library: in every style, in notebooks, and as tables of pandas."""

import sys
from collections.abc import Callable, Mapping
from functools import cache
from html import unescape
from typing import Any, get_args

import pandas as pd
import pytest

import planner
from planner.errors import SchemaError
from planner.report.render import Style
from planner.report.terminal import SMALLEST_WIDTH
from tests.report.factory import make_infeasible, make_plan, make_victim
from tests.report.yunikorn_factory import make_yunikorn
from tests.told import told

STATE = planner.read("instances/regressions/kueue-1974-too-many-victims.yaml")


@cache
def solved() -> planner.AnyPlan:
    return planner.solve(STATE)


ANSWERS: Mapping[str, Callable[[], object]] = {
    "Plan": solved,
    "Front": lambda: planner.front(STATE),
    "JointPlan": lambda: planner.solve_joint(STATE),
    "Explanation": lambda: planner.explain(STATE),
    "WhatIf": lambda: planner.whatif(
        STATE, ["clusterqueue/vision.preemption.withinClusterQueue=Never"]
    ),
    "Boosts": lambda: planner.boost(STATE),
    "Audit": lambda: planner.audit(STATE),
    "Check": lambda: planner.check(STATE, solved()),
    "YuniKornPlan": make_yunikorn,
}


@pytest.fixture(scope="module", params=ANSWERS)
def answer(request: pytest.FixtureRequest) -> Any:
    """Give an answer of each kind."""
    made = ANSWERS[request.param]()
    assert type(made).__name__ == request.param
    return made


def is_written_everywhere(answer: Any) -> None:
    """Check an answer in every style, in a notebook, and where Python prints it."""
    test_every_answer_is_written_in_every_style(answer)
    test_a_notebook_shows_the_page_in_a_frame(answer)
    test_every_answer_is_a_line_where_python_prints_it(answer)


def test_every_answer_is_written_in_every_style(answer: Any) -> None:
    assert planner.render(answer, "json").startswith("{")
    assert planner.render(answer, "html").startswith("<!DOCTYPE html>")
    assert planner.render(answer, "markdown").startswith("## ")
    for width in (SMALLEST_WIDTH, 80):
        lines = planner.render(answer, width=width).splitlines()
        assert max(len(line) for line in lines if not line.startswith("kubectl ")) <= width


@pytest.mark.parametrize("width", ["80", 0, True, None])
def test_a_width_that_is_none_is_refused(width: Any) -> None:
    with pytest.raises(SchemaError) as caught:
        planner.render(make_plan(), width=width)
    assert caught.value.where == "width"


def test_a_style_that_is_none_is_refused() -> None:
    style: Any = "pdf"
    with pytest.raises(planner.InputError, match=", ".join(get_args(Style))):
        planner.render(make_plan(), style)


@pytest.mark.parametrize("thing", [STATE, STATE.source, None])
def test_what_is_no_answer_is_refused(thing: Any) -> None:
    with pytest.raises(planner.InputError) as caught:
        planner.render(thing)
    told(caught.value)


def test_a_notebook_shows_the_page_in_a_frame(answer: Any) -> None:
    shown = answer._repr_html_()
    assert shown is not None
    start, end = '<iframe srcdoc="', '" sandbox=""'
    assert shown.startswith(start)
    inside = shown[len(start) : shown.index(end)]
    assert "<" not in inside
    assert unescape(inside) == planner.render(answer, "html")


def test_every_answer_is_a_line_where_python_prints_it(answer: Any) -> None:
    """The fields of an audit, a simulation or a risk would fill a screen."""
    assert repr(answer).startswith(f"<{type(answer).__name__} ")
    assert "\n" not in repr(answer)
    assert len(repr(answer)) < 300
    assert str(answer) == repr(answer)


def test_victims_are_a_table_of_pandas() -> None:
    victims = [
        make_victim("ns/a", gpus=3, priority=7, costs={"lost_work": 60}),
        make_victim("ns/b", gpus=1, priority=9, costs={"lost_work": 90}),
    ]
    frame = make_plan(victims=victims).to_frame()
    assert list(frame.index) == ["ns/a", "ns/b"]
    assert list(frame["priority"]) == [7, 9]
    assert list(frame["lost_work"]) == [60, 90]
    assert list(frame["h200/nvidia.com/gpu"]) == [3, 1]
    assert isinstance(frame, pd.DataFrame)
    assert len(make_infeasible().to_frame()) == 0


def test_allocations_are_named_by_their_keys() -> None:
    plan = make_yunikorn()
    frame = plan.to_frame()
    assert list(frame.index) == list(plan.keys)
    assert list(frame["pod"]) == [victim.pod for victim in plan.victims]
    for number, victim in enumerate(plan.victims):
        for one in victim.usage:
            assert frame[one.resource].tolist()[number] == one.units


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(planner.PlannerError) as caught:
        make_plan().to_frame()
    told(caught.value)


def test_boosts_are_those_of_kueue_alone() -> None:
    state = planner.read("instances/yunikorn/quickstart")
    with pytest.raises(planner.InputError) as caught:
        planner.boost(state)
    told(caught.value)
