"""Kueue from cycle to cycle: what it remembers, who comes back, and what wakes the parked.

docs/semantics/kueue.md §7, and kueue ff69552e pkg/cache/queue, pkg/scheduler. Of a week of a
thousand workloads a minute is asked for; wall time is at a busy machine's mercy, so processor
time counts.
"""

import time
from typing import Any

import pytest

import planner
from planner.errors import InputError, LookupFailed, SchemaError, UnsupportedError
from planner.reader.kueue import read_kueue_objects
from planner.research.simulate import Question, Script, simulate
from tests.cluster import (
    Object,
    at,
    cohort,
    configuration,
    dump_of,
    pending,
    queue,
    running,
    state_of,
)
from tests.conftest import TEST_ALL
from tests.elastic import Pods, new, old
from tests.reference.cycles import flavors, several_flavors, strict, waits, with_spec
from tests.research.simulate.driving import as_dumped, drive, story, went, world_of
from tests.research.simulate.week import WEEK_S, week
from tests.told import told

A = queue("a", 4, within="LowerPriority")


def test_a_victim_waits_again_and_the_preemptor_runs() -> None:
    """The victim leaves for 5 s; then the preemptor has its quota, and nobody else fits."""
    answer = went(A, running("low", "a", 4), waits("high", "a", 2, 10), eviction_s=5)
    told(story(answer.timeline))
    assert answer.ended == "settled"
    assert (answer.totals.evictions, answer.totals.admissions) == (1, 1)
    fates = {fate.workload: fate for fate in answer.workloads}
    # It ran since 12:00, it is 13:00 now, and a GPU counts as one accelerator.
    assert (fates["ns/low"].lost_s, fates["ns/low"].lost_work) == (3600, 4 * 3600)
    assert fates["ns/low"].standing == "pending"
    assert (fates["ns/high"].waiting_s, fates["ns/high"].admitted_s) == (5, 5)


def test_victims_leave_one_after_another() -> None:
    """The second of a decision takes 3 s longer than the first; or as long as the script says."""
    parts = (A, running("x", "a", 2), running("y", "a", 2), waits("high", "a", 4, 10))
    evictions = ["0 x preempted by high", "0 y preempted by high"]
    answer = went(*parts, apart_s=3)
    assert (answer.eviction_s, answer.apart_s) == (1, 3)
    assert story(answer.timeline) == [*evictions, "1 x requeued", "4 y requeued", "4 high admitted"]
    script = Script.model_validate({"workload": [{"name": "ns/x", "vacate_seconds": 9}]})
    assert story(went(*parts, script=script).timeline) == [
        *evictions,
        "1 y requeued",
        "9 x requeued",
        "9 high admitted",
    ]


def test_evictions_are_counted_on_the_workload() -> None:
    """As the term ``past_preemptions`` reads them: low was preempted twice before, and once now."""
    low = running("low", "a", 4)
    low[0]["status"]["schedulingStats"] = {"evictions": [{"reason": "Preempted", "count": 1}] * 2}
    world = world_of(state_of(A, low, waits("high", "a", 2, 10)))
    for at_s, _ in drive(world, 0, 9):
        state = as_dumped(world, at_s)
        (found,) = (one for one in state.workloads if one.metadata.name == "low")
        (eviction,) = found.status.scheduling_stats.evictions
        assert (eviction.reason, eviction.count) == ("Preempted", 3)


def test_who_is_evicted_already_leaves_and_is_evicted_no_more() -> None:
    answer = went(A, running("low", "a", 4, evicted=True), waits("high", "a", 2, 10))
    assert story(answer.timeline) == ["1 low requeued", "1 high admitted"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([], 2),
        ([{"name": "ns/low", "run_seconds": 9000}], 1),
        ([{"name": "*", "run_seconds": 9}], 0),
    ],
)
def test_those_without_a_run_time_are_counted(rules: list[dict[str, Any]], expected: int) -> None:
    """Once each, also who runs, is evicted and runs again; who never runs, needs none."""
    parts = (running("low", "a", 4), waits("high", "a", 4, 10), waits("huge", "a", 5, 0))
    script = Script.model_validate({"workload": rules})
    assert went(A, *parts, script=script, until_s=60).endless_runs == expected


def test_who_is_evicted_already_keeps_its_checkpoints() -> None:
    """It began at 12:00 and was evicted at 12:55, with a checkpoint every 10 minutes."""
    low = running("low", "a", 4, evicted=True)
    low[0]["status"]["conditions"][-1]["lastTransitionTime"] = at(55)
    row = {"name": "ns/low", "run_seconds": 4000, "checkpoint_seconds": 600}
    script = Script.model_validate({"workload": [row]})
    answer = went(A, low, script=script)
    assert story(answer.timeline) == ["1 low requeued", "1 low admitted", "1001 low finished"]


