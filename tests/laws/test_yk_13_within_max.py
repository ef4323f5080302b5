"""YK-13: a queue whose max was lowered below its usage is within it once the victims are gone."""

import pytest

from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import one_node_value
from tests.yunikorn.building import Json, allocation, gpus, queue

A, B, C = frozenset({"a"}), frozenset({"b"}), frozenset({"c"})


def low_runs(most: Json, *held: Json, **more: Json) -> Court:
    """Lower the max of queue low to this."""
    of_low = queue("low", max=most, **more)
    return Court(one_node_value(of_low, queue("high"), running={"root.low": [*held]}), "root.low")


@pytest.mark.parametrize(
    ("most", "legal"),
    [
        (3, {A, B, C, A | B, A | C, B | C, A | B | C}),
        (2, {A, A | B, A | C, B | C, A | B | C}),
        (1, {A | B, A | C, A | B | C}),
    ],
)
def test_so_many_go_that_the_rest_is_within_the_max(most: int, legal: set[frozenset[str]]) -> None:
    """Queue low uses 4 GPUs. That victims hold just what is too much is enough, less is not."""
    court = low_runs({"gpu": most}, *gpus(a=2, b=1, c=1))
    assert court.admitted() == {"": legal}
    everything = {frozenset(), A, B, C, A | B, A | C, B | C, A | B | C}
    assert court.admitted(without={"YK-13"}) == {"": everything}


def test_every_type_of_the_max_counts_and_no_other() -> None:
    """Of cores there may be any number; of GPUs and memory one has to go each."""
    held = [
        allocation("a", {"gpu": 2, "core": 9}),
        allocation("b", {"mem": 2, "core": 9}),
        allocation("c", {"gpu": 1, "mem": 1, "core": 9}),
    ]
    court = low_runs({"gpu": 2, "mem": 2}, *held)
    assert court.admitted() == {"": {C, A | B, A | C, B | C, A | B | C}}
    assert court.forbids("YK-13", "a")
    assert court.forbids("YK-13", "b")


def test_what_is_being_preempted_is_gone_already() -> None:
    """Of 5 that low uses 2 go anyway: it is above its 2 by 1; above 3 by nothing."""
    gone = allocation("gone", {"gpu": 2}, preempted=True)
    held = [*gpus(a=2, b=1), gone]
    assert low_runs({"gpu": 2}, *held).admitted() == {"": {A, B, A | B}}
    assert low_runs({"gpu": 3}, *held).admitted() == {"": {frozenset()}}


def test_the_max_of_a_queue_above_is_not_asked() -> None:
    """Queue p uses 4 of its 1, low below it 4 of its 3: for low one is enough."""
    p = queue("p", queue("low", max={"gpu": 3}), max={"gpu": 1})
    value = one_node_value(p, queue("high"), running={"root.p.low": gpus(a=2, b=1, c=1)})
    assert B in Court(value, "root.p.low").admitted()[""]
    assert Court(value, "root.p").forbids("YK-13", "a")


def test_what_would_be_left_is_told() -> None:
    told(low_runs({"gpu": 2}, *gpus(a=2, b=1, c=1)).detail("YK-13", "b"))
