"""Run time counts only while pods run, or may run: by the conditions of a workload, told by hand.

Source: docs/design/objectives.md §2.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import planner
from planner.quota.kueue.holders import Admitted
from planner.quota.kueue.snapshot import build_snapshot
from planner.state import parse_time
from planner.state.kueue import State
from planner.state.kueue_workload import REPLACEMENT_FOR
from tests.cluster import NOW, PENDING, Object, at, dump_of, pending, queue, running, state_of
from tests.reader.test_quick import agree, listed
from tests.reports import reports
from tests.told import told

HERE = Path(__file__).parent / "run_times"

Said = tuple[str, str, int | None]
"""Status and reason of a condition, and the minute after 12:00 since when; it is 13:00."""

RESERVED: Said = ("True", "QuotaReserved", 10)
ADMITTED: Said = ("True", "Admitted", 20)
UNCHECKED: Said = ("False", "UnsatisfiedChecks", 10)
STUCK: Mapping[str, Said] = {"Admitted": ADMITTED, "PodsReady": ("False", "WaitForStart", 10)}


def conditions(said: Mapping[str, Said | None]) -> list[Object]:
    found = []
    for kind, one in said.items():
        if one is not None:
            status, reason, minute = one
            since = {} if minute is None else {"lastTransitionTime": at(minute)}
            found.append({"type": kind, "status": status, "reason": reason, **since})
    return found


def holder(name: str, said: Mapping[str, Said | None], *, checks: bool = False) -> list[Object]:
    """Return a workload of one GPU that holds quota, with the conditions given."""
    [workload] = running(name, "a", 1)
    workload["status"]["conditions"] = conditions({"QuotaReserved": RESERVED, **said})
    if checks:
        workload["status"]["admissionChecks"] = [{"name": "prov", "state": "Pending"}]
    return [workload]


def a_slice(  # noqa: PLR0913 - the words of the small language
    name: str,
    started: int,
    replaces: str = "",
    *,
    job: str = "job",
    done: int | None = None,
    reason: str = "WorkloadSliceReplaced",
    said: Mapping[str, Said] = MappingProxyType({}),
) -> list[Object]:
    """Return a slice of an elastic job that was admitted in a minute, and is done since one."""
    reserved, admitted = ("True", "QuotaReserved", started), ("True", "Admitted", started)
    finished = None if done is None else ("True", reason, done)
    usual = {"QuotaReserved": reserved, "Admitted": admitted, "Finished": finished}
    [workload] = holder(name, {**usual, **said})
    metadata = workload["metadata"]
    metadata["creationTimestamp"] = at(started)
    metadata["annotations"] = {"kueue.x-k8s.io/elastic-job": "true"}
    if replaces:
        metadata["annotations"][REPLACEMENT_FOR] = f"ns/{replaces}"
    if job:
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": f"uid-{job}"}
        metadata["ownerReferences"] = [owner]
    return [workload]


def holders(*parts: list[Object]) -> tuple[State, Mapping[str, Admitted]]:
    """Return the state of both readers, which agree, and who holds quota in it at 13:00."""
    state = agree(listed(*dump_of(queue("a", 9), *parts)["items"]))
    assert state is not None
    admitted = build_snapshot(state, parse_time(NOW)).admitted
    return state, {one.key: one for some in admitted.values() for one in some}


READY: dict[str, tuple[Said | None, int]] = {
    "Kueue does not watch the pods": (None, 40),
    "ready": (("True", "Started", 25), 35),
    "ready, before 0.11": (("True", "PodsReady", 25), 35),
    "ready again": (("True", "Recovered", 50), 10),
    "ready in the run before": (("True", "Started", 5), 40),
    "ready, nobody knows since when": (("True", "Started", None), 40),
    "never ready, since it was made": (("False", "WaitForStart", 1), 0),
    "never ready, since the admission": (("False", "WaitForStart", 20), 0),
    "never ready, noted later": (("False", "WaitForStart", 21), 0),
    "never ready, nobody knows since when": (("False", "WaitForStart", None), 0),
    "never ready, before 0.11": (("False", "PodsReady", 20), 0),
    "a pod failed": (("False", "WaitForRecovery", 45), 40),
    "a pod failed in the run before": (("False", "WaitForRecovery", 15), 0),
    "not ready, and no reason": (("False", "", 45), 40),
    "unknown": (("Unknown", "", 45), 40),
}


@pytest.mark.parametrize("case", READY)
def test_an_admitted_workload_runs_since_its_pods_were_ready(case: str) -> None:
    ready, minutes = READY[case]
    state, found = holders(holder("one", {"Admitted": ADMITTED, "PodsReady": ready}))
    assert state.workloads.columns.is_text[0], "the fast reader tells it"
    assert found["ns/one"].running_s == 60 * minutes


ADMISSION: dict[str, tuple[Said | None, bool, int]] = {
    "admitted long after the reservation": (ADMITTED, True, 40),
    "admitted, and a check is pending again": (("True", "Admitted", 15), True, 45),
    "checks are pending": (None, True, 0),
    "checks are pending, and it is said": (UNCHECKED, True, 0),
    "not admitted, and no checks": (("False", "NoReservation", 10), False, 0),
    "placed later": (("False", "PendingDelayedTopologyRequests", 10), False, 0),
    "admitted at once, as it has no checks": (None, False, 50),
    "admitted, nobody knows when": (("True", "Admitted", None), True, 50),
}


@pytest.mark.parametrize("ready", [None, ("True", "Started", 5), ("False", "WaitForStart", 5)])
@pytest.mark.parametrize("case", ADMISSION)
def test_who_is_not_admitted_does_not_run(case: str, ready: Said | None) -> None:
    admitted, checks, minutes = ADMISSION[case]
    waits = ready is not None and ready[0] == "False"
    _, found = holders(holder("one", {"Admitted": admitted, "PodsReady": ready}, checks=checks))
    assert found["ns/one"].running_s == (0 if waits else 60 * minutes)


def test_a_workload_admitted_again_runs_since_then() -> None:
    again = ("True", "QuotaReserved", 40), ("True", "Admitted", 45)
    evicted = ("False", "QuotaReserved", 40)
    for ready in (None, ("True", "Started", 15)):
        said = {"QuotaReserved": again[0], "Admitted": again[1], "PodsReady": ready}
        _, found = holders(holder("one", {**said, "Evicted": evicted}))
        assert found["ns/one"].running_s == 15 * 60


def test_the_order_of_candidates_goes_by_the_reservation_all_the_same() -> None:
    """Kueue takes the newest reservation first, whether its pods run or not."""
    stuck = holder("stuck", STUCK)
    newer = holder("newer", {"QuotaReserved": ("True", "QuotaReserved", 30)})
    asked = queue("a", 2, within="LowerPriority"), pending("a", 1)
    plan = planner.solve(state_of(*asked, stuck, newer), PENDING)
    assert plan.keys == ("ns/stuck",)
    assert plan.greedy is not None
    assert plan.greedy.keys == ("ns/newer",)
    assert plan.victims[0].position == 2


# Slices of elastic jobs


def test_slices_are_one_run() -> None:
    _, found = holders(
        a_slice("first", 5, done=20),
        a_slice("second", 20, "first", done=30),
        a_slice("third", 30, "second"),
        a_slice("else", 1, done=50, job="other"),
    )
    assert found["ns/third"].running_s == 55 * 60


def test_each_slice_starts_by_its_own_conditions() -> None:
    """The first never ran; of the second all pods were ready at 12:25; the third waits for one."""
    waits = {"PodsReady": ("False", "WaitForStart", 1)}
    _, found = holders(
        a_slice("first", 5, done=20, said=waits),
        a_slice("second", 20, "first", done=30, said={"PodsReady": ("True", "Started", 25)}),
        a_slice("third", 30, "second", said=waits),
    )
    assert found["ns/third"].running_s == 35 * 60


def test_a_slice_that_none_ran_of_has_not_run() -> None:
    waits = {"PodsReady": ("False", "WaitForStart", 1)}
    _, found = holders(
        a_slice("first", 5, done=20, said=waits), a_slice("second", 20, "first", said=waits)
    )
    assert found["ns/second"].running_s == 0


def test_a_slice_admitted_again_after_an_eviction_begins_a_new_run() -> None:
    again = {"Evicted": ("False", "QuotaReserved", 40)}
    first, second = a_slice("first", 5, done=20), a_slice("second", 40, "first", said=again)
    _, found = holders(first, second)
    assert found["ns/second"].running_s == 20 * 60
    [ended] = second
    ended["status"]["conditions"] += conditions({"Finished": ("True", "WorkloadSliceReplaced", 50)})
    _, found = holders(first, second, a_slice("third", 50, "second"))
    assert found["ns/third"].running_s == 20 * 60


def test_a_slice_that_replaced_nobody_begins_a_run() -> None:
    _, found = holders(
        a_slice("before", 5, done=10), a_slice("first", 15, done=20), a_slice("second", 20, "first")
    )
    assert found["ns/second"].running_s == 45 * 60


@pytest.mark.parametrize("reason", ["Succeeded", "OutOfSync", "WorkloadSliceReplaced"])
def test_only_a_slice_that_was_replaced_goes_on(reason: str) -> None:
    _, found = holders(a_slice("first", 5, done=20, reason=reason), a_slice("second", 20, "first"))
    minutes = 55 if reason == "WorkloadSliceReplaced" else 40
    assert found["ns/second"].running_s == minutes * 60


def test_a_slice_in_another_namespace_is_not_of_the_run() -> None:
    [first] = a_slice("first", 5, done=20)
    first["metadata"]["namespace"] = "other"
    [second] = a_slice("second", 20)
    second["metadata"]["annotations"][REPLACEMENT_FOR] = "other/first"
    second["metadata"].pop("ownerReferences")
    _, found = holders([first], [second])
    assert found["ns/second"].running_s == 40 * 60


def test_slices_that_replace_one_another_end_the_search() -> None:
    _, found = holders(
        a_slice("first", 5, "second", done=20),
        a_slice("second", 20, "first", done=30),
        a_slice("third", 30, "second"),
    )
    assert found["ns/third"].running_s == 55 * 60


CUT_OFF = "the slice that it replaced is not in the dump"


@pytest.mark.parametrize(
    ("parts", "minutes", "told"),
    [
        ([], 20, False),
        ([a_slice("second", 20, "first", done=40)], 40, False),
        ([a_slice("first", 5, done=20)], 55, True),  # by its job: the second is missing
        ([a_slice("first", 5, done=20, job="")], 20, False),
        ([a_slice("first", 5, done=20), a_slice("second", 20, "first", done=40)], 55, True),
        ([a_slice("first", 50, done=55)], 20, False),  # newer than the third
    ],
)
def test_a_plan_says_that_a_slice_before_is_missing(
    parts: list[list[Object]], minutes: int, *, told: bool
) -> None:
    asked = queue("a", 1, within="LowerPriority"), pending("a", 1)
    third = a_slice("third", 40, "second")
    assert holders(third, *parts)[1]["ns/third"].running_s == minutes * 60
    plan = planner.solve(state_of(*asked, third, *parts), PENDING)
    assert plan.keys == ("ns/third",)
    assert plan.victims[0].age_s == minutes * 60
    assert any(CUT_OFF in note and "ns/third" in note for note in plan.notes) is not told


# Plans


def notes_of(one: list[Object], **asked: Any) -> tuple[str, ...]:
    plan = planner.solve(
        state_of(queue("a", 1, within="LowerPriority"), pending("a", 1), one), PENDING, **asked
    )
    assert plan.keys == (f"ns/{one[0]['metadata']['name']}",)
    return tuple(plan.notes)


def test_a_plan_says_what_is_not_known_of_a_run() -> None:
    failed = notes_of(holder("one", {**STUCK, "PodsReady": ("False", "WaitForRecovery", 30)}))
    told(failed)
    undated = notes_of(holder("one", {"QuotaReserved": ("True", "", None)}))
    told(undated)
    for known in (
        holder("one", {"Admitted": ADMITTED}),
        holder("one", STUCK),
        holder("one", {}, checks=True),
    ):
        assert not any("counts as lost" in note for note in notes_of(known))


@pytest.mark.parametrize("written", ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z", None])
def test_the_zero_time_of_go_says_nothing_of_a_run(written: str | None) -> None:
    """Programs that keep a plain time write it so; Kubernetes' own write null, or leave it out."""
    parts = holder("v", {"Admitted": ADMITTED})
    for one in parts[0]["status"]["conditions"]:
        one["lastTransitionTime"] = written
    state, held = holders(parts)
    assert held["ns/v"].started_at is None
    assert [one for one in state.notes if "they count as the oldest: ns/v" in one]


