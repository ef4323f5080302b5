"""YK-03: no victim is in the queue of the ask, not even of another application."""

from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import (
    broken,
    guaranteed,
    one_node,
    one_node_value,
    plan_of,
    verdicts,
)
from tests.yunikorn.building import Json, gpus, queue


def one_more_over_its_guaranteed(*, path: str) -> Json:
    """Build a full node: ``path`` holds 3 more, ``root.low`` 1, ``root.high`` asks for 1 of 2."""
    running = {"root.low": gpus(a=1)}
    running[path] = [*running.get(path, ()), *gpus(two=2, one=1)]
    return one_node_value(queue("low"), guaranteed("high", 2), running=running, size=4)


def test_the_own_queue_gives_nothing() -> None:
    """Its 2 would make room within its guaranteed; only they would."""
    court = Court(one_more_over_its_guaranteed(path="root.high"))
    assert court.admitted() == {"n1": set()}
    without = court.admitted(without={"YK-03"})
    assert without == {"n1": {frozenset({"two"}), frozenset({"two", "a"})}}


def test_the_same_allocations_in_another_queue_may_go() -> None:
    court = Court(one_more_over_its_guaranteed(path="root.low"))
    assert frozenset({"two"}) in court.admitted()["n1"]


def test_other_queue() -> None:
    """Queue high uses 2 of its guaranteed, 1: what it gives up is what the ask takes."""
    state = one_node(guaranteed("high", 1), running={"root.high": gpus(mine=2)}, size=2)
    plan = plan_of(state, "n1", "mine")
    assert broken(state, plan) == ["YK-03"]
    told(verdicts(state, plan)["YK-03"].detail)
