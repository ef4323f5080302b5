"""ST-05: nobody goes once the preemptor fits."""

import pytest

from planner.state.kueue import State
from tests.cluster import cohort, fair_sharing, pending, queue, running, state_of
from tests.research.strict.cases import strictly_broken
from tests.verifier.cases import BY_SHARE, OWN, fair_plan, plan_of

ONE, TWO = "one", "two"


def fair(one: int, two: int, asks: int) -> State:
    """Let a queue borrow much; all of 20 GPUs are in use."""
    return state_of(
        cohort("org", nominal=16),
        queue("mine", 2, "org", reclaim="LowerPriority"),
        queue("other", 2, "org"),
        running(ONE, "other", one),
        running(TWO, "other", two),
        running("three", "other", 20 - one - two),
        pending("mine", asks, 10),
        fair_sharing(),
    )


def classical(one: int, two: int, asks: int) -> State:
    """Let a queue of 20 GPUs be full."""
    return state_of(
        queue("mine", 20, within="LowerPriority"),
        running(ONE, "mine", one),
        running(TWO, "mine", two),
        running("three", "mine", 20 - one - two),
        pending("mine", asks, 10),
    )


@pytest.mark.parametrize(("one", "two", "asks"), [(3, 3, 3), (3, 4, 3)])
def test_each_of_them_alone_would_do(one: int, two: int, asks: int) -> None:
    state = fair(one, two, asks)
    plan = fair_plan(state, (ONE, BY_SHARE), (TWO, BY_SHARE))
    assert strictly_broken(state, plan) == {"ST-05"}
    state = classical(one, two, asks)
    assert strictly_broken(state, plan_of(state, (ONE, OWN), (TWO, OWN))) == {"ST-05"}


@pytest.mark.parametrize(
    ("one", "two", "asks"),
    [
        pytest.param(3, 3, 4, id="both are needed"),
        pytest.param(1, 5, 3, id="the small one may go before it fits"),
    ],
)
def test_not_before_the_last(one: int, two: int, asks: int) -> None:
    state = fair(one, two, asks)
    plan = fair_plan(state, (ONE, BY_SHARE), (TWO, BY_SHARE))
    assert strictly_broken(state, plan) == set()
    state = classical(one, two, asks)
    assert strictly_broken(state, plan_of(state, (ONE, OWN), (TWO, OWN))) == set()
