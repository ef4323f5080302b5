"""Where Kueue says another thing than the planner works out, it is said, with both."""

from typing import Any

import pytest

import planner
from planner.plan import AnyPlan
from planner.plan.front import Front
from planner.plan.kueue import JointPlan, Plan
from planner.state.kueue import State
from tests.cluster import NOW, PENDING, at, configuration, dump_of, pending, queue, running
from tests.kueue_state import read_objects

Object = dict[str, Any]

MORE = "insufficient unused quota for gpu in flavor default, {} more needed"


def dump(*more: list[Object]) -> dict[str, Object]:
    """Return the objects of a small cluster by their names, 2 short for the pending workload."""
    parts = [queue("a", 4, within="LowerPriority"), running("one", "a", 2), running("two", "a", 2)]
    items = dump_of(*parts, pending("a", 2), *more)["items"]
    return {f"{one['kind']} {one.get('metadata', {}).get('name', '')}": one for one in items}


def state_of(objects: dict[str, Object], **more: Any) -> State:
    """Read some objects."""
    value = {"apiVersion": "v1", "kind": "List", "items": list(objects.values())}
    return read_objects(value, where="test", now=NOW, **more)


def solved(objects: dict[str, Object]) -> Plan:
    """Solve for the pending workload of some objects."""
    return planner.solve(state_of(objects), PENDING)


def condition(kind: str, status: str, message: str = "", reason: str = "R") -> Object:
    """Return a condition of a minute ago."""
    said = {"type": kind, "status": status, "message": message, "reason": reason}
    return {**said, "lastTransitionTime": at(59)}


def said(objects: dict[str, Object], text: str, name: str = "pending") -> dict[str, Object]:
    """Let Kueue have said why it did not admit a workload, the pending one unless named."""
    conditions = [condition("QuotaReserved", "False", text)]
    objects[f"Workload {name}"].setdefault("status", {})["conditions"] = conditions
    return objects


def asking(objects: dict[str, Object], pod_set: str = "main", **requests: str) -> dict[str, Object]:
    """Let Kueue have recorded what the pending workload asks for."""
    recorded = {"resourceRequests": [{"name": pod_set, "resources": requests}]}
    objects["Workload pending"].setdefault("status", {}).update(recorded)
    return objects


def found(plan: Plan) -> list[tuple[str, str]]:
    """Return what a plan leaves out: features and kinds."""
    return [(one.feature, one.kind) for one in plan.coverage]


def transformed() -> dict[str, Object]:
    """Return a cluster that transforms gpus to credits, by a Configuration that is not there."""
    objects = dump(configuration())
    group = objects["ClusterQueue a"]["spec"]["resourceGroups"][0]
    group["coveredResources"] = ["credits"]
    group["flavors"][0]["resources"] = [{"name": "credits", "nominalQuota": "10"}]
    for name, held in (("one", "4"), ("two", "6")):
        admission = objects[f"Workload {name}"]["status"]["admission"]
        admission["podSetAssignments"][0] |= {
            "flavors": {"credits": "default"},
            "resourceUsage": {"credits": held},
        }
    return asking(objects, credits="5")


def test_the_plan_by_the_requests_that_kueue_recorded_is_told() -> None:
    """E1: by its template the workload asks for gpus, of which the queue has none."""
    plan = solved(transformed())
    assert (plan.status, plan.proved, plan.requests) == ("conditional", "infeasible", "template")
    remark = next(note for note in plan.notes if "by the requests that Kueue recorded" in note)
    assert "evicting 1 workload makes room" in remark
    assert "ns/two" in remark


def test_plans_by_the_requests_that_kueue_recorded() -> None:
    """E1: 10 credits, all held; 5 are asked for, which only the one that holds 6 can give alone."""
    state = state_of(transformed(), requests="recorded")
    plan = planner.solve(state, PENDING)
    assert (plan.status, plan.proved, plan.requests) == ("conditional", "optimal", "recorded")
    assert found(plan) == [("requests", "assumed")]
    assert "credits 5" in plan.coverage[0].evidence
    assert "gpu 2" in plan.coverage[0].evidence
    assert plan.keys == ("ns/two",)
    assert [one.requested for one in plan.demand] == [5]
    assert not any("by the requests that Kueue recorded" in note for note in plan.notes)
    assert planner.verify(state, plan).accepted
    assert planner.check(state, plan).accepted
    assert planner.solve(state, PENDING, assume="quota").status == "optimal"


