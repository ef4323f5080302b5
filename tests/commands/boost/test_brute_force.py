"""The smallest boosts against all boosts of a small grid, on recorded states.

For every set of workloads that boosts of the grid can make Kueue take, and for every other set of
candidates, the search must agree with the grid.
"""

from collections.abc import Iterator
from itertools import product

import pytest

from planner.commands.boost.kueue.search import Search
from planner.commands.boost.kueue.trial import StateTrial, annotated
from planner.commands.whatif.edit import edit
from planner.models.kueue.laws import eligible, reasons
from planner.problem.kueue import build_problem
from planner.quota.kueue.assignment import Assignment
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reference.kueue.decision import decide
from planner.solver.deadline import Deadline
from planner.state.kueue import State
from tests.conftest import TEST_ALL, recorded_root
from tests.recorded import lines, state_of
from tests.subsets import subsets

GATE = "configuration.featureGates.PriorityBoost=true"
REACH = 2
"""The grid has every boost from -2 to 2 for every workload that runs."""

MOST_RUNNING = 4
FEW_RUNNING = 3
"""More are looked at in ordinary runs only where with so few every set needs no boost."""

FEW_ARE_ENOUGH = (
    *("small-classical-flat", "small-classical-hier"),
    *("small-fair-flat", "small-fair-hier", "small-flavors"),
)
LEAST_CANDIDATES = 3
INSTANCES = 8 if TEST_ALL else 3
Size = tuple[int, int]


def rules_say(state: State, pending: str, assignment: Assignment) -> list[tuple[str, bool, str]]:
    """Return what the laws say of each workload: whether it may be taken, and why."""
    snapshot = take_snapshot(state)
    problem = build_problem(snapshot, find_preemptor(state, snapshot, pending), assignment)
    fair = problem.fair is not None
    allowed = eligible(problem, without={"FS-06"} if fair else ()).tolist()
    rows = zip(problem.workloads, allowed, reasons(problem), strict=True)
    return [(one.key, may, reason if may else "") for one, may, reason in rows]


def of_grid(state: State, pending: str, assignment: Assignment) -> dict[frozenset[str], Size]:
    """Return the smallest boosts of the grid for every set of targets they lead to."""
    running = [one.key for one in state.workloads if one.holds_quota]
    today = rules_say(state, pending, assignment)
    best: dict[frozenset[str], Size] = {}
    for values in product(range(-REACH, REACH + 1), repeat=len(running)):
        boosts = {key: value for key, value in zip(running, values, strict=True) if value}
        boosted = annotated(state, boosts)
        snapshot = take_snapshot(boosted)
        decision = decide(snapshot, find_preemptor(boosted, snapshot, pending))
        if decision.assignment.pod_sets != assignment.pod_sets:
            continue
        targets = frozenset(one.workload.key for one in decision.search.targets)
        size = len(boosts), sum(map(abs, boosts.values()))
        known = best.get(targets)
        if (known is None or size < known) and rules_say(boosted, pending, assignment) == today:
            best[targets] = size
    return best


def instances(name: str) -> Iterator[tuple[State, str, Assignment]]:
    """Yield small states in which Kueue preempts, and nobody is boosted yet."""
    found, most = 0, FEW_RUNNING if name in FEW_ARE_ENOUGH and not TEST_ALL else MOST_RUNNING
    for line in lines(name):
        running = [one for one in state_of(line).workloads if one.holds_quota]
        if len(running) > most or line.get("assignment"):
            continue
        state = edit(state_of(line), [GATE])
        if any("priority-boost" in str(one.metadata.annotations) for one in state.workloads):
            continue
        snapshot = take_snapshot(state)
        decision = decide(snapshot, find_preemptor(state, snapshot, line["pending"]))
        targets = len(decision.search.targets)
        trial = StateTrial(state, line["pending"], decision.assignment, frozenset())
        if targets and len(Search(trial, Deadline()).pool) >= LEAST_CANDIDATES:
            yield state, line["pending"], decision.assignment
            found += 1
        if found == INSTANCES:
            return


def sets_of(keys: list[str]) -> Iterator[frozenset[str]]:
    return map(frozenset, subsets(keys, 1))


@pytest.mark.parametrize("name", [*FEW_ARE_ENOUGH, "small-classical-nocohort"])
def test_search_agrees_with_the_grid(name: str) -> None:
    seen = {"smallest": 0, "impossible": 0, "boosted": 0}
    used = 0
    for state, pending, assignment in instances(name):
        used += 1
        grid = of_grid(state, pending, assignment)
        pool = Search(StateTrial(state, pending, assignment, frozenset()), Deadline()).pool
        for victims in sets_of([one.key for one in pool]):
            search = Search(StateTrial(state, pending, assignment, victims), Deadline())
            found = search.find_smallest()
            assert found.proved or not search.complete
            if found.choice is None:
                assert victims not in grid
                seen["impossible"] += found.proved
                continue
            seen["smallest"] += found.proved
            seen["boosted"] += bool(found.choice)
            size = search.size(found.choice)
            if found.proved:
                inside = all(
                    abs(value - search.today[key]) <= REACH for key, value in found.choice.items()
                )
                assert victims not in grid or size <= grid[victims], (victims, found)
                assert not inside or grid[victims] == size, (victims, found)
    assert used
    assert seen["smallest"] >= used
    if recorded_root() is not None:  # the project's own sample has fewer instances of each kind
        assert used == INSTANCES
        assert seen["impossible"]
        assert seen["boosted"]
