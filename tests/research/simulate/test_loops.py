"""Loops and storms: found where they are, told right, and real: they happen again.

The pair of queues below goes round as kueue#13797 describes: what one queue gave up for its
preemptor is taken by the other, which is within its nominal quota and so comes first.
"""

from copy import deepcopy
from datetime import timedelta
from typing import Any

import pytest

from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.cycle.processing import Schedule
from planner.reference.kueue.cycle.run import run_cycle, schedule
from planner.reference.kueue.cycle.waiting import Waiting
from planner.reference.kueue.decision import Decision, decide
from planner.research.simulate import Event, Question, Script, kueue_world, simulate
from planner.research.simulate.kueue_world import KueueWorld
from planner.research.simulate.record import Loop
from planner.research.simulate.simulate import Watch
from planner.state.kueue import State
from tests.cluster import Object, cohort, configuration, queue, running, state_of
from tests.conftest import TEST_ALL
from tests.kueue_state import read
from tests.recorded import lines
from tests.recorded import state_of as recorded_state
from tests.reference.cycles import strict, waits
from tests.research.simulate.driving import as_dumped, drive, story, went, world_of
from tests.research.simulate.week import WEEK_S, week
from tests.test_regressions import KUEUE, ZOO
from tests.told import told

OUTSIDE_THE_STRATEGIES = ZOO / "kueue-14543-outside-the-strategies.yaml"


def pair(**gates: bool) -> list[list[Object]]:
    """Build two queues of 4 that lend all: a small one of 4 and a large one of 6 in each.

    The large ones have the higher priority and have to borrow 2. ``small-a`` runs.
    """
    lower = "LowerPriority"
    policies: dict[str, Any] = {"within": lower, "reclaim": "Any", "borrow": lower}
    return [
        queue("a", 4, "pool", **policies),
        queue("b", 4, "pool", **policies),
        running("small-a", "a", 4),
        waits("large-a", "a", 6, 10),
        waits("large-b", "b", 6, 10, minute=1),
        waits("small-b", "b", 4, 0),
        configuration(featureGates=gates),
    ]


def test_two_queues_take_from_each_other_for_ever() -> None:
    """By hand, second by second.

    0  large-a needs 6 of the 4 that are free: small-a goes. large-b finds nobody, and is parked.
    1  small-b fits in its own 4 and so comes first; large-a no longer fits.
    2  large-b competes again: small-b goes. large-a finds nobody, and is parked.
    3  small-a fits in its own 4 and so comes first; large-b no longer fits.
    4  large-a competes again: small-a goes. large-b finds nobody, and is parked.

    All is as at 0, but that b remembers its preemptor as well: from 2 on it goes round.
    """
    answer = went(*pair())
    assert answer.ended == "loop"
    (loop,) = answer.loops
    assert (loop.first_s, loop.period_s, loop.cycles, loop.evictions) == (2, 4, 4, 2)
    assert (loop.endless, loop.workloads) == (True, ("ns/small-a", "ns/small-b"))
    told(story(loop.events))
    told(loop.story[0])
    told(loop.story[1:3])
    told(loop.story[-1])


BUFFER = "SchedulerTimestampPreemptionBuffer"


def queued(minute: int, **gates: bool) -> KueueWorld:
    """Return a full queue whose holder queued at a minute, and its preemptor at the fifth."""
    return world_of(
        state_of(
            queue("q", 1, within="LowerOrNewerEqualPriority"),
            running("holder", "q", 1, 10, minute=20, created=minute),
            waits("new", "q", 1, 10, minute=5),
            configuration(featureGates=gates),
        )
    )


@pytest.mark.parametrize("gate", [True, False])
def test_states_differ_by_how_much_later_a_workload_queued_where_that_counts(*, gate: bool) -> None:
    """With the gate a holder of the same priority goes only if it queued over 5 minutes later.

    Kueue 0.19.2 pkg/scheduler/preemption/common/preemption_policy.go.
    """
    marks, told = {}, {}
    for minute in (6, 10, 11, 12):
        world = queued(minute, **({BUFFER: True} if gate else {}))
        marks[minute] = world.mark(0, 0).state
        told[minute] = story(world.cycle(0).events)
    goes = ["0 holder preempted by new"]
    assert told == {6: [] if gate else goes, 10: [] if gate else goes, 11: goes, 12: goes}
    assert (marks[6] == marks[11]) == (not gate)
    assert marks[6] == marks[10]
    assert marks[11] == marks[12]


