"""Where Kueue never comes to a preemptor, the plan says who is in the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

import planner
from planner.plan.kueue import Plan
from tests.cluster import Object, configuration, queue, running, state_of
from tests.reference.cycles import strict, waits

FIRST = "ns/first"
P = "ns/p"


def blocked_by_its_own_queue(kind: Any = strict) -> list[list[Object]]:
    """Return a queue whose head asks for more than there is."""
    head, p = waits("first", "a", 10, 100), waits("p", "a", 2, 10)
    return [kind("a", 4, within="LowerPriority"), running("low", "a", 4), head, p]


def blocked_by_another_queue(kind: Any = strict) -> list[list[Object]]:
    """Return a queue that lends its quota, may not take it back, and keeps it all the same."""
    lower: dict[str, Any] = dict.fromkeys(("within", "reclaim", "borrow"), "LowerPriority")
    return [
        queue("a", 4, "pool", **lower),
        kind("b", 4, "pool"),
        running("low", "a", 8),
        waits("first", "b", 4, 10),
        waits("p", "a", 6, 5000),
    ]


def solve(parts: Iterable[Iterable[Object]]) -> Plan:
    plan: Plan = planner.solve(state_of(*parts), P)
    assert plan.victims
    assert plan.greedy is not None
    assert plan.greedy.keys == ("ns/low",)
    return plan


@pytest.mark.parametrize("parts", [blocked_by_its_own_queue, blocked_by_another_queue])
def test_the_plan_says_who_is_in_the_way(parts: Any) -> None:
    plan = solve(parts())
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == (FIRST,)
    note = plan.notes[-1]
    assert note == plan.greedy.explanation
    assert note.startswith(f"Kueue itself evicts nobody for {P}, as long as nothing changes: ")
    assert FIRST in note
    explanation = planner.explain(state_of(*parts()), P)
    assert note in explanation.answer


def test_best_effort_passes_over_who_finds_nobody() -> None:
    for parts in (blocked_by_its_own_queue(queue), blocked_by_another_queue(queue)):
        plan = solve(parts)
        assert plan.greedy is not None
        assert plan.greedy.in_the_way == ()
        assert not any("nobody for" in note for note in plan.notes)


def test_whoever_moves_first_blocks_nobody() -> None:
    """What is admitted before it changes everything: nothing is said of that."""
    fits = waits("first", "b", 0, 10)
    parts = blocked_by_another_queue()
    plan = solve([*parts[:3], fits, parts[4]])
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == ()


def test_a_cycle_that_waits_for_pods_is_not_over() -> None:
    """The scheduler stands still before the first, which fits, and then comes to the other."""
    parts = [
        configuration(waitForPodsReady={"blockAdmission": True}),
        queue("a", 4, "pool"),
        running("unready", "a", 1),
        waits("first", "a", 1, 20),
        queue("b", 4, "pool", within="LowerPriority", borrowing=0),
        running("low", "b", 4),
        waits("p", "b", 2, 10),
    ]
    plan = solve(parts)
    assert plan.greedy is not None
    assert plan.greedy.in_the_way == ()
    assert not any("nobody for" in note for note in plan.notes)
    assert "KL-19" not in {finding.code for finding in planner.lint(state_of(*parts)).findings}
