"""Optima against every legal set that was recorded where pods need places on nodes.

Source: docs/semantics/kueue-topology.md §12.
"""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from random import Random
from typing import Any

import pytest

import planner
from planner.plan import Conclusion
from planner.plan.kueue import Plan
from planner.solver.kueue.planning import Planning
from planner.solver.start import Given, start
from planner.verifier.kueue.plan import verify_plan
from tests import admitted
from tests.conftest import TEST_ALL, recorded_root
from tests.recorded import state_of
from tests.solver.ways import solve

EVERY = 1 if TEST_ALL else 54
MOST = 7
"""Candidates of which every set is judged by the verifier, too."""


@cache
def lines() -> tuple[Any, ...]:
    """Return the recorded lines with all their legal sets."""
    root = recorded_root()
    if root is None:
        pytest.skip("no recorded answers: set PLANNER_CONFORMANCE to their folder")
    found = []
    for name, every in (("tas-small", EVERY), ("tas-hand", 1)):
        with gzip.open(root / "kueue-tas" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        found += [line for line in records if "exhaustive" in line["expect"]][::every]
    return tuple(found)


def planned(line: Any, **costs: int) -> tuple[Planning, set[frozenset[str]]]:
    """Return a planning and the legal sets, but for those that leave too few ``pods`` of a quota.

    Kueue's search does not count these (docs/semantics/kueue.md §5.1).
    """
    planning = start(state_of(line), Given(line["pending"], costs=costs or None))
    assert isinstance(planning, Planning)
    recorded = line["expect"]["exhaustive"]
    sets = {
        frozenset(key for bit, key in enumerate(recorded["candidates"]) if mask >> bit & 1)
        for attempt in recorded["attempts"]
        for mask in attempt["legal"]
    }
    place = {key: position for position, key in enumerate(planning.keys)}
    return planning, {one for one in sets if not planning.starves([place[key] for key in one])}


def test_the_fewest_victims_are_as_many_as_in_the_smallest_legal_set() -> None:
    for line in lines():
        _, legal = planned(line)
        plan = solve(state_of(line), line["pending"], "min-count")
        _compare(line, plan, legal, min((len(one) for one in legal), default=None))


def test_the_cheapest_cost_what_the_cheapest_legal_set_costs() -> None:
    for number, line in enumerate(lines()):
        keys = line["expect"]["exhaustive"]["candidates"]
        _, legal = planned(line)
        for seed in range(3 if TEST_ALL else 1):
            random = Random(3 * number + seed)  # noqa: S311 - costs, not secrets
            costs = {key: random.randint(0, 99) for key in keys}
            plan = solve(state_of(line), line["pending"], "min-cost", costs)
            least = min((sum(costs[key] for key in one) for one in legal), default=None)
            found = sum(costs[key] for key in plan.keys) if plan.status == "optimal" else None
            assert found == least, line["id"]


def _compare(line: Any, plan: Plan, legal: set[frozenset[str]], least: int | None) -> None:
    if least is None:
        assert plan.status == "infeasible", line["id"]
    else:
        assert (plan.status, len(plan.keys)) == ("optimal", least), line["id"]
        assert frozenset(plan.keys) in legal, line["id"]
    assert plan.coverage == ()


def _few() -> Iterator[Any]:
    """Yield lines with so few candidates that each of their sets can be judged."""
    for line in lines():
        recorded = line["expect"]["exhaustive"]
        if 0 < len(recorded["candidates"]) <= MOST and not recorded.get("minimalOnly"):
            yield line


def test_model_and_verifier_admit_the_legal_sets_and_no_others() -> None:
    """Of several podsets the model admits more: the verifier refuses what Kueue does not place."""
    several = 0
    for line in _few():
        planning, legal = planned(line)
        problem = planning.problem
        if planning.case.assignment.mode != "Preempt":
            continue
        fair = problem.fair is not None
        by_attempt = (
            {True: admitted.admitted_fairly(problem)} if fair else admitted.admitted(problem)
        )
        found = {one for sets in by_attempt.values() for one in sets}
        assert legal <= found, line["id"]
        accepted = {one for one in found if is_accepted(planning, one)}
        assert accepted == legal, line["id"]
        alone = problem.places is not None and len(problem.places.rooms) == 1
        several += not alone
        assert not alone or fair or found == legal, line["id"]
        refused = {
            frozenset(some)
            for size in range(3)
            for some in combinations(line["expect"]["exhaustive"]["candidates"], size)
        } - legal
        assert not any(is_accepted(planning, one) for one in refused), line["id"]
    assert several


def is_accepted(planning: Planning, keys: frozenset[str]) -> bool:
    """Say whether the verifier accepts a set in some attempt."""
    positions = [planning.keys.index(key) for key in keys]
    victims = planning.describe_in_order(positions)
    for borrowing in planning.attempts:
        plan = planning.plan(Conclusion("feasible"), victims, borrowing=borrowing)
        if verify_plan(planning.state, plan, snapshot=planning.case.snapshot).accepted:
            return True
    return False


def test_levels_rest_on_trees_that_a_checker_without_a_solver_accepts() -> None:
    several = 0
    for line in lines()[::3]:
        plan = solve(state_of(line), line["pending"], certify=True)
        levels = plan.certificate.levels if plan.certificate else ()
        assert {level.proof for level in levels} <= {"certified"}, line["id"]
        assert planner.check(state_of(line), plan).accepted, line["id"]
        several += len(plan.places) > 1
    assert several


def test_a_tree_of_quota_alone_closes_nothing() -> None:
    """A plan for a larger value shows none to be least: the places of every leaf are counted."""
    checked = 0
    for line in lines()[::3]:
        plan = solve(state_of(line), line["pending"], "min-count", certify=True)
        if not plan.victims or plan.certificate is None or not plan.certificate.trees:
            continue
        tree = plan.certificate.trees[0]
        forged = plan.certificate.model_copy(
            update={"trees": (tree.model_copy(update={"steps": tree.steps[:0]}),)}
        )
        found = planner.check(state_of(line), plan.model_copy(update={"certificate": forged}))
        assert not found.accepted, line["id"]
        checked += 1
    assert checked
