"""YK-04: the ask fits into what its queue has left of its guaranteed."""

import pytest

from tests.laws.judges_yunikorn import Court
from tests.told import told
from tests.verifier.yunikorn.plans import guaranteed, one_node_value
from tests.yunikorn.building import Json, allocation, gpus, of_release, queue, two_queues

A, B, C, D = (frozenset({key}) for key in "abcd")


def test_a_queue_without_any_guaranteed_may_not_preempt() -> None:
    court = Court(two_queues(allocation("a", {"gpu": 4}), guaranteed=0))
    assert court.admitted() == {"n1": set()}
    assert court.admitted(without={"YK-04"}) == {"n1": {A}}


@pytest.mark.parametrize(("guaranteed", "sets"), [(1, set()), (2, {A})])
def test_the_ask_must_fit_completely(guaranteed: int, sets: set[frozenset[str]]) -> None:
    """One of two is left of the guaranteed; half of the ask would fit into one."""
    value = two_queues(allocation("a", {"gpu": 4}), guaranteed=guaranteed)
    value["applications"][1]["requests"][0]["resource"] = {"gpu": 2}
    court = Court(value)
    assert court.admitted() == {"n1": sets}
    assert court.admitted(without={"YK-04"}) == {"n1": {A}}


def test_a_type_outside_the_guaranteed_is_free() -> None:
    value = two_queues(allocation("a", {"gpu": 4}), guaranteed=1)
    value["applications"][1]["requests"][0]["resource"] = {"gpu": 1, "mem": 50}
    value["nodes"][0]["nodesInfo"][0]["capacity"] = {"gpu": 4, "mem": 50}
    assert Court(value).admitted() == {"n1": {A}}


def test_victims_make_room_in_the_guaranteed_of_an_ancestor() -> None:
    """Department p holds 3 of its 2, so with the ask 2 must go below it; d is elsewhere."""
    p = guaranteed("p", 2, queue("low"), queue("high"))
    running = {"root.p.low": gpus(a=2, c=1), "root.other": gpus(d=1)}
    value = one_node_value(p, queue("other"), running=running, path="root.p.high", size=4)
    court = Court(value)
    assert court.admitted() == {"n1": {A, A | D}}
    assert court.admitted(without={"YK-04"}) == {"n1": {A, C, D, A | D, C | D}}


def test_an_own_guaranteed_hides_that_of_ancestors() -> None:
    """As above, but queue high has a guaranteed of its own: c and d will do."""
    p = guaranteed("p", 2, queue("low"), guaranteed("high", 1))
    running = {"root.p.low": gpus(b=2), "root.other": gpus(d=1)}
    value = one_node_value(p, queue("other"), running=running, path="root.p.high", size=3)
    assert Court(value).admitted("yunikorn-code") == {"n1": {B, D, B | D}}


@pytest.mark.parametrize(("count", "forbidden"), [(0, True), (1, True), (2, False)])
def test_an_ask_of_two(count: int, *, forbidden: bool) -> None:
    assert wants_two(guaranteed("high", count)).forbids("YK-04", "two") == forbidden


def wants_two(high: Json) -> Court:
    """Let queue low run a workload of 2, on a full node."""
    held = {"root.low": gpus(two=2)}
    return Court(one_node_value(queue("low"), high, running=held, size=2, wanted={"gpu": 2}))


def test_in_words() -> None:
    told(wants_two(queue("high")).detail("YK-04", "two"))
    told(wants_two(guaranteed("high", 1)).detail("YK-04", "two"))


@pytest.mark.parametrize(("taken", "forbidden"), [("one", True), ("two", False)])
def test_victims_may_make_room_in_the_guaranteed_of_an_ancestor(
    taken: str, *, forbidden: bool
) -> None:
    """Queue p has 2 guaranteed and uses 3; with the ask 4, so 2 must go."""
    value = one_node_value(
        guaranteed("p", 2, queue("low"), queue("high")),
        running={"root.p.low": gpus(one=1, two=2)},
        path="root.p.high",
        size=3,
    )
    assert Court(value).forbids("YK-04", taken) == forbidden


@pytest.mark.parametrize(("release", "sets"), [("1.7.0", set()), ("1.8.0", {A})])
def test_up_to_1_7_types_that_the_ask_does_not_want_count(
    release: str, sets: set[frozenset[str]]
) -> None:
    """Of mem the queue of the ask uses 2 of its 1."""
    value = two_queues(allocation("a", {"gpu": 4}))
    (root,) = value["queues"]["partitions"][0]["queues"]
    root["queues"][1]["resources"]["guaranteed"]["mem"] = 1
    value["applications"][1]["allocations"] = [allocation("own", {"mem": 2}, on="n2")]
    court = Court(of_release(value, release))
    assert court.admitted() == {"n1": sets}
    assert court.admitted(without={"YK-04"}) == {"n1": {A}}
