"""What is not decided again in a simulation is decided as it would be."""

from typing import Any

import pytest

from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import Preemptor, Snapshot, build_snapshot
from planner.reference.kueue.decision import Decision, decide
from planner.research.simulate import kueue_world
from planner.research.simulate.kueue_memory import Memory
from planner.research.simulate.kueue_world import KueueWorld
from planner.research.simulate.script import Leaving, Script
from tests.cluster import Object, configuration, queue, running, state_of
from tests.reference.cycles import waits, with_spec
from tests.research.generated import generated
from tests.research.simulate.driving import drive, story, went
from tests.research.simulate.test_loops import pair

_KNOBS: dict[str, Any] = {"queues": 8, "workloads": 120, "pending": 30}


BUFFER = configuration(featureGates={"SchedulerTimestampPreemptionBuffer": True})


def _anew(*given: Any, **more: Any) -> Decision:
    """Decide as Kueue does, which nobody remembers."""
    return decide(*given, **more)


@pytest.mark.parametrize("preset", ["flat", "hierarchical", "fair", "fair-hierarchical"])
@pytest.mark.parametrize("seed", range(2))
def test_the_same_happens_where_all_is_decided_anew(preset: str, seed: int) -> None:
    state = generated(preset, seed, **_KNOBS)
    script = Script.model_validate({"run_seconds": 400_000})
    worlds = [KueueWorld(state, script, decider) for decider in (decide, _anew)]
    remembering, plainly = (list(drive(world, 0, 100)) for world in worlds)
    assert remembering == plainly
    assert any(one.kind == "preempted" for _, events in remembering for one in events)


@pytest.mark.parametrize(
    ("wanted", "parts", "others", "victims"),
    [
        pytest.param(
            3,
            running("b", "q", 1, minute=20),
            running("b", "q", 1, minute=2),
            ("b a", "a b"),
            id="who got quota last goes first",
        ),
        pytest.param(
            3,
            running("b", "q", 1, minute=2),
            running("b", "q", 1, minute=2, evicted=True),
            ("a b", "b a"),
            id="who is being evicted goes before all others",
        ),
        pytest.param(
            3,
            running("b", "q", 1, 10, minute=20, created=1),
            running("b", "q", 1, 10, minute=20, created=8),
            ("", "a b"),
            id="of the preemptor's own priority goes only who queued later",
        ),
        pytest.param(
            3,
            [*running("b", "q", 1, 10, minute=20, created=8), *BUFFER],
            [*running("b", "q", 1, 10, minute=20, created=11), *BUFFER],
            ("", "a b"),
            id="and with a buffer, only who queued over five minutes later",
        ),
        pytest.param(
            2,
            running("b", "q", 1, minute=2),
            running("b", "q", 2, minute=2),
            ("a", "b"),
            id="b goes, and a stays for it, only where b holds enough",
        ),
    ],
)
def test_what_decides_is_told_apart_and_what_comes_back_is_known(
    wanted: int, parts: list[Object], others: list[Object], victims: tuple[str, str]
) -> None:
    asked: list[str] = []

    def counting(snapshot: Snapshot, preemptor: Preemptor, **more: Any) -> Decision:
        asked.append(preemptor.key)
        return decide(snapshot, preemptor, **more)

    own = [queue("q", 3, within="LowerOrNewerEqualPriority"), running("a", "q", 1, minute=10)]
    states = [
        state_of(*own, some, waits("new", "q", wanted, 10, minute=5)) for some in (parts, others)
    ]
    memory = Memory(counting, {0: 0})  # q is alone, and so a tree by itself
    for number in (0, 1, 0, 1):
        snapshot = build_snapshot(states[number], states[number].now)
        memory.forget(0)
        preemptor = find_preemptor(states[number], snapshot, "ns/new")
        targets = [one.workload for one in memory(snapshot, preemptor).targets]
        assert " ".join(one.key.removeprefix("ns/") for one in targets) == victims[number]
        assert all(any(one is each for each in snapshot.admitted[0]) for one in targets)
    assert asked == ["ns/new"] * 2


def test_where_it_goes_round_nothing_is_decided_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair goes round from 2 s on, every 4 s, as told in ``test_loops``."""
    decided: list[str] = []

    def counting(snapshot: Snapshot, preemptor: Preemptor, **more: Any) -> Decision:
        decided.append(preemptor.key)
        return decide(snapshot, preemptor, **more)

    monkeypatch.setattr(kueue_world, "decide", counting)
    world = KueueWorld(state_of(*pair()), Script(), counting, Leaving(1))
    seen: dict[int, int] = {}
    for at_s, _ in drive(world, 0, 40):
        seen[at_s] = len(decided)
    assert seen[6] == seen[40] > 0


def test_who_waits_in_an_idle_tree_is_decided_for_when_something_happens_there() -> None:
    """``stuck`` stays the head of a StrictFIFO queue that is full until ``holder`` ends at 20 s.

    Meanwhile the scheduler runs every second, for the pair that goes round.
    """
    decided: list[str] = []

    def counting(snapshot: Snapshot, preemptor: Preemptor, **more: Any) -> Decision:
        decided.append(preemptor.key)
        return decide(snapshot, preemptor, **more)

    alone = [
        with_spec(queue("c", 2), queueingStrategy="StrictFIFO"),
        running("holder", "c", 2, annotations={"preemption-planner.io/run-seconds": "3620"}),
        waits("stuck", "c", 1),
    ]
    world = KueueWorld(state_of(*pair(), *alone), Script(), counting, Leaving(1))
    times: list[int] = []
    events = []
    for at_s, some in drive(world, 0, 40):
        times += [at_s] * decided.count("ns/stuck")
        decided.clear()
        events += [event for event in some if event.workload == "ns/stuck"]
    assert times == [0, 20]
    assert story(events) == ["20 stuck admitted"]


def test_a_tree_that_waits_for_pods_of_another_is_not_idle() -> None:
    """Nobody is admitted in the cycle that admitted another: the scheduler stands still there."""
    parts = [queue("a", 1), queue("b", 1), waits("one", "a"), waits("two", "b")]
    waiting = configuration(waitForPodsReady={"blockAdmission": True, "timeout": "5m"})
    answer = went(*parts, waiting)
    assert story(answer.timeline) == ["0 one admitted", "1 two admitted"]
