"""The two ways to a plan: short trees that find and prove it at once, or the solver first."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any, TypeVar, cast

import pytest

import planner
from planner.solver.levels import Settling
from tests.conftest import TEST_ALL

Solve = TypeVar("Solve", bound=Callable[..., Any])

SOON = Settling.is_proved_soon


@contextmanager
def by_the_solver() -> Iterator[None]:
    """Ask the solver for each plan."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settling, "is_proved_soon", lambda *_: False)
        yield


@contextmanager
def at_once() -> Iterator[None]:
    """Let short trees find and prove a plan where they do, as users have it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Settling, "is_proved_soon", SOON)
        yield


def _both_ways(solved: Solve) -> Solve:
    """Return what gives the plan of a function by the solver, each twelfth in both ways.

    The two plans have to be the same. A long run compares them in each call.
    """
    number = count()

    def solve(*given: Any, **options: Any) -> Any:
        with by_the_solver():
            plan = solved(*given, **options)
        # Where no tree is wanted there is one way only; what time leaves is a matter of chance.
        comparable = options.get("certify") is not False and options.get("time_limit") is None
        if comparable and (TEST_ALL or next(number) % 12 == 0):
            with at_once():
                other = solved(*given, **options)
            assert _answer(plan) == _answer(other)
        return plan

    return cast("Solve", solve)


solve = _both_ways(planner.solve)


def _answer(plan: Any) -> tuple[object, ...]:
    """Return what a plan answers, without what shows that it is right."""
    certificate = plan.certificate
    levels = () if certificate is None else certificate.levels
    values = [(level.term, level.value, level.bound) for level in levels]
    caps = () if certificate is None else (certificate.caps, certificate.dropped)
    return plan.status, plan.victims, plan.terms, values, caps, plan.explanation