def test_where_victims_queue_anew_a_state_has_how_old_times_are() -> None:
    """The time of an eviction, which comes yet, will be compared with that of the preemptor.

    At 12:06, a minute after it queued, one evicted now would not count as newer; nor at 12:10.
    """
    gates = {BUFFER: True, "PrioritySortingWithinCohort": False}
    state = queued(6, **gates).state
    noon = state.now.replace(hour=12)
    clocks = {minute: noon + timedelta(minutes=minute) for minute in (6, 10, 30, 40)}
    marks = {
        minute: world_of(state.model_copy(update={"now": now})).mark(0, 0).state
        for minute, now in clocks.items()
    }
    assert marks[30] == marks[40]
    assert len({*marks.values()}) == 3


def test_a_victim_that_takes_its_time_went_for_nothing() -> None:
    """While small-a leaves, small-b takes the other half; then small-a has its own half again.

    The large one finds nobody at 2, because small-a, which leaves, does not suffice; nor at 31.
    """
    answer = went(*pair(), eviction_s=30)
    assert answer.ended == "settled"
    told(story(answer.timeline))


def test_preemptors_first_if_the_gate_says_so() -> None:
    """With it whoever preempted comes before all others, and has what it made free."""
    without, with_gate = went(*pair()), went(*pair(PrioritizePreemptorWorkloads=True))
    same = ["0 small-a preempted by large-a", "1 small-a requeued"]
    assert story(without.timeline)[:3] == [*same, "1 small-b admitted"]
    assert story(with_gate.timeline)[:3] == [*same, "1 large-a admitted"]


def test_a_storm_is_more_evictions_than_the_limit() -> None:
    """While something is to come elsewhere it goes on: an eviction every other second until 90.

    small-a goes at 0, 4, ..., 88 and small-b at 2, 6, ..., 90: 23 times each. The round began at
    2 and came to an end at 6, 10, ..., 90: 22 times.
    """
    other = (queue("z", 1), waits("late", "z", 1))
    script = Script.model_validate({"workload": [{"name": "ns/late", "arrive_seconds": 999}]})
    answer = went(*pair(), *other, script=script, until_s=90, storm=22)
    assert answer.ended == "until"
    assert [(one.workload, one.evictions, one.by) for one in answer.storms] == [
        ("ns/small-a", 23, {"ns/large-a": 23}),
        ("ns/small-b", 23, {"ns/large-b": 23}),
    ]
    (loop,) = answer.loops
    assert (loop.rounds, loop.endless) == (22, True)
    assert went(*pair(), *other, script=script, until_s=90, storm=23).storms == ()


def evicted(victim: str, by: str) -> Event:
    """Return an eviction."""
    return Event(at_s=0, cycle=1, kind="preempted", workload=victim, queue="q", by=by, by_queue="q")


def test_a_feud_is_mutual() -> None:
    """Y evicts x twice, x evicts y once; z only suffers."""
    watch = Watch({})
    for victim, by in (("x", "y"), ("y", "x"), ("z", "x"), ("x", "y")):
        watch.see(0, evicted(victim, by))
    (feud,) = watch.feuds()
    assert (feud.first, feud.second) == ("x", "y")
    assert (feud.first_evicted, feud.second_evicted) == (2, 1)


def test_outside_the_strategies() -> None:
    """The dump of kueue#14543 says itself what happens.

    Kueue evicts red/train alone. It fits again (12 of the 12 that are free), and with a share of
    600 against 900 it comes before blue/wants-ten: a loop for ever.
    """
    answer = simulate(read(OUTSIDE_THE_STRATEGIES), Question(eviction_s=1))
    (loop,) = answer.loops
    assert (loop.endless, loop.workloads, loop.evictions) == (True, ("red/train",), 1)
    assert (answer.ended, loop.period_s) == ("loop", 2)


def test_the_optimum_does_not_end_it_where_an_admission_wakes_the_tree() -> None:
    """The optimum evicts sweep, too: then blue/wants-ten (10 of 20) has 500 against 600.

    So it comes first. But sweep follows it, the Cohort object hears of that admission and wakes
    red/train, which preempts blue/wants-ten, fits, is evicted again, and so on.
    """
    answer = simulate(read(OUTSIDE_THE_STRATEGIES), Question("optimum", eviction_s=1))
    (loop,) = answer.loops
    assert (answer.ended, loop.period_s, loop.evictions) == ("loop", 5, 3)


