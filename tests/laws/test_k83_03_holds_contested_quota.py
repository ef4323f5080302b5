"""K83-03: a victim uses the involved flavors in an active queue of the preemptor's cohort."""

from __future__ import annotations

from planner.state import State
from tests.cluster import cohort, pending, queue, running, state_of
from tests.kep83.cases import broken, by_checker, by_model, decision_of, permitted

B1 = frozenset({"ns/b1"})


def with_neighbour(*more: list[dict[str, object]]) -> State:
    """Queue b borrows 2 with b1; queue a wants them back."""
    return state_of(
        cohort("org"),
        queue("a", {"gpu": 2, "cards": 1}, "org", reclaim="Any"),
        queue("b", {"gpu": 0, "cards": 1}, "org"),
        running("b1", "b", {"gpu": 2}),
        pending("a", {"gpu": 2, "cards": 1}),
        *more,
    )


def test_other_resources_do_not_make_a_candidate() -> None:
    decision = decision_of(with_neighbour(running("b2", "b", {"cards": 1})), fits=("cards",))
    assert permitted(decision) == {B1}
    assert B1 | {"ns/b2"} in permitted(decision, without={"K83-03"})


def test_amount_does_not_matter() -> None:
    """One that names the flavor and holds 0 of it may go."""
    decision = decision_of(with_neighbour(running("b2", "b", {"gpu": 0})), fits=("cards",))
    assert B1 | {"ns/b2"} in permitted(decision)


def test_inactive_queues_and_other_cohorts_give_nothing() -> None:
    """Both are over their quota and hold what is contested."""
    state = with_neighbour(
        queue("held", {"gpu": 0}, "org", stop="Hold"),
        running("h1", "held", {"gpu": 1}),
        queue("alone", {"gpu": 0}),
        running("x1", "alone", {"gpu": 1}),
    )
    decision = decision_of(state, fits=("cards",))
    # What h1 holds counts as used: without it 1 would be missing whoever goes.
    assert by_model(decision) == by_checker(decision) == set()
    for key in ("ns/h1", "ns/x1"):
        (victim,) = (one for one in decision.holders if one.key == key)
        assert "K83-03" in broken(decision, [victim])
