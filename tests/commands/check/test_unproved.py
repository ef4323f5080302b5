"""Of a plan that is not called best, each level that claims something is judged all the same."""

from typing import Any

import planner
from planner.commands.check.plan import Check
from planner.plan import AnyPlan
from planner.state import AnyState
from tests.commands.check.test_forged import INSTANCES, quickstart, refused
from tests.commands.check.test_said import as_file, changed
from tests.proof.mutation import Json
from tests.told import told


def at_once(state: AnyState) -> AnyPlan:
    """Return what is known with no time at all: Kueue's own seven victims."""
    plan = planner.solve(state, time_limit=0)
    assert (plan.status, len(plan.victims)) == ("feasible", 7)
    return plan


def forged(plan: AnyPlan, **levels: dict[str, Any]) -> AnyPlan:
    """Return a plan with fields of its levels changed; of all others nothing is claimed."""
    file: Json = as_file(plan)
    for level in file["certificate"]["levels"]:
        nothing = {"bound": min(level["value"], 0), "proof": None}
        level.update(levels.get(level["term"], nothing))
    trees = as_file(planner.solve(quickstart(), certify=True))["certificate"]["trees"]
    file["certificate"]["trees"] = trees
    return type(plan).model_validate(file)


def claims(check: Check) -> list[tuple[str, int | None, bool]]:
    """Return the claims with their values, and whether a tree shows them."""
    return [(one.claim, one.value, one.certified) for one in check.claims]


def test_a_plan_that_claims_no_bound_is_accepted() -> None:
    state = quickstart()
    found = planner.check(state, forged(at_once(state)))
    assert found.accepted
    assert claims(found) == [("excess_freed", 0, True)]


def test_a_bound_below_the_value_needs_a_tree_as_well() -> None:
    """Two must go, and the plan takes seven: the tree shows the two, and not a third."""
    state = quickstart()
    plan = at_once(state)
    found = planner.check(state, forged(plan, workloads={"bound": 2}))
    assert (found.accepted, claims(found)[0]) == (True, ("workloads", 2, True))
    told(found.claims[0].detail)
    found = planner.check(state, forged(plan, workloads={"bound": 3}))
    assert refused(found) == {"workloads"}


def test_a_level_that_is_called_proved_is_judged() -> None:
    proof, state = "certified", quickstart()
    plan = at_once(state)
    best = forged(plan, workloads={"bound": 7, "proof": proof})
    assert refused(planner.check(state, best)) == {"workloads"}
    lower = forged(plan, workloads={"bound": 2, "proof": proof})
    assert refused(planner.check(state, lower)) == {"CT-02"}


def test_ties_are_judged_where_they_are_claimed() -> None:
    state = quickstart()
    plan = forged(at_once(state))
    assert plan.certificate is not None
    ties = plan.certificate.model_copy(update={"ties": "certified"})
    found = planner.check(state, plan.model_copy(update={"certificate": ties}))
    assert refused(found) == {"ties"}


def test_a_cap_that_is_said_to_be_beyond_reach_is_judged() -> None:
    """Feasible or not: no legal set keeps it, which takes its tree."""
    state = planner.read(INSTANCES / "fair-sharing" / "outside-rules.yaml")
    plan = planner.solve(state)
    file: dict[str, Any] = as_file(plan) | {"status": "feasible"}
    assert file["certificate"]["dropped"]
    assert planner.check(state, type(plan).model_validate(file)).accepted
    trees = file["certificate"]["trees"]
    file["certificate"]["trees"] = [one for one in trees if not one["claim"].startswith("cap of")]
    found = planner.check(state, type(plan).model_validate(file))
    assert refused(found) == {"cap of workloads", "cap of lost_work+restart_cost"}


def test_levels_of_no_plan() -> None:
    """Where nothing was found, nothing is claimed of any level."""
    state = planner.read(INSTANCES / "fair-sharing" / "outside-rules.yaml")
    plan = planner.solve(state, time_limit=0)
    assert (plan.status, planner.check(state, plan).accepted) == ("unknown", True)
    levels = as_file(planner.solve(state))["certificate"]["levels"]
    found = planner.check(state, changed(plan, ("certificate", "levels"), levels))
    assert not found.accepted


def test_an_optimal_plan_need_not_claim_to_be_the_first_of_its_equals() -> None:
    """Its levels make it optimal; a reader is told what it leaves open."""
    state = quickstart()
    file: Json = as_file(planner.solve(state, certify=True))
    certificate = file["certificate"]
    trees = [tree for tree in certificate["trees"] if tree["claim"] != "ties"]
    certificate.update(trees=trees, ties=None)
    found = planner.check(state, planner.Plan.model_validate(file))
    assert (found.accepted, found.status) == (True, "optimal")
    told("".join(found.notes))
    certificate["ties"] = "certified"
    assert refused(planner.check(state, planner.Plan.model_validate(file))) == {"ties"}


def test_an_optimal_plan_needs_a_certificate() -> None:
    state = quickstart()
    bare = planner.solve(state).model_copy(update={"certificate": None})
    assert not planner.check(state, bare).accepted
