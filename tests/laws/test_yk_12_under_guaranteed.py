"""YK-12: the queue of the ask is under its guaranteed, law 4 as it is written."""

import pytest

import planner
from tests.laws.judges_yunikorn import Court
from tests.verifier.yunikorn.plans import broken, plan_of
from tests.yunikorn.building import (
    Json,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)

WRITTEN = "yunikorn-written"
A = frozenset({"a"})


def needy(wanted: dict[str, int], mine: dict[str, int], guaranteed: dict[str, int]) -> Json:
    """Make a queue that runs one allocation and wants more than the node has free."""
    return cluster_value(
        [queue("low"), queue("high", guaranteed=guaranteed)],
        [node("n1", {"gpu": 4 + mine.get("gpu", 0), "mem": 10})],
        [
            application("runs", "root.low", allocation("a", {"gpu": 4, "mem": 10})),
            application("asks", "root.high", allocation("own", mine), asks=(ask("ask", wanted),)),
        ],
    )


@pytest.mark.parametrize(("guaranteed", "sets"), [(1, set()), (2, set()), (3, {A}), (9, {A})])
def test_something_must_be_left_of_the_guaranteed(
    guaranteed: int, sets: set[frozenset[str]]
) -> None:
    """The queue uses 2 and asks for 4: of 3 one is left, into which the ask does not fit."""
    court = Court(needy({"gpu": 4}, {"gpu": 2}, {"gpu": guaranteed}))
    assert court.admitted(WRITTEN) == {"n1": sets}
    assert court.admitted(WRITTEN, without={"YK-12"}) == {"n1": {A}}


@pytest.mark.parametrize("wanted", [2, 3, 9])
def test_the_verifier_says_the_same(wanted: int) -> None:
    state = state_of(needy({"gpu": 4}, {"gpu": 2}, {"gpu": wanted}))
    plan = plan_of(state, "n1", "a", rules=WRITTEN)
    assert broken(state, plan) == ([] if wanted > 2 else ["YK-12"])
    assert ("YK-04" in broken(state, plan_of(state, "n1", "a"))) == (wanted < 6)


@pytest.mark.parametrize("left", [2, 3])
def test_a_tree_shows_that_no_victims_help(left: int) -> None:
    state = state_of(needy({"gpu": 4}, {"gpu": 2}, {"gpu": left}))
    plan = planner.solve(state, "ask", rules="written")
    assert plan.status == ("optimal" if left > 2 else "infeasible")
    assert planner.check(state, plan, rules="written").accepted


def test_the_core_asks_for_more() -> None:
    court = Court(needy({"gpu": 4}, {"gpu": 2}, {"gpu": 3}))
    assert court.admitted(WRITTEN) == {"n1": {A}}
    assert court.admitted() == {"n1": set()}


@pytest.mark.parametrize(
    ("guaranteed", "sets"),
    [({"gpu": 2, "mem": 1}, {A}), ({"mem": 1}, {A}), ({"gpu": 2}, set()), ({"disk": 5}, set())],
    ids=["one of two", "only that", "none of the ask", "another type"],
)
def test_one_type_of_the_ask_is_enough(
    guaranteed: dict[str, int], sets: set[frozenset[str]]
) -> None:
    court = Court(needy({"gpu": 4, "mem": 5}, {"gpu": 2}, guaranteed))
    assert court.admitted(WRITTEN) == {"n1": sets}


def test_a_queue_without_any_guaranteed_may_not_preempt() -> None:
    court = Court(two_queues(allocation("a", {"gpu": 4}), guaranteed=0))
    assert court.admitted(WRITTEN) == {"n1": set()}
    assert court.admitted(WRITTEN, without={"YK-12"}) == {"n1": {A}}
