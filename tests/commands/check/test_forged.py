"""Forged plans that nothing but their own words supports are refused, and true ones accepted."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import planner
from planner.commands.check.plan import OTHER_STATE, Check
from planner.objective.profiles import Profile
from planner.objective.wishes import Wishes
from planner.plan import AnyPlan
from planner.plan.kueue import Plan
from planner.reader.kueue import read_kueue_objects
from planner.state import AnyState
from tests.cluster import pending, queue, running, state_of
from tests.conftest import ROOT
from tests.oracle.random_states import NOW, PENDING, random_state
from tests.proof.mutation import Json, plain
from tests.told import told

INSTANCES = ROOT / "instances"
TOPOLOGY = INSTANCES / "topology" / "needless.yaml"
OUTSIDE = INSTANCES / "fair-sharing" / "outside-rules.yaml"
YUNIKORN = INSTANCES / "yunikorn" / "quickstart"
CLAIMED = (
    *("scheduler", "rules", "objective", "preemptor", "cluster_queue", "priority", "now"),
    *("assignment", "kueue", "requests"),
)


def quickstart() -> AnyState:
    return planner.read(INSTANCES / "quickstart" / "cluster.json")


def as_json(plan: AnyPlan) -> Json:
    """Return a plan of Kueue as it is printed."""
    assert isinstance(plan, Plan)
    return plain(plan)


def refused(check: Check) -> set[str]:
    """Return the laws that do not hold, and the claims that are not certified."""
    assert not check.accepted
    laws = {one.law for one in check.verdicts if not one.holds}
    return laws | {one.claim for one in check.claims if not one.certified}


def no_plan(plan: Json) -> Json:
    """Return the claim that no plan exists under the flavors of a plan."""
    tree = {"claim": "infeasible", "steps": [{"law": "it does not fit"}]}
    return {name: plan[name] for name in CLAIMED} | {
        "algorithm": "optimum",
        "status": "infeasible",
        "explanation": "none",
        "certificate": {"digest": "", "levels": [], "trees": [tree]},
    }


@pytest.mark.parametrize("change", [{"count": 100_000}, {"flavors": {}}, None])
def test_flavors_of_no_plan(change: Mapping[str, Any] | None) -> None:
    """A larger request has no plan, and a podset without flavors has none: neither is asked."""
    state = quickstart()
    plan = as_json(planner.solve(state))
    pods = plan["assignment"]["podSets"]
    plan["assignment"]["podSets"] = [] if change is None else [{**pods[0], **change}, *pods[1:]]
    found = planner.check(state, Plan.model_validate(no_plan(plan)))
    assert refused(found) == {"CT-11"}
    told(found.verdicts[-1].detail)


def test_other_flavors_are_given_by_the_caller() -> None:
    """An assignment may be given, to both: a plan may not choose its own."""
    state = quickstart()
    given = as_json(planner.solve(state))["assignment"]
    given["borrowing"] += 1
    plan = planner.solve(state, assignment=given)
    assert refused(planner.check(state, plan)) == {"CT-11"}
    found = planner.check(state, plan, assignment=given)
    assert (found.accepted, found.asked.flavors) == (True, "given")


def test_a_plan_made_from_another_file_is_said_to_be() -> None:
    """The same cluster in other bytes has another digest: a note, and no fault."""
    state = quickstart()
    plan = planner.solve(state.model_copy(update={"digest": "other"}))
    found = planner.check(state, plan)
    assert (found.accepted, found.notes) == (True, (OTHER_STATE,))


def test_a_plan_by_the_rules_of_another_release_answers_another_question() -> None:
    file = INSTANCES / "quickstart" / "cluster.json"
    older = planner.read(file, release="0.16.9")
    plan = planner.solve(older)
    found = planner.check(quickstart(), plan)
    assert refused(found) == {"CT-11"}
    told(found.verdicts[0].detail)
    assert planner.check(older, plan).accepted


def test_what_is_left_out_has_to_be_said(tmp_path: Path) -> None:
    """Of a state with topology, quota alone says that nobody has to go."""
    state = planner.read(TOPOLOGY)
    assert planner.check(state, planner.solve(state)).accepted
    assert "CT-11" in refused_without_topology(tmp_path)


def refused_without_topology(tmp_path: Path, rules: str | None = None) -> set[str]:
    """Return what does not hold of a plan that says nothing of the topology it does not see."""
    bare = tmp_path / "bare.yaml"
    lines = TOPOLOGY.read_text("utf-8").splitlines()
    bare.write_text("\n".join(line for line in lines if "topologyName" not in line), "utf-8")
    plan = planner.solve(planner.read(bare), rules=rules)
    forged = plan.model_copy(update={"status": plan.claim, "proved": None, "coverage": ()})
    return refused(planner.check(planner.read(TOPOLOGY), forged, rules=rules))


def test_what_yunikorn_leaves_out_has_to_be_said(tmp_path: Path) -> None:
    shutil.copytree(YUNIKORN, tmp_path / "dump")
    queues = tmp_path / "dump" / "queues.yaml"
    limits = "- name: root\n        limits: [{limit: all, users: ['*'], maxresources: {vcore: 1}}]"
    queues.write_text(queues.read_text("utf-8").replace("- name: root", limits), "utf-8")
    state = planner.read(tmp_path / "dump")
    plan = planner.solve(state)
    assert (plan.status, planner.check(state, plan).accepted) == ("conditional", True)
    vouched = planner.solve(state, assume="quota")
    assert refused(planner.check(state, vouched)) == {"CT-11"}
    assert planner.check(state, vouched, assume="quota").accepted
    assert vouched.status == "infeasible"
    forged = plan.model_copy(update={"status": "infeasible", "proved": None, "coverage": ()})
    assert refused(planner.check(state, forged)) == {"CT-09"}


def test_own_plan_outside_the_rules_only_in_its_own_words() -> None:
    """Caps bind where the scheduler's own plan, replayed, is lawful: a false queue is no excuse."""
    state = read_kueue_objects(random_state(59).objects, where="seed 59", now=NOW)
    assert planner.check(state, planner.solve(state, PENDING)).accepted
    plan = as_json(planner.solve(state, PENDING, objective="least-disruption"))
    plan["objective"] = "no-regret"
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"CT-06"}
    plan["greedy"]["victims"][0]["cluster_queue"] = "elsewhere"
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"CT-05", "CT-06"}