@pytest.mark.parametrize(
    ("pod_set", "requests"),
    [("main", {"gpu": "2"}), ("main", {"gpu": "2", "pods": "7"}), ("another", {"gpu": "4"})],
)
def test_recorded_requests_that_say_the_same_or_are_of_others(
    pod_set: str, requests: dict[str, str]
) -> None:
    """With the same numbers, or none for its podsets, nothing is different."""
    objects = asking(dump(configuration()), pod_set, **requests)
    recorded = state_of(objects, requests="recorded")
    for plan in (solved(objects), planner.solve(recorded, PENDING)):
        assert (plan.status, plan.coverage, plan.notes) == ("optimal", (), ())
        assert [one.requested for one in plan.demand] == [2]


def test_no_plan_by_the_recorded_requests_is_told_too() -> None:
    plan = solved(asking(dump(configuration()), gpu="9"))
    assert plan.proved == "optimal"
    assert any(note.startswith("by the requests that Kueue recorded: ") for note in plan.notes)


def test_nothing_is_said_where_all_agree() -> None:
    objects = dump(configuration())
    objects["ClusterQueue a"]["status"] = {
        "conditions": [condition("Active", "True")],
        "pendingWorkloads": 1,
        "flavorsReservation": [
            {"name": "default", "resources": [{"name": "gpu", "total": "4", "borrowed": "0"}]}
        ],
    }
    text = f"couldn't assign flavors to pod set main: {MORE.format(2)}"
    plan = solved(asking(said(objects, text), gpu="2"))
    assert (plan.status, plan.coverage, plan.notes) == ("optimal", (), ())


def test_another_request_than_the_template_makes() -> None:
    """E1: such as a transformation that the Configuration in the dump does not have."""
    plan = solved(asking(dump(configuration()), gpu="3"))
    assert found(plan) == [("requests", "contradiction")]
    assert "gpu 3" in plan.coverage[0].evidence
    assert "gpu 2" in plan.coverage[0].evidence
    assert plan.status == "conditional"


@pytest.mark.parametrize("status", ["True", "False"])
def test_a_queue_that_is_active_or_not_against_its_objects(status: str) -> None:
    """E2 and E3: a stopped queue cannot be active, and nothing stops another."""
    objects = dump(configuration())
    said = condition("Active", status, "Can't admit", "FlavorNotFound")
    objects["ClusterQueue a"]["status"] = {"conditions": [said]}
    if status == "True":
        objects["ClusterQueue a"]["spec"]["stopPolicy"] = "Hold"
    plan = solved(objects)
    assert found(plan) == [("queues", "contradiction")]
    if status == "False":
        assert "(FlavorNotFound: Can't admit)" in plan.coverage[0].evidence


@pytest.mark.parametrize("in_tree", [True, False])
def test_another_queue_of_the_tree_that_is_inactive_by_its_condition(*, in_tree: bool) -> None:
    """E2: if it is, its workloads are no candidates."""
    objects = dump(configuration(), queue("b", 0, "team"), running("three", "b", 2))
    objects["ClusterQueue a"]["spec"]["cohortName"] = "team" if in_tree else ""
    objects["ClusterQueue b"]["status"] = {"conditions": [condition("Active", "False")]}
    plan = solved(objects)
    assert found(plan) == ([("queues", "contradiction")] if in_tree else [])
    if in_tree:
        assert plan.coverage[0].objects == ("ClusterQueue b",)


