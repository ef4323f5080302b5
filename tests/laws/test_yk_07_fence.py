"""YK-07: victims are inside the fence, and not in a queue with preemption disabled."""

from typing import Any

import pytest

from planner.models.yunikorn.candidates import fence_root
from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import broken, guaranteed, one_node_value, plan_of
from tests.yunikorn.building import Json, allocation, gpus, of_release, queue

A, B = frozenset({"a"}), frozenset({"b"})


def inside_and_outside(
    p: dict[str, Any],
    low: dict[str, Any] | None = None,
    high: dict[str, Any] | None = None,
    release: str = "1.9.0",
) -> Court:
    """Build a full node: a is in ``root.p.low``, b in ``root.other``; ``root.p.high`` asks."""
    inside = queue("p", queue("low", **low or {}), guaranteed("high", 1, **high or {}), **p)
    running = {"root.p.low": gpus(a=2), "root.other": gpus(b=2)}
    outside = queue("other")
    value = one_node_value(inside, outside, running=running, path="root.p.high", size=4)
    return Court(of_release(value, release))


def root_of(court: Court) -> str:
    """Return the path of the fence root."""
    return court.problem.queues[fence_root(court.problem)].path


def test_without_a_fence_everybody_may_go() -> None:
    court = inside_and_outside({})
    assert root_of(court) == "root"
    assert court.admitted() == {"n1": {A, B, A | B}}


def test_a_fence_keeps_preemption_inside() -> None:
    court = inside_and_outside({"preemption_policy": "fence"})
    assert root_of(court) == "root.p"
    assert court.admitted() == {"n1": {A}}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_queue_that_cannot_take_the_ask_is_a_fence() -> None:
    """The design's law on maxima would forbid b alone as well, so the code's rules are used."""
    court = inside_and_outside({"max": {"gpu": 2}})
    assert root_of(court) == "root.p"
    assert court.admitted("yunikorn-code") == {"n1": {A}}
    without = court.admitted("yunikorn-code", without={"YK-07"})
    assert without == {"n1": {A, B, A | B}}
    assert root_of(inside_and_outside({"max": {"gpu": 3}})) == "root"


def test_the_queue_of_the_ask_can_be_its_own_fence() -> None:
    court = inside_and_outside({}, high={"preemption_policy": "fence"})
    assert root_of(court) == "root.p.high"
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_disabled_queue_gives_nothing() -> None:
    court = inside_and_outside({}, low={"preemption_policy": "disabled"})
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-07"}) == {"n1": {A, B, A | B}}


def test_a_disabled_queue_may_preempt_others() -> None:
    court = inside_and_outside({}, high={"preemption_policy": "disabled"})
    assert court.admitted() == {"n1": {A, B, A | B}}


def one_victim(low: Json, path: str = "root.low") -> Court:
    """Make a victim below some queue."""
    high = queue("high", guaranteed={"gpu": 2})
    return Court(one_node_value(low, high, running={path: gpus(a=1)}, size=1))


@pytest.mark.parametrize(("policy", "forbidden"), [("fence", False), ("disabled", True)])
def test_a_policy_of_the_victims_queue(policy: str, *, forbidden: bool) -> None:
    low = queue("low", preemption_policy=policy)
    assert one_victim(low).forbids("YK-07", "a") == forbidden


def test_a_parent_itself_gives_nothing() -> None:
    """Where queues.yaml was divided after the dump, applications run in what is a parent now."""
    court = one_victim(queue("low", queue("new")))
    assert court.forbids("YK-07", "a")
    assert not one_victim(queue("low")).forbids("YK-07", "a")


@pytest.mark.parametrize(("own", "forbidden"), [("", True), ("default", False), ("fence", False)])
def test_disabled_reaches_down_until_a_queue_says_otherwise(own: str, *, forbidden: bool) -> None:
    low = queue("low", preemption_policy=own) if own else queue("low")
    court = one_victim(queue("p", low, preemption_policy="disabled"), "root.p.low")
    assert court.forbids("YK-07", "a") == forbidden


def test_a_full_queue_is_a_fence_in_words() -> None:
    """Queue p uses all of its maximum: only what it gives back itself makes room."""
    court = inside_and_outside({"max": {"gpu": 2}})
    assert court.forbids("YK-07", "a", "b")
    told(court.detail("YK-07", "b"))
    alone = plan_of(court.state, "n1", "b")
    assert broken(court.state, alone) == ["YK-07", "YK-09"]


def test_a_maximum_reaches_down() -> None:
    """Queue q may use what p may, 1, which is used up: q is the fence, and not p above it."""
    q = queue("q", queue("mid"), queue("high", guaranteed={"gpu": 2}))
    value = one_node_value(
        queue("p", queue("low"), q, max={"gpu": 1}),
        running={"root.p.q.mid": gpus(a=1), "root.p.low": gpus(b=1)},
        path="root.p.q.high",
        size=2,
    )
    assert not Court(value).forbids("YK-07", "a", rules="yunikorn-code")
    assert Court(value).forbids("YK-07", "a", "b")


def test_priorities_are_not_compared_across_the_fence() -> None:
    """Victim b has a far higher priority, and YK-06 has nothing to say of it."""
    value = one_node_value(
        queue("p", queue("high", guaranteed={"gpu": 2}), preemption_policy="fence"),
        queue("other"),
        running={"root.other": [allocation("b", {"gpu": 1}, priority="99")]},
        path="root.p.high",
        size=1,
    )
    state = Court(value).state
    assert broken(state, plan_of(state, "n1", "b")) == ["YK-07"]


@pytest.mark.parametrize(
    ("most", "root"), [(1, "root"), (2, "root.p"), (3, "root")], ids=["over", "full", "not full"]
)
def test_up_to_1_8_a_queue_that_holds_just_its_maximum_is_a_fence(most: int, root: str) -> None:
    """With the 2 that it has, whatever is asked for; also 1 is too little by the newest rules."""
    court = inside_and_outside({"max": {"gpu": most}}, release="1.8.0")
    assert root_of(court) == root
    inside = {A} if root == "root.p" else {A, B, A | B}
    assert court.admitted("yunikorn-code") == {"n1": inside}
    if most < 2:
        assert root_of(inside_and_outside({"max": {"gpu": most}})) == "root.p"
