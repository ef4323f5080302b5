"""Flavors chosen for least disruption: the best over all assignments, by looking at all."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import pytest

from planner.objective.profiles import PROFILES
from planner.plan.kueue import Plan
from planner.quota.kueue.assignment import Assignment
from planner.reader.kueue import read_kueue_objects
from planner.state.kueue import State
from tests import recorded
from tests.conftest import TEST_ALL, recorded_root
from tests.solver.flavor_truth import FlavorTruth, TooLargeError

FILES = [(name, fair) for name in ("small-flavors", "small-edge") for fair in (False, True)]
EVERY = {"small-flavors": 40, "small-edge": 16}
TESTED = ("no-regret", "min-count", "kueue-like", "exact-fit", "min-lost-work", "fewest-tenants")


@cache
def truths(name: str, *, fair: bool) -> list[FlavorTruth]:
    """Return lines whose queue lets the workload choose; the flavors must be Kueue's own."""
    return list(_truths(name, fair=fair))


def _truths(name: str, *, fair: bool) -> Iterator[FlavorTruth]:
    number, step = 0, EVERY[name] if recorded_root() and not TEST_ALL else 1
    for line in recorded.lines(name):
        state = recorded.state_of(line)
        if line.get("assignment") or state.configuration.fair_sharing_on != fair:
            continue
        truth = FlavorTruth(state, line["pending"])
        if len(truth.assignments) > 1:
            number += 1
            if number % step == 0:
                yield truth


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_the_plan_is_the_best_over_all_assignments_and_all_legal_sets(
    name: str, *, fair: bool
) -> None:
    compared = moved = 0
    for number, truth in enumerate(truths(name, fair=fair)):
        profile = PROFILES[TESTED[number % len(TESTED)]]
        try:
            expected = truth.best(profile, truth.answers)
        except TooLargeError:
            continue
        compared += 1
        plan = truth.solve(profile)
        what = f"{truth.state.source} {profile.name}"
        assert plan.flavors is not None
        assert plan.flavors.permitted == len(truth.permitted), what
        assert plan.flavors.distinct == len(truth.assignments), what
        if expected is None:
            assert plan.status == "infeasible", what
            continue
        assert plan.status == "optimal", what
        levels = truth.levels(profile)
        values = [sum(plan.terms[t] for t in level) for level in levels]
        assert values == [sum(expected.terms[t] for t in level) for level in levels], what
        assert flavors_of(plan) == flavors_of(truth.assignments[expected.number]), what
        assert frozenset(plan.keys) == expected.victims, what
        assert plan.terms == {term: expected.terms[term] for term in plan.terms}, what
        moved += expected.number > 0
    assert compared
    assert moved or name != "small-flavors" or not recorded_root()


@pytest.mark.parametrize(("name", "fair"), FILES)
def test_the_contrast_is_the_best_under_kueues_own_flavors(name: str, *, fair: bool) -> None:
    profile = PROFILES["no-regret"]
    for truth in truths(name, fair=fair):
        try:
            own = [a for a in truth.answers if truth.own_complete and a.number == 0]
        except TooLargeError:
            continue
        expected = truth.best(profile, own)
        plan = truth.solve(profile)
        assert plan.flavors is not None
        alone = plan.flavors.kueue
        assert alone.assignment == truth.own
        if expected is None:
            assert alone.status == "infeasible"
            assert not alone.victims
            continue
        assert alone.status == "optimal"
        assert frozenset(alone.victims) == expected.victims
        assert alone.terms == {term: expected.terms[term] for term in alone.terms}


def flavors_of(assigned: Plan | Assignment) -> list[tuple[str, str, str, str]]:
    """Return podset, resource, flavor and mode of every choice."""
    assignment = assigned.assignment if isinstance(assigned, Plan) else assigned
    return sorted(
        (pods.name, resource, choice.flavor, choice.mode)
        for pods in assignment.pod_sets
        for resource, choice in pods.flavors.items()
    )


OUTSIDE = ("small-fair-flat-0000188", "small-fair-hier-0001469", "small-fair-hier-0003411")
"""Recorded lines in which Kueue's own answer is outside its rules, also with twice the flavors."""


def doubled(line: recorded.Line) -> State:
    """Return a line with a second flavor for each, as full, of workloads one priority lower."""
    found: list[dict[str, Any]] = []
    for item in line["state"]["items"]:
        found.append(item)
        second = deepcopy(item)
        if item["kind"] == "ResourceFlavor":
            second["metadata"]["name"] += "-2"
            found.append(second)
        elif "resourceGroups" in item.get("spec", {}):
            for covering, more in zip(
                item["spec"]["resourceGroups"], second["spec"]["resourceGroups"], strict=True
            ):
                renamed = [{**quotas, "name": f"{quotas['name']}-2"} for quotas in more["flavors"]]
                covering["flavors"].extend(renamed)
        elif item.get("status", {}).get("admission"):
            second["metadata"] |= {key: f"{item['metadata'][key]}-2" for key in ("name", "uid")}
            second["spec"]["priority"] = item["spec"].get("priority", 0) - 1
            for pods in second["status"]["admission"]["podSetAssignments"]:
                pods["flavors"] = {name: f"{flavor}-2" for name, flavor in pods["flavors"].items()}
            found.append(second)
    return read_kueue_objects({**line["state"], "items": found}, where=line["id"], now=line["now"])


def test_caps_that_only_other_flavors_can_keep_are_kept() -> None:
    """Kueue's own answer is outside its rules: a cap is dropped only if no flavors can keep it."""
    profile = PROFILES["no-regret"]
    compared = 0
    for name in ("small-fair-flat", "small-fair-hier"):
        for line in recorded.named(name, OUTSIDE):
            compared += 1
            truth = FlavorTruth(doubled(line), line["pending"])
            assert truth.greedy.outside_rules
            expected = truth.best(profile, truth.answers)
            plan = truth.solve(profile)
            assert expected is not None
            assert (plan.status, frozenset(plan.keys)) == ("optimal", expected.victims)
            assert flavors_of(plan) == flavors_of(truth.assignments[expected.number])
            assert "the scheduler's own answer is outside the rules" in plan.explanation
    if not compared:
        pytest.skip("these lines are only in the full folder of answers")