@pytest.mark.parametrize("said", [True, False])
def test_a_flavor_that_only_the_dump_lacks(*, said: bool) -> None:
    """E3: the queue is taken for active where Kueue says so, and what is missing is named."""
    objects = dump(configuration())
    group = objects["ClusterQueue a"]["spec"]["resourceGroups"][0]
    gone = {"name": "gone", "resources": [{"name": "gpu", "nominalQuota": "1"}]}
    group["flavors"] = [gone, *group["flavors"]]
    if said:
        objects["ClusterQueue a"]["status"] = {"conditions": [condition("Active", "True")]}
    plan = solved(objects)
    if said:
        assert (plan.proved, len(plan.victims)) == ("optimal", 1)
        assert found(plan) == [("queues", "assumed")]
        assert "no ResourceFlavor gone" in plan.coverage[0].evidence
    else:
        assert (plan.status, plan.coverage) == ("infeasible", ())


def test_an_admission_check_that_only_the_dump_lacks() -> None:
    """E3: Kueue has it, for it calls the queue active; who goes does not depend on it."""
    objects = dump(configuration())
    checks = {"admissionChecks": [{"name": "budget"}]}
    objects["ClusterQueue a"]["spec"]["admissionChecksStrategy"] = checks
    objects["ClusterQueue a"]["status"] = {"conditions": [condition("Active", "True")]}
    plan = solved(objects)
    assert plan.status == "optimal"
    assert any("lacks its admission check budget" in note for note in plan.notes)


def test_fair_sharing_in_use_without_a_configuration() -> None:
    """E5: its defaults are taken, and the plan says so."""
    objects = dump()
    objects["ClusterQueue a"]["status"] = {"fairSharing": {"weightedShare": 0}}
    plan = solved(objects)
    assert found(plan) == [("configuration", "assumed")]
    assert plan.rules == "kueue-fair"


def test_another_shortage_than_kueue_says() -> None:
    """E19: 2 are asked for, nothing is free, and Kueue says 5."""
    plan = solved(said(dump(configuration()), MORE.format(5)))
    assert found(plan) == [("quota", "contradiction")]
    assert "5 more gpu" in plan.coverage[0].evidence
    assert "it is 2" in plan.coverage[0].evidence


NEVER = (
    "insufficient quota for gpu in flavor default, previously considered podsets requests (0) + "
    "current podset request (2) > maximum capacity (1)"
)


@pytest.mark.parametrize(
    ("text", "contradicts"), [(MORE.format(5), True), (MORE.format(2), False), (NEVER, True)]
)
def test_fronts_and_joint_plans_ask_it_too(text: str, *, contradicts: bool) -> None:
    """E19 and E21: Kueue looked at each workload by itself."""
    state = state_of(said(dump(configuration()), text))
    expected = [("quota", "contradiction")] if contradicts else []
    front, joint = planner.front(state, PENDING), planner.solve_joint(state)
    points = [point.plan for point in front.points]
    answers: list[AnyPlan | Front | JointPlan] = [front, joint, *points]
    for answer in answers:
        assert [(one.feature, one.kind) for one in answer.coverage] == expected
        if answer is not joint:  # which has no trees, and is feasible at most
            assert answer.status == ("conditional" if contradicts else "optimal")
    assert joint.status == "feasible"
    assert [(one.feature, one.kind) for one in front.greedy.plan.coverage] == expected
    assert planner.solve_joint(state, assume="quota").status == "feasible"


def test_a_joint_plan_asks_of_each_by_itself() -> None:
    """E19: the other workload's shortage is told before any of the steps is served."""
    objects = dump(configuration())
    urgent = pending("a", 2, priority=30)[0]
    urgent["metadata"] |= {"name": "urgent", "uid": "urgent"}
    objects["Workload urgent"] = urgent
    for name in ("pending", "urgent"):
        said(objects, MORE.format(2), name)
    joint = planner.solve_joint(state_of(objects))
    assert (joint.status, joint.coverage) == ("feasible", ())


def test_nodes_that_kueue_speaks_of() -> None:
    """E20."""
    text = 'topology "default" doesn\'t allow to fit any of 2 pod(s)'
    plan = solved(said(dump(configuration()), text))
    assert found(plan) == [("topology", "contradiction")]