@pytest.mark.parametrize("named_only", [False, True])
def test_an_admission_wakes_a_tree_that_has_a_cohort_object(named_only: bool) -> None:  # noqa: FBT001
    """Seen on a live Kueue; where the cohort is only named, nobody hears of an admission.

    0  asks borrows all 6: first and second go.
    1  asks is admitted; first and second find no room.
    3  first is within the 4 of b: asks goes.
    4  first is admitted before asks, which borrows.
    5  second follows. asks found nobody in this cycle, because first alone is within b's quota.
    6  A Cohort object woke asks, and all begins anew.
    """
    mine: dict[str, Any] = {"reclaim": "LowerPriority", "borrow": "LowerPriority"}
    answer = went(
        queue("a", 0, "org", **mine),
        queue("b", 4, "org", reclaim="Any"),
        queue("c", 2, "org"),
        running("first", "b", 1, -1, minute=2),
        running("second", "b", 5, 0, minute=1),
        waits("asks", "a", 6, 1),
        *([] if named_only else [cohort("org")]),
    )
    begins = ["0 first preempted by asks", "0 second preempted by asks"]
    assert story(answer.timeline)[:2] == begins
    again = [one for one in story(answer.timeline) if one.endswith("first preempted by asks")]
    if named_only:
        assert (answer.ended, answer.loops, again) == ("settled", (), begins[:1])
    else:
        (loop,) = answer.loops
        assert (answer.ended, loop.endless, loop.evictions) == ("loop", True, 3)
        assert len(again) > 1


@pytest.mark.parametrize("case", KUEUE, ids=lambda case: case.name)
def test_the_zoo_goes_on(case: Any) -> None:
    """In the first cycle the preemptor evicts whom it evicts, and every dump comes to an end.

    The only loop is the one that is known as one.
    """
    state = read(ZOO / f"{case.name}.yaml")
    answer = simulate(state)
    entries = {entry.preemptor.key: entry for entry in run_cycle(state).entries}
    if case.pending in entries:  # another workload may be the head of its queue
        already = {w.key for w in state.workloads if w.is_true("Evicted")}
        first = [one for one in answer.timeline if one.cycle == 1 and one.by == case.pending]
        goes = [one.workload for one in first]
        assert goes == [key for key in case.greedy if key not in already]
    assert answer.ended == ("loop" if "14543" in case.name else "settled")
    assert bool(answer.loops) == ("14543" in case.name)


def shifted(events: list[Event], by_s: int) -> list[str]:
    """Tell events as if they had happened earlier."""
    return story(one.model_copy(update={"at_s": one.at_s - by_s}) for one in events)


def replayed(state: State, loop: Loop, eviction_s: int = 1) -> None:
    """Bring a cluster to where a loop began, and let it go on from a copy, round after round."""
    world = world_of(state, eviction_s=eviction_s)
    for _ in drive(world, 0, loop.first_s):
        pass
    copy = deepcopy(world)
    for number in range(3 if loop.endless else min(loop.rounds, 5)):
        start_s = loop.first_s + number * loop.period_s
        found = [
            event
            for _, events in drive(copy, start_s + 1, start_s + loop.period_s)
            for event in events
            if copy.tree_of(event) == copy.tree_of(loop.events[0])
        ]
        assert shifted(found, start_s) == shifted(list(loop.events), loop.first_s)


def test_loops_are_real() -> None:
    gate = {"PrioritizePreemptorWorkloads": True}
    states = (state_of(*pair()), state_of(*pair(**gate)), read(OUTSIDE_THE_STRATEGIES))
    loops = 0
    for state in states:
        for eviction_s in (1, 30):
            for loop in simulate(state, Question(eviction_s=eviction_s)).loops:
                replayed(state, loop, eviction_s)
                loops += 1
    assert loops >= 3


def test_a_loop_happens_in_single_cycles_of_its_dumps_as_well() -> None:
    """Each state of the round written as a dump, and one cycle replayed from it alone."""
    state = read(OUTSIDE_THE_STRATEGIES)
    world = world_of(state)
    for at_s in range(6):
        world.happen(at_s)
        alone = run_cycle(as_dumped(world, at_s))
        events, _ = world.cycle(at_s)
        assert [target.workload.key for target in alone.evicted] == [
            one.workload for one in events if one.kind == "preempted"
        ]
        assert [entry.preemptor.key for entry in alone.entries if entry.outcome == "admitted"] == [
            one.workload for one in events if one.kind == "admitted"
        ]


def test_loops_of_a_week_are_real() -> None:
    """In a busy cluster of many trees, with arrivals and ends around them."""
    state = week(250, load=2.0, seed=4)
    answer = simulate(state, Question(until_s=WEEK_S, eviction_s=1, cycles=1_000))
    (loop,) = answer.loops
    assert loop.rounds > 5
    replayed(state, loop)


