"""YuniKorn's own examples, ask after ask, with the optimum; the same plan in whatever order.

Source: Apache YuniKorn 1.5.0, user guide, "Preemption". They end as it says for both.
"""

import copy
import random
from itertools import product

import pytest

import planner
from planner.plan.yunikorn import YuniKornPlan
from planner.reader.yunikorn import read_yunikorn_objects
from planner.state.yunikorn import Allocation, Application, Ask, YuniKornState
from tests.conftest import some
from tests.solver.yunikorn_truth import SAMPLE
from tests.yunikorn.legality import SMALL
from tests.yunikorn.recorded import Line, lines, step
from tests.yunikorn.test_guide import DOCUMENTED, GUIDE, in_use, pods_in, read_folder

Amounts = dict[str, int]
ENOUGH = 100
"""More steps than any example has."""


def changed_by(amounts: Amounts, more: Amounts, sign: int) -> Amounts:
    return {t: amounts.get(t, 0) + sign * more.get(t, 0) for t in amounts.keys() | more.keys()}


def placed(ask: Ask, node: str, now: int) -> Allocation:
    """Return an ask as an allocation that was made now."""
    fields = ask.model_dump(by_alias=True)
    common = {name: fields[name] for name in fields if name in ALLOCATION_FIELDS}
    return Allocation.model_validate({**common, "allocationTime": now, "nodeId": node})


ALLOCATION_FIELDS = {field.alias or name for name, field in Allocation.model_fields.items()}


def carried_out(state: YuniKornState, plan: YuniKornPlan, node: str) -> YuniKornState:
    """Return the state once the victims are gone and the ask has its place on a node."""
    (partition,) = state.partitions
    gone = set(plan.keys)
    room = {one.node_id: dict(one.available or {}) for one in partition.nodes}
    applications: list[Application] = []
    for application in partition.applications:
        kept = [one for one in application.allocations if one.allocation_key not in gone]
        for one in application.allocations:
            if one.allocation_key in gone:
                room[one.node_id] = changed_by(room[one.node_id], one.resource, 1)
        left = [one for one in application.requests if one.allocation_key != plan.preemptor]
        for ask in application.requests:
            if ask.allocation_key == plan.preemptor:
                room[node] = changed_by(room[node], ask.resource, -1)
                kept.append(placed(ask, node, state.now))
        update = {"allocations": tuple(kept), "requests": tuple(left)}
        applications.append(application.model_copy(update=update))
    nodes = [one.model_copy(update={"available": room[one.node_id]}) for one in partition.nodes]
    after = partition.model_copy(
        update={"applications": tuple(applications), "nodes": tuple(nodes)}
    )
    return state.model_copy(update={"partitions": (after,)})


def free_node(state: YuniKornState, key: str) -> str:
    """Return the first node on which an ask fits as it is."""
    (partition,) = state.partitions
    (ask,) = [
        one for each in partition.applications for one in each.requests if one.allocation_key == key
    ]
    return min(
        one.node_id
        for one in partition.nodes
        if all((one.available or {}).get(t, 0) >= n for t, n in ask.resource.items())
    )


def next_plan(state: YuniKornState, last: str) -> YuniKornPlan | None:
    """Return the plan of the first ask that can be placed; whoever waited is asked again last.

    Of asks that are alike one is asked: where it has no place, none of them has.
    """
    kinds = {
        ask.allocation_key: (one.application_id, ask.priority, sorted(ask.resource.items()))
        for one in state.partitions[0].applications
        for ask in one.requests
    }
    refused = list[object]()
    for key in sorted(state.pending, key=lambda key: key <= last):
        if kinds[key] not in refused:
            plan = planner.solve(state, key)
            if plan.status == "optimal":
                return plan
            refused.append(kinds[key])
    return None


def run(state: YuniKornState) -> tuple[YuniKornState, list[YuniKornPlan]]:
    """Carry out plan after plan until nothing changes."""
    plans: list[YuniKornPlan] = []
    last = ""
    while (plan := next_plan(state, last)) is not None and len(plans) < ENOUGH:
        assert planner.verify(state, plan).accepted
        plans.append(plan)
        last = plan.preemptor
        state = carried_out(state, plan, plan.node or free_node(state, plan.preemptor))
    return state, plans


@pytest.mark.parametrize("name", GUIDE)
def test_example_ends_as_documented(name: str) -> None:
    state, plans = run(read_folder(name))
    assert in_use(state) == {leaf: later for leaf, (_, later) in DOCUMENTED[name].items()}
    for plan in plans:
        assert plan.greedy is not None
        assert len(plan.victims) <= len(plan.greedy.victims)


def test_pods_that_opted_out_are_spared() -> None:
    before = read_folder("guide-priority-class")
    after, plans = run(before)
    assert pods_in(after, "queue-2") == pods_in(before, "queue-2")
    assert plans
    assert not any(plan.last_tier for plan in plans)


def shuffled(line: Line) -> Line:
    """Return the line with its applications, allocations and nodes in another order."""
    line = copy.deepcopy(line)
    chance = random.Random(line["id"])  # noqa: S311 - test data
    for application in line["applications"]:
        chance.shuffle(held(application))
    chance.shuffle(line["applications"])
    for partition in line["nodes"]:
        chance.shuffle(partition["nodesInfo"])
    return line


def solved(line: Line, profile: str) -> YuniKornPlan:
    state = read_yunikorn_objects(line, where=line["id"])
    return planner.solve(state, line["ask"]["allocationKey"], profile)


@pytest.mark.parametrize(("name", "profile"), some(product(SMALL, ["no-regret", "min-count"]), 3))
def test_the_order_of_the_state_decides_only_between_equals(name: str, profile: str) -> None:
    """Other victims only where the core's own order has equals: it has none of its own there."""
    compared = 0
    for line in lines(name, 3 * step(name, SAMPLE, 2)):
        plan, other = solved(line, profile), solved(shuffled(line), profile)
        compared += 1
        assert (plan.status, levels(plan)) == (other.status, levels(other)), line["id"]
        assert ranks(plan) == ranks(other), line["id"]
        made = [one["allocationTime"] for each in line["applications"] for one in held(each)]
        if len(made) == len(set(made)):
            assert plan.keys == other.keys, line["id"]
    assert compared


def held(application: Line) -> list[Line]:
    """Return the allocations of an application."""
    return application.get("allocations") or []


def levels(plan: YuniKornPlan) -> list[tuple[str, int, int]]:
    """Return the levels of a plan with their bounds."""
    found = plan.certificate.levels if plan.certificate else ()
    return [(level.term, level.value, level.bound) for level in found]


def ranks(plan: YuniKornPlan) -> list[tuple[bool, bool, int]]:
    """Return what the core's order looks at, for each victim."""
    return sorted((one.opted_out, one.originator, one.age_s) for one in plan.victims)