def test_a_joint_plan_says_it_too() -> None:
    state = state_of(
        queue("a", 1, within="LowerPriority"), pending("a", 1), a_slice("third", 40, "second")
    )
    plan = planner.solve_joint(state)
    assert [victim.workload for step in plan.steps for victim in step.victims] == ["ns/third"]
    assert any(CUT_OFF in note and "ns/third" in note for note in plan.notes)


def test_a_checkpoint_counts_no_more_than_the_run() -> None:
    [one] = holder("one", {"Admitted": ADMITTED})
    for minute, lost in ((50, 10), (5, 40)):
        saved = {"preemption-planner.io/last-checkpoint": at(minute)}
        one["metadata"]["annotations"] = saved
        state = state_of(queue("a", 1, within="LowerPriority"), pending("a", 1), [one])
        [victim] = planner.solve(state, PENDING).victims
        assert victim.costs["lost_work"] == lost * 60
    one["status"]["conditions"] += conditions({"PodsReady": ("False", "WaitForStart", 10)})
    state = state_of(queue("a", 1, within="LowerPriority"), pending("a", 1), [one])
    [victim] = planner.solve(state, PENDING).victims
    assert victim.costs["lost_work"] == 0


# Reports

VICTIMS = {
    "never-started": "team/rayjob-stuck",
    "never-admitted": "team/job-waits-for-nodes",
    "slices": "team/job-worker",
}
REPORTED = {
    "never-started": "never-started-counts-as-lost-work",
    "never-admitted": "reserved-but-never-admitted-counts-as-lost-work",
    "slices": "lost-work-forgets-the-slice-before",
}


