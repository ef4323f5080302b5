"""ST-01: a later attempt only where the earlier one finds nobody."""

from planner.state.kueue import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.research.strict.cases import strictly_broken
from tests.verifier.cases import OWN, plan_of


def state(second: int) -> State:
    """Queue mine may end within its quota of 4 if both of its own go: the attempt to try first."""
    return state_of(
        cohort("org", nominal=2),
        queue("mine", 4, "org", within="LowerPriority", reclaim="Any"),
        queue("other", 2, "org"),
        running("first", "mine", 2),
        running("second", "mine", 1, priority=second),
        running("foreign", "other", 3),
        pending("mine", 4, 10),
    )


def test_victims_of_the_second_attempt_where_the_first_finds_some() -> None:
    both = state(second=0)
    assert strictly_broken(both, plan_of(both, ("first", OWN))) == {"ST-01"}
    earlier = plan_of(both, ("first", OWN), ("second", OWN), borrowing=False)
    assert strictly_broken(both, earlier) == set()


def test_victims_of_the_second_attempt_where_the_first_finds_nobody() -> None:
    """The other one of its own may not go, so the queue has to borrow."""
    one = state(second=100)
    assert strictly_broken(one, plan_of(one, ("first", OWN))) == set()
