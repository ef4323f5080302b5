"""YK-02: no queue is left below its guaranteed, or lower than it was below it."""

import pytest

from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import guaranteed, one_node_value
from tests.yunikorn.building import Json, allocation, gpus, queue

A, B, C = frozenset({"a"}), frozenset({"b"}), frozenset({"c"})


def low_runs(low: Json, *held: Json, size: int = 4) -> Court:
    """Make queue low run what it is given, with some guaranteed, on a node of so many GPUs."""
    of_low = queue("low", guaranteed=low)
    running = {"root.low": list(held)}
    return Court(one_node_value(of_low, guaranteed("high", 2), running=running, size=size))


def test_a_queue_keeps_its_guaranteed() -> None:
    """Queue low holds 4 of its 3: one may go, two may not, although the core would take a."""
    court = low_runs({"gpu": 3}, *gpus(a=2, b=1, c=1))
    assert court.admitted() == {"n1": {B, C}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B, C}}
    assert court.admitted("yunikorn-code") == {"n1": {A, B, C}}


def test_the_ask_counts_for_the_queues_above_it() -> None:
    """Queue p holds all of its 4 and gets 1 from the ask: so 1 may go, and 2 may not."""
    p = guaranteed("p", 4, queue("low"), guaranteed("high", 2))
    running = {"root.p.low": gpus(a=3, b=1)}
    court = Court(one_node_value(p, running=running, path="root.p.high", size=4))
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B, A | B}}


def test_a_queue_below_its_guaranteed_loses_nothing_of_that_type() -> None:
    """Queue low is over in gpu and has 1 of its 10 in mem: b, which holds that 1, must stay."""
    b = allocation("b", {"gpu": 1, "mem": 1})
    court = low_runs({"gpu": 1, "mem": 10}, *gpus(a=2), b, size=3)
    assert court.admitted() == {"n1": {A}}
    assert B in court.admitted(without={"YK-02"})["n1"]


def test_what_is_being_preempted_is_not_used() -> None:
    """Of the 4 that low holds 1 goes already, so 3 are used: of its 2 it can spare 1."""
    gone = allocation("gone", {"gpu": 1}, preempted=True)
    court = low_runs({"gpu": 2}, *gpus(a=2, b=1), gone)
    assert court.admitted() == {"n1": {B}}
    assert court.admitted(without={"YK-02"}) == {"n1": {A, B}}


def low_uses_3(count: int) -> Court:
    """Make queue low use 3 GPUs, with some guaranteed; the node is full."""
    return low_runs({"gpu": count}, *gpus(one=1, two=2), size=3)


@pytest.mark.parametrize(
    ("count", "taken", "forbidden"),
    [(1, "one", False), (1, "two", False), (2, "one", False), (2, "two", True)],
)
def test_as_many_as_it_can_spare(count: int, taken: str, *, forbidden: bool) -> None:
    court = low_uses_3(count)
    assert court.forbids("YK-02", taken) == forbidden
    assert {taken} in court.admitted("yunikorn-code")["n1"]


def test_what_would_be_left_is_told() -> None:
    told(low_uses_3(2).detail("YK-02", "two"))


@pytest.mark.parametrize("released", [False, True])
def test_used_is_what_nobody_preempts_yet(*, released: bool) -> None:
    """Queue low uses 4, or only 3 of them: without the victim 2, or 1, of 2."""
    held = [*gpus(two=2, one=1), allocation("gone", {"gpu": 1}, preempted=released)]
    low, high = guaranteed("low", 2), guaranteed("high", 2)
    court = Court(one_node_value(low, high, running={"root.low": held}, size=4))
    assert court.forbids("YK-02", "two") == released


def test_a_type_that_no_victim_holds_may_be_short_already() -> None:
    low = queue("low", guaranteed={"gpu": 1, "disk": 5})
    held = gpus(a=1, b=1)
    value = one_node_value(low, guaranteed("high", 2), running={"root.low": held}, size=2)
    assert not Court(value).forbids("YK-02", "a")


@pytest.mark.parametrize(("wanted", "forbidden"), [(1, True), (2, False)])
def test_the_ask_counts_on_its_own_path(wanted: int, *, forbidden: bool) -> None:
    """Queue p has 2 guaranteed and uses 2: both go, and the ask takes their place."""
    value = one_node_value(
        guaranteed("p", 2, queue("low"), guaranteed("high", 2)),
        running={"root.p.low": gpus(two=2)},
        path="root.p.high",
        size=2,
        wanted={"gpu": wanted},
    )
    assert Court(value).forbids("YK-02", "two") == forbidden


def test_a_queue_that_comes_down_to_its_max_keeps_its_guaranteed() -> None:
    """Queue low uses 4 of its max 3, of which 3 are guaranteed: one may go, two may not."""
    low = queue("low", guaranteed={"gpu": 3}, max={"gpu": 3})
    running = {"root.low": gpus(a=2, b=1, c=1)}
    court = Court(one_node_value(low, guaranteed("high", 2), running=running), "root.low")
    assert court.admitted() == {"": {B, C}}
    assert court.forbids("YK-02", "a")


def test_queues_above_and_below_it_keep_theirs_as_well() -> None:
    """Queue p uses 6 of its max 3: q below it keeps 2 of its 4, and top above it 3 of its 6."""
    p = queue("p", guaranteed("q", 2), queue("r"), max={"gpu": 3})
    running = {"root.top.p.q": gpus(a=2, b=1, d=1), "root.top.p.r": gpus(c=2)}
    value = one_node_value(guaranteed("top", 3, p), guaranteed("high", 2), running=running)
    court = Court(value, "root.top.p")
    assert court.admitted() == {"": {B | C, C | {"d"}}}
    assert court.forbids("YK-02", "a", "b")
    assert court.forbids("YK-02", "a", "c")
