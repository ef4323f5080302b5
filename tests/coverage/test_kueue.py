"""What a state of Kueue holds that is not modelled makes answers conditional, and nothing else."""

from typing import Any

import pytest
from pydantic import ValidationError

import planner
from planner.commands.compare import compare
from planner.plan import qualified
from planner.plan.kueue import Plan
from planner.report.plan import render
from planner.state.kueue import State
from tests.cluster import PENDING, configuration, dump_of, pending, queue, running, state_of
from tests.kueue_state import read_objects
from tests.reference.topology import racks

Object = dict[str, Any]
FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "racks"},
    "spec": {"topologyName": "default"},
}


def cluster(*more: list[Object]) -> list[list[Object]]:
    """Return a queue of 4 where two workloads of 2 run and one of 2 of higher priority waits."""
    parts = [queue("a", 4, within="LowerPriority"), running("one", "a", 2)]
    return [*parts, running("two", "a", 2), pending("a", 2), *more]


def with_topology(*, asked: Object | None = None, flavor: bool = False) -> State:
    """Return the cluster with a topology request of the pending workload, or a flavor with one."""
    items = dump_of(*cluster(configuration()))["items"]
    if asked is not None:
        waiting = next(one for one in items if one["metadata"].get("name") == "pending")
        waiting["spec"]["podSets"][0]["topologyRequest"] = asked
    if flavor:
        items[0] = {**items[0], "spec": {"topologyName": "default"}}
    return read_objects({"apiVersion": "v1", "kind": "List", "items": items}, where="t", now=NOW)


NOW = "2026-05-01T13:00:00Z"


def solved(state: State, **more: Any) -> Plan:
    """Solve for the pending workload."""
    plan = planner.solve(state, PENDING, **more)
    assert isinstance(plan, Plan)
    return plan


def test_a_state_of_quota_alone_is_covered() -> None:
    plan = solved(state_of(*cluster(configuration())))
    assert (plan.status, plan.proved, plan.coverage) == ("optimal", None, ())