def test_what_is_kept_up_is_what_a_new_snapshot_has() -> None:
    """Usage and holders after every second, beside a snapshot of the cluster as a dump."""
    for fair in (False, True):
        world = world_of(week(60, load=1.5, fair=fair, seed=3), eviction_s=20)
        for number, (at_s, _) in enumerate(drive(world, 0, WEEK_S)):
            if number % 7 == 0:
                assert_kept_up(world, at_s)


def assert_kept_up(world: KueueWorld, at_s: int) -> None:
    """Compare what a world keeps up with what is built from its dump."""
    state = as_dumped(world, at_s)
    kept, built = world.snapshot(at_s), build_snapshot(state, state.now)
    assert kept.usage.amount == built.usage.amount
    for node, some in built.admitted.items():
        ours = {(one.key, one.evicted, one.reserved_s, one.priority) for one in kept.admitted[node]}
        assert ours == {(one.key, one.evicted, one.reserved_s, one.priority) for one in some}
        assert {one.key: dict(one.usage) for one in some} == {
            one.key: dict(one.usage) for one in kept.admitted[node]
        }


@pytest.mark.parametrize(("cohort", "by_second"), [("pool", [1, 2, 3, 4]), ("other", [1, 1, 1, 1])])
def test_a_head_is_decided_for_anew_once_something_changed_that_decides(
    cohort: str, by_second: list[int]
) -> None:
    """Three are admitted, one in each second, while a head waits that finds no victims.

    That changes what the head may get in the next second, in its own cohort only. It is decided
    for again when the holder of its queue ends, 9 s after the clock and an hour after its start.
    """
    state = state_of(
        strict("full", 1, "pool", borrowing=0, within="LowerPriority"),
        queue("free", 3, cohort),
        running("holder", "full", 1),
        waits("head", "full", 1),
        [part for number in range(3) for part in waits(f"w{number}", "free", 1, minute=number)],
    )
    asked: list[str] = []

    def decider(snapshot: Snapshot, preemptor: Preemptor, **given: Any) -> Decision:
        asked.append(preemptor.key)
        return decide(snapshot, preemptor, **given)

    script = Script.model_validate({"workload": [{"name": "ns/holder", "run_seconds": 3_609}]})
    world = KueueWorld(state, script, decider)
    counts = {at_s: (asked.count("ns/head"), story(events)) for at_s, events in drive(world, 0, 9)}
    assert [counts[at_s] for at_s in range(3)] == [
        (times, [f"{at_s} w{at_s} admitted"]) for at_s, times in enumerate(by_second[:3])
    ]
    assert counts[3] == (by_second[3], [])
    assert counts[9] == (by_second[3] + 1, ["9 holder finished", "9 head admitted"])


def test_a_cohort_rests_in_which_nothing_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that finds no victims competes at once, and again only when its holder ends at 9 s."""
    state = state_of(
        strict("full", 1, "pool", borrowing=0),
        queue("free", 3, "other"),
        running("holder", "full", 1),
        waits("head", "full", 1),
        [part for number in range(3) for part in waits(f"w{number}", "free", 1, minute=number)],
    )
    competed: list[list[str]] = []

    def counted(given: State, now: Snapshot, queues: dict[int, Waiting], *more: Any) -> Schedule:
        competed.append([now.queue_name(node) for node in queues])
        return schedule(given, now, queues, *more)

    monkeypatch.setattr(kueue_world, "schedule", counted)
    script = Script.model_validate({"workload": [{"name": "ns/holder", "run_seconds": 3_609}]})
    told = [story(events) for _, events in drive(world_of(state, script), 0, 9)]
    assert told[-1] == ["9 holder finished", "9 head admitted"]
    assert competed == [["full", "free"], ["free"], ["free"], [], ["full"]]


FILES = ("classical-hier", "cycle-classical", "cycle-fair", "edge", "fair-flat", "fair-hier")
STEP = 10 if TEST_ALL else 25
"""Of 200 to 400 states in a file, so many are passed over."""


@pytest.mark.parametrize("name", FILES)
def test_recorded_states_end_and_their_loops_are_real(name: str) -> None:
    for line in lines(name, STEP):
        state = recorded_state(line)
        answer = simulate(state, Question(eviction_s=1, cycles=500))
        assert answer.ended == ("loop" if answer.loops else "settled"), line["id"]
        for loop in answer.loops:
            replayed(state, loop)
