"""KQ-08: only the attempts that Kueue would make are made, in its order."""

from __future__ import annotations

import pytest

from planner.models.kueue.candidates import attempts, eligible
from tests.admitted import admitted
from tests.cluster import Object, cohort, pending, problem_of, queue, running, state_of


def contest(borrow: str, mine: int, *, outer: bool = False, theirs: int = 4) -> list[Object]:
    """Return a queue that uses ``mine`` of its 4, and one that borrows."""
    return [
        *cohort("org"),
        *queue("a", 4, "org", within="LowerPriority", reclaim="Any", borrow=borrow),
        *queue("b", 2, "org"),
        *running("mine", "a", mine),
        *(running("theirs", "b", theirs) if not outer else []),
        *pending("a", 3),
    ]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (contest("LowerPriority", 2, outer=True), (True,)),  # no candidate elsewhere
        (contest("Never", 4), (True,)),  # forbidden, and not under nominal
        (contest("Never", 2), (False, True)),  # forbidden, nobody with advantage
        (contest("LowerPriority", 2), (True, False)),
    ],
)
def test_attempts_follow_the_three_cases(parts: list[Object], expected: tuple[bool, ...]) -> None:
    problem, *_ = problem_of(state_of(parts))
    assert attempts(problem, eligible(problem)) == expected


def test_a_set_of_an_attempt_that_is_not_made_is_not_admitted() -> None:
    """At nominal and with borrowing forbidden, others are out of reach: no attempt without."""
    problem, *_ = problem_of(state_of(contest("Never", 4)))
    theirs, mine = "ns/theirs", "ns/mine"
    assert set(admitted(problem)) == {True}
    assert frozenset({mine, theirs}) in admitted(problem, both_attempts=True)[False]
    assert frozenset({mine, theirs}) not in admitted(problem)[True]
