"""K83-08: there are victims only if the preemptor has waited long enough."""

from __future__ import annotations

import pytest

from planner.state import State
from tests.cluster import Object, pending, queue, running, state_of
from tests.kep83.cases import decision_of, permitted

A1 = {frozenset({"ns/a1"})}


def waiting(*conditions: tuple[str, str, str]) -> State:
    """A preemptor with conditions of (type, status, time); the clock says 13:00:00."""
    (incoming,) = pending("a", 2, created=0)
    found: list[Object] = [
        {"type": kind, "status": status, "lastTransitionTime": f"2026-05-01T{time}Z"}
        for kind, status, time in conditions
    ]
    incoming["status"] = {"conditions": found}
    return state_of(queue("a", 2, within="LowerPriority"), running("a1", "a", 2), [incoming])


@pytest.mark.parametrize(("wait", "sets"), [(59, A1), (60, A1), (61, set())])
def test_as_long_as_the_option_says(wait: int, sets: set[frozenset[str]]) -> None:
    decision = decision_of(waiting(("QuotaReserved", "False", "12:59:00")), wait=wait)
    assert permitted(decision) == sets
    assert permitted(decision, without={"K83-08"}) == A1


def test_admitted_is_the_condition_of_the_kep() -> None:
    both = (("QuotaReserved", "False", "12:00:00"), ("Admitted", "False", "12:59:00"))
    assert permitted(decision_of(waiting(*both), wait=61)) == set()
    assert permitted(decision_of(waiting(*both), wait=60)) == A1


def test_without_an_attempt_it_has_not_waited() -> None:
    """It was created an hour ago; a condition that is true says nothing of waiting."""
    state = waiting(("QuotaReserved", "True", "12:00:00"))
    assert permitted(decision_of(state, wait=1)) == set()
    assert permitted(decision_of(state)) == A1
