"""What a plan takes more of than the scheduler's own, in every format."""

from __future__ import annotations

import json

import planner
from planner.plan import Excess
from planner.plan.kueue import Plan
from tests.recorded import lines, state_of
from tests.report.factory import make_greedy, make_plan, make_victim
from tests.report.rendering import as_json, html, markdown, plain, table
from tests.report.yunikorn_factory import make_yunikorn

SAID = "More than Kueue itself: 2 queues instead of 1, 1 victim of priority 20 instead of 0"


def test_more_is_told_in_every_format() -> None:
    plan = make_plan()
    assert SAID in table.render(plan, width=108)
    assert SAID in html.render(plan)
    assert SAID in markdown.render(plan)
    assert {"queues plan=2 kueue=1", "highest_priority plan=1 kueue=0 priority=20"} == {
        line.partition(" ")[2].strip()
        for line in plain.render(plan).splitlines()
        if line.startswith("more ")
    }
    assert json.loads(as_json.render(plan))["more_than_greedy"] == [
        {"measure": "queues", "plan": 2, "greedy": 1, "priority": None},
        {"measure": "highest_priority", "plan": 1, "greedy": 0, "priority": 20},
    ]


def test_priorities_of_yunikorn_are_the_adjusted_ones() -> None:
    said = "2 queues instead of 1, 1 victim of priority 15 instead of 0"
    assert f"More than YuniKorn itself: {said}" in table.render(make_yunikorn(), width=120)


def test_nothing_is_told_where_there_is_no_more() -> None:
    greedy = make_greedy()
    same = make_plan(victims=greedy.victims, terms=greedy.terms, greedy=greedy)
    assert same.more_than_greedy == ()
    assert "More than" not in table.render(same, width=108)
    nobody = make_greedy(status="infeasible", victims=(), terms={})
    assert make_plan(greedy=nobody).more_than_greedy == ()
    assert make_plan(greedy=None).more_than_greedy == ()


def test_what_is_being_evicted_already_is_not_counted() -> None:
    gone = [make_victim("team-b/gone", priority=99, evicted=True)]
    terms = {"D2p": 0, "D8": 0}
    assert make_plan(victims=gone, terms=terms).more_than_greedy == ()


def test_it_follows_from_the_rest_whatever_is_read() -> None:
    plan = make_plan()
    written = json.loads(as_json.render(plan))
    written["more_than_greedy"] = [{"measure": "pods", "plan": 9, "greedy": 1}]
    assert Plan.model_validate(written) == plan
    assert Plan.model_validate(written).more_than_greedy == plan.more_than_greedy


def test_no_regret_may_take_more_and_then_says_so() -> None:
    """Its caps bind neither pods nor queues, nor how many victims the highest priority has."""
    found: set[str] = set()
    for line in list(lines("small-classical-flat"))[:80]:
        plan = planner.solve(state_of(line), line["pending"], assignment=line.get("assignment"))
        if plan.greedy is None or not (plan.greedy.victims and plan.victims):
            continue
        excess = {one.measure: one for one in plan.more_than_greedy}
        pods, queues = ((plan.terms[term], plan.greedy.terms[term]) for term in ("D2p", "D8"))
        more = Excess(measure="pods", plan=pods[0], greedy=pods[1])
        assert excess.get("pods") == (more if pods[0] > pods[1] else None)
        more = Excess(measure="queues", plan=queues[0], greedy=queues[1])
        assert excess.get("queues") == (more if queues[0] > queues[1] else None)
        found |= excess.keys()
    assert found >= {"pods", "queues"}
