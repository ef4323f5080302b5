"""Asks with a required node: the plan is legal, and never larger than what the core takes."""

from __future__ import annotations

import pytest

import planner
from planner.quota.yunikorn.cluster import find_ask, prepare
from planner.reader.yunikorn import read_yunikorn_objects
from tests.solver.ways import solve
from tests.yunikorn.brute_force import legal_sets
from tests.yunikorn.building import NOW, SECOND, Json, allocation, state_of, two_queues
from tests.yunikorn.recorded import NAMES, lines, step

SAMPLE = 4
RECORDED = [name for name in NAMES if name.rpartition("/")[2] == "required-node"]
FEW = 8
"""Allocations up to which every subset is tried."""


@pytest.mark.parametrize("name", RECORDED)
def test_plan_is_legal_and_not_larger_than_the_core_s(name: str) -> None:
    smaller = compared = 0
    for line in lines(name, step(name, SAMPLE)):
        state = read_yunikorn_objects(line, where=line["id"])
        plan = solve(state, line["ask"]["allocationKey"], "min-count")
        assert plan.rules == "yunikorn-required-node"
        assert planner.verify(state, plan).accepted, line["id"]
        assert plan.greedy is not None
        if not line["expect"]["victims"] or plan.greedy.outside_rules:
            continue
        compared += 1
        assert plan.status == "optimal", line["id"]
        assert len(plan.victims) <= len(line["expect"]["victims"]), line["id"]
        smaller += len(plan.victims) < len(line["expect"]["victims"])
    assert compared
    assert smaller or step(name, SAMPLE) > 1


@pytest.mark.parametrize("name", RECORDED)
def test_plan_is_the_smallest_of_all_legal_sets(name: str) -> None:
    found = none = 0
    for line in lines(name, step(name, SAMPLE)):
        state = read_yunikorn_objects(line, where=line["id"])
        key = line["ask"]["allocationKey"]
        cluster = prepare(state)
        asking = find_ask(cluster, key)
        here = [
            one
            for each in cluster.partition.applications
            for one in each.allocations
            if one.node_id == asking.ask.required_node
        ]
        plan = solve(state, key, "min-count")
        if len(here) > FEW or "fits as it is" in plan.explanation:
            continue
        sets = legal_sets(cluster, asking, plan.rules)
        legal = set[frozenset[str]]().union(*sets.values())
        assert plan.status == ("optimal" if legal else "infeasible"), line["id"]
        if legal:
            found += 1
            assert frozenset(plan.keys) in legal, line["id"]
            assert len(plan.keys) == min(map(len, legal)), line["id"]
        else:
            none += 1
            assert plan.explanation
    assert found
    assert none or "/" in name


def daemon(*running: Json, wanted: int) -> Json:
    """Build a full node reserved for an ask that must run there, beside a free one."""
    value = two_queues(*running, guaranteed=0, requiredNodeId="n1")
    value["applications"][1]["requests"][0]["resource"] = {"gpu": wanted}
    value["nodes"][0]["nodesInfo"][0] |= {"reservations": ["ask"]}
    value["nodes"][0]["nodesInfo"].append({"nodeID": "n2", "capacity": {"gpu": 9}})
    return value


def test_one_large_allocation_instead_of_two_small_ones() -> None:
    """The core prefers the smaller ones, whatever their number."""
    running = [allocation("big", {"gpu": 2}), *(allocation(key, {"gpu": 1}) for key in "ab")]
    plan = solve(state_of(daemon(*running, wanted=2)), "ask", "min-count")
    assert plan.greedy is not None
    assert set(plan.greedy.keys) == {"a", "b"}
    assert (plan.status, plan.keys, plan.node) == ("optimal", ("big",), "n1")


def test_a_required_node_waits_for_no_delay() -> None:
    """Neither the delay nor the guaranteed of a queue counts for a required node."""
    value = daemon(*(allocation(key, {"gpu": 1}) for key in "abcd"), wanted=1)
    value["applications"][1]["requests"][0]["requestTime"] = NOW - SECOND
    plan = solve(state_of(value), "ask")
    assert (plan.status, len(plan.victims), plan.notes) == ("optimal", 1, ())