def test_a_preemptor_stays_the_head_in_a_best_effort_queue() -> None:
    """Meanwhile one of higher priority comes; yet the room goes to whoever made it."""
    late = waits("later", "a", 4, 100)
    script = Script.model_validate({"workload": [{"name": "ns/later", "arrive_seconds": 3}]})
    parts = (running("low", "a", 4), waits("high", "a", 4, 10), late)
    best_effort = went(A, *parts, eviction_s=5, script=script, until_s=6)
    told(story(best_effort.timeline)[:4])
    in_order = strict("a", 4, within="LowerPriority")
    strictly = went(in_order, *parts, eviction_s=5, script=script, until_s=6)
    told(story(strictly.timeline)[:4])


def two_flavors(**gates: bool) -> list[list[Object]]:
    """Build two queues that borrow all: two units of f1, of which low has one, and two of f2."""
    spec = several_flavors(f1=0, f2=0) | {
        "flavorFungibility": {"whenCanPreempt": "MayStopSearch"},
        "preemption": {
            "withinClusterQueue": "LowerPriority",
            "reclaimWithinCohort": "LowerPriority",
            "borrowWithinCohort": {"policy": "LowerPriority"},
        },
    }
    pool = with_spec(cohort("c"), **several_flavors(f1=2, f2=2))
    low = running("low", "b", 1)
    low[0]["status"]["admission"]["podSetAssignments"][0]["flavors"] = {"gpu": "f1"}
    return [
        flavors("f1", "f2"),
        pool,
        with_spec(queue("a", 0, "c"), **spec),
        with_spec(queue("b", 0, "c"), **spec),
        low,
        waits("x", "a", 1, 10),
        waits("y", "b", 1, 5, minute=1),
        configuration(featureGates=gates),
    ]


def test_a_walk_over_flavors_goes_on_where_it_stopped() -> None:
    """Both find room in f1 first. x gets it; y goes on with f2 in the next cycle, which has room.

    Without what it remembers it begins with f1 again, where it may preempt.
    """
    assert story(went(*two_flavors()).timeline) == ["0 x admitted", "1 y admitted"]
    forgetful = went(*two_flavors(FlavorFungibilityPreserveScanProgress=False))
    told(story(forgetful.timeline)[:2])


def test_what_is_alike_is_parked_together_and_later_ones_with_it() -> None:
    """One cycle for three of a kind, and none for a fourth that comes later.

    One of another kind makes one more.
    """
    three = [waits(name, "a", 3) for name in ("one", "two", "three")]
    parts = (A, running("there", "a", 2), *three, waits("late", "a", 3), waits("other", "a", 4))
    rules = {name: {"name": f"ns/{name}", "arrive_seconds": 9} for name in ("late", "other")}
    never = {"name": "ns/other", "arrive_seconds": 99}
    like = Script.model_validate({"workload": [rules["late"], never]})
    assert went(*parts, script=like, until_s=50).cycles == 1
    both = Script.model_validate({"workload": list(rules.values())})
    assert went(*parts, script=both, until_s=50).cycles == 2


def test_whatever_is_parked_wakes_a_second_after_the_tree_gave_something_back() -> None:
    """Queue b of the same cohort wakes at 101 s, queue z of no cohort does not at all."""
    script = Script.model_validate({"workload": [{"name": "ns/there", "run_seconds": 3700}]})
    answer = went(
        queue("a", 4, "c"),
        queue("b", 0, "c"),
        queue("z", 1),
        running("there", "a", 4),
        running("other", "z", 1),
        waits("mine", "b", 2),
        waits("never", "z", 1),
        script=script,
    )
    assert story(answer.timeline) == ["100 there finished", "101 mine admitted"]
    assert answer.cycles == 2  # nobody is a head in between
    fates = {fate.workload: fate.standing for fate in answer.workloads}
    assert fates["ns/never"] == "pending"


def test_a_strict_head_that_waits_costs_no_cycles() -> None:
    first = waits("first", "a", 4, 10)
    answer = went(strict("a", 4), running("there", "a", 4), first, waits("second", "a", 4))
    assert (answer.cycles, answer.ended, answer.timeline) == (1, "settled", ())


def test_a_backoff_ends_when_it_says() -> None:
    status: dict[str, Any] = {
        "conditions": [{"type": "Requeued", "status": "False", "reason": "PodsReadyTimeout"}],
        "requeueState": {"count": 1, "requeueAt": "2026-05-01T13:01:30Z"},
    }
    answer = went(A, waits("late", "a", 4, **status))
    assert story(answer.timeline) == ["90 late admitted"]