@pytest.mark.parametrize(
    ("reason", "feature"),
    [
        ("Fair Sharing within the cohort", "configuration"),
        ("reclamation within the cohort while borrowing", "policies"),
        ("prioritization in the ClusterQueue", None),
    ],
)
def test_reasons_of_recent_victims(reason: str, feature: str | None) -> None:
    """E26: Kueue preempted by a rule that is off in this state."""
    objects = dump(configuration())
    text = f"Preempted to accommodate a workload (UID: u, JobUID: j) due to {reason}; ..."
    objects["Workload one"]["status"]["conditions"].append(condition("Preempted", "True", text))
    expected = [] if feature is None else [(feature, "contradiction")]
    assert found(solved(objects)) == expected


def test_what_a_dump_lacks_is_remarked_and_changes_no_status() -> None:
    objects = dump()
    objects["ClusterQueue a"]["status"] = {
        "conditions": [condition("Active", "True")],
        "pendingWorkloads": 3,
    }
    plan = solved(objects)
    assert plan.status == "optimal"
    said = "\n".join(plan.notes)
    assert "no Configuration of Kueue" in said
    assert "3 workloads are pending, the state has 1" in said


@pytest.mark.parametrize(("missing", "conditional"), [(2, False), (1, True)])
def test_what_kueue_said_is_about_the_state_before_an_edit(
    missing: int, *, conditional: bool
) -> None:
    """E19: 2 are missing; with one more there, Kueue's word of 1 is still another than ours."""
    state = state_of(said(dump(), MORE.format(missing)))
    expected = ("conditional", "optimal") if conditional else ("optimal", None)
    for quota, victims in ((6, 0), (5, 1)):
        answer = planner.whatif(state, f"clusterqueue/a.quota.default/gpu.nominal={quota}")
        for plan in (answer.before, answer.after):
            assert plan is not None
            assert (plan.status, plan.proved) == expected
            assert plan.explanation.startswith("Provided that ") == conditional
        assert len(answer.after.victims) == victims
        (count,) = (one for one in answer.optimum.terms if one.term == "workloads")
        assert (count.before, count.after) == (1, victims)
        # What is left out follows the same rule where no status depends on it.
        edit = f"clusterqueue/a.quota.default/gpu.nominal={quota}"
        hurried = planner.whatif(state, edit, time_limit=0)
        assert hurried.before is not None
        assert len(hurried.before.coverage) == len(hurried.after.coverage) == conditional


def test_fronts_and_joint_plans_have_the_remarks_once() -> None:
    objects = said(dump(), "Workload no longer fits after processing another workload")
    objects["ClusterQueue a"]["status"] = {"conditions": [condition("Active", "True")]}
    urgent = pending("a", 2, priority=30)[0]
    urgent["metadata"] |= {"name": "urgent", "uid": "urgent"}
    objects["Workload urgent"] = urgent
    state = state_of(objects)
    front, joint = planner.front(state, PENDING), planner.solve_joint(state)
    for notes in (front.notes, joint.notes):
        assert len(notes) == len(set(notes))
        assert any(note.startswith("Kueue said last") for note in notes)
        assert any(note.startswith("the state has no Configuration") for note in notes)


@pytest.mark.parametrize("reason", ["ClusterQueueIsInactive", "", None])
def test_a_local_queue_that_takes_nobody_in(reason: str | None) -> None:
    """E4: the state shows it open, and its ClusterQueue active."""
    objects = dump(configuration())
    objects["LocalQueue a"]["status"] = {
        "conditions": [{"type": "Active", "status": "False", "reason": reason}]
    }
    plan = solved(objects)
    assert found(plan) == [("queues", "contradiction")]
    assert plan.coverage[0].objects == ("LocalQueue ns/a",)
    assert (reason or "no reason given") in plan.coverage[0].evidence
    assert plan.status == "conditional"


