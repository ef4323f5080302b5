"""A cluster of Kueue that goes on, told by hand: no kubectl, and a clock that is moved."""

import copy
import gc
import itertools
import json
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final

import pytest

import planner
from planner.errors import InputError
from planner.operations.kubectl.call import Answer
from planner.operations.kubectl.kueue_resource import COHORTS, WATCHED, WORKLOADS
from planner.operations.kubectl.watch import WatchEvent
from planner.operations.watch.kueue import live
from planner.operations.watch.kueue.keep import Keeper, Store
from planner.operations.watch.record import Decision, Measured, Note, Preemption
from planner.quota.kueue.snapshot import take_snapshot
from tests.cli.running import BIG, SMALL, call
from tests.cluster import PENDING, Object, cohort, dump_of, pending, queue, running
from tests.conftest import TEST_ALL
from tests.operations.kubectl.api_server import touch
from tests.operations.kubectl.served import versioned
from tests.operations.watch.stage import TAKEN, UID, Cluster, nothing, of
from tests.told import told

ENDED = Answer(0, b"", "")
"""How the API server ends each watch after a while."""
REFUSED = Answer(1, b"", "The connection to the server localhost:8080 was refused")


def test_a_decision_to_come(kueue: Cluster) -> None:
    kueue.steps = [kueue.begin, nothing, nothing, nothing]
    note, decision = kueue.run()
    assert isinstance(note, Note)
    assert note.text == "read: 6 workloads"
    assert isinstance(decision, Decision)
    assert (decision.preemptor, decision.queue) == (PENDING, "lender")
    found = decision.measured
    assert set(found.victims) == set(SMALL)
    assert (found.needless, found.fewest, found.optimum) == ((), 1, (BIG,))
    assert found.excess_s is not None
    assert found.excess_s > 0  # the one has a checkpoint


