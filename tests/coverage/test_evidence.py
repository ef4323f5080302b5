"""Where Kueue says another thing than the planner works out, it is said, with both."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import planner
from planner.coverage.kueue import KueueCoverage
from planner.plan import AnyPlan
from planner.plan.front import Front
from planner.plan.kueue import JointPlan, Plan
from planner.state.kueue import State
from tests.cluster import NOW, PENDING, at, configuration, dump_of, pending, queue, running
from tests.cluster import state_of as cluster_of
from tests.kueue_state import read_objects
from tests.told import told

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


def test_a_stale_admission_is_told() -> None:
    """E36: Kueue takes the flavor over as Fit, finds no room, skips it, and preempts nobody."""
    objects = said(dump(), "")
    taken = {"clusterQueue": "a", "podSetAssignments": [{"flavors": {"gpu": "default"}}]}
    objects["Workload pending"]["status"]["admission"] = taken
    plan, state = solved(objects), state_of(objects)
    assert (plan.status, found(plan)) == ("conditional", [("flavors", "unmodelled")])
    assert plan.coverage == KueueCoverage(state).everything()
    assert "status.admission" in plan.coverage[0].evidence


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
    told(remark)
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
    told(plan.notes)
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
    told(plan.notes)


def with_status(
    name: str, *conditions: Object, objects: dict[str, Object] | None = None, **more: Any
) -> dict[str, Object]:
    """Let an object of the cluster have conditions, and whatever else its status says."""
    objects = dump(configuration()) if objects is None else objects
    objects[name]["status"] = {"conditions": list(conditions), **more}
    return objects


def specified(name: str, objects: dict[str, Object], **spec: Any) -> dict[str, Object]:
    """Let an object have other fields."""
    objects[name]["spec"] |= spec
    return objects


def agreeing() -> dict[str, Object]:
    """Return a cluster in which Kueue says all that the planner works out."""
    held = {"name": "default", "resources": [{"name": "gpu", "total": "4", "borrowed": "0"}]}
    status: Object = {"pendingWorkloads": 1, "flavorsReservation": [held]}
    objects = with_status("ClusterQueue a", ACTIVE, **status)
    return asking(
        said(objects, f"couldn't assign flavors to pod set main: {MORE.format(2)}"), gpu="2"
    )


def beside(cohort: str) -> dict[str, Object]:
    """Return the cluster with another queue, inactive by its condition, in a tree or not."""
    objects = dump(configuration(), queue("b", 0, "team"), running("three", "b", 2))
    with_status("ClusterQueue b", condition("Active", "False"), objects=objects)
    return specified("ClusterQueue a", objects, cohortName=cohort)


def lacking_a_flavor(*conditions: Object) -> dict[str, Object]:
    """Return the cluster whose queue has a flavor more that is not in the dump."""
    objects = with_status("ClusterQueue a", *conditions)
    group = objects["ClusterQueue a"]["spec"]["resourceGroups"][0]
    gone = {"name": "gone", "resources": [{"name": "gpu", "nominalQuota": "1"}]}
    group["flavors"] = [gone, *group["flavors"]]
    return objects


def preempted(reason: str, kind: str = "Preempted", status: str = "True") -> dict[str, Object]:
    """Return the cluster in which something happened to one that runs."""
    objects = dump(configuration())
    text = f"Preempted to accommodate a workload (UID: u, JobUID: j) due to {reason}; ..."
    objects["Workload one"]["status"]["conditions"].append(condition(kind, status, text, reason))
    return objects


def sliced(annotation: str | None, flavor: str, **gates: bool) -> dict[str, Object]:
    """Return the cluster in which Kueue keeps the pending workload in the flavor of a slice."""
    objects = said(dump(configuration(featureGates=gates)), PINNED + flavor)
    if annotation is not None:
        name = "kueue.x-k8s.io/workload-slice-replacement-for"
        objects["Workload pending"]["metadata"]["annotations"] = {name: annotation}
    return objects


def closed(cause: str) -> dict[str, Object]:
    """Return the cluster with a LocalQueue that takes nobody in, for a reason that is known."""
    state = "Unknown" if cause == "unknown" else "False"
    objects = with_status("LocalQueue a", condition("Active", state))
    if cause == "stopPolicy":
        specified("LocalQueue a", objects, stopPolicy="Hold")
    elif cause == "flavor":
        del objects["ResourceFlavor default"]
    elif cause == "condition":
        with_status("ClusterQueue a", condition("Active", "False"), objects=objects)
    return objects


def overtaken(*, pods: bool) -> dict[str, Object]:
    """Return the cluster whose pending workload others of its cycle overtook."""
    objects = dump(configuration())
    if pods:
        group = objects["ClusterQueue a"]["spec"]["resourceGroups"][0]
        group["coveredResources"].append("pods")
        group["flavors"][0]["resources"].append({"name": "pods", "nominalQuota": "9"})
    return said(objects, "Workload no longer fits after processing another workload")


def deleting(*conditions: Object) -> dict[str, Object]:
    """Return the cluster whose queue is being deleted, which its conditions may not say yet."""
    objects = with_status("ClusterQueue a", *conditions)
    objects["ClusterQueue a"]["metadata"]["deletionTimestamp"] = "2026-05-01T12:59:00Z"
    return objects


def held(second: str) -> dict[str, Object]:
    """Return the cluster in which two hold a flavor that their queues no longer have."""
    objects = dump(configuration(), queue("b", 4, cohort="c"), queue("z", 4))
    specified("ClusterQueue a", objects, cohortName="c")
    for name, place in (("one", "a"), ("two", second)):
        admission = objects[f"Workload {name}"]["status"]["admission"]
        admission["clusterQueue"] = place
        admission["podSetAssignments"][0]["flavors"]["gpu"] = "old"
    return objects


def in_a_circle() -> dict[str, Object]:
    """Return the cluster below two cohorts that are below one another."""
    objects = dump(configuration(), queue("b", 4, cohort="y"))
    for name, parent in (("x", "y"), ("y", "x")):
        kind = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort"}
        item = {**kind, "metadata": {"name": name}, "spec": {"parentName": parent}}
        objects[f"Cohort {name}"] = item
    return specified("ClusterQueue a", objects, cohortName="x")


def everywhere(status: Object) -> dict[str, Object]:
    """Return the cluster with a status that says nothing, of the workload and its queues."""
    objects = dump(configuration())
    objects["Workload pending"]["status"] = status
    for name in ("LocalQueue a", "ClusterQueue a"):
        objects[name]["status"] = {"conditions": status.get("conditions")}
    return objects


ACTIVE = condition("Active", "True")
STOPPED = condition("Active", "False", "Can't admit", "FlavorNotFound")
CHECKS = {"admissionChecks": [{"name": "budget"}]}
PINNED = "could not assign spot flavor since the original workload is assigned: "
OVERLAP = "Workload has overlapping preemption targets with another workload"
NO_PLACE = 'topology "default" doesn\'t allow to fit any of 2 pod(s)'
SHARE = {"fairSharing": {"weightedShare": 0}}
FAIR = configuration(fairSharing={})
CASES: dict[str, tuple[Callable[[], dict[str, Object]], str]] = {
    "all agree": (agreeing, ""),
    # E1: such as a transformation that the Configuration in the dump does not have. The number of
    # pods is set anew wherever a queue covers them, and tells nothing.
    "another request": (lambda: asking(dump(configuration()), gpu="3"), "requests contradiction"),
    "pods in requests": (lambda: asking(dump(configuration()), gpu="2", pods="1"), ""),
    # E2 and E3: a stopped queue cannot be active, and nothing stops another.
    "active though stopped": (
        lambda: specified(
            "ClusterQueue a", with_status("ClusterQueue a", ACTIVE), stopPolicy="Hold"
        ),
        "queues contradiction",
    ),
    "stopped by nothing": (lambda: with_status("ClusterQueue a", STOPPED), "queues contradiction"),
    # A deletion that Kueue has yet to see, or that it saw after it had called the queue stopped.
    "deleted since": (lambda: deleting(ACTIVE), ""),
    "deleted when stopped": (lambda: deleting(STOPPED), ""),
    # E2: if another queue of the tree is inactive, its workloads are no candidates.
    "inactive in the tree": (lambda: beside("team"), "queues contradiction"),
    "inactive elsewhere": (lambda: beside(""), ""),
    # E3: the queue is taken for active where Kueue says so, and what is missing is named.
    "no flavor": (lambda: lacking_a_flavor(ACTIVE), "queues assumed"),
    "no flavor, inactive": (lacking_a_flavor, ""),
    "no admission check": (
        lambda: specified(
            "ClusterQueue a", with_status("ClusterQueue a", ACTIVE), admissionChecksStrategy=CHECKS
        ),
        "",
    ),
    # E4: the state shows a LocalQueue open, and its ClusterQueue active; or says itself why not.
    **{
        f"closed: {reason}": (
            partial(
                with_status, "LocalQueue a", {**condition("Active", "False"), "reason": reason}
            ),
            "queues contradiction",
        )
        for reason in ("ClusterQueueIsInactive", "", None)
    },
    "closed: stopPolicy": (lambda: closed("stopPolicy"), ""),
    "closed: flavor": (lambda: closed("flavor"), ""),
    "closed: condition": (lambda: closed("condition"), "queues contradiction"),
    "closed: unknown": (lambda: closed("unknown"), ""),
    # E5: the defaults of fair sharing are taken. E6: it is on, and nobody publishes a share.
    "shares": (
        lambda: with_status("ClusterQueue a", objects=dump(), **SHARE),
        "configuration assumed",
    ),
    "shares on": (
        lambda: with_status("ClusterQueue a", objects=dump(FAIR), pendingWorkloads=1, **SHARE),
        "",
    ),
    "no shares": (
        lambda: with_status("ClusterQueue a", objects=dump(FAIR), pendingWorkloads=1),
        "",
    ),
    # E19: 2 are asked for, nothing is free, and Kueue says 5.
    "shortage": (lambda: said(dump(configuration()), MORE.format(5)), "quota contradiction"),
    "topology": (lambda: said(dump(configuration()), NO_PLACE), "topology contradiction"),  # E20
    # E22: Kueue takes it for a slice of one that has a flavor, and by the state it may not be.
    "no slice": (lambda: sliced(None, "default"), "slices contradiction"),
    "slice of nobody": (lambda: sliced("ns/gone", "default"), "slices contradiction"),
    "slice elsewhere": (lambda: sliced("ns/one", "reserved"), "slices contradiction"),
    "slice": (lambda: sliced("ns/one", "default"), ""),
    "slice, gate off": (
        lambda: sliced("ns/one", "default, more words", ElasticJobsViaWorkloadSlices=False),
        "slices contradiction",
    ),
    # E23: once it is competition; with pods covered it may be for ever. E24.
    "overtaken": (lambda: overtaken(pods=False), ""),
    "overtaken for ever": (lambda: overtaken(pods=True), ""),
    "overlapping": (lambda: said(dump(configuration()), OVERLAP), ""),
    # E26: Kueue preempted by a rule that is off in this state.
    "by shares": (
        lambda: preempted("Fair Sharing within the cohort"),
        "configuration contradiction",
    ),
    "while borrowing": (
        lambda: preempted("reclamation within the cohort while borrowing"),
        "policies contradiction",
    ),
    "in the queue": (lambda: preempted("prioritization in the ClusterQueue"), ""),
    # E27: a victim on its way still holds quota, goes first, and costs nothing more.
    "on its way": (lambda: preempted("Preempted", "Evicted"), ""),
    "no longer": (lambda: preempted("Preempted", "Evicted", "False"), ""),
    "not ready": (lambda: preempted("PodsReadyTimeout", "Evicted"), ""),
    # E28: quota of a flavor that a queue no longer has, of all queues of the tree, and no other.
    "held in the tree": (lambda: held("b"), ""),
    "held elsewhere": (lambda: held("z"), ""),
    "a circle": (in_a_circle, ""),
    # What a dump lacks is remarked, and changes no status.
    "more wait": (
        lambda: with_status("ClusterQueue a", ACTIVE, objects=dump(), pendingWorkloads=3),
        "",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_kueue_says_is_held_against_the_state(name: str) -> None:
    made, expected = CASES[name]
    plan = solved(made())
    assert [" ".join(one) for one in found(plan)] == ([expected] if expected else [])
    assert (plan.status == "conditional") == bool(expected)
    told(
        [
            f"{plan.status} {plan.proved} {plan.rules} {' '.join(plan.keys)}",
            *(f"{' '.join(one.objects)}: {one.evidence}" for one in plan.coverage),
            *plan.notes,
        ]
    )


@pytest.mark.parametrize("gone", [True, False])
def test_who_goes_anyway_may_be_all_that_is_waited_for(*, gone: bool) -> None:
    """E27, as in a review of kubernetes-sigs/kueue#13797.

    Of 12 in all, what is left of the lender's use no longer is over its quota (KQ-07).
    """
    going = running("going", "b", 4, evicted=gone)
    reclaims = queue("a", 7, "c", reclaim="Any", borrow="LowerPriority")
    asks = pending("a", 12, 100)
    plan = planner.solve(cluster_of(reclaims, queue("b", 5, "c"), going, asks))
    assert plan.status == "infeasible"
    assert ("once ns/going is gone, which goes anyway, it fits" in plan.explanation) == gone
    assert any("where it may be a victim" in one for one in plan.notes) == gone
    stays = running("on", "b", 1)
    more = planner.solve(cluster_of(reclaims, queue("b", 5, "c"), going, stays, asks))
    assert more.status == "infeasible"
    assert "anyway" not in more.explanation


NOTHING: list[Object] = [
    {},
    {"conditions": None, "resourceRequests": None},
    {"conditions": [], "resourceRequests": []},
    {"conditions": [{"type": "QuotaReserved", "status": "False"}]},
    {"conditions": [{"type": "QuotaReserved", "status": "False", "message": None}]},
    {"conditions": [{"type": "Evicted", "status": "True"}, {"type": "Preempted"}]},
    {"resourceRequests": [{"name": "another", "resources": {"gpu": "7"}}]},
]
WORDS = (
    "insufficient unused quota for gpu in flavor default, many more needed",
    "insufficient unused quota for , in flavor , , more needed",
    "could not assign  flavor since the original workload is assigned: ",
    "previously considered podsets requests () + current podset request ()",
    "no longer fits",
    "\u202e\x1b[2J",
)


@pytest.mark.parametrize(
    "objects", [*map(everywhere, NOTHING), *(said(dump(configuration()), one) for one in WORDS)]
)
def test_what_is_missing_or_of_another_release_is_no_evidence(objects: dict[str, Object]) -> None:
    assert found(solved(objects)) == []


@pytest.mark.parametrize("named", [{"resources": None}, {}])
def test_requests_of_nothing_are_others_than_those_of_the_template(named: Object) -> None:
    status = {"resourceRequests": [{"name": "main", **named}]}
    assert found(solved(everywhere(status))) == [("requests", "contradiction")]


def with_urgent(objects: dict[str, Object]) -> dict[str, Object]:
    """Return the objects with another workload that waits."""
    urgent = pending("a", 2, priority=30)[0]
    urgent["metadata"] |= {"name": "urgent", "uid": "urgent"}
    return {**objects, "Workload urgent": urgent}


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
    objects = with_urgent(dump(configuration()))
    for name in ("pending", "urgent"):
        said(objects, MORE.format(2), name)
    joint = planner.solve_joint(state_of(objects))
    assert (joint.status, joint.coverage) == ("feasible", ())


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
    state = state_of(with_urgent(objects))
    front, joint = planner.front(state, PENDING), planner.solve_joint(state)
    for notes in (front.notes, joint.notes):
        assert len(notes) == len(set(notes))
        assert any(note.startswith("Kueue said last") for note in notes)
        told(notes)