@pytest.mark.parametrize("objective", ["no-regret", "min-lost-work"])
@pytest.mark.parametrize("case", VICTIMS)
def test_a_plan_takes_who_loses_least(case: str, objective: str) -> None:
    state = planner.read(HERE / f"{case}.yaml")
    plan = planner.solve(state, objective=objective)
    assert (plan.status, plan.keys) == ("optimal", (VICTIMS[case],))
    # 8 GPUs from 22:02, where the pods were ready then, or from 22:01 to 7:50 of the next day.
    lost = {"never-started": 0, "never-admitted": 0, "slices": 8 * 35_340}
    assert plan.victims[0].costs["lost_work"] == lost[case]


@pytest.mark.parametrize("case", VICTIMS)
def test_the_reported_situations_are_answered(case: str) -> None:
    folder = reports()
    if folder is None:
        pytest.skip("no reports: set PLANNER_REPORTS to their folder")
    plan = planner.solve(planner.read(folder / "kueue" / REPORTED[case] / "dump.yaml"))
    assert plan.keys == (VICTIMS[case],)


def test_explain_says_what_a_run_costs() -> None:
    state = planner.read(HERE / "slices.yaml")
    why = planner.explain(state, victim="team/job-el-2")
    assert why.alternative is not None
    rows = {row.term: (row.plan, row.other) for row in why.alternative.terms}
    # Ten days less ten minutes of the job, at 8 GPUs.
    assert rows["lost_work"] == (8 * 35_340, 8 * 863_340)
    stuck = planner.explain(planner.read(HERE / "never-started.yaml"), victim="team/rayjob-stuck")
    assert "necessary" in stuck.answer