def test_what_did_not_change_is_not_judged_again(
    kueue: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    measure = live.measure

    def counted(*given: object) -> object:
        asked.append(str(given[1]))
        return measure(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(live, "measure", counted)
    kueue.steps = [kueue.begin, nothing, lambda: [kueue.change(SMALL[0])], nothing, nothing]
    kueue.run()
    assert asked == [PENDING]
    kueue.steps = [kueue.begin, nothing, lambda: [kueue.change(SMALL[0], "DELETED")], nothing]
    kueue.run()
    assert asked == [PENDING] * 3  # once more by another, and once because its victims are others


def test_a_victim_that_goes_already_is_no_change_of_the_decision(kueue: Cluster) -> None:
    """Kueue counts on it, and evicts the others: each change would else be a decision anew."""
    (going,) = kueue.preempt(SMALL[0], moment="2026-05-01T12:59:00Z", uid="uid-of-another")
    steps = [lambda: [kueue.change(SMALL[1])]] * 3
    kueue.steps = [kueue.begin, nothing, *steps, nothing]
    (decision,) = of(kueue.run(), Decision)
    assert set(decision.measured.victims) == set(SMALL)
    assert going.value["metadata"]["name"] == "small-1"


@pytest.mark.parametrize(("looks", "decisions"), [(9, 0), (13, 1)])
def test_no_decision_is_judged_before_what_was_used_is_made_up_for(
    kueue: Cluster, looks: int, decisions: int
) -> None:
    """10 s for reading are 8 more than what is saved: at 15 % of a core they take 53 s."""

    def begin() -> list[WatchEvent]:
        kueue.cpu_s += 10.0
        return kueue.begin()

    kueue.steps = [begin, *[nothing] * looks]
    assert len(of(kueue.run(), Decision)) == decisions


def test_a_preemption_as_the_replay_has_it(kueue: Cluster, tmp_path: Path) -> None:
    """Both states are kept, and show the same to whoever compares them later."""
    kueue.steps = [kueue.begin, lambda: kueue.preempt(*SMALL), nothing, nothing]
    (line,) = of(kueue.run(Store(tmp_path)), Preemption)
    assert (line.preemptor, line.queue, line.outcome) == (PENDING, "lender", "equal")
    assert line.evicted == line.replayed == tuple(sorted(SMALL))
    assert line.measured is not None
    assert line.measured.optimum == (BIG,)
    files = [Path(line.recording, f"{one}.json.gz") for one in ("before", "after")]
    done = call("replay", "--before", files[0], "--after", files[1], "--format", "json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["equal"] == 1


def test_a_preemption_that_is_another(kueue: Cluster) -> None:
    kueue.steps = [kueue.begin, lambda: kueue.preempt(BIG), nothing, nothing]
    (line,) = of(kueue.run(), Preemption)
    assert (line.outcome, line.evicted, line.measured) == ("different", (BIG,), None)
    told(line.detail)


def test_two_preemptors_of_one_cycle(kueue: Cluster) -> None:
    """Kueue decided for both on the state before either; the second shows after the first."""
    both = [f"small-{i}" for i in range(1, 5)]
    other = pending("other", {"cpu": 1})
    other[0]["metadata"] |= {"name": "second", "uid": "uid-second"}
    parts = dump_of(
        cohort("all"),
        queue("lender", {"gpu": 8, "cpu": 0}, "all", reclaim="Any"),
        queue("other", {"gpu": 0, "cpu": 8}, "all", reclaim="Any"),
        queue("borrower", {"gpu": 0, "cpu": 0}, "all"),
        *(running(name, "borrower", {"gpu": 2, "cpu": 1}, minute=1) for name in both),
        *(running(f"cpu-{i}", "borrower", {"cpu": 1}, minute=10 + i) for i in range(1, 5)),
        pending("lender", {"gpu": 4}),
        other,
    )
    kueue.items = versioned(parts["items"])
    kueue.find(PENDING)["metadata"]["uid"] = UID
    before = planner.read(kueue.take().value())
    ours, theirs = (planner.greedy(before, key).keys for key in (PENDING, "ns/second"))
    assert (len(ours), len(theirs)) == (2, 1)
    kueue.reads.clear()
    kueue.steps = [
        kueue.begin,
        lambda: [*kueue.preempt(*ours), *kueue.preempt(*theirs, uid="uid-second")],
        nothing,
        nothing,
    ]
    first, second = of(kueue.run(), Preemption)
    assert (first.preemptor, first.outcome) == (PENDING, "equal")
    assert (second.preemptor, second.outcome) == ("ns/second", "equal")
    assert second.evicted == theirs


def test_victims_that_do_not_show_it_any_more_are_told(kueue: Cluster) -> None:
    """Within one look one is admitted again, and the others are deleted."""
    first, *others = SMALL

    def at_once() -> Sequence[WatchEvent]:
        events = [*kueue.preempt(*SMALL), *kueue.admit_again(first)]
        return [*events, *(kueue.change(one, "DELETED") for one in others)]

    kueue.steps = [kueue.begin, at_once, nothing, nothing]
    (line,) = of(kueue.run(), Preemption)
    assert (line.outcome, line.evicted) == ("equal", SMALL)


def test_who_was_evicted_and_admitted_again_while_nobody_watched_is_told(kueue: Cluster) -> None:
    def back() -> Sequence[WatchEvent]:
        kueue.preempt(*SMALL)
        kueue.admit_again(*SMALL)
        return kueue.begin()

    kueue.steps = [kueue.begin, nothing, lost, back, *[nothing] * 4]
    (line,) = of(kueue.run(), Preemption)
    assert (line.outcome, line.detail, line.evicted) == ("skipped", live.MISSED, SMALL)


def test_who_is_evicted_again_at_once_is_told_of_both_decisions(kueue: Cluster) -> None:
    again = "2026-05-01T13:00:09Z"
    first, *_ = SMALL

    def twice() -> Sequence[WatchEvent]:
        events = [*kueue.preempt(*SMALL), *kueue.admit_again(first)]
        conditions = kueue.find(first)["status"]["conditions"]
        conditions[:] = [one for one in conditions if one["type"] not in {"Evicted", "Preempted"}]
        return [*events, *kueue.preempt(first, moment=again)]

    kueue.steps = [kueue.begin, twice, nothing, nothing]
    (line,) = of(kueue.run(), Preemption)
    assert (line.outcome, line.evicted) == ("equal", SMALL)
    told(line.detail)


def test_clocks_of_whole_seconds(kueue: Cluster) -> None:
    """Who is evicted in the very second of the state before is new all the same."""
    moment = "2026-05-01T13:00:00Z"
    kueue.steps = [kueue.begin, lambda: kueue.preempt(*SMALL, moment=moment), nothing, nothing]
    (line,) = of(kueue.run(), Preemption)
    assert line.outcome == "equal"


def lost(answer: Answer = REFUSED) -> list[WatchEvent]:
    return [WatchEvent(WORKLOADS, "LOST", answer=answer)]


def test_a_server_that_goes_away(kueue: Cluster) -> None:
    """It is read again and again, ever more rarely; what was missed is said, not compared."""

    def back() -> Sequence[WatchEvent]:
        kueue.preempt(*SMALL)
        kueue.failing = 4
        return kueue.begin()

    kueue.steps = [kueue.begin, nothing, lost, back, *[nothing] * 60]
    lines = kueue.run()
    notes = of(lines, Note)
    assert [one.connected for one in notes] == [True, False, False, True]
    told([one.text.partition(": ")[2] for one in notes[1:3]])
    times = kueue.reads[1:]
    waits = [later - before for before, later in itertools.pairwise(times)]
    assert waits == sorted(waits)
    (line,) = of(lines, Preemption)
    assert (line.outcome, line.detail, line.evicted) == ("skipped", live.MISSED, SMALL)


def test_a_watch_that_ends_as_all_do(kueue: Cluster) -> None:
    kueue.steps = [kueue.begin, lambda: lost(ENDED), kueue.begin, nothing, nothing]
    notes = of(kueue.run(), Note)
    assert [one.text for one in notes] == ["read: 6 workloads"] * 2


FORBIDDEN = Answer(1, b"", 'Error from server (Forbidden): User "ada" cannot watch')


def test_what_may_not_be_watched(kueue: Cluster) -> None:
    for answer, said in (
        (FORBIDDEN, "create clusterrole preemption-planner-watch"),
        (REFUSED, "hint: --context and --kubeconfig choose the cluster"),
    ):
        kueue.steps = [partial(lost, answer)]
        with pytest.raises(InputError, match=said):
            kueue.run()
    kueue.steps = [kueue.begin, lambda: lost(FORBIDDEN), nothing]
    told(str(kueue.run()[-1]))


def test_everything_is_read_again(kueue: Cluster) -> None:
    def other_queue() -> Sequence[WatchEvent]:
        (queue,) = [
            one
            for one in kueue.items
            if (one["kind"], one["metadata"]["name"]) == ("ClusterQueue", "lender")
        ]
        counted = copy.deepcopy(queue)
        counted["status"] = {"pendingWorkloads": 7}
        queue["spec"]["stopPolicy"] = "Hold"
        return [
            WatchEvent(WATCHED[1], "MODIFIED", counted),
            WatchEvent(WATCHED[1], "MODIFIED", queue),
        ]

    kueue.steps = [kueue.begin, nothing, other_queue, *[nothing] * 3]
    kueue.run()
    assert len(kueue.reads) == 2
    kueue.steps = [kueue.begin, *[nothing] * 130]  # more than ten minutes
    kueue.run()
    assert len(kueue.reads) == 4


def stopped(kueue: Cluster) -> list[WatchEvent]:
    """Change a setting that has everything read again, and nothing else."""
    found = next(one for one in kueue.items if one["kind"] == "LocalQueue")
    found["spec"]["stopPolicy"] = "None"
    touch(found)
    return [WatchEvent("localqueues.kueue.x-k8s.io", "MODIFIED", copy.deepcopy(found))]


def test_what_was_told_before_everything_is_read_again_is_not_lost(kueue: Cluster) -> None:
    """One is gone, and then Kueue preempts: it decided without the one that is gone."""

    def gone_and_preempted() -> Sequence[WatchEvent]:
        deleted = kueue.change(SMALL[0], "DELETED")
        kueue.items.remove(kueue.find(SMALL[0]))
        kueue.preempt(*SMALL[1:])  # what is read shows it before any change of it is told
        return [deleted, *stopped(kueue)]

    kueue.steps = [kueue.begin, nothing, gone_and_preempted, *[nothing] * 4]
    (line,) = of(kueue.run(), Preemption)
    assert (line.outcome, line.evicted) == ("equal", SMALL[1:])


@pytest.mark.parametrize(
    ("kind", "change"),
    [("Cohort", {"parentName": "org"}), ("ResourceFlavor", {"nodeLabels": {"pool": "b"}})],
)
def test_what_quota_is_made_of_is_read_again(kueue: Cluster, kind: str, change: Object) -> None:
    resource = f"{kind.lower()}s.kueue.x-k8s.io"
    assert resource in WATCHED

    (found,) = (one for one in kueue.items if one["kind"] == kind)

    def counted() -> Sequence[WatchEvent]:
        touch(found)
        found["status"] = {"fairSharing": {"weightedShare": 7}}
        return [WatchEvent(resource, "MODIFIED", copy.deepcopy(found))]

    def changed() -> Sequence[WatchEvent]:
        touch(found)
        found["spec"] = {**found.get("spec", {}), **change}
        return [WatchEvent(resource, "MODIFIED", copy.deepcopy(found))]

    kueue.steps = [kueue.begin, nothing, counted, nothing, nothing]
    kueue.run()
    assert len(kueue.reads) == 1
    kueue.steps = [kueue.begin, nothing, changed, *[nothing] * 4]
    kueue.run()
    assert len(kueue.reads) == 3


def test_a_kueue_without_cohorts_is_watched(kueue: Cluster) -> None:
    missing = Answer(1, b"", 'error: the server doesn\'t have a resource type "cohorts"')
    begun = [WatchEvent(one, "BEGUN") for one in WATCHED if one != COHORTS]
    kueue.steps = [lambda: [*begun, WatchEvent(COHORTS, "LOST", answer=missing)], nothing]
    assert of(kueue.run(), Decision)
    kueue.steps = [lambda: [WatchEvent(WATCHED[1], "LOST", answer=missing)]]
    with pytest.raises(InputError) as caught:
        kueue.run()
    told(caught.value)


def test_what_is_older_or_no_object_changes_nothing(kueue: Cluster) -> None:
    keeper = Keeper(kueue.take(), {}, lambda: kueue.now)
    old = copy.deepcopy(kueue.find(BIG))
    keeper.take(kueue.change(BIG, "DELETED"))
    keeper.settle()
    assert keeper.state.workloads.find(BIG) is None
    for value in ({}, {"metadata": 1}, {"metadata": {"name": 1}}):
        keeper.take(WatchEvent(WORKLOADS, "MODIFIED", value))
    small = copy.deepcopy(kueue.find(SMALL[0]))
    keeper.take(kueue.change(SMALL[0]))
    small["status"] = {}
    keeper.take(WatchEvent(WORKLOADS, "MODIFIED", small))
    keeper.settle()
    found = keeper.state.workloads.find(SMALL[0])
    assert found is not None
    assert found.holds_quota
    keeper.take(
        WatchEvent(WORKLOADS, "ADDED", {**old, "metadata": {**old["metadata"], "uid": "x"}})
    )
    keeper.settle()
    assert keeper.state.workloads.find(BIG) is not None


def test_a_clock_that_was_set_back_changes_nothing(kueue: Cluster) -> None:
    keeper = Keeper(kueue.take(), {}, lambda: kueue.now)
    kueue.now += 60
    keeper.settle()
    assert (keeper.state.now - TAKEN).total_seconds() == 60
    kueue.now -= 30  # no clock of this kind does: it would change nothing
    keeper.settle()
    assert (keeper.state.now - TAKEN).total_seconds() == 60


def test_a_clock_that_was_set_back_before_everything_is_read_again(
    kueue: Cluster, tmp_path: Path
) -> None:
    """The state after a preemption is by an earlier clock than the one before it, and later."""
    kueue.steps = [kueue.begin, nothing, nothing, lambda: kueue.preempt(*SMALL)]
    kueue.steps += [lambda: [*lost(ENDED), *kueue.begin()], nothing]
    (line,) = of(kueue.run(Store(tmp_path)), Preemption)
    assert (line.outcome, len(kueue.reads)) == ("equal", 2)
    files = [Path(line.recording, f"{one}.json.gz") for one in ("before", "after")]
    done = call("replay", "--before", files[0], "--after", files[1], "--format", "json")
    assert done.exit_code == 0, done.stderr


UNJUDGED = Measured(victims=SMALL, status="unknown", lost_s=0, seconds=0.0)
STRANGE: Final[tuple[object, ...]] = (
    *(None, True, 7, -0.5, "", "x", "\ud800", "9" * 5000),
    *([], ["a"], {}, {"a": 1}, [[]]),
)
PLACES: Final = (
    *(("apiVersion",), ("kind",), ("metadata",), ("spec",), ("status",)),
    *(("metadata", name) for name in ("name", "namespace", "uid", "resourceVersion")),
    *(("metadata", name) for name in ("annotations", "labels", "creationTimestamp")),
    *(("spec", name) for name in ("podSets", "priority", "queueName")),
    *(("status", name) for name in ("admission", "conditions")),
    *(("status", "conditions", 0, name) for name in ("type", "status", "message")),
    ("status", "conditions", 0, "lastTransitionTime"),
)


def strange(whole: Object, place: Sequence[str | int], value: object) -> Object:
    """Return an object with another value in a place."""
    found = copy.deepcopy(whole)
    inner: Any = found
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    return found


@pytest.mark.parametrize(
    ("resource", "place"),
    [
        *((WORKLOADS, place) for place in PLACES),
        *((WATCHED[1], place) for place in (PLACES if TEST_ALL else PLACES[:12:2])),
    ],
)
def test_no_event_ends_the_watch(
    kueue: Cluster,
    resource: str,
    place: tuple[str | int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever stands in a place of an object: it is passed over, or a note; what follows is told.

    It comes by itself, and with the first victims, when all changes before are applied at once.
    Nothing is judged, which takes longer than all the rest.
    """
    monkeypatch.setattr(live, "measure", lambda *_: UNJUDGED)
    kueue.find(BIG)["status"]["conditions"][0]["message"] = "Quota reserved"
    whole = {**kueue.find(BIG), "metadata": {**kueue.find(BIG)["metadata"]}}
    whole["metadata"] |= {"resourceVersion": "9" * 15, "labels": {}}
    events = [
        WatchEvent(resource, kind, strange(whole, place, value))
        for value in (STRANGE if TEST_ALL else STRANGE[::2])
        for kind in ("MODIFIED", "DELETED", "ADDED")
    ]
    kueue.steps = [
        kueue.begin,
        nothing,
        *(partial(list, [one]) for one in events),
        lambda: events,
        *[nothing] * 20,
    ]
    kueue.steps += [lambda: kueue.preempt(*SMALL), *[nothing] * 3]
    lines = kueue.run()
    (line,) = of(lines, Preemption)
    assert (line.preemptor, set(line.evicted)) == (PENDING, set(SMALL))
    notes = of(lines, Note)
    assert notes[-1].connected


def test_a_strange_object_just_before_the_first_victim(kueue: Cluster) -> None:
    """Everything is read again."""

    def both() -> list[WatchEvent]:
        odd = kueue.change(BIG)
        odd.value["spec"]["podSets"] = 7
        return [odd, *kueue.preempt(*SMALL)]

    kueue.steps = [kueue.begin, nothing, both, *[nothing] * 4]
    lines = kueue.run()
    assert [one.connected for one in of(lines, Note)] == [True, False, True]
    assert len(kueue.reads) == 2
    (line,) = of(lines, Preemption)
    assert set(line.evicted) == set(SMALL)


@pytest.mark.parametrize("answer", [REFUSED, FORBIDDEN, Answer(0, b"", "cannot be started: [24]")])
def test_streams_that_end_together_are_one_note(kueue: Cluster, answer: Answer) -> None:
    """Nor is each of the tries that follow told, until there is something else to tell."""

    def all_lost() -> list[WatchEvent]:
        return [WatchEvent(one, "LOST", answer=answer) for one in WATCHED]

    kueue.steps = [kueue.begin, nothing, *[all_lost] * 7, kueue.begin, nothing, all_lost]
    notes = of(kueue.run(), Note)
    assert [one.connected for one in notes] == [True, False, True, False]


def test_a_stream_that_ends_again_before_all_is_read_is_an_error(kueue: Cluster) -> None:
    """Once is what a server does to any stream; else nobody would learn that nothing comes."""

    def lost() -> list[WatchEvent]:
        return [WatchEvent(WATCHED[0], "LOST", answer=ENDED)]

    kueue.steps = [lost, kueue.begin, nothing]
    assert kueue.run()
    kueue.steps = [lost, lost]
    with pytest.raises(InputError, match="ended"):
        kueue.run()


def test_what_cannot_be_planned_for_is_a_note(
    kueue: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read anew ever more rarely, as if the server were away."""
    take = take_snapshot
    odd = False

    def refused(*given: Any, **options: Any) -> Any:
        if odd:
            raise InputError("cohort a", "is its own parent")
        return take(*given, **options)

    def change(*, to: bool) -> list[WatchEvent]:
        nonlocal odd
        odd = to
        return stopped(kueue)

    monkeypatch.setattr("planner.operations.watch.kueue.live.take_snapshot", refused)
    kueue.steps = [kueue.begin, nothing, partial(change, to=True), *[nothing] * 60]
    kueue.steps += [partial(change, to=False), *[nothing] * 15]
    notes = of(kueue.run(), Note)
    assert [one.connected for one in notes] == [True, False, True]
    told(notes[1].text)
    waits = [later - before for before, later in itertools.pairwise(kueue.reads[1:-1])]
    assert len(waits) > 4
    assert waits == sorted(waits)


MOST_GROWTH: Final = 10_000
"""Bytes: if every change between two looks were kept, it would be more."""


def grows_by(sizes: Sequence[int]) -> float:
    """Return the bytes by which memory mostly grows from one size to the next.

    Not to the last one: a table of the whole process that happens to get larger, of strings or of
    what workers of tests send one another, is no leak.
    """
    return median(after - before for before, after in pairwise(sizes[1:]))


def test_memory_does_not_grow(kueue: Cluster) -> None:
    """As many changes as a quiet cluster has in two and a half days: none of them is kept."""
    keeper = Keeper(kueue.take(), {}, lambda: kueue.now)

    def day() -> int:
        for _ in range(6):
            for _ in range(5):
                keeper.take(kueue.change(SMALL[0]))
                keeper.take(kueue.change(SMALL[1], "DELETED"))
                keeper.take(kueue.change(SMALL[1], "ADDED"))
            for event in kueue.preempt(SMALL[2]):
                keeper.take(event)
            for one in ("Evicted", "Preempted"):
                conditions = kueue.find(SMALL[2])["status"]["conditions"]
                conditions[:] = [each for each in conditions if each["type"] != one]
            keeper.take(kueue.change(SMALL[2]))
            kueue.now += 7
            keeper.settle()
            keeper.touched.clear()
            list(keeper.over())
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        sizes = [day() for _ in range(5)]
    finally:
        tracemalloc.stop()
    assert grows_by(sizes) < MOST_GROWTH, sizes
    assert not keeper.episodes


def test_memory_of_the_whole_watch_does_not_grow(
    kueue: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five days of decisions, preemptions, who comes and goes, new reads, broken streams.

    Only at night are decisions judged, too.
    """
    if not TEST_ALL:
        monkeypatch.setattr(live, "measure", lambda *_: UNJUDGED)
    sizes: list[int] = []
    kinds: set[type] = set()

    def once(change: Callable[[], Sequence[WatchEvent]], pause_s: float = 0.0) -> None:
        def step() -> Sequence[WatchEvent]:
            kueue.now += pause_s
            return change()

        kueue.steps.append(step)

    def back() -> Sequence[WatchEvent]:
        for one in SMALL[1:3]:
            conditions = kueue.find(one)["status"]["conditions"]
            conditions[:] = [each for each in conditions if each["reason"] != "Preempted"]
        return [kueue.change(one) for one in SMALL[1:3]]

    def evening() -> Sequence[WatchEvent]:
        kinds.update(type(one) for one in kueue.lines)
        kueue.lines.clear()
        gc.collect()
        sizes.append(tracemalloc.get_traced_memory()[0])
        return ()

    once(kueue.begin)
    for _ in range(5):
        once(lambda: [kueue.change(SMALL[0])])
        once(lambda: kueue.preempt(*SMALL[1:3]))
        once(nothing)
        once(back, pause_s=600.0)
        once(lambda: [kueue.change(SMALL[3], "DELETED"), kueue.change(SMALL[3], "ADDED")])
        once(lambda: [*lost(ENDED), *kueue.begin()])
        once(nothing, pause_s=600.0)
        once(evening)
    tracemalloc.start()
    try:
        kueue.run()
    finally:
        tracemalloc.stop()
    assert kinds == {Decision, Note, Preemption}
    assert len(kueue.reads) > 5
    assert grows_by(sizes) < MOST_GROWTH, sizes


def test_a_change_that_cannot_be_read_is_a_note(kueue: Cluster) -> None:
    def strange() -> Sequence[WatchEvent]:
        kueue.find(BIG)["metadata"]["creationTimestamp"] = "yesterday"
        return [kueue.change(BIG)]

    kueue.steps = [kueue.begin, strange, nothing]
    told(of(kueue.run(), Note)[-1].text)