@pytest.mark.parametrize("cause", ["stopPolicy", "flavor", "condition", "unknown"])
def test_a_local_queue_that_is_closed_for_a_reason_that_is_known(cause: str) -> None:
    """E4: its own stopPolicy, or its ClusterQueue that is inactive, says it already."""
    objects = dump(configuration())
    closed = condition("Active", "Unknown" if cause == "unknown" else "False")
    objects["LocalQueue a"]["status"] = {"conditions": [closed]}
    if cause == "stopPolicy":
        objects["LocalQueue a"]["spec"]["stopPolicy"] = "Hold"
    if cause == "flavor":
        del objects["ResourceFlavor default"]
    if cause == "condition":
        objects["ClusterQueue a"]["status"] = {"conditions": [condition("Active", "False")]}
    plan = solved(objects)
    named = [one for unit in plan.coverage for one in unit.objects]
    assert "LocalQueue ns/a" not in named
    if cause in {"stopPolicy", "flavor"}:
        assert plan.held_back is not None


PINNED = "could not assign spot flavor since the original workload is assigned: "


@pytest.mark.parametrize(
    ("annotation", "flavor", "evidence"),
    [
        (None, "default", "it replaces no slice"),
        ("ns/gone", "default", "it replaces ns/gone, which is not in the state"),
        ("ns/one", "reserved", "the slice ns/one, which it replaces, holds default"),
        ("ns/one", "default", None),
    ],
)
def test_a_slice_that_kueue_keeps_in_its_flavors(
    annotation: str | None, flavor: str, evidence: str | None
) -> None:
    """E22: Kueue takes it for a slice of one that has a flavor, and by the state it may not be."""
    objects = said(dump(configuration()), PINNED + flavor)
    if annotation is not None:
        name = "kueue.x-k8s.io/workload-slice-replacement-for"
        objects["Workload pending"]["metadata"]["annotations"] = {name: annotation}
    plan = solved(objects)
    if evidence is None:
        assert found(plan) == []
    else:
        assert found(plan) == [("slices", "contradiction")]
        assert evidence in plan.coverage[0].evidence
        assert f"has {flavor}" in plan.coverage[0].evidence


def test_a_slice_whose_gate_is_off_replaces_nobody() -> None:
    """E22: Kueue still pins it, so the gate is on in the cluster."""
    gate = {"ElasticJobsViaWorkloadSlices": False}
    objects = said(dump(configuration(featureGates=gate)), PINNED + "default, more words")
    name = "kueue.x-k8s.io/workload-slice-replacement-for"
    objects["Workload pending"]["metadata"]["annotations"] = {name: "ns/one"}
    assert found(solved(objects)) == [("slices", "contradiction")]


@pytest.mark.parametrize("pods", [True, False])
def test_a_workload_that_others_of_its_cycle_overtake(*, pods: bool) -> None:
    """E23: once it is competition; with pods covered it may be for ever."""
    objects = dump(configuration())
    if pods:
        group = objects["ClusterQueue a"]["spec"]["resourceGroups"][0]
        group["coveredResources"].append("pods")
        group["flavors"][0]["resources"].append({"name": "pods", "nominalQuota": "9"})
    text = "Workload no longer fits after processing another workload"
    plan = solved(said(objects, text))
    assert ("waits for ever" in "\n".join(plan.notes)) == pods
    assert "no longer fits after another workload of its cycle" in "\n".join(plan.notes)
    assert (plan.status, plan.coverage) == ("optimal", ())


def test_a_workload_whose_victims_others_want_too() -> None:
    """E24."""
    text = "Workload has overlapping preemption targets with another workload"
    plan = solved(said(dump(configuration()), text))
    assert "has victims in common with ns/pending" in "\n".join(plan.notes)
    assert (plan.status, plan.coverage) == ("optimal", ())


@pytest.mark.parametrize(
    ("reason", "status", "noted"),
    [
        ("Preempted", "True", True),
        ("Preempted", "False", False),
        ("PodsReadyTimeout", "True", False),
    ],
)
def test_a_victim_that_is_on_its_way(reason: str, status: str, *, noted: bool) -> None:
    """E27: it still holds quota, goes first, and costs nothing more."""
    objects = dump(configuration())
    leaving = condition("Evicted", status, "preempted", reason)
    objects["Workload two"]["status"]["conditions"].append(leaving)
    plan = solved(objects)
    words = (
        "ns/two is being preempted already and holds quota until the pods are gone: Kueue takes it"
    )
    assert any(words in note for note in plan.notes) == noted
    assert plan.status == "optimal"