@pytest.mark.parametrize("ends_s", [88, 89, 90])
def test_who_is_woken_as_its_backoff_ends_is_queued_once(ends_s: int) -> None:
    """There is room for both once the first has ended, and what gave it back wakes a second later.

    Where the first ends at 89, that is at 90, as the backoff is over, too.
    """
    status: dict[str, Any] = {"requeueState": {"count": 1, "requeueAt": "2026-05-01T13:01:30Z"}}
    rules = [{"name": "ns/first", "run_seconds": 3600 + ends_s}]
    parts = (running("first", "a", 4), waits("late", "a", 2, **status), waits("second", "a", 2))
    script = Script.model_validate({"workload": rules})
    answer = went(A, *parts, script=script, until_s=200)
    admitted = {event.workload for event in answer.timeline if event.kind == "admitted"}
    assert (admitted, answer.totals.admissions) == ({"ns/late", "ns/second"}, 2)


@pytest.mark.parametrize(
    ("rule", "lost"),
    [
        # It has run for 3600 s of 4000. Evicted at 0 and admitted again at 102, it has to do
        # all of it; what came after the checkpoint at 3500; or just what is left.
        ({}, 3600),
        ({"checkpoint_seconds": 500}, 100),
        ({"checkpoint_seconds": 1}, 0),
    ],
)
def test_an_eviction_loses_what_came_after_the_last_checkpoint(
    rule: dict[str, int], lost: int
) -> None:
    rules = [
        {"name": "ns/low", "run_seconds": 4000, **rule},
        {"name": "ns/high", "run_seconds": 100},
    ]
    script = Script.model_validate({"workload": rules})
    answer = went(A, running("low", "a", 4), waits("high", "a", 4, 10), script=script)
    told(story(answer.timeline))
    assert answer.totals.lost_s == lost


def test_annotations_say_run_times_and_checkpoints_on_a_signal() -> None:
    notes = {
        "preemption-planner.io/run-seconds": "4000",
        "preemption-planner.io/checkpoint-seconds": "20",
    }
    low = running("low", "a", 4, annotations=notes)
    answer = went(A, low, waits("high", "a", 4, 10), script=Script(run_seconds=100))
    assert story(answer.timeline)[-1] == f"{102 + 400} low finished"
    assert answer.totals.lost_s == 0


def test_an_unusable_annotation_is_refused() -> None:
    low = running("low", "a", 4, annotations={"preemption-planner.io/run-seconds": "soon"})
    with pytest.raises(SchemaError, match="run-seconds"):
        went(A, low)


def test_who_is_created_after_the_clock_arrives_then() -> None:
    parts = dump_of(A, waits("soon", "a", 1, minute=10))
    state = read_kueue_objects(parts, where="test", now="2026-05-01T12:05:00Z")
    assert story(simulate(state).timeline) == ["300 soon arrived", "300 soon admitted"]


def test_copies_arrive_one_after_the_other() -> None:
    row = {"like": "ns/pending", "at_seconds": 10, "every_seconds": 5, "count": 2}
    script = Script.model_validate({"arrival": [row], "run_seconds": 3})
    answer = went(A, pending("a", 1), script=script)
    assert story(answer.timeline) == [
        "0 pending admitted",
        "3 pending finished",
        "10 pending-1 arrived",
        "10 pending-1 admitted",
        "13 pending-1 finished",
        "15 pending-2 arrived",
        "15 pending-2 admitted",
        "18 pending-2 finished",
    ]


def test_use_is_what_was_held_on_average() -> None:
    """Four GPUs for 50 of 100 seconds, of four that there are."""
    later = [{"name": "ns/later", "arrive_seconds": 200}]
    script = Script.model_validate({"run_seconds": 50, "workload": later})
    answer = went(A, pending("a", 4), waits("later", "a"), script=script, until_s=100)
    assert [(one.capacity, one.share) for one in answer.use] == [(4, 0.5)]


def test_capacity_is_all_nominal_quota_lent_out_or_not() -> None:
    """Four GPUs of a, of which it lends none, and two of b."""
    parts = (queue("a", 4, "pool", lending=0), queue("b", 2, "pool"), pending("a", 3))
    answer = went(*parts, script=Script(run_seconds=100), until_s=100)
    assert [(one.capacity, one.share) for one in answer.use] == [(6, 0.5)]


def test_a_limit_ends_it() -> None:
    late = Script.model_validate({"workload": [{"name": "*", "arrive_seconds": 50}]})
    answer = went(A, pending("a", 1), script=late, until_s=20)
    assert (answer.ended, answer.duration_s) == ("until", 20)
    assert answer.workloads[0].standing == "to come"
    answer = went(A, running("low", "a", 4), waits("high", "a", 2, 10), cycles=1)
    assert answer.ended == "cycles"


