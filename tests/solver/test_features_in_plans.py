"""Plans of slices, of workloads with devices, and where past use decides."""

import pytest

import planner
from planner.errors import InputError
from planner.plan.kueue import Plan
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.aftermath import admit, snapshot_after
from planner.reference.kueue.decision import decide
from planner.report.kueue.joint import render
from planner.state.kueue import State
from tests.cluster import (
    NOW,
    PENDING,
    Object,
    cohort,
    configuration,
    dump_of,
    pending,
    queue,
    running,
    state_of,
)
from tests.elastic import Pods, new, old
from tests.kueue_state import read_objects
from tests.reference.cycles import with_pod
from tests.reference.test_past_use_orders import SHARING, circle, two_doors
from tests.told import told


def solved(state: State) -> Plan:
    plan = planner.solve(state, pending=PENDING)
    assert isinstance(plan, Plan)
    return plan


def growing(pods: Pods, *others: list[Object], quota: int = 6) -> State:
    return state_of(
        queue("q", quota, within="LowerPriority"),
        old("old", "q", Pods(4), priority=5),
        *others,
        new("q", pods, priority=5),
    )


def test_a_slice_is_no_victim_and_its_delta_is_what_is_asked_for() -> None:
    """Two pods more: one victim of two will do, where Kueue takes two of one, newest first."""
    others = [running("big", "q", 2), running("one", "q", 1, minute=9)]
    plan = solved(growing(Pods(6), *others, quota=7))
    assert plan.status == "optimal"
    assert plan.keys == ("ns/big",)
    assert [demand.requested for demand in plan.demand] == [2]
    assert plan.certificate is not None
    (note,) = [note for note in plan.notes if "replaces ns/old" in note]
    told(note)
    assert planner.check(growing(Pods(6), *others, quota=7), plan).accepted


def test_a_slice_that_the_rules_permit_as_a_victim_is_named() -> None:
    state = state_of(
        queue("q", 4, within="LowerPriority"),
        old("old", "q", Pods(3)),
        running("one", "q", 1, 9),
        new("q", Pods(4), priority=5),
    )
    notes = solved(state).notes
    told(notes)


def test_a_release_that_matters_is_told_of_the_workload_for_which_it_does() -> None:
    other = pending("alone", 1)
    other[0]["metadata"]["name"] = "other"
    state = state_of(
        queue("q", 4, within="LowerPriority"),
        queue("alone", 2),
        old("old", "q", Pods(3)),
        running("one", "q", 1, 9),
        new("q", Pods(4), priority=5),
        other,
    )
    asked = ["ns/other", PENDING, "ns/other", PENDING]
    said = ["and matters" in str(planner.solve(state, pending=key).notes) for key in asked]
    assert said == [False, True, False, True]


def test_room_for_pods_that_grow_is_looked_for() -> None:
    """Four pods of 2 instead of 1 need four more of eight; Kueue looks for none, and takes one."""
    others = [running(f"w{n}", "q", 1, minute=n) for n in range(4)]
    plan = solved(growing(Pods(4, 2), *others, quota=8))
    assert plan.status == "optimal"
    assert len(plan.victims) == 4
    assert plan.greedy is not None
    assert plan.greedy.keys == ("ns/w3",)
    assert [law.partition(" ")[0] for law in plan.greedy.outside_rules] == ["KQ-01"]
    told(plan.greedy.explanation)
    told(plan.notes)


def test_pods_of_a_slice_count_beyond_those_of_the_old_one() -> None:
    """The queue covers pods: four of five are the old slice's, so two more need one victim."""
    state = state_of(
        queue("q", {"gpu": 20, "pods": 6}, within="LowerPriority"),
        old("old", "q", Pods(4, {"gpu": 1, "pods": 1}), priority=5),
        running("one", "q", {"gpu": 1, "pods": 1}),
        running("two", "q", {"gpu": 1, "pods": 1}),
        new("q", Pods(5), priority=5),
    )
    plan = solved(state)
    assert plan.status == "optimal"
    assert len(plan.victims) == 1


def test_what_comes_after_a_plan_counts_a_slice_once() -> None:
    """The old slice is finished then: six are in use, not ten."""
    state = growing(Pods(6), running("one", "q", 2))
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, PENDING)
    holder = admit(snapshot, preemptor, decide(snapshot, preemptor).assignment)
    victims = [one for one in snapshot.admitted[preemptor.queue] if one.key == "ns/one"]
    after = snapshot_after(snapshot, holder, victims)
    assert [one.key for one in after.admitted[preemptor.queue]] == [PENDING]
    assert after.usage.amount[preemptor.queue] == [6]


def test_joint_plans_do_not_know_slices() -> None:
    state = growing(Pods(6), running("one", "q", 2))
    for named in (None, [PENDING]):
        with pytest.raises(InputError) as caught:
            planner.solve_joint(state, named)
        told(caught.value)


def test_joint_plans_say_what_they_leave_out_of_slices() -> None:
    """The other workload is planned for; what the slice takes or gives up is not in the plan."""
    other = pending("q", 1, priority=5)
    other[0]["metadata"]["name"] = "other"
    plan = planner.solve_joint(growing(Pods(6), running("one", "q", 2), other))
    assert [one.workload for one in plan.pending] == ["ns/other"]
    assert [one.workload for one in plan.skipped] == [PENDING]
    assert plan.status == "feasible"
    assert [(one.feature, one.objects) for one in plan.coverage] == [
        ("slices", (f"Workload {PENDING}",))
    ]


@pytest.mark.parametrize("release", ["0.17.8", "auto"])
def test_joint_plans_name_the_release_whose_rules_hold(release: str) -> None:
    value = dump_of(queue("q", 2, within="LowerPriority"), running("x", "q", 2), pending("q", 2))
    state = read_objects(value, where="test", now=NOW, release=release)
    plan = planner.solve_joint(state)
    shown = [
        render(plan, style, width=120, color=False)
        for style in ("table", "plain", "markdown", "html")
    ]
    assert plan.kueue is not None
    if release == "auto":
        assert (plan.kueue.release, plan.kueue.known_by) == ("main", "assumed")
        assert "kueue\tmain" not in shown[1]
    else:
        assert (plan.kueue.release, plan.kueue.known_by) == (release, "given")
        assert all(release in one.replace("\\", "") for one in shown)
    assert plan.kueue == planner.solve(state, PENDING).kueue


def test_rejected_devices_are_said() -> None:
    workload = with_pod(pending("q", 1), resourceClaims=[{"name": "c", "resourceClaimName": "c"}])
    plan = solved(state_of(queue("q", 1, within="LowerPriority"), running("x", "q", 1), workload))
    assert plan.status == "infeasible"
    told(plan.explanation)


def test_past_use_is_said_and_circles_are() -> None:
    plan = solved(two_doors(SHARING, used={"a": 1, "b": 9}))
    assert plan.greedy is not None
    assert plan.greedy.keys == ("ns/high",)
    told(plan.notes)
    undetermined = solved(circle())
    assert undetermined.status == "optimal"
    (note,) = [note for note in undetermined.notes if "not determined" in note]
    assert all(key in note for key in ("ns/x1", "ns/x2", "ns/y1"))


def test_a_slice_under_fair_sharing() -> None:
    state = state_of(
        cohort("all"),
        queue("q", 4, "all", reclaim="Any"),
        queue("r", 0, "all"),
        old("old", "q", Pods(2), priority=5),
        running("big", "r", 2),
        new("q", Pods(4), priority=5),
        configuration(fairSharing={}),
    )
    plan = solved(state)
    assert plan.status == "optimal"
    assert plan.keys == ("ns/big",)