def test_quota_that_is_held_of_a_flavor_that_the_queue_no_longer_has() -> None:
    """E28: of all queues of the tree, and of no other."""
    objects = dump(configuration(), queue("b", 4, cohort="c"), queue("z", 4))
    objects["ClusterQueue a"]["spec"]["cohortName"] = "c"
    for name, place in (("one", "a"), ("two", "b")):
        admission = objects[f"Workload {name}"]["status"]["admission"]
        admission["clusterQueue"] = place
        admission["podSetAssignments"][0]["flavors"]["gpu"] = "old"
    plan = solved(objects)
    notes = [note for note in plan.notes if "no quota any more" in note]
    assert len(notes) == 2
    assert "ns/one holds 2 gpu of flavor old, for which ClusterQueue a has" in notes[0]
    assert "ns/two holds 2 gpu of flavor old, for which ClusterQueue b has" in notes[1]
    objects["Workload two"]["status"]["admission"]["clusterQueue"] = "z"
    assert sum("no quota any more" in note for note in solved(objects).notes) == 1


def test_cohorts_in_a_circle_are_no_end_of_looking() -> None:
    objects = dump(configuration(), queue("b", 4, cohort="y"))
    objects["ClusterQueue a"]["spec"]["cohortName"] = "x"
    for name, parent in (("x", "y"), ("y", "x")):
        objects[f"Cohort {name}"] = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Cohort",
            "metadata": {"name": name},
            "spec": {"parentName": parent},
        }
    assert solved(objects).status


def test_pods_that_the_assignment_put_into_the_recorded_requests() -> None:
    """E1: their number is set anew wherever a queue covers them, and tells nothing."""
    assert solved(asking(dump(configuration()), gpu="2", pods="1")).coverage == ()


@pytest.mark.parametrize(
    "status",
    [
        {},
        {"conditions": None, "resourceRequests": None},
        {"conditions": [], "resourceRequests": []},
        {"conditions": [{"type": "QuotaReserved", "status": "False"}]},
        {"conditions": [{"type": "QuotaReserved", "status": "False", "message": None}]},
        {"conditions": [{"type": "Evicted", "status": "True"}, {"type": "Preempted"}]},
        {"resourceRequests": [{"name": "another", "resources": {"gpu": "7"}}]},
        {"resourceRequests": [{"name": "main", "resources": None}]},
        {"resourceRequests": [{"name": "main"}]},
    ],
)
def test_what_is_not_there_is_no_evidence(status: Object) -> None:
    """Fields that are missing, null or about things that are not there say nothing."""
    objects = dump(configuration())
    objects["Workload pending"]["status"] = status
    objects["LocalQueue a"]["status"] = {"conditions": status.get("conditions")}
    objects["ClusterQueue a"]["status"] = {"conditions": status.get("conditions")}
    plan = solved(objects)
    if status.get("resourceRequests") and status["resourceRequests"][0]["name"] == "main":
        assert found(plan) == [("requests", "contradiction")]
    else:
        assert found(plan) == []


@pytest.mark.parametrize(
    "text",
    [
        "insufficient unused quota for gpu in flavor default, many more needed",
        "insufficient unused quota for , in flavor , , more needed",
        "could not assign  flavor since the original workload is assigned: ",
        "previously considered podsets requests () + current podset request ()",
        "no longer fits",
        "\u202e\x1b[2J",
    ],
)
def test_words_of_another_release_are_no_evidence(text: str) -> None:
    assert found(solved(said(dump(configuration()), text))) == []


@pytest.mark.parametrize("published", [True, False])
def test_fair_sharing_that_nobody_publishes_a_share_of(*, published: bool) -> None:
    """E6: Kueue fills status.fairSharing wherever fair sharing is on."""
    objects = dump(configuration(fairSharing={}))
    share = {"fairSharing": {"weightedShare": 0}} if published else {}
    objects["ClusterQueue a"]["status"] = {"pendingWorkloads": 1, **share}
    plan = solved(objects)
    noted = any("no ClusterQueue publishes a share" in note for note in plan.notes)
    assert noted != published
    assert plan.status == "optimal"
