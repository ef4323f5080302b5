"""The lines of a watch to be read."""

from datetime import UTC, datetime
from itertools import permutations

import pytest

from planner.operations.report.watch import text_of
from planner.operations.watch.record import Decision, Measured

VICTIMS = ("ns/a", "ns/b", "ns/c")


def said(**changes: object) -> str:
    """Return the line about a decision whose victims are the best."""
    facts: dict[str, object] = {
        "victims": VICTIMS,
        "needless": (),
        "fewest": 3,
        "status": "optimal",
        "optimum": VICTIMS,
        "lost_s": 5,
        "least_lost_s": 5,
        "seconds": 0.5,
    }
    measured = Measured.model_validate(facts | changes)
    at = datetime(2026, 5, 1, tzinfo=UTC)
    return text_of(Decision(at=at, preemptor="ns/p", queue="q", measured=measured))


@pytest.mark.parametrize("optimum", [*permutations(VICTIMS)])
def test_the_same_victims_in_another_order_are_no_others(optimum: tuple[str, ...]) -> None:
    assert "instead=" not in said(optimum=optimum)


@pytest.mark.parametrize("optimum", [VICTIMS[:2], ("ns/a", "ns/b", "ns/d"), (*VICTIMS, "ns/d")])
def test_others_are_named(optimum: tuple[str, ...]) -> None:
    assert f"instead={optimum[0]} instead={optimum[1]}" in said(optimum=optimum)


def test_no_plan_is_nobody_instead() -> None:
    assert "instead" not in said(status="unknown", optimum=(), least_lost_s=None)