def test_the_same_again_gives_the_same() -> None:
    parts = (A, running("low", "a", 4), waits("high", "a", 2, 10))
    assert went(*parts).model_dump_json() == went(*parts).model_dump_json()


def test_the_optimum_spares_whom_the_greedy_takes() -> None:
    """One of 3 would do, but Kueue takes the newest first, and the fill-back keeps two of 2."""
    parts = (
        queue("a", 7, within="LowerPriority"),
        running("three", "a", 3, minute=1),
        running("two", "a", 2, minute=2),
        running("more", "a", 2, minute=3),
        waits("high", "a", 3, 10),
    )
    told(story(went(*parts).timeline)[:2])
    best = went(*parts, decider="optimum", objective="min-count")
    told(story(best.timeline)[:3])
    assert (best.unproved, best.objective) == (0, "min-count")


def test_only_its_own_scheduler_decides() -> None:
    with pytest.raises(InputError) as caught:
        simulate(state_of(A), Question("yunikorn"))
    told(caught.value)


def test_the_calendar_has_an_end() -> None:
    state = read_kueue_objects(dump_of(A), where="test", now="9999-12-31T23:59:59Z")
    with pytest.raises(UnsupportedError, match="9999"):
        simulate(state)


def test_copies_of_nobody() -> None:
    with pytest.raises(LookupFailed, match="ns/nobody"):
        went(A, script=Script.model_validate({"arrival": [{"like": "ns/nobody"}]}))


def test_an_admission_that_leaves_podsets_out_is_not_simulated() -> None:
    """Kueue stops assigning at the second podset and calls the first a fit; the API refuses it."""
    [workload] = waits("three", "a", 1, 10)
    [first] = workload["spec"]["podSets"]
    zero = {"containers": [{"name": "c", "resources": {"requests": {"example.com/none": "0"}}}]}
    second = {"name": "zeros", "count": 1, "template": {"spec": zero}}
    workload["spec"]["podSets"] = [first, second, {**first, "name": "third"}]
    with pytest.raises(UnsupportedError) as caught:
        went(A, [workload])
    told(caught.value)


def test_an_old_slice_is_finished_when_the_new_one_is_admitted() -> None:
    """First somebody is evicted for the two pods more; the old slice runs on until then."""
    state = state_of(
        queue("q", 6, within="LowerPriority"),
        old("old", "q", Pods(4), priority=5),
        running("other", "q", 2),
        new("q", Pods(6), priority=5),
    )
    answer = simulate(state)
    events = [(event.kind, event.workload) for event in answer.timeline]
    assert events[:4] == [
        ("preempted", "ns/other"),
        ("requeued", "ns/other"),
        ("finished", "ns/old"),
        ("admitted", "ns/pending"),
    ]
    assert all(event.workload != "ns/old" for event in answer.timeline[3:])


WORKLOADS = 1_000 if TEST_ALL else 120
SECONDS = 60


@pytest.mark.parametrize("fair", [False, True], ids=["classical", "fair"])
@pytest.mark.parametrize("load", [0.8, 1.2])
def test_a_week_takes_less_than_a_minute(*, load: float, fair: bool) -> None:
    state = week(WORKLOADS, fair=fair, load=load)
    begun = time.process_time()
    answer = simulate(state, Question(until_s=WEEK_S))
    assert time.process_time() - begun < SECONDS
    assert answer.totals.workloads == WORKLOADS
    assert answer.totals.finished > WORKLOADS / 2
    # All that came waits, runs or has ended, for as long as it has been there.
    for fate in answer.workloads:
        leaving = 30 * fate.evictions
        there = (fate.finished_s or WEEK_S) - fate.arrived_s
        assert there - leaving <= fate.waiting_s + fate.running_s <= there


def test_a_tree_waits_for_pods_of_another() -> None:
    """Nobody is admitted in the cycle that admitted another: the scheduler stands still there."""
    parts = [queue("a", 1), queue("b", 1), waits("one", "a"), waits("two", "b")]
    waiting = configuration(waitForPodsReady={"blockAdmission": True, "timeout": "5m"})
    answer = went(*parts, waiting)
    assert story(answer.timeline) == ["0 one admitted", "1 two admitted"]


def test_what_plans_note_of_a_state_is_noted_of_what_becomes_of_it() -> None:
    """Kueue 0.15.8 takes 10^19 for 0, and a stopped queue has no candidates."""
    parts = [queue("a", 10**19, "all"), queue("b", 4, "all"), queue("off", 4, stop="Hold")]
    state = state_of(*parts, pending("b", 1), release="0.15.8")
    noted = simulate(state).notes
    assert {*noted} <= {*planner.solve(state).notes}
    for said in ("cannot count so far, and takes it for 0", "ClusterQueue off is inactive"):
        assert len([one for one in noted if said in one]) == 1
