"""The same state has the same plan, in whatever order its parts are listed."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

import planner
from planner.plan.yunikorn import YuniKornPlan
from planner.reader.yunikorn import read_yunikorn_objects
from tests.solver.yunikorn_truth import SAMPLE
from tests.yunikorn.legality import SMALL
from tests.yunikorn.recorded import Line, lines, step


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


def without_clock(plan: YuniKornPlan) -> dict[str, Any]:
    """Return a plan as data, but for how long it took."""
    value = plan.model_dump()
    if value["certificate"]:
        del value["certificate"]["wall_time_s"]
    return value


@pytest.mark.parametrize("profile", ["no-regret", "min-count"])
@pytest.mark.parametrize("name", SMALL)
def test_the_same_plan_twice(name: str, profile: str) -> None:
    for line in lines(name, 3 * step(name, SAMPLE)):
        twice = [without_clock(solved(line, profile)) for _ in range(2)]
        assert twice[0] == twice[1], line["id"]


@pytest.mark.parametrize("profile", ["no-regret", "min-count"])
@pytest.mark.parametrize("name", SMALL)
def test_the_order_of_the_state_decides_only_between_equals(name: str, profile: str) -> None:
    """Other victims only where the core's own order has equals: it has none of its own there."""
    compared = 0
    for line in lines(name, 3 * step(name, SAMPLE)):
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
