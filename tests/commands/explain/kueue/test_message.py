"""Kueue's texts about a preemption, in every form it has given them."""

import pytest

from planner.commands.explain.kueue.record import REASONS, parse_messages, resolve, take_apart
from planner.errors import LookupFailed, ParseError
from tests.cluster import Object, pending, queue, running, state_of
from tests.told import told

# Texts as kueue ff69552e preemption_test.go and CHANGELOG-0.15.md show them.
CONDITION = (
    "Preempted to accommodate a workload (UID: wl-in, JobUID: job-in) due to reclamation within "
    "the cohort; preemptor path: /r/c/q; preemptee path: /r/q_borrowing"
)
PRIORITIES = (
    "; preemptor effective priority: 5 (base: 3, boost: 2); "
    "preemptee effective priority: -1 (base: 0, boost: -1)"
)
UNKNOWN = (
    "Preempted to accommodate a workload (UID: UNKNOWN, JobUID: UNKNOWN) due to UNKNOWN; "
    "preemptor path: UNKNOWN; preemptee path: UNKNOWN"
)
OLDER = (
    "Preempted to accommodate a workload (UID: u, JobUID: j) due to prioritization in the "
    "ClusterQueue"
)
OWN_EVENT = "Preempted workload ns/small (UID: uid-small) in ClusterQueue b" + PRIORITIES


def test_condition() -> None:
    (found,) = parse_messages(CONDITION)
    assert found.kind == "Preempted"
    assert found.reason == "InCohortReclamation"
    assert found.law == "KQ-05/FS-04"
    assert (found.preemptor.uid, found.preemptor.job_uid) == ("wl-in", "job-in")
    assert found.preemptor.path == ("r", "c", "q")
    assert found.preemptor.cluster_queue == "q"
    assert found.victim.path == ("r", "q_borrowing")
    assert found.victim.cluster_queue == "q_borrowing"
    assert found.victim.uid is None
    assert found.preemptor.effective_priority is None


def test_event_adds_the_priorities() -> None:
    (found,) = parse_messages(CONDITION + PRIORITIES)
    mine, its = found.preemptor, found.victim
    assert (mine.effective_priority, mine.base_priority, mine.boost) == (5, 3, 2)
    assert (its.effective_priority, its.base_priority, its.boost) == (-1, 0, -1)
    assert its.path == ("r", "q_borrowing")


def test_event_of_the_preemptor() -> None:
    (found,) = parse_messages(OWN_EVENT)
    assert found.kind == "PreemptedWorkload"
    assert found.reason is None
    assert found.victim.workload == "ns/small"
    assert found.victim.uid == "uid-small"
    assert found.victim.cluster_queue == "b"
    assert found.preemptor.effective_priority == 5
    assert found.victim.boost == -1


@pytest.mark.parametrize(("words", "code"), REASONS.items())
def test_reasons(words: str, code: str) -> None:
    (found,) = parse_messages(
        f"Preempted to accommodate a workload (UID: u, JobUID: j) due to {words}"
    )
    assert found.reason == code
    assert found.law


@pytest.mark.parametrize(
    "text",
    [
        UNKNOWN,
        "Preempted to accommodate a higher priority Workload",
        "Previously: Preempted to accommodate a workload",
    ],
)
def test_what_a_text_does_not_say_is_none(text: str) -> None:
    (found,) = parse_messages(text)
    assert found.reason is None
    assert found.preemptor.uid is None
    assert found.preemptor.path == ()
    assert found.victim.cluster_queue is None


def test_text_around_it_may_stay() -> None:
    broken = CONDITION.replace(" due to", "\n      due to")
    pasted = f"  Normal  Preempted  5m  kueue  {broken}\n  Normal  Requeued  4m  kueue  back again"
    assert parse_messages(pasted) == parse_messages(CONDITION)
    brief = CONDITION.partition(";")[0]
    assert [one.reason for one in parse_messages(f"{brief}\n  Normal  Requeued")] == [
        "InCohortReclamation"
    ]
    quoted = f'    message: "{CONDITION}"\n    reason: Preempted'
    (found,) = parse_messages(quoted)
    assert found.victim.path == ("r", "q_borrowing")


@pytest.mark.parametrize("events", [(OLDER, CONDITION + PRIORITIES), (OLDER, OWN_EVENT, OLDER)])
def test_each_of_several_texts_is_taken_by_itself(events: tuple[str, ...]) -> None:
    pasted = "\n".join(f"5m  Normal  Preempted  Workload/w  {one}" for one in events)
    apart = dict.fromkeys(parse_messages(one)[0] for one in reversed(events))
    assert parse_messages(pasted) == tuple(reversed(apart))
    state = state_of(queue("q", 1), queue("b", 1), [with_uid("u")])
    last, notes = take_apart(pasted, state)
    assert last == resolve(parse_messages(events[-1])[-1], state)
    told(notes)
    assert take_apart(f"{OLDER}\n{OLDER}", state)[1] == ()


def with_uid(uid: str) -> Object:
    (found,) = pending("q", 1)
    found["metadata"]["uid"] = uid
    return found


@pytest.mark.parametrize("text", [CONDITION, OLDER, OWN_EVENT])
def test_a_text_of_another_cluster_is_refused(text: str) -> None:
    """It names workloads or ClusterQueues, and none of them is here."""
    with pytest.raises(LookupFailed) as caught:
        take_apart(text, state_of(queue("elsewhere", 1), running("other", "elsewhere", 1)))
    told(caught.value)


def test_who_is_gone_since_is_told() -> None:
    """The ClusterQueue of the victim is here, and the preemptor is not."""
    state = state_of(queue("q_borrowing", 1), running("other", "q_borrowing", 1))
    message, (note,) = take_apart(CONDITION, state)
    assert message.preemptor.workload is None
    assert "wl-in" in note
    _, (note,) = take_apart("Preempted to accommodate a higher priority workload", state)
    told(note)


@pytest.mark.parametrize("text", ["", "Evicted", "Preempted", "x" * 20_000])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse_messages(text)


def test_uids_are_named_by_the_state() -> None:
    state = state_of(queue("a", 1), running("small", "a", 1), pending("a", 1))
    text = CONDITION.replace("wl-in", "uid-pending")
    found = resolve(parse_messages(text)[-1], state)
    assert found.preemptor.workload == "ns/pending"
    assert found.victim.workload is None
    assert resolve(parse_messages(CONDITION)[-1], state).preemptor.workload is None


@pytest.mark.parametrize("text", [UNKNOWN, "Preempted to accommodate a higher priority workload"])
def test_who_has_no_uid_is_not_named(text: str) -> None:
    state = state_of(queue("a", 1), running("small", "a", 1))
    workloads = state.workloads.edited(
        {"ns/small"},
        lambda one: one.model_copy(
            update={"metadata": one.metadata.model_copy(update={"uid": ""})}
        ),
    )
    found = resolve(parse_messages(text)[-1], state.model_copy(update={"workloads": workloads}))
    assert found.preemptor.workload is None
    assert found.victim.workload is None