@pytest.mark.parametrize(
    "asked",
    [
        {"required": "rack"},
        {"preferred": "rack"},
        {"unconstrained": True},
        {"unconstrained": False},
        {"podSetSliceRequiredTopology": "rack", "podSetSliceSize": 2},
        {"podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 2}]},
    ],
)
def test_a_request_for_a_place_in_a_topology_is_not_modelled(asked: Object) -> None:
    plan = solved(with_topology(asked=asked))
    assert (plan.status, plan.proved) == ("conditional", "optimal")
    assert [(one.feature, one.kind) for one in plan.coverage] == [("topology", "unmodelled")]
    assert plan.coverage[0].objects == (f"podset main of {PENDING}",)
    assert plan.keys == solved(with_topology()).keys


def test_a_group_of_podsets_alone_asks_for_no_place() -> None:
    assert solved(with_topology(asked={"podSetGroupName": "g"})).status == "optimal"


def test_a_flavor_with_a_topology_is_not_modelled_for_its_queues() -> None:
    plan = solved(with_topology(flavor=True))
    assert plan.status == "conditional"
    assert plan.coverage[0].objects == ("ResourceFlavor default",)


def test_a_flavor_of_another_queue_is_none_of_its_concern() -> None:
    assert solved(state_of(*cluster(configuration(), [FLAVOR]))).status == "optimal"


@pytest.mark.parametrize(
    ("gates", "status"),
    [
        ({"TopologyAwareScheduling": False}, "optimal"),
        ({"AllBeta": False}, "optimal"),
        ({"AllBeta": False, "TopologyAwareScheduling": True}, "conditional"),
    ],
)
def test_nothing_is_placed_with_the_gate_off(gates: dict[str, bool], status: str) -> None:
    parts = cluster(configuration(featureGates=gates))
    items = [FLAVOR | {"metadata": {"name": "default"}}, *(i for p in parts for i in p)]
    state = read_objects({"kind": "List", "apiVersion": "v1", "items": items}, where="t", now=NOW)
    assert solved(state).status == status


def test_the_word_of_the_user_makes_it_count() -> None:
    plan = solved(with_topology(flavor=True), assume="quota")
    assert (plan.status, plan.proved, plan.assume) == ("optimal", None, "quota")
    assert [one.feature for one in plan.coverage] == ["topology"]
    with pytest.raises(planner.PlannerError, match="quota, or nothing"):
        solved(with_topology(), assume="everything")


def test_infeasible_is_conditional_too() -> None:
    parts = [queue("a", 4), running("one", "a", 4), pending("a", 2), configuration()]
    items = dump_of(*parts)["items"]
    items[0] = {**items[0], "spec": {"topologyName": "default"}}
    state = read_objects({"kind": "List", "apiVersion": "v1", "items": items}, where="t", now=NOW)
    plan = solved(state)
    assert (plan.status, plan.proved) == ("conditional", "infeasible")
    assert plan.claim == "infeasible"


def test_conditional_plans_are_verified_and_checked_like_others() -> None:
    state = with_topology(flavor=True)
    plan = solved(state)
    assert planner.verify(state, plan).accepted
    checked = planner.check(state, plan)
    assert (checked.accepted, checked.status) == (True, "conditional")
    again = Plan.model_validate_json(plan.model_dump_json())
    assert again == plan


@pytest.mark.parametrize(
    "change",
    [
        {"status": "optimal", "proved": None},
        {"proved": None},
        {"coverage": []},
        {"status": "feasible"},
    ],
)
def test_a_plan_cannot_claim_more_than_it_covers(change: Object) -> None:
    plan = solved(with_topology(flavor=True))
    written = plan.model_dump(mode="json", by_alias=True)
    with pytest.raises(ValidationError):
        Plan.model_validate(written | change)


def test_what_was_not_proved_stays_so() -> None:
    plan = solved(with_topology(flavor=True))
    feasible = plan.model_copy(
        update={"status": "feasible", "proved": None, "coverage": (), "assume": None}
    )
    qualifying = qualified(feasible, plan.coverage)
    assert qualifying.status == "feasible"
    # What would evict enough by quota need not do so.
    assert qualifying.explanation.startswith("Provided that ")
    vouched = qualified(feasible, plan.coverage, "quota")
    assert vouched.explanation == feasible.explanation


def test_fronts_joint_plans_and_explanations_say_it_too() -> None:
    state = with_topology(flavor=True)
    front = planner.front(state, PENDING)
    assert (front.status, front.proved) == ("conditional", "optimal")
    assert {point.plan.status for point in front.points} == {"conditional"}
    joint = planner.solve_joint(state)
    assert (joint.status, len(joint.coverage)) == ("feasible", 1)
    assert joint.explanation.startswith("Provided that ")
    assert planner.explain(state, PENDING).status == "conditional"
    assert planner.greedy(state, PENDING).coverage == front.coverage


def test_a_front_without_points_sees_to_what_a_plan_does() -> None:
    """That nobody may go was found with nodes looked at, and no point is there to say so."""
    one_node = [*racks.topology(), *racks.flavor(), *racks.node("n1", "r", gpu=2)]
    held = racks.runs("one", {"gpu": 1}, {"n1": 2})
    wanted = racks.waits(racks.pods("main", 2, {"gpu": 1}, {"required": racks.RACK}))
    state = racks.state_of(one_node, held, racks.room(within="Never"), wanted)
    assert (solved(state).status, solved(state).coverage) == ("infeasible", ())
    front = planner.front(state, PENDING)
    assert (front.status, front.points, front.coverage) == ("infeasible", (), ())


@pytest.mark.parametrize(
    ("gates", "features"),
    [
        ({}, []),
        ({"ConfigurablePreemptions": True}, ["preemption-config"]),
        ({"AllAlpha": True}, ["preemption-config"]),
        ({"AllAlpha": True, "ConfigurablePreemptions": False}, []),
    ],
)
def test_preemption_configs_matter_with_their_gate_only(
    gates: dict[str, bool], features: list[str]
) -> None:
    kind = {"apiVersion": "kueue.x-k8s.io/v1alpha1", "kind": "PreemptionConfig"}
    limit = {**kind, "metadata": {"name": "p"}}
    plan = solved(state_of(*cluster(configuration(featureGates=gates), [limit])))
    assert [one.feature for one in plan.coverage] == features


def test_audits_count_conditional_cases_apart() -> None:
    audit = planner.audit(with_topology(flavor=True))
    summary = audit.summary
    assert (summary.cases, summary.conditional, summary.clean, summary.unproved) == (1, 1, 0, 0)
    assert (audit.cases[0].findings, audit.cases[0].coverage[0].feature) == ((), "topology")
    assert [one.proved for one in summary.verdicts] == [0] * len(summary.verdicts)
    counted = planner.audit(with_topology(flavor=True), assume="quota").summary
    assert (counted.cases, counted.conditional, counted.unproved) == (1, 0, 0)


def test_comparisons_count_conditional_cases_apart() -> None:
    state = with_topology(flavor=True)
    found = compare(state)
    assert {row.status for row in found.rows} == {"conditional"}
    assert {row.uncovered for row in found.rows} == {("topology",)}
    assert not any(row.proved for row in found.rows)
    assert [(one.conditional, one.plans, one.proved) for one in found.summary.standings] == [
        (1, 0, 0)
    ] * len(found.algorithms)
    assert {one.measure for one in found.summary.distributions} == {"seconds"}
    assert all(one.both == 0 for one in found.summary.duels)
    vouched = compare(state, assume="quota")
    assert [row.status for row in vouched.rows] == ["feasible", "optimal"]
    assert all(one.conditional == 0 for one in vouched.summary.standings)


@pytest.mark.parametrize("style", ["table", "plain", "markdown", "html"])
def test_what_is_not_modelled_comes_first(style: str) -> None:
    text = render([solved(with_topology(flavor=True))], style, width=100, color=False, alone=True)
    assert "ResourceFlavor default has a topologyName" in text
    if style == "table":
        first = next(line for line in text.splitlines() if line.strip())
        assert "Not modelled" in first
        assert "PROVED" not in text.split("CERTIFICATE")[0]