FEWEST = Profile("mine", "", (("workloads",),))
LEAST_LOST = (("lost_work", "restart_cost"),)


@pytest.mark.parametrize(
    ("budget", "expected"), [({}, {"CT-06"}), ({"all": 100}, {"CT-06"}), ({"all": 1}, "cap")]
)
def test_a_wish_is_no_excuse_for_dropped_caps(
    budget: Mapping[str, int], expected: set[str] | str
) -> None:
    """Only where the scheduler's own plan does not keep it, and then a tree shows the need."""
    state = running_for_one()
    free = replace(FEWEST, wishes=Wishes(budget=budget))
    capped = replace(free, caps=LEAST_LOST)
    plan = planner.solve(state, objective=free)
    assert planner.check(state, plan, free).accepted
    found = refused(planner.check(state, plan, capped))
    assert found == ({"cap of lost_work+restart_cost"} if expected == "cap" else expected)
    assert planner.check(state, planner.solve(state, objective=capped), capped).accepted


@pytest.mark.parametrize(
    "name",
    [
        "fair-sharing/outside-rules.yaml",
        "regressions/kueue-14543-outside-the-strategies.yaml",
        "regressions/yunikorn-3137-third-victim-dropped",
    ],
)
def test_a_tree_shows_that_no_plan_keeps_a_dropped_cap(name: str) -> None:
    """In all three more must go than the scheduler itself takes, and no legal set is smaller."""
    state = planner.read(INSTANCES / name)
    plan = planner.solve(state)
    found = planner.check(state, plan)
    assert found.accepted
    told([one.claim for one in found.claims][-2:])
    printed: Json = plan.model_dump(mode="json")
    trees = printed["certificate"]["trees"]
    told([tree["claim"] for tree in trees][-2:])
    plan_of = type(plan).model_validate
    # An older plan names no dropped caps: which these are is found in any case.
    assert printed["certificate"].pop("dropped")
    assert planner.check(state, plan_of(printed)).accepted
    levels = trees[:-2]
    for forged in (
        levels,
        [*levels, {"claim": "cap of workloads", "steps": trees[-2]["steps"][:-1]}],
        [*levels, {"claim": "cap of workloads", "steps": [{"rows": {"last_resort <= 0": 1}}]}],
        [*levels, {"claim": "cap of workloads", "steps": [{"law": "none is left"}]}],
    ):
        printed["certificate"]["trees"] = forged
        assert refused(planner.check(state, plan_of(printed))) == {
            "cap of workloads",
            "cap of lost_work+restart_cost",
        }


def test_a_dropped_cap_is_that_of_the_own_plan() -> None:
    state = planner.read(OUTSIDE)
    plan = as_json(planner.solve(state))
    plan["certificate"]["dropped"][0]["most"] -= 1
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"CT-06"}


@pytest.mark.parametrize(
    "wishes",
    [
        Wishes(min_runtime_s={"queue/a": 10**6}),
        Wishes(budget={"all": 0}),
        Wishes(most={("workloads",): 0}),
    ],
)
def test_a_plan_keeps_the_wishes_that_its_trees_are_about(wishes: Wishes) -> None:
    """Nobody keeps these: trees would show whatever is said of those who do."""
    state = running_for_one()
    plan = planner.solve(state, objective=FEWEST)
    assert planner.check(state, plan, FEWEST).accepted
    assert refused(planner.check(state, plan, replace(FEWEST, wishes=wishes))) == {"CT-06"}


def test_a_plan_keeps_the_caps_that_its_trees_are_about() -> None:
    """Of one workload, and two must go: no set is within the cap, and any level has its tree."""
    state = planner.read(OUTSIDE)
    plan = as_json(planner.solve(state))
    assert len(plan["victims"]) == 2
    plan["certificate"]["caps"].append({"term": "workloads", "most": 1})
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"CT-06"}


def running_for_one() -> AnyState:
    """Two of an hour's work go by Kueue; one large one has run for longer."""
    return state_of(
        queue("a", 4, within="LowerPriority"),
        running("low-1", "a", 1, 1, minute=30),
        running("low-2", "a", 1, 1, minute=30),
        running("high", "a", 2, 2),
        pending("a", 2, 9),
    )


def test_victims_are_in_candidate_order() -> None:
    state = quickstart()
    plan = as_json(planner.solve(state))
    plan["victims"].reverse()
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"CT-07"}


@pytest.mark.parametrize("name", ["name", "flavor", "levels", "count"])
def test_places_are_where_kueue_puts_the_pods(name: str) -> None:
    state = planner.read(TOPOLOGY)
    plan = as_json(planner.solve(state))
    place = plan["places"][0]
    if name == "count":
        place["domains"][0]["count"] += 1
    else:
        place[name] = ["x"] if name == "levels" else "x"
    assert refused(planner.check(state, Plan.model_validate(plan))) == {"KT-02"}
