"""What model, checker, algorithm and solver answer on thousands of random small decisions.

The oracle is ``brute_force.py``: KEP-83 by its text, removal by removal, in every order.
"""

from collections import Counter

import pytest

import planner
from planner.errors import SchemaError
from planner.plan.kueue import Plan
from planner.research.kep83.model import eligible
from planner.research.kep83.reference import decide_kep83
from planner.solver.kueue.start import start
from planner.solver.start import Given
from tests.cluster import PENDING
from tests.conftest import TEST_ALL
from tests.research.kep83.cases import Decision, by_checker, by_model
from tests.research.kep83.random_decisions import random_decision

DECISIONS = 20_000 if TEST_ALL else 120
PARTS = 20 if TEST_ALL else 2
WORKLOADS = 6 if TEST_ALL else 5
SOLVED = 200 if TEST_ALL else 16


def victims(decision: Decision) -> list[str]:
    """Return whom the reference preempts, in order; afterwards the snapshot is as before."""
    usage = [list(row) for row in decision.snapshot.usage.amount]
    found = decide_kep83(
        decision.snapshot, decision.preemptor, decision.options, decision.assignment, decision.cost
    )
    assert decision.snapshot.usage.amount == usage
    return [target.workload.key for target in found.search.targets]


def in_order(decision: Decision) -> list[str]:
    """Return the candidates in the order that the solver breaks ties by."""
    base = decision.problem.base
    candidates = eligible(decision.problem).nonzero()[0].tolist()
    candidates.sort(key=base.order.tolist().__getitem__)
    return [base.workloads[position].key for position in candidates]


@pytest.mark.parametrize("part", range(PARTS))
def test_sets_equal_enumeration(part: int) -> None:
    """The sets that are permitted are the same for all three, and the algorithm finds one."""
    seen: Counter[str] = Counter()
    for seed in range(part, DECISIONS, PARTS):
        decision = random_decision(seed, WORKLOADS)
        legal = decision.simulation.legal_sets()
        assert by_model(decision) == legal, seed
        assert by_checker(decision) == legal, seed
        assert in_order(decision) == decision.simulation.in_order(), seed
        found = victims(decision)
        assert found == decision.simulation.algorithm(), seed
        seen["sets"] += len(legal)
        seen["preempting"] += bool(found)
        if found:
            assert frozenset(found) in legal, seed
    assert seen["sets"] > DECISIONS / PARTS / 4
    assert seen["preempting"] > DECISIONS / PARTS / 10


def test_optimum_is_the_least_of_all() -> None:
    """The fewest victims, and the proof that there is no plan; each plan is verified anew."""
    seen: Counter[str] = Counter()
    for seed in range(SOLVED):
        decision = random_decision(seed, WORKLOADS)
        if decision.simulation.fits_in_quota(0):
            continue
        given = Given(PENDING, decision.assignment, rules=decision.options.text)
        try:
            at_once = start(decision.state, given).fits_at_once
        except SchemaError:
            continue  # its modes are not those of the state
        if at_once:
            continue  # by borrowing: nobody is asked to go then
        plan = planner.solve(
            decision.state,
            PENDING,
            "min-count",
            assignment=decision.assignment,
            rules=decision.options.text,
        )
        check(plan, decision)
        seen[plan.status] += 1
    assert seen.keys() == {"optimal", "infeasible"}


def check(plan: Plan, decision: Decision) -> None:
    """Compare a plan with the enumeration, and the greedy one beside it with the algorithm."""
    legal = decision.simulation.legal_sets()
    assert (plan.status == "optimal") == bool(legal)
    assert planner.verify(decision.state, plan).accepted
    assert plan.rule_options == decision.options.text
    assert plan.greedy is not None
    assert list(plan.greedy.keys) == decision.simulation.algorithm()
    if legal:
        assert frozenset(plan.keys) in legal
        assert plan.terms["victims"] == min(map(len, legal))
